/* auto: of all plans there are, the one that delivers the message earliest.
 *
 * Runs every fast algorithm that applies, computes for each plan when the message has
 * arrived everywhere with each of the sizes of slices (select/slices.h), what each
 * message costs beside its bytes counted, and lets refine make the tree better that the
 * best slices ask for. Large slices pay latencies less often, small ones fill deep trees
 * sooner, and the best tree is another for each: so the algorithms run for the usual
 * slice, for the whole message, and again for the best slice found so far, until that no
 * longer changes. A slice size that the request gives is kept.
 *
 * Reference: none. Model: any.
 * Guarantee: up to 200 hosts, the predicted finish, what messages cost counted, is no
 * later than that of any algorithm it runs with its options at their standard and in the
 * same slices (where none are given: the usual ones), but for lp-prune and lp-grow on
 * views of many arcs, whose guide is left early (lp_shares.c), and for a contest that
 * ends when nobody can be earlier by more than ESPI_CONTEST_ENOUGH. Where slices are left
 * open, few sizes of a plan of several trees are looked at closely, few trees are looked
 * for in the slices that seem best, and syntheses are left early that seem too late: the
 * best may be missed, and auto itself may find it in slices that are given; but of the
 * plan that wins no neighbouring size is better (settle_slices.h). Complexity: that of
 * all of them, a few times. */
#include <math.h>

#include "base/err.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "select/contest.h"
#include "select/tuning.h"

enum { OPTION_WORK };

static const struct espi_algo_option options_of_auto[] = {
    {.name = "work",
     .standard = 20000,
     .min = 0,
     .max = 1e9,
     .meaning = "arcs that refine weighs for each host, where no time is given"},
    {0},
};

/* Again for the best slices, as long as others turn out to be better. */
static esp_status follow_slices(struct espi_contest *c, double work, double ran_bytes,
                                struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0;
         i < ESPI_CONTEST_ROUNDS && c->best && c->verdict.slice_bytes != ran_bytes && !st;
         i++) {
        ran_bytes = c->verdict.slice_bytes;
        st = espi_contest_enter_all(c, ESPI_NOT_WEIGHED, ran_bytes, err);
        if (!st)
            st =
                espi_contest_enter_uses(c, ESPI_USE_IMPROVE_FINISH, work, ran_bytes, err);
    }
    return st;
}

/* Few trees fill sooner than all of the optimum, which run with the others; and whoever
 * names a search shall find nothing better. Where the search for them would take long,
 * the heuristics have to do. */
static esp_status enter_few(struct espi_contest *c, double work, struct esp_err *err)
{
    double usual_bytes = espi_contest_first_slices(c), best_bytes;
    if (c->task.p->n_hosts > ESPI_CONTEST_FEW_HOSTS || !(work > 0) || !c->best)
        return ESP_OK;
    best_bytes = c->verdict.slice_bytes;
    esp_status st = espi_contest_enter_uses(c, ESPI_USE_FEW_TREES, work, best_bytes, err);
    if (!st && best_bytes != usual_bytes)
        st = espi_contest_enter_uses(c, ESPI_USE_USUAL_SLICES, work, usual_bytes, err);
    return st ? st
              : espi_contest_enter_uses(c, ESPI_USE_LAST & ~c->task.without_uses, work,
                                        usual_bytes, err);
}

/* Arcs that a search weighs for each host: on large networks so that all hosts get no
 * more than there are. */
static double work_a_host(const struct espi_contest *c, double work)
{
    return fmin(work, ESPI_CONTEST_SEARCH_ARCS / c->task.p->n_hosts);
}

static esp_status hold_contest(struct espi_contest *c, double work, struct esp_err *err)
{
    double usual_bytes = espi_contest_first_slices(c);
    work = work_a_host(c, work);
    esp_status st = espi_contest_enter_all(c, ESPI_NOT_WEIGHED, usual_bytes, err);
    /* what was found for these slices mostly does for others */
    c->task.work_limit /= ESPI_CONTEST_LATER;
    if (!st && !(c->judge.only_bytes > 0))
        st = espi_contest_enter_all(c, ESPI_NOT_WEIGHED, c->judge.size_bytes, err);
    if (!st)
        st = espi_contest_enter_uses(c, ESPI_USE_IMPROVE, work, usual_bytes, err);
    if (!st)
        st = follow_slices(c, work, usual_bytes, err);
    return st ? st : enter_few(c, work, err);
}

static esp_status run_auto(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_contest c;
    struct esp_request request = *task->request;
    request.budget_s /= 2 + ESPI_CONTEST_ROUNDS; /* the part of the time of one search */
    espi_contest_init(&c, task->p, &request, task->arena);
    c.task.without_uses = task->without_uses;
    c.judge.closer_looks = ESPI_CLOSER_LOOKS;
    espi_judge_ask(&c.judge, &request);
    if (task->p->n_hosts > ESPI_CONTEST_FEW_HOSTS)
        c.task.work_limit = ESPI_CONTEST_PACKING_WORK;
    esp_status st = hold_contest(&c, task->option[OPTION_WORK], err);
    if (!st && !c.best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no algorithm can plan for this platform");
    if (!st) {
        struct esp_plan old = *plan;
        plan->slice_bytes = c.best->slice_bytes;
        plan->n_trees = c.best->n_trees;
        plan->trees = c.best->trees;
        plan->schedule = c.best->schedule;
        c.best->n_trees = old.n_trees;
        c.best->trees = old.trees;
        c.best->schedule = old.schedule;
        if (task->claims)
            *task->claims = c.verdict.claims;
    }
    espi_contest_done(&c);
    return st;
}

const struct espi_algo espi_algo_auto = {
    .name = "auto",
    .family = "search",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_CHOOSES | ESPI_ALGO_STANDARD,
    .paper = "none",
    .complexity = "that of all others",
    .summary = "the tree and slice size by which the message arrives earliest",
    .options = options_of_auto,
    .run = run_auto,
};
