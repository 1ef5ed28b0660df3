/* Closed-form cost of a plan: what it yields in the long run, and when a message of a
 * given size has arrived everywhere.
 *
 * Period: each slice of the message loads each resource by the times of its uses; the
 * most loaded resource sets the pace. With several trees the loads count by weight.
 *
 * Finish of one tree: node v gets slice i at a(v) + i * pace(v), where a(v) is the time
 * of the first slice (senders serve their children in the order of the plan) and pace(v)
 * is the largest load of a resource on the way from the root to v. In the one-port model
 * without shared cables this is exact, not a bound: by induction along the path, arrivals
 * at u every pace(u) leave u every max(pace(u), load of u). A host on the way of other
 * hosts' transfers sends these in the order of the plan too; that several may want to
 * send to it at once is not looked at, so that there the figure is a lower bound. So it
 * is where sends of different hosts meet on a cable, of which is counted only that the
 * message is not through before every link and cable is.
 *
 * Finish of several trees: an estimate, (slices - 1) periods and once for each tree the
 * time until the first slice has arrived everywhere, since the trees get into each
 * other's way until all are under way; trees are counted as 1 / (sum of squared weights),
 * so that one of little weight counts little. On platforms of 32 to 65 hosts and messages
 * of 16 to 1000 slices it was within a fifth of the truth for up to six trees, save where
 * a tree carried but a few slices; for dozens of trees it is far too late.
 *
 * Timed, the finish: all sends, up to 262,144 (32,768 where plans are weighed against
 * each other), are played through on the resources in the order that programs follow
 * (schedule/arrange.h). That is what the simulator finds on exclusive resources, to the
 * last digits, along trees of every operation, in every model but hnow, and on shared
 * cables (tests/unit/test_finishes.c). In the capacity model there is no order: transfers
 * share what they meet on, up to 65,536 of them (8,192 where plans are weighed) are
 * played so, the others follow at their pace, and the simulator that shares so finds the
 * same (schedule/replay_fluid.h); where trees take long to fill, larger slices tell the
 * makespan, to a hundredth. Of longer messages along many trees so many are
 * played, and the others follow at their pace: within a hundredth; but not where links
 * are shared, where the finish is the closed form's.
 *
 * Timed: the pace of a long message where loads alone do not tell it, by the order that
 * programs follow, its sends played through on the resources (schedule/replay.h). The
 * period is that pace, or the load where the pace comes within nine thousandths of it,
 * and the finish of what is not short is later by as much a slice. Loads tell it for one
 * tree whose resources are no stranger's. Many trees are sent in rounds of whole slices,
 * which come near to the weights but do not meet them, and whole slices cannot be packed
 * without gaps: on 30 hosts that mostly costs less than a hundredth, on hundreds up to a
 * tenth. Where ports serve both ways it costs more: of three hosts that talk to each
 * other only two can at a time; so too where a send must find both its port and its link
 * free, and where hosts that know nothing of each other share cables, which serve who
 * comes first. The simulator, which knows nothing of this, finds the same pace within a
 * hundredth (tests/unit/ test_claims.c, bench/bench_claims.c). Messages of few slices
 * never get into their stride, and are not timed.
 *
 * A redundant plan costs what its first tree costs. */
#ifndef ESPI_COST_COST_H
#define ESPI_COST_COST_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "plan/slices.h"
#include "platform/view.h"

struct espi_cost {
    double load_s;         /* of the busiest resource, a slice: no order is faster */
    double period_s;       /* per slice of the message, in the steady state */
    double throughput_Bps; /* slice / period */
    double fill_s;         /* until the first slice has arrived everywhere */
    double makespan_s;     /* until the whole message has */
    int bottleneck;        /* the resource that sets the pace */
};

/* What playing a message found that a plan claims by it. */
struct espi_played_claim {
    struct espi_slices slices; /* of the message; count is 0: nothing is known */
    double finish_s;
    double pace_s; /* of a slice, where that was found by the way; else 0 */
};

/* limit: so many are remembered; what is not is played again. */
enum { ESPI_CLAIMS_KEPT = 32 };

/* The same of several sizes of slices of a plan's trees: in the schedule that the plan
 * has, or in the one that is made for them. */
struct espi_played_claims {
    struct espi_played_claim of[ESPI_CLAIMS_KEPT];
    int n;
};

/* Keeps a claim, if it is one and there is room. */
void espi_claims_add(struct espi_played_claims *claims,
                     const struct espi_played_claim *claim);

/* Of a plan of messages, whose cost says all. */
struct espi_played_claim espi_claim_of_steps(double size_bytes,
                                             const struct espi_cost *cost);

/* NULL: nothing is known of these slices. */
const struct espi_played_claim *espi_claims_find(const struct espi_played_claims *claims,
                                                 struct espi_slices slices);

/* When a message is through. */
struct espi_finish {
    double makespan_s;
    struct espi_played_claim claim; /* if that comes of playing it as for a claim */
};

/* The cost of a checked plan. slice_bytes and size_bytes as in espi_slices. */
esp_status espi_plan_cost(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, double slice_bytes, struct espi_arena *arena,
                          struct espi_cost *out, struct esp_err *err);

/* For how long the whole message takes the busiest resource: no run of the plan, whose
 * trees lead from roots, is through before, if every tree gets the slices that its weight
 * says. O(edges), log edges more for plans with steps. */
