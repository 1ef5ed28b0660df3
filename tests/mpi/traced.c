/* A program beside a tool by the profiling interface, preloaded before or behind the shim
 * or linked into the program: the tool has seen each call of the program once, and none
 * that the shim makes, while plans run and each byte is right. */
#include <dlfcn.h>

#include "check.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include "tracer.h"

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define BCAST_INIT MPIX_Bcast_init
#elif MPI_VERSION >= 4
#define BCAST_INIT MPI_Bcast_init
#endif

enum { BYTES = 40000, ROUNDS = 5 };

static unsigned char data[BYTES];

static void refill(int root, unsigned seed)
{
    if (check_rank == root)
        check_fill(data, BYTES, seed);
    else
        memset(data, 0, BYTES);
}

static void sum(const void *from, void *to, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((const int *)from)[i];
}

static void broadcast(MPI_Comm comm)
{
    for (int i = 0; i < ROUNDS; i++) {
        refill(0, (unsigned)i);
        MPI_Bcast(data, BYTES, MPI_BYTE, 0, comm);
        CHECK(check_wrong(data, BYTES, (unsigned)i) == -1);
    }
}

static void reduce_and_gather(MPI_Comm comm, MPI_Op op)
{
    int all[64], own = check_rank + 1, whole = 0,
                 wanted = check_size * (check_size + 1) / 2;
    MPI_Allreduce(&own, &whole, 1, MPI_INT, op, comm);
    CHECK(whole == wanted);
    whole = 0;
    MPI_Reduce(&own, &whole, 1, MPI_INT, op, 0, comm);
    CHECK(check_rank != 0 || whole == wanted);
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < check_size; i++)
        CHECK(all[i] == i + 1);
}

static void later(MPI_Comm comm)
{
    MPI_Request requests[3];
    int own = check_rank + 1, whole = 0;
    refill(1, 77);
    MPI_Ibcast(data, BYTES, MPI_BYTE, 1, comm, &requests[0]);
    MPI_Iallreduce(&own, &whole, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    for (int i = 0; i < 3; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    CHECK(check_wrong(data, BYTES, 77) == -1);
    CHECK(whole == check_size * (check_size + 1) / 2);
}

/* How many were made. */
static int start_again_and_again(MPI_Comm comm)
{
#ifdef BCAST_INIT
    MPI_Request request;
    BCAST_INIT(data, BYTES, MPI_BYTE, 0, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < ROUNDS; i++) {
        refill(0, 100 + (unsigned)i);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(check_wrong(data, BYTES, 100 + (unsigned)i) == -1);
    }
    MPI_Request_free(&request);
    return 1;
#else
    (void)comm;
    return 0;
#endif
}

/* What the tool has seen, but for what the end of the program calls. */
static void ask_tracer(int inits)
{
    static const struct {
        const char *name;
        long wanted;
    } calls[] = {{"Init", 1},          {"Comm_rank", 1},      {"Comm_size", 1},
                 {"Comm_dup", 1},      {"Barrier", 2},        {"Bcast", ROUNDS},
                 {"Allreduce", 1},     {"Reduce", 1},         {"Allgather", 1},
                 {"Ibcast", 1},        {"Iallreduce", 1},     {"Ibarrier", 1},
                 {"Op_free", 1},       {"Comm_free", 1},      {"Finalize", 0},
                 {"Gather", 0},        {"Alltoall", 0},       {"Startall", 0},
                 {"Send", 0},          {"Recv", 0},           {"Isend", 0},
                 {"Issend", 0},        {"Irecv", 0},          {"Iprobe", 0},
                 {"Test", 0},          {"Testsome", 0},       {"Waitsome", 0},
                 {"Comm_split", 0},    {"Comm_group", 0},     {"Comm_get_attr", 0},
                 {"Comm_set_attr", 0}, {"Type_get_extent", 0}};
    long (*count)(const char *);
    *(void **)&count = dlsym(RTLD_DEFAULT, "tracer_count");
    CHECK(count);
    for (size_t i = 0; count && i < sizeof calls / sizeof *calls; i++)
        if (count(calls[i].name) != calls[i].wanted && check_bad++ < 10)
            fprintf(stderr, "rank %d: %ld calls of %s were seen, not %ld\n", check_rank,
                    count(calls[i].name), calls[i].name, calls[i].wanted);
    CHECK(!count || count("Bcast_init") == inits);
    CHECK(!count || count("Start") == inits * ROUNDS);
    CHECK(!count || count("Request_free") == inits);
    CHECK(!count || count("Wait") == 3 + inits * ROUNDS);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Op op;
    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create((MPI_User_function *)sum, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    broadcast(comm);
    reduce_and_gather(comm, op);
    later(comm);
    int inits = start_again_and_again(comm);
    MPI_Barrier(comm);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    ask_tracer(inits);
    return check_end();
}
