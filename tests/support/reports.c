#include "support/reports.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <espalier/simulate.h>

#include "platform/platform.h"

/* By node: when its first slice came and its last, and how long they were under way. */
struct arrivals {
    double *first_s, *last_s, *under_way_s;
};

static void note(void *arg, const struct esp_sim_transfer *t)
{
    const struct arrivals *a = arg;
    if (a->last_s[t->to] < 0 || t->end_s < a->first_s[t->to])
        a->first_s[t->to] = t->end_s;
    a->last_s[t->to] = fmax(a->last_s[t->to], t->end_s);
    a->under_way_s[t->to] += t->end_s - t->start_s;
}

static void tell_children(struct espi_report *r, const struct esp_plan *plan,
                          const struct arrivals *a)
{
    int n = 0;
    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        r->child[i] = -1;
    for (int i = 0; i < plan->trees[0].n_edges && n < ESPI_REPORT_CHILDREN; i++)
        if (plan->trees[0].edges[i].from == r->node) {
            r->child[n] = plan->trees[0].edges[i].to;
            r->child_s[n] = (float)a->under_way_s[r->child[n]];
            n++;
        }
}

static double run(const struct esp_platform *p, const struct esp_plan *plan,
                  const struct esp_platform *reality, double bytes, struct arrivals *a)
{
    struct esp_sim_result *result;
    struct esp_sim_options options = {.reality = reality,
                                      .size_bytes = bytes,
                                      .slice_bytes = plan->slice_bytes,
                                      .sharing = ESP_SHARING_FLUID,
                                      .on_transfer = note,
                                      .arg = a};
    for (int i = 0; i < p->n_nodes; i++)
        a->first_s[i] = a->last_s[i] = -1;
    assert_int_equal(esp_simulate(p, plan, &options, &result, NULL), ESP_OK);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    return makespan_s;
}

int reports_of(const struct esp_platform *p, const struct esp_plan *plan,
               const struct esp_platform *reality, double bytes, uint64_t call,
               double began_s, struct espi_report *out)
{
    double *times = calloc(3 * (size_t)p->n_nodes, sizeof *times);
    assert_non_null(times);
    struct arrivals a = {times, times + p->n_nodes, times + 2 * p->n_nodes};
    double took_s = run(p, plan, reality, bytes, &a), slice = plan->slice_bytes;
    int n = plan->trees[0].n_edges;
    for (int i = 0; i <= n; i++) {
        const struct esp_edge *e = i ? &plan->trees[0].edges[i - 1] : NULL;
        int node = e ? e->to : plan->root;
        double end_s = e ? a.last_s[node] : took_s;
        out[i] =
            (struct espi_report){.magic = ESPI_REPORT_MAGIC,
                                 .version = ESPI_REPORT_VERSION,
                                 .node = node,
                                 .root = plan->root,
                                 .parent = e ? e->from : -1,
                                 .n = n + 1,
                                 .call = call,
                                 .bytes = (uint64_t)bytes,
                                 .slices = slice > 0 ? fmax(ceil(bytes / slice), 1) : 1,
                                 .receive_s = e ? a.last_s[node] - a.first_s[node] : 0,
                                 .total_s = end_s,
                                 .at_s = began_s + end_s};
        tell_children(&out[i], plan, &a);
    }
    free(times);
    return n + 1;
}
