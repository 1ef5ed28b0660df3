/* The round and the order for a message, as programs follow them and costs count them. */
#include "schedule/arrange.h"

#include <math.h>
#include <string.h>

#include "base/watch.h"
#include "plan/ops.h"
#include "plan/slices.h"
#include "schedule/far_first.h"
#include "schedule/replay_fluid.h"
#include "schedule/tuning.h"

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

/* Is there something to put into order? Where processors take up what there is, not. */
static int has_order(const struct esp_platform *p, const struct esp_plan *plan)
{
    return plan->trees[0].n_edges > 0 && espi_op_is_scheduled(plan) &&
           p->model != ESP_MODEL_HNOW;
}

int espi_needs_order(const struct esp_platform *p, const struct esp_plan *plan)
{
    if (!has_order(p, plan))
        return 0;
    return p->model != ESP_MODEL_CAPACITY &&
           (p->model == ESP_MODEL_HALF_DUPLEX || !receives_once(p, plan));
}

static int is_shared(const struct esp_platform *p)
{
    return p->n_shared > 0 || p->n_hosts < p->n_nodes;
}

/* Of a slice along each tree. */
static int64_t sends_of(const struct esp_plan *plan)
{
    int64_t sends = plan->n_trees;
    for (int t = 0; t < plan->n_trees; t++)
        sends += plan->trees[t].n_edges;
    return sends;
}

/* Are there many trees on many hosts? */
static int is_large(const struct esp_plan *plan)
{
    return sends_of(plan) > ESPI_ROUND_SENDS / 2;
}

/* More than a round can give each its share of? */
static int is_huge(const struct esp_plan *plan)
{
    return sends_of(plan) > ESPI_ROUND_SENDS_LARGE / ESPI_ROUND_TREE_SLICES;
}

/* One tree whose steps stand in the order of its edges goes on as fast as its busiest
 * resource, if hosts share none. Else whole slices have to be packed, and rounds of whole
 * slices only come near to the weights of the trees. Where what ports send and receive
 * can be cut into matchings that is a matter of the length of rounds alone: large plans
 * miss some hundredths by it. */
static int loads_tell_pace(const struct esp_platform *p, const struct esp_plan *plan,
                           int roughly)
{
    int matched = p->model == ESP_MODEL_ONE_PORT;
    return !has_order(p, plan) ||
           (!is_shared(p) && (receives_once(p, plan) ||
                              (matched && (roughly ? is_large(plan) : is_huge(plan)))));
}

/* The uses of the arcs and, where ports do not say so themselves, that ranks start their
 * sends and receives in order. */
static int uses_in_order(struct espi_arc_uses *out, const struct esp_platform *p,
                         const struct espi_legs *legs, double slice_bytes,
                         struct espi_arena *arena)
{
    struct espi_arc_uses u;
    if (espi_arc_uses_init(&u, legs, p, slice_bytes, arena))
        return -1;
    *out = u;
    if (p->model != ESP_MODEL_MULTI_PORT)
        return 0;
    int n = legs->n_arcs, at = 0;
    size_t all = (size_t)u.start[n] + 2 * (size_t)n;
    out->n_resources = u.n_resources + 2 * p->n_nodes;
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
        for (int i = 0; i < 2; i++) {
            out->resource[at] = u.n_resources + end[i];
            out->time_s[at++] = 0;
        }
    }
    out->start[n] = at;
    return 0;
}

struct search {
    struct espi_arrangement *a;
    struct espi_arc_uses uses;
    struct espi_rounds *rounds;
    struct espi_order_options wanted;
    struct espi_arena *arena;
    int unit;               /* slots: a round has a multiple of it */
    int64_t work, max_work; /* sends of all rounds tried */
    int64_t handled;        /* and all that was done with them, over and over */
    int patience;           /* so many rounds that are no better end the search */
    int quick;              /* one rule and one round have to do */
    double ratio;           /* of the lengths of rounds, from one to the next */
};

/* Tries the round of low to high units that suits the weights best; 1: it is the best so
 * far; 0: it is not; -1: no memory. */
