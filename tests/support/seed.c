#include "support/seed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seeds must stay exact as doubles, as which the options of generators are set. */
enum { SEED_STEP = 1000003, SEED_MOST = 1000000000 };

/* One of so many draws is made. */
#ifdef __SANITIZE_ADDRESS__
enum { USUAL_PART = 10 };
#else
enum { USUAL_PART = 1 };
#endif
enum { DRAWS_PART_MOST = 1000 };

/* A whole number up to `most` from the environment; 0: it is not set. */
static uint64_t setting(const char *name, uint64_t most)
{
    const char *text = getenv(name);
    if (!text)
        return 0;
    size_t digits = strspn(text, "0123456789");
    uint64_t value = strtoull(text, NULL, 10);
    if (digits == 0 || digits > 10 || text[digits] || value > most) {
        fprintf(stderr,
                "%s is '%s', not a whole number from 0 (the usual) to %" PRIu64 "\n",
                name, text, most);
        exit(1);
    }
    fprintf(stderr, "%s=%s\n", name, text);
    return value;
}

uint64_t test_seed(uint64_t n)
{
    static int asked;
    static uint64_t value;
    if (!asked)
        value = setting("ESPALIER_TEST_SEED", SEED_MOST);
    asked = 1;
    return n + SEED_STEP * value;
}

int test_draws(int n)
{
    static int asked, part;
    if (!asked)
        part = (int)setting("ESPALIER_TEST_DRAWS", DRAWS_PART_MOST);
    asked = 1;
    if (part == 0)
        part = USUAL_PART;
    return (n + part - 1) / part;
}
