/* Cables between sites, and what several of them share.
 *
 * A cable from site to site shows when several transfers over it, of different hosts, get
 * less than their ports and a single transfer would let them: its rate is what they got
 * together, or a single one alone, at the best. What cables share shows in rounds of
 * transfers over several cables that get less than the cables known so far allow:
 * - over two cables there and back: the cable is half-duplex,
 * - over several out of one site, or into one: the site's uplink,
 * - over any others: something in the middle, of which all are taken to be part that
 *   were held up.
 * Each is looked at in rounds of just such transfers, in this order, so that what the
 * earlier ones explain is not explained twice. What few rounds bear out is marked, for
 * the probe to try again (cables_doubt.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cables_impl.h"

static int by_key(const void *x, const void *y)
{
    const struct espi_crossing *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->sum > b->sum) - (a->sum < b->sum);
}

/* ---- what crossed, round by round ---- */

static int merge_crossings(struct espi_crossing *at, int n)
{
    int kept = 0;
    qsort(at, (size_t)n, sizeof *at, by_key);
    for (int i = 0; i < n; i++) {
        if (kept && at[kept - 1].key == at[i].key) {
            at[kept - 1].n++;
            at[kept - 1].sum += at[i].sum;
            at[kept - 1].could += at[i].could;
        } else {
            at[kept++] = at[i];
        }
    }
    return kept;
}

static int gather_rounds(struct espi_cabling *c)
{
    const struct espi_measured *net = c->net;
    const struct espi_trial_rounds *r = &net->rounds;
    size_t room = (size_t)r->start[r->n] + 1;
    int n = 0;
    c->crossings = ESPI_ARENA_NEW(c->arena, struct espi_crossing, room);
    c->values = ESPI_ARENA_NEW(c->arena, double, room);
    c->start = ESPI_ARENA_NEW(c->arena, int, (size_t)r->n + 1);
    c->about = ESPI_ARENA_NEW(c->arena, struct espi_about, (size_t)r->n + 1);
    c->whole = ESPI_ARENA_NEW(c->arena, size_t, (size_t)r->n + 1);
    c->suspects = ESPI_ARENA_NEW(c->arena, struct espi_suspect, (size_t)r->n + 1);
    if (!c->crossings || !c->values || !c->start || !c->about || !c->whole ||
        !c->suspects)
        return -1;
    for (int k = 0; k < r->n; k++) {
        c->start[k] = n;
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            const struct espi_trial_flow *f = &r->flows[i];
            int a = net->site[f->from], b = net->site[f->to];
            if (a != b)
                c->crossings[n++] =
                    (struct espi_crossing){a * net->n_sites + b, 1, k, f->Bps,
                                           espi_measured_flow_Bps(net, f->from, f->to)};
        }
        n = c->start[k] + merge_crossings(&c->crossings[c->start[k]], n - c->start[k]);
    }
    c->start[r->n] = n;
    return 0;
}

/* ---- cables ---- */

/* What the cable of these crossings carries. A single transfer tells best where it fills
 * the cable: of several at once each is disturbed in its own way, and what they got
 * together comes out too high in some rounds. It does not where they get more in all. */
static double cable_Bps(const struct espi_cabling *c, const struct espi_crossing *at,
                        int n)
{
    int seen = 0, single = 0;
    double several = INFINITY;
    for (int i = 0; i < n; i++)
        c->values[seen++] = at[i].sum;
    double all = espi_confirmed_top(c->values, seen);
    for (int i = 0; i < n; i++)
        if (at[i].n == 1)
            c->values[single++] = at[i].sum;
        else if (at[i].sum >= ESPI_DISTURBED * all)
            several = fmin(several, at[i].sum);
    double alone = espi_top_value(c->values, single);
    return alone >= ESPI_FILLED * fmin(several, all) && alone <= all ? alone : all;
}

