/* Windows of time and, within each, bounds of x(v, n) and y(e): the least bound is looked
 * at next. A window in which machines are counted too cheaply, as it is wide, is halved;
 * elsewhere what is most fractional is branched on. From the first node of each window,
 * and wherever a solution is whole, trees are cut from the partitions on links. */
#include "solve/priced/branch.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "solve/priced/pack.h"
#include "solve/priced/tuning.h"

#define WHOLE 1e-6 /* rounding: of partitions and machines */

/* How partitions are held on the way down to a plan. */
enum hold { HOLD_MANY, HOLD_ONE, HOLD_OTHER };

/* A program and the windows it is for; made when its first node is looked at. */
struct window {
    double from_s, to_s;
    struct espi_arena arena;
    struct espi_priced_whole whole;
    int made;
};

struct node {
    double bound;
    int window, parent, open, depth;
    int first;           /* of its window */
    int is_x, at, level; /* node, level; or link; -1: neither */
    double lower, upper; /* of x, or of y */
};

struct search {
    struct espi_priced_model *m;
    const struct espi_priced_bound *plain;
    struct espi_priced_pool *pool;
    struct espi_priced_mix *best;
    struct espi_priced_cuts cuts;
    struct window **windows;
    size_t window_room;
    int n_windows;
    struct node *nodes;
    size_t node_room;
    int n_nodes, looked_at;
    double effort; /* of windows that are done with */
    double may_spend, good_enough;
    int *parts; /* by link */
    struct espi_arena arena;
};

/* ---- nodes and windows ---- */

static int add_node(struct search *s, const struct node *node)
{
    size_t n = (size_t)s->n_nodes;
    if (espi_grow((void **)&s->nodes, &s->node_room, n + 1, sizeof *s->nodes))
        return -1;
    s->nodes[s->n_nodes++] = *node;
    return 0;
}

/* A window and its first node, within the bounds of its parent (-1: none). */
static int add_window(struct search *s, double from_s, double to_s, int parent,
                      double bound)
{
    size_t n = (size_t)s->n_windows;
    struct window *window = ESPI_NEW(struct window, 1);
    if (!window)
        return -1;
    if (espi_grow((void **)&s->windows, &s->window_room, n + 1, sizeof *s->windows)) {
        espi_free(window);
        return -1;
    }
    *window = (struct window){.from_s = from_s, .to_s = to_s};
    espi_arena_init(&window->arena);
    s->windows[s->n_windows++] = window;
    struct node first = {.bound = bound,
                         .window = s->n_windows - 1,
                         .parent = parent,
                         .open = 1,
                         .depth = parent < 0 ? 0 : s->nodes[parent].depth,
                         .first = 1,
                         .at = -1};
    return add_node(s, &first);
}

static void end_window(struct search *s, struct window *window)
{
    if (window->made) {
        s->effort += window->whole.effort;
        espi_priced_whole_done(&window->whole);
        espi_arena_done(&window->arena);
    }
    window->made = 0;
}

static esp_status make_window(struct search *s, struct window *window,
                              struct esp_err *err)
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
static double effort_end(const struct search *s)
{
    double least = s->best->value.objective;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].open && s->nodes[i].bound < least)
            least = s->nodes[i].bound;
    return s->best->value.objective <= least * (1 + ESPI_PRICED_GOAL)
               ? fmin(ESPI_PRICED_EFFORT_NEAR, s->may_spend)
               : s->may_spend;
}

static double effort_so_far(const struct search *s)
{
    double sum = s->effort;
    for (int i = 0; i < s->n_windows; i++)
        if (s->windows[i]->made)
            sum += s->windows[i]->whole.effort;
    return sum;
}

/* No plan is looked for that costs more than this. */
static double enough(const struct search *s)
{
    return s->best->value.objective * (1 - ESPI_PRICED_OPTIMAL / 2);
}

/* The open node of least bound; of equals the deepest, for its children are near a plan.
 * -1: none. */
static int least_node(const struct search *s)
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

static int column_of(const struct espi_priced_whole *w, const struct node *node)
{
    return node->is_x ? espi_priced_whole_column_x(w, node->at, node->level)
                      : w->column_of[node->at];
}

