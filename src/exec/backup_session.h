/* What ranks that send for each other (backup.h) share between runs: short notes that may
 * come at any time, and messages under way that outlive the run that started them. One
 * session belongs to one set of ranks (a communicator), and runs on it follow each other.
 *
 * Rules by which nothing is left over or waited for:
 *   - a run ends without waiting for notes, or for answers to them;
 *   - every request for help is answered by some slices, or none when it comes too late,
 *     and then by as many empty messages as the asker has receives open for answers,
 *     which is a fixed number; answers travel between buffers of ours, never the user's;
 *   - notes carry the number of their run: old ones are answered or dropped, early ones
 *     kept until their run begins;
 *   - ranks count the notes that they send to each other, so that in the end (when the
 *     communicator is freed) each knows how many are still to come. Or, where ranks meet
 *     that have many sessions between them, all learn when nothing is left. */
#ifndef ESPI_EXEC_BACKUP_SESSION_H
#define ESPI_EXEC_BACKUP_SESSION_H

#include <stdint.h>

#include "exec/transport.h"

/* code: channels of notes and answers; streams use the low ones. */
enum { ESPI_CHANNEL_BACKUP_NOTES = 32766, ESPI_CHANNEL_BACKUP_SLICES = 32765 };

enum espi_backup_note_kind {
    ESPI_BACKUP_ASK,  /* send me the slices from that one on */
    ESPI_BACKUP_HAVE, /* I have that slice already: do not send it */
    ESPI_BACKUP_STOP, /* I need no more */
};

struct espi_backup_note {
    uint32_t run, kind;
    int64_t slice;
    int64_t window; /* of ESPI_BACKUP_ASK: receives open for answers */
};

/* What stands before the data in an answer. */
struct espi_backup_answer {
    int64_t slice;
};

/* What a message under way is for. */
enum espi_backup_message_kind {
    ESPI_BACKUP_ANSWER, /* to what was asked */
    ESPI_BACKUP_SENT,   /* a note or an answer of ours */
};

struct espi_backup_message {
    enum espi_backup_message_kind kind;
    uint32_t run;
    int peer;     /* of ESPI_BACKUP_ANSWER: from whom; of the answers sent: to whom */
    size_t bytes; /* that came, when it is done */
    void *buffer; /* ours, to be freed with the message; or NULL */
    size_t room;  /* of ESPI_BACKUP_ANSWER: its size */
};

struct espi_backup_early_note {
    int peer;
    struct espi_backup_note note;
};

struct espi_backup_session {
    int n; /* ranks */
    const struct espi_transport *transport;
    uint32_t run;      /* number of the run that began last */
    int *notes_sent;   /* to each rank */
    int *answers_open; /* receives open for answers from each; one stream at a time */
    int64_t notes_got; /* from all */
    struct espi_backup_early_note *early;
    size_t n_early, early_cap;
    struct espi_request *requests;
    struct espi_backup_message *messages; /* what each is for */
    size_t n_requests, requests_cap, messages_cap;
    double patience; /* 1, and more after help that was of no use */
};

/* For n ranks; NULL when out of memory. Free it when all messages are done. */
struct espi_backup_session *espi_backup_session_create(int n);
void espi_backup_session_free(struct espi_backup_session *session);

/* Functions that give an int: 0, an error of the transport, or this. */
enum { ESPI_BACKUP_NOMEM = -1 };

int espi_backup_send_note(struct espi_backup_session *session, int peer,
                          enum espi_backup_note_kind kind, int64_t slice, int window);

/* Opens receives for answers from the backup, with so much room for data each. */
int espi_backup_expect(struct espi_backup_session *session, int backup, int window,
                       size_t room);

/* Answers with a copy of the slice. */
int espi_backup_send_answer(struct espi_backup_session *session, int peer, int64_t slice,
                            const void *from, size_t bytes);

/* The end of the answers. */
int espi_backup_end_answers(struct espi_backup_session *session, int peer,
                            int64_t window);

/* Looks which messages are done, calls `on_done` for each, opens another receive for an
 * answer that was not empty, and frees buffers that `on_done` does not take (by setting
 * message->buffer to NULL). *count grows by how many. */
typedef int (*espi_backup_message_fn)(void *arg, struct espi_backup_message *message);
int espi_backup_session_test(struct espi_backup_session *session,
                             espi_backup_message_fn on_done, void *arg, int *count);

/* The next note for this run: *peer is its sender, -1: there is none now. Those of other
 * runs are dealt with. */
int espi_backup_next_note(struct espi_backup_session *session, int *peer,
                          struct espi_backup_note *note);

/* A run begins; all ranks give their runs the same numbers. */
void espi_backup_session_begin(struct espi_backup_session *session,
                               const struct espi_transport *transport);

/* The last run is over: whatever comes from now on is old. */
void espi_backup_session_close(struct espi_backup_session *session,
                               const struct espi_transport *t);
/* Takes what has come, without waiting; *count grows by how many messages are done. */
int espi_backup_session_sweep(struct espi_backup_session *session, int *count);
/* What is still under way from or to this rank: the notes that it sent less those that it
 * got and dealt with, and its open requests. Of closed sessions the sum over all ranks
 * is 0 when, and only when, nothing is left: notes are no longer sent, and what is begun
 * in answer to one is open before it counts as got, or at the one who asked. */
int64_t espi_backup_session_left(const struct espi_backup_session *session);

/* The end: takes the notes that are still to come, `notes` in all since the session was
 * made (the sum of what the ranks sent to this one), and waits for what is under way.
 * Every rank must do so. */
int espi_backup_session_drain(struct espi_backup_session *session,
                              const struct espi_transport *t, int64_t notes);

#endif
