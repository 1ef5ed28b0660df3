#include "copy/once.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/legs.h"

struct pruning {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    struct espi_legs legs;
    struct espi_arena arena;
    char *mark;          /* by node */
    int *taken, n_taken; /* legs, senders first */
    int *hops, *hop_start;
};

static int gets_twice(struct pruning *u)
{
    int n = esp_platform_node_count(u->p), twice = 0;
    for (int t = 0; t < u->plan->n_trees; t++) {
        memset(u->mark, 0, (size_t)n);
        for (int l = u->legs.tree_start[t]; l < u->legs.tree_start[t + 1]; l++) {
            char *mark = &u->mark[u->legs.leg[l].to];
            twice |= *mark;
            *mark = 1;
        }
    }
    return twice;
}

/* Those by which each host is reached first. */
static void take_legs(struct pruning *u, int tree)
{
    int more = 1;
    memset(u->mark, 0, (size_t)esp_platform_node_count(u->p));
    u->mark[u->plan->root] = 1;
    u->n_taken = 0;
    while (more) {
        more = 0;
        for (int l = u->legs.tree_start[tree]; l < u->legs.tree_start[tree + 1]; l++) {
            const struct espi_leg *leg = &u->legs.leg[l];
            if (!u->mark[leg->from] || u->mark[leg->to])
                continue;
            u->mark[leg->to] = 1;
            u->taken[u->n_taken++] = l;
            more = 1;
        }
    }
}

/* Not those that only lead to who passes on to nobody. */
static void drop_useless(struct pruning *u)
{
    int n = esp_platform_node_count(u->p), kept = u->n_taken;
    memset(u->mark, u->plan->targets == NULL, (size_t)n);
    for (int i = 0; i < u->plan->n_targets && u->plan->targets; i++)
        u->mark[u->plan->targets[i]] = 1;
    for (int i = u->n_taken - 1; i >= 0; i--) {
        const struct espi_leg *leg = &u->legs.leg[u->taken[i]];
        if (!u->mark[leg->to])
            continue;
        u->mark[leg->from] = 1;
        u->taken[--kept] = u->taken[i];
    }
    u->n_taken -= kept;
    memmove(u->taken, u->taken + kept, (size_t)u->n_taken * sizeof *u->taken);
}

static esp_status add_tree(struct pruning *u, int tree, struct esp_plan *out,
                           struct esp_err *err)
{
    int n = 0;
    take_legs(u, tree);
    drop_useless(u);
    for (int i = 0; i < u->n_taken; i++) {
        const struct espi_leg *leg = &u->legs.leg[u->taken[i]];
        u->hop_start[i] = n;
        memcpy(u->hops + n, espi_leg_hops(&u->legs, u->taken[i]),
               (size_t)leg->n_hops * sizeof *u->hops);
        n += leg->n_hops;
    }
    u->hop_start[u->n_taken] = n;
    return esp_plan_add_tree(out, u->p, u->plan->trees[tree].weight, u->n_taken,
                             u->hop_start, u->hops, err);
}

static esp_status build_once(struct pruning *u, struct esp_plan **out,
                             struct esp_err *err)
{
    const struct esp_plan *plan = u->plan;
    esp_status status = esp_plan_create(plan->op, plan->root, plan->algo, out, err);
    if (!status && plan->targets)
        status = esp_plan_set_targets(*out, plan->n_targets, plan->targets, err);
    for (int t = 0; !status && t < plan->n_trees; t++)
        status = add_tree(u, t, *out, err);
    if (status)
        return status;
    (*out)->size_bytes = plan->size_bytes;
    (*out)->slice_bytes = plan->slice_bytes;
    (*out)->makespan_s = plan->makespan_s;
    return esp_plan_schedule(*out, u->p, err);
}

static int set_up_pruning(struct pruning *u)
{
    int hops = 0;
    for (int t = 0; t < u->plan->n_trees; t++)
        hops += u->plan->trees[t].n_hops;
    u->mark = ESPI_ARENA_NEW(&u->arena, char, esp_platform_node_count(u->p) + 1);
    u->taken = ESPI_ARENA_NEW(&u->arena, int, hops + 1);
    u->hops = ESPI_ARENA_NEW(&u->arena, int, hops + 1);
    u->hop_start = ESPI_ARENA_NEW(&u->arena, int, hops + 2);
    return u->mark && u->taken && u->hops && u->hop_start
               ? espi_legs_init(&u->legs, u->p, u->plan, &u->arena)
               : -1;
}

esp_status espi_copy_once(const struct esp_platform *p, struct esp_plan **plan,
                          struct esp_err *err)
{
    struct pruning u = {.p = p, .plan = *plan};
    struct esp_plan *once = NULL;
    espi_arena_init(&u.arena);
    esp_status status = set_up_pruning(&u) ? espi_err_nomem(err) : ESP_OK;
    if (!status && gets_twice(&u))
        status = build_once(&u, &once, err);
    espi_arena_done(&u.arena);
    if (status || !once) {
        esp_plan_free(once);
        return status;
    }
    esp_plan_free(*plan);
    *plan = once;
    return ESP_OK;
}