/* Adds the cable of these crossings, of several transfers each, if there is one. */
static int add_cable(struct espi_cabling *c, const struct espi_crossing *at, int n)
{
    struct espi_measured *net = c->net;
    int from = at->key / net->n_sites, to = at->key % net->n_sites, seen = 0;
    double part = 0;
    for (int i = 0; i < n; i++)
        if (at[i].n >= 2)
            c->values[seen++] = at[i].sum;
    double top = espi_confirmed_top(c->values, seen);
    for (int i = 0; i < n; i++) /* at its best, what part of what it could be? */
        if (at[i].n >= 2 && at[i].sum >= ESPI_NEAR_BEST_LOW * top &&
            at[i].sum <= ESPI_NEAR_BEST_HIGH * top)
            part = fmax(part, at[i].sum / at[i].could);
    if (!seen || part >= ESPI_HELD_UP)
        return 0;
    struct espi_shared *shared = espi_measured_add_shared(net, cable_Bps(c, at, n));
    if (!shared)
        return -1;
    snprintf(shared->name, sizeof shared->name, "wan:%.40s>%.40s", net->site_name[from],
             net->site_name[to]);
    return espi_measured_add_sites(net, from, to);
}

static int add_cables(struct espi_cabling *c)
{
    int n = c->start[c->net->rounds.n];
    struct espi_crossing *sorted =
        ESPI_ARENA_NEW(c->arena, struct espi_crossing, (size_t)n + 1);
    if (!sorted)
        return -1;
    if (n)
        memcpy(sorted, c->crossings, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_key);
    c->sorted = sorted;
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end].key == sorted[i].key;)
            end++;
        if (add_cable(c, &sorted[i], end - i))
            return -1;
    }
    return 0;
}

/* ---- what cables share ---- */

static struct espi_about classify(const struct espi_cabling *c, int round)
{
    const struct espi_crossing *at = &c->crossings[c->start[round]];
    int n = c->start[round + 1] - c->start[round], s = c->net->n_sites;
    int one_from = 1, one_to = 1;
    for (int i = 1; i < n; i++) {
        one_from &= at[i].key / s == at[0].key / s;
        one_to &= at[i].key % s == at[0].key % s;
    }
    struct espi_about about = {ESPI_SEVERAL, 2166136261u, n, round};
    if (n == 2 && at[0].key / s == at[1].key % s && at[0].key % s == at[1].key / s)
        return (struct espi_about){ESPI_THERE_AND_BACK, (unsigned)at[0].key, 0, round};
    if (one_from)
        return (struct espi_about){ESPI_OUT_OF, (unsigned)(at[0].key / s), 0, round};
    if (one_to)
        return (struct espi_about){ESPI_INTO, (unsigned)(at[0].key % s), 0, round};
    for (int i = 0; i < n; i++)
        about.key = (about.key ^ (unsigned)at[i].key) * 16777619u;
    return about;
}

static int by_pattern(const void *x, const void *y)
{
    const struct espi_about *a = x, *b = y;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (a->cables != b->cables) /* what explains most comes first */
        return a->cables > b->cables ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->round > b->round) - (a->round < b->round);
}

/* What crossed in a round, and what should have by the network so far. The flows that
 * were held up are marked in `held`. */
static int compare_crossing(struct espi_cabling *c, int round, double *sum,
                            double *expected, unsigned char *held)
{
    const struct espi_trial_rounds *r = &c->net->rounds;
    const struct espi_trial_flow *flows = &r->flows[r->start[round]];
    int n = r->start[round + 1] - r->start[round];
    struct espi_arena_mark mark = espi_arena_mark(c->arena);
    double *rate = ESPI_ARENA_NEW(c->arena, double, (size_t)n + 1);
    if (!rate || espi_measured_predict(c->net, flows, n, rate, c->arena))
        return -1;
    *sum = *expected = 0;
    for (int i = 0; i < n; i++) {
        int crosses = c->net->site[flows[i].from] != c->net->site[flows[i].to];
        *sum += crosses ? flows[i].Bps : 0;
        *expected += crosses ? rate[i] : 0;
        held[i] = crosses && flows[i].Bps < ESPI_HELD_UP * rate[i];
    }
    espi_arena_release(c->arena, mark);
    return 0;
}

