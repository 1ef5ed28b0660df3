/* Writes plans, format espalier-plan/1. */
#include <errno.h>
#include <string.h>

#include <espalier/plan.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/number.h"
#include "plan/plan.h"
#include "platform/platform.h"

static void put_number(FILE *out, const char *key, double value)
{
    char text[ESPI_NUMBER_MAX];
    espi_number_print(text, value);
    fprintf(out, ",\n  \"%s\": %s", key, text);
}

/* An edge is the list of the nodes of its path: two, or more when others forward. */
static void put_edge(const struct esp_platform *p, const struct esp_tree *t, int i,
                     FILE *out)
{
    const struct esp_edge *e = &t->edges[i];
    fputs(i ? ", [" : "[", out);
    espi_json_put_string(out, espi_node_name(p, e->from));
    for (int k = 0; k < e->n_hops; k++) {
        fputs(", ", out);
        espi_json_put_string(out, espi_node_name(p, p->head[t->hops[e->first_hop + k]]));
    }
    putc(']', out);
}

static void put_targets(const struct esp_platform *p, const int *nodes, int n, FILE *out)
{
    fputs("\"targets\": [", out);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        espi_json_put_string(out, espi_node_name(p, nodes[i]));
    }
    putc(']', out);
}

static void put_tree(const struct esp_platform *p, const struct esp_plan *plan,
                     const struct esp_tree *t, FILE *out)
{
    char text[ESPI_NUMBER_MAX];
    espi_number_print(text, t->weight);
    fprintf(out, "\n    {\"weight\": %s", text);
    if (t->root != plan->root) {
        fputs(", \"root\": ", out);
        espi_json_put_string(out, espi_node_name(p, t->root));
    }
    if (t->targets) {
        fputs(", ", out);
        put_targets(p, t->targets, t->n_targets, out);
    }
    fputs(", \"edges\": [", out);
    for (int i = 0; i < t->n_edges; i++)
        put_edge(p, t, i, out);
    if (t->steps) {
        fputs("], \"steps\": [", out);
        for (int i = 0; i < t->n_edges; i++)
            fprintf(out, i ? ", %d" : "%d", t->steps[i]);
    }
    fputs("]}", out);
}

/* {"aws:eu-west-1": 2, ...} */
static void put_rents(const struct esp_platform *p, const struct esp_plan *plan,
                      FILE *out)
{
    fputs(",\n  \"machines\": {", out);
    for (int i = 0; i < plan->n_rents; i++) {
        fputs(i ? ", " : "", out);
        espi_json_put_string(out, espi_node_name(p, plan->rents[i].node));
        fprintf(out, ": %d", plan->rents[i].count);
    }
    putc('}', out);
}

static void put_figure(FILE *out, const char *before, double value)
{
    char text[ESPI_NUMBER_MAX];
    espi_number_print(text, value);
    fprintf(out, "%s%s", before, text);
}

/* [tree, edge, slice, lag, part], without zeros at the end but for the edge. */
static void put_send(const struct esp_send *x, FILE *out)
{
    const int rest[] = {x->slice, x->lag, x->part};
    int n = 3;
    while (n > 0 && rest[n - 1] == 0)
        n--;
    fprintf(out, "[%d,%d", x->tree, x->edge);
    for (int i = 0; i < n; i++)
        fprintf(out, ",%d", rest[i]);
    putc(']', out);
}

static void put_schedule(const struct esp_schedule *s, int n_trees, FILE *out)
{
    enum { A_LINE = 12 }; /* looks: sends of a line */
    put_figure(out, ",\n  \"schedule\": {\"slice_bytes\": ", s->slice_bytes);
    fprintf(out, ", \"slots\": %d, \"tree_slices\": [", s->slots);
    for (int t = 0; t < n_trees; t++)
        fprintf(out, "%s%d", t ? "," : "", s->tree_slices[t]);
    fputs("],\n    \"sends\": [", out);
    for (int k = 0; k < s->n_sends; k++) {
        fputs(k % A_LINE ? "," : k ? ",\n      " : "\n      ", out);
        put_send(&s->sends[k], out);
    }
    fputs("\n    ]}", out);
}

esp_status esp_plan_write_stream(const struct esp_plan *plan,
                                 const struct esp_platform *p, FILE *out,
                                 struct esp_err *err)
{
    struct esp_plan timeless = *plan;
    timeless.plan_s = 0;
    return espi_plan_write_timed(&timeless, p, out, err);
}

esp_status espi_plan_write_timed(const struct esp_plan *plan,
                                 const struct esp_platform *p, FILE *out,
                                 struct esp_err *err)
{
    fprintf(out, "{\n  \"format\": \"espalier-plan/1\",\n  \"op\": \"%s\",\n  \"root\": ",
            esp_op_name(plan->op));
    espi_json_put_string(out, espi_node_name(p, plan->root));
    if (plan->targets) {
        fputs(",\n  ", out);
        put_targets(p, plan->targets, plan->n_targets, out);
    }
    fputs(",\n  \"algo\": ", out);
    espi_json_put_string(out, plan->algo);
    put_number(out, "size_bytes", plan->size_bytes);
    put_number(out, "slice_bytes", plan->slice_bytes);
    put_number(out, "throughput_Bps", plan->throughput_Bps);
    put_number(out, "makespan_s", plan->makespan_s);
    if (plan->bound_Bps > 0) {
        put_number(out, "bound_Bps", plan->bound_Bps);
        put_number(out, "ratio", plan->throughput_Bps / plan->bound_Bps);
    }
    if (plan->makespan_bound_s > 0) {
        put_number(out, "makespan_bound_s", plan->makespan_bound_s);
        put_number(out, "makespan_ratio", plan->makespan_s / plan->makespan_bound_s);
    }
    if (plan->plan_s > 0)
        put_number(out, "plan_s", plan->plan_s);
    if (plan->redundant) {
        fputs(",\n  \"redundant\": true", out);
        put_number(out, "patience", plan->patience);
    }
    if (plan->n_rents)
        put_rents(p, plan, out);
    fputs(",\n  \"trees\": [", out);
    for (int t = 0; t < plan->n_trees; t++) {
        if (t)
            putc(',', out);
        put_tree(p, plan, &plan->trees[t], out);
    }
    fputs("\n  ]", out);
    if (plan->schedule)
        put_schedule(plan->schedule, plan->n_trees, out);
    fputs("\n}\n", out);
    if (fflush(out) || ferror(out))
        return espi_err(err, ESP_EIO, "cannot write the plan: %s", strerror(errno));
    return ESP_OK;
}

struct pair {
    const struct esp_plan *plan;
    const struct esp_platform *p;
};

static esp_status write_pair(const void *what, FILE *out, struct esp_err *err)
{
    const struct pair *pair = what;
    return esp_plan_write_stream(pair->plan, pair->p, out, err);
}

esp_status esp_plan_write(const struct esp_plan *plan, const struct esp_platform *p,
                          const char *path, struct esp_err *err)
{
    struct pair pair = {plan, p};
    return espi_write_file(path, write_pair, &pair, err);
}
