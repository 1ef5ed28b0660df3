/* What probers say to each other and to the advisor. A prober is a small process beside
 * the ranks of a machine; see src/prober for how it lives, advisor/probe_planner.h for
 * who is to probe when.
 *
 * Between hosts: UDP, each packet under the code of a key that only this job has, from an
 * address that is in the list of the job's probers. One prober, on the advisor's machine,
 * is the hub: it has the orders from the advisor's socket, numbers them, and hands back
 * how they ended. Numbers only grow, so that nothing can be played again. */
#ifndef ESPI_CHANNEL_PROBER_H
#define ESPI_CHANNEL_PROBER_H

#include <netinet/in.h>
#include <stdint.h>

#include "base/mac.h"
#include "channel/tuning.h"

/* ---- a probe ---- */

/* A train: packets of which the second half is timed. */
#define ESPI_TRAIN_BYTES ((double)ESPI_TRAIN_PACKETS * ESPI_TRAIN_PACKET_BYTES)

struct espi_probe_order {
    uint64_t number; /* from 1 */
    int from, to;    /* nodes */
};

enum espi_probe_end {
    ESPI_PROBE_RATE,    /* it came, as fast as told */
    ESPI_PROBE_REFUSED, /* the application was in a call */
    ESPI_PROBE_LOST,    /* nothing was heard of it */
};

/* ---- between prober and advisor: notes on its socket ---- */

enum espi_probe_note_kind {
    ESPI_PROBE_NOTE_PROBER = 1, /* from the hub: node `from` has a prober */
    ESPI_PROBE_NOTE_ORDER,      /* to the hub: a probe from `from` to `to` */
    ESPI_PROBE_NOTE_END,        /* from the hub: how it ended */
};

struct espi_probe_note {
    uint32_t magic, version;
    int32_t kind, end; /* espi_probe_note_kind, espi_probe_end */
    int32_t from, to;  /* nodes */
    uint64_t number;   /* of the order */
    double Bps;
};

#define ESPI_PROBE_NOTE_MAGIC   UINT32_C(0x65737072)
#define ESPI_PROBE_NOTE_VERSION 1

/* Could it be meant, on a network of so many nodes? */
int espi_probe_note_is_sane(const struct espi_probe_note *n, int n_nodes);

/* ---- between probers ---- */

enum espi_packet_kind {
    ESPI_PACKET_ORDER = 1, /* hub to `from` */
    ESPI_PACKET_TRAIN,     /* `from` to `to` */
    ESPI_PACKET_RATE,      /* `to` to the hub */
    ESPI_PACKET_REFUSED,   /* `from` to the hub */
};

struct espi_packet {
    uint64_t mac; /* of what follows */
    uint32_t magic;
    uint16_t kind, index; /* index: of the packet in its train */
    int32_t from, to, sender;
    int32_t unused;
    uint64_t number; /* the hub's */
    double Bps;
};

#define ESPI_PACKET_MAGIC UINT32_C(0x65737071)

/* One line of the list that all probers have. */
struct espi_prober {
    int32_t node;
    uint32_t address; /* IPv4, as on the wire */
    uint16_t port;    /* too; 0: there is none */
    uint16_t here;    /* on the advisor's machine? */
};

/* What a prober is told at its start: this, then the list. */
struct espi_prober_head {
    uint32_t magic;
    int32_t n, self, hub; /* of the list; places in it */
    unsigned char key[ESPI_KEY_BYTES];
    char folder[512]; /* of the advisor, for the hub */
};

#define ESPI_PROBER_MAGIC UINT32_C(0x65737073)

enum { ESPI_PROBERS_MAX = 4096 };

int espi_prober_head_is_sane(const struct espi_prober_head *h);

void espi_packet_seal(struct espi_packet *p, const unsigned char key[ESPI_KEY_BYTES]);

/* Is what came from that address one of ours? The packet, and the sender's place in the
 * list; -1: it is not. */
int espi_packet_open(const void *data, size_t length, const struct sockaddr_in *from,
                     const struct espi_prober_head *head, const struct espi_prober *list,
                     struct espi_packet *out);

/* ---- a train that comes in ---- */

struct espi_train {
    uint64_t number; /* of the last; 0: none yet */
    int from, done;
    uint32_t seen; /* which packets of the second half came; each counts once */
    double first_s, last_s;
};

/* A packet of a train came at that time. 1: that was the end of it; ask for its rate. */
int espi_train_note(struct espi_train *t, const struct espi_packet *p, double at_s);

/* Payload and heads a second; 0: too little came. */
double espi_train_Bps(const struct espi_train *t);

/* ---- addresses ---- */

/* The address of this machine from which probes go: of an interface that the settings of
 * the MPI library name (get: as getenv), else that of the default route, else any but the
 * loopback, else that. */
uint32_t espi_prober_address(char *(*get)(const char *name));

#endif
