/* Subsites: parts of a site that are joined by something slower than what their hosts
 * could use, such as clusters behind the uplinks of their switches.
 *
 * Looked at are transfers within a site that ran with at least three others of the site,
 * each alone at both its ports. One that was held up crossed a border, for inside an
 * subsite nothing is shared (one that is held up alone was disturbed, and tells nothing).
 * One that was not stayed inside, or was alone on its way; or it was slower than those
 * that were held up, and tells nothing. So groups of hosts are joined as long as there
 * are more fast than held-up transfers between two of them, those with the greatest
 * difference first; from there on the likelihood of areas is climbed (area_blocks.c).
 *
 * Where nearly all pairs are held up there are no subsites, but one medium that all
 * share. Held-up transfers that few rounds tell of, or all of a round, are marked, for
 * the probe to try again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/area_blocks.h"
#include "measure/measured.h"

enum { SITE_MAX = 2000 };

struct evidence {
    int site, from, to;
    int round;         /* the first one of the same transfers */
    int fast, held_up; /* how often */
};

/* A round in which transfers within a site were held up. */
struct held_round {
    int site, round;
    int all; /* of its transfers */
};

struct search {
    struct espi_measured *net;
    struct espi_arena *arena;
    struct evidence *at;
    int n;
    int *sends, *receives; /* of hosts, in a round */
    int *together, *held;  /* of sites, in a round */
    double *held_Bps;      /* of sites: what was held up, in a round */
    struct held_round *held_in;
    int n_held, *times_held; /* times: of sites */
    int *above;              /* host -> one that stands for its subsite */
};

/* ---- evidence ---- */

static int is_held_up(const struct espi_measured *net, const struct espi_trial_flow *f)
{
    return f->Bps < ESPI_HELD_UP * espi_measured_flow_Bps(net, f->from, f->to);
}

static int is_inside(const struct espi_measured *net, const struct espi_trial_flow *f)
{
    return net->site[f->from] == net->site[f->to];
}

static void count(struct search *s, int round, int by)
{
    const struct espi_trial_rounds *r = &s->net->rounds;
    for (int i = r->start[round]; i < r->start[round + 1]; i++) {
        const struct espi_trial_flow *f = &r->flows[i];
        s->sends[f->from] += by;
        s->receives[f->to] += by;
        if (!is_inside(s->net, f))
            continue;
        int site = s->net->site[f->from], held_up = is_held_up(s->net, f);
        s->together[site] += by;
        s->held[site] += held_up ? by : 0;
        s->held_Bps[site] += held_up ? by * f->Bps : 0;
    }
}

static void note_held(struct search *s, int site, int round)
{
    for (int i = s->n_held; i > 0 && s->held_in[i - 1].round == round; i--)
        if (s->held_in[i - 1].site == site)
            return;
    s->held_in[s->n_held++] =
        (struct held_round){site, round, s->held[site] == s->together[site]};
    s->times_held[site]++;
}

static void note_transfer(struct search *s, int round, const struct espi_trial_flow *f)
{
    int site = s->net->site[f->from], held_up = is_held_up(s->net, f);
    if (!is_inside(s->net, f) || s->together[site] < ESPI_LOADED ||
        s->sends[f->from] != 1 || s->receives[f->to] != 1 ||
        (held_up && s->held[site] < 2) || s->held[site] == s->together[site] ||
        (!held_up && f->Bps * s->held[site] < s->held_Bps[site]))
        return;
    s->at[s->n++] = (struct evidence){
        site, f->from, f->to, s->net->rounds.same[round], !held_up, held_up};
    if (held_up)
        note_held(s, site, round);
}

static int by_pair(const void *x, const void *y)
{
    const struct evidence *a = x, *b = y;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static int by_pair_and_round(const void *x, const void *y)
{
    const struct evidence *a = x, *b = y;
    int order = by_pair(a, b);
    return order ? order : (a->round > b->round) - (a->round < b->round);
}

/* Adds up what is the same by that order. */
static void add_up(struct search *s, int (*order)(const void *, const void *))
{
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (n && order(&s->at[n - 1], &s->at[i]) == 0) {
            s->at[n - 1].fast += s->at[i].fast;
            s->at[n - 1].held_up += s->at[i].held_up;
        } else {
            s->at[n++] = s->at[i];
        }
    }
    s->n = n;
}

/* Rounds of the same transfers come out the same, however often they run: all of them say
 * no more than one does. */
static void count_repeats_once(struct search *s)
{
    for (int i = 0; i < s->n; i++) {
        int held_up = s->at[i].held_up > s->at[i].fast;
        s->at[i].held_up = held_up;
        s->at[i].fast = !held_up;
    }
}

