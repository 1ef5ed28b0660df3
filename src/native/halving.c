#include "native/halving.h"

#include "native/generators.h"

static int64_t start_of_block(const struct espi_halving *h, int block)
{
    int64_t whole = h->t->bytes / h->power, rest = h->t->bytes % h->power;
    return block * whole + (block < rest ? block : rest);
}

static struct espi_window blocks_window(const struct espi_halving *h, int from, int to)
{
    int64_t first = start_of_block(h, from);
    return (struct espi_window){first, start_of_block(h, to) - first};
}

static void find_windows(struct espi_halving *h)
{
    struct espi_window window = {0, h->t->bytes};
    int from = 0, size = h->power; /* the same in blocks */
    for (int k = 0; k < h->steps; k++) {
        int is_upper = h->number >> k & 1, half = size / 2;
        struct espi_window left = {window.first, window.bytes / 2};
        if (h->way.by_blocks)
            left = blocks_window(h, from, from + half);
        struct espi_window right = {window.first + left.bytes, window.bytes - left.bytes};
        h->keep[k] = window = is_upper ? right : left;
        h->give[k] = is_upper ? left : right;
        from += is_upper ? half : 0;
        size = half;
    }
}

void espi_halving_init(struct espi_halving *h, const struct espi_native_task *t,
                       const struct espi_halving_way *way, int rank)
{
    *h =
        (struct espi_halving){.t = t, .way = *way, .power = espi_power_below(t->n_ranks)};
    h->aside = t->n_ranks - h->power;
    for (int n = h->power; n > 1; n /= 2)
        h->steps++;
    h->number = !espi_halving_is_paired(h, rank) ? rank - h->aside
                : rank % 2 == way->is_odd        ? rank / 2
                                                 : -1;
    if (h->number >= 0)
        find_windows(h);
}

void espi_halving_become_first(struct espi_halving *h)
{
    h->number = 0;
    find_windows(h);
}

int espi_halving_rank(const struct espi_halving *h, int number)
{
    return number < h->aside ? 2 * number + h->way.is_odd : number + h->aside;
}

static void halve(struct espi_script *s, const struct espi_halving *h)
{
    for (int k = 0; k < h->steps && h->number >= 0; k++) {
        int other = espi_halving_rank(h, h->number ^ 1 << k);
        espi_sendrecv_combine(s, espi_block(other, h->give[k].first, h->give[k].bytes),
                              espi_block(other, h->keep[k].first, h->keep[k].bytes));
    }
}

void espi_fold_whole(struct espi_script *s, const struct espi_halving *h, int rank)
{
    if (!espi_halving_is_paired(h, rank))
        return;
    if (h->number < 0)
        espi_send(s, rank ^ 1, 0, h->t->bytes);
    else
        espi_combine(s, rank ^ 1, 0, h->t->bytes);
}

/* Half against half, each half combined by one of the two. */
static void fold_halves(struct espi_script *s, const struct espi_halving *h, int rank)
{
    int64_t left = h->t->bytes / 2, right = h->t->bytes - left;
    int other = rank ^ 1;
    struct espi_script_block low = espi_block(other, 0, left);
    struct espi_script_block high = espi_block(other, left, right);
    if (!espi_halving_is_paired(h, rank))
        return;
    if (h->number < 0) {
        espi_sendrecv_combine(s, low, high);
        espi_send(s, other, left, right);
    } else {
        espi_sendrecv_combine(s, high, low);
        espi_recv(s, other, left, right);
    }
}

void espi_halve_and_end(struct espi_script *s, const struct espi_native_task *t,
                        struct espi_halving_way way, espi_halving_end_fn end)
{
    for (int r = 0; r < t->n_ranks; r++) {
        struct espi_halving h;
        espi_halving_init(&h, t, &way, r);
        espi_script_rank(s, r);
        if (way.folds_halves)
            fold_halves(s, &h, r);
        else
            espi_fold_whole(s, &h, r);
        halve(s, &h);
        end(s, &h, r);
    }
}
