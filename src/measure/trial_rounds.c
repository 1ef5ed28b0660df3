/* Rounds of transfers, and which of them to believe.
 *
 * What disturbs a round (a machine that stands still for a while, because others use it
 * or because it is a virtual one) makes transfers slower, and often all of them. It looks
 * as if they shared something. But it does not come again at will, as a limit does. So of
 * rounds of the same transfers only the best count: those that got much less together are
 * left out here, and nobody else sees them. What rests on too few rounds is in doubt; the
 * probe runs those again as long as there is time. */
#include <stdlib.h>

#include "measure/measured.h"

static int by_round(const void *x, const void *y)
{
    const struct espi_sample *a = x, *b = y;
    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

/* A round while those of the same transfers are looked for. */
struct listed {
    const struct espi_trial_flow *flows;
    int n, round;
    double sum;
};

static int compare_flows(const struct listed *a, const struct listed *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = 0; i < a->n; i++) {
        const struct espi_trial_flow *f = &a->flows[i], *g = &b->flows[i];
        if (f->from != g->from)
            return f->from < g->from ? -1 : 1;
        if (f->to != g->to)
            return f->to < g->to ? -1 : 1;
    }
    return 0;
}

static int by_flows(const void *x, const void *y)
{
    const struct listed *a = x, *b = y;
    int order = compare_flows(a, b);
    return order ? order : (a->round > b->round) - (a->round < b->round);
}

/* Rounds of the same transfers: marks those that were beaten in `same` by -1, the others
 * by the first of them that was not. */
static void mark_beaten_rounds(struct espi_trial_rounds *r, const struct listed *at,
                               int n, double *sums)
{
    int first = -1, kept = 0;
    for (int i = 0; i < n; i++)
        sums[i] = at[i].sum;
    double top = espi_confirmed_top(sums, n);
    for (int i = 0; i < n; i++) {
        int beaten = at[i].sum < ESPI_BORNE_OUT * top;
        first = first < 0 && !beaten ? at[i].round : first;
        r->same[at[i].round] = beaten ? -1 : first;
        r->times[at[i].round] = n;
        kept += !beaten;
    }
    for (int i = 0; i < n; i++)
        r->kept[at[i].round] = kept;
}

static int judge_all(struct espi_trial_rounds *r, struct espi_arena *arena)
{
    struct listed *list = ESPI_ARENA_NEW(arena, struct listed, (size_t)r->n + 1);
    double *sums = ESPI_ARENA_NEW(arena, double, (size_t)r->n + 1);
    if (!list || !sums)
        return -1;
    for (int k = 0; k < r->n; k++) {
        list[k] =
            (struct listed){&r->flows[r->start[k]], r->start[k + 1] - r->start[k], k, 0};
        for (int i = 0; i < list[k].n; i++)
            list[k].sum += list[k].flows[i].Bps;
    }
    qsort(list, (size_t)r->n, sizeof *list, by_flows);
    for (int k = 0, end; k < r->n; k = end) {
        for (end = k + 1; end < r->n && compare_flows(&list[k], &list[end]) == 0;)
            end++;
        mark_beaten_rounds(r, &list[k], end - k, sums);
    }
    return 0;
}

/* Leaves the beaten rounds out; `number` has room for a number of each round. */
static void keep_best(struct espi_trial_rounds *r, int *number)
{
    int kept = 0, n = 0;
    for (int k = 0; k < r->n; k++) {
        int from = r->start[k], to = r->start[k + 1];
        if (r->same[k] < 0)
            continue;
        number[k] = kept;
        r->start[kept] = n;
        r->times[kept] = r->times[k];
        r->kept[kept] = r->kept[k];
        r->same[kept++] = number[r->same[k]];
        for (int i = from; i < to; i++)
            r->flows[n++] = r->flows[i];
    }
    r->n_beaten = r->n - kept;
    r->n = kept;
    r->start[kept] = n;
}

int espi_trial_rounds_gather(struct espi_trial_rounds *r, const struct espi_samples *s,
                             enum espi_sample_kind kind, struct espi_arena *arena)
{
    struct espi_sample *sorted = ESPI_ARENA_NEW(arena, struct espi_sample, s->n + 1);
    int *number = ESPI_ARENA_NEW(arena, int, s->n + 1);
    r->flows = ESPI_ARENA_NEW(arena, struct espi_trial_flow, s->n + 1);
    r->start = ESPI_ARENA_NEW(arena, int, s->n + 2);
    r->same = ESPI_ARENA_NEW(arena, int, s->n + 1);
    r->kept = ESPI_ARENA_NEW(arena, int, s->n + 1);
    r->times = ESPI_ARENA_NEW(arena, int, s->n + 1);
    r->doubtful = ESPI_ARENA_ZNEW(arena, unsigned char, s->n + 1);
    if (!sorted || !number || !r->flows || !r->start || !r->same || !r->kept ||
        !r->times || !r->doubtful)
        return -1;
    int n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].kind == kind)
            sorted[n++] = s->at[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_round);
    for (int i = 0; i < n; i++) {
        if (i == 0 || sorted[i].round != sorted[i - 1].round)
            r->start[r->n++] = i;
        r->flows[i] =
            (struct espi_trial_flow){sorted[i].from, sorted[i].to, sorted[i].value};
    }
    r->start[r->n] = n;
    if (judge_all(r, arena))
        return -1;
    keep_best(r, number);
    return 0;
}

int espi_trial_rounds_doubt(struct espi_trial_rounds *r, int round)
{
    int again = r->times[round] < ESPI_TIMES_MAX;
    r->doubtful[r->same[round]] |= again;
    return again;
}
