#include "support/script_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct making {
    struct script_data *d;
    int *at;          /* rank -> its next call */
    char *started;    /* by call */
    uint64_t **taken; /* send -> the data that left */
    int bad;
};

void script_data_init(struct script_data *d, const struct espi_script *s)
{
    d->s = s;
    d->has = calloc((size_t)s->n_ranks * (size_t)s->size_bytes + 1, sizeof *d->has);
    if (!d->has)
        abort();
}

void script_data_done(struct script_data *d)
{
    free(d->has);
}

/* Where the i-th byte of a call lies. */
static int64_t place_of(const struct espi_script_call *c, int64_t i)
{
    return c->offset + (c->run ? i / c->run * 2 * c->run + i % c->run : i);
}

static void take_data(struct making *m, int rank, int call)
{
    const struct espi_script_call *c = &m->d->s->call[call];
    m->taken[call] = calloc((size_t)c->bytes + 1, sizeof **m->taken);
    if (!m->taken[call])
        abort();
    for (int64_t i = 0; i < c->bytes; i++)
        m->taken[call][i] = *script_byte(m->d, rank, place_of(c, i));
}

static void put_data(struct making *m, int rank, int call)
{
    const struct espi_script_call *c = &m->d->s->call[call];
    for (int64_t i = 0; i < c->bytes; i++) {
        uint64_t *byte = script_byte(m->d, rank, place_of(c, i));
        uint64_t comes = m->taken[c->meets][i];
        if (c->combines && comes & *byte)
            m->bad = 1;
        *byte = c->combines ? *byte | comes : comes;
    }
}

/* 1: the wait is over. */
static int end_wait(struct making *m, int rank, int of, int rendezvous)
{
    const struct espi_script_call *c = &m->d->s->call[of];
    if (c->kind == ESPI_ISEND)
        return !rendezvous || m->started[c->meets];
    if (!m->started[c->meets])
        return 0;
    put_data(m, rank, of);
    return 1;
}

/* Makes the next call of a rank; 0: it cannot. */
static int make_call(struct making *m, int rank, int rendezvous)
{
    int call = m->at[rank];
    const struct espi_script_call *c = &m->d->s->call[call];
    if (call == m->d->s->start[rank + 1])
        return 0;
    if (c->kind == ESPI_WAIT && !end_wait(m, rank, c->meets, rendezvous))
        return 0;
    if (c->kind == ESPI_ISEND)
        take_data(m, rank, call);
    m->started[call] = 1;
    m->at[rank]++;
    return 1;
}

int script_data_run(struct script_data *d, int rendezvous)
{
    const struct espi_script *s = d->s;
    struct making m = {.d = d};
    size_t made = 0;
    m.at = calloc((size_t)s->n_ranks, sizeof *m.at);
    m.started = calloc(s->n + 1, 1);
    m.taken = calloc(s->n + 1, sizeof *m.taken);
    if (!m.at || !m.started || !m.taken)
        abort();
    memcpy(m.at, s->start, (size_t)s->n_ranks * sizeof *m.at);
    for (size_t before = 1; before != made;) {
        before = made;
        for (int r = 0; r < s->n_ranks; r++)
            while (make_call(&m, r, rendezvous))
                made++;
    }
    for (size_t i = 0; i < s->n; i++)
        free(m.taken[i]);
    free(m.at);
    free(m.started);
    free(m.taken);
    return m.bad || made < s->n ? -1 : 0;
}
