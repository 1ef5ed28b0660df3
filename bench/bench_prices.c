/* Multicast by price: random copies between the regions of a table of links.
 *
 *   bench_prices LINKS.csv [FIRST LAST [DEADLINE [PARTITIONS]]]
 *
 * Each seed from FIRST to LAST (1 to 20 unless said) draws a source, 1 to 20 targets and
 * 1 to 4 machines at most a region, with limits by site as published with Cloudcast; 300
 * GB in ten partitions. The cheapest plan is looked for, and with DEADLINE the cheapest
 * within so many times the bound of the fastest (0: the fastest; -1: none), in ten or
 * PARTITIONS partitions (0: of any size). Prints what each plan
 * costs and takes, the proven bound, the gap between the two, and processor seconds. With
 * PLANS=FILE in the environment the plans are written there, and
 * tests/prices/check.py LINKS.csv FILE recomputes what they cost and take. */
#include <math.h>
#include <time.h>

#include "base/rng.h"
#include "bench.h"
#include "platform/platform.h"
#include "solve/priced/multicast.h"

enum { TARGETS_MAX = 20, MACHINES_MAX = 4, PARTITIONS = 10, NEAR = 5 };

static const char limits[] = "aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps,azure=16Gbps/16Gbps";

struct totals {
    FILE *plans; /* or NULL */
    int n, best, near;
    double worst_gap, worst_s, sum_s, sum_gap;
};

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int count_relays(const struct espi_priced_task *task, const struct espi_priced *a)
{
    int used = 0;
    for (int v = 0; v < task->p->n_nodes; v++)
        used += a->machines[v] > 0;
    return used - task->n_targets - 1;
}

static void print_line(const struct espi_priced_task *task, const struct espi_priced *a,
                       int seed, double took_s, struct totals *t)
{
    double gap = a->bound > 0 ? a->objective / a->bound - 1 : 0;
    printf("%6d %4d %4d %9.3f %9.3f %9.1f %10.4f %8.4f%% %5d %6d %6d %5d %6.2f\n", seed,
           task->n_targets, task->max_machines, a->usd_bytes, a->usd_machines, a->time_s,
           a->bound, 100 * gap, a->n_trees, count_relays(task, a), a->cuts, a->columns,
           took_s);
    fflush(stdout);
    t->n++;
    t->best += a->optimal;
    t->near += gap <= NEAR * 1e-3;
    t->worst_gap = gap > t->worst_gap ? gap : t->worst_gap;
    t->worst_s = took_s > t->worst_s ? took_s : t->worst_s;
    t->sum_s += took_s;
    t->sum_gap += gap;
}

