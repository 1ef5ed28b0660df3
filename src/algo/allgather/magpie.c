/* magpie: every part crosses between sites once, at once. The hosts of a site gather
 * their parts at one of them, these exchange all they have, each with each, and spread
 * what came within their sites. So no part waits for two crossings, and each crossing is
 * as long as the network has to be.
 *
 * Reference: T. Kielmann, R. Hofman, H. Bal, A. Plaat, R. Bhoedjang, MagPIe: MPI's
 * collective communication operations for clustered wide area systems, 1999. Model: any.
 * Guarantee: none; where sites are far apart and messages short, one crossing of the
 * longest way and what sites need within. Complexity: O(n^2) and its messages.
 * Departures: MagPIe is told who is in which cluster; here single linkage by how long a
 * part takes says what clusters there could be, and they are cut at the widest gap
 * between its joins, or one that is asked for: of machines, racks and sites. MagPIe's
 * hosts send their parts to every other cluster themselves; here what goes to the same
 * site goes together. Within a site halves of the order of linkage are joined, nearest
 * first, so that what is near each other inside of sites (a machine, a rack) is left
 * once, too. */
#include "algo/clusters.h"
#include "algo/exchange.h"
#include "base/err.h"

enum { OPTION_GAP };

struct sites {
    struct espi_clusters c;
    struct espi_exchange x;
    int *pieces; /* scratch */
};

/* ---- messages ---- */

/* Halvings until there is one. */
static int levels_of(int count)
{
    int levels = 0;
    for (; count > 1; count = (count + 1) / 2)
        levels++;
    return levels;
}

/* Places of a site, and the one of them that collects from the others and serves them. */
struct half {
    int from, to, leader;
};

/* The two that a half is joined of, the one with its leader first. The other is led by
 * its first. */
static void split_half(const struct half *h, struct half out[2])
{
    int middle = h->from + (h->to - h->from + 1) / 2, low = h->leader < middle;
    out[!low] = (struct half){h->from, middle, low ? h->leader : h->from};
    out[low] = (struct half){middle, h->to, low ? middle : h->leader};
}

static esp_status send_places(struct sites *s, int step, int from, int to,
                              const struct half *what, int but, struct esp_err *err)
{
    int count = 0;
    for (int k = 0; k < s->c.n; k++)
        if ((k >= what->from && k < what->to) != but)
            s->pieces[count++] = s->c.order[k];
    return espi_exchange_send(&s->x, step, s->c.order[from], s->c.order[to], count,
                              s->pieces, err);
}

/* Steps grow with the halves that are joined. */
static esp_status collect_half(struct sites *s, const struct half *h, struct esp_err *err)
{
    struct half part[2];
    if (h->to - h->from < 2)
        return ESP_OK;
    split_half(h, part);
    esp_status st = collect_half(s, &part[0], err);
    if (!st)
        st = collect_half(s, &part[1], err);
    return st ? st
              : send_places(s, levels_of(h->to - h->from) - 1, part[1].leader, h->leader,
                            &part[1], 0, err);
}

/* All but what the other half has collected itself. */
static esp_status spread_half(struct sites *s, const struct half *h, int last_step,
                              struct esp_err *err)
{
    struct half part[2];
    if (h->to - h->from < 2)
        return ESP_OK;
    split_half(h, part);
    esp_status st = send_places(s, last_step - levels_of(h->to - h->from) + 1, h->leader,
                                part[1].leader, &part[1], 1, err);
    for (int i = 0; i < 2 && !st; i++)
        st = spread_half(s, &part[i], last_step, err);
    return st;
}

static esp_status exchange_sites(struct sites *s, int first_step, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < s->c.m; i++) {
        struct half whole = {s->c.first[i], s->c.first[i + 1], s->c.leader[i]};
        for (int k = 1; k < s->c.m && !st; k++)
            st = send_places(s, first_step + k - 1, s->c.leader[i],
                             s->c.leader[(i + k) % s->c.m], &whole, 0, err);
    }
    return st;
}

static esp_status send_all(struct sites *s, struct esp_err *err)
{
    int levels = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < s->c.m; i++)
        levels = levels_of(espi_site_size(&s->c, i)) > levels
                     ? levels_of(espi_site_size(&s->c, i))
                     : levels;
    for (int i = 0; i < s->c.m && !st; i++)
        st = collect_half(
            s, &(struct half){s->c.first[i], s->c.first[i + 1], s->c.leader[i]}, err);
    if (!st)
        st = exchange_sites(s, levels, err);
    for (int i = 0; i < s->c.m && !st; i++)
        st = spread_half(s,
                         &(struct half){s->c.first[i], s->c.first[i + 1], s->c.leader[i]},
                         levels + s->c.m - 1 + levels - 1, err);
    return st;
}

static esp_status run_magpie(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct sites s = {.pieces = NULL};
    int n = task->view->g.n;
    if (espi_clusters_init(&s.c, task, task->request->size_bytes / n))
        return espi_err_nomem(err);
    esp_status st =
        espi_clusters_cut(&s.c, (int)task->option[OPTION_GAP], task->arena, err);
    if (!st && !(s.pieces = ESPI_ARENA_NEW(task->arena, int, n)))
        st = espi_err_nomem(err);
    if (!st)
        st = espi_exchange_init(&s.x, task, err);
    if (!st)
        st = send_all(&s, err);
    return st ? st : espi_exchange_plan(&s.x, plan, err);
}

static const struct espi_algo_option options[] = {
    {"gap", NULL, 1, 1, 100,
     "sites are cut at the widest gap between distances (1), or "
     "at the second widest (2), ..."},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED, .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_GAP, 2}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_GAP, 3}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_magpie = {
    .name = "magpie",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Kielmann et al. 1999",
    .complexity = "O(n^2)",
    .summary = "what goes to the same site goes together, and crosses once",
    .options = options,
    .uses = uses,
    .run = run_magpie,
};
