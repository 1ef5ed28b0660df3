/* Rounds that fill what transfers between sites may share.
 *
 * A way is some pairs of sites whose transfers may share something: the route of each
 * leads over one wire, as far as latencies say, or all leave one site, or all enter it.
 * Where the network known so far lets clearly more over a way than was ever seen there,
 * it has not been tried: such transfers run, those of near sites first, until they would
 * be twice as much. What then comes out less is a limit; otherwise more was seen. Ways
 * whose transfers have no host in common are filled at the same time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/probe_impl.h"
#include "measure/routes.h"

struct way {
    int *pairs; /* from site * n_sites + to site, the nearest first */
    int n;
    double seen_Bps; /* the most that was on it in a round */
    int done;
};

enum { TURNS_MAX = 24 }; /* limit: transfers double with each */

struct ways {
    struct way *at;
    int n;
    const int *members, *start; /* of sites */
    struct espi_trial_flow *flows;
    double *Bps;
    int n_flows;
};

/* ---- which ways there are ---- */

static double seen_most(const struct espi_measured *net, const struct way *w,
                        unsigned char *has)
{
    const struct espi_trial_rounds *r = &net->rounds;
    int s = net->n_sites;
    double most = 0;
    for (int i = 0; i < w->n; i++)
        has[w->pairs[i]] = 1;
    for (int k = 0; k < r->n; k++) {
        double sum = 0;
        for (int i = r->start[k]; i < r->start[k + 1]; i++)
            if (has[net->site[r->flows[i].from] * s + net->site[r->flows[i].to]])
                sum += r->flows[i].Bps;
        most = fmax(most, sum);
    }
    for (int i = 0; i < w->n; i++)
        has[w->pairs[i]] = 0;
    return most;
}

struct near_pair {
    double latency_s;
    int key;
};

static int by_nearness(const void *x, const void *y)
{
    const struct near_pair *a = x, *b = y;
    if (a->latency_s != b->latency_s)
        return a->latency_s < b->latency_s ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* The pairs of sites that are on the way number k: wires, then what leaves sites, then
 * what enters them. Gives how many there are. */
static int pairs_of_way(const struct espi_site_routes *routes, int k, int *pairs)
{
    int s = routes->n, n = 0;
    if (k < s * s) {
        for (int i = routes->over_start[k]; i < routes->over_start[k + 1]; i++)
            pairs[n++] = routes->over[i];
        return n;
    }
    k -= s * s;
    for (int other = 0; other < s; other++)
        if (other != k % s)
            pairs[n++] = k < s ? k * s + other : other * s + k - s;
    return n;
}

static int list_way(struct espi_probing *p, struct ways *ways,
                    const struct espi_site_routes *routes, int k, struct near_pair *room,
                    unsigned char *has, int *pairs)
{
    int n = pairs_of_way(routes, k, pairs);
    for (int i = 0; i < n; i++)
        room[i] = (struct near_pair){p->net.site_latency_s[pairs[i]], pairs[i]};
    if (n == 0)
        return 0;
    struct way *w = &ways->at[ways->n];
    *w = (struct way){.pairs = ESPI_ARENA_NEW(&p->arena, int, n), .n = n};
    if (!w->pairs)
        return -1;
    qsort(room, (size_t)n, sizeof *room, by_nearness);
    for (int i = 0; i < n; i++)
        w->pairs[i] = room[i].key;
    w->seen_Bps = seen_most(&p->net, w, has);
    ways->n++;
    return 0;
}

static int list_ways(struct espi_probing *p, struct ways *ways)
{
    int s = p->net.n_sites;
    size_t cells = (size_t)s * (size_t)s;
    struct espi_site_routes routes;
    int *start;
    struct near_pair *room = ESPI_ARENA_NEW(&p->arena, struct near_pair, cells);
    unsigned char *has = ESPI_ARENA_ZNEW(&p->arena, unsigned char, cells);
    int *pairs = ESPI_ARENA_NEW(&p->arena, int, cells);
    *ways = (struct ways){.n = 0};
    ways->at = ESPI_ARENA_NEW(&p->arena, struct way, cells + 2 * (size_t)s);
    ways->flows = ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, p->room);
    ways->Bps = ESPI_ARENA_NEW(&p->arena, double, p->room);
    ways->members = espi_probe_members(p, &start);
    ways->start = start;
    if (!room || !has || !pairs || !ways->at || !ways->flows || !ways->Bps ||
        !ways->members || espi_site_routes_find(&routes, &p->net, 0, &p->arena))
        return -1;
    for (int k = 0; k < s * s + 2 * s; k++)
        if (list_way(p, ways, &routes, k, room, has, pairs))
            return -1;
    return 0;
}

