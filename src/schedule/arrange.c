/* The round and the order for a message, as programs follow them and costs count them. */
#include "schedule/arrange.h"

#include <math.h>
#include <string.h>

#include "plan/ops.h"

/* Rounds of so many sends, and in all of about so many are looked at; each round has
 * fewer slots than the one before by that factor. */
enum { MAX_SENDS = 1 << 15, MAX_WORK = 1 << 15, FEW_SENDS = 1 << 12 };
static const double GOOD = 1e-3;
static const double RATIO = 2;

/* One tree needs no order when every node receives each slice once: whoever is served in
 * a fixed order then never has to wait for a receiver. */
static int receives_once(const struct esp_platform *p, const struct esp_plan *plan)
{
    const struct esp_tree *t = &plan->trees[0];
    if (plan->n_trees > 1 || (plan->op != ESP_OP_BCAST && plan->op != ESP_OP_MULTICAST))
        return 0;
    for (int i = 0; i < t->n_edges; i++)
        for (int k = 1; k < t->edges[i].n_hops; k++)
            if (!espi_is_switch(p, p->tail[t->hops[t->edges[i].first_hop + k]]))
                return 0; /* a host that only passes on what it has otherwise, too */
    return 1;
}

int espi_needs_order(const struct esp_platform *p, const struct esp_plan *plan)
{
    if (plan->trees[0].n_edges == 0 || !espi_op_is_scheduled(plan))
        return 0;
    return p->model == ESP_MODEL_HALF_DUPLEX || !receives_once(p, plan);
}

int espi_loads_are_reached(const struct esp_platform *p, const struct esp_plan *plan)
{
    if (p->n_shared > 0 || p->n_hosts < p->n_nodes)
        return 0;
    return p->model == ESP_MODEL_ONE_PORT || p->model == ESP_MODEL_CAPACITY ||
           (p->model == ESP_MODEL_HALF_DUPLEX && plan->n_trees == 1);
}

/* The uses of the arcs and, where ports do not say so themselves, that ranks start their
 * sends in order, and their receives if they have ports for them. */
static int uses_in_order(struct espi_arc_uses *out, const struct esp_platform *p,
                         const struct espi_legs *legs, double slice_bytes,
                         struct espi_arena *arena)
{
    struct espi_arc_uses u;
    if (espi_arc_uses_init(&u, legs, p, slice_bytes, arena))
        return -1;
    *out = u;
    if (p->model != ESP_MODEL_MULTI_PORT && p->model != ESP_MODEL_CAPACITY)
        return 0;
    int n = legs->n_arcs, more = p->model == ESP_MODEL_MULTI_PORT ? 2 : 1, at = 0;
    size_t all = (size_t)u.start[n] + (size_t)(more * n);
    out->n_resources = u.n_resources + more * p->n_nodes;
    out->start = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    out->resource = ESPI_ARENA_NEW(arena, int, all);
    out->time_s = ESPI_ARENA_NEW(arena, double, all);
    if (!out->start || !out->resource || !out->time_s)
        return -1;
    for (int a = 0; a < n; a++) {
        const struct espi_leg *leg = &legs->leg[legs->arc_leg[a]];
        int k = u.start[a + 1] - u.start[a], end[2] = {leg->from, p->n_nodes + leg->to};
        out->start[a] = at;
        memcpy(out->resource + at, u.resource + u.start[a], (size_t)k * sizeof(int));
        memcpy(out->time_s + at, u.time_s + u.start[a], (size_t)k * sizeof(double));
        at += k;
        for (int i = 0; i < more; i++) {
            out->resource[at] = u.n_resources + end[i];
            out->time_s[at++] = 0;
        }
    }
    out->start[n] = at;
    return 0;
}

/* Tries rounds of ever fewer slots, as long as that helps. */
static int try_rounds(struct espi_arrangement *a, const struct espi_arc_uses *uses,
                      struct espi_rounds *rounds, struct espi_order_options *wanted,
                      int most, struct espi_arena *arena)
{
    int64_t work = 0;
    int worse = 0, n_trees = a->legs.plan->n_trees;
    a->round.slots = 0;
    /* no order is through before this; as near as that is near enough */
    double least_s = (double)wanted->n_slices * espi_rounds_ideal_s(rounds) * (1 + GOOD);
    a->order.finish_s = INFINITY;
    for (int high = most; high > 0 && (worse < 2 || work < FEW_SENDS) &&
                          work < MAX_WORK && a->order.finish_s > least_s;) {
        int low = (int)(high / RATIO) + 1;
        struct espi_arena_mark mark = espi_arena_mark(arena);
        struct espi_round round = {0, ESPI_ARENA_NEW(arena, int, n_trees)};
        struct espi_order order;
        if (!round.count)
            return -1;
        espi_rounds_pick(rounds, low, high, &round);
        high = low - 1;
        if (round.slots == 0)
            continue;
        wanted->round = &round;
        if (espi_order_init(&order, &a->legs, uses, wanted, arena))
            return -1;
        work += order.n;
        if (order.finish_s < a->order.finish_s) {
            a->order = order;
            a->round = round;
            worse = 0;
        } else {
            espi_arena_release(arena, mark);
            worse++;
        }
    }
    return 0;
}

int espi_arrange(struct espi_arrangement *a, const struct esp_platform *p,
                 const struct esp_plan *plan, const struct espi_round_options *o,
                 struct espi_arena *arena)
{
    struct espi_arc_uses uses;
    struct espi_rounds *rounds;
    if (espi_legs_init(&a->legs, p, plan, arena) ||
        uses_in_order(&uses, p, &a->legs, o->slice_bytes, arena) ||
        espi_rounds_init(&rounds, p, plan, o->slice_bytes, arena))
        return -1;
    int parts = espi_plan_parts(plan, p->n_hosts), most = o->max_slots;
    int64_t sends = a->legs.n / plan->n_trees + 1; /* a slice */
    /* of the message: several rounds, or one where it is short */
    int64_t few = o->n_slices < 64    ? o->n_slices
                  : o->n_slices < 512 ? 64
                                      : o->n_slices / 8;
    if (plan->n_trees == 1 && parts <= 1)
        most = 8;
    if (most > few)
        most = (int)few;
    if (most > MAX_SENDS / sends)
        most = (int)(MAX_SENDS / sends);
    if (most < espi_rounds_least(rounds))
        most = espi_rounds_least(rounds);
    struct espi_order_options wanted = {.n_slices = o->n_slices, .whole = parts > 1};
    return try_rounds(a, &uses, rounds, &wanted, most, arena);
}
