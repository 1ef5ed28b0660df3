/* When a companion of a program that ended is started again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>

#include "cli/launching/supervise.h"

enum { EXIT_3 = 3 << 8 }; /* as waitpid tells */

static void tries_become_rarer_and_end(void **state)
{
    static const double waits[] = {1, 2, 4, 8, 16, 32, 60, -1};
    struct cli_retry r = {0}, crashes = {0};
    (void)state;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        assert_true(cli_retry_wait(&r, EXIT_3, 0.1) == waits[i]);
        assert_true(cli_retry_wait(&crashes, SIGSEGV, 0.1) == waits[i]);
    }
}

static void what_ran_begins_anew(void **state)
{
    struct cli_retry r = {0};
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_true(cli_retry_wait(&r, EXIT_3, 0.1) == 1);
        assert_true(cli_retry_wait(&r, EXIT_3, 0.1) == 2);
        assert_true(cli_retry_wait(&r, EXIT_3, 1000) == 1);
        assert_true(cli_retry_wait(&r, 0, 0.1) == 1);
    }
}

/* Whoever kills it is not what keeps it from starting. */
static void who_is_killed_is_started_again(void **state)
{
    static const int by[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, 0};
    struct cli_retry r = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(cli_retry_wait(&r, by[i % 5], 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries_become_rarer_and_end),
        cmocka_unit_test(what_ran_begins_anew),
        cmocka_unit_test(who_is_killed_is_started_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
