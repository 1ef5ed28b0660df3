/* Scripts: what the ranks of a collective do, as an MPI library's own code does it. Each
 * rank has a list of calls (start a send, start a receive, wait for one of them), in the
 * order in which it makes them. The k-th send from a rank to another meets the k-th
 * receive there from the first, as MPI has it for messages of one tag.
 *
 * Programs (program/program.h) have no such calls: their ranks wait for data only. In a
 * script a rank waits where its library waits, also for sends; a long message needs its
 * receiver there before it starts; and messages have any length. */
#ifndef ESPI_NATIVE_SCRIPT_H
#define ESPI_NATIVE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include <espalier/status.h>

#include "base/arena.h"

typedef enum espi_call_kind {
    ESPI_ISEND,
    ESPI_IRECV,
    ESPI_WAIT,
} espi_call_kind;

struct espi_script_call {
    espi_call_kind kind;
    int combines; /* IRECV: what comes is combined with what is there */
    int other;    /* the other rank; WAIT: -1 */
    int meets;    /* the other rank's call; WAIT: the call of its own that it waits for */
    /* Where the data lie in what the operation is about: bytes from `offset` on, and
     * round its end from its beginning; with `run` in runs of so many, behind each a gap
     * as long. */
    int64_t offset, bytes, run;
};

struct espi_script {
    int n_ranks;
    int64_t size_bytes; /* of what the operation is about */
    int *start;         /* rank -> calls, as rows */
    struct espi_script_call *call;
    size_t n, room;
    int rank;          /* whose calls are being added */
    int out_of_memory; /* or too long: nothing more is added */
};

/* For ranks 0 to n_ranks - 1; -1 when out of memory. Free with espi_script_done. */
int espi_script_init(struct espi_script *s, int n_ranks, int64_t size_bytes);
void espi_script_done(struct espi_script *s);

/* From now on calls are those of this rank; ranks come in their order. */
void espi_script_rank(struct espi_script *s, int rank);

/* These give the number of the call, to wait for. */
int espi_isend(struct espi_script *s, int to, int64_t offset, int64_t bytes);
int espi_irecv(struct espi_script *s, int from, int64_t offset, int64_t bytes);
int espi_icombine(struct espi_script *s, int from, int64_t offset, int64_t bytes);
void espi_wait(struct espi_script *s, int call);

/* Started and waited for. */
void espi_send(struct espi_script *s, int to, int64_t offset, int64_t bytes);
void espi_recv(struct espi_script *s, int from, int64_t offset, int64_t bytes);
void espi_combine(struct espi_script *s, int from, int64_t offset, int64_t bytes);

/* Both ways with one call: the receive is started first, then the send; then it waits for
 * the send, and for the receive. */
struct espi_script_block {
    int rank; /* the other one */
    int64_t offset, bytes, run;
};

static inline struct espi_script_block espi_block(int rank, int64_t offset, int64_t bytes)
{
    return (struct espi_script_block){rank, offset, bytes, 0};
}

void espi_sendrecv(struct espi_script *s, struct espi_script_block out,
                   struct espi_script_block in);
void espi_sendrecv_combine(struct espi_script *s, struct espi_script_block out,
                           struct espi_script_block in);

/* Adds what each rank does in one script and then in another, of the same ranks. */
void espi_script_join(struct espi_script *s, struct espi_script *first,
                      struct espi_script *second);

/* When all calls are there: finds which meet. ESP_EUNSUPPORTED when there are too many to
 * be simulated; ESP_EINPUT when a call meets none, or one
 * of another length: the script is wrong. */
esp_status espi_script_match(struct espi_script *s, struct esp_err *err);

#endif
