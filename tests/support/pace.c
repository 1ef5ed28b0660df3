#include "support/pace.h"

#include <math.h>
#include <stdlib.h>

#include "cost/cost.h"
#include "program/program.h"

static void must(int failed)
{
    if (failed)
        abort();
}

/* When the message is where it should be, and when nothing more is under way: some plans
 * also send it to hosts that it is not for, which may take longer. */
struct ends {
    double makespan_s, quiet_s;
};

static void note_end(void *arg, const struct esp_sim_transfer *t)
{
    struct ends *ends = arg;
    ends->quiet_s = fmax(ends->quiet_s, t->end_s);
}

static struct ends simulated(const struct esp_platform *p, const struct esp_plan *plan,
                             double n)
{
    struct ends ends = {0};
    struct esp_sim_options o = {.size = sizeof o,
                                .size_bytes = n * plan->slice_bytes,
                                .slice_bytes = plan->slice_bytes,
                                .sharing = ESP_SHARING_MODEL,
                                .on_transfer = note_end,
                                .arg = &ends};
    struct esp_sim_result *r = NULL;
    must(esp_simulate(p, plan, &o, &r, NULL));
    must(r->lost > 0);
    ends.makespan_s = r->makespan_s;
    esp_sim_result_free(r);
    return ends;
}

struct pace pace_of(const struct esp_platform *p, const struct esp_plan *plan, double n)
{
    struct espi_arena arena;
    struct espi_program prog;
    struct espi_compile_options cut = {.size_bytes = n * plan->slice_bytes,
                                       .slice_bytes = plan->slice_bytes};
    espi_arena_init(&arena);
    must(espi_program_compile(p, plan, &cut, &arena, &prog, NULL));
    double slots = prog.slots, first = ceil(n / slots) * slots,
           more = ceil(n / 2 / slots) * slots;
    espi_arena_done(&arena);
    struct ends some = simulated(p, plan, first), all = simulated(p, plan, first + more);
    return (struct pace){.makespan_s = some.makespan_s,
                         .slices = first,
                         .steady_Bps =
                             more * plan->slice_bytes / (all.quiet_s - some.quiet_s)};
}

static struct espi_cost closed_form(const struct esp_platform *p,
                                    const struct esp_plan *plan)
{
    struct espi_arena arena;
    struct espi_cost cost;
    espi_arena_init(&arena);
    must(espi_plan_cost(p, plan, plan->size_bytes, plan->slice_bytes, &arena, &cost,
                        NULL));
    espi_arena_done(&arena);
    return cost;
}

double load_Bps(const struct esp_platform *p, const struct esp_plan *plan)
{
    return espi_slices(plan->size_bytes, plan->slice_bytes).bytes /
           closed_form(p, plan).load_s;
}

double closed_finish_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    return closed_form(p, plan).makespan_s;
}
