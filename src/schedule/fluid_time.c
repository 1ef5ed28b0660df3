/* The time of a message whose transfers share the network: of a short one it is played to
 * its end, of a long one a part. */
#include <math.h>

#include "base/portable_math.h"
#include "plan/ops.h"
#include "schedule/replay_fluid.h"

static double *latencies(const struct esp_platform *p, const struct espi_legs *legs,
                         struct espi_arena *arena)
{
    double *latency_s = ESPI_ARENA_ZNEW(arena, double, legs->n_arcs);
    for (int arc = 0; arc < legs->n_arcs && latency_s; arc++)
        for (int h = 0; h < legs->leg[legs->arc_leg[arc]].n_hops; h++)
            latency_s[arc] += p->latency_s[espi_leg_hops(legs, legs->arc_leg[arc])[h]];
    return latency_s;
}

/* How the pace is found of a message, which may be too long to be played to its end. */
struct pacing {
    int64_t rounds; /* of the first message that is played */
    int64_t most;   /* of the last, if the pace has not settled before; 0: all */
    double settled; /* by so little the pace may differ from that of half as many */
    double load_s;  /* what a slice takes of the busiest resource: no pace is faster */
};

/* Over a round, for the slices that the uses are of. -1: out of memory. */
static double busiest_s(const struct espi_fluid_message *m, struct espi_arena *arena)
{
    const struct espi_arc_uses *u = m->uses;
    double *taken_s = ESPI_ARENA_ZNEW(arena, double, u->n_resources), most_s = 0;
    for (int k = 0; k < m->a->order.n && taken_s; k++) {
        int arc = m->a->legs.leg[m->a->order.op[k].leg].arc;
        for (int i = u->start[arc]; i < u->start[arc + 1]; i++) {
            taken_s[u->resource[i]] += u->time_s[i];
            most_s = espi_max(most_s, taken_s[u->resource[i]]);
        }
    }
    return taken_s ? most_s / m->a->round.slots : -1;
}

/* Of plans with many sends a round some rounds are played all the same. */
static int64_t rounds_of(const struct espi_arrangement *a, int64_t sends)
{
    int64_t rounds = sends / a->order.n;
    return rounds < ESPI_FLUID_ROUNDS ? ESPI_FLUID_ROUNDS : rounds;
}

/* Will trees still be filling in the longest message, of some times as many slices? What
 * a message takes longer than half of it doubles with it. */
static int fills_to_the_end(double half_s, double whole_s, int64_t times)
{
    double more_s = whole_s - half_s;
    return more_s * (double)times < whole_s - 2 * more_s;
}

/* The makespans of two messages tell what a slice more takes. They are doubled until the
 * second takes longer than the first by more than filling the trees does and the pace has
 * settled, or they are as long as the message, or as is allowed. Before far hosts begin
 * to receive, near ones may have more of a network than they keep: a pace that is faster
 * than the busiest resource has not settled, and the rest follows at that of the
 * resource. 1: trees were still filling then; -1: out of memory. */
static int find_pace(const struct espi_fluid_message *m, const struct pacing *w,
                     struct espi_fluid_player *player, struct espi_played *out)
{
    int64_t all = m->n_slices, first = w->rounds * m->a->round.slots, second;
    int64_t most = w->most * m->a->round.slots;
    double first_s, second_s, old_s;
    int fills, moves, late;
    if (w->most == 0 || 2 * most >= all)
        most = all;
    out->pace_s = 0;
    if (espi_fluid_play(player, first, &first_s))
        return -1;
    do {
        second = 4 * first <= all ? 2 * first : all;
        if (espi_fluid_play(player, second, &second_s))
            return -1;
        old_s = out->pace_s;
        out->pace_s = (second_s - first_s) / (double)(second - first);
        fills = 2 * (second_s - first_s) < first_s;
        moves = fills || fabs(out->pace_s - old_s) > w->settled * out->pace_s ||
                out->pace_s < w->load_s * (1 - w->settled);
        first = second;
        late = fills && fills_to_the_end(first_s, second_s, most / first);
        first_s = second_s;
    } while (first < all && moves && first < most && !(late && most < all));
    out->pace_s = fmax(out->pace_s, w->load_s);
    out->finish_s = second_s + (double)(all - first) * out->pace_s;
    return first < all && fills;
}

static int follow_pace(const struct espi_fluid_message *m, struct pacing w,
                       struct espi_arena *arena, struct espi_played *out)
{
    w.load_s = busiest_s(m, arena);
    struct espi_fluid_player *player =
        w.load_s < 0 ? NULL : espi_fluid_player_new(m, arena);
    int found = player ? find_pace(m, &w, player, out) : -1;
    espi_fluid_player_done(player);
    return found;
}

/* One message alone. */
static int play_whole(const struct espi_fluid_message *m, struct espi_arena *arena,
                      double *finish_s)
{
    struct espi_fluid_player *player = espi_fluid_player_new(m, arena);
    int failed = player ? espi_fluid_play(player, m->n_slices, finish_s) : -1;
    espi_fluid_player_done(player);
    return failed;
}