static int set_bounds(struct search *s, struct espi_priced_whole *w, int at)
{
    for (int j = w->first_x; j < w->first_link + w->n_kept; j++)
        espi_priced_whole_free(w, j);
    for (int i = at; i >= 0; i = s->nodes[i].parent) {
        const struct node *node = &s->nodes[i];
        if (node->at < 0)
            continue;
        if (!node->is_x && espi_priced_whole_keep(w, node->at))
            return -1;
        espi_priced_whole_narrow(w, column_of(w, node), node->lower, node->upper);
    }
    return 0;
}

/* ---- what is not whole ---- */

static double part_count(const struct search *s)
{
    return s->m->task->partitions ? s->m->task->partitions : 1;
}

static double off_whole(double x)
{
    return fabs(x - floor(x + 0.5));
}

/* The x, or if all are whole the y, that is furthest from whole; 0: all are. */
static int find_broken(const struct search *s, const struct espi_priced_whole *w,
                       struct node *out)
{
    double most = WHOLE * 10, P = part_count(s);
    int found = 0;
    for (int v = 0; v < w->n; v++)
        for (int k = 1; k <= espi_priced_whole_levels(w, v); k++) {
            double x = espi_priced_whole_x(w, v, k);
            double worth = s->m->usd_per_s[v] > 0 || !s->m->must[v] || k > 1;
            if (worth * off_whole(x) <= most)
                continue;
            most = off_whole(x) * (1 + WHOLE);
            *out = (struct node){.is_x = 1, .at = v, .level = k, .lower = x};
            found = 1;
        }
    if (found || !s->m->task->partitions)
        return found;
    for (int i = 0; i < w->n_kept; i++) {
        double y = espi_priced_whole_y(w, w->kept[i]) * P;
        if (off_whole(y) <= most)
            continue;
        most = off_whole(y) * (1 + WHOLE);
        *out = (struct node){.at = w->kept[i], .lower = y};
        found = 1;
    }
    return found;
}