static int gather_transfers(struct search *s)
{
    struct espi_measured *net = s->net;
    size_t hosts = (size_t)net->n_hosts, sites = (size_t)net->n_sites;
    int *counts = ESPI_ARENA_ZNEW(s->arena, int, 2 * hosts + 3 * sites);
    s->at = ESPI_ARENA_NEW(s->arena, struct evidence,
                           (size_t)net->rounds.start[net->rounds.n] + 1);
    s->held_in = ESPI_ARENA_NEW(s->arena, struct held_round,
                                (size_t)net->rounds.start[net->rounds.n] + 1);
    s->above = ESPI_ARENA_NEW(s->arena, int, hosts);
    s->held_Bps = ESPI_ARENA_ZNEW(s->arena, double, sites);
    if (!counts || !s->at || !s->held_in || !s->above || !s->held_Bps)
        return -1;
    s->sends = counts;
    s->receives = counts + hosts;
    s->together = s->receives + hosts;
    s->held = s->together + sites;
    s->times_held = s->held + sites;
    for (int k = 0; k < net->rounds.n; k++) {
        count(s, k, 1);
        for (int i = net->rounds.start[k]; i < net->rounds.start[k + 1]; i++)
            note_transfer(s, k, &net->rounds.flows[i]);
        count(s, k, -1);
    }
    qsort(s->at, (size_t)s->n, sizeof *s->at, by_pair_and_round);
    add_up(s, by_pair_and_round);
    count_repeats_once(s);
    add_up(s, by_pair);
    return 0;
}

/* Sites whose transfers were held up in few rounds only, and rounds in which all were but
 * that did not come out so twice: perhaps it was something else that disturbed those. */
static void doubt_few(struct search *s)
{
    struct espi_trial_rounds *r = &s->net->rounds;
    for (int i = 0; i < s->n_held; i++) {
        const struct held_round *at = &s->held_in[i];
        if (s->times_held[at->site] < ESPI_ROUNDS_ENOUGH ||
            (at->all && r->kept[at->round] == 1))
            espi_trial_rounds_doubt(r, at->round);
    }
}

/* ---- joining ---- */

/* Groups of a site's hosts that are being joined. */
struct groups {
    int n;      /* hosts of the site */
    int *host;  /* member -> host */
    int *group; /* member -> group, the number of one of its members */
    int *score; /* group * n + group: fast less held-up transfers */
    int *best;  /* group -> the other one that it has the best score with, or -1 */
    unsigned char *gone;
};