static int try_round(struct search *s, int low, int high)
{
    struct espi_arena_mark mark = espi_arena_mark(s->arena);
    struct espi_round round = {0,
                               ESPI_ARENA_NEW(s->arena, int, s->a->legs.plan->n_trees)};
    struct espi_order order;
    if (!round.count)
        return -1;
    espi_rounds_pick(s->rounds, low * s->unit, high * s->unit, &round);
    struct espi_order_options wanted = s->wanted;
    wanted.round = &round;
    if (round.slots > 0 &&
        espi_order_init(&order, &s->a->legs, &s->uses, &wanted, s->arena))
        return -1;
    if (round.slots > 0) {
        s->work += order.n;
        s->handled += order.work;
    }
    if (round.slots > 0 && order.finish_s < s->a->order.finish_s) {
        s->a->order = order;
        s->a->round = round;
        return 1;
    }
    espi_arena_release(s->arena, mark);
    return 0;
}

static int is_enough(const struct search *s)
{
    return s->a->order.finish_s <= s->wanted.enough_s || s->work >= s->max_work ||
           s->handled >= ESPI_ORDER_WORK || espi_watch_is_over();
}

/* Rounds longer or shorter than the first, as long as that helps; lengths in units. */
static int try_others(struct search *s, int first, int most, int longer)
{
    int worse = 0, near = longer ? first + 1 : (int)(first / s->ratio);
    while (near > 0 && near <= most && worse < s->patience && !is_enough(s)) {
        int far = longer ? (int)(near * s->ratio) : (int)(near / s->ratio) + 1;
        far = far > most ? most : far;
        s->wanted.rule = s->a->round.slots > 0 && !s->wanted.all ? s->a->order.rule : -1;
        int got = longer ? try_round(s, near, far) : try_round(s, far, near);
        if (got < 0)
            return -1;
        worse = got ? 0 : worse + 1;
        near = longer ? far + 1 : far - 1;
    }
    return 0;
}

/* From a short round on to longer ones and then to shorter ones. What rule of ordering is
 * the best is found out with the first: they differ little, and trying them all takes its
 * time. */
static int try_rounds(struct search *s, int first, int most)
{
    if (try_round(s, (int)(first / s->ratio) + 1, first) < 0)
        return -1;
    return !s->quick && (try_others(s, first, most, 1) || try_others(s, first, most, 0))
               ? -1
               : 0;
}

/* How many slots the longest round may have: so few that the message is several rounds,
 * or one where it is short. Messages in parts are cut into whole rounds: into many, so
 * that little is gained or lost by that. */
static int most_slots(const struct espi_round_options *o, int64_t sends, int parts,
                      int64_t fair_share)
{
    int64_t limit = (fair_share > 0 ? ESPI_ROUND_SENDS_LARGE : ESPI_ROUND_SENDS) / sends;
    int64_t n = o->n_slices, most = n / ESPI_ROUND_PART;
    if (most < ESPI_ROUND_SLOTS)
        most = n < ESPI_ROUND_SLOTS ? n : ESPI_ROUND_SLOTS;
    int64_t few = n / ESPI_ROUND_SMALL_PART;
    if (parts > 1 && most > ESPI_ROUND_SMALL_SLOTS && most > few)
        most = few > ESPI_ROUND_SMALL_SLOTS ? few : ESPI_ROUND_SMALL_SLOTS;
    if (fair_share > 0 && most > few) /* they are long to fill */
        most = few;
    if (fair_share > most)
        most = n < fair_share ? n : fair_share;
    if (most > limit)
        most = limit;
    if (most > o->max_slots)
        most = o->max_slots;
    return (int)most;
}

static int search_init(struct search *s, const struct esp_platform *p,
                       const struct esp_plan *plan, const struct espi_round_options *o)
{
    return espi_legs_init(&s->a->legs, p, plan, s->arena) ||
                   uses_in_order(&s->uses, p, &s->a->legs, o->slice_bytes, s->arena) ||
                   espi_rounds_init(&s->rounds, p, plan, o->slice_bytes, s->arena)
               ? -1
               : 0;
}

