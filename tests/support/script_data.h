/* What the calls of a script do to data, byte by byte: which ranks' contributions each
 * byte of each rank holds. */
#ifndef TESTS_SUPPORT_SCRIPT_DATA_H
#define TESTS_SUPPORT_SCRIPT_DATA_H

#include <stdint.h>

#include "native/script.h"

struct script_data {
    const struct espi_script *s;
    uint64_t *has; /* rank * size + byte -> set of ranks; at most 64 of them */
};

/* Nothing is there at first. */
void script_data_init(struct script_data *d, const struct espi_script *s);
void script_data_done(struct script_data *d);

static inline uint64_t *script_byte(struct script_data *d, int rank, int64_t byte)
{
    return &d->has[rank * d->s->size_bytes + byte % d->s->size_bytes];
}

/* Makes all calls. Data leave when a send is started and are there when their receive was
 * waited for. With rendezvous a send is over when its receive has been started, else at
 * once. 0, or -1 when ranks wait for ever, combine what one of them has in it already, or
 * overtake. */
int script_data_run(struct script_data *d, int rendezvous);

#endif
