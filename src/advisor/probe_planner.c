#include "advisor/probe_planner.h"

#include <math.h>
#include <string.h>

#include "advisor/advisor.h"
#include "advisor/probe_planner_impl.h"
#include "advisor/tuning.h"

#define RATE_MAX 1e13 /* derived: no rate is so high that can be told */

/* ---- when ---- */

double espi_probe_planner_room_s(const struct espi_outlook *o, double begun_s,
                                 double now_s)
{
    /* Who has been quiet for a while beyond what was expected will go on as long, or half
     * of it. */
    if (o->calls == 0)
        return (now_s - begun_s) / 2;
    if (!(o->gap_s > 0))
        return (now_s - o->last_s) / 2;
    double left_s = o->last_s + o->gap_s - now_s;
    return left_s > 0 ? left_s - ESPI_GAP_PART * o->gap_s
                      : -left_s / 2 - ESPI_GAP_PART * o->gap_s;
}

static double believed_Bps(const struct espi_probe_planner *q, int g, double now_s)
{
    return fmin(q->resource[g].nominal_Bps,
                q->belief->fate[g].full_Bps *
                    espi_belief_factor(q->belief, g, now_s, NULL));
}

/* How long a train takes on a way as believed. */
static double train_s(const struct espi_probe_planner *q, int way, double now_s)
{
    double Bps = INFINITY;
    for (int i = q->start[way]; i < q->start[way + 1]; i++)
        Bps = fmin(Bps, believed_Bps(q, q->item[i], now_s));
    return ESPI_TRAIN_BYTES / Bps;
}

/* ---- which ---- */

static int is_free(const struct espi_probe_planner *q, int way, double now_s)
{
    int from = q->from[way], to = q->to[way];
    if (!q->able[from] || !q->able[to] || q->host_free_s[from] > now_s ||
        q->host_free_s[to] > now_s)
        return 0;
    for (int i = q->start[way]; i < q->start[way + 1]; i++)
        if (q->resource[q->item[i]].free_s > now_s)
            return 0;
    return 1;
}

/* How often it has its turn, as plans pass it or not. */
static double weight(const struct espi_probe_planner *q,
                     const struct espi_probed_resource *g)
{
    if (g->in_force && q->turn - g->in_force < ESPI_MARK_TURNS)
        return 16;
    return g->rival && q->turn - g->rival < ESPI_MARK_TURNS ? 4 : 1;
}

/* How long it has waited, as it matters; 0: it was looked at a moment ago. What is known
 * has to be fresh when the next call comes: the nearer that is, the shorter a moment. */
static double urgency(const struct espi_probe_planner *q, int g, double room_s,
                      double now_s)
{
    const struct espi_probed_resource *resource = &q->resource[g];
    double error, heard_s = fmax(resource->probed_s, q->belief->fate[g].heard_s);
    double times = weight(q, resource);
    if (now_s - heard_s < fmin(2 * room_s, ESPI_MOMENT_S) / sqrt(times))
        return 0;
    espi_belief_factor(q->belief, g, now_s, &error);
    double slowness = q->fastest_Bps / resource->nominal_Bps;
    return (now_s - heard_s) * times * slowness * slowness * (1 + 10 * error);
}

/* A way that passes the resource and is free; -1: none. They take their turns. */
static int free_way(struct espi_probe_planner *q, int g, double now_s)
{
    struct espi_probed_resource *resource = &q->resource[g];
    int first = q->by_start[g], n = q->by_start[g + 1] - first;
    if (n == 0 || resource->free_s > now_s)
        return -1;
    for (int i = 0; i < n && i < ESPI_PROBE_TRIES; i++) {
        /* Steps that are no divisors, so that senders and receivers change. */
        int at = (int)(((unsigned)resource->cursor * 2654435761U) % (unsigned)n);
        resource->cursor++;
        if (is_free(q, q->by_item[first + at], now_s))
            return q->by_item[first + at];
    }
    return -1;
}

