/* Another library polls UCX in a thread of its own, which must not call MPI: a broadcast
 * that is under way does not go on there. */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 2000 };

static volatile int stop;

static void *poll_ucx(void *arg)
{
    unsigned (*poll)(void *);
    (void)arg;
    *(void **)&poll = dlsym(RTLD_DEFAULT, "ucp_worker_progress");
    while (poll && !stop)
        poll((void *)1); /* preload/poller.c knows it */
    return NULL;
}

/* The root sends at once; the other starts its receive, and looks on without MPI. */
static void look_on(int i)
{
    static unsigned char data[BYTES];
    MPI_Request request;
    int go = 1;
    memset(data, 0, BYTES);
    if (check_rank == 0) {
        MPI_Recv(&go, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_fill(data, BYTES, (unsigned)i);
    }
    MPI_Ibcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    if (check_rank == 1) {
        MPI_Send(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        usleep(300000);
        CHECK(check_wrong(data, BYTES, (unsigned)i) != -1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_wrong(data, BYTES, (unsigned)i) == -1);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    pthread_create(&thread, NULL, poll_ucx, NULL);
    for (int i = 1; i < 6; i++)
        look_on(i);
    stop = 1;
    pthread_join(thread, NULL);
    return check_end();
}
