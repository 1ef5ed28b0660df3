/* From a request to a plan that is checked and costed, by the algorithm it names or by
 * the best. */
#include <string.h>

#include "base/clock.h"
#include "plan/ops.h"
#include "select/contest.h"
#include "select/tuning.h"

/* What `auto` means for the operation. */
static const struct espi_algo *standard_algo(const struct esp_request *r)
{
    esp_op there = espi_op_has_parts(r->op)   ? ESP_OP_ALLGATHER
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

/* The plan, checked and costed. */
static esp_status make_costed(const struct espi_algo *algo, const struct espi_task *with,
                              struct esp_plan **out, struct esp_err *err)
{
    struct esp_plan *plan = NULL;
    esp_status st = espi_plan_make_by(algo, with, &plan, err);
    if (st)
        return st;
    st = esp_plan_evaluate(plan, with->p, err);
    if (st)
        esp_plan_free(plan);
    else
        *out = plan;
    return st;
}

/* Of many slices a plan made for the operation itself may finish earlier than one put
 * together from those of others (an allreduce by the way of the root), of few hardly. */
static void try_direct(const struct espi_task *with, struct esp_plan **plan)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    const struct esp_request *r = with->request;
    if (espi_slices(r->size_bytes, espi_request_slice_bytes(r)).count <
        ESPI_DIRECT_SLICES)
        return;
    for (int i = 0; i < count; i++) {
        struct espi_task other = *with;
        struct esp_request request = *r;
        struct esp_plan *direct = NULL;
        if (algos[i]->op != r->op)
            continue;
        request.algo = algos[i]->name;
        other.request = &request;
        espi_algo_standard(algos[i], other.option);
        if (make_costed(algos[i], &other, &direct, NULL))
            continue;
        int better = direct->makespan_s < (*plan)->makespan_s;
        esp_plan_free(better ? *plan : direct);
        *plan = better ? direct : *plan;
    }
}

esp_status esp_plan_make(const struct esp_platform *p, const struct esp_request *asked,
                         struct esp_plan **out, struct esp_err *err)
{
    double start_s = espi_now_s();
    struct esp_request request;
    struct espi_task with = {.p = p, .request = &request};
    struct esp_plan *plan = NULL;
    const struct espi_algo *algo;
    esp_status st = espi_request_take(&request, asked, err);
    if (!st)
        st = espi_algo_parse(request.algo, &algo, with.option, err);
    if (st)
        return st;
    int open = is_open(algo, request.algo);
    if (open && standard_algo(&request)) {
        algo = standard_algo(&request);
        request.algo = algo->name;
        espi_algo_standard(algo, with.option);
    }
    st = make_costed(algo, &with, &plan, err);
    if (st)
        return st;
    if (open && request.op == ESP_OP_ALLREDUCE)
        try_direct(&with, &plan);
    plan->plan_s = espi_now_s() - start_s;
    *out = plan;
    return ESP_OK;
}
