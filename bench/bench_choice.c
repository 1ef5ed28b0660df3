/* How long a rank thinks before its first collective of a kind: the choice between plans
 * and the MPI library for platforms of several sizes and messages of several lengths.
 *   bench_choice [--json] [ROUNDS]      (the best of so many; 3 unless told otherwise)
 * Times are processor milliseconds. */
#include <espalier/espalier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/choice.h"

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_if(esp_status status, const struct esp_err *err)
{
    if (!status)
        return;
    fprintf(stderr, "bench_choice: %s\n", err->text);
    exit(1);
}

static struct esp_platform *make_sites(int hosts)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_sites_options_defaults(&o);
    o.sites = 4;
    o.clusters = 2;
    o.hosts = hosts / 8;
    stop_if(esp_generate_sites(&o, &p, &err), &err);
    return p;
}

static struct espi_native_library read_library(void)
{
    struct espi_native_table *table = NULL;
    struct esp_err err;
    int is_other;
    stop_if(espi_native_table_load("openmpi", NULL, &table, &is_other, &err), &err);
    return (struct espi_native_library){table, table->protocol};
}

static double choose(const struct espi_native_library *library,
                     const struct esp_platform *p, esp_op op, double bytes, int rounds,
                     struct espi_choice *choice)
{
    struct espi_choice_options options = {.margin = 0.9, .library = library};
    struct esp_err err;
    double best_s = INFINITY;
    for (int i = 0; i < rounds; i++) {
        double began_s = cpu_s();
        stop_if(espi_choose(p, op, 0, bytes, &options, choice, &err), &err);
        best_s = fmin(best_s, cpu_s() - began_s);
        espi_choice_done(choice);
    }
    return best_s;
}

static void print(int json, int first, esp_op op, int hosts, double bytes, double took_s,
                  const struct espi_choice *c)
{
    if (json)
        printf("%s\n  {\"op\": \"%s\", \"hosts\": %d, \"bytes\": %.0f, \"cpu_ms\": %.3f, "
               "\"ours_s\": %.6g, \"native_s\": %.6g}",
               first ? "" : ",", esp_op_name(op), hosts, bytes, 1e3 * took_s, c->ours_s,
               c->native_s);
    else
        printf("%-10s %6d %12.0f %10.2f %12.5g %12.5g\n", esp_op_name(op), hosts, bytes,
               1e3 * took_s, c->ours_s, c->native_s);
}

int main(int argc, char **argv)
{
    static const int hosts[] = {16, 64, 256};
    static const double sizes[] = {64e3, 1e6, 16e6};
    static const esp_op ops[] = {ESP_OP_BCAST,  ESP_OP_SCATTER,   ESP_OP_GATHER,
                                 ESP_OP_REDUCE, ESP_OP_ALLREDUCE, ESP_OP_ALLGATHER};
    int json = argc > 1 && strcmp(argv[1], "--json") == 0, first = 1;
    int rounds = argc > 1 + json ? atoi(argv[1 + json]) : 3;
    struct espi_native_library library = read_library();
    rounds = rounds < 1 ? 1 : rounds;
    if (json)
        printf("[");
    else
        printf("%-10s %6s %12s %10s %12s %12s\n", "op", "hosts", "bytes", "ms", "ours s",
               "native s");
    for (int h = 0; h < 3; h++) {
        struct esp_platform *p = make_sites(hosts[h]);
        for (int o = 0; o < 6; o++)
            for (int k = 0; k < 3; k++) {
                struct espi_choice c;
                double took_s = choose(&library, p, ops[o], sizes[k], rounds, &c);
                print(json, first, ops[o], hosts[h], sizes[k], took_s, &c);
                first = 0;
            }
        esp_platform_free(p);
    }
    if (json)
        printf("\n]\n");
    return 0;
}
