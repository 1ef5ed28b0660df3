#include "study/arrivals.h"

#include <math.h>

#include <espalier/simulate.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

static void note_arrival(void *arg, const struct esp_sim_transfer *t)
{
    struct espi_arrivals *a = arg;
    struct espi_seen_pair *pair = &a->pair[t->from * a->n_nodes + t->to];
    int of_tree = t->tree * a->n_nodes + t->to;

    if (t->tree >= a->n_trees || t->lost)
        return;
    /* they end in the order in which they began, and may overlap */
    pair->under_way_s += t->end_s - fmin(fmax(t->start_s, pair->last_s), t->end_s);
    if (pair->slices++ == 0)
        pair->first_s = t->end_s;
    pair->last_s = fmax(pair->last_s, t->end_s);
    if (a->last_s[t->to] < 0 || t->end_s < a->first_s[t->to])
        a->first_s[t->to] = t->end_s;
    a->last_s[t->to] = fmax(a->last_s[t->to], t->end_s);
    a->sender[of_tree] = t->from;
    a->slices[of_tree]++;
}

static esp_status arrivals_init(struct espi_arrivals *a, int n_nodes, int n_trees,
                                struct esp_err *err)
{
    size_t nodes = (size_t)n_nodes, streams = nodes * (size_t)n_trees;

    *a = (struct espi_arrivals){.n_nodes = n_nodes, .n_trees = n_trees};
    a->pair = espi_calloc(nodes * nodes + 1, sizeof *a->pair);
    a->sender = ESPI_NEW(int, streams + 1);
    a->slices = espi_calloc(streams + 1, sizeof *a->slices);
    a->first_s = ESPI_NEW(double, nodes + 1);
    a->last_s = ESPI_NEW(double, nodes + 1);
    if (!a->pair || !a->sender || !a->slices || !a->first_s || !a->last_s)
        return espi_err_nomem(err);
    for (size_t i = 0; i < streams; i++)
        a->sender[i] = -1;
    for (size_t i = 0; i < nodes; i++)
        a->first_s[i] = a->last_s[i] = -1;
    return ESP_OK;
}

static esp_status simulate_call(const struct esp_platform *p, const struct esp_plan *plan,
                                const struct esp_platform *reality, double bytes,
                                struct espi_arrivals *seen, struct esp_err *err)
{
    struct esp_sim_result *result;
    struct esp_sim_options options = {.size = sizeof options,
                                      .reality = reality,
                                      .size_bytes = bytes,
                                      .slice_bytes = plan->slice_bytes,
                                      .sharing = ESP_SHARING_FLUID,
                                      .on_transfer = note_arrival,
                                      .arg = seen};
    esp_status status = esp_simulate(p, plan, &options, &result, err);

    if (status != ESP_OK)
        return status;
    seen->took_s = result->makespan_s;
    esp_sim_result_free(result);
    return ESP_OK;
}

esp_status espi_arrivals_run(const struct esp_platform *p, const struct esp_plan *plan,
                             const struct esp_platform *reality, double bytes,
                             struct espi_arrivals *out, struct esp_err *err)
{
    esp_status status = arrivals_init(out, p->n_nodes, plan->n_trees, err);

    if (status == ESP_OK)
        status = simulate_call(p, plan, reality, bytes, out, err);
    if (status != ESP_OK)
        espi_arrivals_done(out);
    return status;
}

void espi_arrivals_done(struct espi_arrivals *a)
{
    espi_free(a->pair);
    espi_free(a->sender);
    espi_free(a->slices);
    espi_free(a->first_s);
    espi_free(a->last_s);
    *a = (struct espi_arrivals){0};
}

esp_status espi_arrivals_time(const struct esp_platform *p, const struct esp_plan *plan,
                              const struct esp_platform *reality, double bytes,
                              double *took_s, struct esp_err *err)
{
    struct espi_arrivals seen;
    esp_status status = espi_arrivals_run(p, plan, reality, bytes, &seen, err);

    if (status != ESP_OK)
        return status;
    *took_s = seen.took_s;
    espi_arrivals_done(&seen);
    return ESP_OK;
}

/* ---- reports ---- */

static void tell_peers(const struct espi_arrivals *a, struct espi_report *r)
{
    for (int peer = 0; peer < a->n_nodes; peer++) {
        const struct espi_seen_pair *from = &a->pair[peer * a->n_nodes + r->node];
        const struct espi_seen_pair *to = &a->pair[r->node * a->n_nodes + peer];
        if (from->slices > 0)
            espi_report_add(r, &(struct espi_report_way){
                                   .peer = peer,
                                   .kind = ESPI_WAY_FROM,
                                   .slices = (uint32_t)from->slices,
                                   .seconds = (float)(from->last_s - from->first_s)});
        if (to->slices > 0)
            espi_report_add(r,
                            &(struct espi_report_way){.peer = peer,
                                                      .kind = ESPI_WAY_TO,
                                                      .slices = (uint32_t)to->slices,
                                                      .seconds = (float)to->under_way_s});
    }
}

static void tell_trees(const struct espi_arrivals *a, struct espi_report *r)
{
    for (int t = 0; t < a->n_trees && a->n_trees > 1; t++) {
        int i = t * a->n_nodes + r->node;
        if (a->sender[i] >= 0)
            espi_report_add(r,
                            &(struct espi_report_way){.peer = a->sender[i],
                                                      .kind = ESPI_WAY_TREE,
                                                      .tree = (uint16_t)t,
                                                      .slices = (uint32_t)a->slices[i]});
    }
}

void espi_arrivals_report(const struct espi_arrivals *a, const struct esp_plan *plan,
                          int node, uint64_t call, double bytes, struct espi_report *out)
{
    double slice = plan->slice_bytes;

    *out = (struct espi_report){.magic = ESPI_REPORT_MAGIC,
                                .version = ESPI_REPORT_VERSION,
                                .node = node,
                                .root = plan->root,
                                .parent = -1,
                                .n = plan->trees[0].n_edges + 1,
                                .call = call,
                                .bytes = (uint64_t)bytes,
                                .slices = slice > 0 ? fmax(ceil(bytes / slice), 1) : 1,
                                .total_s = a->took_s};
    for (int t = a->n_trees - 1; t >= 0 && node != plan->root; t--)
        if (a->sender[t * a->n_nodes + node] >= 0)
            out->parent = a->sender[t * a->n_nodes + node];
    if (node != plan->root)
        out->receive_s = a->last_s[node] - a->first_s[node];
    tell_peers(a, out);
    tell_trees(a, out);
}

esp_status espi_arrivals_tell(struct espi_advisor *advisor, const struct esp_plan *plan,
                              const struct espi_arrivals *a, uint64_t call, double bytes,
                              double now_s, struct esp_err *err)
{
    struct espi_report *r = ESPI_NEW(struct espi_report, 1);
    esp_status status = r ? ESP_OK : espi_err_nomem(err);

    for (int i = -1; i < plan->trees[0].n_edges && status == ESP_OK; i++) {
        int node = i < 0 ? plan->root : plan->trees[0].edges[i].to;
        espi_arrivals_report(a, plan, node, call, bytes, r);
        status = espi_advisor_hear(advisor, r, now_s, err);
    }
    espi_free(r);
    return status;
}
