/* What the shim costs where nothing is to be won: MPI_Bcast, which passes through it, and
 * the library's own, which does not, in turns in one run; the median of the ratios of
 * turns that follow each other, for sizes from 1 B to 16 MB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/native_call.h"

/* Long messages, of which a turn is one, vary more. */
enum { TURNS_MAX = 401, LONG = 1 << 22 };

static double turn_s(int through_shim, void *data, int bytes, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __typeof__(&PMPI_Bcast) native = NATIVE(Bcast);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        if (through_shim)
            MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        else
            native(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    NATIVE(Barrier)(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / calls;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

int main(int argc, char **argv)
{
    static double ratio[TURNS_MAX], native_s[TURNS_MAX];
    int rank;
    char *data = malloc(1 << 24);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 1, 1 << 24);
    if (rank == 0)
        printf("%10s  %12s  %8s\n", "bytes", "native", "ratio");
    for (int bytes = 1; bytes <= 1 << 24; bytes *= 4) {
        int calls = bytes < 1 << 12 ? 400 : bytes < 1 << 18 ? 40 : bytes < LONG ? 4 : 1;
        int turns = bytes < LONG ? TURNS_MAX / 4 : TURNS_MAX;
        for (int t = 0; t < turns; t++) {
            double first = turn_s(t % 2, data, bytes, calls);
            double second = turn_s(!(t % 2), data, bytes, calls);
            ratio[t] = t % 2 ? first / second : second / first;
            native_s[t] = t % 2 ? second : first;
        }
        double r = median(ratio, turns), s = median(native_s, turns);
        if (rank == 0)
            printf("%10d  %9.3f us  %8.4f\n", bytes, s * 1e6, r);
    }
    MPI_Finalize();
    free(data);
    return 0;
}
