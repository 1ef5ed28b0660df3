/* Rounds that tell whether a platform still describes the network: each of its cables is
 * made what limits, as many at once as do not disturb each other; those that come out
 * otherwise are tried again, alone and by other hosts, for a slow port makes the cables
 * behind it seem slow, too. Last come random sets of transfers, held to the platform with
 * the rates that were found: what these do not explain is something new. */
#include <math.h>
#include <string.h>

#include "measure/probe_impl.h"
#include "measure/recheck.h"

struct rechecking {
    struct espi_probing *p;
    struct espi_recheck now;       /* as of the last look */
    struct esp_platform *planning; /* rates that were too low put right */
    struct espi_platform_flows x;  /* of that one */
    struct esp_platform *expected; /* all that is odd put right */
    struct espi_platform_flows x_expected;
    unsigned char *sends, *receives; /* hosts of the round */
    unsigned char *tries, *held;     /* of resources */
    int *links;                      /* room for a route */
};

/* ---- the transfers of a round ---- */

static int route_uses(struct rechecking *c, int from, int to, int resource, double *least)
{
    const struct esp_platform *p = c->planning;
    int n = espi_platform_route(&c->x, from, to, c->links), uses = 0;
    *least = INFINITY;
    for (int k = 0; k < n; k++) {
        int e = c->links[k];
        uses |= resource == p->n_shared + e;
        if (resource != p->n_shared + e)
            *least = fmin(*least, c->x.capacity[p->n_shared + e]);
        for (int i = 0; i < esp_platform_link_cable_count(p, e); i++) {
            int cable = esp_platform_link_cable(p, e, i);
            uses |= cable == resource;
            if (cable != resource)
                *least = fmin(*least, p->shared_Bps[cable]);
        }
    }
    return uses;
}

/* A host of the job that is this node, or of its site, drawn at random. */
static int draw_host(struct rechecking *c, int node)
{
    const struct espi_probing *p = c->p;
    int start = (int)espi_rng_below(&c->p->rng, (uint32_t)p->n);
    int is_switch = espi_is_switch(c->planning, node),
        site = c->planning->node_site[node];
    for (int i = 0; i < p->n; i++) {
        int host = (start + i) % p->n, other = c->x.node[host];
        if (is_switch ? c->planning->node_site[other] == site : other == node)
            return host;
    }
    return -1;
}

static int draw_link(struct rechecking *c, int resource)
{
    const struct esp_platform *p = c->planning;
    if (resource >= p->n_shared)
        return resource - p->n_shared;
    int n = esp_platform_cable_link_count(p, resource);
    return n ? esp_platform_cable_link(p, resource,
                                       (int)espi_rng_below(&c->p->rng, (uint32_t)n))
             : -1;
}

static double capacity_of(const struct rechecking *c, int resource)
{
    const struct esp_platform *p = c->planning;
    return resource < p->n_shared ? p->shared_Bps[resource]
                                  : p->bandwidth_Bps[resource - p->n_shared];
}

static int is_in_trial(const struct espi_trial *t, int from, int to)
{
    for (int i = 0; i < t->n; i++)
        if (t->pairs[i].from == from && t->pairs[i].to == to)
            return 1;
    return 0;
}

/* A host may be on several transfers of one target, and on those of one target only. */
static int is_free(const unsigned char *taken, int host, int mark)
{
    return !taken[host] || taken[host] == mark;
}

/* A transfer over the resource between hosts that are free, of some drawn at random the
 * one that can fill it best; the pair's from is -1 where there is none. */
static struct espi_trial_pair draw_transfer(struct rechecking *c, int resource, int mark,
                                            double *most)
{
    struct espi_trial_pair best = {.from = -1};
    *most = 0;
    for (int k = 0; k < 8; k++) { /* looks: of draws */
        int link = draw_link(c, resource);
        int from = link < 0 ? -1 : draw_host(c, c->planning->tail[link]);
        int to = link < 0 ? -1 : draw_host(c, c->planning->head[link]);
        double least;
        if (from < 0 || to < 0 || from == to || !is_free(c->sends, from, mark) ||
            !is_free(c->receives, to, mark) || is_in_trial(&c->p->trial, from, to) ||
            !route_uses(c, c->x.node[from], c->x.node[to], resource, &least) ||
            least <= *most)
            continue;
        best.from = from;
        best.to = to;
        *most = least;
    }
    return best;
}

