/* Which cables come under load, when, and by how much. */
#include "study/load_course.h"

#include <math.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "platform/platform.h"

int espi_load_root(const struct esp_platform *p)
{
    int root = 0;

    while (espi_is_switch(p, root))
        root++;
    return root;
}

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

static int count_links(const struct esp_platform *p, int cable)
{
    return p->shared_links.start[cable + 1] - p->shared_links.start[cable];
}

static int is_at(const struct esp_platform *p, int cable, enum espi_load_place place)
{
    return count_links(p, cable) > 0 && is_port(p, cable) == (place == ESPI_LOAD_PORT);
}

/* ---- drawn ---- */

/* Any of that place, all alike; -1: there is none. */
static int draw_cable_at(const struct esp_platform *p, enum espi_load_place place,
                         struct espi_rng *rng)
{
    int n = 0, chosen = -1;

    for (int s = 0; s < p->n_shared; s++)
        if (is_at(p, s, place) && espi_rng_below(rng, (uint64_t)++n) == 0)
            chosen = s;
    return chosen;
}

static int draw_cable(const struct esp_platform *p, struct espi_rng *rng)
{
    enum espi_load_place place =
        espi_rng_below(rng, 2) ? ESPI_LOAD_PORT : ESPI_LOAD_BETWEEN;
    int cable = draw_cable_at(p, place, rng);

    return cable >= 0 ? cable : draw_cable_at(p, ESPI_LOAD_PORT, rng);
}

static double left_on_ramp(int i, int calls, double left)
{
    double middle = (calls - 1) / 2.0;

    return 1 - (1 - left) * (1 - fabs(i - middle) / (middle + 1));
}

static void fill_spell(struct espi_cable_load *load, int calls, int most,
                       struct espi_cable_load full, enum espi_load_shape shape,
                       struct espi_rng *rng)
{
    int is_on = 1, turn_at = 1 + (int)espi_rng_below(rng, 3);

    for (int i = 0; i < calls && i < most; i++) {
        load[i] = full;
        if (shape == ESPI_LOAD_RAMP)
            load[i].left = left_on_ramp(i, calls, full.left);
        if (shape == ESPI_LOAD_BURSTS && i == turn_at) {
            is_on = !is_on;
            turn_at += 1 + (int)espi_rng_below(rng, 3);
        }
        if (shape == ESPI_LOAD_BURSTS && !is_on)
            load[i] = (struct espi_cable_load){-1, 1};
    }
}

void espi_load_draw(const struct esp_platform *p, uint64_t seed,
                    struct espi_cable_load load[ESPI_COURSE_CALLS])
{
    struct espi_rng rng;

    espi_rng_seed(&rng, seed);
    for (int i = 0; i < ESPI_COURSE_CALLS; i++)
        load[i] = (struct espi_cable_load){-1, 1};
    int at = 3 + (int)espi_rng_below(&rng, 6);
    while (at < ESPI_COURSE_CALLS) {
        int calls = 10 + (int)espi_rng_below(&rng, 11);
        enum espi_load_shape shape = (enum espi_load_shape)espi_rng_below(&rng, 3);
        struct espi_cable_load full = {draw_cable(p, &rng), 1};
        full.left = 1 - espi_rng_range(&rng, 0.5, 0.9);
        fill_spell(load + at, calls, ESPI_COURSE_CALLS - at, full, shape, &rng);
        at += calls + 5 + (int)espi_rng_below(&rng, 6);
    }
}

/* ---- the busiest ---- */

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

esp_status espi_load_busiest(const struct esp_platform *p, enum espi_load_place place,
                             double bytes, int *cable, struct esp_err *err)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;

    esp_request_init(&request, espi_load_root(p));
    request.size_bytes = bytes;
    *cable = -1;
    esp_status status = esp_plan_make(p, &request, &plan, err);
    if (status != ESP_OK)
        return status;
    for (int s = 0; s < p->n_shared; s++)
        if (is_at(p, s, place) && passes_cable(p, plan, s) &&
            (*cable < 0 || count_links(p, s) > count_links(p, *cable)))
            *cable = s;
    esp_plan_free(plan);
    return ESP_OK;
}
