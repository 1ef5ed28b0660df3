/* base/map.h against a plain list, and the length of its lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/rng.h"
#include "support/seed.h"

enum { KEYS = 3000, STEPS = 20000 };

struct thing {
    int number;
    struct espi_map_item item;
    int is_in;
};

static struct thing things[KEYS];

static struct thing *thing_of(struct espi_map_item *item)
{
    return item ? (struct thing *)((char *)item - offsetof(struct thing, item)) : NULL;
}

/* As handles are: addresses, numbers that count up, and any. */
static uint64_t key_of(int kind, int i)
{
    return kind == 0   ? UINT64_C(0x7f0012340000) + (uint64_t)i * 256
           : kind == 1 ? UINT64_C(0x98000000) + (uint64_t)i
                       : ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_step(struct espi_map *map, int kind, int i, int take)
{
    struct thing *t = &things[i];
    uint64_t key = key_of(kind, i);
    assert_ptr_equal(thing_of(espi_map_find(map, key)), t->is_in ? t : NULL);
    if (take) {
        assert_ptr_equal(thing_of(espi_map_take(map, key)), t->is_in ? t : NULL);
        t->is_in = 0;
    } else if (!t->is_in) {
        espi_map_put(map, &t->item, key);
        t->is_in = 1;
    }
}

static void check_random(int kind, uint64_t seed)
{
    struct espi_map map = {.bucket = NULL};
    struct espi_rng rng;
    size_t n = 0;
    espi_rng_seed(&rng, seed);
    memset(things, 0, sizeof things);
    for (int step = 0; step < STEPS; step++) {
        int key = (int)espi_rng_below(&rng, KEYS);
        int takes_out = espi_rng_below(&rng, 3) == 0;
        check_step(&map, kind, key, takes_out);
    }
    for (int i = 0; i < KEYS; i++) {
        n += (size_t)things[i].is_in;
        check_step(&map, kind, i, 0);
    }
    assert_true(n > 0 && map.n == KEYS);
    espi_map_done(&map);
    assert_true(map.n == 0 && !map.bucket);
}

static void what_is_in_is_found(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        check_random(kind, test_seed(kind));
}

static size_t longest_list(const struct espi_map *map)
{
    size_t most = 0;
    for (size_t i = 0; i < (size_t)1 << map->bits; i++) {
        size_t n = 0;
        for (const struct espi_map_item *at = map->bucket[i]; at; at = at->next)
            n++;
        most = n > most ? n : most;
    }
    return most;
}

/* However many there are. */
static void lists_stay_short(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct espi_map map = {.bucket = NULL};
        memset(things, 0, sizeof things);
        for (int i = 0; i < KEYS; i++) {
            check_step(&map, kind, i, 0);
            assert_true(longest_list(&map) <= 10);
        }
        espi_map_done(&map);
    }
}

static int never_enough(void)
{
    return 1;
}

/* Lists are longer then. */
static void it_works_without_memory(void **state)
{
    (void)state;
    espi_alloc_should_fail = never_enough;
    check_random(0, test_seed(7));
    espi_alloc_should_fail = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_is_found),
        cmocka_unit_test(lists_stay_short),
        cmocka_unit_test(it_works_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