/* Does all that uses it begin or end at one node? */
static int is_port(const struct esp_platform *p, int resource)
{
    if (resource >= p->n_shared)
        return 1;
    if (esp_platform_cable_link_count(p, resource) == 0)
        return 1;
    int first = esp_platform_cable_link(p, resource, 0);
    int last = esp_platform_cable_link(p, resource,
                                       esp_platform_cable_link_count(p, resource) - 1);
    return p->tail[first] == p->tail[last] || p->head[first] == p->head[last];
}

/* Adds transfers that together fill the resource, and half of it once more; or none, 0,
 * where the hosts that are free cannot. */
static int add_target(struct rechecking *c, int resource, int mark)
{
    struct espi_probing *p = c->p;
    double want = 1.5 * capacity_of(c, resource), sum = 0; /* derived: above is_held */
    int first = p->trial.n;
    int few = is_port(c->planning, resource) ? 0 : ESPI_CABLE_FLOWS;
    for (int k = 0; k < 16 && (sum < want || p->trial.n - first < few) &&
                    p->trial.n - first < p->at_once / 2;
         k++) {
        double most;
        struct espi_trial_pair pair = draw_transfer(c, resource, mark, &most);
        if (pair.from < 0)
            continue;
        espi_probe_add(p, pair.from, pair.to);
        c->sends[pair.from] = c->receives[pair.to] = (unsigned char)mark;
        sum += most;
    }
    if (sum >= want)
        return 1;
    for (int i = first; i < p->trial.n; i++) {
        c->sends[p->trial.pairs[i].from] = c->receives[p->trial.pairs[i].to] = 0;
        p->busy[p->trial.pairs[i].from] = p->busy[p->trial.pairs[i].to] = 0;
    }
    p->trial.n = first;
    return 0;
}

/* Runs the round, unless it would tell nothing new. */
static esp_status run_round(struct rechecking *c, int always)
{
    struct espi_probing *p = c->p;
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    struct espi_trial_flow *flows =
        ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, p->trial.n + 1);
    struct espi_round_forecast f;
    int is_new = always;
    if (!flows)
        return espi_err_nomem(p->err);
    for (int i = 0; i < p->trial.n; i++)
        flows[i] = (struct espi_trial_flow){c->x.node[p->trial.pairs[i].from],
                                            c->x.node[p->trial.pairs[i].to], 0};
    if (espi_round_forecast(&c->x, flows, p->trial.n, &f, &p->arena))
        return espi_err_nomem(p->err);
    for (int r = 0; r < f.n; r++)
        if (espi_round_is_held(&f, r)) {
            is_new |= !c->held[f.resource[r]];
            c->held[f.resource[r]] = 1;
        }
    espi_arena_release(&p->arena, mark);
    if (!is_new) {
        espi_probe_forget(p);
        return ESP_OK;
    }
    return espi_probe_expect(p, &c->x_expected)
               ? espi_err_nomem(p->err)
               : espi_probe_run(p, ESPI_TRIAL_FLOWS, espi_probe_seconds(p, &c->x));
}

static void begin_round(struct rechecking *c)
{
    memset(c->sends, 0, (size_t)c->p->n);
    memset(c->receives, 0, (size_t)c->p->n);
}

/* ---- all cables ---- */

/* One round with as many of those that have not been looked at as fit in. Gives how many
 * targets it was made for. */
static int fill_round(struct rechecking *c)
{
    struct espi_probing *p = c->p;
    int targets = 0;
    begin_round(c);
    for (int i = c->now.n_targets - 1; i >= 0; i--) { /* what is shared comes last */
        int r = c->now.target[i];
        if (c->held[r] || c->tries[r] == ESPI_TIMES_MAX || p->trial.n >= p->at_once ||
            targets == 255)
            continue;
        int added = add_target(c, r, targets + 1);
        c->tries[r] += added || !targets; /* else others may have been in its way */
        targets += added;
    }
    return targets;
}

static int count_left(const struct rechecking *c)
{
    int n = 0;
    for (int i = 0; i < c->now.n_targets; i++) {
        int r = c->now.target[i];
        n += !c->held[r] && c->tries[r] < ESPI_TIMES_MAX;
    }
    return n;
}

static esp_status look_at_all(struct rechecking *c)
{
    esp_status status = ESP_OK;
    for (int left; (left = count_left(c)) > 0 && !status && !espi_probe_is_late(c->p);) {
        if (fill_round(c))
            status = run_round(c, 0);
        espi_probe_tell(c->p, 1 - (double)left / c->now.n_targets);
    }
    return status;
}

/* ---- what is off ---- */

