#include "native/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/ops.h"

/* ---- the script ---- */

int64_t espi_native_bytes(const struct esp_platform *p, esp_op op, double size_bytes)
{
    double n = p->n_hosts;
    double parts = espi_op_has_parts(op)   ? n
                   : espi_op_has_pairs(op) ? n * (n - 1)
                   : espi_op_has_paths(op) ? n - 1
                                           : 1;
    return (int64_t)ceil(size_bytes / (parts > 0 ? parts : 1));
}

static int rank_of(const struct esp_platform *p, const int *nodes, int node)
{
    int rank = 0;
    for (int u = 0; u < node && !nodes; u++)
        rank += !espi_is_switch(p, u);
    while (nodes && rank + 1 < p->n_hosts && nodes[rank] != node)
        rank++;
    return rank;
}

esp_status espi_native_script(const struct esp_platform *p,
                              const struct espi_native_run *run, struct espi_script *s,
                              struct esp_err *err)
{
    struct espi_native_task t = {.n_ranks = p->n_hosts,
                                 .root = rank_of(p, run->nodes, run->root),
                                 .bytes =
                                     espi_native_bytes(p, run->algo->op, run->size_bytes),
                                 .segment_bytes = run->segment_bytes,
                                 .fanout = run->fanout};
    if (!(run->size_bytes >= 1 && run->size_bytes < ESPI_NATIVE_BYTES))
        return espi_err(err, ESP_EUSAGE, "a message has from 1 byte to 4 PB");
    return espi_native_write(run->algo, &t, s, err);
}

/* ---- results ---- */

static int busiest_before(const void *a, const void *b)
{
    const struct esp_sim_resource *x = *(struct esp_sim_resource *const *)a;
    const struct esp_sim_resource *y = *(struct esp_sim_resource *const *)b;
    if (x->busy_s != y->busy_s)
        return x->busy_s > y->busy_s ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int add_resource(struct esp_sim_result *result, const struct espi_play *play,
                        int resource)
{
    char text[160];
    struct esp_sim_resource *x = espi_calloc(1, sizeof *x);
    if (!x)
        return -1;
    result->resources[result->n_resources++] = x;
    x->text = espi_strdup(espi_resource_text(&play->connections.links, play->p, resource,
                                             text, sizeof text));
    x->busy_s = play->busy_s[resource];
    x->utilisation = result->makespan_s > 0 ? x->busy_s / result->makespan_s : 0;
    return x->text ? 0 : -1;
}

static int add_resources(struct esp_sim_result *result, const struct espi_play *play)
{
    int used = 0;
    for (int r = 0; r < play->connections.links.n; r++)
        used += play->busy_s[r] > 0;
    result->resources = espi_calloc((size_t)used + 1, sizeof *result->resources);
    if (!result->resources)
        return -1;
    for (int r = 0; r < play->connections.links.n; r++)
        if (play->busy_s[r] > 0 && add_resource(result, play, r))
            return -1;
    qsort(result->resources, (size_t)result->n_resources, sizeof *result->resources,
          busiest_before);
    return 0;
}

static int add_ends(struct esp_sim_result *result, const struct espi_play *play,
                    const struct espi_native_run *run)
{
    int n = play->p->n_nodes, for_root = espi_op_is_for_root(run->algo->op);
    result->n_nodes = n;
    result->delivered_s = espi_calloc((size_t)n, sizeof(double));
    result->is_for = espi_calloc((size_t)n, 1);
    if (!result->delivered_s || !result->is_for)
        return -1;
    for (int r = 0; r < play->script->n_ranks; r++) {
        int node = play->connections.node[r];
        result->delivered_s[node] = play->end_s[r];
        result->is_for[node] =
            for_root ? node == run->root
                     : node != run->root || espi_op_frees_roots(run->algo->op);
        result->n_for += result->is_for[node];
        result->makespan_s = fmax(result->makespan_s, play->end_s[r]);
    }
    result->throughput_Bps =
        result->makespan_s > 0 ? run->size_bytes / result->makespan_s : 0;
    result->events = play->events;
    result->transfers = play->messages;
    return 0;
}

static esp_status report_play(const struct espi_play *play,
                              const struct espi_native_run *run,
                              struct esp_sim_result **out, struct esp_err *err)
{
    struct esp_sim_result *result = espi_calloc(1, sizeof *result);
    if (!result || add_ends(result, play, run) || add_resources(result, play)) {
        esp_sim_result_free(result);
        return espi_err_nomem(err);
    }
    *out = result;
    return ESP_OK;
}

/* ---- all of it ---- */

static esp_status play_run(const struct esp_platform *p,
                           const struct espi_native_run *run, struct espi_play *play,
                           struct espi_script *s, struct espi_arena *arena,
                           struct esp_err *err)
{
    esp_status st = espi_native_script(p, run, s, err);
    *play = (struct espi_play){.p = p,
                               .script = s,
                               .protocol = run->protocol,
                               .nodes = run->nodes,
                               .until_s = run->until_s,
                               .rounds_most = run->rounds_most,
                               .on_transfer = run->on_transfer,
                               .arg = run->arg};
    return st ? st : espi_play_script(play, arena, err);
}

esp_status espi_native_simulate(const struct esp_platform *p,
                                const struct espi_native_run *run,
                                struct esp_sim_result **out, struct esp_err *err)
{
    struct espi_script s = {0};
    struct espi_arena arena;
    struct espi_play play;
    espi_arena_init(&arena);
    esp_status st = play_run(p, run, &play, &s, &arena, err);
    if (!st)
        st = report_play(&play, run, out, err);
    espi_script_done(&s);
    espi_arena_done(&arena);
    return st;
}

esp_status espi_native_makespan(const struct esp_platform *p,
                                const struct espi_native_run *run, double *makespan_s,
                                struct esp_err *err)
{
    struct espi_script s = {0};
    struct espi_arena arena;
    struct espi_play play;
    espi_arena_init(&arena);
    esp_status st = play_run(p, run, &play, &s, &arena, err);
    if (!st) {
        *makespan_s = 0;
        for (int r = 0; r < s.n_ranks; r++)
            *makespan_s = fmax(*makespan_s, play.end_s[r]);
    }
    espi_script_done(&s);
    espi_arena_done(&arena);
    return st;
}
