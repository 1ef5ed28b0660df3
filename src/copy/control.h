/* The control channel of an agent: messages over its standard input and output, which
 * its launcher carries. Nobody else reads or writes there, so that keys may pass. */
#ifndef ESPI_COPY_CONTROL_H
#define ESPI_COPY_CONTROL_H

#include "copy/wire.h"

/* code: the messages, and what stands in them, in this order. */
enum espi_control_type {
    /* to an agent */
    ESPI_TO_BEGIN =
        1,          /* 8 encrypted, resume, relay only; 32 patience in ms; text folder */
    ESPI_TO_RUN,    /* a part of a program, see part.h */
    ESPI_TO_GO,     /* 32 run */
    ESPI_TO_STOP,   /* 32 run */
    ESPI_TO_CHECK,  /* message; raw key; block set: which blocks */
    ESPI_TO_TAGS,   /* - */
    ESPI_TO_OPEN,   /* block: the manifest, or empty where message 0 is it */
    ESPI_TO_FINISH, /* 64 size of a stream */
    ESPI_TO_QUIT,   /* - */
    ESPI_TO_ALIVE,  /* -: the job goes on */
    ESPI_TO_PING,   /* 32 n, then n times text address, 32 port */
    /* from an agent */
    ESPI_FROM_HELLO = 64, /* 32 version, port */
    ESPI_FROM_READY,      /* 32 run */
    ESPI_FROM_PROGRESS,   /* 32 run, blocks; 32 n, then n times 32 stuck stream;
                             64 us of its clock, 32 n, then n times 32 stream, 64 bytes,
                             64 us busy, 64 us choked */
    ESPI_FROM_DONE,       /* 32 run; 8 whole; 32 broken stream; text why; block set: its
                             slices */
    ESPI_FROM_STOPPED,    /* 32 run */
    ESPI_FROM_CHECKED,    /* raw digest; block set: blocks that could be read */
    ESPI_FROM_TAG_LIST,   /* raw tags of the blocks in that set */
    ESPI_FROM_OPENED,     /* 8 is there anything of an earlier copy? */
    ESPI_FROM_FINISHED,   /* - */
    ESPI_FROM_FAILED,     /* text */
    ESPI_FROM_ALIVE,      /* -: it is at it */
    ESPI_FROM_PINGED,     /* 32 n, then n times 32 round trip in us */
};

enum {
    ESPI_COPY_VERSION = 6, /* code */
    /* limit: a message is no longer; manifests of some million files fit, and the tags of
     * as many blocks as there may be, with their length. */
    ESPI_CONTROL_MAX = (256 << 20) + 64,
};

struct espi_control {
    int in, out; /* -1: closed */
    unsigned char *got;
    size_t n_got, room, taken;
    struct espi_wire_out waiting; /* to be written */
    size_t written;
};

/* Takes both descriptors over, and makes them non-blocking. */
void espi_control_open(struct espi_control *c, int in, int out);
void espi_control_close(struct espi_control *c);

/* Puts a message into the queue and writes what can be written now. -1: the other side
 * is gone, or no memory. */
int espi_control_send(struct espi_control *c, enum espi_control_type type,
                      const struct espi_wire_out *body);
int espi_control_flush(struct espi_control *c);
/* Nothing of what waits is written any more. */
void espi_control_forget(struct espi_control *c);
static inline int espi_control_has_waiting(const struct espi_control *c)
{
    return c->waiting.used > c->written;
}

/* Reads what is there. -1: the other side is gone or no memory. */
int espi_control_read(struct espi_control *c);
/* The next whole message: 1; 0: none; -1: what came is no message. The body stays valid
 * until the next call of any function. */
int espi_control_next(struct espi_control *c, int *type, struct espi_wire_in *body);

#endif
