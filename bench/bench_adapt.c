/* The experiment of the adaptive paper in the simulator: 64 hosts of 8 clusters at 4
 * sites, 60 broadcasts from C2, of 1 MB falling to nothing by a line, with gaps from 90 s
 * that shrink by 7 percent each, while for random spells a link to or from C3 has lost
 * half to nine tenths of its rate.
 *   bench_adapt [--json] [RUNS [FIRST_SEED]]      (draws of the loads; 10 unless told)
 * Transfers that meet share as TCP flows do. The advisor knows what the ranks would
 * report, nothing else, and its plans take effect one call after they were published, as
 * under MPI. Mateescu's tree is made anew of the true network every five minutes. */
#include <espalier/espalier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "base/rng.h"
#include "platform/platform.h"

enum { CALLS = 60, CLASSES = 32 };

enum contestant {
    NATIVE,
    HIERARCHICAL,
    SLICED,
    MATEESCU,
    STATIC,
    ADAPTIVE,
    N_CONTESTANTS
};

static const char *const names[] = {"native (binomial)",    "hierarchical",
                                    "hierarchical, sliced", "Mateescu, dynamic",
                                    "espalier static",      "espalier adaptive"};

static void stop_if(esp_status status, const struct esp_err *err)
{
    if (!status)
        return;
    fprintf(stderr, "bench_adapt: %s\n", err->text);
    exit(1);
}

static struct esp_platform *make_grid(void)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL, *out = NULL;
    struct esp_err err;
    esp_sites_options_defaults(&o);
    stop_if(esp_sites_options_preset(&o, "teragrid", &err), &err);
    o.lan_Bps = 12.5e6;
    o.site_Bps = 12.5e6;
    o.wan_Bps = 3.75e6;
    o.switches = 1;
    stop_if(esp_generate_sites(&o, &p, &err), &err);
    /* The links of hosts are their ports, and several slices are under way at once. */
    stop_if(esp_platform_with_model(p, ESP_MODEL_CAPACITY, &out, &err), &err);
    esp_platform_free(p);
    return out;
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
    struct spell spell[64];
    int n;
};

