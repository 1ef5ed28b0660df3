/* The last rounds: random sets of transfers that no fit uses, to see how well what was
 * found predicts them. Where it does not, they are samples like all others after all, the
 * network is digested anew, and other sets are drawn. */
#include <math.h>

#include "base/portable_math.h"
#include "measure/platform_flows.h"
#include "measure/probe_impl.h"
#include "measure/self_check.h"

/* Adds transfers between hosts drawn at random, none twice. */
static void add_random_set(struct espi_probing *p)
{
    int most = 2 * p->n < p->at_once ? 2 * p->n : p->at_once;
    int n = 1 + (int)espi_rng_below(&p->rng, (uint32_t)most);
    for (int i = 0; i < n; i++) {
        int from = (int)espi_rng_below(&p->rng, (uint32_t)p->n), known = 0;
        int to = (int)espi_rng_below(&p->rng, (uint32_t)p->n - 1);
        to += to >= from;
        for (int k = 0; k < p->trial.n; k++)
            known |= p->trial.pairs[k].from == from && p->trial.pairs[k].to == to;
        if (!known)
            espi_probe_add(p, from, to);
    }
}

/* Samples from that one on are of this kind instead. */
static void change_kind(struct espi_samples *s, size_t first, enum espi_sample_kind was,
                        enum espi_sample_kind is)
{
    for (size_t i = first; i < s->n; i++)
        if (s->at[i].kind == was)
            s->at[i].kind = is;
}

double espi_probe_seconds(const struct espi_probing *p,
                          const struct espi_platform_flows *x)
{
    const int *site = x->p->node_site;
    for (int i = 0; i < p->trial.n; i++)
        if (site[x->node[p->trial.pairs[i].from]] != site[x->node[p->trial.pairs[i].to]])
            return ESPI_PROBE_FAR_S;
    return ESPI_PROBE_NEAR_S;
}

static double route_latency_s(struct espi_platform_flows *x, int from, int to, int *links)
{
    double latency_s = 0;
    int n = espi_platform_route(x, from, to, links);
    for (int k = 0; k < n; k++)
        latency_s += x->p->latency_s[links[k]];
    return latency_s;
}

/* Not what each would get alone: with more under way than its share, transfers take turns
 * on a cable, and each seems as fast as when it is its turn. */
int espi_probe_expect(struct espi_probing *p, struct espi_platform_flows *x)
{
    struct espi_trial *t = &p->trial;
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    int *links = ESPI_ARENA_NEW(&p->arena, int, x->p->n_nodes);
    struct espi_trial_flow *flows =
        ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, t->n + 1);
    struct espi_round_forecast f;
    if (!links || !flows)
        return -1;
    for (int i = 0; i < t->n; i++)
        flows[i] = (struct espi_trial_flow){x->node[t->pairs[i].from],
                                            x->node[t->pairs[i].to], 0};
    if (espi_round_forecast(x, flows, t->n, &f, &p->arena))
        return -1;
    for (int i = 0; i < t->n; i++) {
        struct espi_trial_pair *pair = &t->pairs[i];
        if (pair->expect_Bps < 0)
            pair->expect_Bps = f.rate[i];
        if (pair->latency_s < 0)
            pair->latency_s = route_latency_s(x, flows[i].from, flows[i].to, links);
    }
    espi_arena_release(&p->arena, mark);
    return 0;
}

static esp_status run_check(struct espi_probing *p, struct espi_platform_flows *x)
{
    size_t first = p->samples->n;
    if (espi_probe_expect(p, x))
        return espi_err_nomem(p->err);
    esp_status status = espi_probe_run(p, ESPI_TRIAL_FLOWS, espi_probe_seconds(p, x));
    change_kind(p->samples, first, ESPI_SAMPLE_RATE, ESPI_SAMPLE_CHECK);
    return status;
}

/* The samples of a set, as it first ran. */
struct check_set {
    size_t first, end;
    int surprising;
};

struct check_sets {
    struct check_set *at;
    int n, transfers;
};

/* Are some of the samples from that one on, all of one round, a surprise? -1 when out of
 * memory. */
static int surprises(struct espi_probing *p, struct espi_platform_flows *x, size_t first)
{
    const struct espi_samples *s = p->samples;
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    struct espi_round_forecast f;
    struct espi_trial_flow *flows =
        ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, s->n - first + 1);
    int n = 0, any = 0;
    if (!flows)
        return -1;
    for (size_t i = first; i < s->n; i++)
        if (s->at[i].kind == ESPI_SAMPLE_CHECK)
            flows[n++] = (struct espi_trial_flow){x->node[s->at[i].from],
                                                  x->node[s->at[i].to], s->at[i].value};
    if (espi_round_forecast(x, flows, n, &f, &p->arena))
        return -1;
    for (int i = 0; i < n; i++)
        any |= fabs(espi_log(flows[i].Bps / f.rate[i])) > ESPI_SURPRISE;
    espi_arena_release(&p->arena, mark);
    return any;
}

