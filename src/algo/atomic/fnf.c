/* Fastest node first (FNF).
 *
 * Receivers by increasing cost of their sends; each hears from the informed host whose
 * next send would be over first by the costs of the hosts. What is added to the ready
 * times is the time of the link.
 * Reference: M. Banikazemi, V. Moorthy, D. K. Panda, Efficient collective communication
 * on heterogeneous networks of workstations, 1998; with a time for each link, a host's
 * cost is the mean over its arcs, as P. B. Bhat et al. compared it.
 * Model: one-port. On platforms that are not complete the choice is among existing arcs:
 * the next receiver is the cheapest that an informed host has a link to.
 * Ties: the lower receiver, then the lower sender.
 * Guarantee: none. Complexity: O(m + n log n). */
#include "algo/atomic/ranks.h"
#include "base/err.h"
#include "base/heap.h"

struct fnf {
    const struct espi_view *v;
    const double *cost_s;
    double *ready_s;
    unsigned char *informed;
    struct espi_heap open; /* hosts that could hear next, by cost */
    int *chosen, n_chosen;
};

static int fnf_init(struct fnf *f, const struct espi_task *task)
{
    int n = task->view->g.n;
    *f = (struct fnf){.v = task->view, .cost_s = espi_mean_send_s(task)};
    f->ready_s = ESPI_ARENA_ZNEW(task->arena, double, n);
    f->informed = ESPI_ARENA_ZNEW(task->arena, unsigned char, n);
    f->chosen = ESPI_ARENA_NEW(task->arena, int, n);
    return f->cost_s && f->ready_s && f->informed && f->chosen
               ? espi_heap_init(&f->open, task->arena, n)
               : -1;
}

static void inform_host(struct fnf *f, int host)
{
    const struct espi_digraph *g = &f->v->g;
    f->informed[host] = 1;
    for (int k = g->out.start[host]; k < g->out.start[host + 1]; k++) {
        int to = g->head[g->out.item[k]];
        if (!f->informed[to] && !espi_heap_has(&f->open, to))
            espi_heap_set(&f->open, to, f->cost_s[to]);
    }
}

/* The arc to the host from the sender that would be done first by its cost. */
static int best_arc(const struct fnf *f, int host)
{
    const struct espi_digraph *g = &f->v->g;
    int best = -1, sender = -1;
    double best_s = 0;
    for (int k = g->in.start[host]; k < g->in.start[host + 1]; k++) {
        int e = g->in.item[k], from = g->tail[e];
        double done_s = f->ready_s[from] + f->cost_s[from];
        if (f->informed[from] &&
            (best < 0 || done_s < best_s || (done_s == best_s && from < sender))) {
            best = e;
            sender = from;
            best_s = done_s;
        }
    }
    return best;
}

static esp_status run_fnf(const struct espi_task *task, struct esp_plan *plan,
                          struct esp_err *err)
{
    struct fnf f;
    if (fnf_init(&f, task))
        return espi_err_nomem(err);
    inform_host(&f, task->root);
    while (f.open.size > 0) {
        int host = espi_heap_pop(&f.open), e = best_arc(&f, host);
        double *sender_s = &f.ready_s[f.v->g.tail[e]];
        f.ready_s[host] = *sender_s + f.v->lag_s[e];
        *sender_s += f.v->hold_s[e];
        f.chosen[f.n_chosen++] = e;
        inform_host(&f, host);
    }
    return espi_plan_add_arcs(plan, f.v, 1, f.chosen, f.n_chosen, task->arena, err);
}

const struct espi_algo espi_algo_fnf = {
    .name = "fnf",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Banikazemi, Moorthy, Panda 1998",
    .complexity = "O(m + n log n)",
    .summary = "hosts that send fast hear first",
    .run = run_fnf,
};