static void draw_weather(struct weather *w, const struct esp_platform *p,
                         struct espi_rng *rng, double until_s)
{
    double at_s = espi_rng_range(rng, 60, 240);
    w->n = 0;
    while (at_s < until_s && w->n < 64) {
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

/* The network at that time; *loaded: is there any load? */
static struct esp_platform *reality_at(const struct esp_platform *p,
                                       const struct weather *w, double at_s, int *loaded)
{
    double *factor = calloc((size_t)p->n_links, sizeof *factor);
    struct esp_platform *out = NULL;
    struct esp_err err;
    if (!factor)
        exit(1);
    *loaded = 0;
    for (int e = 0; e < p->n_links; e++)
        factor[e] = 1;
    for (int i = 0; i < w->n; i++)
        if (at_s >= w->spell[i].from_s && at_s < w->spell[i].to_s) {
            factor[w->spell[i].link] *= w->spell[i].factor;
            *loaded = 1;
        }
    stop_if(espi_platform_scaled(p, factor, factor, &out, &err), &err);
    free(factor);
    return out;
}

/* ---- broadcasts ---- */

static struct esp_plan *plan_with(const struct esp_platform *p, int root,
                                  const char *algo, double bytes, double slice_bytes)
{
    struct esp_request request;
    struct esp_plan *plan;
    struct esp_err err;
    esp_request_init(&request, root);
    request.algo = algo;
    request.size_bytes = bytes;
    request.slice_bytes = slice_bytes;
    stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    return plan;
}

static struct esp_plan *plan_static(const struct esp_platform *p, int root, double bytes)
{
    static struct esp_sim_options fluid = {.sharing = ESP_SHARING_FLUID};
    struct espi_advisor_options options = {
        .work = 1, .seed = 1, .judge = esp_judge_by_simulation, .judge_arg = &fluid};
    struct espi_advisor *advisor;
    struct espi_advice advice;
    struct esp_err err;
    stop_if(espi_advisor_create(p, &options, &advisor, &err), &err);
    stop_if(espi_advisor_plan_for(advisor, root, bytes, 0, &advice, &err), &err);
    espi_advisor_free(advisor);
    return advice.plan;
}

/* When each node got its first and its last slice. */
struct arrivals {
    double first_s[256], last_s[256], under_way_s[256]; /* by receiver */
};

static void note(void *arg, const struct esp_sim_transfer *t)
{
    struct arrivals *a = arg;
    if (a->last_s[t->to] < 0 || t->end_s < a->first_s[t->to])
        a->first_s[t->to] = t->end_s;
    a->last_s[t->to] = fmax(a->last_s[t->to], t->end_s);
    a->under_way_s[t->to] += t->end_s - t->start_s;
}

static double run(const struct esp_platform *p, const struct esp_plan *plan,
                  const struct esp_platform *reality, double bytes, struct arrivals *a)
{
    struct esp_sim_result *result;
    struct esp_err err;
    struct esp_sim_options options = {.reality = reality,
                                      .size_bytes = bytes,
                                      .slice_bytes = plan->slice_bytes,
                                      .sharing = ESP_SHARING_FLUID};
    if (a) {
        for (int i = 0; i < 256; i++)
            a->first_s[i] = a->last_s[i] = -1, a->under_way_s[i] = 0;
        options.on_transfer = note;
        options.arg = a;
    }
    stop_if(esp_simulate(p, plan, &options, &result, &err), &err);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    return makespan_s;
}

/* What a sender says of those it sent to. */
static void tell_children(struct espi_report *r, const struct esp_plan *plan,
                          const struct arrivals *a)
{
    int n = 0;
    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        r->child[i] = -1;
    for (int i = 0; i < plan->trees[0].n_edges && n < ESPI_REPORT_CHILDREN; i++)
        if (plan->trees[0].edges[i].from == r->node) {
            r->child[n] = plan->trees[0].edges[i].to;
            r->child_s[n] = (float)a->under_way_s[r->child[n]];
            n++;
        }
}

static void report(struct espi_advisor *advisor, const struct esp_plan *plan,
                   const struct arrivals *a, uint64_t call, double bytes, double total_s,
                   double now_s)
{
    struct espi_report r = {
        .magic = ESPI_REPORT_MAGIC,
        .version = ESPI_REPORT_VERSION,
        .node = plan->root,
        .root = plan->root,
        .parent = -1,
        .n = plan->trees[0].n_edges + 1,
        .call = call,
        .bytes = (uint64_t)bytes,
        .slices = plan->slice_bytes > 0 ? fmax(ceil(bytes / plan->slice_bytes), 1) : 1,
        .total_s = total_s};
    struct esp_err err;
    if (plan->n_trees > 1)
        return;
    tell_children(&r, plan, a);
    stop_if(espi_advisor_hear(advisor, &r, now_s, &err), &err);
    for (int i = 0; i < plan->trees[0].n_edges; i++) {
        const struct esp_edge *e = &plan->trees[0].edges[i];
        r.node = e->to;
        r.parent = e->from;
        r.receive_s = a->last_s[e->to] - a->first_s[e->to];
        tell_children(&r, plan, a);
        stop_if(espi_advisor_hear(advisor, &r, now_s, &err), &err);
    }
}

/* ---- the experiment ---- */

struct tally {
    int calls[2]; /* without load, and with */
    double sum_s[2][N_CONTESTANTS];
    double gain[2], least[2], most[2]; /* of adaptive over hierarchical, by call */
};

struct course {
    const struct esp_platform *p;
    int root;
    struct weather weather;
    struct espi_advisor *advisor;
    struct esp_plan *published[CLASSES], *in_force[CLASSES];
    struct esp_platform *known; /* to Mateescu */
    double known_s;
    int verbose;
};

/* Before the call the advisor has had the gap: three sizes, or all while it is idle. */
static void advise(struct course *c, double now_s)
{
    struct espi_outlook o;
    struct esp_err err;
    espi_advisor_outlook(c->advisor, now_s, &o);
    for (int i = 0; i < 3; i++) {
        struct espi_advice advice;
        esp_status st = o.calls ? espi_advisor_plan(c->advisor, now_s, &advice, &err)
                                : ESP_EUNSUPPORTED;
        if (st)
            break;
        if (advice.size_class < CLASSES) {
            esp_plan_free(c->published[advice.size_class]);
            c->published[advice.size_class] = advice.plan;
        } else {
            esp_plan_free(advice.plan);
        }
    }
}

static double run_adaptive(struct course *c, const struct esp_platform *reality, int call,
                           double bytes, double now_s)
{
    struct arrivals a;
    int k = espi_size_class((uint64_t)bytes);
    struct esp_plan *own = NULL, *plan = c->in_force[k];
    if (!plan)
        plan = own = plan_static(c->p, c->root, bytes);
    double took_s = run(c->p, plan, reality, bytes, &a);
    report(c->advisor, plan, &a, (uint64_t)call, bytes, took_s, now_s + took_s);
    esp_plan_free(own);
    /* What travelled with this call is in force from the next one on. */
    for (int i = k - 1; i <= k; i++)
        if (i >= 0 && c->published[i]) {
            esp_plan_free(c->in_force[i]);
            c->in_force[i] = c->published[i];
            c->published[i] = NULL;
        }
    return took_s;
}

static double run_one(struct course *c, enum contestant who,
                      const struct esp_platform *reality, int call, double bytes,
                      double now_s)
{
    struct esp_plan *plan;
    if (who == ADAPTIVE)
        return run_adaptive(c, reality, call, bytes, now_s);
    if (who == STATIC)
        plan = plan_static(c->p, c->root, bytes);
    else if (who == MATEESCU)
        plan = plan_with(c->known, c->root, "mateescu", bytes, 0);
    else
        plan = plan_with(c->p, c->root, who == NATIVE ? "binomial" : "hierarchical",
                         bytes, who == SLICED ? 65024 : 0);
    double took_s = run(c->p, plan, reality, bytes, NULL);
    esp_plan_free(plan);
    return took_s;
}

static void count(struct tally *t, int loaded, const double *took_s)
{
    double gain = 1 - took_s[ADAPTIVE] / took_s[HIERARCHICAL];
    if (t->calls[loaded]++ == 0)
        t->least[loaded] = t->most[loaded] = gain;
    t->gain[loaded] += gain;
    t->least[loaded] = fmin(t->least[loaded], gain);
    t->most[loaded] = fmax(t->most[loaded], gain);
    for (int k = 0; k < N_CONTESTANTS; k++)
        t->sum_s[loaded][k] += took_s[k];
}

static void call_once(struct course *c, int call, double now_s, struct tally *t)
{
    int loaded, any;
    double bytes = floor(1e6 * (CALLS - call) / CALLS), took_s[N_CONTESTANTS];
    struct esp_platform *reality = reality_at(c->p, &c->weather, now_s, &loaded);
    while (now_s >= c->known_s + 300) { /* measured every five minutes */
        c->known_s += 300;
        esp_platform_free(c->known);
        c->known = reality_at(c->p, &c->weather, c->known_s, &any);
    }
    advise(c, now_s);
    for (int k = 0; k < N_CONTESTANTS; k++)
        took_s[k] = run_one(c, (enum contestant)k, reality, call, bytes, now_s);
    count(t, loaded, took_s);
    if (c->verbose) {
        printf("  %2d %7.1f s %8.0f %s", call, now_s, bytes, loaded ? "load" : "    ");
        for (int k = 0; k < N_CONTESTANTS; k++)
            printf(" %7.3f", took_s[k]);
        putchar('\n');
    }
    esp_platform_free(reality);
}

static void run_course(const struct esp_platform *p, uint64_t seed, int verbose,
                       struct tally *t)
{
    struct course c = {.p = p,
                       .root = esp_platform_find_node(p, "sdsc-c2-h1"),
                       .known_s = -300,
                       .verbose = verbose};
    static struct esp_sim_options fluid = {.sharing = ESP_SHARING_FLUID};
    struct espi_advisor_options options = {.window = 1,
                                           .work = 1,
                                           .seed = seed,
                                           .judge = esp_judge_by_simulation,
                                           .judge_arg = &fluid};
    struct espi_rng rng;
    struct esp_err err;
    double now_s = 0, gap_s = 90;
    espi_rng_seed(&rng, seed);
    draw_weather(&c.weather, p, &rng, 1400);
    stop_if(espi_advisor_create(p, &options, &c.advisor, &err), &err);
    for (int call = 0; call < CALLS; call++) {
        call_once(&c, call, now_s, t);
        now_s += gap_s;
        gap_s *= 0.93;
    }
    for (int i = 0; i < CLASSES; i++) {
        esp_plan_free(c.published[i]);
        esp_plan_free(c.in_force[i]);
    }
    esp_platform_free(c.known);
    espi_advisor_free(c.advisor);
}

static void print_text(const struct tally *t, int runs)
{
    printf("%d draws of loads, %d broadcasts each: mean seconds a broadcast\n", runs,
           CALLS);
    printf("  %-22s %12s %12s\n", "", "without load", "under load");
    for (int k = 0; k < N_CONTESTANTS; k++)
        printf("  %-22s %12.4f %12.4f\n", names[k], t->sum_s[0][k] / t->calls[0],
               t->sum_s[1][k] / t->calls[1]);
    for (int l = 0; l < 2; l++)
        printf("adaptive over hierarchical %s: %.1f%% better on average, from %.1f%% to "
               "%.1f%%, %d broadcasts\n",
               l ? "under load" : "without load", 100 * t->gain[l] / t->calls[l],
               100 * t->least[l], 100 * t->most[l], t->calls[l]);
}

static void print_json(const struct tally *t, int runs)
{
    printf("{\"runs\": %d, \"broadcasts\": %d", runs, CALLS);
    for (int l = 0; l < 2; l++) {
        printf(
            ", \"%s\": {\"broadcasts\": %d, \"gain\": %.4f, \"least\": %.4f, \"most\": "
            "%.4f",
            l ? "loaded" : "unloaded", t->calls[l], t->gain[l] / t->calls[l], t->least[l],
            t->most[l]);
        for (int k = 0; k < N_CONTESTANTS; k++)
            printf(", \"%s\": %.5f", names[k], t->sum_s[l][k] / t->calls[l]);
        printf("}");
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    int json = argc > 1 && !strcmp(argv[1], "--json");
    int runs = argc > 1 + json ? atoi(argv[1 + json]) : 10;
    uint64_t first = argc > 2 + json ? (uint64_t)atoi(argv[2 + json]) : 1;
    struct tally t = {0};
    if (runs < 1 || argc > 3 + json) {
        fprintf(stderr, "usage: bench_adapt [--json] [RUNS [FIRST_SEED]]\n");
        return 2;
    }
    struct esp_platform *p = make_grid();
    for (int i = 0; i < runs; i++)
        run_course(p, first + (uint64_t)i, runs == 1 && !json, &t);
    (json ? print_json : print_text)(&t, runs);
    esp_platform_free(p);
    return 0;
}
