/* MPI_Ibcast: many at once, completed in every way there is, going on while ranks wait
 * for something else, between blocking broadcasts, on communicators that are freed
 * meanwhile.
 */
#include "check.h"

enum { MANY = 12 };

struct flight {
    MPI_Comm comm;
    int n, rank, size;
    size_t bytes[MANY];
    int root[MANY];
    unsigned char *data[MANY];
    MPI_Request request[MANY];
};

static const size_t sizes[] = {0, 1, 70000, 12345, 3, 400000, 8192, 65024, 130000};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void start(struct flight *f, MPI_Comm comm, int n, unsigned seed)
{
    f->comm = comm;
    f->n = n;
    MPI_Comm_rank(comm, &f->rank);
    MPI_Comm_size(comm, &f->size);
    for (int i = 0; i < n; i++) {
        f->bytes[i] = sizes[(seed + (unsigned)i) % N_SIZES];
        f->root[i] = (int)((seed * 5 + (unsigned)i) % (unsigned)f->size);
        f->data[i] = check_alloc(f->bytes[i]);
        if (f->rank == f->root[i])
            check_fill(f->data[i], f->bytes[i], seed + (unsigned)i);
        CHECK(!MPI_Ibcast(f->data[i], (int)f->bytes[i], MPI_BYTE, f->root[i], comm,
                          &f->request[i]));
        CHECK(f->request[i] != MPI_REQUEST_NULL);
    }
}

static void look(struct flight *f, unsigned seed)
{
    for (int i = 0; i < f->n; i++) {
        CHECK(f->request[i] == MPI_REQUEST_NULL);
        CHECK(check_wrong(f->data[i], f->bytes[i], seed + (unsigned)i) == -1);
        free(f->data[i]);
    }
}

static void wait_each(struct flight *f)
{
    for (int i = f->n - 1; i >= 0; i--)
        CHECK(!MPI_Wait(&f->request[i], MPI_STATUS_IGNORE));
}

static void wait_all(struct flight *f)
{
    MPI_Status statuses[MANY];
    CHECK(!MPI_Waitall(f->n, f->request, statuses));
}

/* Between requests of another kind, and none. */
static void wait_mixed(struct flight *f)
{
    enum { EACH = 3 };
    MPI_Request all[EACH * MANY + 1];
    MPI_Status *volatile none = MPI_STATUSES_IGNORE; /* no memory, as compilers think */
    int in[MANY], out = 42, n = EACH * f->n;
    for (int i = 0; i < f->n; i++) {
        all[EACH * i] = MPI_REQUEST_NULL;
        all[EACH * i + 1] = f->request[i];
        MPI_Irecv(&in[i], 1, MPI_INT, f->rank, i, f->comm, &all[EACH * i + 2]);
    }
    for (int i = 0; i < f->n; i++)
        MPI_Send(&out, 1, MPI_INT, f->rank, i, f->comm);
    all[n] = MPI_REQUEST_NULL;
    CHECK(!MPI_Waitall(n + 1, all, none));
    for (int i = 0; i < f->n; i++) {
        f->request[i] = all[EACH * i + 1];
        CHECK(in[i] == out && all[EACH * i + 2] == MPI_REQUEST_NULL);
    }
}

static void some(struct flight *f,
                 int (*ended)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    int left = f->n, count, which[MANY];
    MPI_Status statuses[MANY];
    while (left > 0) {
        CHECK(!ended(f->n, f->request, &count, which, statuses));
        left -= count;
    }
}

static void wait_some(struct flight *f)
{
    some(f, MPI_Waitsome);
}

static void test_some(struct flight *f)
{
    some(f, MPI_Testsome);
}

static void ask_first(struct flight *f)
{
    for (int i = 0; i < f->n; i++) {
        for (int done = 0; !done;)
            CHECK(!MPI_Request_get_status(f->request[i], &done, MPI_STATUS_IGNORE));
        CHECK(!MPI_Wait(&f->request[i], MPI_STATUS_IGNORE));
    }
}

static void wait_any(struct flight *f)
{
    for (int i = 0, which; i < f->n; i++)
        CHECK(!MPI_Waitany(f->n, f->request, &which, MPI_STATUS_IGNORE) && which >= 0 &&
              which < f->n);
}

