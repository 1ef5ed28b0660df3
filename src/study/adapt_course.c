#include "study/adaptive.h"

#include <math.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/rng.h"
#include "platform/platform.h"
#include "study/advised_job.h"
#include "study/arrivals.h"
#include "study/probed_gap.h"

enum { CALLS = ESPI_ADAPT_CALLS, MANY = ESPI_ADAPT_MANY, SPELLS = 64 };
enum { PLANS_A_GAP = 3 }; /* as there is time for between two calls */

#define SLICE_BYTES 65024.0
#define KNOWN_FOR_S 300.0 /* what Mateescu's tree is made of */

const char *const espi_adapt_names[MANY] = {
    "native (binomial)", "hierarchical",      "hierarchical, sliced", "Mateescu, dynamic",
    "espalier static",   "espalier adaptive", "adaptive, with probes"};

esp_status espi_adapt_grid(struct esp_platform **out, struct esp_err *err)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;

    esp_sites_options_defaults(&o);
    esp_status status = esp_sites_options_preset(&o, "teragrid", err);
    o.lan_Bps = 12.5e6;
    o.site_Bps = 12.5e6;
    o.wan_Bps = 3.75e6;
    o.switches = 1;
    if (status == ESP_OK)
        status = esp_generate_sites(&o, &p, err);
    /* The links of hosts are their ports, and several slices are under way at once. */
    if (status == ESP_OK)
        status = esp_platform_with_model(p, ESP_MODEL_CAPACITY, out, err);
    esp_platform_free(p);
    return status;
}

/* ---- loads ---- */

static const struct {
    const char *from, *to;
} targets[] = {{"sdsc-router", "anl-router"},
               {"anl-router", "anl-c3-switch"},
               {"anl-c3-switch", "anl-router"}};

struct spell {
    double from_s, to_s, factor;
    int link;
};

struct weather {
    struct spell spell[SPELLS];
    int n;
};

static void draw_weather(struct weather *w, const struct esp_platform *p,
                         struct espi_rng *rng, double until_s)
{
    double at_s = espi_rng_range(rng, 60, 240);

    w->n = 0;
    while (at_s < until_s && w->n < SPELLS) {
        int which = (int)espi_rng_below(rng, 3);
        double lasts_s = espi_rng_range(rng, 360, 480);
        int link =
            esp_platform_find_link(p, esp_platform_find_node(p, targets[which].from),
                                   esp_platform_find_node(p, targets[which].to));
        w->spell[w->n++] =
            (struct spell){at_s, at_s + lasts_s, 1 - espi_rng_range(rng, 0.5, 0.9), link};
        at_s += lasts_s + espi_rng_range(rng, 240, 420);
    }
}

/* What loads leave of a link at that time. */
static double factor_at(const struct weather *w, int link, double at_s)
{
    double factor = 1;

    for (int i = 0; i < w->n; i++)
        if (w->spell[i].link == link && at_s >= w->spell[i].from_s &&
            at_s < w->spell[i].to_s)
            factor *= w->spell[i].factor;
    return factor;
}

/* The network at that time; *loaded: is there any load? */
static esp_status reality_at(const struct esp_platform *p, const struct weather *w,
                             double at_s, int *loaded, struct esp_platform **out,
                             struct esp_err *err)
{
    double *factor = ESPI_NEW(double, p->n_links);

    if (!factor)
        return espi_err_nomem(err);
    *loaded = 0;
    for (int e = 0; e < p->n_links; e++) {
        factor[e] = factor_at(w, e, at_s);
        *loaded |= factor[e] < 1;
    }
    esp_status status = espi_platform_scaled(p, factor, factor, out, err);
    espi_free(factor);
    return status;
}

/* ---- broadcasts ---- */

enum { PLAIN, PROBING, JOBS };

struct course {
    const struct esp_platform *p;
    int root;
    struct weather weather;
    struct esp_sim_options fluid; /* by which plans are judged */
    struct espi_advised_job job[JOBS];
    struct espi_probed_net probed;
    double quiet_s;             /* since when nobody calls */
    struct esp_plan *unloaded;  /* for this call, on the network without load */
    struct esp_platform *known; /* to Mateescu */
    double known_s;
    struct esp_err *err;
};

