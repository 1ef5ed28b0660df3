/* A prober whose trains come as fast as a file beside it says: lines of a node and a rate
 * in bytes a second, of trains from there; others come faster than any link. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "channel/prober.h"

double __wrap_espi_train_Bps(const struct espi_train *t);

double __wrap_espi_train_Bps(const struct espi_train *t)
{
    char path[PATH_MAX + 16];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    double Bps, found = 1e11;
    int from;
    if (n <= 0)
        return found;
    path[n] = '\0';
    strcat(path, ".rates");
    FILE *in = fopen(path, "re");
    while (in && fscanf(in, "%d %lf", &from, &Bps) == 2)
        if (from == t->from)
            found = Bps;
    if (in)
        fclose(in);
    return found;
}
