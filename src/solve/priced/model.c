#include "solve/priced/model.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "platform/platform.h"

#define SECONDS_AN_HOUR 3600.0 /* derived */
#define TIME_SLACK      1e-9   /* rounding: of numbers of machines */
#define MET_SLACK       1e-6   /* rounding: of deadlines and budgets that are met */
enum { COUNTS_TRIED = 512 };   /* limit: numbers of machines looked at, a node */

static int take_room(struct espi_priced_model *m, struct espi_arena *a)
{
    size_t n = (size_t)m->net.g.n, links = (size_t)m->net.g.m;
    m->link_usd = ESPI_ARENA_NEW(a, double, links);
    m->link_s = ESPI_ARENA_NEW(a, double, links);
    m->usd_per_s = ESPI_ARENA_NEW(a, double, n);
    m->max_count = ESPI_ARENA_NEW(a, int, n);
    m->must = ESPI_ARENA_ZNEW(a, unsigned char, n);
    m->need_s = ESPI_ARENA_NEW(a, double, n);
    m->usage = ESPI_ARENA_NEW(a, double, links);
    m->used = ESPI_ARENA_NEW(a, unsigned char, n);
    m->limits = ESPI_ARENA_NEW(a, struct espi_priced_limit, m->task->p->n_shared + 1);
    m->used_node = ESPI_ARENA_NEW(a, int, n + 1);
    return m->used_node && m->link_usd && m->link_s && m->usd_per_s && m->max_count &&
                   m->must && m->need_s && m->usage && m->used && m->limits
               ? 0
               : -1;
}

static void price_links(struct espi_priced_model *m)
{
    const struct esp_platform *p = m->task->p;
    double GB = m->task->size_bytes / ESPI_BYTES_PER_GB;
    for (int e = 0; e < p->n_links; e++) {
        double usd = espi_price_get(&p->prices.links, e);
        for (int k = p->n_shared ? p->link_shared.start[e] : 0;
             p->n_shared && k < p->link_shared.start[e + 1]; k++)
            usd += espi_price_get(&p->prices.cables, p->link_shared.item[k]);
        m->link_usd[e] = usd * GB;
        m->link_s[e] = m->task->size_bytes / p->bandwidth_Bps[e];
    }
}

/* A cable of one link is as the link. */
static void list_limits(struct espi_priced_model *m)
{
    const struct esp_platform *p = m->task->p;
    for (int s = 0; s < p->n_shared; s++) {
        int is_out, first = p->shared_links.start[s];
        int n = p->shared_links.start[s + 1] - first;
        double load_s = m->task->size_bytes / p->shared_Bps[s];
        const int *links = p->shared_links.item + first;
        if (n == 1 && load_s > m->link_s[links[0]])
            m->link_s[links[0]] = load_s;
        if (n > 1)
            m->limits[m->n_limits++] = (struct espi_priced_limit){
                espi_port_owner(p, s, &is_out), n, links, load_s};
    }
}

static int numbers_tried(const struct espi_priced_model *m, int v)
{
    return m->max_count[v] < COUNTS_TRIED ? m->max_count[v] : COUNTS_TRIED;
}

static int count_machines(struct espi_priced_model *m, struct espi_arena *arena)
{
    size_t values = 1;
    const struct espi_priced_task *task = m->task;
    for (int v = 0; v < task->p->n_nodes; v++) {
        struct esp_machines is = esp_platform_node_machines(task->p, v);
        m->usd_per_s[v] = is.usd_per_hour / SECONDS_AN_HOUR;
        m->max_count[v] = task->max_machines > 0 && task->max_machines < is.max_count
                              ? task->max_machines
                              : is.max_count;
        values += (size_t)numbers_tried(m, v);
    }
    m->must[m->net.root] = 1;
    for (int i = 0; i < m->net.n_targets; i++)
        m->must[m->net.targets[i]] = 1;
    m->values = ESPI_ARENA_NEW(arena, struct espi_priced_value, values);
    return m->values ? 0 : -1;
}

esp_status espi_priced_model_init(struct espi_priced_model *m,
                                  const struct espi_priced_task *task,
                                  struct espi_arena *arena, struct esp_err *err)
{
    *m = (struct espi_priced_model){.task = task};
    if (task->p->n_hosts < task->p->n_nodes)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "plans by price are for networks without switches: give the "
                        "links between hosts");
    if (task->p->model != ESP_MODEL_CAPACITY)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "plans by price are for the capacity model, in which links and "
                        "shared links are the limits: --model capacity");
    if (espi_flow_net_init(&m->net, task->p, task->size_bytes, task->root,
                           task->n_targets, task->targets, arena) ||
        take_room(m, arena))
        return espi_err_nomem(err);
    price_links(m);
    list_limits(m);
    return count_machines(m, arena) ? espi_err_nomem(err) : ESP_OK;
}

