/* Prints a line for each plan of the sweep: what was planned, a hash of the plan, its
 * throughput and makespan, and whether a linear program was solved on the way. Two builds
 * whose plans do not depend on the machine print the same; tools/check-plans compares
 * them.
 *
 *   what <tab> "lp" or "exact" <tab> hash <tab> throughput <tab> makespan
 *
 * usage: plan_sweep [N [ALGORITHM...]]     one plan of N, by a hash of what is planned
 * Linked so that calls of the solver are counted (--wrap). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lp/lp.h"
#include "plan/ops.h"
#include "support/plans.h"
#include "support/sweep.h"

static int solved;         /* linear programs since the last line */
static uint64_t every = 1; /* one plan of so many */
static char **only;        /* names of the algorithms asked for; none: all */

espi_lp_result __real_espi_lp_solve(struct espi_lp *lp, espi_lp_method method);
espi_lp_result __wrap_espi_lp_solve(struct espi_lp *lp, espi_lp_method method);

espi_lp_result __wrap_espi_lp_solve(struct espi_lp *lp, espi_lp_method method)
{
    solved++;
    return __real_espi_lp_solve(lp, method);
}

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

struct job {
    const struct esp_platform *p;
    char what[128];
    struct esp_request request;
    const struct espi_algo *last; /* the algorithm of the line before */
};

/* A plan made from those of another operation, for every root perhaps, says little that
 * theirs do not: such are made by the standard choices and for few hosts only. */
enum { FEW_HOSTS = 9 };

static int is_worth_it(struct job *job, const struct espi_algo *algo)
{
    int again = algo == job->last;
    job->last = algo;
    if (algo->op == job->request.op)
        return 1;
    return !again && esp_platform_host_count(job->p) <= FEW_HOSTS;
}

static void print_line(const struct job *job, const char *name, const char *text,
                       size_t n, double throughput_Bps, double makespan_s)
{
    printf("%s %s %s\t%s\t%016llx\t%.17g\t%.17g\n", job->what,
           esp_op_name(job->request.op), name, solved ? "lp" : "exact",
           (unsigned long long)hash_of(text, n), throughput_Bps, makespan_s);
    solved = 0;
}

static int is_drawn(const struct job *job, const char *algo)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s %s", job->what, esp_op_name(job->request.op),
             algo);
    return hash_of(text, strlen(text)) % every == 0;
}

static void print_plan(struct job *job, const char *algo)
{
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    solved = 0;
    job->request.algo = algo;
    if (esp_plan_make(job->p, &job->request, &plan, &err)) {
        print_line(job, algo, err.text, strlen(err.text), 0, 0);
        return;
    }
    size_t n;
    char *text = plan_json(plan, job->p, &n);
    print_line(job, algo, text, n, plan->throughput_Bps, plan->makespan_s);
    free(text);
    esp_plan_free(plan);
}

static int is_wanted(const struct espi_algo *algo)
{
    for (char **name = only; *name; name++)
        if (!strcmp(*name, algo->name))
            return 1;
    return !*only;
}

static void print_algo(const struct espi_algo *algo, const char *text, void *arg)
{
    struct job *job = arg;
    if (is_wanted(algo) && espi_algo_applies(algo, job->p) && is_worth_it(job, algo) &&
        espi_algo_serves(algo, job->request.op, job->request.targets != NULL) &&
        is_drawn(job, text))
        print_plan(job, text);
}

static int takes_targets(esp_op op)
{
    return op == ESP_OP_MULTICAST || op == ESP_OP_SCATTER || op == ESP_OP_GATHER ||
           op == ESP_OP_REDUCE;
}

/* Every second host. */
static int some_targets(const struct esp_platform *p, int *targets)
{
    int n = 0;
    for (int i = 1; i < esp_platform_host_count(p); i += 2)
        targets[n++] = i;
    return n;
}

static void print_all(const struct esp_platform *p, const char *what)
{
    static int targets[4096];
    int n = some_targets(p, targets);
    for (int op = 0; op < ESP_OP_COUNT; op++) {
        struct job job = {.p = p};
        snprintf(job.what, sizeof job.what, "%s, %s,", what,
                 esp_model_name(esp_platform_model(p)));
        esp_request_init(&job.request, 0);
        job.request.judge = NULL; /* simulating hundreds of trees a plan takes minutes */
        job.request.op = (esp_op)op;
        job.request.size_bytes = 1e6;
        job.request.slice_bytes = 3e4;
        if (takes_targets((esp_op)op) && n > 0) {
            job.request.targets = targets;
            job.request.n_targets = n;
        }
        sweep_algos(print_algo, &job);
    }
}

static void print_place(const struct esp_platform *place, const char *what)
{
    for (int model = 0; model < ESP_MODEL_COUNT; model++) {
        struct esp_platform *p = NULL;
        if (esp_platform_with_model(place, (esp_model)model, &p, NULL)) {
            fprintf(stderr, "plan_sweep: no memory\n");
            exit(1);
        }
        print_all(p, what);
        esp_platform_free(p);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        every = strtoull(argv[1], NULL, 10);
    if (every == 0) {
        fprintf(stderr, "plan_sweep: '%s' is no count\n", argv[1]);
        return 2;
    }
    only = argv + (argc > 1 ? 2 : argc);
    const struct sweep_places *places = sweep_places();
    for (int i = 0; i < places->n; i++) {
        char what[80];
        snprintf(what, sizeof what, "%d %s", i + 1, places->what[i]);
        print_place(places->p[i], what);
    }
    sweep_places_free();
    return ferror(stdout) || fflush(stdout);
}
