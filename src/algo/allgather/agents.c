/* Client assignment, agent selection and stage estimates of Wu and Yeh.
 *
 * Reference: J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous network of
 * workstations, 2000, sections 4 and 5, with the misprints mended: T_rev is T_recv, a
 * non-owner receives the messages of all owners, K_j in definitions 2 and 4 is K_i.
 * Extended to lengths: a message of k parts is charged for k parts, at both ends and on
 * the way.
 * Readings that the paper leaves open, chosen so that its choice of agents comes out:
 * clients are taken fastest first, ties between agents go to the one with fewest clients
 * and then to the lower place; agents serve clients in the order in which they gathered
 * from them; of equal numbers of agents the larger is taken.
 * Complexity: O(n^2) an assignment and estimate, O(n^3) for all numbers of agents. */
#include "algo/allgather/agents.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "base/watch.h"
#include "base/err.h"

static int host_at(const struct espi_agents *a, int place)
{
    return a->hosts[place];
}

static double end_s(const struct espi_agents *a, int from, int to, int parts)
{
    return espi_end_s(&a->pairs, host_at(a, from), host_at(a, to), parts * a->part_bytes);
}

static double send_s(const struct espi_agents *a, int from, int to, int parts)
{
    return espi_send_s(&a->pairs, host_at(a, from), host_at(a, to),
                       parts * a->part_bytes);
}

static double recv_s(const struct espi_agents *a, int from, int to, int parts)
{
    return espi_recv_s(&a->pairs, host_at(a, from), host_at(a, to),
                       parts * a->part_bytes);
}

/* Senders to one host, by when a part of theirs would be there. */
struct sender {
    double end_s;
    int host;
};

static int is_sooner(const struct sender *x, const struct sender *y)
{
    return x->end_s < y->end_s;
}

ESPI_DEFINE_SORT(sort_by_end, struct sender, is_sooner)

static int order_senders(struct espi_agents *a)
{
    struct espi_arena_mark mark = espi_arena_mark(a->task->arena);
    struct sender *sender = ESPI_ARENA_NEW(a->task->arena, struct sender, 2 * a->n);
    if (!sender)
        return -1;
    for (int to = 0; to < a->n; to++) {
        for (int i = 0; i < a->n; i++)
            sender[i] = (struct sender){end_s(a, i, to, 1), i};
        sort_by_end(sender, sender + a->n, a->n);
        for (int i = 0; i < a->n; i++)
            a->senders[(size_t)to * (size_t)a->n + (size_t)i] = sender[i].host;
    }
    espi_arena_release(a->task->arena, mark);
    return 0;
}

int espi_agents_init(struct espi_agents *a, const struct espi_task *task)
{
    int n = task->view->g.n;
    struct espi_arena *arena = task->arena;
    *a = (struct espi_agents){.task = task, .n = n};
    a->part_bytes = task->request->size_bytes / n;
    a->hosts = espi_hosts_by_speed(task, a->part_bytes);
    a->agent_of = ESPI_ARENA_NEW(arena, int, n);
    a->client_start = ESPI_ARENA_NEW(arena, int, (size_t)n + 2);
    a->clients = ESPI_ARENA_NEW(arena, int, n);
    a->senders = ESPI_ARENA_NEW(arena, int, (size_t)n *(size_t)n);
    a->ready_s = ESPI_ARENA_NEW(arena, double, n);
    a->count = ESPI_ARENA_NEW(arena, int, n);
    a->order = ESPI_ARENA_NEW(arena, int, n);
    if (!a->hosts || !a->agent_of || !a->client_start || !a->clients || !a->senders ||
        !a->ready_s || !a->count || !a->order ||
        espi_pairs_init(&a->pairs, task, a->part_bytes))
        return -1;
    return order_senders(a);
}

/* ---- who serves whom ---- */

/* When the agent would be done with one more client (definition 1). */
static double with_client_s(const struct espi_agents *a, int agent, int client)
{
    double there_s = end_s(a, client, agent, 1);
    if (!a->count[agent])
        return there_s;
    return fmax(a->ready_s[agent] + recv_s(a, client, agent, 1), there_s);
}

static int best_agent(const struct espi_agents *a, int client)
{
    int best = 0;
    double least_s = with_client_s(a, 0, client);
    for (int i = 1; i < a->m; i++) {
        double s = with_client_s(a, i, client);
        if (s < least_s || (s == least_s && a->count[i] < a->count[best])) {
            best = i;
            least_s = s;
        }
    }
    return best;
}

/* The clients of each agent, by T_end to it. */
static void list_clients(struct espi_agents *a)
{
    int at = 0;
    for (int i = 0; i < a->m; i++) {
        const int *list = a->senders + (size_t)i * (size_t)a->n;
        a->client_start[i] = at;
        for (int k = 0; k < a->n && a->count[i]; k++)
            if (list[k] >= a->m && a->agent_of[list[k]] == i)
                a->clients[at++] = list[k];
    }
    a->client_start[a->m] = at;
}

void espi_agents_assign(struct espi_agents *a, int m)
{
    a->m = m;
    for (int i = 0; i < m; i++) {
        a->ready_s[i] = 0;
        a->count[i] = 0;
    }
    for (int client = m; client < a->n; client++) {
        int agent = best_agent(a, client);
        a->ready_s[agent] = with_client_s(a, agent, client);
        a->count[agent]++;
        a->agent_of[client] = agent;
    }
    list_clients(a);
}

