/* Simulates redundant plans: the race in the reality, then the repair of what it left. */
#include <math.h>

#include "base/err.h"
#include "platform/view.h"
#include "sim/race.h"
#include "sim/repair.h"

struct contest {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    const struct esp_sim_options *options;
    struct espi_arena *arena;
    struct espi_path_sim path_sim;
    struct espi_race race;
    struct espi_send *sends;
    int n_sends;
    struct espi_repair repair;
    double raced_s; /* the last arrival before the repair */
    int covered;    /* hosts that never stop and had the message then */
};

/* The paths of all transfers, first tree first. */
static esp_status lay_course(struct contest *c, struct esp_err *err)
{
    const struct esp_plan *plan = c->plan;
    size_t n = 0, n_hops = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        n += (size_t)plan->trees[t].n_edges;
        for (int i = 0; i < plan->trees[t].n_edges; i++)
            n_hops += (size_t)plan->trees[t].edges[i].n_hops;
    }
    if (n > INT32_MAX / 4 || n_hops > INT32_MAX / 4)
        return espi_err(err, ESP_EUNSUPPORTED, "the plan is too large to be simulated");
    int *start = ESPI_ARENA_NEW(c->arena, int, n + 1);
    int *hops = ESPI_ARENA_NEW(c->arena, int, n_hops), at = 0, path = 0;
    if (!start || !hops)
        return espi_err_nomem(err);
    for (int t = 0; t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++) {
            const struct esp_edge *e = &plan->trees[t].edges[i];
            start[path++] = at;
            for (int k = 0; k < e->n_hops; k++)
                hops[at++] = plan->trees[t].hops[e->first_hop + k];
        }
    start[path] = at;
    struct espi_paths paths = {path, start, hops};
    c->n_sends = path;
    return espi_path_sim_init(&c->path_sim, c->p, plan, c->options, &paths, c->arena,
                              err);
}

static int list_sends(struct contest *c)
{
    int at = 0;
    c->sends = ESPI_ARENA_NEW(c->arena, struct espi_send, c->n_sends);
    if (!c->sends)
        return -1;
    for (int t = 0; t < c->plan->n_trees; t++)
        for (int i = 0; i < c->plan->trees[t].n_edges; i++, at++) {
            const struct esp_tree *tree = &c->plan->trees[t];
            const struct esp_edge *e = &tree->edges[i];
            struct espi_path_time believed = espi_path_time(
                c->p, c->path_sim.prog.size_bytes, tree->hops + e->first_hop, e->n_hops);
            c->sends[at] = (struct espi_send){
                c->path_sim.prog.rank[e->from], c->path_sim.prog.rank[e->to], t,
                believed.lag_s, espi_path_sim_lag_s(&c->path_sim, at)};
        }
    return 0;
}

static double alpha_s(const struct contest *c)
{
    double sum_s = 0;
    int n = c->plan->trees[0].n_edges;
    for (int i = 0; i < n; i++)
        sum_s += c->sends[i].real_s;
    return c->options->alpha_s + (n ? c->options->alpha * sum_s / n : 0);
}

static double timeout(const struct contest *c)
{
    return c->options->timeout > 0 ? c->options->timeout : 3;
}

static double patience(const struct contest *c)
{
    double asked = c->options->patience;
    return asked > 0 ? asked : asked < 0 ? 0 : c->plan->patience;
}

static void tell_transfer(struct contest *c, const struct esp_sim_transfer *transfer)
{
    c->path_sim.sim.transfers++;
    if (c->options->on_transfer)
        c->options->on_transfer(c->options->arg, transfer);
}

static void tell_race(void *contest, int send, double start_s, double end_s, int lost)
{
    struct contest *c = contest;
    const struct espi_send *s = &c->sends[send];
    const int *node = c->path_sim.prog.node;
    espi_path_sim_use(&c->path_sim, send, end_s - start_s);
    tell_transfer(c, &(struct esp_sim_transfer){node[s->from], node[s->to], s->tree, 0,
                                                start_s, end_s, lost});
}

