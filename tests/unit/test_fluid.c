/* The fluid simulator, whose rates are kept up to date, against the same with rates that
 * are computed from nothing at each event: every delivery at the same time, on platforms
 * of all kinds, in all models, also while links change and hosts stop. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "program/program.h"
#include "support/kinds.h"
#include "support/plain_fluid.h"
#include "support/random_plan.h"
#include "support/seed.h"

enum { PLATFORMS = 65, CHANGES = 12, STOPS = 2 };

struct trial {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    struct esp_sim_options options;
    struct esp_rate_change changes[CHANGES];
    struct esp_node_stop stops[STOPS];
};

static void run_trial(const struct trial *t, struct espi_arena *arena,
                      struct espi_sim *sim, struct espi_program *prog,
                      esp_status (*run)(struct espi_sim *, struct esp_err *))
{
    struct espi_compile_options cut = {0};
    struct esp_err err = {.text = ""};
    if (espi_program_compile(t->p, t->plan, &cut, arena, prog, &err) ||
        espi_sim_init(sim, prog, &t->options, arena, &err) || run(sim, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static int is_near(double a, double b, double slack)
{
    return a == b || fabs(a - b) <= slack * fmax(fabs(a), fabs(b));
}

static void check_same(int n_ranks, const struct espi_sim *a, const struct espi_sim *b,
                       const char *what, int seed)
{
    double last_s = 0;
    if (a->transfers != b->transfers)
        fail_msg("%s, seed %d: %d transfers, not %d", what, seed, (int)a->transfers,
                 (int)b->transfers);
    for (int r = 0; r < n_ranks; r++) {
        last_s = isfinite(b->delivered_s[r]) ? fmax(last_s, b->delivered_s[r]) : last_s;
        if (!is_near(a->delivered_s[r], b->delivered_s[r], 1e-9))
            fail_msg("%s, seed %d: rank %d has all at %.15g s, not %.15g s", what, seed,
                     r, a->delivered_s[r], b->delivered_s[r]);
    }
    for (int r = 0; r < a->links.n; r++)
        if (fabs(a->busy_s[r] - b->busy_s[r]) > 1e-9 * (last_s + b->busy_s[r]))
            fail_msg("%s, seed %d: resource %d is busy for %.15g s, not %.15g s", what,
                     seed, r, a->busy_s[r], b->busy_s[r]);
}

static double check_trial(const struct trial *t, const char *what, int seed)
{
    struct espi_arena arena;
    struct espi_program prog[2] = {{0}};
    struct espi_sim sim[2] = {{0}};
    double last_s = 0;
    espi_arena_init(&arena);
    run_trial(t, &arena, &sim[0], &prog[0], espi_run_fluid);
    run_trial(t, &arena, &sim[1], &prog[1], plain_run_fluid);
    check_same(prog[0].n_ranks, &sim[0], &sim[1], what, seed);
    for (int r = 0; r < prog[0].n_ranks; r++)
        if (isfinite(sim[0].delivered_s[r]))
            last_s = fmax(last_s, sim[0].delivered_s[r]);
    espi_arena_done(&arena);
    return last_s;
}

/* Links and cables that change, some of them to nothing, and hosts that stop. */
static void draw_faults(struct trial *t, struct espi_rng *rng, double last_s)
{
    int n_cables = t->p->n_shared, stop;
    for (int i = 0; i < CHANGES; i++) {
        struct esp_rate_change *c = &t->changes[i];
        c->is_cable = n_cables > 0 && espi_rng_below(rng, 2);
        c->id =
            (int)espi_rng_below(rng, (uint32_t)(c->is_cable ? n_cables : t->p->n_links));
        c->at_s = espi_rng_range(rng, 0, last_s);
        c->factor = espi_rng_range(rng, 0.2, 2);
        if (espi_rng_below(rng, 4) == 0)
            c->factor = 0;
    }
    do
        stop = (int)espi_rng_below(rng, (uint32_t)t->p->n_nodes);
    while (esp_platform_node_kind(t->p, stop) != ESP_NODE_HOST);
    t->stops[0] = (struct esp_node_stop){.node = stop, .at_s = last_s / 2};
    t->options.changes = t->changes;
    t->options.n_changes = CHANGES;
    t->options.stops = t->stops;
    t->options.n_stops = (int)espi_rng_below(rng, 2);
}

static int has_switches(const struct esp_platform *p)
{
    return esp_platform_host_count(p) < esp_platform_node_count(p);
}

static struct esp_plan *make_plan(const struct esp_platform *p, struct espi_rng *rng,
                                  int kind)
{
    static const char *const algos[] = {"mtp", "binomial", "refine", "flat"};
    int trees = 1 + (int)espi_rng_below(rng, 6),
        slices = 1 + (int)espi_rng_below(rng, 20);
    if (has_switches(p) || kind == 3 || espi_rng_below(rng, 3) == 0) {
        struct kind_case c = {ESP_OP_BCAST, algos[espi_rng_below(rng, 4)], 0};
        return kind_plan(p, &c, slices);
    }
    struct esp_plan *plan = random_plan(p, rng, trees, (int)espi_rng_below(rng, 2));
    plan->slice_bytes = KIND_SLICE_BYTES;
    plan->size_bytes = slices * plan->slice_bytes;
    assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
    return plan;
}

static void deliveries_are_those_of_plain_rates(void **state)
{
    esp_model model = **(esp_model **)state;
    for (int seed = 0; seed < test_draws(PLATFORMS); seed++)
        for (int kind = 0; kind < KINDS; kind++) {
            struct espi_rng rng;
            uint64_t drawn = test_seed((uint64_t)seed);
            espi_rng_seed(&rng, drawn);
            struct trial t = {0};
            struct esp_platform *p =
                kind_platform(kind, 5 + (int)espi_rng_below(&rng, 16), drawn, model);
            struct esp_plan *plan = make_plan(p, &rng, kind);
            t.p = p;
            t.plan = plan;
            esp_sim_options_defaults(&t.options);
            double last_s = check_trial(&t, "as planned", seed);
            draw_faults(&t, &rng, last_s);
            check_trial(&t, "with faults", seed);
            draw_faults(&t, &rng, last_s);
            check_trial(&t, "with other faults", seed);
            esp_plan_free(plan);
            esp_platform_free(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {KIND_TESTS(deliveries_are_those_of_plain_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
