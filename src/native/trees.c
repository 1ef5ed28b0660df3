#include "native/trees.h"

#include "base/alloc.h"

int espi_chain_children(int rank, int n, int fanout, int *out)
{
    int count = 0;
    if (n < 2)
        return 0;
    fanout = fanout < 1 ? 1 : fanout < n - 1 ? fanout : n - 1;
    int longer = (n - 1) % fanout, length = (n - 1) / fanout; /* the first are longer */
    for (int c = 0, head = 1; c < fanout; c++) {
        int end = head + length + (c < longer);
        if (rank == 0)
            out[count++] = head;
        else if (rank >= head && rank + 1 < end)
            out[count++] = rank + 1;
        head = end;
    }
    return count;
}

int espi_binary_children(int rank, int n, int fanout, int *out)
{
    (void)fanout;
    int count = 0, level_size = 1, level_end = 1; /* of the rank's level */
    while (rank >= level_end) {
        level_size *= 2;
        level_end += level_size;
    }
    for (int i = 1; i <= 2; i++)
        if (rank + i * level_size < n)
            out[count++] = rank + i * level_size;
    return count;
}

int espi_binomial_children(int rank, int n, int fanout, int *out)
{
    (void)fanout;
    int count = 0, bit = 1;
    while (bit <= rank)
        bit *= 2;
    for (; bit < n && rank + bit < n; bit *= 2)
        out[count++] = rank + bit;
    return count;
}

int espi_in_order_binomial_children(int rank, int n, int fanout, int *out)
{
    (void)fanout;
    int count = 0;
    for (int bit = 1; bit < n && !(rank & bit); bit *= 2)
        if (rank + bit < n)
            out[count++] = rank + bit;
    return count;
}

/* The subtree of so many ranks from `first` on has its last one on top, the one before
 * that on top of its left part, and the rest in its right part, of half the size. */
int espi_in_order_binary_children(int rank, int n, int fanout, int *out)
{
    (void)fanout;
    int real = (rank + n - 1) % n, first = 0, size = n, count = 0;
    while (first + size - 1 != real) {
        int right = size / 2;
        if (size == 2)
            return 0;
        if (real < first + right) {
            size = right;
        } else {
            first += right;
            size -= right + 1;
        }
    }
    if (size > 1)
        out[count++] = (first + size - 2 + 1) % n;
    if (size > 2)
        out[count++] = (first + size / 2 - 1 + 1) % n;
    return count;
}

int espi_knomial_children(int rank, int n, int radix, int *out)
{
    int count = 0, step = 1;
    while (step < n && rank % (radix * step) == 0)
        step *= radix;
    for (step /= radix; step > 0; step /= radix)
        for (int i = 1; i < radix; i++)
            if (rank + i * step < n)
                out[count++] = rank + i * step;
    return count;
}

int espi_rank_tree_init(struct espi_rank_tree *tree, int n, int fanout,
                        espi_children_fn children)
{
    *tree = (struct espi_rank_tree){.n = n};
    tree->parent = ESPI_NEW(int, n);
    tree->child_start = ESPI_NEW(int, (size_t)n + 1);
    tree->child = ESPI_NEW(int, 2 * (size_t)n); /* and room for those of one more */
    if (!tree->parent || !tree->child_start || !tree->child) {
        espi_rank_tree_done(tree);
        return -1;
    }
    tree->parent[0] = -1;
    for (int r = 0, at = 0; r < n; r++) {
        int end = at + children(r, n, fanout, tree->child + at);
        tree->child_start[r] = at;
        for (; at < end; at++)
            tree->parent[tree->child[at]] = r;
        tree->child_start[r + 1] = at;
    }
    return 0;
}

void espi_rank_tree_done(struct espi_rank_tree *tree)
{
    espi_free(tree->parent);
    espi_free(tree->child_start);
    espi_free(tree->child);
}