static void tell_repair(void *contest, int from, int to, double start_s, double end_s,
                        int lost)
{
    struct contest *c = contest;
    const int *node = c->path_sim.prog.node;
    tell_transfer(c, &(struct esp_sim_transfer){node[from], node[to], c->plan->n_trees, 0,
                                                start_s, end_s, lost});
}

static int run_race(struct contest *c)
{
    struct espi_sim *sim = &c->path_sim.sim;
    int n = c->path_sim.prog.n_ranks;
    struct espi_race_rules rules = {
        .alpha_s = alpha_s(c),
        .policy = c->options->policy,
        .resume = c->options->resume,
        .patience = patience(c),
        .timeout = timeout(c),
        .stop_s = sim->stop_s,
        .arrival = espi_path_sim_arrival_s,
        .arg = &c->path_sim,
        .on_transfer = tell_race,
        .on_transfer_arg = c,
    };
    if (espi_race_init(&c->race, n, c->n_sends, c->arena))
        return -1;
    espi_race_run(&c->race, n, c->path_sim.prog.root, c->sends, c->n_sends, &rules);
    sim->events = c->race.n_events;
    for (int r = 0; r < n; r++)
        sim->delivered_s[r] = c->race.delivered_s[r];
    c->raced_s = espi_race_makespan_s(&c->race);
    c->covered = espi_race_covered(&c->race);
    return 0;
}

static esp_status run_repair(struct contest *c, struct esp_err *err)
{
    const struct espi_sim *sim = &c->path_sim.sim;
    int live = 0;
    for (int r = 0; r < c->path_sim.prog.n_ranks; r++)
        live += !isfinite(sim->stop_s[r]);
    if (c->covered == live || c->options->no_repair)
        return ESP_OK;
    c->repair = (struct espi_repair){
        .p = c->p,
        .plan = c->plan,
        .options = c->options,
        .path_sim = &c->path_sim,
        .timeout = timeout(c),
        .ready_s = c->race.busy_until_s,
        .delivered_s = sim->delivered_s,
        .on_transfer = tell_repair,
        .arg = c,
    };
    return espi_repair(&c->repair, c->arena, err);
}

static esp_status check_options(const struct esp_sim_options *o, struct esp_err *err)
{
    if (o->sharing == ESP_SHARING_FLUID)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "redundant plans are simulated with exclusive sharing only");
    if (!(o->alpha_s >= 0 && isfinite(o->alpha_s)) ||
        !(o->alpha >= 0 && isfinite(o->alpha)) || !isfinite(o->patience) ||
        !(o->timeout >= 0 && isfinite(o->timeout)))
        return espi_err(
            err, ESP_EUSAGE,
            "alpha and the timeout of a race must be finite and not negative");
    return ESP_OK;
}

esp_status espi_simulate_redundant(const struct esp_platform *p,
                                   const struct esp_plan *plan,
                                   const struct esp_sim_options *options,
                                   struct espi_arena *arena, struct esp_sim_result **out,
                                   struct esp_err *err)
{
    struct contest c = {.p = p, .plan = plan, .options = options, .arena = arena};
    struct esp_sim_result *result = NULL;
    esp_status st = check_options(options, err);
    if (!st)
        st = lay_course(&c, err);
    if (!st && (list_sends(&c) || run_race(&c)))
        st = espi_err_nomem(err);
    if (!st)
        st = run_repair(&c, err);
    if (!st)
        st = espi_sim_report(&c.path_sim.sim, plan, &result, err);
    if (st)
        return st;
    result->raced_s = c.raced_s;
    result->covered = c.covered;
    result->adopted = c.repair.adopted;
    result->pauses = c.race.n_pauses;
    result->switches = c.race.n_switches;
    *out = result;
    return ESP_OK;
}
