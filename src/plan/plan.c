/* Plans: making and freeing them. */
#include <espalier/plan.h>

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/schedule.h"
#include "platform/platform.h"

static const char *const op_names[ESP_OP_COUNT] = {
    [ESP_OP_BCAST] = "bcast",         [ESP_OP_MULTICAST] = "multicast",
    [ESP_OP_SCATTER] = "scatter",     [ESP_OP_GATHER] = "gather",
    [ESP_OP_REDUCE] = "reduce",       [ESP_OP_ALLREDUCE] = "allreduce",
    [ESP_OP_ALLGATHER] = "allgather", [ESP_OP_REDUCE_SCATTER] = "reduce-scatter",
    [ESP_OP_ALLTOALL] = "alltoall",
};

const char *esp_op_name(esp_op op)
{
    return (unsigned)op < ESP_OP_COUNT ? op_names[op] : "?";
}

int esp_op_parse(const char *text, esp_op *op)
{
    for (int i = 0; i < ESP_OP_COUNT; i++)
        if (!strcmp(text, op_names[i])) {
            *op = (esp_op)i;
            return 0;
        }
    return -1;
}

esp_status esp_plan_create(esp_op op, int root, const char *algo, struct esp_plan **out,
                           struct esp_err *err)
{
    struct esp_plan *plan = espi_calloc(1, sizeof *plan);
    char *name = espi_strdup(algo);
    if (!plan || !name) {
        espi_free(plan);
        espi_free(name);
        return espi_err_nomem(err);
    }
    plan->op = op;
    plan->root = root;
    plan->algo = name;
    *out = plan;
    return ESP_OK;
}

void espi_schedule_free(struct esp_schedule *schedule)
{
    if (!schedule)
        return;
    espi_free(schedule->tree_slices);
    espi_free(schedule->sends);
    espi_free(schedule);
}

struct esp_schedule *espi_schedule_copy(const struct esp_schedule *s, int n_trees)
{
    struct esp_schedule *copy = espi_calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *s;
    copy->tree_slices = ESPI_NEW(int, n_trees);
    copy->sends = ESPI_NEW(struct esp_send, s->n_sends);
    if (!copy->tree_slices || !copy->sends) {
        espi_schedule_free(copy);
        return NULL;
    }
    memcpy(copy->tree_slices, s->tree_slices, (size_t)n_trees * sizeof(int));
    if (s->n_sends)
        memcpy(copy->sends, s->sends, (size_t)s->n_sends * sizeof *s->sends);
    return copy;
}

/* It was for other trees. */
static void drop_schedule(struct esp_plan *plan)
{
    espi_schedule_free(plan->schedule);
    plan->schedule = NULL;
}

void esp_plan_free(struct esp_plan *plan)
{
    if (!plan)
        return;
    for (int t = 0; t < plan->n_trees; t++) {
        espi_free(plan->trees[t].edges);
        espi_free(plan->trees[t].hops);
        espi_free(plan->trees[t].targets);
        espi_free(plan->trees[t].steps);
    }
    espi_schedule_free(plan->schedule);
    espi_free(plan->trees);
    espi_free(plan->targets);
    espi_free(plan->rents);
    espi_free(plan->algo);
    espi_free(plan);
}

static esp_status check_hops(const struct esp_platform *p, int n_edges,
                             const int *hop_start, const int *hops, struct esp_err *err)
{
    for (int i = 0; i < n_edges; i++) {
        if (hop_start[i + 1] <= hop_start[i])
            return espi_err(err, ESP_EUSAGE, "transfer %d has no links", i);
        for (int k = hop_start[i]; k < hop_start[i + 1]; k++) {
            if (hops[k] < 0 || hops[k] >= p->n_links)
                return espi_err(err, ESP_EUSAGE, "transfer %d: no link %d", i, hops[k]);
            if (k > hop_start[i] && p->tail[hops[k]] != p->head[hops[k - 1]])
                return espi_err(err, ESP_EUSAGE, "transfer %d: its links do not join", i);
        }
    }
    return ESP_OK;
}

