/* The plan of a run: for those hosts that are left, over the links that are trusted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/job.h"
#include "copy/once.h"
#include "copy/tuning.h"

struct espi_copy_host *espi_copy_find(const struct espi_copy_job *job, const char *name)
{
    for (int i = 0; i < job->n_hosts; i++)
        if (strcmp(job->host[i].name, name) == 0)
            return &job->host[i];
    return NULL;
}

void espi_copy_drop_plan(struct espi_copy_job *job)
{
    esp_plan_free(job->plan);
    job->plan = NULL;
}

static int takes_part(const struct espi_copy_host *h)
{
    return espi_copy_is_alive(h) && !h->is_aside;
}

static esp_status leave_out(const struct espi_copy_job *job, const struct esp_platform *p,
                            struct esp_platform **out, struct esp_err *err)
{
    unsigned char *keeps = espi_calloc(1, (size_t)esp_platform_node_count(p) + 1);
    if (!keeps)
        return espi_err_nomem(err);
    for (int v = 0; v < esp_platform_node_count(p); v++) {
        const struct espi_copy_host *h =
            espi_copy_find(job, esp_platform_node_name(p, v));
        keeps[v] = h ? takes_part(h)
                     : strcmp(esp_platform_node_name(p, v), job->options.root) == 0;
    }
    esp_status status = espi_copy_network(p, keeps, job->ban, job->n_bans, out, err);
    espi_free(keeps);
    return status;
}

esp_status espi_copy_make_network(const struct espi_copy_job *job,
                                  struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *believed = NULL;
    if (!job->options.known)
        return leave_out(job, job->options.p, out, err);
    esp_status status = espi_known_platform(job->options.known, &believed, err);
    if (!status)
        status = leave_out(job, believed, out, err);
    esp_platform_free(believed);
    return status;
}

static esp_status make_network(struct espi_copy_job *job, struct esp_err *err)
{
    esp_platform_free(job->network);
    job->network = NULL;
    return espi_copy_make_network(job, &job->network, err);
}

static int count_targets(const struct espi_copy_job *job)
{
    int n = 0;
    for (int i = 0; i < job->n_hosts; i++)
        n += takes_part(&job->host[i]) && !job->host[i].is_relay;
    return n;
}

static int has_all(const struct espi_copy_job *job, const struct espi_copy_host *h)
{
    uint32_t n = job->message.n_blocks;
    return h->has && espi_set_count(h->has, n) == n;
}

/* Those to whom no way is left are out, but for who has it all. *lost: some are. */
static esp_status drop_unreachable(struct espi_copy_job *job, int *lost,
                                   struct esp_err *err)
{
    int n = esp_platform_node_count(job->network);
    unsigned char *reached = espi_calloc(1, (size_t)n + 1);
    *lost = 0;
    if (!reached)
        return espi_err_nomem(err);
    espi_copy_reach(job->network, esp_platform_find_node(job->network, job->options.root),
                    reached);
    for (int v = 0; v < n; v++) {
        struct espi_copy_host *h =
            reached[v] ? NULL
                       : espi_copy_find(job, esp_platform_node_name(job->network, v));
        if (!h || !espi_copy_is_alive(h))
            continue;
        if (has_all(job, h))
            h->is_aside = 1;
        else
            espi_copy_lose(job, h, "no way to it is left%s%s", h->blame[0] ? ": " : "",
                           h->blame);
        *lost = 1;
    }
    espi_free(reached);
    return ESP_OK;
}

static esp_status ask_again(const struct esp_platform *network,
                            const struct esp_request *request, struct esp_plan **plan,
                            struct esp_err *err)
{
    esp_plan_free(*plan);
    *plan = NULL;
    return esp_plan_make(network, request, plan, err);
}

/* Slices that are shorter than buffers, and connections, cost time that no plan knows of.
 */
esp_status espi_copy_ask(const struct esp_platform *network, struct esp_request *request,
                         struct esp_plan **out, struct esp_err *err)
{
    struct esp_plan *plan = NULL;
    esp_status status = esp_plan_make(network, request, &plan, err);
    if (!status && plan->slice_bytes > 0 && plan->slice_bytes < ESPI_COPY_WORK_BYTES) {
        request->slice_bytes = fmin(ESPI_COPY_WORK_BYTES, request->size_bytes);
        status = ask_again(network, request, &plan, err);
    }
    if (!status && plan->n_trees > ESPI_COPY_TREES_MOST && request->op == ESP_OP_BCAST) {
        request->algo = "refine"; /* one tree */
        status = ask_again(network, request, &plan, err);
    }
    if (!status)
        status = espi_copy_once(network, &plan, err);
    if (status)
        esp_plan_free(plan);
    else
        *out = plan;
    return status;
}

esp_status espi_copy_make_plan(const struct espi_copy_job *job,
                               const struct esp_platform *network, double bytes,
                               struct esp_plan **out, struct esp_err *err)
{
    struct esp_request request;
    int *targets = ESPI_NEW(int, job->n_hosts + 1), n = 0;
    if (!targets)
        return espi_err_nomem(err);
    for (int i = 0; i < job->n_hosts; i++)
        if (takes_part(&job->host[i]) && !job->host[i].is_relay)
            targets[n++] = esp_platform_find_node(network, job->host[i].name);
    esp_request_init(&request, esp_platform_find_node(network, job->options.root));
    request.op =
        n + 1 < esp_platform_host_count(network) ? ESP_OP_MULTICAST : ESP_OP_BCAST;
    if (request.op == ESP_OP_MULTICAST) {
        request.targets = targets;
        request.n_targets = n;
    }
    request.algo = "auto";
    request.size_bytes = bytes;
    request.slice_bytes = ESP_SLICE_AUTO;
    request.seed = job->options.seed;
    esp_status status = espi_copy_ask(network, &request, out, err);
    espi_free(targets);
    return status;
}

