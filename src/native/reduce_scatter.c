/* Reduce-scatters: a vector of each rank with a block for each rank, combined. Both
 * libraries: recursive halving. Open MPI 4.1 also: a ring, a butterfly, and a reduce
 * followed by a scatter; MPICH: pairs in turns.
 *
 * References: Thakur, Rabenseifner, Gropp 2005; Traff 2005 (butterfly). */
#include "native/generators.h"
#include "native/halving.h"

/* ---- a power of two of ranks, of which the first have the blocks of two ---- */

struct halves {
    const struct espi_native_task *t;
    int power, aside;
    int number; /* of the rank; -1: it stands aside */
};

static struct halves halves_of(const struct espi_native_task *t, int rank)
{
    struct halves h = {.t = t, .power = espi_power_below(t->n_ranks)};
    h.aside = t->n_ranks - h.power;
    h.number = rank >= 2 * h.aside ? rank - h.aside : rank % 2 ? rank / 2 : -1;
    return h;
}

static int rank_of(const struct halves *h, int number)
{
    return number < h->aside ? 2 * number + 1 : number + h->aside;
}

/* The first of the blocks of that number. */
static int first_block(const struct halves *h, int number)
{
    return number < h->aside ? 2 * number : number + h->aside;
}

static struct espi_script_block blocks(const struct espi_native_task *t, int other,
                                       int from, int to)
{
    return espi_block(other, from * t->bytes, (to - from) * t->bytes);
}

/* The blocks of numbers from one on. */
static struct espi_script_block numbers(const struct halves *h, int other, int from,
                                        int n)
{
    return blocks(h->t, rank_of(h, other), first_block(h, from),
                  first_block(h, from + n));
}

/* Of the first ranks the even ones stand aside; their neighbours combine what they have.
 */
static void fold(struct espi_script *s, const struct halves *h, int rank)
{
    int64_t all = h->t->n_ranks * h->t->bytes;
    if (h->number < 0)
        espi_send(s, rank + 1, 0, all);
    else if (h->number < h->aside)
        espi_combine(s, rank - 1, 0, all);
}

/* ---- recursive halving: the numbers with the same upper bits have the same half ---- */

static void halve_blocks(struct espi_script *s, const struct halves *h)
{
    for (int bit = h->power / 2; bit > 0; bit /= 2) {
        int other = h->number ^ bit;
        espi_sendrecv_combine(s, numbers(h, other, espi_round_down(other, bit), bit),
                              numbers(h, other, espi_round_down(h->number, bit), bit));
    }
}

void espi_reduce_scatter_halving(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        struct halves h = halves_of(t, r);
        espi_script_rank(s, r);
        fold(s, &h, r);
        if (h.number >= 0)
            halve_blocks(s, &h);
        if (h.number < 0)
            espi_recv(s, r + 1, r * t->bytes, t->bytes);
        else if (h.number < h.aside)
            espi_send(s, r - 1, (r - 1) * t->bytes, t->bytes);
    }
}

/* ---- the butterfly: the nearest first, so that blocks end at mirrored numbers ---- */

static int mirror(const struct halves *h, int number)
{
    int mirrored = 0;
    for (int bit = 1; bit < h->power; bit *= 2, number /= 2)
        mirrored = 2 * mirrored + number % 2;
    return mirrored;
}

static void fly(struct espi_script *s, const struct halves *h)
{
    int give = 0, keep = 0, n = h->power;
    for (int bit = 1; bit < h->power; bit *= 2) {
        int other = h->number ^ bit;
        n /= 2;
        *(h->number & bit ? &keep : &give) += n;
        espi_sendrecv_combine(s, numbers(h, other, give, n), numbers(h, other, keep, n));
        give = keep;
    }
}

/* The blocks that a number has combined are those of its mirrored number. */
static void send_home(struct espi_script *s, const struct halves *h, int rank)
{
    int whose = mirror(h, h->number), owner = rank_of(h, whose);
    if (whose < h->aside)
        espi_send(s, owner - 1, (owner - 1) * h->t->bytes, h->t->bytes);
    if (whose != h->number)
        espi_sendrecv(s, blocks(h->t, owner, owner, owner + 1),
                      blocks(h->t, owner, rank, rank + 1));
}

void espi_reduce_scatter_butterfly(struct espi_script *s,
                                   const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        struct halves h = halves_of(t, r);
        espi_script_rank(s, r);
        fold(s, &h, r);
        if (h.number < 0) {
            espi_recv(s, rank_of(&h, mirror(&h, r / 2)), r * t->bytes, t->bytes);
            continue;
        }
        fly(s, &h);
        send_home(s, &h, r);
    }
}

/* ---- others ---- */

static struct espi_script_block ring_block(const struct espi_native_task *t,
                                           const void *of, int block)
{
    (void)of;
    return blocks(t, 0, block % t->n_ranks, block % t->n_ranks + 1);
}

void espi_reduce_scatter_ring(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        espi_ring_combine(s, t, r, r + t->n_ranks - 1, ring_block, NULL);
    }
}

void espi_reduce_scatter_pairwise(struct espi_script *s, const struct espi_native_task *t)
{
    int n = t->n_ranks;
    for (int r = 0; r < n; r++) {
        espi_script_rank(s, r);
        for (int i = 1; i < n; i++) {
            int to = (r + i) % n, from = (r + n - i) % n;
            espi_sendrecv_combine(s, blocks(t, to, to, to + 1),
                                  blocks(t, from, r, r + 1));
        }
    }
}

/* published: of so many ranks short reduces are no longer binary. */
enum { BINARY_BELOW = 32 };

/* To the first rank, by the algorithm that Open MPI takes for a reduce where it takes
 * this one, for short messages; it gives to one after the other. */
void espi_reduce_scatter_nonoverlapping(struct espi_script *s,
                                        const struct espi_native_task *t)
{
    struct espi_native_task whole = {.n_ranks = t->n_ranks,
                                     .bytes = t->n_ranks * t->bytes};
    struct espi_native_task parts = {.n_ranks = t->n_ranks, .bytes = t->bytes};
    struct espi_script up, down;
    if (espi_script_init(&up, t->n_ranks, whole.bytes))
        s->out_of_memory = 1;
    if (espi_script_init(&down, t->n_ranks, whole.bytes))
        s->out_of_memory = 1;
    if (!s->out_of_memory) {
        if (t->n_ranks < BINARY_BELOW)
            espi_reduce_binary(&up, &whole);
        else
            espi_reduce_binomial(&up, &whole);
        espi_scatter_linear(&down, &parts);
        espi_script_join(s, &up, &down);
    }
    espi_script_done(&up);
    espi_script_done(&down);
}
