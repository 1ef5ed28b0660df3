/* Makes calls of collectives and writes which messages each rank started, by what
 * recorder.c noted: OUT.OPERATION.RANK has, for each size and root, a line that names
 * them. usage: calls OUT OPERATION SIZE... [+ OPERATION SIZE...]... */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder.h"

#ifdef OPEN_MPI
enum { RANK_SHIFT = 20 };
#else
enum { RANK_SHIFT = 32 };
#endif

static __typeof__(recorder_learn) *learn;
static __typeof__(recorder_begin) *begin;
static __typeof__(recorder_end) *end;

/* To each rank, one after the other, so that the recorder knows who is who. */
static void meet_all(int rank, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            char byte = 0, other;
            learn(rank == a ? b : -1);
            if (a == b && rank == a)
                MPI_Sendrecv(&byte, 1, MPI_CHAR, a, 0, &other, 1, MPI_CHAR, a, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (rank == a)
                MPI_Send(&byte, 1, MPI_CHAR, b, 0, MPI_COMM_WORLD);
            else if (rank == b)
                MPI_Recv(&byte, 1, MPI_CHAR, a, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            learn(-1);
        }
}

static void reduce_scatter(char *in, char *out, int bytes)
{
    int counts[64], n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < n && i < 64; i++)
        counts[i] = bytes;
    MPI_Reduce_scatter(in, out, counts, MPI_SIGNED_CHAR, MPI_BAND, MPI_COMM_WORLD);
}

/* Parts of one size, by calls that do not know it. */
static void make_unequal_call(const char *op, int bytes, int root, char *in, char *out)
{
    int counts[64], at[64], n;
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Comm_size(all, &n);
    for (int i = 0; i < n && i < 64; i++) {
        counts[i] = bytes;
        at[i] = i * bytes;
    }
    if (strcmp(op, "gatherv") == 0)
        MPI_Gatherv(in, bytes, MPI_BYTE, out, counts, at, MPI_BYTE, root, all);
    else if (strcmp(op, "scatterv") == 0)
        MPI_Scatterv(out, counts, at, MPI_BYTE, in, bytes, MPI_BYTE, root, all);
    else if (strcmp(op, "alltoallv") == 0)
        MPI_Alltoallv(in, counts, at, MPI_BYTE, out, counts, at, MPI_BYTE, all);
    else
        MPI_Abort(all, 1);
}

static void make_call(const char *op, int bytes, int root, char *in, char *out)
{
    MPI_Comm all = MPI_COMM_WORLD;
    if (strcmp(op, "bcast") == 0)
        MPI_Bcast(in, bytes, MPI_BYTE, root, all);
    else if (strcmp(op, "allgather") == 0)
        MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, all);
    else if (strcmp(op, "gather") == 0)
        MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, all);
    else if (strcmp(op, "scatter") == 0)
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, all);
    else if (strcmp(op, "reduce") == 0)
        MPI_Reduce(in, out, bytes, MPI_SIGNED_CHAR, MPI_BAND, root, all);
    else if (strcmp(op, "allreduce") == 0)
        MPI_Allreduce(in, out, bytes, MPI_SIGNED_CHAR, MPI_BAND, all);
    else if (strcmp(op, "alltoall") == 0)
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, all);
    else if (strcmp(op, "reduce-scatter") == 0)
        reduce_scatter(in, out, bytes);
    else
        make_unequal_call(op, bytes, root, in, out);
}

static void record_calls(const char *op, int bytes, FILE *file, int n)
{
    char *in = calloc((size_t)bytes, (size_t)n), *out = calloc((size_t)bytes, (size_t)n);
    for (int k = 0; k < 2; k++) {
        int root = k ? n - 2 : 0;
        fprintf(file, "size %d root %d\n", bytes, root);
        MPI_Barrier(MPI_COMM_WORLD);
        begin(RANK_SHIFT);
        make_call(op, bytes, root, in, out);
        end(file);
    }
    free(in);
    free(out);
}

/* The words of one operation, up to the next + or the end. Returns how many they are. */
static int record_operation(const char *out, char **words, int rank, int n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s.%d", out, words[0], rank);
    FILE *file = fopen(path, "w");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int i = 1;
    for (; words[i] && strcmp(words[i], "+") != 0; i++)
        record_calls(words[0], atoi(words[i]), file, n);
    fclose(file);
    return i;
}

#ifndef OPEN_MPI
/* MPICH 4.0 does not always come back from its end over TCP. Its launcher kills the
 * others as soon as one leaves that has not said so, which is all that is left to do
 * here: "PMI", version 1, a line each way. */
static _Noreturn void leave(void)
{
    const char *launcher = getenv("PMI_FD");
    char answer[100];
    if (!launcher || dprintf(atoi(launcher), "cmd=finalize\n") < 0 ||
        read(atoi(launcher), answer, sizeof answer) <= 0) {
        fprintf(stderr, "the launcher does not hear that this rank leaves\n");
        _exit(1);
    }
    _exit(0);
}
#endif

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    *(void **)&learn = dlsym(RTLD_DEFAULT, "recorder_learn");
    *(void **)&begin = dlsym(RTLD_DEFAULT, "recorder_begin");
    *(void **)&end = dlsym(RTLD_DEFAULT, "recorder_end");
    if (!learn || !begin || !end || argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 1);
    meet_all(rank, n);
    for (int i = 2; i < argc; i++)
        i += record_operation(argv[1], argv + i, rank, n);
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef OPEN_MPI
    MPI_Finalize();
    return 0;
#else
    leave();
#endif
}