esp_status esp_plan_add_tree(struct esp_plan *plan, const struct esp_platform *p,
                             double weight, int n_edges, const int *hop_start,
                             const int *hops, struct esp_err *err)
{
    esp_status st = check_hops(p, n_edges, hop_start, hops, err);
    if (st)
        return st;
    int n_hops = n_edges ? hop_start[n_edges] - hop_start[0] : 0;
    struct esp_tree *trees =
        espi_realloc(plan->trees, ((size_t)plan->n_trees + 1) * sizeof *trees);
    if (!trees)
        return espi_err_nomem(err);
    plan->trees = trees;
    drop_schedule(plan);
    struct esp_tree tree = {
        .weight = weight, .root = plan->root, .n_edges = n_edges, .n_hops = n_hops};
    tree.edges = ESPI_NEW(struct esp_edge, n_edges);
    tree.hops = ESPI_NEW(int, n_hops);
    if (!tree.edges || !tree.hops) {
        espi_free(tree.edges);
        espi_free(tree.hops);
        return espi_err_nomem(err);
    }
    for (int i = 0; i < n_edges; i++) {
        int first = hop_start[i], last = hop_start[i + 1] - 1;
        tree.edges[i] = (struct esp_edge){p->tail[hops[first]], p->head[hops[last]],
                                          first - hop_start[0], last - first + 1};
    }
    if (n_hops)
        memcpy(tree.hops, hops + hop_start[0], (size_t)n_hops * sizeof *hops);
    plan->trees[plan->n_trees++] = tree;
    return ESP_OK;
}

esp_status esp_plan_add_simple_tree(struct esp_plan *plan, const struct esp_platform *p,
                                    double weight, int n_links, const int *links,
                                    struct esp_err *err)
{
    int *start = ESPI_NEW(int, (size_t)n_links + 1);
    if (!start)
        return espi_err_nomem(err);
    for (int i = 0; i <= n_links; i++)
        start[i] = i;
    esp_status st = esp_plan_add_tree(plan, p, weight, n_links, start, links, err);
    espi_free(start);
    return st;
}

/* Puts a copy of n nodes in place of what is there; none for NULL. */
static esp_status replace_nodes(int **nodes, int *count, int n, const int *by,
                                struct esp_err *err)
{
    int *copy = NULL;
    if (by) {
        copy = ESPI_NEW(int, n);
        if (!copy)
            return espi_err_nomem(err);
        if (n > 0)
            memcpy(copy, by, (size_t)n * sizeof *copy);
    }
    espi_free(*nodes);
    *nodes = copy;
    *count = by ? n : 0;
    return ESP_OK;
}

esp_status esp_plan_set_targets(struct esp_plan *plan, int n_targets, const int *targets,
                                struct esp_err *err)
{
    drop_schedule(plan);
    return replace_nodes(&plan->targets, &plan->n_targets, n_targets, targets, err);
}

esp_status esp_plan_set_rents(struct esp_plan *plan, int n, const struct esp_rent *rents,
                              struct esp_err *err)
{
    struct esp_rent *copy = n > 0 ? ESPI_NEW(struct esp_rent, n) : NULL;
    if (n > 0 && !copy)
        return espi_err_nomem(err);
    if (n > 0)
        memcpy(copy, rents, (size_t)n * sizeof *copy);
    espi_free(plan->rents);
    plan->rents = copy;
    plan->n_rents = n > 0 ? n : 0;
    return ESP_OK;
}

esp_status esp_plan_set_tree_ends(struct esp_plan *plan, int root, int n_targets,
                                  const int *targets, struct esp_err *err)
{
    if (plan->n_trees < 1)
        return espi_err(err, ESP_EUSAGE, "the plan has no tree yet");
    struct esp_tree *tree = &plan->trees[plan->n_trees - 1];
    drop_schedule(plan);
    esp_status st =
        replace_nodes(&tree->targets, &tree->n_targets, n_targets, targets, err);
    if (!st)
        tree->root = root;
    return st;
}

esp_status esp_plan_set_tree_steps(struct esp_plan *plan, const int *steps,
                                   struct esp_err *err)
{
    if (plan->n_trees < 1)
        return espi_err(err, ESP_EUSAGE, "the plan has no tree yet");
    struct esp_tree *tree = &plan->trees[plan->n_trees - 1];
    int n;
    drop_schedule(plan);
    return replace_nodes(&tree->steps, &n, tree->n_edges, steps, err);
}
