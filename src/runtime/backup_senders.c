/* Whom a rank asks when its parent in the tree is late.
 *
 * A helper must get the data without the one it helps, so it is none of those below it in
 * the tree, and another than the parent. Of these it is the one from which a slice takes
 * the least time, each time counted once more for everybody that the helper sends to
 * already; below the same parent counts double, since it is late with its parent if that
 * is. In a redundant plan the second tree says it where it names such a one.
 * Complexity: O(n + m) and the view of the platform. */
#include "runtime/backup_senders.h"

#include <string.h>

#include "base/err.h"
#include "platform/view.h"

struct search {
    const struct espi_view *v;
    int *parent;       /* by host; -1: the root */
    int *from, *until; /* by host: numbers of those below it, itself first */
    int *burden;       /* by host: to how many it sends */
};

/* Numbers the hosts so that those below one follow it. The edges of a plan stand in an
 * order in which each sender has the data: sizes from behind, numbers from the front. */
static void number_hosts(struct search *s, const struct esp_tree *tree, int root)
{
    int n = s->v->g.n;
    for (int h = 0; h < n; h++) {
        s->parent[h] = -1;
        s->until[h] = 1; /* for now: how many are below it */
        s->burden[h] = 0;
    }
    for (int i = tree->n_edges - 1; i >= 0; i--) {
        int from = s->v->host[tree->edges[i].from], to = s->v->host[tree->edges[i].to];
        s->parent[to] = from;
        s->until[from] += s->until[to];
        s->burden[from]++;
    }
    int *next = s->burden + n; /* number of the next child, by host */
    s->from[root] = 0;
    next[root] = 1;
    for (int i = 0; i < tree->n_edges; i++) {
        int from = s->v->host[tree->edges[i].from], to = s->v->host[tree->edges[i].to];
        s->from[to] = next[from];
        next[from] += s->until[to];
        next[to] = s->from[to] + 1;
    }
    for (int h = 0; h < n; h++)
        s->until[h] += s->from[h];
}

static int is_below(const struct search *s, int host, int top)
{
    return s->from[host] >= s->from[top] && s->from[host] < s->until[top];
}

static int may_help(const struct search *s, int who, int whom)
{
    return who != s->parent[whom] && !is_below(s, who, whom);
}

static int best_helper(const struct search *s, int host)
{
    const struct espi_rows *in = &s->v->g.in;
    int best = -1, parent = s->parent[host];
    double best_s = 0;
    for (int k = in->start[host]; k < in->start[host + 1]; k++) {
        int who = s->v->g.tail[in->item[k]];
        if (!may_help(s, who, host))
            continue;
        double time_s = s->v->time_s[in->item[k]] * (1 + s->burden[who]);
        if (s->parent[parent] >= 0 && is_below(s, who, parent))
            time_s *= 2;
        if (best < 0 || time_s < best_s) {
            best = who;
            best_s = time_s;
        }
    }
    return best;
}

/* What the second tree says. */
static void take_second_tree(const struct search *s, const struct esp_plan *plan,
                             int *chosen)
{
    if (!plan->redundant || plan->n_trees < 2)
        return;
    for (int i = 0; i < plan->trees[1].n_edges; i++) {
        int from = s->v->host[plan->trees[1].edges[i].from];
        int to = s->v->host[plan->trees[1].edges[i].to];
        if (s->parent[to] >= 0 && may_help(s, from, to))
            chosen[to] = from;
    }
}

static void choose_senders(struct search *s, const struct esp_plan *plan, int *chosen)
{
    int n = s->v->g.n;
    for (int h = 0; h < n; h++)
        chosen[h] = -1;
    take_second_tree(s, plan, chosen);
    for (int h = 0; h < n; h++) {
        if (chosen[h] < 0 && s->parent[h] >= 0)
            chosen[h] = best_helper(s, h);
        if (chosen[h] >= 0)
            s->burden[chosen[h]]++;
    }
}

static esp_status find_senders(const struct espi_view *v, const struct esp_plan *plan,
                               struct espi_arena *arena, int *helper, struct esp_err *err)
{
    size_t n = (size_t)v->g.n;
    struct search s = {.v = v};
    s.parent = ESPI_ARENA_NEW(arena, int, n);
    s.from = ESPI_ARENA_NEW(arena, int, n);
    s.until = ESPI_ARENA_NEW(arena, int, n);
    s.burden = ESPI_ARENA_NEW(arena, int, 2 * n);
    int *chosen = ESPI_ARENA_NEW(arena, int, n);
    if (!s.parent || !s.from || !s.until || !s.burden || !chosen)
        return espi_err_nomem(err);
    number_hosts(&s, &plan->trees[0], v->host[plan->root]);
    choose_senders(&s, plan, chosen);
    for (int node = 0; node < esp_platform_node_count(v->p); node++) {
        int h = v->host[node];
        helper[node] = h >= 0 && chosen[h] >= 0 ? v->node[chosen[h]] : -1;
    }
    return ESP_OK;
}

esp_status espi_find_backup_senders(const struct esp_platform *p,
                                    const struct esp_plan *plan, double slice_bytes,
                                    int *helper, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_view v;
    if (plan->op != ESP_OP_BCAST || (plan->n_trees != 1 && !plan->redundant))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "only one tree that carries all has helpers");
    espi_arena_init(&arena);
    esp_status st = espi_view_init(&v, p, slice_bytes, &arena, err);
    if (!st && plan->trees[0].n_edges != v.g.n - 1)
        st = espi_err(err, ESP_EUNSUPPORTED, "the plan does not reach all hosts");
    if (!st)
        st = find_senders(&v, plan, &arena, helper, err);
    espi_arena_done(&arena);
    return st;
}
