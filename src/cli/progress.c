/* A progress bar on stderr, for work that takes more than a second. Any thread may
 * report; whoever finds the bar due, and nobody else drawing it, draws it. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term.h"

#define FIRST_MS  1000
#define REDRAW_MS 100
#define BAR_WIDTH 30

static struct {
    const char *label;
    long long total;
    long long start_ms;
    bool active;
    atomic_llong next_ms;
    atomic_flag drawing;
    atomic_bool drawn;
} bar = {.drawing = ATOMIC_FLAG_INIT};

static long long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void cli_progress_start(long long total, const char *label)
{
    bar.active = isatty(STDERR_FILENO) == 1;
    bar.label = label;
    bar.total = total;
    bar.start_ms = now_ms();
    atomic_store(&bar.next_ms, bar.start_ms + FIRST_MS);
    atomic_store(&bar.drawn, false);
}

static void draw(long long done, long long elapsed_ms)
{
    char filled[BAR_WIDTH + 1];

    if (bar.total <= 0) {
        fprintf(stderr, "\r%s: %lld (%.0f s)\033[K", bar.label, done, elapsed_ms / 1e3);
        return;
    }
    double part = (double)done / (double)bar.total;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    int n = (int)(part * BAR_WIDTH);
    memset(filled, '#', (size_t)n);
    memset(filled + n, '.', (size_t)(BAR_WIDTH - n));
    filled[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%%", bar.label, filled, 100 * part);
    if (part > 0)
        fprintf(stderr, " %.0f s left", (double)elapsed_ms / 1e3 * (1 / part - 1));
    fputs("\033[K", stderr);
}

void cli_progress_update(long long done)
{
    if (!bar.active)
        return;
    long long now = now_ms();
    if (now < atomic_load(&bar.next_ms) || atomic_flag_test_and_set(&bar.drawing))
        return;
    atomic_store(&bar.next_ms, now + REDRAW_MS);
    atomic_store(&bar.drawn, true);
    draw(done, now - bar.start_ms);
    fflush(stderr);
    atomic_flag_clear(&bar.drawing);
}

void cli_progress_end(void)
{
    if (bar.active && atomic_load(&bar.drawn)) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    bar.active = false;
}
