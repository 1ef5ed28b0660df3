/* Windows of time and, within each, bounds of x(v, n) and y(e): the least bound is looked
 * at next. A window in which machines are counted too cheaply, as it is wide, is halved;
 * elsewhere what is most fractional is branched on. From the first node of each window,
 * and wherever a solution is whole, trees are cut from the partitions on links. */
#include "solve/priced/branch_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "solve/priced/tuning.h"

/* ---- nodes and windows ---- */

static int add_node(struct espi_priced_search *s, const struct espi_priced_node *node)
{
    size_t n = (size_t)s->n_nodes;
    if (espi_grow((void **)&s->nodes, &s->node_room, n + 1, sizeof *s->nodes))
        return -1;
    s->nodes[s->n_nodes++] = *node;
    return 0;
}

/* A window and its first node, within the bounds of its parent (-1: none). */
static int add_window(struct espi_priced_search *s, double from_s, double to_s,
                      int parent, double bound)
{
    size_t n = (size_t)s->n_windows;
    struct espi_priced_window *window = ESPI_NEW(struct espi_priced_window, 1);
    if (!window)
        return -1;
    if (espi_grow((void **)&s->windows, &s->window_room, n + 1, sizeof *s->windows)) {
        espi_free(window);
        return -1;
    }
    *window = (struct espi_priced_window){.from_s = from_s, .to_s = to_s};
    espi_arena_init(&window->arena);
    s->windows[s->n_windows++] = window;
    struct espi_priced_node first = {.bound = bound,
                                     .window = s->n_windows - 1,
                                     .parent = parent,
                                     .open = 1,
                                     .depth = parent < 0 ? 0 : s->nodes[parent].depth,
                                     .first = 1,
                                     .at = -1};
    return add_node(s, &first);
}

static void end_window(struct espi_priced_search *s, struct espi_priced_window *window)
{
    if (window->made) {
        s->effort += window->whole.effort;
        espi_priced_whole_done(&window->whole);
        espi_arena_done(&window->arena);
    }
    window->made = 0;
}

static esp_status make_window(struct espi_priced_search *s,
                              struct espi_priced_window *window, struct esp_err *err)
{
    if (window->made)
        return ESP_OK;
    window->made = 1;
    espi_arena_init(&window->arena);
    return espi_priced_whole_init(&window->whole, s->m, s->plain, s->pool, window->from_s,
                                  window->to_s, &s->cuts, &window->arena, err);
}

/* What may be spent in all: less, once the plan is as near to its bound as is promised.
 */
static double effort_end(const struct espi_priced_search *s)
{
    double least = s->best->value.objective;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].open && s->nodes[i].bound < least)
            least = s->nodes[i].bound;
    return s->best->value.objective <= least * (1 + ESPI_PRICED_GOAL)
               ? fmin(ESPI_PRICED_EFFORT_NEAR, s->may_spend)
               : s->may_spend;
}

/* The open node of least bound; of equals the deepest, for its children are near a plan.
 * -1: none. */
static int least_node(const struct espi_priced_search *s)
{
    int least = -1;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].open == 1 &&
            (least < 0 || s->nodes[i].bound < s->nodes[least].bound ||
             (s->nodes[i].bound <= s->nodes[least].bound &&
              s->nodes[i].depth > s->nodes[least].depth)))
            least = i;
    return least;
}

static int column_of(const struct espi_priced_whole *w,
                     const struct espi_priced_node *node)
{
    return node->is_x ? espi_priced_whole_column_x(w, node->at, node->level)
                      : w->column_of[node->at];
}

static int set_bounds(struct espi_priced_search *s, struct espi_priced_whole *w, int at)
{
    for (int j = w->first_x; j < w->first_link + w->n_kept; j++)
        espi_priced_whole_free(w, j);
    for (int i = at; i >= 0; i = s->nodes[i].parent) {
        const struct espi_priced_node *node = &s->nodes[i];
        if (node->at < 0)
            continue;
        if (!node->is_x && espi_priced_whole_keep(w, node->at))
            return -1;
        espi_priced_whole_narrow(w, column_of(w, node), node->lower, node->upper);
    }
    return 0;
}

/* ---- what is not whole ---- */

