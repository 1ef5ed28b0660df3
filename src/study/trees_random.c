/* Figures 4 and 5 of Beaumont, Marchal, Robert: single trees on random platforms, in
 * parts of what several trees reach with one-port nodes. */
#include <espalier/generate.h>

#include "study/platforms.h"
#include "study/study.h"

enum { SIZES = 5, DENSITIES = 5, DRAWS = 10, QUICK_DRAWS = 3 };
enum { ONE_PORT = 7, MULTI_PORT = 5, ALGOS = ONE_PORT + MULTI_PORT };

static const double sizes[SIZES] = {10, 20, 30, 40, 50};
static const double densities[DENSITIES] = {0.04, 0.08, 0.12, 0.16, 0.20};

static const char *const algos[ALGOS] = {
    /* one-port */
    "prune-simple", "prune-degree", "grow", "lp-grow", "lp-prune", "binomial-sp",
    "refine",
    /* multi-port */
    "multiport-grow", "multiport-prune-degree", "lp-grow", "lp-prune", "binomial-sp"};

static const char *const names[ALGOS] = {
    "prune-simple", "prune-degree",   "grow",
    "lp-grow",      "lp-prune",       "binomial",
    "refine (new)", "multiport-grow", "multiport-prune-degree",
    "lp-grow",      "lp-prune",       "binomial"};

/* Rows: by size, density and draw; cells: by algorithm. Large platforms come first, so
 * that the threads end together. */
static int draws_of(const struct espi_study_table *x)
{
    return (int)x->rows / (SIZES * DENSITIES);
}

static const double *cells_of(const struct espi_study_table *x, int size, int density,
                              int draw)
{
    int at = (SIZES - 1 - size) * DENSITIES + density;

    return x->cells + ((size_t)at * (size_t)draws_of(x) + (size_t)draw) * x->width;
}

static esp_status try_platform(const struct espi_study_table *x, size_t row,
                               double *ratio, struct esp_err *err)
{
    int at = (int)row / draws_of(x);
    struct esp_platform *p = NULL, *multi = NULL;
    struct esp_random_options o;

    esp_random_options_defaults(&o);
    o.nodes = (int)sizes[SIZES - 1 - at / DENSITIES];
    o.density = densities[at % DENSITIES];
    o.seed = x->seed + 1 + row;
    esp_status status = esp_generate_random(&o, &p, err);
    if (status == ESP_OK)
        status = espi_study_ratios(p, 0, ONE_PORT, algos, ratio, err);
    if (status == ESP_OK)
        status = esp_platform_with_model(p, ESP_MODEL_MULTI_PORT, &multi, err);
    if (status == ESP_OK)
        status = espi_study_ratios(multi, 0, MULTI_PORT, algos + ONE_PORT,
                                   ratio + ONE_PORT, err);
    esp_platform_free(multi);
    esp_platform_free(p);
    return status;
}

/* The mean of an algorithm over all platforms of a size or of a density. */
static double mean_of_algo(const struct espi_study_table *x, int algo, int size,
                           int density)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < SIZES; s++)
        for (int d = 0; d < DENSITIES; d++)
            for (int k = 0; k < draws_of(x); k++)
                if ((size < 0 || s == size) && (density < 0 || d == density)) {
                    sum += cells_of(x, s, d, k)[algo];
                    n++;
                }
    return 100 * sum / n;
}

static void add_curves(const struct espi_study_table *x, struct espi_findings *f,
                       struct espi_figure *figure, int first, int n, int by_density)
{
    double y[SIZES];

    for (int a = first; a < first + n; a++) {
        for (int i = 0; i < SIZES; i++)
            y[i] = by_density ? mean_of_algo(x, a, -1, i) : mean_of_algo(x, a, i, -1);
        espi_findings_series(f, figure, names[a], SIZES, by_density ? densities : sizes,
                             y);
    }
}

static void add_claims(const struct espi_study_table *x, struct espi_findings *f)
{
    static const char *const open =
        "the paper does not say how random platforms are kept connected, which decides "
        "how many links small ones have";
    double topological = (mean_of_algo(x, 1, 4, -1) + mean_of_algo(x, 2, 4, -1)) / 2;
    double by_program = (mean_of_algo(x, 3, 4, -1) + mean_of_algo(x, 4, 4, -1)) / 2;

    espi_findings_claim(f,
                        &(struct espi_claim){"prune-degree and grow, 50 nodes, one-port",
                                             70, topological, 0, "%", open, 0});
    espi_findings_claim(f,
                        &(struct espi_claim){"lp-grow and lp-prune, 50 nodes, one-port",
                                             60, by_program, 0, "%", open, 0});
    espi_findings_claim(f,
                        &(struct espi_claim){"prune-simple, 50 nodes, one-port", 20,
                                             mean_of_algo(x, 0, 4, -1), 0, "%", open, 0});
}

static void report_means(const struct espi_study_table *x, struct espi_findings *f)
{
    static const char *const y = "% of the optimum of several trees (one-port)";

    add_curves(x, f,
               espi_findings_figure(
                   f, "fig4a", "Single trees by number of nodes, one-port", "nodes", y),
               0, ONE_PORT, 0);
    add_curves(x, f,
               espi_findings_figure(f, "fig4b", "Single trees by density, one-port",
                                    "density", y),
               0, ONE_PORT, 1);
    add_curves(x, f,
               espi_findings_figure(
                   f, "fig5", "Single trees by number of nodes, multi-port", "nodes", y),
               ONE_PORT, MULTI_PORT, 0);
    add_claims(x, f);
    f->setting =
        espi_findings_text(f, "%d platforms: 5 sizes, 5 densities, %d draws each",
                           (int)x->rows, draws_of(x));
}

static esp_status run_trees_random(const struct espi_study_run *r, struct esp_err *err)
{
    struct espi_study_table x = {.rows = (size_t)SIZES * DENSITIES *
                                         (r->quick ? QUICK_DRAWS : DRAWS),
                                 .width = ALGOS};
    esp_status status = espi_study_fill(r, &x, try_platform, err);

    if (status == ESP_OK)
        report_means(&x, r->findings);
    return status;
}

const struct espi_study espi_study_trees_random = {
    .name = "trees-random",
    .figures = "fig4a fig4b fig5",
    .paper = "O. Beaumont, L. Marchal, Y. Robert, Broadcast trees for heterogeneous "
             "platforms (IPDPS 2005)",
    .title = "Single pipelined trees on random platforms",
    .assumed =
        (const char *const[]){
            "The Gaussian of Table 2 (mean 100, deviation 20) is a bandwidth in MB/s, "
            "although the table calls it a time.",
            "Platforms are connected by a random recursive tree; every other pair is "
            "joined with the probability that the density is. The two directions of a "
            "link have independent bandwidths. The source is the first node.",
            "The binomial tree goes over shortest paths, and a link is used as often as "
            "paths cross it.",
            "Figure 5 divides multi-port throughput by the one-port optimum, as the "
            "paper "
            "does: ratios above 100% are no mistake.",
            NULL},
    .run = run_trees_random,
};
