/* Look-ahead with means: the variants avg and set of look_ahead.c.
 *
 * For each waiting host the best sender is kept, and looked for again when that sender
 * has become busier. The look-ahead values are computed anew in each step, over the
 * receivers' own arcs: a mean is not monotonous, and adding and taking away would let
 * rounding errors pile up. O(n m) in all. */
#include <math.h>

#include "algo/atomic/greedy.h"
#include "algo/atomic/look_ahead.h"
#include "base/err.h"

struct mean {
    const struct espi_view *v;
    int set;
    double slowest_s;
    unsigned char *informed;
    double *ready_s;
    int *best;      /* waiting host -> arc by which it would have the message first, -1 */
    double *near_s; /* host -> fastest arc from an informed one; the slowest if none */
    int *waiting, n_waiting;
    int *chosen, n_chosen;
};

static int mean_init(struct mean *s, const struct espi_task *task, int set)
{
    int n = task->view->g.n;
    struct espi_arena *a = task->arena;
    *s = (struct mean){.v = task->view, .set = set};
    s->slowest_s = espi_slowest_s(s->v);
    s->informed = ESPI_ARENA_ZNEW(a, unsigned char, n);
    s->ready_s = ESPI_ARENA_ZNEW(a, double, n);
    s->best = ESPI_ARENA_NEW(a, int, n);
    s->near_s = ESPI_ARENA_NEW(a, double, n);
    s->waiting = ESPI_ARENA_NEW(a, int, n);
    s->chosen = ESPI_ARENA_NEW(a, int, n);
    if (!s->informed || !s->ready_s || !s->best || !s->near_s || !s->waiting ||
        !s->chosen)
        return -1;
    for (int h = 0; h < n; h++) {
        s->best[h] = -1;
        s->near_s[h] = s->slowest_s;
        if (h != task->root)
            s->waiting[s->n_waiting++] = h;
    }
    return 0;
}

static double finish_s(const struct mean *s, int arc)
{
    return s->ready_s[s->v->g.tail[arc]] + s->v->lag_s[arc];
}

/* Takes the arc as the best one to its head if it is. */
static void consider_arc(struct mean *s, int arc)
{
    const int *tail = s->v->g.tail;
    int *best = &s->best[s->v->g.head[arc]];
    if (*best < 0 || finish_s(s, arc) < finish_s(s, *best) ||
        (finish_s(s, arc) == finish_s(s, *best) && tail[arc] < tail[*best]))
        *best = arc;
}

static void look_again(struct mean *s, int host)
{
    const struct espi_digraph *g = &s->v->g;
    s->best[host] = -1;
    for (int k = g->in.start[host]; k < g->in.start[host + 1]; k++)
        if (s->informed[g->tail[g->in.item[k]]])
            consider_arc(s, g->in.item[k]);
}

static void inform_host(struct mean *s, int host)
{
    const struct espi_digraph *g = &s->v->g;
    s->informed[host] = 1;
    for (int k = g->out.start[host]; k < g->out.start[host + 1]; k++) {
        int e = g->out.item[k];
        s->near_s[g->head[e]] = fmin(s->near_s[g->head[e]], s->v->lag_s[e]);
        consider_arc(s, e);
    }
}

/* Those who counted on a sender that is busier now. */
static void review(struct mean *s, int sender)
{
    const struct espi_digraph *g = &s->v->g;
    for (int k = g->out.start[sender]; k < g->out.start[sender + 1]; k++) {
        int e = g->out.item[k], to = g->head[e];
        if (!s->informed[to] && s->best[to] == e)
            look_again(s, to);
    }
}

/* The sum of the times from the host to all others that wait. */
static double sum_avg_s(const struct mean *s, int host)
{
    const struct espi_digraph *g = &s->v->g;
    int missing = s->n_waiting - 1;
    double sum_s = 0;
    for (int k = g->out.start[host]; k < g->out.start[host + 1]; k++) {
        int e = g->out.item[k];
        if (s->informed[g->head[e]])
            continue;
        sum_s += s->v->lag_s[e];
        missing--;
    }
    return sum_s + missing * s->slowest_s;
}

/* The sum over all others that wait of the time from the nearest host, were this one
 * informed; near_s is the sum as things stand. */
static double sum_set_s(const struct mean *s, int host, double near_s)
{
    const struct espi_digraph *g = &s->v->g;
    double sum_s = near_s - s->near_s[host];
    for (int k = g->out.start[host]; k < g->out.start[host + 1]; k++) {
        int e = g->out.item[k], to = g->head[e];
        if (!s->informed[to] && s->v->lag_s[e] < s->near_s[to])
            sum_s -= s->near_s[to] - s->v->lag_s[e];
    }
    return sum_s;
}

/* The place in `waiting` of the next receiver, or -1. */
static int choose_receiver(const struct mean *s)
{
    int best = -1;
    double near_s = 0;
    struct espi_offer least = {0};
    for (int i = 0; i < s->n_waiting; i++)
        near_s += s->near_s[s->waiting[i]];
    for (int i = 0; i < s->n_waiting; i++) { /* by number: ties stay with the lower */
        int host = s->waiting[i], e = s->best[host];
        if (e < 0)
            continue;
        double sum_s = s->set ? sum_set_s(s, host, near_s) : sum_avg_s(s, host);
        double ahead_s = s->n_waiting > 1 ? sum_s / (s->n_waiting - 1) : 0;
        struct espi_offer offer = {finish_s(s, e) + ahead_s, finish_s(s, e),
                                   s->v->g.tail[e], e};
        if (best < 0 || espi_offer_before(&offer, &least)) {
            best = i;
            least = offer;
        }
    }
    return best;
}

static void send_to_place(struct mean *s, int place)
{
    int host = s->waiting[place], e = s->best[host], sender = s->v->g.tail[e];
    for (s->n_waiting--; place < s->n_waiting; place++)
        s->waiting[place] = s->waiting[place + 1];
    s->chosen[s->n_chosen++] = e;
    s->ready_s[host] = finish_s(s, e);
    s->ready_s[sender] += s->v->hold_s[e];
    review(s, sender); /* before the newcomer's arcs are compared with what is known */
    inform_host(s, host);
}

esp_status espi_look_ahead_mean(const struct espi_task *task, int set,
                                struct esp_plan *plan, struct esp_err *err)
{
    struct mean s;
    if (mean_init(&s, task, set))
        return espi_err_nomem(err);
    inform_host(&s, task->root);
    for (int place; s.n_waiting > 0 && (place = choose_receiver(&s)) >= 0;)
        send_to_place(&s, place);
    return espi_plan_add_arcs(plan, s.v, 1, s.chosen, s.n_chosen, task->arena, err);
}
