#include "select/judge.h"

#include <math.h>

#include "base/err.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "select/slices.h"

/* The slices of one plan that are still in question. */
struct sizes {
    int n;
    double bytes[ESPI_SLICE_SIZES_MAX];
    double closed_s[ESPI_SLICE_SIZES_MAX]; /* its finish by the closed form */
    double least_s[ESPI_SLICE_SIZES_MAX];  /* it is hardly through before */
    double messages_s[ESPI_SLICE_SIZES_MAX];
};

static esp_status list_sizes(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, struct esp_err *err)
{
    double messages = 0;
    if (espi_plan_has_steps(plan)) {
        s->n = !(j->steps_max_bytes > 0) || j->size_bytes <= j->steps_max_bytes ? 1 : 0;
        s->bytes[0] = j->size_bytes; /* its messages are as long as they are */
    } else if (j->only_bytes > 0) {
        s->n = 1;
        s->bytes[0] = j->only_bytes;
    } else {
        s->n = espi_slice_sizes(j->size_bytes, espi_plan_parts(plan, j->p->n_hosts),
                                s->bytes);
    }
    for (int i = 0; i < s->n; i++) {
        if (espi_messages(plan, j->size_bytes, s->bytes[i], j->arena, &messages))
            return espi_err_nomem(err);
        s->messages_s[i] = j->message_s * messages;
    }
    return ESP_OK;
}

/* By the closed form; of what can be played to its end by the busiest resource. */
static esp_status find_least(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, struct esp_err *err)
{
    struct espi_cost cost;
    esp_status st = ESP_OK;
    for (int i = 0; i < s->n && !st; i++) {
        st = espi_plan_cost(j->p, plan, j->size_bytes, s->bytes[i], j->arena, &cost, err);
        if (st)
            break;
        double count = espi_slices(j->size_bytes, s->bytes[i]).count;
        int played =
            j->closer_looks && plan->n_trees > 1 && espi_plan_is_short(j->p, plan, count);
        s->closed_s[i] = cost.makespan_s;
        s->least_s[i] =
            (played ? count * cost.load_s : cost.makespan_s) + s->messages_s[i];
    }
    return st;
}

/* Gives up all slices but those that look best by one order of sends each: to look for
 * the best order for all of them takes ten times as long. */
static esp_status keep_best(const struct espi_judge *j, const struct esp_plan *plan,
                            double limit_s, struct sizes *s, struct esp_err *err)
{
    double rank_s[ESPI_SLICE_SIZES_MAX];
    esp_status st = ESP_OK;
    for (int i = 0; i < s->n && !st; i++) {
        rank_s[i] = INFINITY;
        if (!(s->least_s[i] < limit_s))
            continue;
        st = espi_plan_rank(j->p, plan, j->size_bytes, s->bytes[i], j->arena, &rank_s[i],
                            err);
        rank_s[i] += s->messages_s[i];
    }
    for (int i = 0; i < s->n && !st; i++) {
        int better = 0;
        for (int k = 0; k < s->n; k++)
            better += rank_s[k] < rank_s[i] || (rank_s[k] == rank_s[i] && k < i);
        if (better >= j->closer_looks)
            s->least_s[i] = INFINITY;
    }
    return st;
}

static int most_promising(const struct sizes *s)
{
    int best = 0;
    for (int i = 1; i < s->n; i++)
        if (s->least_s[i] < s->least_s[best])
            best = i;
    return best;
}

/* What it is through by; of closed forms that is known already. */
static esp_status time_finish(const struct espi_judge *j, const struct esp_plan *plan,
                              const struct sizes *s, int i, double *out_s,
                              struct esp_err *err)
{
    if (j->closer_looks)
        return espi_plan_finish(j->p, plan, j->size_bytes, s->bytes[i], j->arena, out_s,
                                err);
    *out_s = s->closed_s[i];
    return ESP_OK;
}

/* What counts is what the plan will claim; timing that takes its time, so few slices are.
 */
esp_status espi_judge_plan(const struct espi_judge *judge, const struct esp_plan *plan,
                           double limit_s, struct espi_verdict *out, struct esp_err *err)
{
    struct sizes s;
    struct espi_verdict best = {.judged_s = INFINITY};
    esp_status st = list_sizes(judge, plan, &s, err);
    if (!st)
        st = find_least(judge, plan, &s, err);
    if (!st && judge->closer_looks && plan->n_trees > 1 && s.n > judge->closer_looks)
        st = keep_best(judge, plan, limit_s, &s, err);
    for (int looked = 0; looked < s.n && !st; looked++) {
        int i = most_promising(&s);
        double finish_s = 0;
        if (!(s.least_s[i] < limit_s))
            break;
        st = time_finish(judge, plan, &s, i, &finish_s, err);
        double judged_s = finish_s + s.messages_s[i];
        if (!st && judged_s < limit_s) {
            best = (struct espi_verdict){s.bytes[i], judged_s, finish_s};
            limit_s = judged_s;
        }
        s.least_s[i] = INFINITY;
    }
    if (!st)
        *out = best;
    return st;
}
