/* Earliest completing edge first with look-ahead.
 *
 * As ECEF, but a receiver j is also judged by how well it could go on sending: the pair
 * with the smallest R_i + C_ij + L_j is next, where among the hosts k that would still
 * wait L_j is
 *   min  the time of the fastest link j -> k (the usual one);
 *   avg  the mean time of the links j -> k;
 *   set  the mean over k of the fastest link to k from any informed host or j.
 * Reference: P. B. Bhat, C. S. Raghavendra, V. K. Prasanna, Efficient collective
 * communication in distributed heterogeneous systems, 1999.
 * Model: one-port; with the holding times of the view in the other models.
 * Departure: the definition wants all links. Only existing arcs are chosen, and in L_j a
 * missing arc counts as the slowest there is.
 * Ties: the transfer that would be over first, then the lower sender, then the lower
 * receiver.
 * Guarantee: none.
 * Complexity: min keeps for each sender a heap of its receivers by C_ij + L_j, made anew
 * from the top when stale, which L_j makes it only by growing. L_j changes when the
 * fastest open link of j is taken; were links taken in random order, that would be
 * O(log n) times, and the whole O(m log^2 n). Worst case O(n d^2 log n) with degrees d,
 * the definition being O(n^3). avg and set: O(n m), the definition being O(n^3) and
 * O(n^4); see look_ahead_mean.c. */
#include "algo/atomic/look_ahead.h"

#include <math.h>

#include "algo/atomic/greedy.h"
#include "base/err.h"

enum { OPTION_VARIANT };
enum { VARIANT_MIN, VARIANT_AVG, VARIANT_SET };

static const struct espi_algo_option options[] = {
    {.name = "variant",
     .choices = "min|avg|set",
     .standard = VARIANT_MIN,
     .meaning = "how the further use of a receiver is judged"},
    {.name = NULL},
};

double espi_slowest_s(const struct espi_view *v)
{
    double most_s = 0;
    for (int e = 0; e < v->g.m; e++)
        most_s = fmax(most_s, v->lag_s[e]);
    return most_s;
}

/* A receiver in the heap of a sender. */
struct candidate {
    double value_s; /* C_ij + L_j, perhaps of an L_j that has grown since */
    const struct espi_ranked_arc *arc;
};

struct look_ahead {
    double slowest_s;
    struct candidate *candidates; /* in the rows of v->g.out: a heap each */
    int *size;                    /* of the heap of a sender; -1: not made yet */
};

static double worth_s(const struct look_ahead *l, struct espi_greedy *g,
                      const struct espi_ranked_arc *arc)
{
    const struct espi_ranked_arc *onward = espi_fastest_open(g, arc->to);
    return arc->lag_s + (onward ? onward->lag_s : l->slowest_s);
}

/* Rows are sorted by lag and then receiver, so that the address breaks ties. */
static int is_before(const struct candidate *a, const struct candidate *b)
{
    return a->value_s != b->value_s ? a->value_s < b->value_s : a->arc < b->arc;
}

static void sink(struct candidate *heap, int size, int at)
{
    struct candidate moved = heap[at];
    for (;;) {
        int kid = 2 * at + 1;
        if (kid >= size)
            break;
        if (kid + 1 < size && is_before(&heap[kid + 1], &heap[kid]))
            kid++;
        if (!is_before(&heap[kid], &moved))
            break;
        heap[at] = heap[kid];
        at = kid;
    }
    heap[at] = moved;
}

static void make_heap(struct look_ahead *l, struct espi_greedy *g, int sender)
{
    int first = g->v->g.out.start[sender], last = g->v->g.out.start[sender + 1], size = 0;
    struct candidate *heap = l->candidates + first;
    for (int k = first; k < last; k++) {
        const struct espi_ranked_arc *arc = &g->ranked[k];
        if (!g->informed[arc->to])
            heap[size++] = (struct candidate){worth_s(l, g, arc), arc};
    }
    for (int at = size / 2 - 1; at >= 0; at--)
        sink(heap, size, at);
    l->size[sender] = size;
}

static int offer_ahead(void *self, struct espi_greedy *g, int sender,
                       struct espi_offer *offer)
{
    struct look_ahead *l = self;
    if (l->size[sender] < 0)
        make_heap(l, g, sender);
    struct candidate *heap = l->candidates + g->v->g.out.start[sender];
    while (l->size[sender] > 0) {
        struct candidate *top = &heap[0];
        if (g->informed[top->arc->to]) {
            *top = heap[--l->size[sender]];
            sink(heap, l->size[sender], 0);
            continue;
        }
        double value_s = worth_s(l, g, top->arc), ready_s = g->ready_s[sender];
        if (value_s == top->value_s) {
            *offer = (struct espi_offer){ready_s + value_s, ready_s + top->arc->lag_s,
                                         sender, top->arc->arc};
            return 1;
        }
        top->value_s = value_s;
        sink(heap, l->size[sender], 0);
    }
    return 0;
}

static esp_status look_ahead_min(const struct espi_task *task, struct esp_plan *plan,
                                 struct esp_err *err)
{
    int n = task->view->g.n;
    struct espi_greedy g;
    struct look_ahead l = {.slowest_s = espi_slowest_s(task->view)};
    l.candidates = ESPI_ARENA_NEW(task->arena, struct candidate, task->view->g.m);
    l.size = ESPI_ARENA_NEW(task->arena, int, n);
    if (!l.candidates || !l.size || espi_greedy_init(&g, task))
        return espi_err_nomem(err);
    for (int h = 0; h < n; h++)
        l.size[h] = -1;
    espi_greedy_run(&g, offer_ahead, &l);
    return espi_plan_add_arcs(plan, g.v, 1, g.chosen, g.n_chosen, task->arena, err);
}

static esp_status run_look_ahead(const struct espi_task *task, struct esp_plan *plan,
                                 struct esp_err *err)
{
    int variant = (int)task->option[OPTION_VARIANT];
    if (variant == VARIANT_MIN)
        return look_ahead_min(task, plan, err);
    return espi_look_ahead_mean(task, variant == VARIANT_SET, plan, err);
}

const struct espi_algo espi_algo_look_ahead = {
    .name = "look-ahead",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Bhat, Raghavendra, Prasanna 1999",
    .complexity = "O(m log^2 n) as a rule",
    .summary = "as ecef, but also looks at how fast the receiver could go on",
    .options = options,
    .run = run_look_ahead,
};
