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

enum { NETWORKS = 1, SETTLED = 2 };

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
    struct espi_load_course c;
    esp_measured_options_defaults(&o);
    o.kind = kind;
    o.hosts = 12;
    o.seed = seed;
    o.bandwidth_max_Bps = 1e8;
    assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
    assert_int_equal(espi_load_course_run(p, place, 0.125, 1e6, &c, NULL), ESP_OK);
    for (int i = SETTLED; i < ESPI_LOADED_CALLS && c.cable >= 0; i++)
        s->settled += c.took_s[i] / c.clairvoyant_s / (ESPI_LOADED_CALLS - SETTLED);
    if (c.cable >= 0) {
        s->courses++;
        s->fixed += c.static_s / c.clairvoyant_s;
    }
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