static int by_host(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static int member_of(const struct groups *g, int host)
{
    const int *at = bsearch(&host, g->host, (size_t)g->n, sizeof *g->host, by_host);
    return (int)(at - g->host);
}

static int site_size(const struct espi_measured *net, int site)
{
    int n = 0;
    for (int h = 0; h < net->n_hosts; h++)
        n += net->site[h] == site;
    return n;
}

static void find_best(struct groups *g, int x)
{
    g->best[x] = -1;
    for (int y = 0; y < g->n; y++)
        if (y != x && !g->gone[y] &&
            (g->best[x] < 0 || g->score[x * g->n + y] > g->score[x * g->n + g->best[x]]))
            g->best[x] = y;
}

static int groups_init(struct groups *g, struct search *s, const struct evidence *at,
                       int n, int held_counts)
{
    int site = at->site;
    size_t room = (size_t)site_size(s->net, site);
    g->host = ESPI_ARENA_NEW(s->arena, int, room);
    g->group = ESPI_ARENA_NEW(s->arena, int, room);
    g->score = ESPI_ARENA_ZNEW(s->arena, int, room *room);
    g->best = ESPI_ARENA_NEW(s->arena, int, room);
    g->gone = ESPI_ARENA_ZNEW(s->arena, unsigned char, room);
    if (!g->host || !g->group || !g->score || !g->best || !g->gone)
        return -1;
    g->n = 0;
    for (int h = 0; h < s->net->n_hosts; h++)
        if (s->net->site[h] == site) {
            g->group[g->n] = g->n;
            g->host[g->n++] = h;
        }
    for (int i = 0; i < n; i++) {
        int x = member_of(g, at[i].from), y = member_of(g, at[i].to);
        g->score[x * g->n + y] += at[i].fast - held_counts * at[i].held_up;
        g->score[y * g->n + x] = g->score[x * g->n + y];
    }
    for (int x = 0; x < g->n; x++)
        find_best(g, x);
    return 0;
}

/* Joins the two groups of the best score, if it is above 0. */
static int join_best(struct groups *g)
{
    int x = -1, most = 0;
    for (int i = 0; i < g->n; i++)
        if (!g->gone[i] && g->best[i] >= 0 && g->score[i * g->n + g->best[i]] > most) {
            most = g->score[i * g->n + g->best[i]];
            x = i;
        }
    if (x < 0)
        return 0;
    int y = g->best[x];
    g->gone[y] = 1;
    for (int i = 0; i < g->n; i++) {
        g->group[i] = g->group[i] == y ? x : g->group[i];
        g->score[x * g->n + i] += g->score[y * g->n + i];
        g->score[i * g->n + x] = g->score[x * g->n + i];
    }
    for (int i = 0; i < g->n; i++)
        if (!g->gone[i] && (i == x || g->best[i] == y || g->best[i] == x ||
                            g->score[i * g->n + x] > g->score[i * g->n + g->best[i]]))
            find_best(g, i);
    return 1;
}

static int group_size(const struct groups *g, int group)
{
    int n = 0;
    for (int i = 0; i < g->n; i++)
        n += g->group[i] == group;
    return n;
}

/* The evidence by numbers of members. */
static struct espi_held_pair *list_held_pairs(struct search *s, const struct groups *g,
                                              const struct evidence *at, int n)
{
    struct espi_held_pair *pairs = ESPI_ARENA_NEW(s->arena, struct espi_held_pair, n);
    for (int i = 0; i < n && pairs; i++)
        pairs[i] = (struct espi_held_pair){
            member_of(g, at[i].from), member_of(g, at[i].to), at[i].fast, at[i].held_up};
    return pairs;
}

/* Groups the hosts of a site by its evidence. Likelihood is climbed from two sides: from
 * few groups, as hosts get on with each other, and from many, of which none was ever in
 * another's way. */
static int join_site(struct search *s, const struct evidence *at, int n)
{
    static const int held_counts[] = {ESPI_HELD_UP_COUNTS, 1 << 16};
    struct espi_arena_mark mark = espi_arena_mark(s->arena);
    double likeliest = -INFINITY;
    int unsure = 0;
    for (int start = 0; start < 2; start++) {
        struct groups g;
        struct espi_area_blocks blocks;
        int single = 0;
        if (groups_init(&g, s, at, n, held_counts[start]))
            return -1;
        while (join_best(&g))
            continue;
        const struct espi_held_pair *pairs = list_held_pairs(s, &g, at, n);
        if (!pairs || espi_fit_area_blocks(g.n, pairs, n, g.group, &blocks, s->arena))
            return -1;
        for (int i = 0; i < g.n; i++)
            single += group_size(&g, g.group[i]) == 1;
        if (blocks.likelihood > likeliest) {
            likeliest = blocks.likelihood;
            /* hosts one by one are not subsites: that is noise, or their ports */
            for (int i = 0; i < g.n; i++)
                s->above[g.host[i]] = g.host[2 * single <= g.n ? g.group[i] : 0];
            unsure = 2 * single <= g.n && blocks.unsure;
        }
    }
    s->net->subsites_unsure |= unsure;
    espi_arena_release(s->arena, mark);
    return 0;
}

/* ---- numbers ---- */

/* A host that nothing is known of belongs to the first subsite of its site. */
static int number_areas(struct search *s, const unsigned char *split)
{
    struct espi_measured *net = s->net;
    int *number = ESPI_ARENA_NEW(s->arena, int, net->n_hosts);
    net->subsite = ESPI_ARENA_NEW(s->arena, int, net->n_hosts);
    net->subsite_site = ESPI_ARENA_NEW(s->arena, int, net->n_hosts);
    net->first_subsite = ESPI_ARENA_NEW(s->arena, int, (size_t)net->n_sites + 1);
    if (!number || !net->subsite || !net->subsite_site || !net->first_subsite)
        return -1;
    for (int h = 0; h < net->n_hosts; h++)
        number[h] = -1;
    for (int site = 0; site < net->n_sites; site++) {
        net->first_subsite[site] = net->n_subsites;
        for (int h = 0; h < net->n_hosts; h++) {
            if (net->site[h] != site)
                continue;
            int *at = &number[split[site] ? s->above[h] : 0];
            if (*at < net->first_subsite[site]) {
                net->subsite_site[net->n_subsites] = site;
                *at = net->n_subsites++;
            }
            net->subsite[h] = *at;
        }
    }
    net->first_subsite[net->n_sites] = net->n_subsites;
    return 0;
}

int espi_measured_subsites(struct espi_measured *net, struct espi_arena *arena)
{
    struct search s = {.net = net, .arena = arena};
    unsigned char *split = ESPI_ARENA_ZNEW(arena, unsigned char, net->n_sites);
    unsigned char *medium = ESPI_ARENA_ZNEW(arena, unsigned char, net->n_sites);
    net->uneven = ESPI_ARENA_ZNEW(arena, unsigned char, net->n_sites);
    if (!split || !medium || !net->uneven || gather_transfers(&s))
        return -1;
    doubt_few(&s);
    for (int h = 0; h < net->n_hosts; h++)
        s.above[h] = h;
    for (int i = 0, end; i < s.n; i = end) {
        int held_up = 0, held_pairs = 0, site = s.at[i].site;
        for (end = i; end < s.n && s.at[end].site == site; end++) {
            held_up += s.at[end].held_up;
            held_pairs += s.at[end].held_up > s.at[end].fast;
        }
        net->uneven[site] = held_up >= 2;
        /* pairs, not transfers: those across a border are tried again and again */
        medium[site] = held_pairs > 9 * (end - i - held_pairs);
        split[site] = held_up >= 2 && !medium[site] && site_size(net, site) <= SITE_MAX;
        if (split[site] && join_site(&s, &s.at[i], end - i))
            return -1;
    }
    return number_areas(&s, split);
}