static esp_status run_set(struct espi_probing *p, struct espi_platform_flows *x,
                          struct check_set *set)
{
    size_t first = p->samples->n;
    esp_status status = run_check(p, x);
    int any = status ? 0 : surprises(p, x, first);
    set->surprising += any;
    return any < 0 ? espi_err_nomem(p->err) : status;
}

/* Sets until there are enough of them, and of transfers, or half of the time is up. */
static esp_status run_new_sets(struct espi_probing *p, struct espi_platform_flows *x,
                               struct check_sets *sets)
{
    double half_s = espi_probe_left_s(p) / 2;
    esp_status status = ESP_OK;
    while ((sets->n < ESPI_CHECK_SETS || sets->transfers < ESPI_CHECK_TRANSFERS) &&
           !status && espi_probe_left_s(p) > half_s) {
        struct check_set *set = &sets->at[sets->n++];
        *set = (struct check_set){.first = p->samples->n};
        add_random_set(p);
        sets->transfers += p->trial.n;
        status = run_set(p, x, set);
        set->end = p->samples->n;
        espi_probe_tell(p, 0.5 * sets->n / ESPI_CHECK_SETS); /* looks: of the progress */
    }
    return status;
}

/* The sets once more, for a disturbance does not come again; a third time those of which
 * it is not clear which of the two runs was disturbed. */
static esp_status run_sets_again(struct espi_probing *p, struct espi_platform_flows *x,
                                 struct check_sets *sets)
{
    esp_status status = ESP_OK;
    for (int k = 0; k < 2 * sets->n && !status && !espi_probe_is_late(p); k++) {
        struct check_set *set = &sets->at[k % sets->n];
        if (k >= sets->n && !set->surprising)
            continue;
        for (size_t i = set->first; i < set->end; i++)
            if (p->samples->at[i].kind == ESPI_SAMPLE_CHECK)
                espi_probe_add(p, p->samples->at[i].from, p->samples->at[i].to);
        status = run_set(p, x, set);
    }
    return status;
}

esp_status espi_probe_random_sets(struct espi_probing *p, struct espi_platform_flows *x)
{
    struct check_sets sets = {0};
    sets.at = ESPI_ARENA_NEW(&p->arena, struct check_set,
                             ESPI_CHECK_SETS + ESPI_CHECK_TRANSFERS);
    esp_status status = sets.at ? run_new_sets(p, x, &sets) : espi_err_nomem(p->err);
    return status ? status : run_sets_again(p, x, &sets);
}

static esp_status check_once(struct espi_probing *p, struct esp_measurement *out,
                             int *surprises)
{
    struct esp_platform *found = NULL;
    struct espi_platform_flows x;
    esp_status status = espi_measured_platform(&p->net, "", ESPI_MEASURED_DIRECT_MAX,
                                               &found, &p->arena, p->err);
    if (status)
        return status;
    status = espi_platform_flows_init(&x, found, p->samples, &p->arena)
                 ? espi_err_nomem(p->err)
                 : espi_probe_random_sets(p, &x);
    if (!status && espi_self_check(found, p->samples, out, surprises, &p->arena))
        status = espi_err_nomem(p->err);
    esp_platform_free(found);
    return status;
}

esp_status espi_probe_self_check(struct espi_probing *p)
{
    esp_status status = espi_probe_look(p);
    for (int times = 0; !status; times++) {
        size_t first = p->samples->n;
        struct esp_measurement m;
        int surprises = 0;
        double left_s = espi_probe_left_s(p);
        status = check_once(p, &m, &surprises);
        double took_s = left_s - espi_probe_left_s(p);
        if (status || (!espi_measurement_is_bad(&m) && !surprises) ||
            times == ESPI_CHECKS_MAX ||
            espi_probe_left_s(p) < 2 * took_s) /* to learn, and to check again */
            break;
        change_kind(p->samples, first, ESPI_SAMPLE_CHECK, ESPI_SAMPLE_RATE);
        status = espi_probe_look(p);
        if (!status)
            status = espi_probe_settle_doubts(p);
    }
    espi_probe_tell(p, 1);
    return status;
}
