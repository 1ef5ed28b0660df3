/* From a request to a plan that is checked and costed, by the algorithm it names or by
 * the best. */
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/watch.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "schedule/arrange.h"
#include "select/contest.h"
#include "select/settle_slices.h"
#include "select/tuning.h"

/* What `auto` means for the operation. */
static const struct espi_algo *standard_algo(const struct esp_request *r)
{
    esp_op there = espi_op_has_parts(r->op)   ? ESP_OP_ALLGATHER
                   : espi_op_has_pairs(r->op) ? ESP_OP_ALLTOALL
                   : espi_op_has_paths(r->op) ? ESP_OP_SCATTER
                   : r->targets               ? ESP_OP_MULTICAST
                                              : ESP_OP_BCAST;
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++)
        if (algos[i]->flags & ESPI_ALGO_STANDARD && algos[i]->op == there)
            return algos[i];
    return NULL;
}

/* Is it `auto` without options, which means another algorithm for each operation? */
static int is_open(const struct espi_algo *algo, const char *text)
{
    return algo->flags & ESPI_ALGO_CHOOSES && algo->flags & ESPI_ALGO_STANDARD &&
           algo->op == ESP_OP_BCAST && !strchr(text, ':');
}

/* Is it weighed against what `auto` stands for? Of allgathers and reduce-scatters all
 * that are made for them have been; the others make a plan for every host. */
static int is_rival(const struct espi_algo *algo, const struct espi_task *with)
{
    const struct esp_request *r = with->request;
    int n = with->p->n_hosts;
    int direct = algo->op == r->op || algo->op == espi_op_mirror(r->op);
    if (algo->flags & ESPI_NOT_WEIGHED ||
        !espi_algo_serves(algo, r->op, r->targets != NULL))
        return 0;
    if (espi_op_has_parts(r->op))
        return !direct && n <= ESPI_RIVALS_FOR_PARTS;
    if (algo->flags & ESPI_ALGO_NEEDS_LP && n > ESPI_RIVALS_WITH_LP)
        return algo->op == r->op && r->op == ESP_OP_ALLREDUCE;
    return direct || n <= ESPI_CONTEST_FEW_HOSTS;
}

/* Did what `auto` stands for weigh all there is? So for a broadcast; for what collects it
 * did on the platform reversed, where orders of sends come out otherwise. */
static int needs_finals(const struct esp_request *r)
{
    int is_bcast = r->op == ESP_OP_BCAST || (r->op == ESP_OP_MULTICAST && !r->targets);
    return !is_bcast && r->op != ESP_OP_ALLGATHER && r->op != ESP_OP_ALLTOALL;
}

/* Of searches, for the slices in which who names them gets them. */
static unsigned uses_of_finals(const struct espi_task *with)
{
    int most = espi_op_has_parts(with->request->op) ? ESPI_RIVALS_FOR_PARTS
                                                    : ESPI_RIVALS_WITH_LP;
    return with->p->n_hosts <= most ? ESPI_USE_LAST | ESPI_USE_USUAL_SLICES
                                    : ESPI_USE_LAST;
}

/* Holds the plan, if there is one, against those of all other algorithms that serve the
 * operation, and takes the one that is through first. Only that one gets a schedule, and
 * its claims are told. */
static esp_status hold_finals(const struct espi_task *with, const struct espi_algo *first,
                              struct esp_plan **plan, struct esp_err *err)
{
    struct espi_contest c;
    struct espi_arena arena;
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    espi_arena_init(&arena);
    espi_contest_init(&c, with->p, with->request, &arena);
    c.judge.closer_looks = ESPI_CLOSER_LOOKS;
    espi_judge_ask(&c.judge, with->request);
    esp_status st = *plan ? espi_contest_offer(&c, *plan, err) : ESP_OK;
    *plan = NULL;
    for (int i = 0; i < count && !st; i++) {
        double options[ESPI_ALGO_OPTIONS_MAX] = {0};
        espi_algo_standard(algos[i], options);
        if (algos[i] != first && is_rival(algos[i], with))
            st = espi_contest_enter(&c, algos[i], options, espi_contest_first_slices(&c),
                                    err);
    }
    if (!st && with->p->n_hosts <= ESPI_CONTEST_FEW_HOSTS)
        st = espi_contest_enter_uses(&c, uses_of_finals(with), 0,
                                     espi_contest_first_slices(&c), err);
    if (!st && !c.best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no plan finishes on this platform");
    if (!st) {
        *with->claims = c.verdict.claims;
        *plan = espi_contest_take(&c, 0).plan;
    }
    espi_contest_done(&c);
    espi_arena_done(&arena);
    return st;
}

/* When time is over orders are looked for less long than when the claims were made. */
static esp_status evaluate_plan(const struct esp_platform *p, struct esp_plan *plan,
                                const struct espi_played_claims *claims,
                                struct esp_err *err)
{
    esp_status st =
        plan->schedule ? ESP_OK : espi_plan_schedule(plan, p, ESPI_EFFORT_FULL, err);
    int holds = espi_plan_has_steps(plan) || !espi_watch_is_over();
    return st ? st : espi_plan_evaluate(plan, p, holds ? claims : NULL, err);
}

static esp_status make_asked(const struct esp_platform *p, struct esp_request *asked,
                             struct esp_plan **out, struct esp_err *err)
{
    struct esp_request request = *asked;
    struct espi_played_claims claims = {.n = 0};
    struct espi_task with = {.p = p, .request = &request, .claims = &claims};
    struct esp_plan *plan = NULL;
    const struct espi_algo *algo;
    esp_status st = espi_algo_parse(request.algo, &algo, with.option, err);
    if (st)
        return st;
    int open = is_open(algo, request.algo);
    if (open && standard_algo(&request)) {
        algo = standard_algo(&request);
        request.algo = algo->name;
        espi_algo_standard(algo, with.option);
    }
    if (open && request.op == ESP_OP_REDUCE) /* they are tried at the end, turned round */
        with.without_uses = ESPI_USE_LAST;
    st = espi_plan_make_by(algo, &with, &plan, err);
    /* what came too late for the best leaves it to the others */
    int over = espi_watch_is_over();
    int late = open && st == ESP_EUNSUPPORTED && over;
    if (late || (!st && open && !over && needs_finals(&request)))
        st = hold_finals(&with, algo, &plan, err);
    if (!st && (open || algo->flags & ESPI_ALGO_CHOOSES))
        st = espi_settle_slices(p, &request, plan, &claims, err);
    if (!st)
        st = evaluate_plan(p, plan, &claims, err);
    if (st) {
        esp_plan_free(plan);
        return st;
    }
    *out = plan;
    return ESP_OK;
}

esp_status esp_plan_make(const struct esp_platform *p, const struct esp_request *asked,
                         struct esp_plan **out, struct esp_err *err)
{
    struct esp_request request;
    struct espi_watch watch;
    esp_status st = espi_request_take(&request, asked, err);
    if (st)
        return st;
    espi_watch_begin(&watch, ESPI_BUDGET_SEARCH_PART * request.budget_s, request.progress,
                     request.progress_arg);
    st = make_asked(p, &request, out, err);
    espi_watch_end(&watch);
    if (!st)
        (*out)->plan_s = espi_now_s() - watch.start_s;
    return st;
}