/* For tests/prices/check.py: as espalier plan --json, one a line. */
static void write_plan(FILE *out, const struct espi_priced_task *task,
                       const struct espi_priced *a, int seed)
{
    const struct esp_platform *p = task->p;
    fprintf(out,
            "{\"seed\": %d, \"root\": \"%s\", \"size_bytes\": %.17g, "
            "\"partitions\": %d, \"max_machines\": %d, \"usd_bytes\": %.17g, "
            "\"usd_machines\": %.17g, \"time_s\": %.17g, \"targets\": [",
            seed, espi_node_name(p, task->root), task->size_bytes, task->partitions,
            task->max_machines, a->usd_bytes, a->usd_machines, a->time_s);
    for (int i = 0; i < task->n_targets; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", espi_node_name(p, task->targets[i]));
    fputs("], \"machines\": [", out);
    for (int v = 0, n = 0; v < p->n_nodes; v++)
        if (a->machines[v])
            fprintf(out, "%s{\"node\": \"%s\", \"count\": %d}", n++ ? ", " : "",
                    espi_node_name(p, v), a->machines[v]);
    fputs("], \"transfers\": [", out);
    for (int t = 0, n = 0; t < a->n_trees; t++)
        for (int i = 0; i < a->trees[t].n_links; i++)
            fprintf(out,
                    "%s{\"tree\": %d, \"from\": \"%s\", \"to\": \"%s\", \"bytes\": "
                    "%.17g}",
                    n++ ? ", " : "", t, espi_node_name(p, p->tail[a->trees[t].links[i]]),
                    espi_node_name(p, p->head[a->trees[t].links[i]]),
                    a->trees[t].share * task->size_bytes);
    fprintf(out, "]%s%.17g}\n",
            task->usd_weight > 0 ? ", \"bound_usd\": " : ", \"bound_s\": ", a->bound);
}

static void try_seed(const struct esp_platform *p, int seed, double deadline,
                     int partitions, struct totals *totals)
{
    struct espi_rng rng;
    struct espi_arena arena;
    struct espi_priced a = {0};
    struct esp_err err = {0};
    int nodes[256], n = p->n_nodes < 256 ? p->n_nodes : 256;
    espi_rng_seed(&rng, (uint64_t)seed);
    for (int v = 0; v < n; v++)
        nodes[v] = v;
    espi_rng_shuffle(&rng, nodes, n);
    struct espi_priced_task task = {.p = p,
                                    .root = nodes[0],
                                    .targets = nodes + 1,
                                    .size_bytes = 300e9,
                                    .partitions = partitions,
                                    .usd_weight = 1,
                                    .deadline_s = INFINITY,
                                    .budget_usd = INFINITY};
    task.n_targets = 1 + (int)espi_rng_below(&rng, TARGETS_MAX);
    task.max_machines = 1 + (int)espi_rng_below(&rng, MACHINES_MAX);
    espi_arena_init(&arena);
    if (deadline > 0) {
        bench_stop_if(espi_priced_solve(&task, &arena, &a, &err), &err);
        task.deadline_s = deadline * a.fastest_s;
    } else if (deadline > -1) {
        task.usd_weight = 0;
        task.s_weight = 1;
    }
    double start_s = processor_s();
    esp_status st = espi_priced_solve(&task, &arena, &a, &err);
    if (st == ESP_EUNSUPPORTED)
        printf("%6d %4d %4d %s (%.2f s)\n", seed, task.n_targets, task.max_machines,
               err.text, processor_s() - start_s);
    else {
        bench_stop_if(st, &err);
        print_line(&task, &a, seed, processor_s() - start_s, totals);
        if (totals->plans)
            write_plan(totals->plans, &task, &a, seed);
    }
    espi_arena_done(&arena);
}

int main(int argc, char **argv)
{
    struct esp_platform *table = NULL, *p = NULL;
    struct esp_err err = {0};
    struct totals t = {0};
    const char *path = getenv("PLANS");
    if (argc != 2 && argc != 4 && argc != 5 && argc != 6)
        bench_stop("usage: bench_prices LINKS.csv [FIRST LAST [DEADLINE [PARTITIONS]]]");
    int first = argc > 2 ? atoi(argv[2]) : 1, last = argc > 2 ? atoi(argv[3]) : 20;
    if (path && !(t.plans = fopen(path, "w")))
        bench_stop("cannot write the file of PLANS");
    bench_stop_if(esp_platform_read(argv[1], NULL, &table, &err), &err);
    bench_stop_if(espi_platform_with_limits(table, limits, MACHINES_MAX, 0.54, &p, &err),
                  &err);
    printf("%6s %4s %4s %9s %9s %9s %10s %9s %5s %6s %6s %5s %6s\n", "seed", "to", "VMs",
           "bytes", "machines", "time", "bound", "gap", "trees", "relays", "cuts",
           "found", "cpu s");
    for (int seed = first; seed <= last; seed++)
        try_seed(p, seed, argc > 4 ? atof(argv[4]) : -1,
                 argc > 5 ? atoi(argv[5]) : PARTITIONS, &t);
    printf("%d plans, %d best to a millionth, %d within 0.5%%; gap: worst %.4f%%, mean "
           "%.4f%%; processor: worst %.2f s, mean %.2f s\n",
           t.n, t.best, t.near, 100 * t.worst_gap, 100 * t.sum_gap / (t.n ? t.n : 1),
           t.worst_s, t.sum_s / (t.n ? t.n : 1));
    esp_platform_free(table);
    esp_platform_free(p);
    return t.plans && fclose(t.plans) ? 1 : 0;
}