static void forget_plan(struct rechecking *c)
{
    esp_platform_free(c->planning);
    esp_platform_free(c->expected);
    c->planning = c->expected = NULL;
}

/* Digests what there is; the arena is emptied, but for what c keeps outside of it. */
static esp_status look_again(struct rechecking *c, const struct esp_platform *file)
{
    struct espi_probing *p = c->p;
    forget_plan(c);
    espi_arena_done(&p->arena);
    esp_status status = espi_recheck_digest(&c->now, file, p->samples, &p->arena, p->err);
    if (!status)
        status = espi_recheck_correct(&c->now, ESPI_RECHECK_RAISED, &c->planning,
                                      &p->arena, p->err);
    if (!status)
        status = espi_recheck_correct(&c->now, ESPI_RECHECK_ODD_ONES, &c->expected,
                                      &p->arena, p->err);
    c->links = ESPI_ARENA_NEW(&p->arena, int, file->n_nodes);
    if (!status &&
        (!c->links ||
         espi_platform_flows_init(&c->x, c->planning, p->samples, &p->arena) ||
         espi_platform_flows_init(&c->x_expected, c->expected, p->samples, &p->arena)))
        status = espi_err_nomem(p->err);
    return status;
}

/* Each of those that are off alone; a rate that is too low is found step by step. */
static esp_status look_at_odd(struct rechecking *c, const struct esp_platform *file)
{
    esp_status status = look_again(c, file);
    for (int times = 1; times < ESPI_TIMES_MAX && !status; times++) {
        for (int i = c->now.n_targets - 1; i >= 0 && !status; i--) {
            if (!espi_recheck_is_odd(&c->now, c->now.target[i]) ||
                espi_probe_is_late(c->p))
                continue;
            begin_round(c);
            if (add_target(c, c->now.target[i], 1))
                status = run_round(c, 1);
        }
        if (!status)
            status = look_again(c, file);
    }
    return status;
}

/* ---- what is new ---- */

static esp_status look_for_more(struct rechecking *c)
{
    struct espi_probing *p = c->p;
    struct esp_platform *right = NULL;
    struct espi_platform_flows x;
    esp_status status =
        espi_recheck_correct(&c->now, ESPI_RECHECK_OFF, &right, &p->arena, p->err);
    if (!status)
        status = espi_platform_flows_init(&x, right, p->samples, &p->arena)
                     ? espi_err_nomem(p->err)
                     : espi_probe_random_sets(p, &x);
    esp_platform_free(right);
    return status;
}

/* ---- the whole ---- */

static esp_status run_recheck(struct rechecking *c, const struct esp_platform *file,
                              struct espi_arena *fixed)
{
    struct espi_probing *p = c->p;
    size_t n = (size_t)p->n, resources = (size_t)file->n_shared + (size_t)file->n_links;
    c->sends = ESPI_ARENA_ZNEW(fixed, unsigned char, n);
    c->receives = ESPI_ARENA_ZNEW(fixed, unsigned char, n);
    c->tries = ESPI_ARENA_ZNEW(fixed, unsigned char, resources + 1);
    c->held = ESPI_ARENA_ZNEW(fixed, unsigned char, resources + 1);
    if (!c->sends || !c->receives || !c->tries || !c->held)
        return espi_err_nomem(p->err);
    esp_status status = look_again(c, file);
    if (!status) {
        espi_probe_begin_stage(p, "ports and cables", ESPI_RECHECK_ALL);
        status = look_at_all(c);
    }
    if (!status) {
        espi_probe_begin_stage(p, "what is off", ESPI_RECHECK_ODD);
        status = look_at_odd(c, file);
    }
    if (!status) {
        espi_probe_begin_stage(p, "how well this predicts", 1);
        status = look_for_more(c);
    }
    return status;
}

esp_status espi_probe_recheck(const struct espi_probe_driver *prober,
                              const struct esp_platform *file,
                              struct espi_samples *samples, struct esp_err *err)
{
    struct espi_probing p;
    struct espi_arena fixed;
    if (espi_samples_hosts(samples) < 2)
        return espi_err(err, ESP_EINPUT, "there are not two hosts to check");
    espi_arena_init(&fixed);
    esp_status status = espi_probing_init(&p, prober, samples, &fixed, err);
    struct rechecking c = {.p = &p};
    if (!status)
        status = run_recheck(&c, file, &fixed);
    forget_plan(&c);
    espi_probing_done(&p);
    espi_arena_done(&fixed);
    return status;
}
