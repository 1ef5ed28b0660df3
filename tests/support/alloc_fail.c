#include "support/alloc_fail.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Present under AddressSanitizer only. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

enum mode { FAIL_ONE, FAIL_REST, MODES };

static struct {
    long seen, fail_at; /* allocations are numbered from 1 */
    enum mode mode;
    int failed;
} state;

static int should_fail(void)
{
    state.seen++;
    int fail = state.mode == FAIL_ONE ? state.seen == state.fail_at
                                      : state.seen >= state.fail_at;
    state.failed |= fail;
    return fail;
}

static void *json_malloc_or_fail(size_t size)
{
    return should_fail() ? NULL : malloc(size);
}

/* Sets *hit to whether an allocation was made to fail. */
static esp_status run_once(alloc_fail_fn fn, void *arg, long fail_at, enum mode mode,
                           int *hit)
{
    json_malloc_t old_malloc;
    json_free_t old_free;
    json_get_alloc_funcs(&old_malloc, &old_free);
    int (*old_hook)(void) = espi_alloc_should_fail;

    state.seen = 0;
    state.fail_at = fail_at;
    state.mode = mode;
    state.failed = 0;
    json_set_alloc_funcs(json_malloc_or_fail, free);
    espi_alloc_should_fail = should_fail;
    esp_status status = fn(arg);
    espi_alloc_should_fail = old_hook;
    json_set_alloc_funcs(old_malloc, old_free);
    *hit = state.failed;
    return status;
}

static size_t bytes_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes
               ? __sanitizer_get_current_allocated_bytes()
               : 0;
}

/* Runs fn and checks the outcome. Memory that libc keeps for itself after a first call
 * is no leak; a leak shows again in a second run. */
static int check_once(alloc_fail_fn fn, void *arg, long at, enum mode mode, int *hit)
{
    size_t leaked = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t before = bytes_in_use();
        esp_status status = run_once(fn, arg, at, mode, hit);
        leaked = bytes_in_use() - before;
        esp_status want = *hit ? ESP_ENOMEM : ESP_OK;
        if (status != want) {
            fprintf(stderr, "alloc_fail_each: allocation %ld%s failing: %s, not %s\n", at,
                    mode == FAIL_ONE ? "" : " and later ones", esp_status_text(status),
                    esp_status_text(want));
            return -1;
        }
        if (!leaked)
            return 0;
    }
    fprintf(stderr, "alloc_fail_each: allocation %ld%s failing: %zu bytes leaked\n", at,
            mode == FAIL_ONE ? "" : " and later ones", leaked);
    return -1;
}

int alloc_fail_each(alloc_fail_fn fn, void *arg)
{
    return alloc_fail_some(fn, arg, LONG_MAX);
}

int alloc_fail_some(alloc_fail_fn fn, void *arg, long each_until)
{
    for (long at = 1;; at += at < each_until ? 1 : 1 + at / 10) {
        for (enum mode mode = FAIL_ONE; mode < MODES; mode++) {
            int hit;
            if (check_once(fn, arg, at, mode, &hit))
                return -1;
            if (!hit)
                return (int)(at - 1);
        }
    }
}