esp_status espi_plan_load_s(const struct esp_platform *p, const struct esp_plan *plan,
                            double size_bytes, double slice_bytes,
                            struct espi_arena *arena, double *out);

/* The same, timed: where that is needed some thousandths to tenths of a second, of 1,000
 * hosts a second or two. known: what was found before of the same trees, whose schedule
 * is the one made for them; NULL: nothing. Where that says all there is no bottleneck
 * (-1). */
esp_status espi_plan_cost_timed(const struct esp_platform *p, const struct esp_plan *plan,
                                double size_bytes, double slice_bytes,
                                const struct espi_played_claims *known,
                                struct espi_arena *arena, struct espi_cost *out,
                                struct esp_err *err);

/* The makespan of that alone: the pace is timed only where it hangs on that, which is
 * half of the work for long messages. */
esp_status espi_plan_claim(const struct esp_platform *p, const struct esp_plan *plan,
                           double size_bytes, double slice_bytes,
                           struct espi_arena *arena, struct espi_finish *out,
                           struct esp_err *err);

/* The throughput alone, of the plan's trees for its size and slices, in half the time:
 * the finish needs an order of its own. */
esp_status espi_plan_throughput(const struct esp_platform *p, const struct esp_plan *plan,
                                struct espi_arena *arena, double *out,
                                struct esp_err *err);

/* Its finish alone, which takes less; that of many trees on hundreds of hosts comes out
 * some hundredths too early where ports are what limits them. most_sends: of which the
 * message is played to its end; 0: 32,768. */
esp_status espi_plan_finish(const struct esp_platform *p, const struct esp_plan *plan,
                            double size_bytes, double slice_bytes, double most_sends,
                            struct espi_arena *arena, struct espi_finish *out,
                            struct esp_err *err);

/* The same in a tenth of the time, by the first order that comes to mind: what a better
 * one finds is mostly some hundredths earlier, at most some tenths. It tells which slices
 * of a plan are worth a closer look. */
esp_status espi_plan_rank(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, double slice_bytes, double most_sends,
                          struct espi_arena *arena, double *out, struct esp_err *err);

/* Are messages of so many slices played to their end, to time them? */
int espi_plan_is_short(const struct esp_platform *p, const struct esp_plan *plan,
                       double slices, double most_sends);

/* Is what espi_plan_finish() finds of so many slices what the plan will claim? Of what
 * shares the network (capacity) only a part of a long message is played, which tells the
 * rest to some hundredths. */
int espi_plan_is_exact(const struct esp_platform *p, const struct esp_plan *plan,
                       double slices, double most_sends);

/* ---- the same on a view, for the inner loops of algorithms ---- */

/* Adds the loads of one slice over the arc (sign +1) or takes them away (-1). */
static inline void espi_load_arc(const struct espi_view *v, int arc, double sign,
                                 double *load)
{
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        load[v->use_resource[k]] += sign * v->use_s[k];
}

/* The largest load of a resource, from the first on. */
double espi_max_load_s(const struct espi_resources *r, int first, const double *load);

/* Period of the tree given by the arc into each host (-1 for the root); load has room for
 * v->links.n doubles and holds the loads afterwards. */
double espi_tree_period_s(const struct espi_view *v, const int *parent_arc, double *load);

/* Orders the arcs of a tree so that the first slice is everywhere as early as it can be
 * on this tree: a sender serves first the child behind which most remains to be done
 * (Jackson's rule, optimal for a fixed tree: what remains is the child's own fill plus
 * the part of the transfer that does not hold the sender). Fills arcs[n - 1], senders
 * before their receivers; *fill_s (may be NULL) gets the fill. 0, or -1 when out of
 * memory. O(n log n). */
int espi_order_tree(const struct espi_view *v, int root, const int *parent_arc,
                    struct espi_arena *arena, int *arcs, double *fill_s);

/* Finish of one tree on the view, its arcs in send order; scratch from the arena. */
struct espi_tree_cost {
    double period_s, fill_s, makespan_s;
};

int espi_tree_cost(const struct espi_view *v, int root, const int *arcs, double count,
                   struct espi_arena *arena, struct espi_tree_cost *out);

/* Adds a tree given by arcs of a view, in send order. */
esp_status espi_plan_add_arcs(struct esp_plan *plan, const struct espi_view *v,
                              double weight, const int *arcs, int n_arcs,
                              struct espi_arena *arena, struct esp_err *err);

/* The transfers of a tree given by the links hops[hop_start[h] .. hop_start[h+1]) by
 * which host h gets the data (inward: sends them on), none for the root. */
struct espi_edges {
    int n;
    int *start, *hops; /* transfer i: hops[start[i] .. start[i+1]) */
};

/* Senders before receivers, otherwise breadth first from the root (inward: to it). -1
 * when out of memory. */
int espi_edges_of(const struct espi_view *v, int root, const int *hop_start,
                  const int *hops, int inward, struct espi_arena *arena,
                  struct espi_edges *out);

/* Adds a tree given by the arc into each host, children in the best order. */
esp_status espi_plan_add_parents(struct esp_plan *plan, const struct espi_view *v,
                                 int root, double weight, const int *parent_arc,
                                 struct espi_arena *arena, struct esp_err *err);

#endif