/* ---- filling one ---- */

/* Adds transfers between two sites, in each turn as many as in all turns before and one
 * more, each between other hosts, as far as these are free of the others of the trial.
 * Few transfers fill what they share as well as many do, and many on a thin link lose
 * packets and get rates by chance. */
static void add_turn(struct espi_probing *p, struct ways *ways, int key, int turn)
{
    int s = p->net.n_sites, a = key / s, b = key % s;
    int senders = ways->start[a + 1] - ways->start[a];
    int receivers = ways->start[b + 1] - ways->start[b];
    int round = senders > receivers ? senders : receivers; /* all hosts have one */
    int first = (1 << turn) - 1, end = 2 * first + 1;
    if (end > senders * receivers)
        end = senders * receivers;
    for (int k = first; k < end && p->trial.n + ways->n_flows < 4 * p->at_once; k++) {
        int from = ways->members[ways->start[a] + k % round % senders];
        int to = ways->members[ways->start[b] + (k % round + k / round) % receivers];
        if (!(p->busy[from] & 1) && !(p->busy[to] & 2))
            ways->flows[ways->n_flows++] = (struct espi_trial_flow){from, to, 0};
    }
}

/* What the transfers of the way get together, as far as is known; -1: no memory. */
static double predict_way(struct espi_probing *p, struct ways *ways)
{
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    double sum = 0;
    int status =
        espi_measured_predict(&p->net, ways->flows, ways->n_flows, ways->Bps, &p->arena);
    espi_arena_release(&p->arena, mark);
    for (int i = 0; i < ways->n_flows; i++)
        sum += ways->Bps[i];
    return status ? -1 : sum;
}

/* Lists transfers that would fill it; gives what they would get, -1: no memory. Stops
 * where more transfers do not get more. */
static double list_filling(struct espi_probing *p, struct ways *ways, const struct way *w)
{
    double sum = 0, before;
    int turn = 0, predicted = 0;
    ways->n_flows = 0;
    do {
        before = sum;
        for (int i = 0; i < w->n && sum >= 0 && sum < 2 * w->seen_Bps; i++) {
            add_turn(p, ways, w->pairs[i], turn);
            if (4 * ways->n_flows < 5 * predicted && i + 1 < w->n)
                continue; /* a quarter more is worth a look */
            predicted = ways->n_flows;
            sum = predict_way(p, ways);
        }
        turn++;
    } while (sum > before * (1 + ESPI_SPREAD) && sum < 2 * w->seen_Bps &&
             turn < TURNS_MAX);
    return sum;
}

/* Adds what fills the ways that have not been tried and have no host in common. -1 when
 * out of memory. */
static int add_fillings(struct espi_probing *p, struct ways *ways)
{
    for (int k = 0; k < ways->n; k++) {
        struct way *w = &ways->at[k];
        int alone = p->trial.n == 0;
        double sum = w->done ? 0 : list_filling(p, ways, w);
        if (sum < 0)
            return -1;
        if (sum > w->seen_Bps * (1 + 3 * ESPI_SPREAD)) {
            for (int i = 0; i < ways->n_flows; i++)
                espi_probe_add(p, ways->flows[i].from, ways->flows[i].to);
            w->done = 1;
        } else if (alone) {
            w->done = 1; /* nothing to be seen */
        }
    }
    return 0;
}

/* Gives how many rounds ran in *ran. */
static esp_status fill_once(struct espi_probing *p, int *ran)
{
    struct ways ways;
    esp_status status = ESP_OK;
    *ran = 0;
    if (list_ways(p, &ways))
        return espi_err_nomem(p->err);
    while (!status && !espi_probe_is_late(p)) {
        if (add_fillings(p, &ways))
            return espi_err_nomem(p->err);
        if (p->trial.n == 0)
            break;
        status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
        ++*ran;
    }
    return status;
}

esp_status espi_probe_fill_ways(struct espi_probing *p, int *any)
{
    esp_status status = ESP_OK;
    *any = 0;
    for (int ran = 1; ran && !status && !espi_probe_is_late(p);) {
        status = fill_once(p, &ran);
        *any |= ran > 0;
        if (ran && !status)
            status = espi_probe_look(p);
    }
    return status;
}
