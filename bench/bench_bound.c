/* How long the optimal throughput takes, trees and certificate included, next to the full
 * program where that ends in time, and how it grows.
 *   bench_bound [--json] [--full SECONDS] [--quick]
 * CPU seconds of one core. The view is part of the time, the generator is not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bound/certificate.h"
#include "solve/full_lp.h"
#include "solve/packing.h"

struct platform_case {
    const char *kind;
    int nodes;
    double gap, target_s; /* 0: none, part of the growth curve */
};

static const struct platform_case cases[] = {
    {"tiers", 65, 1e-6, 0.02},   {"tiers", 200, 1e-6, 0.07},
    {"random", 200, 1e-6, 0.07}, {"tiers", 1000, 1e-6, 0.3},
    {"random", 1000, 1e-6, 0.3}, {"tiers", 2000, 1e-6, 0.9},
    {"random", 2000, 1e-6, 0.9}, {"complete", 128, 1e-6, 0.5},
    {"hub", 500, 1e-6, 0.6},     {"hub", 1000, 1e-6, 10},
    {"tiers", 10000, 1e-6, 8},   {"hub", 50, 1e-6, 0},
    {"hub", 100, 1e-6, 0},       {"hub", 200, 1e-6, 0},
    {"hub", 2000, 1e-6, 0},      {"random", 100, 1e-6, 0},
    {"random", 500, 1e-6, 0},    {"random", 5000, 1e-6, 0},
    {"tiers", 20000, 1e-6, 0},
};

struct result {
    int nodes, links, trees;
    double cpu_s, check_s, full_s; /* full_s: NAN when it did not end */
    double rate, gap;
};

static struct esp_platform *make_tiers(int nodes)
{
    struct esp_err err;
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    esp_tiers_options_defaults(&o);
    o.nodes = nodes;
    if (nodes == 65 || nodes == 10000)
        bench_stop_if(esp_tiers_options_preset(&o, nodes == 65 ? "65" : "10000", &err),
                      &err);
    bench_stop_if(esp_generate_tiers(&o, &p, &err), &err);
    return p;
}

static struct esp_platform *make_random(int nodes)
{
    struct esp_err err;
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = nodes;
    o.density = 6.0 / nodes; /* about 8 arcs a node */
    bench_stop_if(esp_generate_random(&o, &p, &err), &err);
    return p;
}

static struct esp_platform *make_complete(int nodes)
{
    struct esp_err err;
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    esp_complete_options_defaults(&o);
    o.nodes = nodes;
    bench_stop_if(esp_generate_complete(&o, &p, &err), &err);
    return p;
}

static struct esp_platform *make_hub(int nodes)
{
    struct esp_err err;
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    esp_hub_options_defaults(&o);
    o.nodes = nodes;
    bench_stop_if(esp_generate_hub(&o, &p, &err), &err);
    return p;
}

static struct esp_platform *make_platform(const struct platform_case *c)
{
    if (!strcmp(c->kind, "tiers"))
        return make_tiers(c->nodes);
    if (!strcmp(c->kind, "random"))
        return make_random(c->nodes);
    return strcmp(c->kind, "hub") ? make_complete(c->nodes) : make_hub(c->nodes);
}

static double time_full(const struct espi_view *v, double limit_s, double rate)
{
    struct espi_arena arena;
    double found, began_s = espi_cpu_s();
    espi_arena_init(&arena);
    esp_status st = espi_full_lp_solve(v, 0, limit_s, &arena, &found, NULL, NULL);
    espi_arena_done(&arena);
    if (st)
        return NAN;
    if (fabs(found / rate - 1) > 1e-6) {
        fprintf(stderr, "bench_bound: the full program says %.9g, not %.9g\n", found,
                rate);
        exit(1);
    }
    return espi_cpu_s() - began_s;
}

static struct result measure(const struct platform_case *c, double full_limit_s)
{
    struct esp_err err;
    struct esp_platform *p = make_platform(c);
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    struct espi_certificate certificate;
    struct espi_packing_options options = {.gap = c->gap};
    struct result r = {
        esp_platform_node_count(p), esp_platform_link_count(p), 0, 0, 0, NAN, 0, 0};
    espi_arena_init(&arena);
    double began_s = espi_cpu_s();
    bench_stop_if(espi_view_init(&v, p, 65536, &arena, &err), &err);
    bench_stop_if(espi_packing_solve(&v, 0, &options, &arena, &packing, &err), &err);
    r.cpu_s = espi_cpu_s() - began_s;
    began_s = espi_cpu_s();
    bench_stop_if(
        espi_certificate_check(&v, 0, &packing, c->gap, &arena, &certificate, &err),
        &err);
    r.check_s = espi_cpu_s() - began_s;
    r.trees = packing.n_trees;
    r.rate = packing.rate;
    r.gap = certificate.gap;
    if (full_limit_s > 0 && r.nodes <= 100)
        r.full_s = time_full(&v, full_limit_s, packing.rate);
    espi_arena_done(&arena);
    esp_platform_free(p);
    return r;
}

static void print_json(const struct platform_case *c, const struct result *r, int first)
{
    printf("%s\n  {\"kind\": \"%s\", \"nodes\": %d, \"links\": %d, \"cpu_s\": %.4f, "
           "\"target_s\": %g, \"check_s\": %.4f, \"gap\": %.3g, \"trees\": %d",
           first ? "[" : ",", c->kind, r->nodes, r->links, r->cpu_s, c->target_s,
           r->check_s, r->gap, r->trees);
    if (!isnan(r->full_s))
        printf(", \"full_s\": %.3f", r->full_s);
    printf("}");
}

static void print_line(const struct platform_case *c, const struct result *r)
{
    char target[32] = "", full[32] = "";
    if (c->target_s > 0)
        snprintf(target, sizeof target, "%.2f%s", c->target_s,
                 r->cpu_s <= c->target_s ? "" : " !");
    if (!isnan(r->full_s))
        snprintf(full, sizeof full, "%.2f", r->full_s);
    printf("%-9s %6d %7d %9.4f %8s %9.4f %9.1e %6d %9s\n", c->kind, r->nodes, r->links,
           r->cpu_s, target, r->check_s, r->gap, r->trees, full);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int json = 0, quick = 0;
    double full_limit_s = 60;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            json = 1;
        else if (!strcmp(argv[i], "--quick"))
            quick = 1;
        else if (!strcmp(argv[i], "--full") && i + 1 < argc)
            full_limit_s = atof(argv[++i]);
        else {
            fprintf(stderr, "usage: bench_bound [--json] [--full SECONDS] [--quick]\n");
            return 2;
        }
    }
    if (!json)
        printf("%-9s %6s %7s %9s %8s %9s %9s %6s %9s\n", "platform", "nodes", "arcs",
               "cpu s", "target", "check s", "gap", "trees", "full s");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (quick && !(cases[i].target_s > 0))
            continue;
        struct result r = measure(&cases[i], quick ? 0 : full_limit_s);
        if (json)
            print_json(&cases[i], &r, i == 0);
        else
            print_line(&cases[i], &r);
    }
    if (json)
        printf("\n]\n");
    return 0;
}