static int most_urgent_way(struct espi_probe_planner *q, double room_s, double now_s)
{
    int best = -1;
    double best_urgency = 0;
    for (int g = 0; g < q->n_resources; g++) {
        if (q->by_start[g] == q->by_start[g + 1])
            continue; /* no way shows it */
        double u = urgency(q, g, room_s, now_s);
        int way = u > best_urgency ? free_way(q, g, now_s) : -1;
        if (way >= 0) {
            best = way;
            best_urgency = u;
        }
    }
    return best;
}

static int is_suspect(const struct espi_probe_planner *q, int g)
{
    for (int i = 0; i < q->n_suspects; i++)
        if (q->suspect[i] == g)
            return 1;
    return 0;
}

/* Has it carried more than the suspects let through, since then? */
static int has_carried(const struct espi_probe_planner *q, int g, double since_s)
{
    const struct espi_probed_resource *resource = &q->resource[g];
    return resource->carried_s >= since_s &&
           resource->carried_Bps >= ESPI_LATE * q->suspect_Bps;
}

/* How well a probe of that way would part the suspects: the fewer others could be slow
 * there too, the better; -1: not at all. */
static int parting(const struct espi_probe_planner *q, int way, double now_s)
{
    int passed = 0, others = 0;
    if (!q->able[q->from[way]] || !q->able[q->to[way]] ||
        ESPI_TRAIN_BYTES / train_s(q, way, now_s) <
            ESPI_LATE * ESPI_LATE * q->suspect_Bps)
        return -1; /* it could not show more than was seen */
    for (int i = q->start[way]; i < q->start[way + 1]; i++) {
        int g = q->item[i], suspect = is_suspect(q, g);
        passed += suspect;
        others += !suspect && !has_carried(q, g, now_s - ESPI_RECENT_S);
    }
    return passed == 0 || passed == q->n_suspects ? -1 : others;
}

/* The way that parts the suspects best; -1: none is free, -2: none does. */
static int parting_way(const struct espi_probe_planner *q, double now_s)
{
    int best = -2, least = 0;
    for (int w = 0; w < q->n_ways; w++) {
        int others = parting(q, w, now_s);
        if (others < 0)
            continue;
        if (best == -2)
            best = -1;
        if (is_free(q, w, now_s) && (best < 0 || others < least)) {
            best = w;
            least = others;
        }
    }
    return best;
}

static void begin_probe(struct espi_probe_planner *q, int way, double now_s)
{
    double Bps = espi_probe_planner_narrowest_Bps(q, way);
    for (int i = q->start[way]; i < q->start[way + 1]; i++) {
        struct espi_probed_resource *g = &q->resource[q->item[i]];
        g->free_s = now_s + ESPI_TRAIN_BYTES / (q->share * g->nominal_Bps);
    }
    double free_s = now_s + ESPI_TRAIN_BYTES / (q->share * Bps);
    q->host_free_s[q->from[way]] = q->host_free_s[q->to[way]] = free_s;
    q->way = way;
    q->order = (struct espi_probe_order){++q->last, q->from[way], q->to[way]};
    q->until_s = now_s + fmax(0.5, 20 * train_s(q, way, now_s));
    q->tally.sent++;
    q->tally.bytes += ESPI_TRAIN_BYTES;
}

int espi_probe_planner_next(struct espi_probe_planner *q, const struct espi_outlook *o,
                            double now_s, struct espi_probe_order *out)
{
    int way = -1;
    if (q->begun_s < 0)
        espi_probe_planner_begin(q, now_s);
    if (q->order.number || q->tally.hosts < 2 || now_s < q->paused_until_s)
        return 0;
    if (now_s - q->suspect_s > ESPI_SUSPECT_S)
        q->n_suspects = 0;
    double room_s = espi_probe_planner_room_s(o, q->begun_s, now_s);
    if (room_s < ESPI_GUARD_S)
        return 0;
    espi_probe_planner_choose(q);
    if (q->n_suspects)
        way = parting_way(q, now_s);
    if (way < 0)
        way = most_urgent_way(q, room_s, now_s);
    if (way < 0 || 2 * train_s(q, way, now_s) + ESPI_GUARD_S > room_s)
        return 0;
    begin_probe(q, way, now_s);
    *out = q->order;
    return 1;
}

