/* What was done: for each collective, size of communicator, class of message size and
 * algorithm the calls, bytes and time of rank 0, and the time that the library was
 * predicted to need.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "mpi/shim.h"

struct row {
    const char *call; /* "bcast" */
    int comm_size, size_class;
    char algo[40];
    uint64_t calls, bytes;
    double time_s, native_s;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *rows;
static size_t n_rows, rows_cap;
static struct espi_stats_trials *trials;
static size_t n_trials, trials_cap;

enum { TRIALS_MAX = 1000 }; /* limit: more nobody reads */

static int order(const struct row *a, const struct row *b)
{
    if (a->comm_size != b->comm_size)
        return a->comm_size < b->comm_size ? -1 : 1;
    if (a->size_class != b->size_class)
        return a->size_class < b->size_class ? -1 : 1;
    int by_call = strcmp(a->call, b->call);
    return by_call ? by_call : strcmp(a->algo, b->algo);
}

/* The row of that key, kept in order; NULL: out of memory. */
static struct row *find_row(const struct row *key)
{
    size_t at = 0;
    while (at < n_rows && order(&rows[at], key) < 0)
        at++;
    if (at < n_rows && order(&rows[at], key) == 0)
        return &rows[at];
    if (espi_grow((void **)&rows, &rows_cap, n_rows + 1, sizeof *rows))
        return NULL;
    memmove(rows + at + 1, rows + at, (n_rows++ - at) * sizeof *rows);
    rows[at] = *key;
    return &rows[at];
}

void espi_stats_note(const char *call, int comm_size, uint64_t bytes, const char *algo,
                     double time_s, double native_s)
{
    struct row key = {.call = call,
                      .comm_size = comm_size,
                      .size_class = bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0};
    snprintf(key.algo, sizeof key.algo, "%.*s", (int)strcspn(algo, ":"), algo);
    pthread_mutex_lock(&lock);
    struct row *row = find_row(&key);
    if (row) {
        row->calls++;
        row->bytes += bytes;
        row->time_s += time_s;
        row->native_s += native_s;
    }
    pthread_mutex_unlock(&lock);
}

static void write_row(FILE *out, const struct row *row)
{
    char size[32], bytes[32], took[32], native[32] = "-", algo[80];
    espi_format_bytes(size, sizeof size, (double)(UINT64_C(1) << row->size_class));
    espi_format_bytes(bytes, sizeof bytes, (double)row->bytes);
    espi_format_time(took, sizeof took, row->time_s);
    if (row->native_s > 0)
        espi_format_time(native, sizeof native, row->native_s);
    fprintf(out, "%6d  %10s  %-22s  %-14s  %8llu  %10s  %10s  %10s\n", row->comm_size,
            size, espi_quote(algo, sizeof algo, row->algo), row->call,
            (unsigned long long)row->calls, bytes, took, native);
}

void espi_stats_note_trials(const struct espi_stats_trials *t)
{
    pthread_mutex_lock(&lock);
    if (n_trials < TRIALS_MAX &&
        !espi_grow((void **)&trials, &trials_cap, n_trials + 1, sizeof *trials))
        trials[n_trials++] = *t;
    pthread_mutex_unlock(&lock);
}

static void write_trials(FILE *out)
{
    if (n_trials)
        fprintf(out, "espalier: trials\n%-14s  %6s  %10s  %6s  %-22s  %-14s  %-7s  %s\n",
                "call", "ranks", "up to", "root", "plan", "tried (native)", "verdict",
                "faster by");
    for (size_t i = 0; i < n_trials; i++) {
        const struct espi_stats_trials *t = &trials[i];
        char size[32], plan[80], margin[32] = "-";
        espi_format_bytes(size, sizeof size, (double)(UINT64_C(1) << t->size_class));
        if (t->margin > 0)
            snprintf(margin, sizeof margin, "%.2f", t->margin);
        fprintf(out, "%-14s  %6d  %10s  %6d  %-22s  %5d %8d  %-7s  %s\n", t->name,
                t->ranks, size, t->root, espi_quote(plan, sizeof plan, t->plan),
                t->n_plan, t->n_native, t->ours ? "plan" : "native", margin);
    }
}

static void write_rows(FILE *out)
{
    fprintf(out,
            "espalier: collectives as rank 0 saw them\n%6s  %10s  %-22s  %-14s  %8s  "
            "%10s  %10s  %10s\n",
            "ranks", "up to", "algorithm", "call", "calls", "bytes", "time", "native?");
    for (size_t i = 0; i < n_rows; i++)
        write_row(out, &rows[i]);
    if (*espi_library_note())
        fprintf(out, "espalier: %s\n", espi_library_note());
    write_trials(out);
}

/* A full disk shows when it is written to, or only when the file is closed. */
static int write_file(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return errno;
    errno = 0;
    write_rows(out);
    int bad = fflush(out) || ferror(out) ? (errno ? errno : EIO) : 0;
    return fclose(out) && !bad ? errno : bad;
}

void espi_stats_write(const char *path)
{
    int bad = 0;
    if (strcmp(path, "-") == 0)
        write_rows(stderr);
    else
        bad = write_file(path);
    if (bad)
        espi_say(ESPI_LOG_WARN, "cannot write the statistics to %s: %s", path,
                 strerror(bad));
    espi_free(rows);
    espi_free(trials);
    rows = NULL;
    trials = NULL;
    n_rows = rows_cap = n_trials = trials_cap = 0;
}
