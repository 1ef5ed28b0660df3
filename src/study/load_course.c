#include "study/load_course.h"

#include <math.h>

#include "advisor/advisor.h"
#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"
#include "study/arrivals.h"

enum { FREE_CALLS = 3 };

/* The simulator sends a slice as soon as it may: no window holds it up. So much as no
 * broadcast has under way. */
enum { WINDOW = 1 << 20 };

/* Of the scenario, not tuned: long enough for the advisor to plan between two calls, and
 * far shorter than what it believes lasts. */
#define GAP_S 2.0

struct course {
    const struct esp_platform *p;
    struct esp_platform *loaded;
    struct espi_advisor *advisor;
    struct esp_plan *plan; /* in force */
    int root;
    double bytes, now_s;
    uint64_t call;
    struct esp_err *err;
};

/* ---- the load ---- */

static int is_port(const struct esp_platform *p, int cable)
{
    int first = p->shared_links.start[cable], end = p->shared_links.start[cable + 1];
    int one_sender = 1, one_receiver = 1, e = p->shared_links.item[first];

    for (int k = first; k < end; k++) {
        one_sender &= p->tail[p->shared_links.item[k]] == p->tail[e];
        one_receiver &= p->head[p->shared_links.item[k]] == p->head[e];
    }
    return one_sender || one_receiver;
}

static int passes_cable(const struct esp_platform *p, const struct esp_plan *plan,
                        int cable)
{
    for (int t = 0; t < plan->n_trees; t++)
        for (int h = 0; h < plan->trees[t].n_hops; h++) {
            int e = plan->trees[t].hops[h];
            for (int k = p->link_shared.start[e]; k < p->link_shared.start[e + 1]; k++)
                if (p->link_shared.item[k] == cable)
                    return 1;
        }
    return 0;
}

static int count_links(const struct esp_platform *p, int cable)
{
    return p->shared_links.start[cable + 1] - p->shared_links.start[cable];
}

/* Of those that the plan passes the one with most links; of ports, too, which is one of
 * the root. -1: none. */
static int choose_cable(const struct course *c, enum espi_load_place place)
{
    int best = -1;

    for (int s = 0; s < c->p->n_shared; s++)
        if (is_port(c->p, s) == (place == ESPI_LOAD_PORT) &&
            passes_cable(c->p, c->plan, s) &&
            (best < 0 || count_links(c->p, s) > count_links(c->p, best)))
            best = s;
    return best;
}

static esp_status load_cable(struct course *c, int cable, double left)
{
    const struct esp_platform *p = c->p;
    double *link = ESPI_NEW(double, (size_t)p->n_links + 1);
    double *shared = ESPI_NEW(double, (size_t)p->n_shared + 1);
    esp_status status = link && shared ? ESP_OK : espi_err_nomem(c->err);

    for (int s = 0; s < p->n_shared && status == ESP_OK; s++)
        shared[s] = s == cable ? left : 1;
    for (int e = 0; e < p->n_links && status == ESP_OK; e++)
        link[e] = 1;
    /* a link alone is no faster than what it passes */
    for (int k = p->shared_links.start[cable];
         k < p->shared_links.start[cable + 1] && status == ESP_OK; k++) {
        int e = p->shared_links.item[k];
        link[e] = fmin(1, p->shared_Bps[cable] * left / p->bandwidth_Bps[e]);
    }
    if (status == ESP_OK)
        status = espi_platform_scaled(p, link, shared, &c->loaded, c->err);
    espi_free(link);
    espi_free(shared);
    return status;
}

/* ---- calls ---- */

static esp_status make_advisor(const struct esp_platform *net, struct espi_advisor **out,
                               struct esp_err *err)
{
    struct espi_advisor_options options = {.window = WINDOW, .work = 200, .seed = 1};

    return espi_advisor_create(net, &options, out, err);
}

static esp_status ask(struct course *c, struct espi_advisor *advisor,
                      struct esp_plan **out)
{
    struct espi_advice advice;
    esp_status status =
        espi_advisor_plan_for(advisor, c->root, c->bytes, c->now_s, &advice, c->err);

    if (status == ESP_OK)
        *out = advice.plan;
    return status;
}

/* A call by the plan in force, of which all ranks tell, and the next plan. */
static esp_status call_once(struct course *c, const struct esp_platform *reality,
                            double *took_s)
{
    struct esp_plan *next = NULL;
    struct espi_arrivals seen;
    esp_status status =
        espi_arrivals_run(c->p, c->plan, reality, c->bytes, &seen, c->err);

    if (status != ESP_OK)
        return status;
    *took_s = seen.took_s;
    status = espi_arrivals_tell(c->advisor, c->plan, &seen, ++c->call, c->bytes,
                                c->now_s + *took_s, c->err);
    espi_arrivals_done(&seen);
    c->now_s += *took_s + GAP_S;
    if (status == ESP_OK)
        status = ask(c, c->advisor, &next);
    if (status == ESP_OK) {
        esp_plan_free(c->plan);
        c->plan = next;
    }
    return status;
}

static esp_status run_clairvoyant(struct course *c, double *took_s)
{
    struct espi_advisor *advisor = NULL;
    struct esp_plan *plan = NULL;
    esp_status status = make_advisor(c->loaded, &advisor, c->err);

    if (status == ESP_OK)
        status = ask(c, advisor, &plan);
    if (status == ESP_OK)
        status = espi_arrivals_time(c->p, plan, c->loaded, c->bytes, took_s, c->err);
    esp_plan_free(plan);
    espi_advisor_free(advisor);
    return status;
}

static esp_status run_course(struct course *c, enum espi_load_place place, double left,
                             struct espi_load_course *out)
{
    esp_status status = make_advisor(c->p, &c->advisor, c->err);

    if (status == ESP_OK)
        status = ask(c, c->advisor, &c->plan);
    if (status != ESP_OK || (out->cable = choose_cable(c, place)) < 0)
        return status;
    status = load_cable(c, out->cable, left);
    for (int i = 0; i < FREE_CALLS && status == ESP_OK; i++)
        status = call_once(c, c->p, &out->free_s);
    if (status == ESP_OK)
        status = espi_arrivals_time(c->p, c->plan, c->loaded, c->bytes, &out->static_s,
                                    c->err);
    for (int i = 0; i < ESPI_LOADED_CALLS && status == ESP_OK; i++)
        status = call_once(c, c->loaded, &out->took_s[i]);
    return status == ESP_OK ? run_clairvoyant(c, &out->clairvoyant_s) : status;
}

esp_status espi_load_course_run(const struct esp_platform *p, enum espi_load_place place,
                                double left, double bytes, struct espi_load_course *out,
                                struct esp_err *err)
{
    struct course c = {.p = p, .bytes = bytes, .err = err};

    *out = (struct espi_load_course){.cable = -1};
    while (espi_is_switch(p, c.root))
        c.root++;
    esp_status status = run_course(&c, place, left, out);
    esp_plan_free(c.plan);
    espi_advisor_free(c.advisor);
    esp_platform_free(c.loaded);
    return status;
}
