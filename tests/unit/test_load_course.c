/* Broadcasts by plans of the advisor while a cable is under load: on networks as
 * measuring writes them, where a link passes two ports and cables, it has to find out
 * which of them is slow, and go round it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "study/load_course.h"
#include "support/seed.h"

enum { NETWORKS = 1, FREE = 2, LOADED = 6 };
/* calls until a plan is in force for what a call told of: it travels with the next */
enum { SETTLED = 2 };

static const int kinds[] = {ESP_MEASURED_RACKS, ESP_MEASURED_FULL, ESP_MEASURED_CHAIN,
                            ESP_MEASURED_RING, ESP_MEASURED_STAR};

struct sums {
    int courses;
    double settled, fixed;
};

static void add_course(struct sums *s, int kind, enum espi_load_place place,
                       uint64_t seed)
{
    struct esp_measured_options o;
    struct esp_platform *p;
    struct espi_course c = {.calls = FREE + LOADED, .bytes = 1e6};
    struct espi_cable_load load = {-1, 0.125};
    esp_measured_options_defaults(&o);
    o.kind = kind;
    o.hosts = 12;
    o.seed = seed;
    o.bandwidth_max_Bps = 1e8;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    assert_int_equal(espi_load_busiest(p, place, c.bytes, &load.cable, NULL), ESP_OK);
    for (int i = 0; i < c.calls; i++)
        c.load[i] = i < FREE ? (struct espi_cable_load){-1, 1} : load;
    if (load.cable >= 0)
        assert_int_equal(espi_load_course_run(p, &c, NULL), ESP_OK);
    for (int i = FREE + SETTLED; i < c.calls && load.cable >= 0; i++) {
        double knows_s = c.took_s[i][ESPI_COURSE_CLAIRVOYANT];
        s->settled += c.took_s[i][ESPI_COURSE_ADAPTIVE] / knows_s / (LOADED - SETTLED);
        s->fixed += c.took_s[i][ESPI_COURSE_STATIC] / knows_s / (LOADED - SETTLED);
    }
    s->courses += load.cable >= 0;
    esp_platform_free(p);
}

/* Two calls may be slow. From then on, in the mean, of what a load costs who knows
 * nothing of it and not who is told, the advisor saves three quarters. */
static void loads_are_gone_round(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct sums s = {0};
    espi_rng_seed(&rng, test_seed(1));
    for (int n = 0; n < test_draws(NETWORKS); n++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int place = ESPI_LOAD_BETWEEN; place <= ESPI_LOAD_PORT; place++)
                add_course(&s, kinds[k], (enum espi_load_place)place,
                           espi_rng_next(&rng) >> 32);
    if (test_draws(NETWORKS) < NETWORKS) /* too few for a mean */
        return;
    assert_true(s.courses >= NETWORKS * 5);
    double lost = s.settled / s.courses - 1, at_stake = s.fixed / s.courses - 1;
    if (!(at_stake > 0.5) || !(lost < at_stake / 4))
        fail_msg("%d courses: %.3f of the clairvoyant's time, %.3f without the advisor",
                 s.courses, s.settled / s.courses, s.fixed / s.courses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_gone_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
