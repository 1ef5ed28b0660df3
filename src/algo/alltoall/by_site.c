/* by-site: what goes from one site to another goes together, and crosses once. The hosts
 * of a site give what is for another site to an agent for it, agents send to each other,
 * and those hand out what came. Each two sites have agents of their own, so that the work
 * is shared; what stays within a site goes straight, with the first step.
 *
 * Reference: the same idea with one agent a cluster is in R. Kumar, A. Mamidala,
 * D. Panda, Scaling alltoall collective on multi-core systems, 2008, and T. Kielmann et
 * al., MagPIe, 1999. Model: any. Guarantee: none; where sites are far apart and messages
 * short, one crossing of the longest way and two steps within sites. Complexity: O(n^2)
 * parts, three steps each. Departures: sites are found as for magpie (algo/clusters.h);
 * with several agents for a site each has the parts for some of its hosts; with 0 every
 * host is its own, and sends a message to each site. In steps all wait for the first
 * within their site; in the order of what is left (cost/post_order.h) cables are busy
 * from the start, and sites work while they are. */
#include "algo/clusters.h"
#include "algo/exchange.h"
#include "base/err.h"
#include "cost/post_order.h"
#include "plan/ops.h"

enum { OPTION_GAP, OPTION_AGENTS, OPTION_ORDER };

struct sites {
    struct espi_clusters c;
    struct espi_exchange x;
    int agents;
    int *site;  /* host -> site */
    int *place; /* host -> place within its site */
    int *route; /* scratch: from * n + to -> hosts on the way, WAY of them */
    int most;   /* hosts of the largest site */
};

enum { WAY = 4 }; /* derived: hosts on the way of a part: sender, two agents, receiver */

/* The host of the site in that place, counted round and round. */
static int host_at(const struct sites *s, int site, int place)
{
    return s->c.order[s->c.first[site] + place % espi_site_size(&s->c, site)];
}

/* Whose turn it is among the agents: parts of one receiver, or with agents = 0 of one
 * sender, have the same on both sides. */
static int turn_of(const struct sites *s, int from, int to)
{
    return s->agents ? s->place[to] % s->agents : s->place[from];
}

static void find_way(const struct sites *s, int from, int to, int way[WAY])
{
    int a = s->site[from], b = s->site[to], turn = turn_of(s, from, to);
    way[0] = from;
    way[1] = way[2] = way[3] = to;
    if (a == b)
        return;
    way[1] = s->agents ? host_at(s, a, b * s->agents + turn) : from;
    way[2] = host_at(s, b, s->agents ? a * s->agents + turn : turn);
}

/* So many places further within a site, or sites further. */
static int ahead(int from, int to, int n)
{
    return (to - from + n) % n;
}

/* The step of a message in that stretch of the way: within a site, across, within a
 * site. */
static int step_of(const struct sites *s, int k, int from, int to)
{
    int a = s->site[from], b = s->site[to];
    int within = ahead(s->place[from], s->place[to], espi_site_size(&s->c, a));
    return a != b   ? s->most + ahead(a, b, s->c.m)
           : k == 0 ? within
                    : s->most + s->c.m + within;
}

/* What goes in that stretch of its way, by sender and receiver there, as rows. */
static int sort_leg(struct sites *s, int k, struct espi_rows *rows,
                    struct espi_arena *arena)
{
    int n = s->c.n, count = 0;
    int *key = ESPI_ARENA_NEW(arena, int, (size_t)n *(size_t)n);
    int *piece = ESPI_ARENA_NEW(arena, int, (size_t)n *(size_t)n);
    if (!key || !piece)
        return -1;
    for (int i = 0; i < n * n; i++) {
        const int *way = s->route + (size_t)i * WAY;
        if (i / n == i % n || way[k] == way[k + 1])
            continue;
        key[count] = way[k] * n + way[k + 1];
        piece[count++] = i;
    }
    if (espi_rows_build(rows, n * n, count, key, arena))
        return -1;
    for (int i = 0; i < count; i++)
        rows->item[i] = piece[rows->item[i]];
    return 0;
}