static int name_shared(struct espi_cabling *c, const struct espi_about *about, double Bps)
{
    struct espi_measured *net = c->net;
    struct espi_shared *shared = espi_measured_add_shared(net, Bps);
    unsigned s = (unsigned)net->n_sites;
    if (!shared)
        return -1;
    if (about->pattern == ESPI_THERE_AND_BACK)
        snprintf(shared->name, sizeof shared->name, "wan:%.40s<>%.40s",
                 net->site_name[about->key / s], net->site_name[about->key % s]);
    else if (about->pattern == ESPI_SEVERAL)
        snprintf(shared->name, sizeof shared->name, "wan:core%d", ++c->n_cores);
    else
        snprintf(shared->name, sizeof shared->name, "wan:%.60s:%s",
                 net->site_name[about->key],
                 about->pattern == ESPI_OUT_OF ? "out" : "in");
    return 0;
}

static int add_members(struct espi_cabling *c, const struct espi_about *about)
{
    struct espi_measured *net = c->net;
    int s = net->n_sites, key = (int)about->key, a = key / s, b = key % s;
    if (about->pattern == ESPI_THERE_AND_BACK)
        return espi_measured_add_sites(net, a, b) || espi_measured_add_sites(net, b, a);
    for (int other = 0; other < s; other++)
        if (other != key &&
            (about->pattern == ESPI_OUT_OF ? espi_measured_add_sites(net, key, other)
                                           : espi_measured_add_sites(net, other, key)))
            return -1;
    return 0;
}

/* Looks at the rounds about one thing; most of them, and not just one, must say that it
 * is shared. */
static int consider_rounds(struct espi_cabling *c, const struct espi_about *about, int n)
{
    int seen = 0;
    unsigned char *short_of = ESPI_ARENA_ZNEW(c->arena, unsigned char, n);
    if (!short_of)
        return -1;
    for (int i = 0; i < n; i++) {
        double sum, expected;
        struct espi_arena_mark mark = espi_arena_mark(c->arena);
        int first = c->net->rounds.start[about[i].round];
        unsigned char *held =
            ESPI_ARENA_NEW(c->arena, unsigned char,
                           c->net->rounds.start[about[i].round + 1] - first + 1);
        if (!held || compare_crossing(c, about[i].round, &sum, &expected, held))
            return -1;
        espi_arena_release(c->arena, mark);
        if (sum < ESPI_SHORT_OF * expected) {
            c->values[seen++] = sum;
            short_of[i] = 1;
        }
    }
    for (int i = 0; i < n && seen < ESPI_ROUNDS_ENOUGH; i++)
        if (short_of[i])
            espi_trial_rounds_doubt(&c->net->rounds, about[i].round);
    if (2 * seen <= n || seen < 2)
        return 0;
    return name_shared(c, about, espi_top_value(c->values, seen)) || add_members(c, about)
               ? -1
               : 0;
}

/* How often transfers over each cable ran in these rounds, and were held up. Gives the
 * number of rounds in which several were; -1 when out of memory. */
static int vote_for_cables(struct espi_cabling *c, const struct espi_about *about, int n,
                           int *times, int *votes)
{
    int accusing = 0;
    struct espi_measured *net = c->net;
    struct espi_arena_mark mark = espi_arena_mark(c->arena);
    unsigned char *held =
        ESPI_ARENA_NEW(c->arena, unsigned char, net->rounds.start[net->rounds.n] + 1);
    if (!held)
        return -1;
    for (int i = 0; i < n; i++) {
        double sum, expected;
        int first = net->rounds.start[about[i].round], together = 0;
        if (compare_crossing(c, about[i].round, &sum, &expected, held))
            return -1;
        for (int k = first; k < net->rounds.start[about[i].round + 1]; k++) {
            const struct espi_trial_flow *f = &net->rounds.flows[k];
            int key = net->site[f->from] * net->n_sites + net->site[f->to];
            times[key] += net->site[f->from] != net->site[f->to];
            votes[key] += held[k - first];
            together += held[k - first];
        }
        accusing += together >= 2;
    }
    espi_arena_release(c->arena, mark);
    return accusing;
}

