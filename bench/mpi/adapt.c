/* Broadcasts of shrinking messages with shrinking gaps, contents verified everywhere.
 *   adapt [-n CALLS] [-b BYTES] [-g GAP_S] [-s SHRINK] [-r ROOT] [-c]
 * Rank 0 prints a line a call: number, bytes, seconds since the start, seconds that the
 * call took until the last rank had it, and how many ranks had wrong contents. The ranks'
 * clocks must be the same one (all on one machine). -c: messages do not shrink. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct plan {
    int calls, root, constant;
    double bytes, gap_s, shrink;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned char content(int call, int i)
{
    unsigned x = (unsigned)call * 2654435761u ^ (unsigned)i * 40503u;
    return (unsigned char)(x >> 13 ^ x);
}

static void fill(unsigned char *buffer, int bytes, int call, int root)
{
    for (int i = 0; i < bytes; i++)
        buffer[i] = root ? content(call, i) : 0;
}

static int is_wrong(const unsigned char *buffer, int bytes, int call)
{
    for (int i = 0; i < bytes; i++)
        if (buffer[i] != content(call, i))
            return 1;
    return 0;
}

static void wait_s(double s)
{
    struct timespec t = {(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};
    if (s > 0)
        nanosleep(&t, NULL);
}

static int call_once(const struct plan *p, int call, int rank, unsigned char *buffer,
                     double began_s)
{
    double mine[2] = {0, 0}, all[2] = {0, 0};
    int bytes = (int)(p->constant ? p->bytes : p->bytes * (p->calls - call) / p->calls);
    int wrong, total = 0;
    fill(buffer, bytes, call, rank == p->root);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == p->root)
        mine[0] = now_s();
    MPI_Bcast(buffer, bytes, MPI_BYTE, p->root, MPI_COMM_WORLD);
    mine[1] = now_s();
    wrong = is_wrong(buffer, bytes, call);
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d %d %.3f %.6f %d\n", call, bytes, all[0] - began_s, all[1] - all[0],
               total);
        fflush(stdout);
    }
    return total;
}

int main(int argc, char **argv)
{
    struct plan p = {60, 0, 0, 1e6, 1, 0.93};
    int rank, option, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while ((option = getopt(argc, argv, "n:b:g:s:r:c")) > 0) {
        if (option == 'n')
            p.calls = atoi(optarg);
        else if (option == 'b')
            p.bytes = atof(optarg);
        else if (option == 'g')
            p.gap_s = atof(optarg);
        else if (option == 's')
            p.shrink = atof(optarg);
        else if (option == 'r')
            p.root = atoi(optarg);
        else
            p.constant = 1;
    }
    unsigned char *buffer = malloc((size_t)p.bytes + 1);
    if (!buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double began_s = now_s(), gap_s = p.gap_s;
    for (int call = 0; call < p.calls; call++, gap_s *= p.shrink) {
        wrong += call_once(&p, call, rank, buffer, began_s);
        wait_s(gap_s);
    }
    free(buffer);
    MPI_Finalize();
    return wrong > 0;
}
