#include "study/load_course.h"

#include <math.h>

#include <espalier/espalier.h>

#include "advisor/advisor.h"
#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"
#include "study/advised_job.h"
#include "study/arrivals.h"
#include "study/probed_gap.h"

/* The simulator sends a slice as soon as it may: no window holds it up. So much as no
 * broadcast has under way. */
enum { WINDOW = 1 << 20 };

/* Of the scenario, not tuned: long enough for the advisor to plan between two calls, and
 * far shorter than what it believes lasts. */
#define GAP_S 2.0

/* As `espalier advise` does by default. */
#define PROBE_SHARE 0.05

/* The network under one load, and what who knows it would do. */
struct known {
    struct espi_cable_load load;
    struct esp_platform *net;
    struct esp_plan *plan[ESPI_JOB_CLASSES];
};

struct course {
    const struct esp_platform *p;
    struct espi_course *out;
    struct known known[ESPI_COURSE_CALLS + 1]; /* [0]: without load */
    int n_known;
    struct espi_advised_job job;
    struct espi_probed_net probed;
    const struct esp_platform *last, *next; /* the network in two calls */
    double quiet_s;                         /* since when nobody calls */
    struct esp_plan *hierarchical[ESPI_JOB_CLASSES];
    int root;
    double now_s;
    struct esp_err *err;
};

/* ---- the network under load ---- */

static esp_status load_cable(struct course *c, const struct espi_cable_load *load,
                             struct esp_platform **out)
{
    const struct esp_platform *p = c->p;
    double *link = ESPI_NEW(double, (size_t)p->n_links + 1);
    double *shared = ESPI_NEW(double, (size_t)p->n_shared + 1);
    esp_status status = link && shared ? ESP_OK : espi_err_nomem(c->err);

    for (int s = 0; s < p->n_shared && status == ESP_OK; s++)
        shared[s] = s == load->cable ? load->left : 1;
    for (int e = 0; e < p->n_links && status == ESP_OK; e++)
        link[e] = 1;
    /* a link alone is no faster than what it passes */
    int end = load->cable < 0 ? 0 : p->shared_links.start[load->cable + 1];
    for (int k = end ? p->shared_links.start[load->cable] : 0;
         k < end && status == ESP_OK; k++) {
        int e = p->shared_links.item[k];
        link[e] = fmin(1, p->shared_Bps[load->cable] * load->left / p->bandwidth_Bps[e]);
    }
    if (status == ESP_OK)
        status = espi_platform_scaled(p, link, shared, out, c->err);
    espi_free(link);
    espi_free(shared);
    return status;
}

static esp_status find_known(struct course *c, const struct espi_cable_load *load,
                             struct known **out)
{
    int k = 0;

    while (k < c->n_known &&
           (c->known[k].load.cable != load->cable || c->known[k].load.left != load->left))
        k++;
    *out = &c->known[k];
    if (k < c->n_known)
        return ESP_OK;
    esp_status status = load_cable(c, load, &c->known[k].net);
    if (status != ESP_OK)
        return status;
    c->known[k].load = *load;
    c->n_known++;
    return ESP_OK;
}

/* ---- plans ---- */

static esp_status make_advisor(const struct esp_platform *net, int has_probes,
                               struct espi_advisor **out, struct esp_err *err)
{
    struct espi_advisor_options options = {.window = WINDOW,
                                           .work = 200,
                                           .seed = 1,
                                           .probe_share = has_probes ? PROBE_SHARE : 0};

    return espi_advisor_create(net, &options, out, err);
}

/* What an advisor says whom the network is told, and who has heard nothing. */
static esp_status plan_known(struct course *c, struct known *k, double bytes)
{
    struct esp_plan **plan = &k->plan[espi_size_class((uint64_t)bytes)];
    struct espi_advisor *advisor = NULL;
    struct espi_advice advice;

    if (*plan)
        return ESP_OK;
    esp_status status = make_advisor(k->net, 0, &advisor, c->err);
    if (status == ESP_OK)
        status = espi_advisor_plan_for(advisor, c->root, bytes, 0, &advice, c->err);
    if (status == ESP_OK)
        *plan = advice.plan;
    espi_advisor_free(advisor);
    return status;
}

static esp_status plan_hierarchical(struct course *c, double bytes)
{
    struct esp_plan **plan = &c->hierarchical[espi_size_class((uint64_t)bytes)];
    struct esp_request request;

    if (*plan)
        return ESP_OK;
    esp_request_init(&request, c->root);
    request.algo = "hierarchical";
    request.size_bytes = bytes;
    return esp_plan_make(c->p, &request, plan, c->err);
}

/* ---- calls ---- */

