/* Persistent collectives of all kinds: several on each communicator, started again and
 * again, by one call or several, beside other calls and requests of other kinds, with
 * data that are new each time, completed in every way there is. Each byte is looked at.
 * PERSISTENT_ROUNDS rounds from the seed PERSISTENT_SEED; with PERSISTENT_FREELY, when
 * all must run by plans, each rank starts them in an order of its own; PERSISTENT_MANY
 * are made and freed besides, more than there are tags for. */
#include "ops.h"

#if HAS_INIT

enum { COMMS = 3, HERE = 8 };

static int freely;

static void shuffle(int *order, int n)
{
    uint64_t *state = freely ? &own : &lots;
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)below(state, i + 1), was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
}

static void make(struct op *ops, int n, MPI_Comm *comms)
{
    for (int i = 0; i < n; i++) {
        describe_op(&ops[i], comms[below(&lots, COMMS)], INIT);
        CHECK(!call(&ops[i]));
        CHECK(ops[i].request != MPI_REQUEST_NULL);
    }
}

/* Two that are no collectives: they are waited for by themselves. */
static void start_beside(MPI_Request *both, int *in, int *out)
{
    int next = (check_rank + 1) % check_size;
    int before = (check_rank + check_size - 1) % check_size;
    MPI_Recv_init(in, 1, MPI_INT, before, 9, MPI_COMM_WORLD, &both[0]);
    MPI_Send_init(out, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &both[1]);
}

/* Some by calls of their own, the others at once, among them those two. */
static void start(struct op *ops, int n, MPI_Request *both)
{
    int order[HERE], apart = (int)below(freely ? &own : &lots, n + 1);
    MPI_Request at_once[HERE + 2];
    shuffle(order, n);
    for (int i = 0; i < apart; i++)
        CHECK(!MPI_Start(&ops[order[i]].request));
    at_once[0] = both[0];
    at_once[1] = both[1];
    for (int i = apart; i < n; i++)
        at_once[2 + i - apart] = ops[order[i]].request;
    CHECK(!MPI_Startall(2 + n - apart, at_once));
    for (int i = apart; i < n; i++)
        CHECK(ops[order[i]].request == at_once[2 + i - apart]);
}

static void one_turn(struct op *ops, int n, MPI_Comm *comms, int turn)
{
    struct op other;
    MPI_Request both[2];
    MPI_Status statuses[2];
    int in = -1, out = check_rank * 100 + turn;
    for (int i = 0; i < n; i++) {
        ops[i].seed += 17;
        prepare_op(&ops[i]);
    }
    start_beside(both, &in, &out);
    start(ops, n, both);
    draw_op(&other, comms[below(&lots, COMMS)]);
    complete(ops, n);
    CHECK(!MPI_Waitall(2, both, statuses));
    CHECK(in == (check_rank + check_size - 1) % check_size * 100 + turn);
    CHECK(!MPI_Wait(&other.request, MPI_STATUS_IGNORE));
    check_op(&other);
    end_op(&other);
    for (int i = 0; i < n; i++)
        check_op(&ops[i]);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

static void mix(MPI_Comm *comms)
{
    struct op ops[HERE];
    int order[HERE], n = 1 + (int)below(&lots, HERE), turns = (int)below(&lots, 5);
    make(ops, n, comms);
    for (int turn = 0; turn < turns; turn++)
        one_turn(ops, n, comms, turn);
    shuffle(order, n);
    for (int i = 0; i < n; i++)
        CHECK(!MPI_Request_free(&ops[order[i]].request));
    for (int i = 0; i < n; i++)
        end_op(&ops[i]);
}

/* Many at once on a communicator, which every second rank starts in the other order, and
 * a non-blocking call behind them. */
static void crowd(void)
{
    enum { CROWD = 80 };
    static struct op ops[CROWD];
    MPI_Request all[CROWD + 1];
    MPI_Status statuses[CROWD + 1];
    for (int i = 0; i < CROWD; i++) {
        describe_op(&ops[i], MPI_COMM_WORLD, INIT);
        CHECK(!call(&ops[i]));
        prepare_op(&ops[i]);
    }
    for (int i = 0; i < CROWD; i++)
        CHECK(!MPI_Start(&ops[check_rank % 2 ? CROWD - 1 - i : i].request));
    for (int i = 0; i < CROWD; i++)
        all[i] = ops[i].request;
    CHECK(!MPI_Ibarrier(MPI_COMM_WORLD, &all[CROWD]));
    CHECK(!MPI_Waitall(CROWD + 1, all, statuses));
    for (int i = 0; i < CROWD; i++) {
        check_op(&ops[i]);
        CHECK(!MPI_Request_free(&ops[i].request));
        end_op(&ops[i]);
    }
}

/* More than there are tags for, one of which stays. */
static void make_many(long n)
{
    struct op stays, goes;
    if (n <= 0)
        return;
    do {
        describe_op(&stays, MPI_COMM_WORLD, INIT);
    } while (stays.kind != ALLREDUCE);
    CHECK(!call(&stays));
    for (long i = 0; i < n; i++) {
        describe_op(&goes, MPI_COMM_WORLD, INIT);
        prepare_op(&goes);
        CHECK(!call(&goes));
        if (i % 16 == 0) {
            CHECK(!MPI_Start(&goes.request));
            CHECK(!MPI_Wait(&goes.request, MPI_STATUS_IGNORE));
            check_op(&goes);
        }
        CHECK(!MPI_Request_free(&goes.request));
        end_op(&goes);
        if (i == n / 2)
            CHECK(!MPI_Request_free(&stays.request));
    }
    end_op(&stays);
}

/* ---- operations of the user's own ---- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void own_operation(void)
{
    MPI_Op op;
    struct op place = {.request = MPI_REQUEST_NULL}, *o = &place;
    enum { N = 5000 };
    static int from[N], to[N];
    MPI_Op_create(add, 1, &op);
    CHECK(!INIT_CALL(Allreduce, from, to, N, MPI_INT, op, MPI_COMM_WORLD));
    if (freely) /* where the library may not stand it */
        MPI_Op_free(&op);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            from[i] = i + turn + check_rank;
        CHECK(!MPI_Start(&o->request));
        CHECK(!MPI_Wait(&o->request, MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            CHECK(to[i] == check_size * (i + turn) + check_size * (check_size - 1) / 2);
    }
    CHECK(!MPI_Request_free(&o->request));
    CHECK(o->request == MPI_REQUEST_NULL);
    if (!freely)
        MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    check_begin(&argc, &argv);
    long rounds = setting("PERSISTENT_ROUNDS", 25);
    freely = (int)setting("PERSISTENT_FREELY", 0);
    fewest = by_plans = freely;
    lots = (uint64_t)setting("PERSISTENT_SEED", 1) * 1000;
    own = lots * 77 + (uint64_t)check_rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    for (long round = 0; round < rounds; round++)
        mix(comms);
    if (freely)
        crowd();
    own_operation();
    make_many(setting("PERSISTENT_MANY", 0));
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    return check_end();
}

#endif
