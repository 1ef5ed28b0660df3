#include "select/settle_slices.h"

#include <math.h>

#include "base/err.h"
#include "base/watch.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "platform/platform.h"
#include "select/slices.h"

struct settling {
    const struct esp_platform *p;
    const struct esp_request *request;
    const struct esp_plan *plan; /* as it was chosen */
    struct espi_arena arena;
    double bytes[ESPI_SLICE_SIZES_MAX];
    int n;
    struct espi_played_claims bare; /* of the trees in the order that is found for them */
};

/* The claim as it is known, or as it turns out, and is known then. */
static esp_status play_or_recall_claim(struct settling *s, const struct esp_plan *plan,
                                       double bytes, struct espi_played_claims *known,
                                       double *finish_s, struct esp_err *err)
{
    struct espi_finish finish;
    const struct espi_played_claim *claim =
        espi_claims_find(known, espi_slices(plan->size_bytes, bytes));
    if (claim) {
        *finish_s = claim->finish_s;
        return ESP_OK;
    }
    esp_status st =
        espi_plan_claim(s->p, plan, plan->size_bytes, bytes, &s->arena, &finish, err);
    if (st)
        return st;
    espi_claims_add(known, &finish.claim);
    *finish_s = finish.makespan_s;
    return ESP_OK;
}

/* What the trees claim in slices of this size, in the plan's order or the one that is
 * found for them, and what their messages cost; infinity where that is not known to its
 * last digits. */
static esp_status claim_of(struct settling *s, const struct esp_plan *plan, double bytes,
                           struct espi_played_claims *known, double *out_s,
                           struct esp_err *err)
{
    const struct esp_request *r = s->request;
    struct esp_plan cut = *plan;
    double messages = 0;
    cut.slice_bytes = espi_slices(plan->size_bytes, bytes).bytes;
    double count = espi_slices(plan->size_bytes, bytes).count;
    int asks = s->p->model == ESP_MODEL_HNOW;
    *out_s = INFINITY;
    if (asks ? !r->judge : !espi_plan_is_short(s->p, plan, count, 0))
        return ESP_OK;
    if (espi_messages(plan, plan->size_bytes, bytes, &s->arena, &messages))
        return espi_err_nomem(err);
    double finish_s = asks ? r->judge(r->judge_arg, s->p, &cut) : 0;
    esp_status st =
        asks ? ESP_OK : play_or_recall_claim(s, plan, bytes, known, &finish_s, err);
    if (!st && !isnan(finish_s))
        *out_s = espi_with_messages_s(s->p, finish_s, messages * espi_message_s(s->p));
    return st;
}

/* -1: it is none of the list. */
static int find_size(const struct settling *s)
{
    for (int i = 0; i < s->n; i++)
        if (espi_slices(s->plan->size_bytes, s->bytes[i]).bytes == s->plan->slice_bytes)
            return i;
    return -1;
}

struct best_size {
    double claim_s;
    int at; /* -1: the plan as it was chosen */
};

/* Sets *earlier: are the trees earlier in the slices number i than in the best so far,
 * in whose place they come then? */
static esp_status try_size(struct settling *s, int i, struct best_size *best,
                           int *earlier, struct esp_err *err)
{
    struct esp_plan bare = *s->plan;
    double claim_s = INFINITY;
    bare.schedule = NULL;
    esp_status st = claim_of(s, &bare, s->bytes[i], &s->bare, &claim_s, err);
    *earlier = !st && claim_s < best->claim_s;
    if (*earlier)
        *best = (struct best_size){claim_s, i};
    return st;
}

/* From size to size, as long as the next one is earlier; first of all the same size in
 * the order that is found for it, where the plan came with one. */
static esp_status climb_sizes(struct settling *s, struct espi_played_claims *known,
                              struct best_size *best, struct esp_err *err)
{
    int first = find_size(s), earlier;
    if (first < 0)
        return ESP_OK;
    esp_status st = claim_of(s, s->plan, s->bytes[first], known, &best->claim_s, err);
    if (st || isinf(best->claim_s))
        return st;
    if (!s->plan->schedule)
        s->bare = *known;
    if (s->plan->schedule)
        st = try_size(s, first, best, &earlier, err);
    for (int step = -1; step <= 1; step += 2) {
        earlier = 1;
        for (int i = first + step; i >= 0 && i < s->n && earlier && !st; i += step)
            st = try_size(s, i, best, &earlier, err);
    }
    return st;
}

esp_status espi_settle_slices(const struct esp_platform *p,
                              const struct esp_request *request, struct esp_plan *plan,
                              struct espi_played_claims *claims, struct esp_err *err)
{
    struct settling s = {.p = p, .request = request, .plan = plan, .bare = {.n = 0}};
    struct best_size best = {INFINITY, -1};
    if (request->slice_bytes != ESP_SLICE_AUTO || espi_plan_has_steps(plan) ||
        espi_watch_is_over())
        return ESP_OK;
    s.n = espi_slice_sizes(plan->size_bytes, espi_plan_parts(plan, p->n_hosts), s.bytes);
    espi_arena_init(&s.arena);
    esp_status st = climb_sizes(&s, claims, &best, err);
    espi_arena_done(&s.arena);
    if (!st && best.at >= 0) {
        espi_schedule_free(plan->schedule);
        plan->schedule = NULL;
        plan->slice_bytes = espi_slices(plan->size_bytes, s.bytes[best.at]).bytes;
        *claims = s.bare;
    }
    return st;
}
