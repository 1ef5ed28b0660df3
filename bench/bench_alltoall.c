/* Alltoalls on measured networks: what `auto` takes over the bound, and beside all that
 * Open MPI and MPICH have.
 *
 *   bench_alltoall [--json] [--size BYTES] [FIRST LAST [KIND]...]
 *
 * Networks are those of `espalier generate measured` with seeds FIRST to LAST, of 8, 16,
 * 24 and 32 hosts in turn, of every kind unless some are named. Times are simulated: of
 * plans as they claim, of libraries as `compare --native` says. Rows stand worst first,
 * by the time over the bound. The last line says how many of them a library wins.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bound/makespan_bound.h"
#include "native/simulate.h"
#include "native/table.h"

static const char *const kinds[ESP_MEASURED_KIND_COUNT] = {"flat",  "racks", "full",
                                                           "chain", "ring",  "star"};

enum { ROWS_MAX = 4096 };

struct row {
    int kind, hosts;
    uint64_t seed;
    double auto_s, bound_s, library_s, cpu_s;
    char algo[48], library[48];
};

static struct row rows[ROWS_MAX];
static int n_rows;

static struct esp_platform *draw(const struct row *row)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_measured_options_defaults(&o);
    o.kind = row->kind;
    o.hosts = row->hosts;
    o.seed = row->seed;
    bench_stop_if(esp_generate_measured(&o, &p, &err), &err);
    return p;
}

static void plan_row(const struct esp_platform *p, double bytes, struct row *row)
{
    struct esp_request request;
    struct espi_makespan_task task = {
        .p = p, .op = ESP_OP_ALLTOALL, .size_bytes = bytes}; /* all share the network */
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.size_bytes = bytes;
    double start_s = espi_cpu_s();
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    row->cpu_s = espi_cpu_s() - start_s;
    row->auto_s = plan->makespan_s;
    snprintf(row->algo, sizeof row->algo, "%s", plan->algo);
    bench_stop_if(espi_makespan_bound(&task, &row->bound_s, &err), &err);
    esp_plan_free(plan);
}

static void try_library(const struct esp_platform *p, const char *library, double bytes,
                        struct row *row)
{
    struct espi_native_table *table = NULL;
    struct esp_err err;
    int is_other, n;
    const struct espi_native_algo *all = espi_native_algos(&n);
    bench_stop_if(espi_native_table_load(library, NULL, &table, &is_other, &err), &err);
    for (int i = 0; i < n; i++) {
        struct espi_native_run run = {
            .algo = &all[i], .size_bytes = bytes, .protocol = table->protocol};
        double s = 0;
        if (strcmp(all[i].library, library) != 0 || all[i].op != ESP_OP_ALLTOALL ||
            espi_native_makespan(p, &run, &s, &err) || s >= row->library_s)
            continue;
        row->library_s = s;
        snprintf(row->library, sizeof row->library, "%s:%s", library, all[i].name);
    }
    espi_native_table_free(table);
}

static void make_row(int kind, uint64_t seed, double bytes)
{
    struct row *row = &rows[n_rows++];
    *row = (struct row){.kind = kind,
                        .seed = seed,
                        .hosts = 8 + 8 * (int)(seed % 4),
                        .library_s = INFINITY};
    struct esp_platform *p = draw(row);
    plan_row(p, bytes, row);
    try_library(p, "openmpi", bytes, row);
    try_library(p, "mpich", bytes, row);
    esp_platform_free(p);
}

static int worst_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    double of_x = x->auto_s / x->bound_s, of_y = y->auto_s / y->bound_s;
    return of_x > of_y ? -1 : of_x < of_y;
}

static void show(const struct row *r, int json, int first)
{
    printf(json ? "%s\n  {\"kind\": \"%s\", \"seed\": %llu, \"hosts\": %d, "
                  "\"auto_s\": %.6g, \"algo\": \"%s\", \"bound_s\": %.6g, "
                  "\"ratio\": %.4f, \"library_s\": %.6g, \"library\": \"%s\", "
                  "\"library_ratio\": %.4f, \"cpu_s\": %.3f}"
                : "%.0s| %s | %llu | %d | %.4g | `%s` | %.4g | %.3f | %.4g | `%s` | %.3f "
                  "| %.2f |\n",
           json && !first ? "," : "", kinds[r->kind], (unsigned long long)r->seed,
           r->hosts, r->auto_s, r->algo, r->bound_s, r->auto_s / r->bound_s, r->library_s,
           r->library, r->library_s / r->bound_s, r->cpu_s);
}

static int is_asked(int argc, char **argv, int first, const char *kind)
{
    for (int i = first; i < argc; i++)
        if (!strcmp(argv[i], kind))
            return 1;
    return first >= argc;
}

int main(int argc, char **argv)
{
    int at = 1, json = 0, lost = 0;
    double bytes = 16e6, cpu_s = 0;
    for (; at < argc && argv[at][0] == '-'; at++) {
        json |= !strcmp(argv[at], "--json");
        if (!strcmp(argv[at], "--size") && at + 1 < argc)
            bytes = atof(argv[++at]);
    }
    uint64_t first = at < argc ? strtoull(argv[at], NULL, 10) : 1;
    uint64_t last = at + 1 < argc ? strtoull(argv[at + 1], NULL, 10) : first + 3;
    for (int kind = 0; kind < ESP_MEASURED_KIND_COUNT; kind++)
        for (uint64_t seed = first; seed <= last && n_rows < ROWS_MAX; seed++)
            if (is_asked(argc, argv, at + 2, kinds[kind]))
                make_row(kind, seed, bytes);
    qsort(rows, (size_t)n_rows, sizeof *rows, worst_first);
    printf(json ? "["
                : "| kind | seed | hosts | `auto`, s | takes | bound, s | of the bound | "
                  "best of libraries, s | which | of the bound | planning, s |\n"
                  "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < n_rows; i++) {
        show(&rows[i], json, i == 0);
        lost += rows[i].library_s < rows[i].auto_s;
        cpu_s += rows[i].cpu_s;
    }
    if (json)
        puts("\n]");
    else
        printf("%d networks, of which a library wins %d; planning took %.2f s\n", n_rows,
               lost, cpu_s);
    return 0;
}
