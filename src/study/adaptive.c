/* Figures 3 and 8 of R. Gupta, S. Vadhiyar, Application-oriented adaptive MPI_Bcast for
 * grids (2006): how annealing goes on, and 60 broadcasts while links come under load. */
#include "study/adaptive.h"

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "algo/anneal/anneal.h"
#include "base/err.h"
#include "study/study.h"

enum { CALLS = ESPI_ADAPT_CALLS, MANY = ESPI_ADAPT_MANY };
enum { DRAWS = 10, QUICK_DRAWS = 2 };
enum { NODES = 32, RUNS = 256, BUDGET = 100000 };

#define SIZE_BYTES 1e6

/* ---- figure 3: annealing ---- */

/* The matrix with initiation costs, which takes one more platform. */
static esp_status add_initiation(const struct esp_platform *p, struct esp_builder *b,
                                 struct esp_err *err)
{
    int n = esp_platform_node_count(p), m = esp_platform_link_count(p);
    esp_status status = ESP_OK;

    esp_builder_set_model(b, ESP_MODEL_MULTI_PORT);
    for (int i = 0; i < n && status == ESP_OK; i++) {
        struct esp_node_spec spec = {esp_platform_node_name(p, i), NULL, ESP_NODE_HOST,
                                     0.1, ESP_UNSET};
        status = esp_builder_add_node(b, &spec, NULL, err);
    }
    for (int e = 0; e < m && status == ESP_OK; e++)
        status = esp_builder_add_link(b, esp_platform_link_from(p, e),
                                      esp_platform_link_to(p, e),
                                      esp_platform_link_latency_s(p, e),
                                      esp_platform_link_bandwidth_Bps(p, e), NULL, err);
    return status;
}

esp_status espi_adapt_matrix(int nodes, uint64_t seed, int multi_port,
                             struct esp_platform **out, struct esp_err *err)
{
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    struct esp_builder *b = NULL;

    esp_matrix_options_defaults(&o);
    o.nodes = nodes;
    o.bandwidth_min_Bps = 0.1e6 / 8;
    o.bandwidth_max_Bps = 10e6 / 8;
    o.seed = seed;
    if (!multi_port)
        return esp_generate_matrix(&o, out, err);
    esp_status status = esp_generate_matrix(&o, &p, err);
    if (status == ESP_OK)
        status = esp_builder_create(&b, err);
    if (status == ESP_OK)
        status = add_initiation(p, b, err);
    if (status == ESP_OK)
        status = esp_builder_build(b, out, err);
    esp_builder_free(b);
    esp_platform_free(p);
    return status;
}

/* What each run of annealing found, by the trees weighed until then. */
struct trace {
    int n, refined_from; /* the run from which good trees are refined */
    double weighed[RUNS], run_s[RUNS], best_s[RUNS];
};

static void note_run(void *arg, const struct espi_annealer *a, int refining)
{
    struct trace *t = arg;

    if (t->n == RUNS)
        return;
    if (!refining)
        t->refined_from = t->n + 1;
    t->weighed[t->n] = a->budget->evaluations;
    t->run_s[t->n] = a->run_s;
    t->best_s[t->n++] = a->best_s;
}

static esp_status anneal(const struct esp_platform *p, struct espi_arena *arena,
                         struct trace *t, struct esp_err *err)
{
    struct espi_view v;
    struct espi_anneal_net net;
    struct espi_annealer a;
    struct espi_anneal_budget budget;
    int hosts[NODES];
    esp_status status = espi_view_init(&v, p, SIZE_BYTES, arena, err);

    for (int h = 0; h < NODES; h++)
        hosts[h] = h;
    espi_anneal_budget_start(&budget, BUDGET, 0);
    if (status != ESP_OK)
        return status;
    if (espi_anneal_net_init(&net, &v, NODES, hosts, 0, arena) ||
        espi_annealer_init(&a, &net, &espi_cooling_paper, 1, &budget, arena))
        return espi_err_nomem(err);
    a.watch = note_run;
    a.watch_arg = t;
    return espi_anneal_driver(&a, NULL, arena) ? espi_err_nomem(err) : ESP_OK;
}

static esp_status add_annealing(const struct espi_study_run *r, struct esp_err *err)
{
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_findings *f = r->findings;
    struct trace *t = ESPI_ARENA_ZNEW(f->arena, struct trace, 1);

    espi_arena_init(&arena);
    esp_status status =
        t ? espi_adapt_matrix(NODES, r->seed + 1, 1, &p, err) : espi_err_nomem(err);
    if (status == ESP_OK)
        status = anneal(p, &arena, t, err);
    espi_arena_done(&arena);
    esp_platform_free(p);
    if (status != ESP_OK)
        return status;
    struct espi_figure *figure = espi_findings_figure(
        f, "adaptive-fig3", "Annealing goes on: 32 nodes, 1 MB, 0.1 to 10 Mbit/s",
        "trees weighed", "estimated broadcast, s");
    int k = t->refined_from;
    espi_findings_series(f, figure, "a run from a random tree", k, t->weighed, t->run_s);
    espi_findings_series(f, figure, "a run from a good tree", t->n - k, t->weighed + k,
                         t->run_s + k);
    espi_findings_series(f, figure, "best so far", t->n, t->weighed, t->best_s);
    return ESP_OK;
}

/* ---- figure 8: 60 broadcasts ---- */