/* Loads begin and end in the middle between two calls. */
static double link_Bps(const void *arg, int link, double now_s)
{
    const struct course *c = arg;
    const struct esp_platform *net = now_s < c->quiet_s + GAP_S / 2 ? c->last : c->next;

    return net->bandwidth_Bps[link];
}

/* Probes in the gap before a call, which waits for one that is under way. */
static esp_status probe_gap(struct course *c, const struct esp_platform *next)
{
    struct espi_probed_gap gap = {.from_s = c->quiet_s, .until_s = c->now_s};

    c->next = next;
    if (!c->out->has_probes || !c->last)
        return ESP_OK;
    esp_status status = espi_probe_gap(&c->probed, c->job.advisor, &gap, c->err);
    c->now_s += gap.late_s;
    return status;
}

/* All but the advisor's: what each plan takes on the network as it is. */
static esp_status run_others(struct course *c, const struct known *now, double bytes,
                             double *took_s)
{
    int k = espi_size_class((uint64_t)bytes);
    double *clairvoyant_s = &took_s[ESPI_COURSE_CLAIRVOYANT];
    esp_status status = espi_arrivals_time(c->p, c->known[0].plan[k], now->net, bytes,
                                           &took_s[ESPI_COURSE_STATIC], c->err);

    if (status == ESP_OK)
        status = espi_arrivals_time(c->p, c->hierarchical[k], now->net, bytes,
                                    &took_s[ESPI_COURSE_HIERARCHICAL], c->err);
    if (status == ESP_OK)
        status = espi_arrivals_time(c->p, now->plan[k], now->net, bytes, clairvoyant_s,
                                    c->err);
    *clairvoyant_s = fmin(*clairvoyant_s, took_s[ESPI_COURSE_STATIC]);
    return status;
}

static esp_status run_call(struct course *c, int i)
{
    struct espi_course *o = c->out;
    double bytes = o->is_falling ? floor(o->bytes * (o->calls - i) / o->calls) : o->bytes;
    struct known *now;
    esp_status status = find_known(c, &o->load[i], &now);

    if (status == ESP_OK)
        status = plan_known(c, &c->known[0], bytes);
    if (status == ESP_OK)
        status = plan_known(c, now, bytes);
    if (status == ESP_OK)
        status = plan_hierarchical(c, bytes);
    if (status == ESP_OK)
        status = run_others(c, now, bytes, o->took_s[i]);
    if (status == ESP_OK)
        status = probe_gap(c, now->net);
    if (status == ESP_OK)
        status = espi_advised_job_advise_for(&c->job, c->root, bytes, c->now_s, c->err);
    if (status != ESP_OK)
        return status;
    const struct espi_job_call call = {
        .net = c->p,
        .reality = now->net,
        .fallback = c->known[0].plan[espi_size_class((uint64_t)bytes)],
        .number = (uint64_t)i + 1,
        .now_s = c->now_s,
        .bytes = bytes};
    double *took_s = &o->took_s[i][ESPI_COURSE_ADAPTIVE];
    status = espi_advised_job_call(&c->job, &call, took_s, c->err);
    c->quiet_s = c->now_s + *took_s;
    c->now_s = c->quiet_s + GAP_S;
    c->last = now->net;
    return status;
}

static void course_done(struct course *c)
{
    espi_advised_job_end(&c->job);
    espi_probed_net_done(&c->probed);
    for (int k = 0; k < c->n_known; k++) {
        esp_platform_free(c->known[k].net);
        for (int i = 0; i < ESPI_JOB_CLASSES; i++)
            esp_plan_free(c->known[k].plan[i]);
    }
    for (int i = 0; i < ESPI_JOB_CLASSES; i++)
        esp_plan_free(c->hierarchical[i]);
}

esp_status espi_load_course_run(const struct esp_platform *p, struct espi_course *course,
                                struct esp_err *err)
{
    static const struct espi_cable_load none = {-1, 1};
    struct course *c = espi_calloc(1, sizeof *c); /* large for a stack */
    struct known *unloaded;

    if (!c)
        return espi_err_nomem(err);
    c->p = p;
    c->out = course;
    c->root = espi_load_root(p);
    c->err = err;
    esp_status status = find_known(c, &none, &unloaded);
    if (status == ESP_OK)
        status = make_advisor(p, course->has_probes, &c->job.advisor, err);
    c->probed.link_Bps = link_Bps;
    c->probed.arg = c;
    if (status == ESP_OK)
        status = espi_probed_net_init(&c->probed, p, c->job.advisor, 1, err);
    for (int i = 0; i < course->calls && status == ESP_OK; i++)
        status = run_call(c, i);
    course_done(c);
    espi_free(c);
    return status;
}
