/* A progress bar on stderr, for work that takes more than a second. The work only stores
 * how far it is, from any thread; a thread of the bar's own draws, so that work which
 * cannot tell how far it is shows signs of life, too. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/printing/term.h"
#include "cli/printing/time_left.h"

#define FIRST_MS  1000 /* looks: until a bar is drawn */
#define REDRAW_MS 200  /* looks: until it is drawn again */
#define BAR_WIDTH 30   /* looks: columns */

static struct {
    char label[80];
    long long total;
    double seconds;           /* it takes so long; 0: it is not known */
    double (*ask)(void *arg); /* or which part is done is asked */
    void *ask_arg;
    atomic_llong done;
    _Atomic double best_s; /* the best that was found so far; 0: nothing */
    struct cli_time_left left;
    int depth; /* starts without an end */
    struct timespec start;
    bool active, drawn;
    bool stop; /* with lock held */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec after_start(long long ms)
{
    struct timespec t = bar.start;

    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void draw_best(void)
{
    double best_s = atomic_load(&bar.best_s);
    char text[32];

    if (best_s > 0)
        fprintf(stderr, ", best so far %s", espi_format_time(text, sizeof text, best_s));
}

/* It never goes back, though what is asked may have thought too well of a rate. */
static double part_done(double elapsed_s)
{
    double part = bar.ask           ? bar.ask(bar.ask_arg)
                  : bar.seconds > 0 ? elapsed_s / bar.seconds
                                    : (double)atomic_load(&bar.done) / (double)bar.total;

    part = part < bar.left.part ? bar.left.part : part;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static void draw_bar(double elapsed_s)
{
    char filled[BAR_WIDTH + 1];

    if (bar.total <= 0 && !(bar.seconds > 0) && !bar.ask) {
        fprintf(stderr, "\r%s, %.0f s", bar.label, elapsed_s);
        draw_best();
        fputs("\033[K", stderr);
        return;
    }
    double part = part_done(elapsed_s);
    int n = (int)(part * BAR_WIDTH);
    memset(filled, '#', (size_t)n);
    memset(filled + n, '.', (size_t)(BAR_WIDTH - n));
    filled[BAR_WIDTH] = '\0';
    /* what is drawn is not over */
    fprintf(stderr, "\r%s [%s] %3d%%", bar.label, filled,
            part < 1 ? (int)(100 * part) : 99);
    double left_s = cli_time_left(&bar.left, elapsed_s, part);
    if (left_s >= 0)
        fprintf(stderr, ", %.0f s left", left_s);
    draw_best();
    fputs("\033[K", stderr);
}

static void *keep_drawing(void *unused)
{
    long long ms = FIRST_MS;

    pthread_mutex_lock(&bar.lock);
    for (; !bar.stop; ms += REDRAW_MS) {
        struct timespec next = after_start(ms);
        while (!bar.stop && pthread_cond_timedwait(&bar.wake, &bar.lock, &next) == 0)
            continue;
        if (!bar.stop) {
            draw_bar((double)ms / 1e3);
            bar.drawn = true;
        }
    }
    pthread_mutex_unlock(&bar.lock);
    return unused;
}

/* Waits by the clock that nobody sets. */
static int init_wake(void)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes))
        return -1;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int bad = pthread_cond_init(&bar.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return bad ? -1 : 0;
}

static void start_bar(long long total, double seconds, double (*ask)(void *), void *arg,
                      const char *label)
{
    if (bar.depth++ > 0)
        return;
    atomic_store(&bar.done, 0);
    atomic_store(&bar.best_s, 0);
    if (!isatty(STDERR_FILENO) || init_wake())
        return;
    espi_quote(bar.label, sizeof bar.label, label);
    bar.total = total;
    bar.seconds = seconds;
    bar.ask = ask;
    bar.ask_arg = arg;
    bar.left = (struct cli_time_left){0, 0};
    bar.stop = bar.drawn = false;
    clock_gettime(CLOCK_MONOTONIC, &bar.start);
    bar.active = pthread_create(&bar.thread, NULL, keep_drawing, NULL) == 0;
    if (!bar.active)
        pthread_cond_destroy(&bar.wake);
}

void cli_progress_start(long long total, const char *label)
{
    start_bar(total, 0, NULL, NULL, label);
}

void cli_progress_start_timed(double seconds, const char *label)
{
    start_bar(0, seconds, NULL, NULL, label);
}

void cli_progress_start_asked(double (*part)(void *arg), void *arg, const char *label)
{
    start_bar(0, 0, part, arg, label);
}

void cli_progress_update(long long done)
{
    atomic_store_explicit(&bar.done, done, memory_order_relaxed);
}

int cli_progress_found(void *unused, double elapsed_s, double best_s)
{
    (void)unused, (void)elapsed_s;
    atomic_store_explicit(&bar.best_s, best_s, memory_order_relaxed);
    return 0;
}

void cli_progress_end(void)
{
    if (bar.depth == 0 || --bar.depth == 0)
        cli_progress_stop();
}

void cli_progress_stop(void)
{
    bar.depth = 0;
    if (!bar.active)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.stop = true;
    pthread_cond_signal(&bar.wake);
    pthread_mutex_unlock(&bar.lock);
    pthread_join(bar.thread, NULL);
    pthread_cond_destroy(&bar.wake);
    if (bar.drawn)
        fputs("\r\033[K", stderr);
    bar.active = false;
}
