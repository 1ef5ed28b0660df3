/* MPI_THREAD_MULTIPLE: each thread broadcasts on communicators of its own, and makes and
 * frees some, all at once. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 3, CALLS = 60 };

static MPI_Comm comms[THREADS];
static int bad[THREADS];

/* Threads tell their groups apart by the tag. */
static int make_of_group(int me, int i)
{
    MPI_Group world;
    MPI_Comm fresh;
    int word = check_rank == 0 ? i : -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_create_group(MPI_COMM_WORLD, world, me, &fresh);
    MPI_Bcast(&word, 1, MPI_INT, 0, fresh);
    MPI_Comm_free(&fresh);
    MPI_Group_free(&world);
    return word == i;
}

static void *work_with_groups(void *arg)
{
    int me = (int)(long)arg;
    for (int i = 0; i < 20; i++)
        bad[me] += !make_of_group(me, i);
    return NULL;
}

static void *work(void *arg)
{
    int me = (int)(long)arg;
    MPI_Comm comm = comms[me];
    for (int i = 0; i < CALLS; i++) {
        size_t n = (size_t)(i * 7919 % 90000) + (size_t)me;
        unsigned seed = (unsigned)(me * 1000 + i);
        unsigned char *data = check_alloc(n);
        int root = i % check_size;
        if (check_rank == root)
            check_fill(data, n, seed);
        MPI_Bcast(data, (int)n, MPI_BYTE, root, comm);
        bad[me] += check_wrong(data, n, seed) != -1;
        free(data);
        if (i % 20 == 10) {
            MPI_Comm fresh;
            int word = check_rank == 0 ? i : -1;
            MPI_Comm_dup(comm, &fresh);
            MPI_Bcast(&word, 1, MPI_INT, 0, fresh);
            bad[me] += word != i;
            MPI_Comm_free(&fresh);
        }
    }
    return NULL;
}

static void in_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, function, (void *)t);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(bad[t] == 0);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int t = 0; t < THREADS; t++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        in_threads(work);
        for (int t = 0; t < THREADS; t++)
            MPI_Comm_free(&comms[t]);
        in_threads(work_with_groups);
    }
    return check_end();
}