static esp_status ask_for_plan(struct espi_copy_job *job, double bytes,
                               struct esp_err *err)
{
    double begin_s = espi_now_s();
    esp_status status = espi_copy_make_plan(job, job->network, bytes, &job->plan, err);
    if (status || !job->options.known)
        return status;
    job->learning.planning_s = espi_now_s() - begin_s;
    job->learning.load_s = espi_copy_learned_load_s(job, job->network, job->plan);
    return ESP_OK;
}

/* What was found better while the one before ran. */
static void take_next_plan(struct espi_copy_job *job)
{
    struct espi_copy_learning *l = &job->learning;
    if (!l->next_plan)
        return;
    espi_copy_drop_plan(job);
    esp_platform_free(job->network);
    job->plan = l->next_plan;
    job->network = l->next_network;
    l->load_s = espi_copy_learned_load_s(job, job->network, job->plan);
    l->next_plan = NULL;
    l->next_network = NULL;
}

/* Slices as the plan likes them, but not so long that what is under way on the busiest
 * host needs much memory. */
uint32_t espi_copy_block_bytes(const struct esp_plan *plan, uint64_t size)
{
    double bytes = plan && plan->slice_bytes > 0 ? plan->slice_bytes : (double)size;
    double streams = plan ? 2.0 * plan->n_trees : 2.0;
    double most = fmin(ESPI_COPY_BLOCK_BYTES, ESPI_COPY_ROOM_BYTES / (4 * streams));
    double least = ceil((double)size / ESPI_COPY_BLOCKS_MAX);
    bytes = fmax(ceil(bytes), ESPI_COPY_WORK_BYTES); /* less fills no buffer */
    bytes = fmax(fmin(fmin(bytes, most), (double)size), fmax(least, 1));
    return (uint32_t)bytes;
}

/* Plans may be for another size, and those by price say nothing of how long they take. */
static esp_status fit_given(struct esp_plan **plan, const struct esp_platform *network,
                            double bytes, struct esp_err *err)
{
    (*plan)->size_bytes = bytes;
    (*plan)->slice_bytes = espi_copy_block_bytes(*plan, (uint64_t)bytes);
    esp_status status = espi_copy_once(network, plan, err);
    return status ? status : esp_plan_evaluate(*plan, network, err);
}

esp_status espi_copy_adopt(const struct esp_plan *given, const struct esp_platform *p,
                           const struct esp_platform *network, double bytes,
                           struct esp_plan **out, struct esp_err *err)
{
    char *text = NULL;
    size_t length;
    struct esp_plan *plan = NULL;
    FILE *to = open_memstream(&text, &length);
    esp_status status =
        to ? esp_plan_write_stream(given, p, to, err) : espi_err_nomem(err);
    if (to)
        fclose(to);
    if (!status)
        status = esp_plan_parse(text, length, "the plan", network, &plan, err);
    free(text);
    if (!status)
        status = fit_given(&plan, network, bytes, err);
    if (status)
        esp_plan_free(plan);
    else
        *out = plan;
    return status;
}

static int is_of_that_size(const struct esp_plan *plan, double bytes)
{
    const double factor = 2.0; /* rounding: a plan is as good for twice the bytes */
    return plan->size_bytes <= factor * bytes && bytes <= factor * plan->size_bytes;
}

/* A plan that was given holds as long as that. */
static int all_are_there(const struct espi_copy_job *job)
{
    int there = job->n_bans == 0;
    for (int i = 0; i < job->n_hosts; i++)
        there &= takes_part(&job->host[i]);
    return there;
}

/* Does the plan serve those who are left, and nobody else? */
static int plan_is_current(const struct espi_copy_job *job)
{
    int n = 1;
    for (int i = 0; i < job->n_hosts; i++) {
        n += takes_part(&job->host[i]);
        if (takes_part(&job->host[i]) &&
            esp_platform_find_node(job->network, job->host[i].name) < 0)
            return 0;
    }
    return n == esp_platform_host_count(job->network);
}

/* To plan takes longer than to send a list by the plan for what it lists, which is made
 * before, then. */
static double bytes_to_plan_for(const struct espi_copy_job *job, double bytes)
{
    return job->message.kind == ESPI_MESSAGE_LIST
               ? fmax(bytes, (double)job->source->m.data_bytes)
               : bytes;
}

esp_status espi_copy_plan(struct espi_copy_job *job, double bytes, struct esp_err *err)
{
    int lost = 1;
    esp_status status = ESP_OK;
    bytes = bytes_to_plan_for(job, bytes);
    take_next_plan(job);
    if (job->plan && plan_is_current(job) && !espi_copy_is_outdated(job) &&
        (job->options.plan || is_of_that_size(job->plan, bytes)))
        return ESP_OK;
    espi_copy_drop_plan(job);
    while (!status && lost) {
        status = make_network(job, err);
        if (!status)
            status = drop_unreachable(job, &lost, err);
    }
    if (status || count_targets(job) == 0)
        return status;
    return job->options.plan && all_are_there(job)
               ? espi_copy_adopt(job->options.plan, job->options.p, job->network, bytes,
                                 &job->plan, err)
               : ask_for_plan(job, bytes, err);
}
