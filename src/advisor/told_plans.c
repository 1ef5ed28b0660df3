/* What was said: by which the next advice is measured, and of which nothing more is
 * looked for as long as nothing has changed. */
#include <math.h>

#include "advisor/advisor_impl.h"
#include "advisor/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "plan/schedule.h"

void espi_told_clear(struct espi_told *t)
{
    esp_plan_free(t->plan);
    espi_free(t->factor);
    *t = (struct espi_told){.plan = NULL};
}

struct espi_told *espi_told_of(struct espi_advisor *a, int root, int size_class)
{
    for (int i = 0; i < a->n_told; i++)
        if (a->told[i].root == root && a->told[i].size_class == size_class)
            return &a->told[i];
    return NULL;
}

/* The place of what is said next: a free one, or another in its turn. */
static struct espi_told *told_for(struct espi_advisor *a, int root, int size_class)
{
    struct espi_told *t = espi_told_of(a, root, size_class);
    if (t)
        return t;
    if (a->n_told == ESPI_TOLD_MAX)
        return &a->told[a->turn % ESPI_TOLD_MAX];
    t = &a->told[a->n_told++];
    *t = (struct espi_told){.plan = NULL};
    return t;
}

esp_status espi_told_keep(struct espi_advisor *a, const struct esp_plan *plan,
                          const struct espi_told *about, double now_s,
                          struct esp_err *err)
{
    const struct espi_belief *b = &a->belief;
    struct esp_plan *copy = NULL;
    double *factor = ESPI_NEW(double, (size_t)b->n_resources + 1);
    esp_status st = factor ? esp_plan_copy(plan, &copy, err) : espi_err_nomem(err);
    if (st) {
        espi_free(factor);
        return st;
    }
    for (int r = 0; r < b->n_resources; r++)
        factor[r] = espi_belief_factor(b, r, now_s, NULL);
    struct espi_told *t = told_for(a, about->root, about->size_class);
    espi_told_clear(t);
    *t = *about;
    t->plan = copy;
    t->factor = factor;
    t->message_s = b->message_s;
    return ESP_OK;
}

int espi_told_moved(const struct espi_advisor *a, const struct espi_told *t, double now_s,
                    double *factor, double *before)
{
    int moved = -1;
    double most = ESPI_SAME_BELIEF;
    for (int r = 0; r < a->belief.n_resources; r++) {
        double now = espi_belief_factor(&a->belief, r, now_s, NULL);
        if (fabs(now - t->factor[r]) > most) {
            most = fabs(now - t->factor[r]);
            moved = r;
            *factor = now;
            *before = t->factor[r];
        }
    }
    return moved;
}

int espi_told_stands(const struct espi_advisor *a, const struct espi_told *t,
                     double bytes, double now_s)
{
    if (t && t->is_given && a->whole < ESPI_GIVEN_CALLS)
        return 1;
    if (!t || !t->is_thorough || fabs(t->bytes - bytes) > ESPI_SAME_BELIEF * bytes ||
        fabs(t->message_s - a->belief.message_s) > ESPI_SAME_MESSAGES * t->message_s)
        return 0;
    double factor, before;
    return espi_told_moved(a, t, now_s, &factor, &before) < 0;
}

esp_status espi_advisor_offer(struct espi_advisor *a, const struct esp_plan *plan,
                              struct esp_err *err)
{
    struct esp_plan *copy = NULL;
    if (a->belief.fixed || plan->op != ESP_OP_BCAST || plan->redundant)
        return ESP_OK; /* its links are others, or it is nothing to compare with */
    esp_status st = esp_plan_copy(plan, &copy, err);
    if (st)
        return st;
    esp_plan_free(a->given);
    a->given = copy;
    return ESP_OK;
}

/* The plan that ranks have from elsewhere, as they cut messages of that size. */
static esp_status keep_given(struct espi_advisor *a, double bytes, double slice_bytes,
                             double now_s, struct esp_err *err)
{
    struct espi_told about = {.root = a->given->root,
                              .size_class = espi_size_class((uint64_t)bytes),
                              .bytes = bytes,
                              .is_given = 1};
    struct esp_plan plan = *a->given;
    plan.size_bytes = bytes;
    plan.slice_bytes = slice_bytes;
    plan.schedule = NULL;
    return espi_told_keep(a, &plan, &about, now_s, err);
}

esp_status espi_told_ran(struct espi_advisor *a, int root, double bytes, double slices,
                         double now_s, struct esp_err *err)
{
    if (!a->given || a->given->root != root ||
        espi_told_of(a, root, espi_size_class((uint64_t)bytes)))
        return ESP_OK;
    return keep_given(a, bytes, bytes / slices, now_s, err);
}

/* Ranks may have planned by themselves, too: by other trees. */
void espi_told_check(struct espi_advisor *a, int root, double bytes,
                     const struct espi_report *reports)
{
    struct espi_told *t = espi_told_of(a, root, espi_size_class((uint64_t)bytes));
    if (!t || !t->is_given)
        return;
    for (int i = 0; i < t->plan->trees[0].n_edges; i++) {
        const struct esp_edge *e = &t->plan->trees[0].edges[i];
        const struct espi_report *r = &reports[e->to];
        if (!r->magic || r->parent == e->from)
            continue;
        espi_told_clear(t);
        *t = a->told[--a->n_told];
        return;
    }
}