struct contest {
    struct esp_platform *grid;
    struct espi_adapt_call *calls; /* of all draws */
    uint64_t seed;
};

static esp_status try_draw(void *contest, size_t i, struct esp_err *err)
{
    struct contest *c = contest;

    return espi_adapt_course(c->grid, c->seed + 1 + i, CALLS, c->calls + i * CALLS, err);
}

static void add_contest(const struct espi_adapt_call calls[CALLS],
                        struct espi_findings *f)
{
    struct espi_figure *figure = espi_findings_figure(
        f, "adaptive-fig8", "60 broadcasts while links come under load, first draw",
        "broadcast", "s");
    double x[CALLS], y[CALLS];

    for (int k = 0; k < MANY; k++) {
        for (int i = 0; i < CALLS; i++) {
            x[i] = i + 1;
            y[i] = calls[i].took_s[k];
        }
        espi_findings_series(f, figure, espi_adapt_names[k], CALLS, x, y);
    }
    for (int i = 0; i < CALLS; i++)
        y[i] = calls[i].loaded ? 0 : NAN;
    espi_findings_series(f, figure, "under load", CALLS, x, y);
}

/* Mean times of all, without load and under it. */
static void add_means(const struct espi_adapt_tally *t, struct espi_findings *f)
{
    struct espi_figure *figure =
        espi_findings_figure(f, "adaptive-means", "Mean time of a broadcast, all draws",
                             "without load (0), under load (1)", "s");
    static const double x[2] = {0, 1};

    for (int k = 0; k < MANY; k++) {
        double y[2] = {t->sum_s[0][k] / t->calls[0], t->sum_s[1][k] / t->calls[1]};
        espi_findings_series(f, figure, espi_adapt_names[k], 2, x, y);
    }
}

static void add_claims(const struct espi_adapt_tally *t, struct espi_findings *f)
{
    static const char *const why =
        "of one run there, of all draws here; where C3 and how the links to it are "
        "loaded is drawn at random, and plans here are cut into slices, which helps "
        "without load too";
    double mean = 100 * t->gain[1] / t->calls[1];

    espi_findings_claim(f, &(struct espi_claim){"adaptive over hierarchical under load",
                                                19.58, mean, 0, "%", why, 0});
    espi_findings_claim(f, &(struct espi_claim){"the same, least of all broadcasts", 1.47,
                                                100 * t->least[1], 0, "%", why, 0});
    espi_findings_claim(f, &(struct espi_claim){"the same, most of all broadcasts", 64.57,
                                                100 * t->most[1], 0, "%", why, 0});
}

static esp_status run_contest(const struct espi_study_run *r, size_t draws,
                              struct esp_err *err)
{
    struct contest c = {.seed = r->seed};
    struct espi_adapt_tally t = {0};
    struct espi_findings *f = r->findings;
    esp_status status = espi_adapt_grid(&c.grid, err);

    c.calls = ESPI_ARENA_ZNEW(f->arena, struct espi_adapt_call, draws * CALLS);
    if (status == ESP_OK && !c.calls)
        status = espi_err_nomem(err);
    if (status == ESP_OK)
        status = espi_study_jobs(r, draws, try_draw, &c, err);
    esp_platform_free(c.grid);
    if (status != ESP_OK)
        return status;
    for (size_t i = 0; i < draws * CALLS; i++)
        espi_adapt_count(&t, &c.calls[i]);
    add_contest(c.calls, f);
    add_means(&t, f);
    add_claims(&t, f);
    f->setting =
        espi_findings_text(f, "%zu draws of loads, %d broadcasts each", draws, CALLS);
    return ESP_OK;
}

static esp_status run_adaptive(const struct espi_study_run *r, struct esp_err *err)
{
    esp_status status = add_annealing(r, err);

    return status ? status : run_contest(r, r->quick ? QUICK_DRAWS : DRAWS, err);
}

const struct espi_study espi_study_adaptive = {
    .name = "adaptive",
    .figures = "adaptive-fig3 adaptive-fig8 adaptive-means",
    .paper = "R. Gupta, S. Vadhiyar, Application-oriented adaptive MPI_Bcast for grids "
             "(IPDPS 2006)",
    .title = "Broadcasts that follow the load of the network",
    .assumed =
        (const char *const[]){
            "The paper ran on an emulated grid; here it is simulated, and transfers that "
            "meet share a link as TCP flows do. Four sites of two clusters of eight "
            "hosts; hosts and sites at 100 Mbit/s, between sites 30 Mbit/s.",
            "60 broadcasts from C2: 1 MB falling by a line, gaps from 90 s that shrink "
            "by "
            "7 percent each. Loads take 50 to 90 percent of one of three links to or "
            "from "
            "C3 for 6 to 8 minutes, with 4 to 7 minutes between.",
            "\"hierarchical\" is MPICH-G2's tree, in one piece as it sends. Mateescu's "
            "tree is made of the true network every five minutes. The adaptive plans are "
            "those of `espalier advise`, which learns of loads only from what broadcasts "
            "took, and are in force one call after they were made.",
            "The paper's adaptive trees lose to MPICH-G2's without load, by an amount it "
            "does not give, for the tree travels with the message. Ours do not: plans "
            "travel with earlier calls, and are pipelined.",
            "Annealing has the paper's cooling; of Figure 3 only the shape can be "
            "compared, as its values are not in the text: runs from random trees first, "
            "then, on the right, runs from the good ones among them.",
            NULL},
    .run = run_adaptive,
};