uint64_t espi_probe_planner_open(const struct espi_probe_planner *q, double *until_s)
{
    if (until_s)
        *until_s = q->until_s;
    return q->order.number;
}

void espi_probe_planner_pause(struct espi_probe_planner *q, double now_s)
{
    q->paused_until_s = fmax(q->paused_until_s, now_s + ESPI_PAUSE_S);
}

/* ---- what ---- */

static esp_status hear_rate(struct espi_probe_planner *q, int g, double Bps, double now_s,
                            int *changed, struct esp_err *err)
{
    double before = espi_belief_factor(q->belief, g, now_s, NULL);
    int shows_all = Bps > ESPI_FULL * q->resource[g].nominal_Bps;
    double factor = shows_all ? 1 : Bps / q->belief->fate[g].full_Bps;
    esp_status st = espi_belief_hear(q->belief, g, factor, ESPI_BY_PROBE, now_s, err);
    if (!st && fabs(factor - before) > ESPI_CHANGE * before) {
        *changed = 1;
        q->tally.changed++;
        q->tally.change_link = q->belief->fate[g].first_link;
        q->tally.change_factor = factor;
    }
    return st;
}

/* The links of the way carried that much. */
static void note_carried(struct espi_probe_planner *q, double Bps, double now_s)
{
    for (int i = q->start[q->way]; i < q->start[q->way + 1]; i++) {
        struct espi_probed_resource *g = &q->resource[q->item[i]];
        if (now_s - g->carried_s > ESPI_RECENT_S || Bps >= g->carried_Bps) {
            g->carried_Bps = Bps;
            g->carried_s = now_s;
        }
    }
}

/* What could be looked at on this way has been: its slowest links, and what was shown. */
static void note_looked(struct espi_probe_planner *q, double Bps, double now_s)
{
    double narrowest = espi_probe_planner_narrowest_Bps(q, q->way);
    for (int i = q->start[q->way]; i < q->start[q->way + 1]; i++) {
        struct espi_probed_resource *g = &q->resource[q->item[i]];
        int shown = Bps >= ESPI_SHOWN * g->nominal_Bps;
        int narrow = g->nominal_Bps <= narrowest || !g->narrow;
        if (!shown && !narrow)
            continue;
        g->probed_s = now_s;
        q->n_looked += !g->looked;
        g->looked = 1;
        q->n_shown += shown && !g->shown;
        g->shown |= shown;
    }
}

/* Those who carried more than they are believed to can do so; the slowest, as believed,
 * is what was seen. */
static esp_status hear_punctual(struct espi_probe_planner *q, double Bps, double now_s,
                                int *changed, struct esp_err *err)
{
    esp_status st = ESP_OK;
    int slowest = q->item[q->start[q->way]];
    for (int i = q->start[q->way]; i < q->start[q->way + 1]; i++)
        if (believed_Bps(q, q->item[i], now_s) < believed_Bps(q, slowest, now_s))
            slowest = q->item[i];
    double slowest_Bps = believed_Bps(q, slowest, now_s);
    int whole = Bps >= ESPI_FULL * espi_probe_planner_narrowest_Bps(q, q->way);
    for (int i = q->start[q->way]; i < q->start[q->way + 1] && !st; i++) {
        int g = q->item[i];
        double nominal = q->resource[g].nominal_Bps;
        /* One that is the slowest of no way cannot show more than it just did. */
        double seen_Bps = whole && !q->resource[g].narrow ? nominal : Bps;
        if (believed_Bps(q, g, now_s) < fmin(seen_Bps, ESPI_AS_GOOD * nominal) ||
            believed_Bps(q, g, now_s) <= slowest_Bps)
            st = hear_rate(q, g, seen_Bps, now_s, changed, err);
    }
    return st;
}

static int may_blame(const struct espi_probe_planner *q, int g)
{
    return q->resource[g].shown || (q->n_looked >= 4 && 2 * q->n_shown >= q->n_looked);
}