double espi_priced_objective(const struct espi_priced_task *task, double usd,
                             double time_s)
{
    return (task->usd_weight > 0 ? task->usd_weight * usd : 0) +
           (task->s_weight > 0 ? task->s_weight * time_s : 0);
}

double espi_priced_excess(const struct espi_priced_task *task, double usd, double time_s)
{
    double excess = 0;
    if (time_s > task->deadline_s * (1 + MET_SLACK))
        excess += time_s / task->deadline_s - 1;
    if (usd > task->budget_usd * (1 + MET_SLACK))
        excess += task->budget_usd > 0 ? usd / task->budget_usd - 1 : usd;
    return excess;
}

int espi_priced_parts_within(const struct espi_priced_model *m, double load_s, int pairs)
{
    double parts = m->task->partitions * m->task->deadline_s * pairs / load_s;
    return m->task->partitions && parts < INT_MAX
               ? (int)floor(parts * (1 + 2 * MET_SLACK))
               : INT_MAX;
}

/* ---- what a mix takes ---- */

/* Machine-seconds that each node needs; gives what cables need of the time. */
static double find_needs(struct espi_priced_model *m, const double *usage)
{
    const struct espi_digraph *g = &m->net.g;
    double least_s = 0;
    memset(m->need_s, 0, (size_t)g->n * sizeof *m->need_s);
    memcpy(m->used, m->must, (size_t)g->n);
    for (int e = 0; e < g->m; e++) {
        double s = usage[e] * m->link_s[e];
        int u = g->tail[e], v = g->head[e];
        if (!(usage[e] > 0))
            continue;
        m->used[u] = m->used[v] = 1;
        m->need_s[u] = s > m->need_s[u] ? s : m->need_s[u];
        m->need_s[v] = s > m->need_s[v] ? s : m->need_s[v];
    }
    for (int i = 0; i < m->n_limits; i++) {
        const struct espi_priced_limit *limit = &m->limits[i];
        double s = 0;
        for (int k = 0; k < limit->n_links; k++)
            s += usage[limit->links[k]];
        s *= limit->load_s;
        if (limit->node < 0)
            least_s = s > least_s ? s : least_s;
        else if (s > m->need_s[limit->node])
            m->need_s[limit->node] = s;
    }
    m->n_used = 0;
    for (int v = 0; v < g->n; v++) {
        double s = m->need_s[v] / m->max_count[v];
        least_s = s > least_s ? s : least_s;
        if (m->used[v])
            m->used_node[m->n_used++] = v;
    }
    return least_s;
}

static int machines_for(const struct espi_priced_model *m, int v, double time_s)
{
    double n = ceil(m->need_s[v] / time_s * (1 - TIME_SLACK));
    n = n < 1 ? 1 : n;
    return n < m->max_count[v] ? (int)n : m->max_count[v];
}

static double machines_usd(const struct espi_priced_model *m, double time_s)
{
    double usd = 0;
    for (int i = 0; i < m->n_used; i++) {
        int v = m->used_node[i];
        if (m->usd_per_s[v] > 0)
            usd += machines_for(m, v, time_s) * m->usd_per_s[v] * time_s;
    }
    return usd;
}

static void judge_value(struct espi_priced_model *m, double usd_bytes, double time_s,
                        struct espi_priced_value *best)
{
    const struct espi_priced_task *task = m->task;
    struct espi_priced_value now = {usd_bytes, machines_usd(m, time_s), time_s, 0, 0};
    double usd = usd_bytes + now.usd_machines;
    now.excess = espi_priced_excess(task, usd, time_s);
    now.objective = now.excess > 0 ? INFINITY : espi_priced_objective(task, usd, time_s);
    if (now.objective < best->objective ||
        (!isfinite(best->objective) && now.excess < best->excess) ||
        (now.objective == best->objective && now.excess == best->excess &&
         usd < best->usd_bytes + best->usd_machines))
        *best = now;
    m->values[m->n_values++] = now;
}

struct espi_priced_value espi_priced_evaluate(struct espi_priced_model *m,
                                              const double *usage)
{
    double usd = 0, least_s = find_needs(m, usage);
    struct espi_priced_value best = {0, 0, 0, INFINITY, INFINITY};
    for (int e = 0; e < m->net.g.m; e++)
        if (usage[e] > 0)
            usd += usage[e] * m->link_usd[e];
    m->n_values = 0;
    judge_value(m, usd, least_s, &best);
    for (int v = 0; v < m->net.g.n; v++) {
        for (int k = 1; m->used[v] && k <= numbers_tried(m, v); k++) {
            double time_s = m->need_s[v] / k;
            if (time_s <= least_s)
                break;
            judge_value(m, usd, time_s, &best);
        }
    }
    return best;
}

void espi_priced_machines_at(struct espi_priced_model *m, const double *usage,
                             double time_s, int *counts)
{
    find_needs(m, usage);
    for (int v = 0; v < m->net.g.n; v++)
        counts[v] = m->used[v] ? machines_for(m, v, time_s) : 0;
}
