/* Two threads of each rank make communicators while a part of the ranks uses one. Open
 * MPI makes those of two threads one after the other, the one that is made of the oldest
 * first; a library that made one more, of a part of the ranks, where the program makes
 * none, would let all wait for ever. The pauses bring that order about; in any other the
 * program passes as well. Needs an even number of ranks, four at least. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static MPI_Comm first, second, half; /* the first is the oldest */

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static void use(MPI_Comm comm)
{
    int rank, size, own, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    own = rank + 1;
    CHECK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == size * (size + 1) / 2);
}

static void copy(MPI_Comm comm)
{
    MPI_Comm fresh;
    MPI_Comm_dup(comm, &fresh);
    use(fresh);
    MPI_Comm_free(&fresh);
}

/* Even ranks come late, when their other thread waits for odd ones. */
static void *use_half(void *nothing)
{
    if (check_rank % 2 == 0)
        pause_ms(300);
    use(half);
    copy(first);
    return nothing;
}

/* Odd ranks come late, when their other thread waits for even ones. */
static void *copy_second(void *nothing)
{
    if (check_rank % 2)
        pause_ms(600);
    copy(second);
    return nothing;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    for (int i = 0; i < 40; i++) /* whatever is done for the first few only is over */
        copy(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t one, two;
        pthread_create(&one, NULL, use_half, NULL);
        pthread_create(&two, NULL, copy_second, NULL);
        pthread_join(one, NULL);
        pthread_join(two, NULL);
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Comm_free(&half);
    return check_end();
}