static int arrange(struct search *s, const struct esp_platform *p,
                   const struct esp_plan *plan, const struct espi_round_options *o)
{
    struct espi_round_options sized = *o;
    if (search_init(s, p, plan, o))
        return -1;
    int parts = espi_plan_parts(plan, p->n_hosts), unit = espi_rounds_least(s->rounds);
    s->unit = unit;
    int64_t sends = s->a->legs.n / plan->n_trees + 1; /* a slice */
    if (o->n_slices > ESPI_LONG_MESSAGE)
        sized.n_slices = ESPI_LONG_MESSAGE;
    int64_t fair_share = ESPI_ROUND_TREE_SLICES * (int64_t)plan->n_trees;
    if (fair_share > ESPI_ROUND_SENDS_LARGE / sends)
        fair_share = ESPI_ROUND_SENDS_LARGE / sends;
    int many = is_large(plan);
    s->quick |=
        many && is_shared(p); /* to play who comes first takes ten times as long */
    int most = most_slots(&sized, sends, parts, many ? fair_share : 0);
    /* of one tree a slice is mostly enough */
    int first =
        plan->n_trees == 1 && parts <= 1 ? 1 : (int)(ESPI_ROUND_SENDS_FIRST / sends);
    if (many)
        first = (int)fair_share;
    s->max_work = many ? ESPI_ROUND_SENDS_LARGE : ESPI_ROUND_WORK;
    /* of many trees the first round that is no better ends the search */
    s->patience = many ? 1 : ESPI_ROUND_PATIENCE;
    s->ratio = many ? 2 : ESPI_ROUND_RATIO;
    most = most < unit ? 1 : most / unit;
    first = first < unit ? 1 : first / unit > most ? most : first / unit;
    s->wanted = (struct espi_order_options){
        .n_slices = sized.n_slices,
        .whole = parts > 1,
        .fair = is_shared(p),
        .all = sized.n_slices * sends <= ESPI_ROUND_SENDS_FIRST,
        .model = p->model,
        .rule = many ? ESPI_ORDER_RULE_LARGE : -1,
        .max_work = ESPI_ORDER_WORK,
    };
    if (s->quick && !many && plan->n_trees > 1) {
        /* what is short is best sent in one round */
        first = sized.n_slices <= ESPI_ORDER_ONE_ROUND ? most : first;
        s->wanted.rule = sized.n_slices <= ESPI_ORDER_ONE_ROUND ? ESPI_ORDER_RULE_SHORT
                                                                : ESPI_ORDER_RULE_LARGE;
    }
    /* what goes on for long is judged by its pace */
    if (sized.n_slices == ESPI_LONG_MESSAGE && !many)
        s->wanted.n_slices *= 4;
    s->wanted.enough_s = (double)s->wanted.n_slices * espi_rounds_ideal_s(s->rounds) *
                         (1 + ESPI_ORDER_ENOUGH);
    s->a->round.slots = 0;
    s->a->order = (struct espi_order){.finish_s = INFINITY};
    return try_rounds(s, first, most);
}

/* ---- where the order makes no difference ---- */

/* Slot by slot, and along the edges. With one slice a round it is sent on in its own
 * round; with several, one round later a step, so that a round never waits for itself; so
 * too where data come back to who has sent them. All of a tree lags as tree_lag says. */
static int order_plainly(struct espi_arrangement *a, const int *tree_lag,
                         struct espi_arena *arena)
{
    const struct esp_plan *plan = a->legs.plan;
    int lags = a->round.slots > 1 || plan->op == ESP_OP_ALLREDUCE;
    int64_t n = 0;
    for (int i = 0; i < a->legs.n; i++)
        n += a->round.count[a->legs.leg[i].tree];
    struct espi_op *op = ESPI_ARENA_NEW(arena, struct espi_op, n);
    int *slot_tree = ESPI_ARENA_NEW(arena, int, a->round.slots);
    int *given = ESPI_ARENA_NEW(arena, int, plan->n_trees);
    if (!op || !slot_tree || !given)
        return -1;
    a->order = (struct espi_order){.op = op};
    espi_round_lay(&a->round, plan->n_trees, a->round.slots, slot_tree, given);
    memset(given, 0, (size_t)plan->n_trees * sizeof *given);
    for (int s = 0; s < a->round.slots; s++) {
        int t = slot_tree[s], slice = given[t]++;
        for (int i = a->legs.tree_start[t]; i < a->legs.tree_start[t + 1]; i++)
            op[a->order.n++] =
                (struct espi_op){.leg = i,
                                 .slice = slice,
                                 .lag = tree_lag[t] + (lags ? a->legs.leg[i].depth : 0)};
    }
    return 0;
}