static esp_status blame_resource(struct espi_probe_planner *q, int g, double now_s,
                                 int *changed, struct esp_err *err)
{
    if (may_blame(q, g))
        return hear_rate(q, g, q->suspect_Bps, now_s, changed, err);
    q->tally.doubted++;
    return ESP_OK;
}

/* Drops those that have carried more since the suspicion began; what they carried before
 * says nothing, for a load may have come since. */
static void sift(struct espi_probe_planner *q)
{
    int n = 0;
    for (int i = 0; i < q->n_suspects; i++)
        if (!has_carried(q, q->suspect[i], q->suspect_s))
            q->suspect[n++] = q->suspect[i];
    q->n_suspects = n;
}

/* The way was slow: of the suspects those that are on it, else a new suspicion. */
static void suspect(struct espi_probe_planner *q, double Bps, double now_s)
{
    int found[ESPI_PROBE_PLANNER_SUSPECTS], n = 0;
    for (int i = q->start[q->way]; i < q->start[q->way + 1]; i++)
        if (is_suspect(q, q->item[i]))
            found[n++] = q->item[i];
    if (n == 0) {
        for (int i = q->start[q->way]; i < q->start[q->way + 1]; i++)
            found[n++] = q->item[i];
        q->suspect_s = now_s;
    }
    memcpy(q->suspect, found, (size_t)n * sizeof *found);
    q->n_suspects = n;
    q->suspect_Bps = Bps;
}

static esp_status settle_suspects(struct espi_probe_planner *q, double now_s,
                                  int *changed, struct esp_err *err)
{
    sift(q);
    if (q->n_suspects == 0)
        return ESP_OK;
    if (q->n_suspects > 1 && parting_way(q, now_s) != -2)
        return ESP_OK;
    double slowest_Bps = INFINITY;
    for (int i = 0; i < q->n_suspects; i++)
        slowest_Bps = fmin(slowest_Bps, believed_Bps(q, q->suspect[i], now_s));
    /* What nothing parts is always passed together: those alike are slow together. */
    esp_status st = ESP_OK;
    double alike_Bps = ESPI_ALIKE_SUSPECTS * slowest_Bps;
    for (int i = 0; i < q->n_suspects && !st; i++)
        if (believed_Bps(q, q->suspect[i], now_s) <= alike_Bps)
            st = blame_resource(q, q->suspect[i], now_s, changed, err);
    q->n_suspects = 0;
    return st;
}

static void give_up(struct espi_probe_planner *q, enum espi_probe_end end, double now_s)
{
    if (end == ESPI_PROBE_REFUSED) {
        q->tally.refused++;
        q->tally.bytes -= ESPI_TRAIN_BYTES; /* it was not sent, or cut off */
        espi_probe_planner_pause(q, now_s);
        return;
    }
    q->tally.lost++;
    q->host_free_s[q->order.from] = q->host_free_s[q->order.to] = now_s + ESPI_SILENCE_S;
}

esp_status espi_probe_planner_answer(struct espi_probe_planner *q, uint64_t number,
                                     enum espi_probe_end end, double Bps, double now_s,
                                     int *changed, struct esp_err *err)
{
    int ignored = 0;
    if (!changed)
        changed = &ignored;
    *changed = 0;
    if (!number || number != q->order.number ||
        (end == ESPI_PROBE_RATE && !(Bps > 0 && Bps < RATE_MAX)))
        return ESP_OK;
    if (end != ESPI_PROBE_RATE) {
        give_up(q, end, now_s);
        q->order.number = 0;
        return ESP_OK;
    }
    q->tally.heard++;
    q->order.number = 0;
    double believed = ESPI_TRAIN_BYTES / train_s(q, q->way, now_s);
    int late = ESPI_LATE * Bps < believed;
    note_carried(q, Bps, now_s);
    note_looked(q, Bps, now_s);
    esp_status st = ESP_OK;
    if (late)
        suspect(q, Bps, now_s);
    else
        st = hear_punctual(q, Bps, now_s, changed, err);
    return st ? st : settle_suspects(q, now_s, changed, err);
}

void espi_probe_planner_tally(const struct espi_probe_planner *q,
                              struct espi_probe_tally *out)
{
    *out = q->tally;
}
