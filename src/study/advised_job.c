#include "study/advised_job.h"

#include "base/err.h"
#include "study/arrivals.h"

static void publish(struct espi_advised_job *j, const struct espi_advice *advice)
{
    if (advice->size_class >= ESPI_JOB_CLASSES) {
        esp_plan_free(advice->plan);
        return;
    }
    esp_plan_free(j->published[advice->size_class]);
    j->published[advice->size_class] = advice->plan;
}

esp_status espi_advised_job_advise(struct espi_advised_job *j, int plans, double now_s,
                                   struct esp_err *err)
{
    struct espi_outlook o;
    esp_status status = ESP_OK;

    espi_advisor_outlook(j->advisor, now_s, &o);
    for (int i = 0; i < plans && o.calls && status == ESP_OK; i++) {
        struct espi_advice advice;
        status = espi_advisor_plan(j->advisor, now_s, &advice, err);
        if (status == ESP_OK)
            publish(j, &advice);
    }
    return status == ESP_EUNSUPPORTED ? ESP_OK : status; /* nothing to plan for yet */
}

esp_status espi_advised_job_advise_for(struct espi_advised_job *j, int root, double bytes,
                                       double now_s, struct esp_err *err)
{
    struct espi_advice advice;
    esp_status status =
        espi_advisor_plan_for(j->advisor, root, bytes, now_s, &advice, err);

    if (status == ESP_OK)
        publish(j, &advice);
    return status;
}

/* What travelled with this call. Sizes that fall by a line are soon in the class below,
 * which the advisor has planned for, too. */
static void take_advice(struct espi_advised_job *j, int size_class)
{
    for (int k = size_class - 1; k <= size_class; k++)
        if (k >= 0 && j->published[k]) {
            esp_plan_free(j->in_force[k]);
            j->in_force[k] = j->published[k];
            j->published[k] = NULL;
        }
}

esp_status espi_advised_job_call(struct espi_advised_job *j,
                                 const struct espi_job_call *call, double *took_s,
                                 struct esp_err *err)
{
    int k = espi_size_class((uint64_t)call->bytes);
    const struct esp_plan *plan = j->in_force[k] ? j->in_force[k] : call->fallback;
    struct espi_arrivals seen;
    esp_status status =
        espi_arrivals_run(call->net, plan, call->reality, call->bytes, &seen, err);

    if (status != ESP_OK)
        return status;
    *took_s = seen.took_s;
    status = espi_arrivals_tell(j->advisor, plan, &seen, call->number, call->bytes,
                                call->now_s + *took_s, err);
    espi_arrivals_done(&seen);
    take_advice(j, k);
    return status;
}

void espi_advised_job_end(struct espi_advised_job *j)
{
    for (int i = 0; i < ESPI_JOB_CLASSES; i++) {
        esp_plan_free(j->published[i]);
        esp_plan_free(j->in_force[i]);
    }
    espi_advisor_free(j->advisor);
}