/* The x, or if all are whole the y, that is furthest from whole; 0: all are. */
static int find_broken(const struct espi_priced_search *s,
                       const struct espi_priced_whole *w, struct espi_priced_node *out)
{
    double most = ESPI_PRICED_NOT_BROKEN * 10, P = espi_priced_part_count(s);
    int found = 0;
    for (int v = 0; v < w->n; v++)
        for (int k = 1; k <= espi_priced_whole_levels(w, v); k++) {
            double x = espi_priced_whole_x(w, v, k);
            double worth = s->m->usd_per_s[v] > 0 || !s->m->must[v] || k > 1;
            if (worth * espi_priced_off_whole(x) <= most)
                continue;
            most = espi_priced_off_whole(x) * (1 + ESPI_PRICED_NOT_BROKEN);
            *out = (struct espi_priced_node){.is_x = 1, .at = v, .level = k, .lower = x};
            found = 1;
        }
    if (found || !s->m->task->partitions)
        return found;
    for (int i = 0; i < w->n_kept; i++) {
        double y = espi_priced_whole_y(w, w->kept[i]) * P;
        if (espi_priced_off_whole(y) <= most)
            continue;
        most = espi_priced_off_whole(y) * (1 + ESPI_PRICED_NOT_BROKEN);
        *out = (struct espi_priced_node){.at = w->kept[i], .lower = y};
        found = 1;
    }
    return found;
}

/* Two children of a node, below and above what is not whole. */
static int branch(struct espi_priced_search *s, int at,
                  const struct espi_priced_node *broken, double bound)
{
    double unit = broken->is_x ? 1 : espi_priced_part_count(s);
    double below = floor(broken->lower + ESPI_PRICED_NOT_BROKEN), top = 1;
    struct espi_priced_node child = *broken;
    child.window = s->nodes[at].window;
    child.parent = at;
    child.bound = bound;
    child.open = 1;
    child.depth = s->nodes[at].depth + 1;
    child.lower = 0;
    child.upper = below / unit;
    if (add_node(s, &child))
        return -1;
    child.lower = (below + 1) / unit;
    child.upper = top;
    return add_node(s, &child);
}

/* ---- the search ---- */

/* What the cost of machines is too low by, of the objective, as time is not known. */
static double vagueness(const struct espi_priced_search *s,
                        const struct espi_priced_window *window)
{
    const struct espi_priced_value *value = &s->best->value;
    double usd = value->usd_machines * s->m->task->usd_weight;
    double part =
        isfinite(value->objective) && value->objective > 0 ? usd / value->objective : 0;
    return part > 0 ? part * (window->to_s / window->from_s - 1) : 0;
}

static int halve_window(struct espi_priced_search *s, int at, double bound)
{
    struct espi_priced_window *window = s->windows[s->nodes[at].window];
    double middle_s = isfinite(window->to_s) ? sqrt(window->from_s * window->to_s)
                                             : s->best->value.time_s;
    if (!(middle_s > window->from_s) || !(middle_s < window->to_s))
        middle_s = window->from_s * 2;
    double from_s = window->from_s, to_s = window->to_s;
    return add_window(s, from_s, middle_s, at, bound) ||
                   add_window(s, middle_s, to_s, at, bound)
               ? -1
               : 0;
}