static esp_status send_leg(struct sites *s, int k, struct espi_arena *arena,
                           struct esp_err *err)
{
    struct espi_rows rows;
    int n = s->c.n;
    if (sort_leg(s, k, &rows, arena))
        return espi_err_nomem(err);
    esp_status st = ESP_OK;
    for (int i = 0; i < n * n && !st; i++)
        st = espi_exchange_send(&s->x, step_of(s, k, i / n, i % n), i / n, i % n,
                                rows.start[i + 1] - rows.start[i],
                                rows.item + rows.start[i], err);
    return st;
}

static int sites_alloc(struct sites *s, struct espi_arena *arena)
{
    size_t n = (size_t)s->c.n;
    s->site = ESPI_ARENA_NEW(arena, int, n);
    s->place = ESPI_ARENA_NEW(arena, int, n);
    s->route = ESPI_ARENA_NEW(arena, int, n *n *WAY);
    if (!s->site || !s->place || !s->route)
        return -1;
    for (int i = 0; i < s->c.m; i++) {
        s->most = espi_site_size(&s->c, i) > s->most ? espi_site_size(&s->c, i) : s->most;
        for (int k = s->c.first[i]; k < s->c.first[i + 1]; k++) {
            s->site[s->c.order[k]] = i;
            s->place[s->c.order[k]] = k - s->c.first[i];
        }
    }
    for (size_t piece = 0; piece < n * n; piece++)
        find_way(s, (int)(piece / n), (int)(piece % n), s->route + piece * WAY);
    return 0;
}

static esp_status run_by_site(const struct espi_task *task, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct sites s = {.agents = (int)task->option[OPTION_AGENTS]};
    double n = task->view->g.n;
    if (espi_clusters_init(&s.c, task, task->request->size_bytes / (n * (n - 1))))
        return espi_err_nomem(err);
    esp_status st =
        espi_clusters_cut(&s.c, (int)task->option[OPTION_GAP], task->arena, err);
    if (!st && (s.c.m == 1 || s.c.m == s.c.n))
        st = espi_err(err, ESP_EUNSUPPORTED, "there are no sites to cross between");
    if (!st && sites_alloc(&s, task->arena))
        st = espi_err_nomem(err);
    if (!st)
        st = espi_exchange_init(&s.x, task, err);
    for (int k = 0; k + 1 < WAY && !st; k++)
        st = send_leg(&s, k, task->arena, err);
    if (!st)
        st = espi_exchange_plan(&s.x, plan, err);
    if (!st && task->option[OPTION_ORDER] > 0 &&
        espi_plan_order_messages(plan, task->p, task->request->size_bytes, task->arena))
        st = espi_err_nomem(err);
    return st;
}

static const struct espi_algo_option options[] = {
    {"gap", NULL, 1, 1, 100,
     "sites are cut at the widest gap between distances (1), or "
     "at the second widest (2), ..."},
    {"agents", NULL, 1, 0, ESPI_PAIRS_HOSTS,
     "hosts of a site that send to the same other one; 0: all"},
    {.name = "order",
     .choices = "steps|left",
     .meaning = "of messages: within sites, across, within; or first what uses, or leads "
                "to what uses, the port or cable with most left to do"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED, .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_AGENTS, 0}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_AGENTS, 0}, {OPTION_ORDER, 1}},
     .n_set = 2,
     .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_AGENTS, 2}}, .n_set = 1},
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_GAP, 2}}, .n_set = 1},
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_GAP, 2}, {OPTION_AGENTS, 0}}, .n_set = 2},
    {.use = 0},
};

const struct espi_algo espi_algo_by_site = {
    .name = "by-site",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "Kumar, Mamidala, Panda 2008",
    .complexity = "O(n^2)",
    .summary = "what goes to the same site goes together, and crosses once",
    .options = options,
    .uses = uses,
    .run = run_by_site,
};
