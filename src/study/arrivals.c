#include "study/arrivals.h"

#include <math.h>

#include <espalier/simulate.h>

#include "platform/platform.h"

static void note_arrival(void *arg, const struct esp_sim_transfer *t)
{
    struct espi_arrival *a = (struct espi_arrival *)arg + t->to;

    if (a->last_s < 0 || t->end_s < a->first_s)
        a->first_s = t->end_s;
    a->last_s = fmax(a->last_s, t->end_s);
    a->under_way_s += t->end_s - t->start_s;
}

esp_status espi_arrivals(const struct esp_platform *p, const struct esp_plan *plan,
                         const struct esp_platform *reality, double bytes,
                         struct espi_arrival *out, double *took_s, struct esp_err *err)
{
    struct esp_sim_result *result;
    struct esp_sim_options options = {.size = sizeof options,
                                      .reality = reality,
                                      .size_bytes = bytes,
                                      .slice_bytes = plan->slice_bytes,
                                      .sharing = ESP_SHARING_FLUID,
                                      .on_transfer = note_arrival,
                                      .arg = out};

    for (int i = 0; i < p->n_nodes; i++)
        out[i] = (struct espi_arrival){-1, -1, 0};
    esp_status status = esp_simulate(p, plan, &options, &result, err);
    if (status != ESP_OK)
        return status;
    *took_s = result->makespan_s;
    esp_sim_result_free(result);
    return ESP_OK;
}

struct espi_report espi_arrivals_report(const struct esp_plan *plan, uint64_t call,
                                        double bytes)
{
    double slice = plan->slice_bytes;

    return (struct espi_report){.magic = ESPI_REPORT_MAGIC,
                                .version = ESPI_REPORT_VERSION,
                                .node = plan->root,
                                .root = plan->root,
                                .parent = -1,
                                .n = plan->trees[0].n_edges + 1,
                                .call = call,
                                .bytes = (uint64_t)bytes,
                                .slices = slice > 0 ? fmax(ceil(bytes / slice), 1) : 1};
}

void espi_arrivals_of_children(struct espi_report *r, const struct esp_plan *plan,
                               const struct espi_arrival *arrivals)
{
    int n = 0;

    for (int i = 0; i < ESPI_REPORT_CHILDREN; i++)
        r->child[i] = -1;
    for (int i = 0; i < plan->trees[0].n_edges && n < ESPI_REPORT_CHILDREN; i++)
        if (plan->trees[0].edges[i].from == r->node) {
            r->child[n] = plan->trees[0].edges[i].to;
            r->child_s[n] = (float)arrivals[r->child[n]].under_way_s;
            n++;
        }
}

esp_status espi_arrivals_tell(struct espi_advisor *advisor, const struct esp_plan *plan,
                              const struct espi_arrival *arrivals, uint64_t call,
                              double bytes, double total_s, double now_s,
                              struct esp_err *err)
{
    struct espi_report r = espi_arrivals_report(plan, call, bytes);

    r.total_s = total_s;
    if (plan->n_trees > 1)
        return ESP_OK;
    espi_arrivals_of_children(&r, plan, arrivals);
    esp_status status = espi_advisor_hear(advisor, &r, now_s, err);
    for (int i = 0; i < plan->trees[0].n_edges && status == ESP_OK; i++) {
        const struct esp_edge *e = &plan->trees[0].edges[i];
        r.node = e->to;
        r.parent = e->from;
        r.receive_s = arrivals[e->to].last_s - arrivals[e->to].first_s;
        espi_arrivals_of_children(&r, plan, arrivals);
        status = espi_advisor_hear(advisor, &r, now_s, err);
    }
    return status;
}