/* What goes far first, where that is earlier than all side by side: where ways share more
 * than the root's port, estimates of when to begin may be wrong. */
static int order_streams(struct espi_arrangement *a, const struct esp_platform *p,
                         const struct espi_round_options *o, struct espi_arena *arena)
{
    int n = a->legs.plan->n_trees, lag = 0;
    int *tree_lag = ESPI_ARENA_ZNEW(arena, int, n);
    struct espi_played far = {0, 0}, plain = {0, 0};
    if (!tree_lag || order_plainly(a, tree_lag, arena) ||
        espi_far_first(p, &a->legs, &a->round, o, arena, tree_lag))
        return -1;
    for (int t = 0; t < n; t++)
        lag |= tree_lag[t];
    if (!lag)
        return 0;
    if (espi_op_has_pairs(a->legs.plan->op)) /* of which others begin all at once */
        return order_plainly(a, tree_lag, arena);
    struct espi_order side_by_side = a->order;
    if (espi_fluid_time(p, a, o, 0, arena, &plain) || order_plainly(a, tree_lag, arena) ||
        espi_fluid_time(p, a, o, 0, arena, &far))
        return -1;
    if (plain.finish_s < far.finish_s)
        a->order = side_by_side;
    return 0;
}

static int arrange_plainly(struct espi_arrangement *a, const struct esp_platform *p,
                           const struct esp_plan *plan,
                           const struct espi_round_options *o, struct espi_arena *arena)
{
    struct espi_round_options sized = *o;
    if (espi_legs_init(&a->legs, p, plan, arena))
        return -1;
    while (sized.max_slots > 1 &&
           (int64_t)sized.max_slots * a->legs.n > ESPI_ROUND_SENDS_LARGE)
        sized.max_slots /= 2;
    return espi_round_choose(p, plan, &sized, arena, &a->round) ||
                   order_streams(a, p, o, arena)
               ? -1
               : 0;
}

int espi_arrange(struct espi_arrangement *a, const struct esp_platform *p,
                 const struct esp_plan *plan, const struct espi_round_options *o,
                 espi_effort effort, struct espi_arena *arena)
{
    struct search s = {.a = a, .arena = arena, .quick = effort == ESPI_EFFORT_QUICK};
    a->round.slots = 0;
    if (espi_needs_order(p, plan) && arrange(&s, p, plan, o))
        return -1;
    /* also where times are without end, so that no order is better than another */
    return a->round.slots > 0 ? 0 : arrange_plainly(a, p, plan, o, arena);
}

/* ---- schedules that are there ---- */

/* The plan's schedule as it was when it was arranged. */
static int take_schedule(struct espi_arrangement *a, const struct esp_platform *p,
                         const struct esp_plan *plan, struct espi_arena *arena)
{
    const struct esp_schedule *s = plan->schedule;
    int *first_edge = ESPI_ARENA_NEW(arena, int, (size_t)plan->n_trees + 1);
    struct espi_op *op = ESPI_ARENA_ZNEW(arena, struct espi_op, s->n_sends);
    if (!first_edge || !op || espi_legs_init(&a->legs, p, plan, arena))
        return -1;
    first_edge[0] = 0;
    for (int t = 0; t < plan->n_trees; t++)
        first_edge[t + 1] = first_edge[t] + plan->trees[t].n_edges;
    for (int k = 0; k < s->n_sends; k++) {
        const struct esp_send *x = &s->sends[k];
        op[k].leg = a->legs.edge_start[first_edge[x->tree] + x->edge] + x->part;
        op[k].slice = x->slice;
        op[k].lag = x->lag;
    }
    a->round = (struct espi_round){s->slots, s->tree_slices};
    a->order = (struct espi_order){.n = s->n_sends, .op = op};
    return 0;
}

/* Do the sends stand in the order of the legs, one slice a round? */
static int is_plain(const struct espi_arrangement *a)
{
    if (a->round.slots != 1)
        return 0;
    for (int k = 0; k < a->order.n; k++)
        if (a->order.op[k].leg != k || a->order.op[k].lag)
            return 0;
    return 1;
}

/* ---- the pace of long messages ---- */

/* Does it depend on the order of a slice's sends when they are through? So where hosts
 * that know nothing of each other send over one resource. And where a host sends over a
 * link or a cable twice, which holds up what it sends over others. Else each resource is
 * served in the order of the one who uses it. */