static esp_status plan_with(const struct course *c, const struct esp_platform *p,
                            const char *algo, double bytes, double slice_bytes,
                            struct esp_plan **plan)
{
    struct esp_request request;

    esp_request_init(&request, c->root);
    request.algo = algo;
    request.size_bytes = bytes;
    request.slice_bytes = slice_bytes;
    return esp_plan_make(p, &request, plan, c->err);
}

/* What an advisor says that has heard nothing. */
static esp_status plan_static(struct course *c, double bytes)
{
    struct espi_advisor_options options = {.work = 1,
                                           .is_quick = 1,
                                           .seed = 1,
                                           .judge = esp_judge_by_simulation,
                                           .judge_arg = &c->fluid};
    struct espi_advisor *advisor;
    struct espi_advice advice;
    esp_status status = espi_advisor_create(c->p, &options, &advisor, c->err);

    if (status != ESP_OK)
        return status;
    status = espi_advisor_plan_for(advisor, c->root, bytes, 0, &advice, c->err);
    if (status == ESP_OK) {
        esp_plan_free(c->unloaded);
        c->unloaded = advice.plan;
    }
    espi_advisor_free(advisor);
    return status;
}

/* ---- the contestants ---- */

static esp_status run_plain(struct course *c, enum espi_adapt_who who,
                            const struct esp_platform *reality, double bytes,
                            double *took_s)
{
    struct esp_plan *plan = NULL;
    esp_status status;

    if (who == ESPI_ADAPT_STATIC)
        return espi_arrivals_time(c->p, c->unloaded, reality, bytes, took_s, c->err);
    if (who == ESPI_ADAPT_MATEESCU)
        status = plan_with(c, c->known, "mateescu", bytes, 0, &plan);
    else
        status =
            plan_with(c, c->p, who == ESPI_ADAPT_NATIVE ? "binomial" : "hierarchical",
                      bytes, who == ESPI_ADAPT_SLICED ? SLICE_BYTES : 0, &plan);
    if (status == ESP_OK)
        status = espi_arrivals_time(c->p, plan, reality, bytes, took_s, c->err);
    esp_plan_free(plan);
    return status;
}

/* What a train gets of a link, which loads have. */
static double link_Bps(const void *arg, int link, double now_s)
{
    const struct course *c = arg;

    return c->p->bandwidth_Bps[link] * factor_at(&c->weather, link, now_s);
}

static esp_status probe_until_call(struct course *c, struct espi_adapt_call *call)
{
    struct espi_probed_gap gap = {.from_s = c->quiet_s, .until_s = call->at_s};
    esp_status status = espi_probe_gap(&c->probed, c->job[PROBING].advisor, &gap, c->err);

    call->probes = gap.probes;
    call->probes_s = gap.late_s;
    return status;
}

/* ---- the course ---- */

static esp_status renew_known(struct course *c, double now_s)
{
    esp_status status = ESP_OK;
    int loaded;

    while (now_s >= c->known_s + KNOWN_FOR_S && status == ESP_OK) {
        struct esp_platform *fresh = NULL;
        c->known_s += KNOWN_FOR_S;
        status = reality_at(c->p, &c->weather, c->known_s, &loaded, &fresh, c->err);
        if (status == ESP_OK) {
            esp_platform_free(c->known);
            c->known = fresh;
        }
    }
    return status;
}

static esp_status run_one(struct course *c, enum espi_adapt_who who,
                          const struct esp_platform *reality, int number,
                          struct espi_adapt_call *call)
{
    double *took_s = &call->took_s[who];

    if (who != ESPI_ADAPT_ADAPTIVE && who != ESPI_ADAPT_PROBING)
        return run_plain(c, who, reality, call->bytes, took_s);
    struct espi_advised_job *j = &c->job[who == ESPI_ADAPT_PROBING ? PROBING : PLAIN];
    const struct espi_job_call job_call = {.net = c->p,
                                           .reality = reality,
                                           .fallback = c->unloaded,
                                           .number = (uint64_t)number,
                                           .now_s = call->at_s,
                                           .bytes = call->bytes};
    esp_status status = espi_advised_job_call(j, &job_call, took_s, c->err);
    if (who == ESPI_ADAPT_PROBING)
        *took_s += call->probes_s;
    return status;
}

