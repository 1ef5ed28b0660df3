/* Broadcasts. Open MPI 4.1 (coll/base, coll/tuned): trees along which segments follow one
 * another, each rank with two receives started and waiting for its sends of a segment
 * before it goes on; a binary tree whose two halves carry half of the message each and
 * swap them at the end; and a binomial scatter followed by an allgather. MPICH 4.0: a
 * binomial tree with one send after the other, and the same scatters and allgathers.
 *
 * References: Thakur, Rabenseifner, Gropp 2005 (scatter and allgather); Pjesivac-Grbovic
 * and others 2007 (the segmented trees). */
#include "native/generators.h"
#include "native/trees.h"

/* ---- a message in segments along a tree ---- */

/* A part of the message, cut into segments. */
struct stretch {
    int64_t first, bytes, segment_bytes;
    int64_t n_segments;
};

static struct stretch cut_stretch(int64_t first, int64_t bytes, int64_t segment_bytes)
{
    int64_t each = segment_bytes > 0 && segment_bytes < bytes ? segment_bytes : bytes;
    return (struct stretch){first, bytes, each, each > 0 ? (bytes + each - 1) / each : 1};
}

static int64_t segment_length(const struct stretch *x, int64_t i)
{
    return i + 1 < x->n_segments ? x->segment_bytes : x->bytes - i * x->segment_bytes;
}

static int start_receive(struct espi_script *s, int from, const struct stretch *x,
                         int64_t i)
{
    return espi_irecv(s, from, x->first + i * x->segment_bytes, segment_length(x, i));
}

struct tree_place {
    const struct espi_native_task *t;
    const struct espi_rank_tree *tree;
    int shifted;
};

static int child_of(const struct tree_place *at, int i)
{
    return espi_rank_from_root(at->t,
                               at->tree->child[at->tree->child_start[at->shifted] + i]);
}

static int parent_of(const struct tree_place *at)
{
    return espi_rank_from_root(at->t, at->tree->parent[at->shifted]);
}

/* All children at once, then it waits for them. */
static void send_to_children(struct espi_script *s, const struct tree_place *at,
                             const struct stretch *x, int64_t i)
{
    int n = espi_child_count(at->tree, at->shifted), first = (int)s->n;
    for (int k = 0; k < n; k++)
        espi_isend(s, child_of(at, k), x->first + i * x->segment_bytes,
                   segment_length(x, i));
    for (int k = 0; k < n; k++)
        espi_wait(s, first + k);
}

/* While a segment is waited for and passed on, the receive of the next one is there. */
static void pass_segments(struct espi_script *s, const struct tree_place *at,
                          const struct stretch *x)
{
    int pending = at->shifted ? start_receive(s, parent_of(at), x, 0) : -1;
    for (int64_t i = 0; i < x->n_segments && !s->out_of_memory; i++) {
        int next = at->shifted && i + 1 < x->n_segments
                       ? start_receive(s, parent_of(at), x, i + 1)
                       : -1;
        if (at->shifted)
            espi_wait(s, pending);
        send_to_children(s, at, x, i);
        pending = next;
    }
}

static void write_tree(struct espi_script *s, const struct espi_native_task *t,
                       int fanout, espi_children_fn children)
{
    struct espi_rank_tree tree;
    struct stretch all = cut_stretch(0, t->bytes, t->segment_bytes);
    if (espi_rank_tree_init(&tree, t->n_ranks, fanout, children)) {
        s->out_of_memory = 1;
        return;
    }
    for (int r = 0; r < t->n_ranks; r++) {
        struct tree_place at = {t, &tree, espi_rank_behind_root(t, r)};
        espi_script_rank(s, r);
        pass_segments(s, &at, &all);
    }
    espi_rank_tree_done(&tree);
}

void espi_bcast_chain(struct espi_script *s, const struct espi_native_task *t)
{
    write_tree(s, t, t->fanout, espi_chain_children);
}

void espi_bcast_pipeline(struct espi_script *s, const struct espi_native_task *t)
{
    write_tree(s, t, 1, espi_chain_children);
}

void espi_bcast_binary(struct espi_script *s, const struct espi_native_task *t)
{
    write_tree(s, t, 2, espi_binary_children);
}

void espi_bcast_binomial(struct espi_script *s, const struct espi_native_task *t)
{
    write_tree(s, t, 2, espi_binomial_children);
}

#define KNOMIAL_RADIX 4 /* derived: coll_tuned_bcast_algorithm_knomial_radix */

void espi_bcast_knomial(struct espi_script *s, const struct espi_native_task *t)
{
    write_tree(s, t, t->fanout > 1 ? t->fanout : KNOMIAL_RADIX, espi_knomial_children);
}

