#include "native/script.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"

#define CALLS_MAX (1 << 25) /* limit: of a script, some GB when it is played */

int espi_script_init(struct espi_script *s, int n_ranks, int64_t size_bytes)
{
    *s = (struct espi_script){.n_ranks = n_ranks, .size_bytes = size_bytes, .rank = -1};
    s->start = espi_calloc((size_t)n_ranks + 1, sizeof *s->start);
    return s->start ? 0 : -1;
}

void espi_script_done(struct espi_script *s)
{
    espi_free(s->start);
    espi_free(s->call);
    *s = (struct espi_script){0};
}

void espi_script_rank(struct espi_script *s, int rank)
{
    while (s->rank < rank)
        s->start[++s->rank] = (int)s->n;
}

/* ---- calls ---- */

static int add_call(struct espi_script *s, struct espi_script_call call)
{
    if (s->out_of_memory || s->n >= CALLS_MAX ||
        espi_grow((void **)&s->call, &s->room, s->n + 1, sizeof *s->call)) {
        s->out_of_memory = 1;
        return 0;
    }
    s->call[s->n] = call;
    return (int)s->n++;
}

static int add_block(struct espi_script *s, espi_call_kind kind, int combines,
                     const struct espi_script_block *b)
{
    return add_call(s, (struct espi_script_call){kind, combines, b->rank, -1, b->offset,
                                                 b->bytes, b->run});
}

int espi_isend(struct espi_script *s, int to, int64_t offset, int64_t bytes)
{
    struct espi_script_block b = espi_block(to, offset, bytes);
    return add_block(s, ESPI_ISEND, 0, &b);
}

int espi_irecv(struct espi_script *s, int from, int64_t offset, int64_t bytes)
{
    struct espi_script_block b = espi_block(from, offset, bytes);
    return add_block(s, ESPI_IRECV, 0, &b);
}

int espi_icombine(struct espi_script *s, int from, int64_t offset, int64_t bytes)
{
    struct espi_script_block b = espi_block(from, offset, bytes);
    return add_block(s, ESPI_IRECV, 1, &b);
}

void espi_wait(struct espi_script *s, int call)
{
    add_call(s, (struct espi_script_call){.kind = ESPI_WAIT, .other = -1, .meets = call});
}

void espi_send(struct espi_script *s, int to, int64_t offset, int64_t bytes)
{
    espi_wait(s, espi_isend(s, to, offset, bytes));
}

void espi_recv(struct espi_script *s, int from, int64_t offset, int64_t bytes)
{
    espi_wait(s, espi_irecv(s, from, offset, bytes));
}

void espi_combine(struct espi_script *s, int from, int64_t offset, int64_t bytes)
{
    espi_wait(s, espi_icombine(s, from, offset, bytes));
}

static void exchange_blocks(struct espi_script *s, const struct espi_script_block *out,
                            const struct espi_script_block *in, int combines)
{
    int receive = add_block(s, ESPI_IRECV, combines, in);
    espi_wait(s, add_block(s, ESPI_ISEND, 0, out));
    espi_wait(s, receive);
}

void espi_sendrecv(struct espi_script *s, struct espi_script_block out,
                   struct espi_script_block in)
{
    exchange_blocks(s, &out, &in, 0);
}

void espi_sendrecv_combine(struct espi_script *s, struct espi_script_block out,
                           struct espi_script_block in)
{
    exchange_blocks(s, &out, &in, 1);
}

/* ---- scripts behind one another ---- */

static void copy_calls(struct espi_script *s, const struct espi_script *from, int rank)
{
    int shift = (int)s->n - from->start[rank];
    for (int c = from->start[rank]; c < from->start[rank + 1]; c++) {
        struct espi_script_call call = from->call[c];
        if (call.kind == ESPI_WAIT)
            call.meets += shift;
        add_call(s, call);
    }
}

void espi_script_join(struct espi_script *s, struct espi_script *first,
                      struct espi_script *second)
{
    espi_script_rank(first, s->n_ranks);
    espi_script_rank(second, s->n_ranks);
    if (first->out_of_memory || second->out_of_memory)
        s->out_of_memory = 1;
    for (int r = 0; r < s->n_ranks && !s->out_of_memory; r++) {
        espi_script_rank(s, r);
        copy_calls(s, first, r);
        copy_calls(s, second, r);
    }
}

/* ---- which meet ---- */

/* A call of a connection: from -> to, in the order in which it was made. */
struct end {
    int from, to, call;
};

static int by_connection(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* The ends of one kind, connection by connection; how many. */
static size_t list_ends(const struct espi_script *s, espi_call_kind kind,
                        struct end *ends)
{
    size_t n = 0;
    for (int r = 0; r < s->n_ranks; r++)
        for (int c = s->start[r]; c < s->start[r + 1]; c++) {
            int other = s->call[c].other;
            if (s->call[c].kind != kind)
                continue;
            ends[n++] = kind == ESPI_ISEND ? (struct end){r, other, c}
                                           : (struct end){other, r, c};
        }
    qsort(ends, n, sizeof *ends, by_connection);
    return n;
}

static esp_status join_ends(struct espi_script *s, const struct end *sends,
                            const struct end *receives, size_t n, struct esp_err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct espi_script_call *out = &s->call[sends[i].call],
                                *in = &s->call[receives[i].call];
        if (sends[i].from != receives[i].from || sends[i].to != receives[i].to)
            return espi_err(err, ESP_EINPUT,
                            "a send from rank %d to rank %d meets no receive",
                            sends[i].from, sends[i].to);
        if (out->bytes != in->bytes)
            return espi_err(err, ESP_EINPUT,
                            "a send from rank %d to rank %d is of %lld bytes, its "
                            "receive of %lld",
                            sends[i].from, sends[i].to, (long long)out->bytes,
                            (long long)in->bytes);
        out->meets = receives[i].call;
        in->meets = sends[i].call;
    }
    return ESP_OK;
}

esp_status espi_script_match(struct espi_script *s, struct esp_err *err)
{
    if (s->n >= CALLS_MAX)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "that is more than %d calls of ranks, too many to be simulated",
                        CALLS_MAX);
    espi_script_rank(s, s->n_ranks);
    struct end *sends = ESPI_NEW(struct end, s->n + 1);
    struct end *receives = ESPI_NEW(struct end, s->n + 1);
    esp_status st = ESP_OK;
    if (s->out_of_memory || !sends || !receives) {
        st = espi_err_nomem(err);
    } else {
        size_t n = list_ends(s, ESPI_ISEND, sends);
        st = n == list_ends(s, ESPI_IRECV, receives)
                 ? join_ends(s, sends, receives, n, err)
                 : espi_err(err, ESP_EINPUT, "there are not as many receives as sends");
    }
    espi_free(sends);
    espi_free(receives);
    return st;
}