struct espi_stages espi_agents_choose(struct espi_agents *a, int wanted,
                                      espi_estimate *estimate)
{
    struct espi_stages best = {.all_s = INFINITY}, s;
    int m = wanted > a->n ? a->n : wanted;
    for (int i = 1; i <= a->n && wanted == 0 && !(m && espi_watch_is_over()); i++) {
        espi_agents_assign(a, i);
        estimate(a, &s);
        if (!m || s.all_s <= best.all_s) {
            best = s;
            m = i;
        }
    }
    espi_agents_assign(a, m);
    estimate(a, &best);
    return best;
}

/* ---- estimates ---- */

double espi_agents_gather_s(const struct espi_agents *a, int agent)
{
    double s = 0;
    for (int k = a->client_start[agent]; k < a->client_start[agent + 1]; k++) {
        double there_s = end_s(a, a->clients[k], agent, 1);
        s = k == a->client_start[agent]
                ? there_s
                : fmax(s + recv_s(a, a->clients[k], agent, 1), there_s);
    }
    return s;
}

/* The other agents that send something, by when it is there. They are nearly in order by
 * the time of one part, so that insertion sorts them in little time. */
static int sort_senders(struct espi_agents *a, int agent, const int *parts)
{
    const int *list = a->senders + (size_t)agent * (size_t)a->n;
    int n = 0;
    for (int k = 0; k < a->n; k++) {
        int j = list[k], at = n;
        if (j >= a->m || j == agent || !parts[j])
            continue;
        double there_s = end_s(a, j, agent, parts[j]);
        for (; at > 0 && a->ready_s[at - 1] > there_s; at--) {
            a->order[at] = a->order[at - 1];
            a->ready_s[at] = a->ready_s[at - 1];
        }
        a->order[at] = j;
        a->ready_s[at] = there_s;
        n++;
    }
    return n;
}

double espi_agents_exchange_s(struct espi_agents *a, int agent, const int *parts)
{
    double busy_s = 0, done_s = 0;
    int n = sort_senders(a, agent, parts);
    for (int k = 0; k < n; k++) {
        double s = recv_s(a, a->order[k], agent, parts[a->order[k]]);
        busy_s += s;
        done_s = k ? fmax(done_s + s, a->ready_s[k]) : a->ready_s[k];
    }
    if (!parts[agent])
        return done_s;
    for (int j = 0; j < a->m; j++)
        if (j != agent)
            busy_s += send_s(a, agent, j, parts[agent]);
    return fmax(busy_s, done_s);
}

double espi_agents_scatter_s(const struct espi_agents *a, int agent)
{
    double busy_s = 0, most_s = 0;
    for (int k = a->client_start[agent]; k < a->client_start[agent + 1]; k++) {
        busy_s += send_s(a, agent, a->clients[k], a->n - 1);
        most_s = fmax(most_s, busy_s + end_s(a, agent, a->clients[k], a->n - 1));
    }
    return most_s;
}

/* ---- messages ---- */

esp_status espi_agents_gather(const struct espi_agents *a, struct espi_exchange *x,
                              struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int client = a->m; client < a->n && !st; client++)
        st = espi_exchange_send(x, 0, host_at(a, client), host_at(a, a->agent_of[client]),
                                1, &a->hosts[client], err);
    return st;
}

esp_status espi_agents_exchange(const struct espi_agents *a, espi_share share,
                                int first_step, struct espi_exchange *x,
                                struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < a->m; i++) {
        int n = 0;
        if (share != ESPI_SHARE_THEIRS)
            a->order[n++] = host_at(a, i);
        for (int k = a->client_start[i];
             k < a->client_start[i + 1] && share != ESPI_SHARE_OWN; k++)
            a->order[n++] = host_at(a, a->clients[k]);
        for (int k = 1; k < a->m && !st; k++)
            st = espi_exchange_send(x, first_step + k - 1, host_at(a, i),
                                    host_at(a, (i + k) % a->m), n, a->order, err);
    }
    return st;
}

esp_status espi_agents_scatter(const struct espi_agents *a, int first_step,
                               struct espi_exchange *x, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < a->m; i++)
        for (int k = a->client_start[i]; k < a->client_start[i + 1] && !st; k++) {
            int n = 0, to = host_at(a, a->clients[k]);
            for (int h = 0; h < a->n; h++)
                if (h != to)
                    a->order[n++] = h;
            st = espi_exchange_send(x, first_step + k - a->client_start[i], host_at(a, i),
                                    to, n, a->order, err);
        }
    return st;
}

/* ---- plans ---- */

const struct espi_algo_option espi_agents_options[] = {
    {"agents", NULL, 0, 0, 1e6, "number of agents (0: the best of all numbers)"},
    {0},
};

esp_status espi_agents_plan(const struct espi_task *task, espi_estimate *estimate,
                            esp_status (*serve)(const struct espi_agents *a,
                                                struct espi_exchange *x,
                                                struct esp_err *err),
                            struct esp_plan *plan, struct esp_err *err)
{
    struct espi_agents a;
    struct espi_exchange x;
    if (espi_agents_init(&a, task))
        return espi_err_nomem(err);
    espi_agents_choose(&a, (int)task->option[0], estimate);
    esp_status st = espi_exchange_init(&x, task, err);
    if (!st)
        st = espi_agents_gather(&a, &x, err);
    if (!st)
        st = serve(&a, &x, err);
    return st ? st : espi_exchange_plan(&x, plan, err);
}
