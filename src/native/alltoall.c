/* Alltoalls: a block from each rank to each other. A rank's block for the one so many
 * places behind it lies at that place of the first half of what the operation is about;
 * what it gets from the one so many places before it, at that of the second half, but
 * with Bruck's algorithm, by which blocks keep their places in the first. MPICH's blocks
 * of a rank for itself pass no network.
 *
 * Reference: Thakur, Rabenseifner, Gropp 2005. */
#include "native/generators.h"

static struct espi_script_block out_to(const struct espi_native_task *t, int rank, int to)
{
    int places = (to - rank + t->n_ranks) % t->n_ranks;
    return espi_block(to, places * t->bytes, t->bytes);
}

static struct espi_script_block in_from(const struct espi_native_task *t, int rank,
                                        int from)
{
    int n = t->n_ranks, places = (rank - from + n) % n;
    return espi_block(from, (n + places) * t->bytes, t->bytes);
}

/* Receives from the next ranks, sends to the ones before, so many at once. */
static void post_many(struct espi_script *s, const struct espi_native_task *t, int r,
                      int first, int last)
{
    int n = t->n_ranks, before = (int)s->n;
    for (int i = first; i < last; i++) {
        struct espi_script_block in = in_from(t, r, (r + i) % n);
        espi_irecv(s, in.rank, in.offset, in.bytes);
    }
    for (int i = first; i < last; i++) {
        struct espi_script_block out = out_to(t, r, (r - i + n) % n);
        espi_isend(s, out.rank, out.offset, out.bytes);
    }
    for (int i = 0; i < 2 * (last - first); i++)
        espi_wait(s, before + i);
}

void espi_alltoall_linear(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        post_many(s, t, r, 1, t->n_ranks);
    }
}

static void post_by_rank(struct espi_script *s, const struct espi_native_task *t, int r)
{
    int before = (int)s->n;
    for (int from = 0; from < t->n_ranks; from++) {
        struct espi_script_block in = in_from(t, r, from);
        if (from != r)
            espi_irecv(s, in.rank, in.offset, in.bytes);
    }
    for (int to = 0; to < t->n_ranks; to++) {
        struct espi_script_block out = out_to(t, r, to);
        if (to != r)
            espi_isend(s, out.rank, out.offset, out.bytes);
    }
    for (int i = 0; i < 2 * (t->n_ranks - 1); i++)
        espi_wait(s, before + i);
}

void espi_alltoall_by_rank(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        post_by_rank(s, t, r);
    }
}

/* published: MPICH's MPIR_CVAR_ALLTOALL_THROTTLE, the rank itself counted. */
enum { AT_ONCE = 32 };

void espi_alltoall_scattered(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int i = 0; i < n; i += AT_ONCE)
            post_many(s, t, r, i > 0 ? i : 1, i + AT_ONCE < n ? i + AT_ONCE : n);
    }
}

static void exchange_in_steps(struct espi_script *s, const struct espi_native_task *t,
                              int by_xor)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int i = 1; i < n; i++) {
            int to = by_xor ? r ^ i : (r + i) % n, from = by_xor ? to : (r + n - i) % n;
            espi_sendrecv(s, out_to(t, r, to), in_from(t, r, from));
        }
    }
}

void espi_alltoall_pairwise(struct espi_script *s, const struct espi_native_task *t)
{
    exchange_in_steps(s, t, 0);
}

/* MPICH pairs ranks where they are a power of two. */
void espi_alltoall_pairwise_xor(struct espi_script *s, const struct espi_native_task *t)
{
    exchange_in_steps(s, t, (t->n_ranks & (t->n_ranks - 1)) == 0);
}

/* Of the places 1 to n - 1 those that have the bit. */
static int places_with(int bit, int n)
{
    int whole = n / (2 * bit) * bit, rest = n % (2 * bit) - bit;
    return whole + (rest > 0 ? rest : 0);
}

void espi_alltoall_bruck(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int bit = 1; bit < n; bit *= 2) {
            struct espi_script_block out = {(r + bit) % n, bit * t->bytes,
                                            places_with(bit, n) * t->bytes,
                                            bit * t->bytes};
            struct espi_script_block in = out;
            in.rank = (r + n - bit) % n;
            espi_sendrecv(s, out, in);
        }
    }
}