void espi_bcast_linear_rank(struct espi_script *s, const struct espi_native_task *t,
                            int rank)
{
    int first = (int)s->n;
    if (rank != t->root) {
        espi_recv(s, t->root, 0, t->bytes);
        return;
    }
    for (int to = 0; to < t->n_ranks; to++)
        if (to != rank)
            espi_isend(s, to, 0, t->bytes);
    for (int k = 0; k < t->n_ranks - 1; k++)
        espi_wait(s, first + k);
}

void espi_bcast_linear(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        espi_bcast_linear_rank(s, t, r);
    }
}

/* ---- both halves of a binary tree with half of the message each ---- */

/* Odd ranks behind the root are in the left half of the tree, even ones in the right. */
static int half_of(int shifted)
{
    return (shifted + 1) % 2;
}

static void send_halves(struct espi_script *s, const struct tree_place *at,
                        const struct stretch half[2])
{
    int n = espi_child_count(at->tree, 0);
    for (int64_t i = 0; i < half[0].n_segments && !s->out_of_memory; i++)
        for (int k = 0; k < n && k < 2; k++)
            if (i < half[k].n_segments)
                espi_send(s, child_of(at, k), half[k].first + i * half[k].segment_bytes,
                          segment_length(&half[k], i));
}

/* As above, but one child after the other; leaves have one receive at a time. */
static void pass_half(struct espi_script *s, const struct tree_place *at,
                      const struct stretch *x)
{
    int n = espi_child_count(at->tree, at->shifted);
    int pending = start_receive(s, parent_of(at), x, 0);
    for (int64_t i = 0; i < x->n_segments && !s->out_of_memory; i++) {
        int next = n > 0 && i + 1 < x->n_segments
                       ? start_receive(s, parent_of(at), x, i + 1)
                       : -1;
        espi_wait(s, pending);
        for (int k = 0; k < n; k++)
            espi_send(s, child_of(at, k), x->first + i * x->segment_bytes,
                      segment_length(x, i));
        if (n == 0 && i + 1 < x->n_segments)
            next = start_receive(s, parent_of(at), x, i + 1);
        pending = next;
    }
}

/* With an even number of ranks the last one has no partner but the root. */
static void swap_halves(struct espi_script *s, const struct espi_native_task *t,
                        int shifted, const struct stretch half[2])
{
    int n = t->n_ranks, mine = half_of(shifted), last = n % 2 == 0 ? n - 1 : -1;
    if (shifted == 0) {
        if (last > 0)
            espi_send(s, espi_rank_from_root(t, last), half[1].first, half[1].bytes);
    } else if (shifted == last) {
        espi_recv(s, t->root, half[1].first, half[1].bytes);
    } else {
        int pair = espi_rank_from_root(t, mine ? shifted - 1 : shifted + 1);
        espi_sendrecv(s, espi_block(pair, half[mine].first, half[mine].bytes),
                      espi_block(pair, half[!mine].first, half[!mine].bytes));
    }
}

void espi_bcast_split_binary(struct espi_script *s, const struct espi_native_task *t)
{
    int64_t left = (t->bytes + 1) / 2, right = t->bytes - left;
    struct stretch half[2] = {cut_stretch(0, left, t->segment_bytes),
                              cut_stretch(left, right, t->segment_bytes)};
    struct espi_rank_tree tree;
    if (right == 0 || t->segment_bytes > right) { /* too short to be split */
        espi_bcast_pipeline(s, t);
        return;
    }
    if (espi_rank_tree_init(&tree, t->n_ranks, 2, espi_binary_children)) {
        s->out_of_memory = 1;
        return;
    }
    for (int r = 0; r < t->n_ranks; r++) {
        struct tree_place at = {t, &tree, espi_rank_behind_root(t, r)};
        espi_script_rank(s, r);
        if (at.shifted == 0)
            send_halves(s, &at, half);
        else
            pass_half(s, &at, &half[half_of(at.shifted)]);
        if (t->n_ranks > 1)
            swap_halves(s, t, at.shifted, half);
    }
    espi_rank_tree_done(&tree);
}

/* ---- scatter, then allgather ---- */

/* The message in one block a rank behind the root, rounded up: the last may be empty. */
static int64_t block_start(const struct espi_native_task *t, int block)
{
    int64_t each = (t->bytes + t->n_ranks - 1) / t->n_ranks;
    return block * each < t->bytes ? block * each : t->bytes;
}

static struct espi_script_block blocks_between(const struct espi_native_task *t, int rank,
                                               int from, int to)
{
    int64_t first = block_start(t, from);
    return espi_block(rank, first, block_start(t, to) - first);
}

