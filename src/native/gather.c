/* Gathers and scatters: a block for each rank. The binomial trees of both libraries have
 * the same messages: subtrees are of ranks that follow one another behind the root, and
 * the largest goes first (scatter) or last (gather). */
#include "native/generators.h"

/* The ranks of the subtree whose first one is so many behind the root. */
static int subtree_size(const struct espi_native_task *t, int shifted)
{
    int left = t->n_ranks - shifted, bit = shifted & -shifted;
    return shifted == 0 || left < bit ? left : bit;
}

static int64_t subtree_offset(const struct espi_native_task *t, int shifted)
{
    return espi_rank_from_root(t, shifted) * t->bytes;
}

/* The bit above those of the rank's children. */
static int top_bit(const struct espi_native_task *t, int shifted)
{
    int bit = 1;
    while (bit < t->n_ranks && !(shifted & bit))
        bit *= 2;
    return bit;
}

void espi_gather_binomial(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        int shifted = espi_rank_behind_root(t, r), top = top_bit(t, shifted);
        espi_script_rank(s, r);
        for (int bit = 1; bit < top && shifted + bit < t->n_ranks; bit *= 2)
            espi_recv(s, espi_rank_from_root(t, shifted + bit),
                      subtree_offset(t, shifted + bit),
                      subtree_size(t, shifted + bit) * t->bytes);
        if (shifted > 0)
            espi_send(s, espi_rank_from_root(t, shifted - top),
                      subtree_offset(t, shifted), subtree_size(t, shifted) * t->bytes);
    }
}

void espi_scatter_binomial(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        int shifted = espi_rank_behind_root(t, r), top = top_bit(t, shifted);
        espi_script_rank(s, r);
        if (shifted > 0)
            espi_recv(s, espi_rank_from_root(t, shifted - top),
                      subtree_offset(t, shifted), subtree_size(t, shifted) * t->bytes);
        for (int bit = top / 2; bit > 0; bit /= 2)
            if (shifted + bit < t->n_ranks)
                espi_send(s, espi_rank_from_root(t, shifted + bit),
                          subtree_offset(t, shifted + bit),
                          subtree_size(t, shifted + bit) * t->bytes);
    }
}

void espi_gather_linear(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        if (r != t->root)
            espi_send(s, t->root, r * t->bytes, t->bytes);
        for (int from = 0; r == t->root && from < t->n_ranks; from++)
            if (from != r)
                espi_recv(s, from, from * t->bytes, t->bytes);
    }
}

/* How much of a block comes first. */
static int64_t first_part(const struct espi_native_task *t)
{
    return t->segment_bytes > 0 && t->segment_bytes < t->bytes ? t->segment_bytes
                                                               : t->bytes;
}

/* The root asks one rank after the other for its block, with a message of no bytes; the
 * rest of blocks, perhaps nothing, comes when it comes. */
static void ask_each(struct espi_script *s, const struct espi_native_task *t)
{
    int first_call = (int)s->n;
    for (int from = 0; from < t->n_ranks; from++) {
        int64_t offset = from * t->bytes, part = first_part(t);
        if (from == t->root)
            continue;
        int call = espi_irecv(s, from, offset, part);
        espi_send(s, from, 0, 0);
        espi_irecv(s, from, offset + part, t->bytes - part);
        espi_wait(s, call);
    }
    /* the calls for one rank are five, the fourth being the receive of the rest */
    for (int k = 0; k < t->n_ranks - 1 && !s->out_of_memory; k++)
        espi_wait(s, first_call + 5 * k + 3);
}

void espi_gather_linear_sync(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        if (r == t->root) {
            ask_each(s, t);
            continue;
        }
        espi_recv(s, t->root, 0, 0);
        espi_send(s, t->root, r * t->bytes, first_part(t));
        espi_send(s, t->root, r * t->bytes + first_part(t), t->bytes - first_part(t));
    }
}

static void scatter_linear(struct espi_script *s, const struct espi_native_task *t,
                           int at_once)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        int first_call = (int)s->n;
        if (r != t->root) {
            espi_recv(s, t->root, r * t->bytes, t->bytes);
            continue;
        }
        for (int to = 0; to < t->n_ranks; to++)
            if (to != r && at_once)
                espi_isend(s, to, to * t->bytes, t->bytes);
            else if (to != r)
                espi_send(s, to, to * t->bytes, t->bytes);
        for (int k = 0; at_once && k < t->n_ranks - 1; k++)
            espi_wait(s, first_call + k);
    }
}

void espi_scatter_linear(struct espi_script *s, const struct espi_native_task *t)
{
    scatter_linear(s, t, 0);
}

void espi_scatter_linear_nb(struct espi_script *s, const struct espi_native_task *t)
{
    scatter_linear(s, t, 1);
}
