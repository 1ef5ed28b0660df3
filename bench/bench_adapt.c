/* The experiment of the adaptive paper in the simulator (study/adaptive.h).
 *   bench_adapt [--json] [RUNS [FIRST_SEED]]      (draws of the loads; 10 unless told)
 * With one run every broadcast is printed. */
#include "bench.h"
#include "study/adaptive.h"

enum { MANY = ESPI_ADAPT_MANY };

static void print_call(int number, const struct espi_adapt_call *call)
{
    printf("  %2d %7.1f s %8.0f %s", number, call->at_s, call->bytes,
           call->loaded ? "load" : "    ");
    for (int k = 0; k < MANY; k++)
        printf(" %7.3f", call->took_s[k]);
    printf(" %5ld\n", call->probes);
}

static void run_course(const struct esp_platform *p, uint64_t seed, int verbose,
                       struct espi_adapt_tally *t)
{
    struct espi_adapt_call calls[ESPI_ADAPT_CALLS];
    struct esp_err err;
    bench_stop_if(espi_adapt_course(p, seed, ESPI_ADAPT_CALLS, calls, &err), &err);
    for (int i = 0; i < ESPI_ADAPT_CALLS; i++) {
        espi_adapt_count(t, &calls[i]);
        if (verbose)
            print_call(i, &calls[i]);
    }
}

static void print_text(const struct espi_adapt_tally *t, int runs)
{
    printf("%d draws of loads, %d broadcasts each: mean seconds a broadcast\n", runs,
           ESPI_ADAPT_CALLS);
    printf("  %-22s %12s %12s\n", "", "without load", "under load");
    for (int k = 0; k < MANY; k++)
        printf("  %-22s %12.4f %12.4f\n", espi_adapt_names[k],
               t->sum_s[0][k] / t->calls[0], t->sum_s[1][k] / t->calls[1]);
    for (int l = 0; l < 2; l++)
        printf("adaptive over hierarchical %s: %.1f%% better on average, from %.1f%% to "
               "%.1f%%, %d broadcasts\n",
               l ? "under load" : "without load", 100 * t->gain[l] / t->calls[l],
               100 * t->least[l], 100 * t->most[l], t->calls[l]);
    for (int l = 0; l < 2; l++)
        printf("probes over none %s: %.1f%% better on average\n",
               l ? "under load" : "without load", 100 * t->probing_gain[l] / t->calls[l]);
    printf("%ld probes, for which calls waited %.4f s in all\n", t->probes, t->probes_s);
}

static void print_json(const struct espi_adapt_tally *t, int runs)
{
    printf("{\"runs\": %d, \"broadcasts\": %d", runs, ESPI_ADAPT_CALLS);
    for (int l = 0; l < 2; l++) {
        printf(
            ", \"%s\": {\"broadcasts\": %d, \"gain\": %.4f, \"least\": %.4f, \"most\": "
            "%.4f",
            l ? "loaded" : "unloaded", t->calls[l], t->gain[l] / t->calls[l], t->least[l],
            t->most[l]);
        for (int k = 0; k < MANY; k++)
            printf(", \"%s\": %.5f", espi_adapt_names[k], t->sum_s[l][k] / t->calls[l]);
        printf(", \"probing_gain\": %.4f", t->probing_gain[l] / t->calls[l]);
        printf("}");
    }
    printf(", \"probes\": %ld, \"probes_s\": %.5f}\n", t->probes, t->probes_s);
}

int main(int argc, char **argv)
{
    int json = argc > 1 && !strcmp(argv[1], "--json");
    int runs = argc > 1 + json ? atoi(argv[1 + json]) : 10;
    uint64_t first = argc > 2 + json ? (uint64_t)atoi(argv[2 + json]) : 1;
    struct espi_adapt_tally t = {0};
    struct esp_platform *p = NULL;
    struct esp_err err;
    if (runs < 1 || argc > 3 + json) {
        fprintf(stderr, "usage: bench_adapt [--json] [RUNS [FIRST_SEED]]\n");
        return 2;
    }
    bench_stop_if(espi_adapt_grid(&p, &err), &err);
    for (int i = 0; i < runs; i++)
        run_course(p, first + (uint64_t)i, runs == 1 && !json, &t);
    (json ? print_json : print_text)(&t, runs);
    esp_platform_free(p);
    return 0;
}
