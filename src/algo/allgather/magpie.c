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
#include <math.h>

#include "algo/allgather/exchange.h"
#include "algo/allgather/pairs.h"
#include "base/err.h"

enum { OPTION_GAP };

struct sites {
    struct espi_pairs pairs;
    struct espi_exchange x;
    double part_bytes;
    int n;
    int *order;     /* place -> host; the hosts of a site stand together at every cut */
    double *join_s; /* place -> how far it is from those before it */
    int m;          /* sites of the cut at hand */
    int *first;     /* site -> its first place; [m]: n */
    int *leader;    /* site -> place */
    int *pieces;    /* scratch */
};

/* ---- who is near whom ---- */

static double apart_s(const struct sites *s, int a, int b)
{
    return fmax(espi_end_s(&s->pairs, a, b, s->part_bytes),
                espi_end_s(&s->pairs, b, a, s->part_bytes));
}

/* Prim's order: whatever is nearer to each other than a limit stands together, between
 * two joins above it. */
static int order_hosts(struct sites *s, struct espi_arena *arena)
{
    double *near_s = ESPI_ARENA_NEW(arena, double, s->n);
    unsigned char *taken = ESPI_ARENA_ZNEW(arena, unsigned char, s->n);
    if (!near_s || !taken)
        return -1;
    for (int h = 0; h < s->n; h++)
        near_s[h] = INFINITY;
    for (int at = 0, next = 0; at < s->n; at++) {
        int host = next;
        s->order[at] = host;
        s->join_s[at] = near_s[host];
        taken[host] = 1;
        next = -1;
        for (int h = 0; h < s->n; h++) {
            if (taken[h])
                continue;
            near_s[h] = fmin(near_s[h], apart_s(s, host, h));
            if (next < 0 || near_s[h] < near_s[next])
                next = h;
        }
    }
    return 0;
}

static int sites_init(struct sites *s, const struct espi_task *task)
{
    struct espi_arena *arena = task->arena;
    int n = task->view->g.n;
    *s = (struct sites){.n = n, .part_bytes = task->request->size_bytes / n};
    s->order = ESPI_ARENA_NEW(arena, int, n);
    s->join_s = ESPI_ARENA_NEW(arena, double, n);
    s->first = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    s->leader = ESPI_ARENA_NEW(arena, int, n);
    s->pieces = ESPI_ARENA_NEW(arena, int, n);
    if (!s->order || !s->join_s || !s->first || !s->leader || !s->pieces ||
        espi_pairs_init(&s->pairs, task, s->part_bytes))
        return -1;
    return order_hosts(s, arena);
}

/* ---- a cut ---- */

static int site_size(const struct sites *s, int site)
{
    return s->first[site + 1] - s->first[site];
}

static double farthest_s(const struct sites *s, int place, int from, int to)
{
    double most_s = 0;
    for (int k = from; k < to; k++)
        if (k != place)
            most_s = fmax(most_s, apart_s(s, s->order[place], s->order[k]));
    return most_s;
}

/* The one to which the farthest of the others are nearest, and then those of the site. */
static int best_leader(const struct sites *s, int site)
{
    int from = s->first[site], to = s->first[site + 1], best = from;
    double least_s = INFINITY;
    for (int k = from; k < to; k++) {
        double far_s = fmax(farthest_s(s, k, 0, from), farthest_s(s, k, to, s->n)) +
                       farthest_s(s, k, from, to);
        if (far_s < least_s) {
            least_s = far_s;
            best = k;
        }
    }
    return best;
}

static void cut_at(struct sites *s, double limit_s)
{
    s->m = 0;
    for (int k = 0; k < s->n; k++)
        if (k == 0 || s->join_s[k] > limit_s)
            s->first[s->m++] = k;
    s->first[s->m] = s->n;
    for (int i = 0; i < s->m; i++)
        s->leader[i] = best_leader(s, i);
}

/* The joins, the longest first. */
static void sort_joins(const struct sites *s, double *joins)
{
    for (int k = 1; k < s->n; k++) {
        int at = k - 1;
        for (; at > 0 && joins[at - 1] < s->join_s[k]; at--)
            joins[at] = joins[at - 1];
        joins[at] = s->join_s[k];
    }
}

/* How many times as far joins are above a gap as below it; 0: there is none. */
static double gap_at(const double *joins, int k)
{
    return joins[k] > joins[k + 1] ? joins[k] / joins[k + 1] : 0;
}

/* The joins below the gap, of which so many are wider; -1: there are fewer. */
static double below_gap_s(const double *joins, int n, int wider)
{
    double below_s = -1;
    for (int k = 0; k + 1 < n && below_s < 0; k++) {
        int before = 0;
        for (int i = 0; i + 1 < n; i++)
            before += gap_at(joins, i) > gap_at(joins, k) ||
                      (gap_at(joins, i) == gap_at(joins, k) && i < k);
        if (gap_at(joins, k) > 0 && before == wider)
            below_s = joins[k + 1];
    }
    return below_s;
}

/* Where all hosts are equally far each is a site. */
static esp_status choose_cut(struct sites *s, int gap, struct espi_arena *arena,
                             struct esp_err *err)
{
    double *joins = ESPI_ARENA_NEW(arena, double, s->n);
    if (!joins)
        return espi_err_nomem(err);
    sort_joins(s, joins);
    double limit_s = below_gap_s(joins, s->n - 1, gap - 1);
    if (limit_s < 0 && gap > 1)
        return espi_err(err, ESP_EUNSUPPORTED, "hosts are not apart by %d scales", gap);
    cut_at(s, fmax(limit_s, 0));
    return ESP_OK;
}

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
    for (int k = 0; k < s->n; k++)
        if ((k >= what->from && k < what->to) != but)
            s->pieces[count++] = s->order[k];
    return espi_exchange_send(&s->x, step, s->order[from], s->order[to], count, s->pieces,
                              err);
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
    for (int i = 0; i < s->m; i++) {
        struct half whole = {s->first[i], s->first[i + 1], s->leader[i]};
        for (int k = 1; k < s->m && !st; k++)
            st = send_places(s, first_step + k - 1, s->leader[i],
                             s->leader[(i + k) % s->m], &whole, 0, err);
    }
    return st;
}

static esp_status send_all(struct sites *s, struct esp_err *err)
{
    int levels = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < s->m; i++)
        levels =
            levels_of(site_size(s, i)) > levels ? levels_of(site_size(s, i)) : levels;
    for (int i = 0; i < s->m && !st; i++)
        st = collect_half(s, &(struct half){s->first[i], s->first[i + 1], s->leader[i]},
                          err);
    if (!st)
        st = exchange_sites(s, levels, err);
    for (int i = 0; i < s->m && !st; i++)
        st = spread_half(s, &(struct half){s->first[i], s->first[i + 1], s->leader[i]},
                         levels + s->m - 1 + levels - 1, err);
    return st;
}

static esp_status run_magpie(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct sites s;
    if (sites_init(&s, task))
        return espi_err_nomem(err);
    esp_status st = choose_cut(&s, (int)task->option[OPTION_GAP], task->arena, err);
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
