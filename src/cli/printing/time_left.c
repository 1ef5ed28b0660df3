#include "cli/printing/time_left.h"

double cli_time_left(struct cli_time_left *t, double elapsed_s, double part)
{
    if (part > t->part) {
        t->part = part < 1 ? part : 1;
        t->end_s = elapsed_s / t->part;
    }
    return t->part > 0 && t->end_s >= elapsed_s ? t->end_s - elapsed_s : -1;
}