static int order_matters(const struct espi_legs *legs, const struct espi_arc_uses *u,
                         struct espi_arena *arena)
{
    int *user = ESPI_ARENA_NEW(arena, int, u->n_resources);
    if (!user)
        return -1;
    memset(user, 0xff, (size_t)u->n_resources * sizeof *user);
    for (int i = 0; i < legs->n; i++)
        for (int arc = legs->leg[i].arc, k = u->start[arc]; k < u->start[arc + 1]; k++) {
            int *first = &user[u->resource[k]];
            int is_port = u->resource[k] < u->first_link || !(u->time_s[k] > 0);
            if (*first >= 0 && (*first != legs->leg[i].from || !is_port))
                return 1;
            *first = legs->leg[i].from;
        }
    return 0;
}

/* A tree whose steps stand in the order of its edges, one slice a round. 1: it is to be
 * played; 0: that is not needed; -1: no memory. */
static int needs_playing(struct search *s, const struct esp_platform *p, int64_t n_slices)
{
    /* where there are no ports to wait for, a slow link keeps the next slice from all */
    int has_ports = p->model != ESP_MODEL_MULTI_PORT;
    return !has_ports && n_slices > 1 ? 1
                                      : order_matters(&s->a->legs, &s->uses, s->arena);
}

/* The order of the plan's schedule, or one that is looked for. 1: it is to be played; 0:
 * that is not needed; -1: no memory. */
static int find_order(struct search *s, const struct esp_platform *p,
                      const struct esp_plan *plan, const struct espi_round_options *o)
{
    int needed = espi_needs_order(p, plan);
    if (needed && !plan->schedule)
        return arrange(s, p, plan, o) ? -1 : 1;
    if (plan->schedule ? take_schedule(s->a, p, plan, s->arena)
                       : arrange_plainly(s->a, p, plan, o, s->arena))
        return -1;
    if (uses_in_order(&s->uses, p, &s->a->legs, o->slice_bytes, s->arena))
        return -1;
    int plain = !needed && is_plain(s->a);
    s->wanted =
        (struct espi_order_options){.n_slices = o->n_slices,
                                    .whole = espi_plan_parts(plan, p->n_hosts) > 1,
                                    .fair = plain || is_shared(p),
                                    .model = p->model};
    return plain ? needs_playing(s, p, o->n_slices) : 1;
}

/* Is the plan's schedule that of a message in the midst of which nothing changes? */
static int is_made_for_long(const struct esp_plan *plan)
{
    return plan->schedule && plan->size_bytes > 0 &&
           espi_slices(plan->size_bytes, plan->slice_bytes).count >= ESPI_LONG_MESSAGE;
}

/* What shares the network as TCP does has no order but that of each stream, and what goes
 * far first, for which it depends on the slices how early that is. 0: nor has the plan a
 * time. */
static int arrange_streams(struct espi_arrangement *a, const struct esp_platform *p,
                           const struct esp_plan *plan,
                           const struct espi_round_options *o, espi_timing timing,
                           struct espi_arena *arena)
{
    int ranked = timing == ESPI_TIME_RANK && plan->op != ESP_OP_SCATTER;
    if (!has_order(p, plan) || ranked)
        return 0;
    return (plan->schedule ? take_schedule(a, p, plan, arena)
                           : arrange_plainly(a, p, plan, o, arena))
               ? -1
               : 1;
}

static int play_fluid(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, espi_timing timing,
                      struct espi_arena *arena, struct espi_played *out)
{
    struct espi_arrangement a;
    int timed = arrange_streams(&a, p, plan, o, timing, arena);
    return timed > 0 ? espi_fluid_time(p, &a, o, timing == ESPI_TIME_CLAIM, arena, out)
                     : timed;
}

static int pace_fluid(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, espi_timing timing,
                      struct espi_arena *arena, double *pace_s)
{
    struct espi_arrangement a;
    int timed =
        timing == ESPI_TIME_CLAIM ? arrange_streams(&a, p, plan, o, timing, arena) : 0;
    return timed > 0 ? espi_fluid_pace(p, &a, o, arena, pace_s) : timed;
}