/* What the cables that are marked got together in these rounds. */
static double sum_of(struct espi_cabling *c, const struct espi_about *about, int n,
                     const unsigned char *member)
{
    for (int i = 0; i < n; i++) {
        c->values[i] = 0;
        for (int k = c->start[about[i].round]; k < c->start[about[i].round + 1]; k++)
            if (member[c->crossings[k].key])
                c->values[i] += c->crossings[k].sum;
    }
    return espi_top_value(c->values, n);
}

static int is_same_rate(double Bps, double other_Bps)
{
    return fabs(other_Bps - Bps) <= ESPI_SAME_RATE * Bps;
}

/* Cables that got together what others did that are held up as a whole are so, too, even
 * where what is known of those explains some of it: all that were used become members. */
static int join_whole(struct espi_cabling *c, const struct espi_about *about, int n,
                      const int *times, unsigned char *member)
{
    int whole = 0, keys = c->net->n_sites * c->net->n_sites;
    unsigned char *used = ESPI_ARENA_NEW(c->arena, unsigned char, keys);
    if (!used)
        return -1;
    for (int k = 0; k < keys; k++)
        used[k] = times[k] > 0;
    double sum = sum_of(c, about, n, used);
    for (int i = 0; i < c->n_whole; i++)
        whole |= is_same_rate(c->net->shared[c->whole[i]].Bps, sum);
    if (whole)
        memcpy(member, used, (size_t)keys);
    return whole;
}

/* Rounds over the same cables, of no pattern: those held up in most of the rounds, and
 * not only once in all, share something in the middle. */
static int consider_core(struct espi_cabling *c, const struct espi_about *about, int n,
                         const int *in_all)
{
    struct espi_measured *net = c->net;
    size_t keys = (size_t)net->n_sites * (size_t)net->n_sites;
    int *votes = ESPI_ARENA_ZNEW(c->arena, int, 2 * keys), *times = votes + keys;
    unsigned char *member = ESPI_ARENA_ZNEW(c->arena, unsigned char, keys);
    int members = 0, used = 0, held = 0;
    int accusing = votes && member ? vote_for_cables(c, about, n, times, votes) : -1;
    if (accusing < 0)
        return -1;
    for (size_t k = 0; k < keys; k++) {
        member[k] = 2 * votes[k] > times[k] && in_all[k] >= 2;
        members += member[k];
        held += 2 * votes[k] > times[k];
        used += times[k] > 0;
    }
    net->crossed |= held >= 2;
    int whole = members >= 2 ? join_whole(c, about, n, times, member) : 0;
    if (whole < 0)
        return -1;
    members = whole ? used : members;
    double Bps = sum_of(c, about, n, member);
    if (accusing)
        c->suspects[c->n_suspects++] =
            (struct espi_suspect){about, n, accusing, members == used ? Bps : -1};
    if (members < 2)
        return 0;
    if (members == used)
        c->whole[c->n_whole++] = net->n_shared;
    if (name_shared(c, about, Bps))
        return -1;
    for (int k = 0; k < (int)keys; k++)
        if (member[k] && espi_measured_add_sites(net, k / net->n_sites, k % net->n_sites))
            return -1;
    return 0;
}

/* All rounds over several cables, those over the same ones together. */
static int consider_all(struct espi_cabling *c)
{
    size_t keys = (size_t)c->net->n_sites * (size_t)c->net->n_sites;
    int *votes = NULL, bad = 0;
    for (int i = 0, end; i < c->n_about && !bad; i = end) {
        const struct espi_about *about = &c->about[i];
        for (end = i; end < c->n_about && c->about[end].pattern == about->pattern &&
                      c->about[end].key == about->key;)
            end++;
        if (about->pattern != ESPI_SEVERAL) {
            bad = consider_rounds(c, about, end - i);
            continue;
        }
        if (!votes) {
            votes = ESPI_ARENA_ZNEW(c->arena, int, 2 * keys);
            bad = !votes ||
                  vote_for_cables(c, about, c->n_about - i, votes + keys, votes) < 0;
        }
        bad = bad || consider_core(c, about, end - i, votes);
    }
    return bad ? -1 : 0;
}