/* Along a binomial tree; who would get nothing gets no message. */
static void scatter_blocks(struct espi_script *s, const struct espi_native_task *t,
                           int shifted)
{
    int bit = 1;
    for (; bit < t->n_ranks && !(shifted & bit); bit *= 2)
        ;
    if (bit < t->n_ranks) {
        struct espi_script_block in = blocks_between(
            t, espi_rank_from_root(t, shifted - bit), shifted, shifted + bit);
        if (in.bytes > 0)
            espi_recv(s, in.rank, in.offset, in.bytes);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (shifted + bit >= t->n_ranks)
            continue;
        struct espi_script_block out = blocks_between(
            t, espi_rank_from_root(t, shifted + bit), shifted + bit, shifted + 2 * bit);
        if (out.bytes > 0)
            espi_send(s, out.rank, out.offset, out.bytes);
    }
}

/* Some ranks of this half found no partner in the other, which is not whole; who has its
 * blocks passes them on, in halves of halves. */
static void pass_to_others(struct espi_script *s, const struct espi_native_task *t,
                           int shifted, int bit)
{
    int root = espi_round_down(shifted, bit), served = t->n_ranks - root - bit;
    for (int step = bit / 2; step > 0; step /= 2) {
        int other = shifted ^ step;
        int have = espi_round_down(shifted, 2 * step) + served;
        struct espi_script_block blocks =
            blocks_between(t, espi_rank_from_root(t, other), root + bit, root + 2 * bit);
        if (other > shifted && shifted < have && other >= have)
            espi_send(s, blocks.rank, blocks.offset, blocks.bytes);
        else if (other < shifted && other < have && shifted >= have)
            espi_recv(s, blocks.rank, blocks.offset, blocks.bytes);
    }
}

static void double_blocks(struct espi_script *s, const struct espi_native_task *t,
                          int shifted)
{
    for (int bit = 1; bit < t->n_ranks; bit *= 2) {
        int other = shifted ^ bit, rank = espi_rank_from_root(t, other);
        int mine = espi_round_down(shifted, bit), its = espi_round_down(other, bit);
        if (other < t->n_ranks)
            espi_sendrecv(s, blocks_between(t, rank, mine, mine + bit),
                          blocks_between(t, rank, its, its + bit));
        if (its + bit > t->n_ranks)
            pass_to_others(s, t, shifted, bit);
    }
}

static void pass_blocks_round(struct espi_script *s, const struct espi_native_task *t,
                              int shifted)
{
    int n = t->n_ranks, right = espi_rank_from_root(t, (shifted + 1) % n);
    int left = espi_rank_from_root(t, (shifted + n - 1) % n);
    for (int i = 1; i < n && !s->out_of_memory; i++) {
        int out = (shifted - i + 1 + n) % n, in = (shifted - i + n) % n;
        espi_sendrecv(s, blocks_between(t, right, out, out + 1),
                      blocks_between(t, left, in, in + 1));
    }
}

static void write_scattered(struct espi_script *s, const struct espi_native_task *t,
                            void (*gather)(struct espi_script *,
                                           const struct espi_native_task *, int))
{
    for (int r = 0; r < t->n_ranks; r++) {
        espi_script_rank(s, r);
        scatter_blocks(s, t, espi_rank_behind_root(t, r));
        gather(s, t, espi_rank_behind_root(t, r));
    }
}

/* Open MPI alone looks whether there is a byte for each rank. */
void espi_bcast_scatter_allgather(struct espi_script *s, const struct espi_native_task *t)
{
    if (t->bytes < t->n_ranks)
        espi_bcast_linear(s, t);
    else
        write_scattered(s, t, double_blocks);
}

void espi_bcast_scatter_allgather_ring(struct espi_script *s,
                                       const struct espi_native_task *t)
{
    if (t->bytes < t->n_ranks)
        espi_bcast_linear(s, t);
    else
        write_scattered(s, t, pass_blocks_round);
}

void espi_bcast_scatter_doubling(struct espi_script *s, const struct espi_native_task *t)
{
    write_scattered(s, t, double_blocks);
}

void espi_bcast_scatter_ring(struct espi_script *s, const struct espi_native_task *t)
{
    write_scattered(s, t, pass_blocks_round);
}

/* ---- MPICH's tree ---- */

void espi_bcast_one_by_one(struct espi_script *s, const struct espi_native_task *t)
{
    for (int r = 0; r < t->n_ranks; r++) {
        int shifted = espi_rank_behind_root(t, r), bit = 1;
        espi_script_rank(s, r);
        for (; bit < t->n_ranks && !(shifted & bit); bit *= 2)
            ;
        if (bit < t->n_ranks)
            espi_recv(s, espi_rank_from_root(t, shifted - bit), 0, t->bytes);
        for (bit /= 2; bit > 0; bit /= 2)
            if (shifted + bit < t->n_ranks)
                espi_send(s, espi_rank_from_root(t, shifted + bit), 0, t->bytes);
    }
}