static esp_status run_call(struct course *c, int number, struct espi_adapt_call *call)
{
    struct esp_platform *reality = NULL;
    esp_status status =
        reality_at(c->p, &c->weather, call->at_s, &call->loaded, &reality, c->err);

    if (status == ESP_OK)
        status = renew_known(c, call->at_s);
    if (status == ESP_OK)
        status = plan_static(c, call->bytes);
    if (status == ESP_OK)
        status = probe_until_call(c, call);
    for (int i = 0; i < JOBS && status == ESP_OK; i++)
        status = espi_advised_job_advise(&c->job[i], PLANS_A_GAP, call->at_s, c->err);
    for (int k = 0; k < MANY && status == ESP_OK; k++)
        status = run_one(c, (enum espi_adapt_who)k, reality, number, call);
    c->quiet_s = call->at_s + call->took_s[ESPI_ADAPT_PROBING];
    esp_platform_free(reality);
    return status;
}

static esp_status begin_jobs(struct course *c, uint64_t seed)
{
    struct espi_advisor_options options = {.window = 1,
                                           .work = 1,
                                           .is_quick = 1,
                                           .seed = seed,
                                           .judge = esp_judge_by_simulation,
                                           .judge_arg = &c->fluid};
    esp_status status =
        espi_advisor_create(c->p, &options, &c->job[PLAIN].advisor, c->err);

    options.probe_share = 0.05;
    if (status == ESP_OK)
        status = espi_advisor_create(c->p, &options, &c->job[PROBING].advisor, c->err);
    if (status != ESP_OK)
        return status;
    c->probed.link_Bps = link_Bps;
    c->probed.arg = c;
    return espi_probed_net_init(&c->probed, c->p, c->job[PROBING].advisor, seed + 1000,
                                c->err);
}

static esp_status run_calls(struct course *c, uint64_t seed, int n,
                            struct espi_adapt_call *calls)
{
    double now_s = 0, gap_s = 90;
    esp_status status = begin_jobs(c, seed);

    for (int i = 0; i < n && status == ESP_OK; i++) {
        calls[i] = (struct espi_adapt_call){.at_s = now_s,
                                            .bytes = floor(1e6 * (CALLS - i) / CALLS)};
        status = run_call(c, i, &calls[i]);
        now_s += gap_s;
        gap_s *= 0.93;
    }
    return status;
}

esp_status espi_adapt_course(const struct esp_platform *grid, uint64_t seed, int n,
                             struct espi_adapt_call *calls, struct esp_err *err)
{
    struct course c = {
        .p = grid,
        .root = esp_platform_find_node(grid, "sdsc-c2-h1"),
        .fluid = {.size = sizeof(struct esp_sim_options), .sharing = ESP_SHARING_FLUID},
        .known_s = -KNOWN_FOR_S,
        .err = err};
    struct espi_rng rng;

    espi_rng_seed(&rng, seed);
    draw_weather(&c.weather, grid, &rng, 1400);
    esp_status status = run_calls(&c, seed, n, calls);
    for (int i = 0; i < JOBS; i++)
        espi_advised_job_end(&c.job[i]);
    espi_probed_net_done(&c.probed);
    esp_plan_free(c.unloaded);
    esp_platform_free(c.known);
    return status;
}

void espi_adapt_count(struct espi_adapt_tally *t, const struct espi_adapt_call *call)
{
    int l = call->loaded;
    double gain =
        1 - call->took_s[ESPI_ADAPT_ADAPTIVE] / call->took_s[ESPI_ADAPT_HIERARCHICAL];

    if (t->calls[l]++ == 0)
        t->least[l] = t->most[l] = gain;
    t->gain[l] += gain;
    t->probing_gain[l] +=
        1 - call->took_s[ESPI_ADAPT_PROBING] / call->took_s[ESPI_ADAPT_ADAPTIVE];
    t->probes += call->probes;
    t->probes_s += call->probes_s;
    t->least[l] = fmin(t->least[l], gain);
    t->most[l] = fmax(t->most[l], gain);
    for (int k = 0; k < MANY; k++)
        t->sum_s[l][k] += call->took_s[k];
}
