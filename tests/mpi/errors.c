/* Wrong calls end in the handler of the user's communicator, with the right class; what
 * is right afterwards still works. */
#include "check.h"
#include "mpi/native_call.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

static int called, class_seen;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    called++;
    MPI_Error_class(*code, &class_seen);
}

/* One rank alone may do it: nobody else is touched. */
static void expect(int code, int class)
{
    int got;
    MPI_Error_class(code, &got);
    CHECK(got == class);
    CHECK(called == 1 && class_seen == class);
    called = 0;
}

static void wrong_arguments(MPI_Comm comm)
{
    int data = 0, size;
    MPI_Comm_size(comm, &size);
    expect(MPI_Bcast(&data, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    expect(MPI_Bcast(&data, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    expect(MPI_Bcast(&data, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    expect(MPI_Bcast(&data, 1, MPI_INT, -5, comm), MPI_ERR_ROOT);
}

static void right(MPI_Comm comm)
{
    static const size_t sizes[] = {4, 100000};
    for (int k = 0; k < 2; k++) {
        unsigned char *data = check_alloc(sizes[k]);
        if (check_rank == 0)
            check_fill(data, sizes[k], 5);
        CHECK(MPI_Bcast(data, (int)sizes[k], MPI_BYTE, 0, comm) == MPI_SUCCESS);
        CHECK(check_wrong(data, sizes[k], 5) == -1);
        free(data);
    }
    CHECK(called == 0);
}

/* Ranks that disagree on the length of a short message: those with another than the root
 * are told, wherever in the tree they are. (MPICH calls the world's handler, too, for a
 * message that is too long.) */
static void wrong_length(MPI_Comm comm, int root_count, int count)
{
    int data[10] = {0};
    int n = check_rank == 0 ? root_count : count;
    int code = MPI_Bcast(data, n, MPI_INT, 0, comm);
    CHECK(check_rank == 0 ? code == MPI_SUCCESS : code != MPI_SUCCESS && called > 0);
    called = 0;
}

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define BCAST_INIT MPIX_Bcast_init
#elif MPI_VERSION >= 4
#define BCAST_INIT MPI_Bcast_init
#endif

/* The same of a persistent one. */
static void wrong_length_init(MPI_Comm comm, int root_count, int count)
{
#ifdef BCAST_INIT
    MPI_Request request;
    int data[10] = {0};
    int n = check_rank == 0 ? root_count : count;
    CHECK(!BCAST_INIT(data, n, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
    CHECK(!MPI_Start(&request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_rank == 0 ? code == MPI_SUCCESS : code != MPI_SUCCESS && called > 0);
    called = 0;
    if (request != MPI_REQUEST_NULL) /* Open MPI takes it away after an error */
        CHECK(!MPI_Request_free(&request));
#else
    (void)comm, (void)root_count, (void)count;
#endif
}

/* What the library says of a wrong call ours say, too. Where it finds nothing wrong it
 * does not matter. */
static void same(int theirs, int ours)
{
    int wanted, got;
    if (theirs != MPI_SUCCESS) {
        MPI_Error_class(theirs, &wanted);
        MPI_Error_class(ours, &got);
        CHECK(got == wanted && called == 2);
    }
    called = 0;
}

#define SAME(Name, ...)                                                                  \
    do {                                                                                 \
        int theirs = NATIVE(Name)(__VA_ARGS__);                                          \
        same(theirs, MPI_##Name(__VA_ARGS__));                                           \
    } while (0)

/* Of calls that give a request when nothing is found to be wrong. */
#define SAME_LATER(Name, ...)                                                            \
    do {                                                                                 \
        MPI_Request request_ = MPI_REQUEST_NULL;                                         \
        int theirs = NATIVE(Name)(__VA_ARGS__, &request_);                               \
        MPI_Wait(&request_, MPI_STATUS_IGNORE);                                          \
        int ours = MPI_##Name(__VA_ARGS__, &request_);                                   \
        MPI_Wait(&request_, MPI_STATUS_IGNORE);                                          \
        same(theirs, ours);                                                              \
    } while (0)

static void wrong_places_later(MPI_Comm comm)
{
    enum { N = 4, MOST = 16 };
    int a[N * MOST] = {0}, b[N * MOST] = {0}, rank;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    SAME_LATER(Iallreduce, a, a, N, MPI_INT, MPI_SUM, comm);
    SAME_LATER(Iallreduce, a, MPI_IN_PLACE, N, MPI_INT, MPI_SUM, comm);
    SAME_LATER(Ireduce_scatter_block, a, a, N, MPI_INT, MPI_SUM, comm);
    SAME_LATER(Iallgather, a + N * rank, N, MPI_INT, a, N, MPI_INT, comm);
    SAME_LATER(Ibcast, a, -1, MPI_INT, 0, comm);
    SAME_LATER(Ibcast, a, N, MPI_DATATYPE_NULL, 0, comm);
    SAME_LATER(Iscatter, a, N, MPI_INT, b, N, MPI_INT, -5, comm);
    CHECK(!MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, comm, &request));
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(called == 0);
}

/* Every rank does it. */
static void wrong_places(MPI_Comm comm)
{
    enum { N = 4, MOST = 16 };
    int a[N * MOST] = {0}, b[N * MOST] = {0}, counts[MOST], at[MOST], rank;
    MPI_Comm_rank(comm, &rank);
    for (int r = 0; r < MOST; r++) {
        counts[r] = N;
        at[r] = N * r;
    }
    SAME(Allreduce, a, a, N, MPI_INT, MPI_SUM, comm);
    SAME(Allreduce, a, MPI_IN_PLACE, N, MPI_INT, MPI_SUM, comm);
    SAME(Reduce_scatter, a, a, counts, MPI_INT, MPI_SUM, comm);
    SAME(Reduce_scatter, a, MPI_IN_PLACE, counts, MPI_INT, MPI_SUM, comm);
    SAME(Reduce_scatter_block, a, a, N, MPI_INT, MPI_SUM, comm);
    SAME(Reduce_scatter_block, a, MPI_IN_PLACE, N, MPI_INT, MPI_SUM, comm);
    SAME(Allgather, a + N * rank, N, MPI_INT, a, N, MPI_INT, comm);
    SAME(Allgatherv, a + N * rank, N, MPI_INT, a, counts, at, MPI_INT, comm);
    SAME(Alltoall, a, N, MPI_INT, a, N, MPI_INT, comm);
    SAME(Alltoallv, a, counts, at, MPI_INT, a, counts, at, MPI_INT, comm);
    if (rank == 0) /* the others would wait for it */
        SAME(Reduce, a, a, N, MPI_INT, MPI_SUM, 0, comm);
#ifdef MPICH_VERSION /* Open MPI does not look */
    SAME(Allreduce, a, NULL, N, MPI_INT, MPI_SUM, comm);
    if (rank == 0) {
        SAME(Gather, a, N, MPI_INT, a, N, MPI_INT, 0, comm);
        SAME(Scatter, a, N, MPI_INT, a, N, MPI_INT, 0, comm);
        SAME(Gatherv, a, N, MPI_INT, a, counts, at, MPI_INT, 0, comm);
        SAME(Scatterv, a, counts, at, MPI_INT, a, N, MPI_INT, 0, comm);
    }
#endif
    CHECK(MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Scatterv(a, counts, at, MPI_INT, b, N, MPI_INT, 0, comm) == MPI_SUCCESS);
    CHECK(called == 0);
}

/* Ranks that send other than the root waits for are told. */
static void wrong_parts(MPI_Comm comm)
{
    enum { N = 100, MOST = 16 };
    int all[N * MOST] = {0}, own[N * MOST] = {0}, counts[MOST], at[MOST], rank;
    MPI_Comm_rank(comm, &rank);
    for (int r = 0; r < MOST; r++) {
        counts[r] = N;
        at[r] = N * r;
    }
    int code = MPI_Scatterv(all, counts, at, MPI_INT, own, rank == 1 ? N / 2 : N, MPI_INT,
                            0, comm);
    CHECK(rank == 1 ? code != MPI_SUCCESS && called > 0 : code == MPI_SUCCESS);
    CHECK(own[rank == 1 ? N / 2 : N] == 0);
    called = 0;
    code = MPI_Gatherv(own, rank == 1 ? N / 2 : N, MPI_INT, all, counts, at, MPI_INT, 0,
                       comm);
    CHECK(rank == 1 || rank == 0 ? code != MPI_SUCCESS && called > 0 : 1);
    called = 0;
}

static int is_forced(void)
{
    const char *mode = getenv("ESPALIER_MODE");
    return mode && strcmp(mode, "force") == 0;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Errhandler handler, got;
    check_begin(&argc, &argv);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* inherits the handler */
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    CHECK(called == 0);
    right(comm);
    wrong_arguments(comm);
    right(comm);
    wrong_arguments(MPI_COMM_WORLD);
    right(MPI_COMM_WORLD);
    wrong_places(comm);
    wrong_places_later(comm);
    if (is_forced()) { /* the libraries themselves do not all find it */
        wrong_length(comm, 1, 10);
        right(comm);
        wrong_length(comm, 10, 1);
        right(comm);
        wrong_length_init(comm, 1, 10);
        right(comm);
        wrong_length_init(comm, 10, 1);
        right(comm);
        wrong_parts(comm);
        right(comm);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Bcast(&called, 1, MPI_INT, 0, MPI_COMM_NULL) != MPI_SUCCESS);
    return check_end();
}
