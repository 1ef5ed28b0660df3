#include "support/seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seeds must stay exact as doubles, as which the options of generators are set. */
enum { SEED_STEP = 1000003, SEED_MOST = 1000000000 };

static uint64_t other_seed(void)
{
    const char *text = getenv("ESPALIER_TEST_SEED");
    if (!text)
        return 0;
    size_t digits = strspn(text, "0123456789");
    uint64_t value = strtoull(text, NULL, 10);
    if (digits == 0 || digits > 10 || text[digits] || value > SEED_MOST) {
        fprintf(stderr,
                "ESPALIER_TEST_SEED is '%s', not a whole number from 0 (the usual seeds) "
                "to %d\n",
                text, SEED_MOST);
        exit(1);
    }
    fprintf(stderr, "ESPALIER_TEST_SEED=%s\n", text);
    return value;
}

uint64_t test_seed(uint64_t n)
{
    static int asked;
    static uint64_t value;
    if (!asked)
        value = other_seed();
    asked = 1;
    return n + SEED_STEP * value;
}

int test_draws(int n)
{
#ifdef __SANITIZE_ADDRESS__
    return (n + 3) / 4;
#else
    return n;
#endif
}