static int message_init(struct espi_fluid_message *m, struct espi_arc_uses *uses,
                        const struct esp_platform *p, double slice_bytes,
                        struct espi_arena *arena)
{
    m->uses = uses;
    m->latency_s = latencies(p, &m->a->legs, arena);
    return !m->latency_s || espi_arc_uses_init(uses, &m->a->legs, p, slice_bytes, arena)
               ? -1
               : 0;
}

/* The makespan of so many rounds of larger slices, and of half as many; half_s may be
 * NULL. */
static int play_larger(const struct espi_fluid_message *m, const struct esp_platform *p,
                       int64_t rounds, double slice_bytes, struct espi_arena *arena,
                       double *finish_s, double *half_s)
{
    struct espi_arc_uses uses;
    struct espi_fluid_message larger = {.a = m->a};
    if (message_init(&larger, &uses, p, slice_bytes, arena))
        return -1;
    int slots = m->a->round.slots;
    struct espi_fluid_player *player = espi_fluid_player_new(&larger, arena);
    int failed = !player ||
                 (half_s && espi_fluid_play(player, rounds / 2 * slots, half_s)) ||
                 espi_fluid_play(player, rounds * slots, finish_s);
    espi_fluid_player_done(player);
    return failed ? -1 : 0;
}

/* Where slices are so small that trees take long to fill, the pace shows late. But the
 * makespan is a line over the size of the slices: finer ones fill the trees sooner, and
 * all else stays. Two sizes that are larger tell it, and half of the message with the
 * smaller of these the pace, which is so many bytes a second with all. */
static int follow_line(const struct espi_fluid_message *m, const struct esp_platform *p,
                       int64_t rounds, double slice_bytes, struct espi_arena *arena,
                       struct espi_played *out)
{
    int64_t half = rounds / 2, slots = m->a->round.slots;
    double size_bytes = slice_bytes * (double)m->n_slices, coarse_s, fine_s, half_s;
    double coarse_bytes = size_bytes / (double)(half * slots);
    double fine_bytes = size_bytes / (double)(rounds * slots);
    if (play_larger(m, p, half, coarse_bytes, arena, &coarse_s, NULL) ||
        play_larger(m, p, rounds, fine_bytes, arena, &fine_s, &half_s))
        return -1;
    double slope = (coarse_s - fine_s) / (coarse_bytes - fine_bytes);
    out->finish_s = fine_s - slope * (fine_bytes - slice_bytes);
    out->pace_s =
        (fine_s - half_s) / (double)((rounds - half) * slots) * slice_bytes / fine_bytes;
    return 0;
}

int espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                    const struct espi_round_options *o, int claim,
                    struct espi_arena *arena, struct espi_played *out)
{
    struct espi_arc_uses uses;
    struct espi_fluid_message m = {.a = a, .n_slices = o->n_slices};
    int slots = a->round.slots;
    double slice_bytes = o->slice_bytes;
    if (slots < 1 || a->order.n < 1)
        return 0;
    if (espi_plan_parts(a->legs.plan, p->n_hosts) > 1 && m.n_slices % slots) {
        m.n_slices += slots - m.n_slices % slots; /* whole rounds: equal parts */
        slice_bytes *= (double)o->n_slices / (double)m.n_slices;
    }
    if (message_init(&m, &uses, p, slice_bytes, arena))
        return -1;
    int64_t rounds = rounds_of(a, claim ? ESPI_FLUID_CLAIM : ESPI_FLUID_WEIGH);
    struct pacing w = {
        .rounds = claim ? rounds / 4 : rounds / 2,
        .most = claim ? rounds_of(a, ESPI_FLUID_PATIENCE * ESPI_FLUID_CLAIM) : rounds,
        .settled = claim ? ESPI_PACE_SETTLED : INFINITY};
    if (m.n_slices <= rounds * slots)
        return play_whole(&m, arena, &out->finish_s);
    int moves = follow_pace(&m, w, arena, out);
    return moves > 0 ? follow_line(&m, p, rounds, slice_bytes, arena, out) : moves;
}

int espi_fluid_pace(const struct esp_platform *p, const struct espi_arrangement *a,
                    const struct espi_round_options *o, struct espi_arena *arena,
                    double *pace_s)
{
    struct espi_arc_uses uses;
    struct espi_played played = {0, 0};
    struct espi_fluid_message m = {.a = a};
    struct pacing w = {.settled = ESPI_PACE_SETTLED};
    int slots = a->round.slots;
    if (slots < 1 || a->order.n < 1)
        return 0;
    int64_t rounds = (o->n_slices + slots - 1) / slots;
    int64_t most = rounds_of(a, ESPI_FLUID_CLAIM);
    rounds = rounds < 2 ? 2 : rounds > most ? most : rounds;
    w.rounds = rounds_of(a, ESPI_FLUID_WEIGH) / 4;
    w.rounds = w.rounds < rounds / 2 ? w.rounds : rounds / 2;
    m.n_slices = rounds * slots;
    if (message_init(&m, &uses, p, o->slice_bytes, arena) ||
        follow_pace(&m, w, arena, &played))
        return -1;
    *pace_s = played.pace_s;
    return 0;
}