int espi_long_pace(const struct esp_platform *p, const struct esp_plan *plan,
                   double slice_bytes, espi_timing timing, struct espi_arena *arena,
                   double *pace_s)
{
    struct espi_arrangement a;
    struct search s = {.a = &a, .arena = arena, .quick = timing == ESPI_TIME_RANK};
    struct espi_round_options o = {ESPI_LONG_MESSAGE, ESPI_MAX_SLOTS, slice_bytes,
                                   ESPI_ROUND_TOLERANCE};
    struct esp_plan any = *plan;
    if (!is_made_for_long(plan)) /* the trees are what is asked about */
        any.schedule = NULL;
    *pace_s = 0;
    if (p->model == ESP_MODEL_CAPACITY)
        return pace_fluid(p, &any, &o, timing, arena, pace_s);
    if (loads_tell_pace(p, plan, timing != ESPI_TIME_CLAIM) ||
        (timing == ESPI_TIME_RANK && is_large(plan)))
        return 0;
    int timed = find_order(&s, p, &any, &o);
    if (timed <= 0)
        return timed;
    if (!is_large(plan)) /* judged by its pace */
        s.wanted.n_slices = 4 * (int64_t)ESPI_LONG_MESSAGE;
    s.wanted.round = &a.round;
    if (espi_order_settle(&a.order, &a.legs, &s.uses, &s.wanted, arena))
        return -1;
    *pace_s = a.order.pace_s / a.round.slots;
    return 0;
}

/* ---- the finish of messages ---- */

/* Messages in parts are cut into whole rounds, of more slices and these smaller. */
static int play_message(struct search *s, const struct esp_platform *p,
                        const struct espi_round_options *o, struct espi_played *out)
{
    int slots = s->a->round.slots;
    if (slots < 1) /* there is no order that could be played */
        return 0;
    int64_t n = o->n_slices, sends = (n / slots + 1) * s->a->order.n;
    if (s->wanted.fair && sends > ESPI_PLAYED_SENDS)
        return 0;
    if (s->wanted.whole && n % slots) {
        n += slots - n % slots;
        if (uses_in_order(&s->uses, p, &s->a->legs,
                          o->slice_bytes * (double)o->n_slices / (double)n, s->arena))
            return -1;
    }
    s->wanted.n_slices = n;
    s->wanted.round = &s->a->round;
    s->a->order.pace_s = 0; /* that of the search is of another message */
    /* half of them come before the pace is taken */
    if (espi_order_play(&s->a->order, &s->a->legs, &s->uses, &s->wanted,
                        sends > ESPI_PLAYED_SENDS ? ESPI_PLAYED_SENDS / 2 : sends,
                        s->arena))
        return -1;
    out->finish_s = s->a->order.finish_s;
    if (sends > ESPI_PLAYED_SENDS && o->n_slices >= ESPI_LONG_MESSAGE)
        out->pace_s = s->a->order.pace_s / slots;
    return 0;
}

/* Has the message more sends than are played on resources that serve who comes first,
 * whatever its round? Then no order needs to be looked for. */
static int is_too_long(const struct esp_platform *p, const struct esp_plan *plan,
                       int64_t n_slices)
{
    int least = plan->trees[0].n_edges;
    for (int t = 1; t < plan->n_trees; t++)
        least = plan->trees[t].n_edges < least ? plan->trees[t].n_edges : least;
    return espi_needs_order(p, plan) && is_shared(p) &&
           (double)n_slices * least > ESPI_PLAYED_SENDS;
}

int espi_played_finish(const struct esp_platform *p, const struct esp_plan *plan,
                       int64_t n_slices, double slice_bytes, espi_timing timing,
                       struct espi_arena *arena, struct espi_played *out)
{
    struct espi_arrangement a;
    struct search s = {.a = &a, .arena = arena, .quick = timing == ESPI_TIME_RANK};
    struct espi_round_options o = {n_slices, ESPI_MAX_SLOTS, slice_bytes,
                                   ESPI_ROUND_TOLERANCE};
    *out = (struct espi_played){0, 0};
    if (p->model == ESP_MODEL_CAPACITY)
        return play_fluid(p, plan, &o, timing, arena, out);
    int played = has_order(p, plan) && !is_too_long(p, plan, n_slices)
                     ? find_order(&s, p, plan, &o)
                     : 0;
    return played > 0 ? play_message(&s, p, &o, out) : played;
}
