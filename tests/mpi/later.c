/* Collectives of all kinds, blocking and non-blocking, mixed at random on several
 * communicators: many under way, completed by each rank in an order and by a way of its
 * own, some in place, of types with gaps that are freed at once, and on communicators
 * that are freed meanwhile. Each byte is looked at, also those that nobody should have
 * touched. LATER_ROUNDS rounds, from the seed LATER_SEED; LATER_BY_PLANS: plans run all
 * of them. */
#include "ops.h"

enum { COMMS = 4, BARRIER_ROOM = 64 };

/* Now and then some are tested, or the rank does nothing that others would wait for. */
static void mingle(struct op *ops, int n)
{
    int done, i = (int)below(&own, n);
    if (below(&own, 2))
        CHECK(!MPI_Test(&ops[i].request, &done, MPI_STATUS_IGNORE));
}

static void check_and_end(struct op *o)
{
    check_op(o);
    end_op(o);
}

static void mix(MPI_Comm *comms, int n_comms)
{
    struct op ops[MOST];
    int n = 1 + (int)below(&lots, MOST);
    for (int i = 0; i < n; i++) {
        draw_op(&ops[i], comms[below(&lots, n_comms)]);
        mingle(ops, i + 1);
    }
    complete(ops, n);
    for (int i = 0; i < n; i++)
        check_and_end(&ops[i]);
}

/* Communicators go while calls on them are under way. Open MPI 4.1 itself crashes then,
 * in those of the calls that are its own. */
#ifdef OPEN_MPI
enum { MAY_FREE = 0 };
#else
enum { MAY_FREE = 1 };
#endif

static void mix_and_free(void)
{
    struct op ops[MOST];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MOST; i++)
        draw_op(&ops[i], comm);
    if (MAY_FREE)
        MPI_Comm_free(&comm);
    complete(ops, MOST);
    for (int i = 0; i < MOST; i++)
        check_and_end(&ops[i]);
    if (!MAY_FREE)
        MPI_Comm_free(&comm);
}

/* ---- barriers ---- */

/* Who has not come holds up the others: rank `late` sends what a rank waits for after its
 * barrier only when that rank has told that its barrier is not over. */
static void barrier_holds(int late)
{
    MPI_Request request;
    int done = 0, token = 0;
    if (check_rank == late) {
        for (int i = 0; i < check_size - 1; i++)
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(!MPI_Ibarrier(MPI_COMM_WORLD, &request));
    } else {
        CHECK(!MPI_Ibarrier(MPI_COMM_WORLD, &request));
        for (int i = 0; i < BARRIER_ROOM; i++) {
            CHECK(!MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            CHECK(!done);
        }
        MPI_Send(&token, 1, MPI_INT, late, 3, MPI_COMM_WORLD);
    }
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Nobody waits in a call, also where only others know how large its parts are: a rank
 * begins the call when it has heard from all others that they have. */
static void starts_do_not_wait(struct op *o, int kind, int late)
{
    int token = 0;
    describe_kind(o, (enum kind)kind, MPI_COMM_WORLD, LATER);
    prepare_op(o);
    for (int i = 0; check_rank == late && i < check_size - 1; i++)
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(!call(o));
    if (check_rank != late)
        MPI_Send(&token, 1, MPI_INT, late, 4, MPI_COMM_WORLD);
}

static void all_start_at_once(int late)
{
    struct op ops[MOST];
    _Static_assert((int)KINDS <= (int)MOST, "there is room for one of each");
    int n = KINDS;
    for (int i = 0; i < n; i++)
        starts_do_not_wait(&ops[i], i, late);
    complete(ops, n);
    for (int i = 0; i < n; i++)
        check_and_end(&ops[i]);
}

/* ---- operations of the user's own, freed at once ---- */

static void largest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void own_operation(void)
{
    enum { N = 9000 };
    static int from[N], to[N];
    MPI_Op op;
    MPI_Request request;
    for (int i = 0; i < N; i++)
        from[i] = (i * 7 + check_rank * 13) % 101;
    MPI_Op_create(largest, 1, &op);
    CHECK(!MPI_Iallreduce(from, to, N, MPI_INT, op, MPI_COMM_WORLD, &request));
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        int most = 0;
        for (int r = 0; r < check_size; r++)
            most = (i * 7 + r * 13) % 101 > most ? (i * 7 + r * 13) % 101 : most;
        CHECK(to[i] == most);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    check_begin(&argc, &argv);
    long rounds = setting("LATER_ROUNDS", 60);
    by_plans = (int)setting("LATER_BY_PLANS", 0);
    lots = (uint64_t)setting("LATER_SEED", 1) * 1000;
    own = lots * 77 + (uint64_t)check_rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    /* halves of different sizes would draw different lots */
    MPI_Comm_split(MPI_COMM_WORLD, 0, (check_rank * 5) % 3, &comms[3]);
    for (long round = 0; round < rounds; round++) {
        mix(comms, COMMS);
        if (round % 10 == 0)
            mix_and_free();
        if (round % 10 == 5)
            barrier_holds((int)(round / 10) % check_size);
        if (round % 20 == 7)
            own_operation();
        if (round % 20 == 9)
            all_start_at_once((int)(round / 10) % check_size);
    }
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
