/* Allgathers: each rank's block to all. Both libraries have the ring, recursive doubling
 * and Bruck's algorithm, with the same messages; Open MPI 4.1 also exchanges with
 * neighbours, two blocks at a time.
 *
 * Reference: Thakur, Rabenseifner, Gropp 2005. */
#include "native/generators.h"

/* So many blocks from one on, round the end. */
static struct espi_script_block some_blocks(const struct espi_native_task *t, int rank,
                                            int first, int n)
{
    return espi_block(rank, (first % t->n_ranks) * t->bytes, n * t->bytes);
}

void espi_allgather_ring(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int i = 1; i < n; i++)
            espi_sendrecv(s, some_blocks(t, (r + 1) % n, r - i + 1 + n, 1),
                          some_blocks(t, (r + n - 1) % n, r - i + n, 1));
    }
}

/* Blocks lie from one's own on, and are put in order at the end. */
void espi_allgather_bruck(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int far = 1; far < n; far *= 2) {
            int count = far <= n / 2 ? far : n - far;
            espi_sendrecv(s, some_blocks(t, (r - far + n) % n, r, count),
                          some_blocks(t, (r + far) % n, r + far, count));
        }
    }
}

/* For powers of two; else both libraries take Bruck's. */
void espi_allgather_doubling(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    if (n & (n - 1)) {
        espi_allgather_bruck(s, t);
        return;
    }
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int bit = 1; bit < n; bit *= 2) {
            int other = r ^ bit;
            espi_sendrecv(s, some_blocks(t, other, espi_round_down(r, bit), bit),
                          some_blocks(t, other, espi_round_down(other, bit), bit));
        }
    }
}

/* Pairs exchange their blocks; then each rank passes what it got last on to the
 * neighbour on its other side, in turns. */
static void exchange_with_neighbours(struct espi_script *s,
                                     const struct espi_native_task *t, int r)
{
    int n = t->n_ranks, is_odd = r % 2, step = is_odd ? -2 : 2;
    int left = (r + n - 1) % n, right = (r + 1) % n;
    int side[2] = {is_odd ? left : right, is_odd ? right : left};
    int from[2] = {is_odd ? left : r, is_odd ? left : r}, out = from[0];
    espi_sendrecv(s, some_blocks(t, side[0], r, 1), some_blocks(t, side[0], side[0], 1));
    for (int i = 1; i < n / 2; i++) {
        int k = i % 2;
        from[k] = (from[k] + (k ? -step : step) + n) % n;
        espi_sendrecv(s, some_blocks(t, side[k], out, 2),
                      some_blocks(t, side[k], from[k], 2));
        out = from[k];
    }
}

void espi_allgather_neighbour(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->n_ranks % 2) {
        espi_allgather_ring(s, t);
        return;
    }
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        exchange_with_neighbours(s, t, r);
    }
}
