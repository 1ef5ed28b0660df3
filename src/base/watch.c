#include "base/watch.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"

static _Thread_local struct espi_watch *innermost;

void espi_watch_begin(struct espi_watch *w, double budget_s,
                      int (*ask)(void *arg, double elapsed_s, double best_s), void *arg)
{
    double now_s = espi_now_s();
    double own_s = budget_s > 0 ? now_s + budget_s : INFINITY;
    *w = (struct espi_watch){.start_s = now_s,
                             .stop_s = fmin(own_s, espi_watch_stop_s()),
                             .ask = ask,
                             .arg = arg,
                             .outer = innermost};
    innermost = w;
}

void espi_watch_end(struct espi_watch *w)
{
    innermost = w->outer;
}

double espi_watch_stop_s(void)
{
    return innermost ? innermost->stop_s : INFINITY;
}

static int is_over(struct espi_watch *w)
{
    if (!w || w->over)
        return w && w->over;
    if (!w->ask && isinf(w->stop_s))
        return w->over = is_over(w->outer);
    double now_s = espi_now_s();
    w->over = now_s > w->stop_s ||
              (w->ask && w->ask(w->arg, now_s - w->start_s, w->best_s) != 0) ||
              is_over(w->outer);
    return w->over;
}

int espi_watch_is_over(void)
{
    return is_over(innermost);
}

void espi_watch_found(double best_s)
{
    if (innermost)
        innermost->best_s = best_s;
}

int espi_watch_may_leave(void)
{
    return innermost && innermost->best_s > 0 && espi_watch_is_over();
}
