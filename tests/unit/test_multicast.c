/* Multicast and scatter: bounds, exact optimum and vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "cost/cover.h"
#include "cost/flows.h"
#include "cost/multicast.h"
#include "support/plans.h"
#include "support/small_platform.h"

/* ---- vectors with known answers ---- */

static const struct small_arc m1[] = {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {1, 4, 1},
                                      {2, 4, 1}, {2, 5, 1}, {3, 4, 2}, {4, 5, 2}};
static const struct small_arc m2[] = {{0, 1, 1}, {0, 2, 3}, {1, 2, 1}, {1, 3, 2},
                                      {1, 4, 2}, {2, 3, 1}, {2, 4, 1}, {3, 4, 2}};
static const struct small_arc m3[] = {{0, 1, .5}, {0, 2, .5}, {1, 5, .5},
                                      {1, 3, .5}, {2, 6, .5}, {2, 3, .5},
                                      {3, 4, 1},  {4, 5, .5}, {4, 6, .5}};

static const struct vector {
    const char *name;
    int n, m;
    const struct small_arc *arcs;
    int n_targets, targets[3];
    double ub, lb, exact, eb;
    int sources[4]; /* nodes that become sources, one after the other; -1: no more */
    double multisource[4];
} vectors[] = {
    {"M1", 6, 8, m1, 3, {3, 4, 5}, 3, 1.5, 1.5, 2, {1, 3, 4, -1}, {2, 1.75, 1.5}},
    {"M2",
     5,
     8,
     m2,
     2,
     {3, 4},
     2,
     4. / 3,
     4. / 3,
     11. / 8,
     {2, 3, -1},
     {13. / 8, 18. / 13}},
    {"M3", 7, 9, m3, 2, {5, 6}, 1, 1. / 2, 2. / 3, INFINITY, {-1}, {0}},
};

struct scene {
    struct esp_platform *p;
    struct espi_arena arena;
    struct espi_net net;
};

static void scene_init(struct scene *s, const struct vector *v)
{
    s->p = small_platform(ESP_MODEL_ONE_PORT, v->n, v->arcs, v->m);
    espi_arena_init(&s->arena);
    assert_int_equal(
        espi_net_init(&s->net, s->p, 1, 0, v->n_targets, v->targets, &s->arena), 0);
}

static void scene_done(struct scene *s)
{
    espi_arena_done(&s->arena);
    esp_platform_free(s->p);
}

static double cover_s(struct scene *s, espi_cover_kind kind)
{
    struct espi_cover c;
    double period_s = NAN;
    assert_int_equal(espi_cover_init(&c, &s->net, kind, &s->arena, NULL), ESP_OK);
    assert_int_equal(espi_cover_solve(&c, INFINITY, &period_s, NULL), ESP_OK);
    espi_cover_free(&c);
    return period_s;
}

static void bounds_are_those_of_the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *v = &vectors[i];
        struct scene s;
        struct espi_flows f;
        struct espi_multicast best;
        scene_init(&s, v);
        assert_int_equal(espi_flows_init(&f, &s.net, &s.arena, NULL), ESP_OK);
        assert_float_equal(f.period_s, v->ub, 1e-9);
        assert_float_equal(cover_s(&s, ESPI_COVER_TARGETS), v->lb, 1e-9);
        if (isfinite(v->eb))
            assert_float_equal(cover_s(&s, ESPI_COVER_SPAN), v->eb, 1e-9);
        assert_int_equal(espi_multicast_solve(&s.net, NULL, &s.arena, &best, NULL),
                         ESP_OK);
        assert_true(best.exact);
        assert_float_equal(best.period_s, v->exact, 1e-9);
        assert_float_equal(best.bound_s, v->exact, 1e-8);
        for (int k = 0; v->sources[k] > 0; k++) {
            int better;
            assert_int_equal(espi_flows_try_source(&f, v->sources[k], &better, NULL),
                             ESP_OK);
            assert_true(better);
            assert_float_equal(f.period_s, v->multisource[k], 1e-9);
        }
        espi_flows_free(&f);
        scene_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_those_of_the_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
