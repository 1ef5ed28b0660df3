/* The way down from a node of the search to a plan: partitions and machines are held
 * where they are nearly whole. */
#include "solve/priced/branch_impl.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "solve/priced/pack.h"
#include "solve/priced/tuning.h"

/* How partitions are held on the way down to a plan. */
enum hold { HOLD_MANY, HOLD_ONE, HOLD_OTHER };

double espi_priced_part_count(const struct espi_priced_search *s)
{
    return s->m->task->partitions ? s->m->task->partitions : 1;
}

double espi_priced_off_whole(double x)
{
    return fabs(x - floor(x + 0.5));
}

double espi_priced_effort_so_far(const struct espi_priced_search *s)
{
    double sum = s->effort;
    for (int i = 0; i < s->n_windows; i++)
        if (s->windows[i]->made)
            sum += s->windows[i]->whole.effort;
    return sum;
}

double espi_priced_enough(const struct espi_priced_search *s)
{
    return s->best->value.objective * (1 - ESPI_PRICED_OPTIMAL / 2);
}

int espi_priced_pack_solution(struct espi_priced_search *s,
                              const struct espi_priced_whole *w)
{
    double P = espi_priced_part_count(s);
    memset(s->parts, 0, (size_t)s->m->net.g.m * sizeof *s->parts);
    for (int i = 0; i < w->n_kept; i++)
        s->parts[w->kept[i]] =
            (int)(espi_priced_whole_y(w, w->kept[i]) * P + 1 - ESPI_PRICED_NEARLY);
    return espi_priced_pack(s->m, s->pool, s->parts, &s->arena, s->best);
}

int espi_priced_find_more_rows(struct espi_priced_search *s, struct espi_priced_whole *w,
                               esp_status *st, struct esp_err *err)
{
    int had = w->rows_added;
    *st = espi_priced_whole_solve(w, ESPI_PRICED_ROUNDS, espi_priced_enough(s), err);
    return !*st && w->feasible && w->bound < espi_priced_enough(s) &&
           w->effort < w->effort_end && w->rows_added > had;
}

/* Holds partitions that are nearly whole; or the one nearest to whole alone, there or, if
 * that failed, on its other side. Returns how many. */
static int hold_some(const struct espi_priced_search *s, struct espi_priced_whole *w,
                     const double *y, enum hold how)
{
    double P = espi_priced_part_count(s), nearest = 1;
    int held = 0, which = -1;
    for (int i = 0; i < w->n_kept && y[i] > -0.5; i++) {
        double off = espi_priced_off_whole(y[i] * P);
        if (off <= 10 * ESPI_PRICED_NOT_BROKEN)
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
            if (espi_priced_off_whole(x) > 10 * ESPI_PRICED_NOT_BROKEN &&
                x > ESPI_PRICED_RENT)
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
static int step_down(struct espi_priced_search *s, struct espi_priced_whole *w,
                     struct before *b, esp_status *st, struct esp_err *err)
{
    note_before(w, b);
    for (int how = HOLD_MANY; how <= HOLD_OTHER; how++) {
        if (how == HOLD_MANY)
            hold_machines(w);
        if (!hold_some(s, w, b->y, (enum hold)how))
            return how == HOLD_MANY && espi_priced_find_more_rows(s, w, st, err);
        *st =
            espi_priced_whole_solve(w, ESPI_PRICED_NODE_FLAT, espi_priced_enough(s), err);
        if (*st || w->effort >= w->effort_end)
            return 0;
        if (w->feasible && w->bound < espi_priced_enough(s))
            return 1;
        go_back(w, b);
    }
    return 0;
}

esp_status espi_priced_go_down(struct espi_priced_search *s, struct espi_priced_whole *w,
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
    w->effort_end =
        w->effort + (s->may_spend - espi_priced_effort_so_far(s)) * ESPI_PRICED_DIVE_PART;
    for (int step = 0; step < ESPI_PRICED_DIVE; step++)
        if (!step_down(s, w, &before, &st, err))
            break;
    espi_arena_release(&s->arena, mark);
    if (!st && w->feasible && w->bound > -INFINITY && espi_priced_pack_solution(s, w) < 0)
        return espi_err_nomem(err);
    return st;
}
