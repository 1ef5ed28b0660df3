/* Processor time of one call of each graph kernel, on random graphs of several sizes: the
 * best of five series, each over eight sets of weights in turn.
 *   bench_graph_kernels [--json] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "graph/arborescence.h"
#include "graph/dijkstra.h"
#include "graph/maxflow.h"
#include "graph/reach.h"

enum { SETS = 8, SERIES = 5 };

struct shape {
    const char *name;
    int n, m;
    int complete;
};

static const struct shape shapes[] = {
    {"sparse", 65, 390, 0},      {"sparse", 200, 1600, 0},
    {"sparse", 1000, 8000, 0},   {"sparse", 2000, 16000, 0},
    {"sparse", 10000, 40000, 0}, {"sparse", 10000, 100000, 0},
    {"complete", 128, 16256, 1}, {"complete", 512, 261632, 1},
};

struct kernel_input {
    struct espi_arena arena;
    struct espi_digraph g;
    int *tail, *head;
    double *weight[SETS];
    /* work spaces and outputs */
    struct espi_arborescence arborescence;
    struct espi_dijkstra dijkstra;
    struct espi_maxflow maxflow;
    int *order, *arc;
    double *distance;
    unsigned char *seen;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "bench_graph_kernels: out of memory\n");
        exit(1);
    }
    return p;
}

/* A random tree from node 0 first, so that every node can be reached. */
static void make_arcs(struct kernel_input *b, const struct shape *s, struct espi_rng *r)
{
    for (int a = 0; a < s->m; a++) {
        int tree = a < s->n - 1;
        b->head[a] = tree ? a + 1 : (int)espi_rng_below(r, (uint32_t)s->n);
        b->tail[a] = (int)espi_rng_below(r, (uint32_t)(tree ? a + 1 : s->n));
        if (s->complete) {
            b->tail[a] = a / (s->n - 1);
            b->head[a] = a % (s->n - 1) + (a % (s->n - 1) >= b->tail[a]);
        }
    }
}

/* What prices look like: a time for the arc, on a port of the tail and one of the head,
 * of which a third each have a price. */
static void make_weights(struct kernel_input *b, const struct shape *s,
                         struct espi_rng *r)
{
    double *price = need(ESPI_ARENA_NEW(&b->arena, double, 2 * s->n));
    for (int k = 0; k < SETS; k++) {
        b->weight[k] = need(ESPI_ARENA_NEW(&b->arena, double, s->m));
        for (int i = 0; i < 2 * s->n; i++)
            price[i] = espi_rng_below(r, 3) ? 0 : espi_rng_uniform(r);
        for (int a = 0; a < s->m; a++)
            b->weight[k][a] =
                espi_rng_range(r, 1, 10) * (price[b->tail[a]] + price[s->n + b->head[a]]);
    }
}

static void make_kernel_input(struct kernel_input *b, const struct shape *s)
{
    struct espi_rng r;
    espi_rng_seed(&r, 1);
    espi_arena_init(&b->arena);
    b->tail = need(ESPI_ARENA_NEW(&b->arena, int, s->m));
    b->head = need(ESPI_ARENA_NEW(&b->arena, int, s->m));
    make_arcs(b, s, &r);
    make_weights(b, s, &r);
    b->order = need(ESPI_ARENA_NEW(&b->arena, int, s->n));
    b->arc = need(ESPI_ARENA_NEW(&b->arena, int, s->n));
    b->distance = need(ESPI_ARENA_NEW(&b->arena, double, s->n));
    b->seen = need(ESPI_ARENA_NEW(&b->arena, unsigned char, s->n));
    if (espi_digraph_init(&b->g, s->n, s->m, b->tail, b->head, &b->arena) ||
        espi_arborescence_init(&b->arborescence, &b->g, &b->arena) ||
        espi_dijkstra_init(&b->dijkstra, s->n, &b->arena) ||
        espi_maxflow_init(&b->maxflow, &b->g, &b->arena))
        need(NULL);
}

static void run_reach(struct kernel_input *b, int k)
{
    espi_reach(&b->g, k % b->g.n, NULL, b->seen, b->order);
}

static void run_dijkstra(struct kernel_input *b, int k)
{
    int source = 0;
    struct espi_dijkstra_query query = {b->weight[k % SETS], &source, 1, NULL};
    espi_dijkstra(&b->dijkstra, &b->g, &query, b->distance, b->arc);
}

static void run_maxflow(struct kernel_input *b, int k)
{
    int sink = 1 + k * 7 % (b->g.n - 1);
    espi_maxflow(&b->maxflow, b->weight[k % SETS], 0, sink, INFINITY);
    espi_maxflow_source_cut(&b->maxflow, b->seen);
    espi_maxflow_sink_cut(&b->maxflow, b->seen);
}

static void run_arborescence(struct kernel_input *b, int k)
{
    espi_arborescence(&b->arborescence, 0, b->weight[k % SETS], b->arc, NULL);
}

static const struct {
    const char *name;
    void (*run)(struct kernel_input *b, int k);
} kernels[] = {
    {"reach", run_reach},
    {"dijkstra", run_dijkstra},
    {"arborescence", run_arborescence},
    {"maxflow", run_maxflow},
};

/* Seconds a call: as many calls a series as make 30 ms or so. */
static double time_kernel(struct kernel_input *b, void (*run)(struct kernel_input *, int),
                          int *calls)
{
    double best = INFINITY, start = now_s();
    for (int k = 0; k < SETS; k++)
        run(b, k);
    double once = (now_s() - start) / SETS;
    *calls = SETS * (1 + (int)fmin(1e5, 0.03 / SETS / fmax(once, 1e-9)));
    for (int s = 0; s < SERIES; s++) {
        start = now_s();
        for (int k = 0; k < *calls; k++)
            run(b, k);
        best = fmin(best, (now_s() - start) / *calls);
    }
    return best;
}

int main(int argc, char **argv)
{
    int json = argc == 2 && !strcmp(argv[1], "--json"), first = 1;
    if (argc > 1 && !json) {
        fprintf(stderr, "usage: bench_graph_kernels [--json]\n");
        return 2;
    }
    printf(json ? "[" : "kernel        graph      nodes    arcs   calls     us a call\n");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct kernel_input b;
        make_kernel_input(&b, &shapes[s]);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            int calls;
            double each_s = time_kernel(&b, kernels[i].run, &calls);
            const char *line =
                json ? "%s\n {\"kernel\": \"%s\", \"graph\": \"%s\", \"nodes\": %d, "
                       "\"arcs\": %d, \"calls\": %d, \"seconds\": %.4g}"
                     : "%s%-13s %-9s %6d %7d %7d %13.2f\n";
            printf(line, json && !first ? "," : "", kernels[i].name, shapes[s].name,
                   shapes[s].n, shapes[s].m, calls, json ? each_s : 1e6 * each_s);
            first = 0;
        }
        espi_arena_done(&b.arena);
    }
    printf(json ? "\n]\n" : "");
    return 0;
}
