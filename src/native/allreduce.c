/* Allreduces. Both libraries: recursive doubling, and reduce-scatter by recursive halving
 * followed by the way back (Rabenseifner's). Open MPI 4.1 also: rings, and the root
 * taking and giving one after the other.
 *
 * References: Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005. */
#include "native/generators.h"
#include "native/halving.h"

/* ---- ranks that stand aside ---- */

static void unfold_whole(struct espi_script *s, const struct espi_halving *h, int rank)
{
    if (!espi_halving_is_paired(h, rank))
        return;
    if (h->number < 0)
        espi_recv(s, rank ^ 1, 0, h->t->bytes);
    else
        espi_send(s, rank ^ 1, 0, h->t->bytes);
}

/* ---- doubling, halving ---- */

void espi_allreduce_doubling(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        struct espi_halving h;
        espi_halving_init(&h, t, &(struct espi_halving_way){.is_odd = 1}, r);
        espi_script_rank(s, r);
        espi_fold_whole(s, &h, r);
        for (int k = 0; k < h.steps && h.number >= 0; k++) {
            struct espi_script_block all =
                espi_block(espi_halving_rank(&h, h.number ^ 1 << k), 0, t->bytes);
            espi_sendrecv_combine(s, all, all);
        }
        unfold_whole(s, &h, r);
    }
}

static void spread_windows(struct espi_script *s, struct espi_halving *h, int rank)
{
    for (int k = h->steps - 1; k >= 0 && h->number >= 0; k--) {
        int other = espi_halving_rank(h, h->number ^ 1 << k);
        espi_sendrecv(s, espi_block(other, h->keep[k].first, h->keep[k].bytes),
                      espi_block(other, h->give[k].first, h->give[k].bytes));
    }
    unfold_whole(s, h, rank);
}

/* One after the other; here by the algorithms that Open MPI takes for either where it
 * takes this one, for short messages of many ranks. */
void espi_allreduce_nonoverlapping(struct espi_script *s,
                                   const struct espi_native_task *t)
{
    struct espi_native_task first = *t;
    struct espi_script up, down;
    first.root = 0;
    if (espi_script_init(&up, t->n_ranks, t->bytes))
        s->out_of_memory = 1;
    if (espi_script_init(&down, t->n_ranks, t->bytes))
        s->out_of_memory = 1;
    if (!s->out_of_memory) {
        espi_reduce_binomial(&up, &first);
        espi_bcast_knomial(&down, &first);
        espi_script_join(s, &up, &down);
    }
    espi_script_done(&up);
    espi_script_done(&down);
}

static void reduce_to_first_and_back(struct espi_script *s,
                                     const struct espi_native_task *t)
{
    struct espi_native_task first = *t;
    first.root = 0;
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        espi_reduce_linear_rank(s, &first, r);
        espi_bcast_linear_rank(s, &first, r);
    }
}

void espi_allreduce_linear(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_to_first_and_back(s, t);
}

void espi_allreduce_rabenseifner(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->bytes < espi_power_below(t->n_ranks)) {
        reduce_to_first_and_back(s, t);
        return;
    }
    espi_halve_and_end(s, t, (struct espi_halving_way){.folds_halves = 1},
                       spread_windows);
}

/* MPICH looks whether there is a byte for each before. */
void espi_allreduce_scatter_allgather(struct espi_script *s,
                                      const struct espi_native_task *t)
{
    if (t->bytes < espi_power_below(t->n_ranks)) {
        espi_allreduce_doubling(s, t);
        return;
    }
    espi_halve_and_end(s, t, (struct espi_halving_way){.is_odd = 1, .by_blocks = 1},
                       spread_windows);
}

/* ---- rings ---- */

/* Piece i of n, of which the first are larger by a byte. */
static struct espi_window piece_of(struct espi_window x, int64_t n, int64_t i)
{
    int64_t whole = x.bytes / n, rest = x.bytes % n;
    int64_t first = i * whole + (i < rest ? i : rest);
    return (struct espi_window){x.first + first, whole + (i < rest)};
}

struct phases {
    int64_t n, i;
};

/* Of a rank's block what goes in a phase. */
static struct espi_script_block ring_block(const struct espi_native_task *t,
                                           const void *of, int block)
{
    const struct phases *phase = of;
    struct espi_window all = {0, t->bytes};
    struct espi_window x = piece_of(all, t->n_ranks, block % t->n_ranks);
    x = piece_of(x, phase->n, phase->i);
    return espi_block(0, x.first, x.bytes);
}

/* The receive of the next block is started before a block is waited for and sent on. */
void espi_ring_combine(struct espi_script *s, const struct espi_native_task *t, int rank,
                       int first, espi_ring_block_fn *block, const void *of)
{
    int n = t->n_ranks, left = (rank + n - 1) % n, right = (rank + 1) % n;
    struct espi_script_block out = block(t, of, first), in = block(t, of, first + n - 1);
    int pending = espi_icombine(s, left, in.offset, in.bytes);
    espi_send(s, right, out.offset, out.bytes);
    for (int k = 2; k < n; k++) {
        int before = pending;
        out = in;
        in = block(t, of, first + n - k);
        pending = espi_icombine(s, left, in.offset, in.bytes);
        espi_wait(s, before);
        espi_send(s, right, out.offset, out.bytes);
    }
    espi_wait(s, pending);
}

static struct espi_script_block passed_on(const struct espi_native_task *t, int to,
                                          int block)
{
    struct espi_script_block b = ring_block(t, &(struct phases){1, 0}, block);
    b.rank = to;
    return b;
}

static void ring_in_phases(struct espi_script *s, const struct espi_native_task *t,
                           int64_t phases)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int64_t i = 0; i < phases && !s->out_of_memory; i++)
            espi_ring_combine(s, t, r, r, ring_block, &(struct phases){phases, i});
        for (int k = 0; k < n - 1; k++)
            espi_sendrecv(s, passed_on(t, (r + 1) % n, r + 1 + n - k),
                          passed_on(t, (r + n - 1) % n, r + n - k));
    }
}

void espi_allreduce_ring(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->bytes < t->n_ranks)
        espi_allreduce_doubling(s, t);
    else
        ring_in_phases(s, t, 1);
}

/* Without segments, and where blocks are shorter than one, the plain ring. */
void espi_allreduce_segmented_ring(struct espi_script *s,
                                   const struct espi_native_task *t)
{
    int64_t n = t->n_ranks, segment = t->segment_bytes;
    if (segment <= 0 || segment >= t->bytes || t->bytes < n * segment) {
        espi_allreduce_ring(s, t);
        return;
    }
    int64_t rest = t->bytes % (n * segment);
    ring_in_phases(s, t,
                   t->bytes / (n * segment) + (rest >= n && rest > n * segment / 2));
}
