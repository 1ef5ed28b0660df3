/* Preloaded before plan_sweep: a qsort that leaves elements which compare equal in the
 * opposite order. C promises no order of these, and newer C libraries have another one
 * than older ones; no plan may depend on it. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int (*compare_fn)(const void *, const void *);
typedef int (*compare_with_fn)(const void *, const void *, void *);

#define SEEN __attribute__((visibility("default")))
SEEN void qsort(void *base, size_t n, size_t size, compare_fn compare);
SEEN void qsort_r(void *base, size_t n, size_t size, compare_with_fn compare, void *arg);

static void swap(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void turn_round(char *at, size_t n, size_t size)
{
    for (size_t i = 0; i < n / 2; i++)
        swap(at + i * size, at + (n - 1 - i) * size, size);
}

/* The real one merges, and so keeps what is equal as it finds it. */
void qsort_r(void *base, size_t n, size_t size, compare_with_fn compare, void *arg)
{
    static void (*real)(void *, size_t, size_t, compare_with_fn, void *);
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "qsort_r");
        memcpy(&real, &found, sizeof real);
    }
    turn_round(base, n, size);
    real(base, n, size, compare, arg);
}

static int without_argument(const void *a, const void *b, void *compare)
{
    return (*(compare_fn *)compare)(a, b);
}

void qsort(void *base, size_t n, size_t size, compare_fn compare)
{
    qsort_r(base, n, size, without_argument, &compare);
}