static void test_only(struct flight *f)
{
    for (int i = 0; i < f->n; i++)
        for (int done = 0; !done;)
            CHECK(!MPI_Test(&f->request[i], &done, MPI_STATUS_IGNORE));
}

static void test_all(struct flight *f)
{
    MPI_Status statuses[MANY];
    for (int done = 0; !done;)
        CHECK(!MPI_Testall(f->n, f->request, &done, statuses));
}

static void (*const ways[])(struct flight *) = {wait_each,  wait_all,  wait_any,
                                                test_only,  test_some, test_all,
                                                wait_mixed, wait_some, ask_first};
enum { N_WAYS = sizeof ways / sizeof *ways };

/* The root waits for a message that the last rank sends when it has the broadcast, the
 * ranks between for one from the next: nobody asks after the broadcast itself. */
static void while_waiting_elsewhere(MPI_Comm comm, unsigned seed)
{
    struct flight f;
    int token = 0;
    MPI_Comm_rank(comm, &f.rank);
    MPI_Comm_size(comm, &f.size);
    start(&f, comm, 3, seed);
    if (f.rank == f.size - 1)
        wait_all(&f);
    else
        MPI_Recv(&token, 1, MPI_INT, f.rank + 1, 5, comm, MPI_STATUS_IGNORE);
    if (f.rank > 0)
        MPI_Send(&token, 1, MPI_INT, f.rank - 1, 5, comm);
    MPI_Barrier(comm);
    if (f.rank != f.size - 1)
        test_only(&f);
    look(&f, seed);
}

/* On one rank others go first: only calls on one communicator keep their order. */
static void between_others(MPI_Comm one, MPI_Comm other, unsigned seed)
{
    struct flight f, g;
    int rank, value = 0;
    MPI_Comm_rank(one, &rank);
    if (rank % 2) {
        start(&f, one, 4, seed);
        MPI_Barrier(other);
        start(&g, other, 4, seed + 100);
    } else {
        MPI_Barrier(other);
        start(&g, other, 4, seed + 100);
        start(&f, one, 4, seed);
    }
    if (rank == 0)
        value = 4711;
    MPI_Bcast(&value, 1, MPI_INT, 0, one);
    CHECK(value == 4711);
    unsigned char *data = check_alloc(90000);
    MPI_Comm_rank(other, &rank);
    if (rank == 0)
        check_fill(data, 90000, seed);
    MPI_Bcast(data, 90000, MPI_BYTE, 0, other);
    CHECK(check_wrong(data, 90000, seed) == -1);
    free(data);
    wait_all(&f);
    wait_each(&g);
    look(&f, seed);
    look(&g, seed + 100);
}

static void freed_meanwhile(unsigned seed)
{
    MPI_Comm comm;
    struct flight f;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    start(&f, comm, 5, seed);
    MPI_Comm_free(&comm);
    wait_all(&f);
    look(&f, seed);
}

/* Bytes with gaps on odd ranks. */
static void types(MPI_Comm comm)
{
    enum { N = 50001 };
    MPI_Datatype type;
    MPI_Request request;
    int rank;
    MPI_Comm_rank(comm, &rank);
    int stride = rank % 2 ? 3 : 1;
    unsigned char *data = check_alloc(3 * N);
    MPI_Type_create_resized(MPI_BYTE, 0, stride, &type);
    MPI_Type_commit(&type);
    for (size_t i = 0; rank == 0 && i < N; i++)
        data[i] = check_byte(3, i);
    CHECK(!MPI_Ibcast(data, N, type, 0, comm, &request));
    MPI_Type_free(&type);
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (size_t i = 0; i < N; i++)
        CHECK(data[i * (size_t)stride] == check_byte(3, i));
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    check_begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &other);
    for (unsigned round = 0; round < 4 * N_WAYS; round++) {
        struct flight f;
        MPI_Comm comm = round % 3 ? MPI_COMM_WORLD : other;
        start(&f, comm, MANY, round * 7);
        ways[round % N_WAYS](&f);
        look(&f, round * 7);
    }
    for (unsigned round = 0; round < 5; round++) {
        while_waiting_elsewhere(round % 2 ? other : MPI_COMM_WORLD, round);
        between_others(MPI_COMM_WORLD, other, round * 3);
        freed_meanwhile(round);
        types(other);
    }
    MPI_Comm_free(&other);
    return check_end();
}
