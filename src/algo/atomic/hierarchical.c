/* Hierarchical: one message to each other site, a binomial tree inside each.
 *
 * The root sends to the master of every other site, one after the other (or the masters
 * form a binomial tree); then each master, and the root in its own site, heads a binomial
 * tree over its site's hosts. So the wide-area network carries as few messages as it can.
 * Reference: N. T. Karonis et al., Exploiting hierarchy in parallel computer networks to
 * optimize collective operation performance, 2000 (MPICH-G2): flat at the wide-area
 * level, binomial below.
 * Model: sites that are far from each other. Guarantee: with links between all hosts,
 * exactly one message into each site but the root's.
 * Departures: two levels, since platforms know no more; a master is the first host of its
 * site. Sites are served in turn, beginning after the root's. Hosts without a site count
 * as one more site; without any sites all hosts are one. Where there is no link between
 * two hosts, the transfer is routed over a shortest path.
 * Complexity: O(m) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"
#include "base/err.h"

enum { OPTION_WAN };
enum { WAN_FLAT, WAN_BINOMIAL };

static const struct espi_algo_option options[] = {
    {.name = "wan",
     .choices = "flat|binomial",
     .standard = WAN_FLAT,
     .meaning = "the tree between sites"},
    {.name = NULL},
};

struct sites {
    int count;              /* of sites, also of those without hosts */
    struct espi_rows hosts; /* site -> its hosts, the root before the others */
    int *masters, n_masters;
};

/* Sites are numbered from the root's, as MPICH-G2 rotates its clusters. */
static int sites_init(struct sites *s, const struct espi_task *task)
{
    const struct espi_view *v = task->view;
    int n = v->g.n;
    const int *ranks = espi_ranks(task);
    int *site = ESPI_ARENA_NEW(task->arena, int, n);
    s->count = v->p->n_sites + 1; /* the last one is that of hosts without */
    s->masters = ESPI_ARENA_NEW(task->arena, int, s->count);
    if (!ranks || !site || !s->masters)
        return -1;
    for (int r = 0; r < n; r++) {
        int own = v->p->node_site[v->node[ranks[r]]];
        site[r] = own < 0 ? s->count - 1 : own;
    }
    int first = site[0];
    for (int r = 0; r < n; r++)
        site[r] = (site[r] - first + s->count) % s->count;
    if (espi_rows_build(&s->hosts, s->count, n, site, task->arena))
        return -1;
    for (int k = 0; k < n; k++)
        s->hosts.item[k] = ranks[s->hosts.item[k]];
    s->n_masters = 0;
    for (int i = 0; i < s->count; i++)
        if (s->hosts.start[i] < s->hosts.start[i + 1])
            s->masters[s->n_masters++] = s->hosts.item[s->hosts.start[i]];
    return 0;
}

static esp_status add_wan(struct espi_transfers *t, const struct sites *s, int binomial,
                          struct esp_err *err)
{
    if (binomial)
        return espi_add_binomial(t, s->masters, s->n_masters, err);
    esp_status st = ESP_OK;
    for (int i = 1; i < s->n_masters && !st; i++)
        st = espi_transfers_add(t, s->masters[0], s->masters[i], err);
    return st;
}

static esp_status run_hierarchical(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    struct espi_transfers t;
    struct sites s;
    if (sites_init(&s, task))
        return espi_err_nomem(err);
    esp_status st = espi_transfers_init(&t, task, ESPI_ROUTE_DIRECT, err);
    if (!st)
        st = add_wan(&t, &s, task->option[OPTION_WAN] == WAN_BINOMIAL, err);
    for (int i = 0; i < s.count && !st; i++) {
        int first = s.hosts.start[i], count = s.hosts.start[i + 1] - first;
        st = espi_add_binomial(&t, s.hosts.item + first, count, err);
    }
    return st ? st : espi_transfers_plan(&t, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_ADVISOR_PLAIN},
    {.use = ESPI_USE_ADVISOR | ESPI_USE_ADVISOR_LARGE,
     .set = {{OPTION_WAN, WAN_BINOMIAL}},
     .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_hierarchical = {
    .name = "hierarchical",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Karonis et al. 2000 (MPICH-G2)",
    .complexity = "O(n m log n)",
    .summary = "one message to each other site, binomial trees inside",
    .options = options,
    .uses = uses,
    .run = run_hierarchical,
};
