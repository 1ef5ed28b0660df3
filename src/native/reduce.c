/* Reductions to the root. Open MPI 4.1: trees up which segments follow one another, each
 * rank with two receives started; the root taking one after the other; and reduce-scatter
 * by recursive halving, then a binomial gather (Rabenseifner's). MPICH 4.0: a binomial
 * tree, and the same with blocks.
 *
 * References: Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005. */
#include "native/generators.h"
#include "native/halving.h"
#include "native/trees.h"

/* ---- Open MPI's trees ---- */

struct pieces {
    int64_t bytes, each, n;
};

static int64_t piece_bytes(const struct pieces *x, int64_t i)
{
    return i + 1 < x->n ? x->each : x->bytes - i * x->each;
}

/* Receives, segment by segment and in each child by child, one ahead of the other. When a
 * segment is there from all children, and the receive of the next is started, it is sent
 * on. */
static void combine_segments(struct espi_script *s, const struct espi_native_task *t,
                             const struct espi_rank_tree *tree, int shifted,
                             const struct pieces *x)
{
    int n = espi_child_count(tree, shifted), pending = -1;
    for (int64_t i = 0; i <= x->n && !s->out_of_memory; i++)
        for (int k = 0; k < n; k++) {
            int child = tree->child[tree->child_start[shifted] + k], before = pending;
            if (i < x->n)
                pending = espi_icombine(s, espi_rank_from_root(t, child), i * x->each,
                                        piece_bytes(x, i));
            if (before >= 0)
                espi_wait(s, before);
            if (k == 0 && i > 0 && shifted > 0)
                espi_send(s, espi_rank_from_root(t, tree->parent[shifted]),
                          (i - 1) * x->each, piece_bytes(x, i - 1));
            if (i == x->n)
                return;
        }
}

static void reduce_up_tree(struct espi_script *s, const struct espi_native_task *t,
                           const struct espi_rank_tree *tree, int rank)
{
    int64_t each =
        t->segment_bytes > 0 && t->segment_bytes < t->bytes ? t->segment_bytes : t->bytes;
    struct pieces x = {t->bytes, each, (t->bytes + each - 1) / each};
    int shifted = espi_rank_behind_root(t, rank);
    if (espi_child_count(tree, shifted) > 0) {
        combine_segments(s, t, tree, shifted, &x);
        return;
    }
    for (int64_t i = 0; i < x.n && shifted > 0 && !s->out_of_memory; i++)
        espi_send(s, espi_rank_from_root(t, tree->parent[shifted]), i * each,
                  piece_bytes(&x, i));
}

/* Up a tree to a root, and on to the root that was asked for where that is another. */
static void reduce_by_tree(struct espi_script *s, const struct espi_native_task *t,
                           int tree_root, int fanout, espi_children_fn children)
{
    struct espi_rank_tree tree;
    struct espi_native_task up = *t;
    if (espi_rank_tree_init(&tree, t->n_ranks, fanout, children)) {
        s->out_of_memory = 1;
        return;
    }
    up.root = tree_root;
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        reduce_up_tree(s, &up, &tree, r);
        if (tree_root != t->root && r == tree_root)
            espi_send(s, t->root, 0, t->bytes);
        if (tree_root != t->root && r == t->root)
            espi_recv(s, tree_root, 0, t->bytes);
    }
    espi_rank_tree_done(&tree);
}

void espi_reduce_chain(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_by_tree(s, t, t->root, t->fanout, espi_chain_children);
}

void espi_reduce_pipeline(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_by_tree(s, t, t->root, 1, espi_chain_children);
}

void espi_reduce_binary(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_by_tree(s, t, t->root, 2, espi_binary_children);
}

void espi_reduce_binomial(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_by_tree(s, t, t->root, 2, espi_in_order_binomial_children);
}

/* The last rank is always the root of that tree. */
void espi_reduce_in_order_binary(struct espi_script *s, const struct espi_native_task *t)
{
    reduce_by_tree(s, t, t->n_ranks - 1, 2, espi_in_order_binary_children);
}

void espi_reduce_linear_rank(struct espi_script *s, const struct espi_native_task *t,
                             int rank)
{
    if (rank != t->root)
        espi_send(s, t->root, 0, t->bytes);
    for (int from = t->n_ranks - 1; rank == t->root && from >= 0; from--)
        if (from != rank)
            espi_combine(s, from, 0, t->bytes);
}

void espi_reduce_linear(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        espi_reduce_linear_rank(s, t, r);
    }
}

/* ---- halving, then a gather ---- */

/* The first one hands its part to the root, if that stands aside. */
static int replace_first(struct espi_script *s, struct espi_halving *h, int rank)
{
    int root = h->t->root, first = espi_halving_rank(h, 0);
    if (!espi_halving_is_paired(h, root) || root % 2 == h->way.is_odd)
        return 0;
    if (rank == root) {
        espi_halving_become_first(h);
        espi_recv(s, first, h->keep[h->steps - 1].first, h->keep[h->steps - 1].bytes);
    } else if (h->number == 0) {
        espi_send(s, root, h->keep[h->steps - 1].first, h->keep[h->steps - 1].bytes);
        h->number = -1;
    }
    return 1;
}

/* Windows become whole again, step by step back; who is not on the root's side sends its
 * window there and is through. */
static void gather_windows(struct espi_script *s, struct espi_halving *h, int rank)
{
    int root = h->t->root, is_replaced = replace_first(s, h, rank);
    int goal = is_replaced                       ? 0
               : espi_halving_is_paired(h, root) ? root / 2
                                                 : root - h->aside;
    for (int k = h->steps - 1; k >= 0 && h->number >= 0; k--) {
        int number = h->number ^ 1 << k;
        int other = number == 0 && is_replaced ? root : espi_halving_rank(h, number);
        if (number >> k == goal >> k) {
            espi_send(s, other, h->keep[k].first, h->keep[k].bytes);
            return;
        }
        espi_recv(s, other, h->give[k].first, h->give[k].bytes);
    }
}

void espi_reduce_rabenseifner(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->n_ranks < 2 || t->bytes < espi_power_below(t->n_ranks)) {
        espi_reduce_linear(s, t);
        return;
    }
    espi_halve_and_end(s, t, (struct espi_halving_way){.folds_halves = 1},
                       gather_windows);
}

/* ---- MPICH ---- */

void espi_reduce_one_by_one(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        int shifted = espi_rank_behind_root(t, r), bit = 1;
        espi_script_rank(s, r);
        for (; bit < t->n_ranks && !(shifted & bit); bit *= 2)
            if (shifted + bit < t->n_ranks)
                espi_combine(s, espi_rank_from_root(t, shifted + bit), 0, t->bytes);
        if (bit < t->n_ranks)
            espi_send(s, espi_rank_from_root(t, shifted - bit), 0, t->bytes);
    }
}

/* MPICH looks whether there is a byte for each before. */
void espi_reduce_scatter_gather(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->bytes < espi_power_below(t->n_ranks)) {
        espi_reduce_one_by_one(s, t);
        return;
    }
    espi_halve_and_end(s, t, (struct espi_halving_way){.by_blocks = 1}, gather_windows);
}
