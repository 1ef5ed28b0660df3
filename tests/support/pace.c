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

static double makespan_s(const struct esp_platform *p, const struct esp_plan *plan,
                         double n)
{
    struct esp_sim_options o = {.size_bytes = n * plan->slice_bytes,
                                .slice_bytes = plan->slice_bytes};
    struct esp_sim_result *r = NULL;
    must(esp_simulate(p, plan, &o, &r, NULL));
    must(r->lost > 0);
    double s = r->makespan_s;
    esp_sim_result_free(r);
    return s;
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
    struct pace pace = {.makespan_s = makespan_s(p, plan, first), .slices = first};
    pace.steady_Bps =
        more * plan->slice_bytes / (makespan_s(p, plan, first + more) - pace.makespan_s);
    return pace;
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
