/* The part of the shim for tests that goes wrong on demand. It stands for
 * src/mpi/version.c; all else is the shim itself.
 *   ESPALIER_TRIAL_VERSION=TEXT: the version that it says it has
 *   ESPALIER_TRIAL_STORE=none: the launcher has no store
 *   ESPALIER_FAIL_ALLOC=RANK:N: on that rank the Nth allocation since its first
 * collective fails; RANK:N+: and all that follow; RANK:N*: and every Nth that follows
 *   ESPALIER_TRIAL_TALLY=FILE: gets a byte for each of the first thousand that failed
 *   ESPALIER_TRIAL_LIBRARY=any: the MPI library is of a version that begins with 99
 *   ESPALIER_TRIAL_SKEW=RANK:N: on that rank the Nth plan that is made for a collective
 * has other slices than elsewhere */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mpi/greet.h"
#include "mpi/shim.h"
#include "mpi/store.h"

const char *espi_shim_version(void)
{
    const char *version = getenv("ESPALIER_TRIAL_VERSION");
    return version ? version : ESPALIER_VERSION;
}

int __real_PMPI_Get_library_version(char *text, int *length);
int __wrap_PMPI_Get_library_version(char *text, int *length);

int __wrap_PMPI_Get_library_version(char *text, int *length)
{
    int code = __real_PMPI_Get_library_version(text, length);
    char *number = code ? NULL : text + strcspn(text, "0123456789");
    if (getenv("ESPALIER_TRIAL_LIBRARY") && number && number[0] && number[1])
        memcpy(number, "99", 2);
    return code;
}

int __real_espi_store_put(const char *text);
int __wrap_espi_store_put(const char *text);

int __wrap_espi_store_put(const char *text)
{
    return getenv("ESPALIER_TRIAL_STORE") ? -1 : __real_espi_store_put(text);
}

static int calls_begun;
static long allocs_left, plans_left;
static long every; /* Nth that follows; 0: none */
static int tally = -1;

static void note_failure(void)
{
    static int noted;
    if (tally >= 0 && noted++ < 1000 && write(tally, ".", 1) < 0)
        tally = -1;
}

static int should_fail(void)
{
    if (!calls_begun || allocs_left <= 0 || --allocs_left > 0)
        return 0;
    allocs_left = every;
    note_failure();
    return 1;
}

/* The number in "RANK:N", on that rank; else 0. */
static long on_this_rank(const char *name, char *end)
{
    const char *text = getenv(name);
    int rank;
    long n;
    *end = '\0';
    return text && sscanf(text, "%d:%ld%c", &rank, &n, end) >= 2 && rank == espi_job.rank
               ? n
               : 0;
}

static void begin_tally(long wanted)
{
    const char *path = getenv("ESPALIER_TRIAL_TALLY");
    if (path && wanted)
        tally = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void __real_espi_call_open(struct espi_call *call, esp_op op, int root, MPI_Comm comm);
void __wrap_espi_call_open(struct espi_call *call, esp_op op, int root, MPI_Comm comm);

void __wrap_espi_call_open(struct espi_call *call, esp_op op, int root, MPI_Comm comm)
{
    char end;
    if (!calls_begun) {
        plans_left = on_this_rank("ESPALIER_TRIAL_SKEW", &end);
        allocs_left = on_this_rank("ESPALIER_FAIL_ALLOC", &end);
        every = end == '+' ? 1 : end == '*' ? allocs_left : 0;
        begin_tally(allocs_left);
        if (allocs_left)
            espi_alloc_should_fail = should_fail;
        calls_begun = 1;
    }
    __real_espi_call_open(call, op, root, comm);
}

esp_status __real_espi_choose(const struct esp_platform *team, esp_op op, int root,
                              double size_bytes,
                              const struct espi_choice_options *options,
                              struct espi_choice *out, struct esp_err *err);
esp_status __wrap_espi_choose(const struct esp_platform *team, esp_op op, int root,
                              double size_bytes,
                              const struct espi_choice_options *options,
                              struct espi_choice *out, struct esp_err *err);

esp_status __wrap_espi_choose(const struct esp_platform *team, esp_op op, int root,
                              double size_bytes,
                              const struct espi_choice_options *options,
                              struct espi_choice *out, struct esp_err *err)
{
    struct espi_choice_options other = *options;
    if (plans_left > 0 && --plans_left == 0)
        other.slice_bytes = size_bytes / 5;
    return __real_espi_choose(team, op, root, size_bytes, &other, out, err);
}
