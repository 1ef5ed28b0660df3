/* The bound of any operation: of a broadcast with all that explains it, of others the
 * figures. */
#include <math.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/options.h"
#include "base/watch.h"
#include "bound/bound.h"
#include "bound/makespan_bound.h"
#include "bound/op_bound.h"

void esp_bound_options_defaults_sized(struct esp_bound_options *options, size_t size)
{
    struct esp_bound_options standard = {.size = size, .method = ESP_BOUND_TREES};
    espi_options_give(options, size, &standard, sizeof standard);
}

static esp_status take_options(struct esp_bound_options *ours,
                               const struct esp_bound_options *given, struct esp_err *err)
{
    esp_bound_options_defaults(ours);
    esp_status st = ESP_OK;
    if (given)
        st = espi_options_take(ours, sizeof *ours, given,
                               ESPI_SIZE_UP_TO(struct esp_bound_options, progress_arg),
                               "esp_bound_options", err);
    if (!st && (unsigned)ours->method >= ESP_BOUND_METHOD_COUNT)
        return espi_err(err, ESP_EUSAGE, "there is no method number %d",
                        (int)ours->method);
    if (!st && !(ours->gap >= 0 && ours->time_limit_s >= 0 && ours->what_if >= 0))
        return espi_err(err, ESP_EUSAGE,
                        "gap, time limit and number of improvements must not be "
                        "negative");
    return st;
}

/* In the slices of the request; where these are the whole message, in one of its size. */
static esp_status find_slice(const struct esp_request *request, double *slice_bytes,
                             struct esp_err *err)
{
    double bytes = espi_request_slice_bytes(request);
    if (bytes == 0)
        bytes = request->size_bytes;
    if (!(bytes > 0 && isfinite(bytes)))
        return espi_err(err, ESP_EUSAGE, "a slice needs a positive size");
    *slice_bytes = bytes;
    return ESP_OK;
}

static esp_status bound_other(const struct esp_platform *p, const struct esp_request *r,
                              double slice_bytes, double time_limit_s,
                              struct esp_bound **out, struct esp_err *err)
{
    struct espi_op_bound_task task = {p,          r->op,       r->root,     r->n_targets,
                                      r->targets, slice_bytes, time_limit_s};
    struct espi_op_bound found = {0};
    esp_status st = espi_op_bound(&task, &found, err);
    if (st)
        return st;
    struct esp_bound *bound = espi_calloc(1, sizeof *bound);
    if (!bound)
        return espi_err_nomem(err);
    bound->throughput_Bps = found.throughput_Bps > 0 ? found.throughput_Bps : INFINITY;
    bound->slice_bytes = slice_bytes;
    bound->slices_per_s = bound->throughput_Bps / slice_bytes;
    bound->gap = found.exact ? 0 : INFINITY;
    bound->solve_s = found.solve_s;
    bound->exact = found.exact;
    bound->reachable = p->model != ESP_MODEL_HALF_DUPLEX;
    *out = bound;
    return ESP_OK;
}

static esp_status add_makespan(const struct esp_platform *p, const struct esp_request *r,
                               struct esp_bound *bound, struct esp_err *err)
{
    struct espi_makespan_task task = {.p = p,
                                      .op = r->op,
                                      .root = r->root,
                                      .n_targets = r->n_targets,
                                      .targets = r->targets,
                                      .size_bytes = r->size_bytes,
                                      .exclusive = p->model != ESP_MODEL_CAPACITY};
    if (!(r->size_bytes > 0 && isfinite(r->size_bytes)))
        return espi_err(err, ESP_EUSAGE, "a message needs a positive size");
    return espi_makespan_bound(&task, &bound->makespan_s, err);
}

esp_status esp_bound_compute(const struct esp_platform *p,
                             const struct esp_request *request,
                             const struct esp_bound_options *options,
                             struct esp_bound **out, struct esp_err *err)
{
    struct esp_bound_options how;
    struct esp_request ours;
    double slice_bytes = 0;
    if (!p || !out)
        return espi_err(err, ESP_EUSAGE, "a bound needs a platform");
    esp_status st = espi_request_take(&ours, request, err);
    if (!st)
        st = take_options(&how, options, err);
    if (!st)
        st = espi_check_ends(p, &ours, err);
    if (!st)
        st = find_slice(&ours, &slice_bytes, err);
    if (st)
        return st;
    struct esp_bound *bound = NULL;
    struct espi_watch watch;
    espi_watch_begin(&watch, how.time_limit_s, ours.progress, ours.progress_arg);
    if (how.makespan || how.what_if) /* which have the other half */
        how.time_limit_s /= 2;
    st = ours.op == ESP_OP_BCAST
             ? espi_bound_bcast(p, ours.root, slice_bytes, &how, &bound, err)
             : bound_other(p, &ours, slice_bytes, how.time_limit_s, &bound, err);
    if (!st && how.makespan)
        st = add_makespan(p, &ours, bound, err);
    espi_watch_end(&watch);
    if (st)
        esp_bound_free(bound);
    else
        *out = bound;
    return st;
}
