/* Double tree: two binary trees, each for half of the message, so that whoever sends in
 * one receives only in the other.
 *
 * The hosts but the root stand in the order of their numbers. In the first tree those at
 * even places send on and those at odd places are leaves; the second is the same one
 * mirrored, or shifted by a place where their number is odd. The root sends a half to the
 * top of each. NCCL's algorithm. Reference: P. Sanders, J. Speck, J. L. Traff, Two-tree
 * algorithms for full bandwidth broadcast, reduction and scan, 2009. Model: any.
 * Guarantee: none; on equal machines at full rate, with 2 log2 n latencies.
 * Complexity: O(m) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"
#include "algo/transfers.h"

/* Places 1 to n; the other tree has them in another order. */
struct in_order {
    int n, is_second;
};

static int place_in_tree(const struct in_order *o, int place)
{
    if (!o->is_second)
        return place;
    return o->n % 2 ? place % o->n + 1 : o->n + 1 - place;
}

/* The child to the right of a place whose children are `far` away: where the tree ends
 * before it, the top of what is left; 0: nothing is. */
static int right_child(int n, int place, int far)
{
    while (far > 0 && place + far > n)
        far /= 2;
    return far ? place + far : 0;
}

/* The sends of a place, and then those of the places below it. */
static esp_status add_below(struct espi_transfers *t, const int *hosts,
                            const struct in_order *o, int place, struct esp_err *err)
{
    int far = (place & -place) / 2, from = hosts[place_in_tree(o, place)];
    int child[2] = {far ? place - far : 0, right_child(o->n, place, far)};
    esp_status st = ESP_OK;
    for (int i = 0; i < 2 && !st; i++)
        if (child[i])
            st = espi_transfers_add(t, from, hosts[place_in_tree(o, child[i])], err);
    for (int i = 0; i < 2 && !st; i++)
        if (child[i])
            st = add_below(t, hosts, o, child[i], err);
    return st;
}

static esp_status add_tree(struct espi_transfers *t, const int *hosts,
                           const struct in_order *o, struct esp_err *err)
{
    int top = 1;
    while (top <= o->n / 2)
        top *= 2;
    t->n = t->n_hops = 0;
    esp_status st = espi_transfers_add(t, hosts[0], hosts[place_in_tree(o, top)], err);
    return st ? st : add_below(t, hosts, o, top, err);
}

static esp_status run_double_tree(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct espi_transfers t;
    const int *hosts;
    esp_status st = espi_ranks_begin(task, &hosts, &t, err);
    for (int second = 0; second < 2 && !st; second++) {
        struct in_order o = {task->view->g.n - 1, second};
        st = add_tree(&t, hosts, &o, err);
        if (!st)
            st = esp_plan_add_tree(plan, task->p, 0.5, t.n, t.start, t.hops, err);
    }
    return st;
}

const struct espi_algo espi_algo_double_tree = {
    .name = "double-tree",
    .family = "many-trees",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_MANY_TREES,
    .whole_message = 1,
    .paper = "Sanders, Speck, Traff 2009",
    .complexity = "O(n m log n)",
    .summary = "two binary trees, for half of the message each (NCCL)",
    .run = run_double_tree,
};