static esp_status look_at(struct espi_priced_search *s, int at, struct esp_err *err)
{
    struct espi_priced_window *window = s->windows[s->nodes[at].window];
    struct espi_priced_whole *w = &window->whole;
    int first = s->nodes[at].first;
    struct espi_priced_node broken;
    s->nodes[at].open = 0;
    esp_status st = make_window(s, window, err);
    if (st)
        return st;
    if (set_bounds(s, w, at))
        return espi_err_nomem(err);
    w->effort_end = w->effort + s->may_spend - espi_priced_effort_so_far(s);
    st = espi_priced_whole_solve(w, first ? ESPI_PRICED_ROOT_FLAT : ESPI_PRICED_NODE_FLAT,
                                 espi_priced_enough(s), err);
    if (st || !w->feasible)
        return st;
    if (!(w->bound > -INFINITY) || w->effort >= w->effort_end) {
        s->nodes[at].open = 2;
        s->nodes[at].bound = fmax(w->bound, s->nodes[at].bound);
        return ESP_OK;
    }
    double bound = fmax(w->bound, s->nodes[at].bound);
    s->nodes[at].bound = bound;
    if (bound >= espi_priced_enough(s))
        return ESP_OK;
    int whole = !find_broken(s, w, &broken);
    if (whole && espi_priced_find_more_rows(s, w, &st, err)) {
        bound = fmax(w->bound, bound);
        s->nodes[at].bound = bound;
        whole = !find_broken(s, w, &broken);
    }
    if (st || !w->feasible || w->bound >= espi_priced_enough(s))
        return st;
    if (whole) {
        /* whole, but trees may not be, or time may be spent better */
        if (s->m->task->partitions && espi_priced_pack_solution(s, w) < 0)
            return espi_err_nomem(err);
        if (bound < espi_priced_enough(s) &&
            window->to_s > window->from_s * (1 + ESPI_PRICED_OPTIMAL))
            return halve_window(s, at, bound) ? espi_err_nomem(err) : ESP_OK;
        s->nodes[at].open = bound < espi_priced_enough(s) ? 2 : 0;
        return ESP_OK;
    }
    struct espi_priced_node kept = broken;
    double gap = s->best->value.objective / bound - 1;
    if (first || gap > ESPI_PRICED_GOAL ||
        s->nodes[at].depth % ESPI_PRICED_DIVE_EVERY == 0)
        st = espi_priced_go_down(s, w, err);
    if (st || bound >= espi_priced_enough(s))
        return st;
    if (first && vagueness(s, window) > ESPI_PRICED_VAGUE)
        return halve_window(s, at, bound) ? espi_err_nomem(err) : ESP_OK;
    return branch(s, at, &kept, bound) ? espi_err_nomem(err) : ESP_OK;
}

/* Windows of which nothing is left to look at. */
static void end_windows(struct espi_priced_search *s)
{
    for (int i = 0; i < s->n_windows; i++) {
        int open = 0;
        for (int k = 0; k < s->n_nodes && s->windows[i]->made; k++)
            open |= s->nodes[k].open == 1 && s->nodes[k].window == i;
        if (!open)
            end_window(s, s->windows[i]);
    }
}

static double proven(const struct espi_priced_search *s)
{
    double least = isfinite(s->best->value.objective)
                       ? s->best->value.objective * (1 - ESPI_PRICED_OPTIMAL / 2)
                       : INFINITY;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].open && s->nodes[i].bound < least)
            least = s->nodes[i].bound;
    return least;
}

static esp_status search_all(struct espi_priced_search *s, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int at; !st && (at = least_node(s)) >= 0;) {
        if (s->nodes[at].bound >= espi_priced_enough(s) ||
            espi_priced_effort_so_far(s) > effort_end(s) ||
            s->best->value.objective <= s->good_enough)
            break;
        st = look_at(s, at, err);
        s->looked_at++;
        end_windows(s);
    }
    return st;
}

static void done(struct espi_priced_search *s)
{
    for (int i = 0; i < s->n_windows; i++) {
        end_window(s, s->windows[i]);
        espi_free(s->windows[i]);
    }
    espi_free(s->windows);
    espi_free(s->nodes);
    espi_free(s->cuts.side);
    espi_arena_done(&s->arena);
}

static int begin(struct espi_priced_search *s)
{
    int n = s->m->net.g.n;
    for (int i = 0; i < s->plain->tight.count; i++)
        if (espi_priced_cuts_add(&s->cuts, s->plain->tight.side + (size_t)i * (size_t)n,
                                 n))
            return -1;
    s->parts = ESPI_ARENA_NEW(&s->arena, int, s->m->net.g.m + 1);
    return s->parts ? add_window(s, s->plain->fastest_s, s->m->task->deadline_s, -1,
                                 s->plain->objective)
                    : -1;
}

esp_status espi_priced_branch(struct espi_priced_model *m,
                              const struct espi_priced_bound *plain,
                              struct espi_priced_pool *pool, struct espi_priced_mix *best,
                              struct espi_priced_proof *proof, struct esp_err *err)
{
    struct espi_priced_search s = {.m = m,
                                   .plain = plain,
                                   .pool = pool,
                                   .best = best,
                                   .may_spend = proof->effort,
                                   .good_enough = proof->good_enough};
    espi_arena_init(&s.arena);
    esp_status st = begin(&s) ? espi_err_nomem(err) : search_all(&s, err);
    if (!st) {
        proof->bound = fmax(proven(&s), plain->objective);
        proof->nodes = s.looked_at;
    }
    done(&s);
    return st;
}
