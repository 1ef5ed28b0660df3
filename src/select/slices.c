#include "select/slices.h"

#include <math.h>
#include <stdlib.h>

#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/slices.h"
#include "plan/tuning.h"
#include "platform/platform.h"
#include "select/tuning.h"

static int add_size(double part_bytes, double bytes, double *out_bytes, int n)
{
    double cut = espi_slices(part_bytes, bytes).bytes;
    for (int i = 0; i < n; i++)
        if (out_bytes[i] == cut)
            return n;
    if (n < ESPI_SLICE_SIZES_MAX)
        out_bytes[n++] = cut;
    return n;
}

/* Where there is nobody to send to there are no parts. */
static double part_of(double size_bytes, double parts)
{
    return size_bytes / fmax(parts, 1);
}

int espi_slice_sizes(double size_bytes, double parts,
                     double out_bytes[ESPI_SLICE_SIZES_MAX])
{
    double part = part_of(size_bytes, parts), bytes = ESPI_SLICE_LEAST;
    int n = add_size(part, part, out_bytes, 0);
    int doublings = 0;
    for (; bytes * 2 * ESPI_SLICE_BELOW < part; doublings++)
        bytes *= 2;
    for (; doublings >= 0; doublings--) {
        n = add_size(part, bytes * ESPI_SLICE_BELOW, out_bytes, n);
        bytes /= 2;
    }
    return n;
}

double espi_usual_slices(double size_bytes, double parts)
{
    return espi_slices(part_of(size_bytes, parts), ESPI_SLICE_USUAL).bytes;
}

int espi_few_slices(double size_bytes, double out_bytes[ESPI_FEW_SLICES])
{
    double usual = ESPI_SLICE_USUAL;
    int n = 0;
    if (usual < size_bytes)
        n = add_size(size_bytes, usual, out_bytes, n);
    if (usual / 4 < size_bytes)
        n = add_size(size_bytes, usual / 4, out_bytes, n);
    return add_size(size_bytes, size_bytes, out_bytes, n);
}

/* Half of a round trip has a send and a receive in it: messages cost no more than the
 * shortest latency that is known. */
static double standard_message_s(const struct esp_platform *p)
{
    double least_s = ESPI_MESSAGE_S;
    for (int e = 0; e < p->n_links; e++)
        if (p->latency_s[e] > 0)
            least_s = fmin(least_s, p->latency_s[e]);
    return least_s;
}

double espi_message_s(const struct esp_platform *p)
{
    double most_s = 0;
    int counted = p->model == ESP_MODEL_MULTI_PORT || p->model == ESP_MODEL_HNOW;
    if (!p->has_send && !p->has_recv)
        return standard_message_s(p);
    for (int v = 0; v < p->n_nodes; v++)
        most_s = fmax(most_s, fmax(p->send_s[v], 0) + fmax(p->recv_s[v], 0));
    return counted ? 0 : most_s;
}

double espi_with_messages_s(const struct esp_platform *p, double finish_s,
                            double messages_s)
{
    if (p->model != ESP_MODEL_CAPACITY)
        return finish_s + messages_s;
    return isfinite(finish_s) ? sqrt(finish_s * finish_s + messages_s * messages_s)
                              : finish_s;
}

/* A message of a plan with steps: who gets it, in which step, from whom. */
struct message {
    int to, step, from;
};

static int compare_messages(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static esp_status list_messages(const struct esp_plan *plan, struct espi_arena *arena,
                                struct message **out, size_t *n)
{
    size_t all = 0;
    for (int t = 0; t < plan->n_trees; t++)
        all += (size_t)plan->trees[t].n_edges;
    *n = 0;
    *out = ESPI_ARENA_NEW(arena, struct message, all + 1);
    for (int t = 0; *out && t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        for (int i = 0; i < tree->n_edges; i++)
            (*out)[(*n)++] =
                (struct message){tree->edges[i].to, tree->steps[i], tree->edges[i].from};
    }
    return *out ? ESP_OK : ESP_ENOMEM;
}

/* Parts that travel together are one. */
static double most_messages(struct message *list, size_t n)
{
    int most = 0, own = 0;
    qsort(list, n, sizeof *list, compare_messages);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || list[i].to != list[i - 1].to)
            own = 0;
        own += i == 0 || compare_messages(&list[i], &list[i - 1]) != 0;
        most = own > most ? own : most;
    }
    return most;
}

/* The part of all slices that the host which gets most gets: of an alltoall some of those
 * of all pairs. */
static esp_status most_received(const struct esp_plan *plan, struct espi_arena *arena,
                                double *out)
{
    int nodes = 0;
    double most = 0;
    for (int t = 0; t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++)
            if (plan->trees[t].edges[i].to >= nodes)
                nodes = plan->trees[t].edges[i].to + 1;
    double *got = ESPI_ARENA_ZNEW(arena, double, (size_t)nodes + 1);
    for (int t = 0; got && t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++) {
            double *at = &got[plan->trees[t].edges[i].to];
            *at += plan->trees[t].weight;
            most = fmax(most, *at);
        }
    *out = most;
    return got ? ESP_OK : ESP_ENOMEM;
}

esp_status espi_messages(const struct esp_plan *plan, double size_bytes,
                         double slice_bytes, struct espi_arena *arena, double *out)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct message *list = NULL;
    size_t n = 0;
    double count = espi_slices(size_bytes, slice_bytes).count, part = 1;
    esp_status st = ESP_OK;
    if (espi_plan_has_steps(plan))
        st = list_messages(plan, arena, &list, &n);
    else if (espi_op_has_pairs(plan->op))
        st = most_received(plan, arena, &part);
    if (!st)
        *out = espi_plan_has_steps(plan) ? most_messages(list, n) : count * part;
    espi_arena_release(arena, mark);
    return st;
}

esp_status espi_plan_with_messages_s(const struct esp_platform *p,
                                     const struct esp_plan *plan, double finish_s,
                                     double *out)
{
    struct espi_arena arena;
    double messages = 0;
    espi_arena_init(&arena);
    esp_status st =
        espi_messages(plan, plan->size_bytes, plan->slice_bytes, &arena, &messages);
    espi_arena_done(&arena);
    if (!st)
        *out = espi_with_messages_s(p, finish_s, messages * espi_message_s(p));
    return st;
}
