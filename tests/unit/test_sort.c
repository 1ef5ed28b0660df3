/* Sorting against the plainest way to sort, with many equals, whose order has to stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/sort.h"
#include "support/seed.h"

enum { MOST = 300 };

struct item {
    int key, at; /* at: where it stood */
};

static int is_before(const struct item *x, const struct item *y)
{
    return x->key < y->key;
}

ESPI_DEFINE_SORT(sort_items, struct item, is_before)

/* How many have to stand before item i: all that are less, and equals that did. */
static int place_of(const struct item *item, int n, int i)
{
    int before = 0;
    for (int k = 0; k < n; k++)
        before += item[k].key < item[i].key ||
                  (item[k].key == item[i].key && item[k].at < item[i].at);
    return before;
}

static void items_are_in_order_and_equals_stay(void **state)
{
    (void)state;
    struct espi_rng r;
    struct item item[MOST], scratch[MOST];
    espi_rng_seed(&r, test_seed(5));
    for (int round = 0; round < 400; round++) {
        int n = (int)espi_rng_below(&r, MOST + 1), sorted = round % 4 == 0;
        uint32_t keys = 1 + espi_rng_below(&r, round % 2 ? 5 : 1000);
        for (int i = 0; i < n; i++)
            item[i] = (struct item){sorted ? i / 3 : (int)espi_rng_below(&r, keys), i};
        sort_items(item, scratch, n);
        for (int i = 0; i < n; i++)
            assert_int_equal(place_of(item, n, i), i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_in_order_and_equals_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