/* Two children of a node, below and above what is not whole. */
static int branch(struct search *s, int at, const struct node *broken, double bound)
{
    double unit = broken->is_x ? 1 : part_count(s);
    double below = floor(broken->lower + WHOLE), top = 1;
    struct node child = *broken;
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

/* ---- plans ---- */

static int pack_solution(struct search *s, const struct espi_priced_whole *w)
{
    double P = part_count(s);
    memset(s->parts, 0, (size_t)s->m->net.g.m * sizeof *s->parts);
    for (int i = 0; i < w->n_kept; i++)
        s->parts[w->kept[i]] =
            (int)(espi_priced_whole_y(w, w->kept[i]) * P + 1 - ESPI_PRICED_NEARLY);
    return espi_priced_pack(s->m, s->pool, s->parts, &s->arena, s->best);
}

/* A solution may be whole for want of rows: 1 when there were some. */
static int find_more_rows(struct search *s, struct espi_priced_whole *w, esp_status *st,
                          struct esp_err *err)
{
    int had = w->rows_added;
    *st = espi_priced_whole_solve(w, ESPI_PRICED_ROUNDS, enough(s), err);
    return !*st && w->feasible && w->bound < enough(s) && w->effort < w->effort_end &&
           w->rows_added > had;
}

/* Holds partitions that are nearly whole; or the one nearest to whole alone, there or, if
 * that failed, on its other side. Returns how many. */
static int hold_some(const struct search *s, struct espi_priced_whole *w, const double *y,
                     enum hold how)
{
    double P = part_count(s), nearest = 1;
    int held = 0, which = -1;
    for (int i = 0; i < w->n_kept && y[i] > -0.5; i++) {
        double off = off_whole(y[i] * P);
        if (off <= 10 * WHOLE)
            continue;
        if (off < nearest) {
            nearest = off;
            which = i;
        }
        if (how != HOLD_MANY || off > ESPI_PRICED_HOLD)
            continue;
        double there = floor(y[i] * P + 0.5) / P;
        espi_priced_whole_narrow(w, w->first_link + i, there, there);
        held++;
    }
    if (held || which < 0)
        return held;
    double below = floor(y[which] * P), part = y[which] * P - below;
    int up = (part >= 0.5) == (how != HOLD_OTHER);
    if (up)
        espi_priced_whole_narrow(w, w->first_link + which, (below + 1) / P, 1);
    else
        espi_priced_whole_narrow(w, w->first_link + which, 0, below / P);
    return 1;
}

static void hold_machines(struct espi_priced_whole *w)
{
    for (int v = 0; v < w->n; v++)
        for (int k = 1; k <= espi_priced_whole_levels(w, v); k++) {
            double x = espi_priced_whole_x(w, v, k);
            if (off_whole(x) > 10 * WHOLE && x > ESPI_PRICED_RENT)
                espi_priced_whole_narrow(w, espi_priced_whole_column_x(w, v, k), 1, 1);
        }
}

/* What a step begins with, to be gone back to. */
struct before {
    double *y, *lower, *upper;
    int n_kept, columns;
};

static void note_before(const struct espi_priced_whole *w, struct before *b)
{
    b->n_kept = w->n_kept;
    b->columns = w->first_link + w->n_kept;
    for (int i = 0; i < w->n_kept; i++)
        b->y[i] = espi_priced_whole_y(w, w->kept[i]);
    b->y[w->n_kept] = -1;
    memcpy(b->lower, w->lower, (size_t)b->columns * sizeof *b->lower);
    memcpy(b->upper, w->upper, (size_t)b->columns * sizeof *b->upper);
}

/* Links that came since are free. */
static void go_back(struct espi_priced_whole *w, const struct before *b)
{
    for (int j = w->first_x; j < w->first_link + w->n_kept; j++) {
        espi_priced_whole_free(w, j);
        if (j < b->columns)
            espi_priced_whole_narrow(w, j, b->lower[j], b->upper[j]);
    }
}

/* One step down: many at once, one, or that one on its other side. 1: some way was open;
 * 0: none, or all is whole. */
static int step_down(struct search *s, struct espi_priced_whole *w, struct before *b,
                     esp_status *st, struct esp_err *err)
{
    note_before(w, b);
    for (int how = HOLD_MANY; how <= HOLD_OTHER; how++) {
        if (how == HOLD_MANY)
            hold_machines(w);
        if (!hold_some(s, w, b->y, (enum hold)how))
            return how == HOLD_MANY && find_more_rows(s, w, st, err);
        *st = espi_priced_whole_solve(w, ESPI_PRICED_NODE_FLAT, enough(s), err);
        if (*st || w->effort >= w->effort_end)
            return 0;
        if (w->feasible && w->bound < enough(s))
            return 1;
        go_back(w, b);
    }
    return 0;
}

/* From the node at hand down to a whole solution, or to where there is none. */
static esp_status go_down(struct search *s, struct espi_priced_whole *w,
                          struct esp_err *err)
{
    size_t room = (size_t)(w->first_link + s->m->net.g.m + 1);
    struct espi_arena_mark mark = espi_arena_mark(&s->arena);
    struct before before;
    esp_status st = ESP_OK;
    before.y = ESPI_ARENA_NEW(&s->arena, double, room);
    before.lower = ESPI_ARENA_NEW(&s->arena, double, room);
    before.upper = ESPI_ARENA_NEW(&s->arena, double, room);
    if (!before.y || !before.lower || !before.upper)
        return espi_err_nomem(err);
    w->effort_end = w->effort + (s->may_spend - effort_so_far(s)) * ESPI_PRICED_DIVE_PART;
    for (int step = 0; step < ESPI_PRICED_DIVE; step++)
        if (!step_down(s, w, &before, &st, err))
            break;
    espi_arena_release(&s->arena, mark);
    if (!st && w->feasible && w->bound > -INFINITY && pack_solution(s, w) < 0)
        return espi_err_nomem(err);
    return st;
}

/* ---- the search ---- */

/* What the cost of machines is too low by, of the objective, as time is not known. */
static double vagueness(const struct search *s, const struct window *window)
{
    const struct espi_priced_value *value = &s->best->value;
    double usd = value->usd_machines * s->m->task->usd_weight;
    double part =
        isfinite(value->objective) && value->objective > 0 ? usd / value->objective : 0;
    return part > 0 ? part * (window->to_s / window->from_s - 1) : 0;
}

static int halve_window(struct search *s, int at, double bound)
{
    struct window *window = s->windows[s->nodes[at].window];
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

static esp_status look_at(struct search *s, int at, struct esp_err *err)
{
    struct window *window = s->windows[s->nodes[at].window];
    struct espi_priced_whole *w = &window->whole;
    int first = s->nodes[at].first;
    struct node broken;
    s->nodes[at].open = 0;
    esp_status st = make_window(s, window, err);
    if (st)
        return st;
    if (set_bounds(s, w, at))
        return espi_err_nomem(err);
    w->effort_end = w->effort + s->may_spend - effort_so_far(s);
    st = espi_priced_whole_solve(w, first ? ESPI_PRICED_ROOT_FLAT : ESPI_PRICED_NODE_FLAT,
                                 enough(s), err);
    if (st || !w->feasible)
        return st;
    if (!(w->bound > -INFINITY) || w->effort >= w->effort_end) {
        s->nodes[at].open = 2;
        s->nodes[at].bound = fmax(w->bound, s->nodes[at].bound);
        return ESP_OK;
    }
    double bound = fmax(w->bound, s->nodes[at].bound);
    s->nodes[at].bound = bound;
    if (bound >= enough(s))
        return ESP_OK;
    int whole = !find_broken(s, w, &broken);
    if (whole && find_more_rows(s, w, &st, err)) {
        bound = fmax(w->bound, bound);
        s->nodes[at].bound = bound;
        whole = !find_broken(s, w, &broken);
    }
    if (st || !w->feasible || w->bound >= enough(s))
        return st;
    if (whole) {
        /* whole, but trees may not be, or time may be spent better */
        if (s->m->task->partitions && pack_solution(s, w) < 0)
            return espi_err_nomem(err);
        if (bound < enough(s) &&
            window->to_s > window->from_s * (1 + ESPI_PRICED_OPTIMAL))
            return halve_window(s, at, bound) ? espi_err_nomem(err) : ESP_OK;
        s->nodes[at].open = bound < enough(s) ? 2 : 0;
        return ESP_OK;
    }
    struct node kept = broken;
    double gap = s->best->value.objective / bound - 1;
    if (first || gap > ESPI_PRICED_GOAL ||
        s->nodes[at].depth % ESPI_PRICED_DIVE_EVERY == 0)
        st = go_down(s, w, err);
    if (st || bound >= enough(s))
        return st;
    if (first && vagueness(s, window) > ESPI_PRICED_VAGUE)
        return halve_window(s, at, bound) ? espi_err_nomem(err) : ESP_OK;
    return branch(s, at, &kept, bound) ? espi_err_nomem(err) : ESP_OK;
}

/* Windows of which nothing is left to look at. */
static void end_windows(struct search *s)
{
    for (int i = 0; i < s->n_windows; i++) {
        int open = 0;
        for (int k = 0; k < s->n_nodes && s->windows[i]->made; k++)
            open |= s->nodes[k].open == 1 && s->nodes[k].window == i;
        if (!open)
            end_window(s, s->windows[i]);
    }
}

static double proven(const struct search *s)
{
    double least = isfinite(s->best->value.objective)
                       ? s->best->value.objective * (1 - ESPI_PRICED_OPTIMAL / 2)
                       : INFINITY;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].open && s->nodes[i].bound < least)
            least = s->nodes[i].bound;
    return least;
}

static esp_status search_all(struct search *s, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int at; !st && (at = least_node(s)) >= 0;) {
        if (s->nodes[at].bound >= enough(s) || effort_so_far(s) > effort_end(s) ||
            s->best->value.objective <= s->good_enough)
            break;
        st = look_at(s, at, err);
        s->looked_at++;
        end_windows(s);
    }
    return st;
}

static void done(struct search *s)
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

static int begin(struct search *s)
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
    struct search s = {.m = m,
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
