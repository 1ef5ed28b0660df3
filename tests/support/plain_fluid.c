#include "support/plain_fluid.h"

#include <math.h>
#include <stdlib.h>

/* ---- rates ---- */

struct filling {
    const struct espi_fair_rates *x;
    int n_flows, n_resources;
    unsigned char *grows; /* by flow */
    double *room, *weight;
    int *n_growing; /* by resource */
};

/* What flows that are fixed leave of each resource, and what the others want of it. What
 * it cannot carry at all keeps it from carrying anything. */
static void weigh_resources(struct filling *f)
{
    const struct espi_fair_rates *x = f->x;
    for (int r = 0; r < f->n_resources; r++) {
        f->room[r] = 1;
        f->weight[r] = 0;
        f->n_growing[r] = 0;
    }
    for (int i = 0; i < f->n_flows; i++)
        for (int k = x->use_start[i]; x->is_there[i] && k < x->use_start[i + 1]; k++) {
            int r = x->use_resource[k];
            f->n_growing[r] += f->grows[i] && x->part[k] > 0;
            if (f->grows[i] || !isfinite(x->part[k]))
                f->weight[r] += x->part[k];
            else
                f->room[r] -= x->rate[i] * x->part[k];
        }
}

static int lowest_resource(const struct filling *f, double *rate)
{
    int lowest = -1;
    for (int r = 0; r < f->n_resources; r++) {
        if (!f->n_growing[r])
            continue;
        double share = fmax(f->room[r], 0) / f->weight[r];
        if (lowest < 0 || share < *rate) {
            lowest = r;
            *rate = share;
        }
    }
    return lowest;
}

static void fix_flows_of(struct filling *f, int resource, double rate)
{
    const struct espi_fair_rates *x = f->x;
    for (int i = 0; i < f->n_flows; i++)
        for (int k = x->use_start[i]; f->grows[i] && k < x->use_start[i + 1]; k++)
            if (x->use_resource[k] == resource && x->part[k] > 0) {
                x->rate[i] = rate;
                f->grows[i] = 0;
            }
}

void plain_rates_update(struct espi_fair_rates *x)
{
    struct filling f = {.x = x, .n_flows = x->n_flows, .n_resources = x->n_resources};
    double rate = 0;
    f.grows = calloc((size_t)f.n_flows + 1, 1);
    f.room = calloc((size_t)f.n_resources + 1, sizeof *f.room);
    f.weight = calloc((size_t)f.n_resources + 1, sizeof *f.weight);
    f.n_growing = calloc((size_t)f.n_resources + 1, sizeof *f.n_growing);
    if (!f.grows || !f.room || !f.weight || !f.n_growing)
        abort();
    x->n_updated = x->n_pending = 0;
    for (int i = 0; i < f.n_flows; i++) {
        x->is_pending[i] = 0;
        f.grows[i] = x->is_there[i] = x->is_wanted[i];
        x->rate[i] = 0;
        if (x->is_there[i])
            x->updated[x->n_updated++] = i;
    }
    weigh_resources(&f);
    for (int r; (r = lowest_resource(&f, &rate)) >= 0;) {
        fix_flows_of(&f, r, rate);
        weigh_resources(&f);
    }
    free(f.grows);
    free(f.room);
    free(f.weight);
    free(f.n_growing);
}

/* ---- the simulator, with these rates ---- */

/* A flow has no lists here that it would have to leave. */
static void plain_rates_drop(struct espi_fair_rates *x, int flow)
{
    espi_fair_rates_set(x, flow, x->is_wanted[flow]);
}

#define espi_fair_rates_update plain_rates_update
#define espi_fair_rates_drop   plain_rates_drop
#define espi_run_fluid         plain_run_fluid
#include "sim/fluid.c" // NOLINT(bugprone-suspicious-include)