/* ---- what says nothing new ---- */

static int by_areas(const void *x, const void *y)
{
    const struct espi_area_pair *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static int contains(const struct espi_measured *net, const struct espi_shared *all,
                    const struct espi_shared *part)
{
    for (int k = part->first; k < part->first + part->n_pairs; k++)
        if (!bsearch(&net->subsite_pairs[k], &net->subsite_pairs[all->first],
                     (size_t)all->n_pairs, sizeof *net->subsite_pairs, by_areas))
            return 0;
    return 1;
}

/* What holds up all cables of one round and, at the same rate, all of another, is one
 * thing: its cables are put together. */
static int merge_cores(struct espi_cabling *c)
{
    struct espi_measured *net = c->net;
    struct espi_about about = {ESPI_SEVERAL, 0, 0, 0};
    if (c->n_whole < 2)
        return 0;
    for (int i = 0; i < c->n_whole; i++)
        c->values[i] = net->shared[c->whole[i]].Bps;
    double Bps = espi_top_value(c->values, c->n_whole);
    if (name_shared(c, &about, Bps))
        return -1;
    for (int i = 0; i < c->n_whole; i++) {
        size_t which = c->whole[i];
        if (!is_same_rate(Bps, net->shared[which].Bps))
            continue;
        for (int k = 0; k < net->shared[which].n_pairs; k++) {
            struct espi_area_pair pair = net->subsite_pairs[net->shared[which].first + k];
            if (espi_measured_add_pair(net, pair.from, pair.to))
                return -1;
        }
    }
    struct espi_shared *all = &net->shared[net->n_shared - 1];
    struct espi_area_pair *at = &net->subsite_pairs[all->first];
    int kept = 0;
    qsort(at, (size_t)all->n_pairs, sizeof *at, by_areas);
    for (int k = 0; k < all->n_pairs; k++)
        if (k == 0 || by_areas(&at[k], &at[k - 1]) != 0)
            at[kept++] = at[k];
    all->n_pairs = kept;
    net->n_subsite_pairs = (size_t)(all->first + kept);
    return 0;
}

/* Of what several cables share, that goes which something wider limits as much. */
static void drop_implied(struct espi_measured *net, size_t first)
{
    size_t kept = first;
    for (size_t c = first; c < net->n_shared; c++)
        qsort(&net->subsite_pairs[net->shared[c].first], (size_t)net->shared[c].n_pairs,
              sizeof *net->subsite_pairs, by_areas);
    for (size_t c = first; c < net->n_shared; c++) {
        int implied = 0;
        for (size_t d = c + 1; d < net->n_shared && !implied; d++)
            implied = net->shared[d].n_pairs > net->shared[c].n_pairs &&
                      net->shared[d].Bps < (1 + ESPI_SAME_RATE) * net->shared[c].Bps &&
                      contains(net, &net->shared[d], &net->shared[c]);
        if (!implied)
            net->shared[kept++] = net->shared[c];
    }
    net->n_shared = kept;
}

int espi_measured_cables(struct espi_measured *net, struct espi_arena *arena)
{
    struct espi_cabling c = {.net = net, .arena = arena};
    if (gather_rounds(&c) || add_cables(&c))
        return -1;
    size_t first = net->n_shared;
    for (int k = 0; k < net->rounds.n; k++)
        if (c.start[k + 1] - c.start[k] >= 2) {
            c.about[c.n_about] = classify(&c, k);
            c.n_about++;
        }
    qsort(c.about, (size_t)c.n_about, sizeof *c.about, by_pattern);
    if (consider_all(&c) || merge_cores(&c) || espi_cables_doubt(&c))
        return -1;
    drop_implied(net, first);
    return 0;
}
