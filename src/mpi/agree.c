/* Do all ranks run the same? Plans are pure functions of what all ranks have, but ranks
 * may run out of memory, or on machines whose arithmetic differs. So at the first use of
 * each entry (collective, root and class of sizes of a communicator) sums of the compiled
 * programs are compared, in a way that makes no rank wait that need not wait anyway, and
 * offers the processor to others while it waits:
 *   - where all wait for all (allgather, allreduce) they vote: if the sums differ, or a
 *     rank has none, the entry is the library's on all ranks;
 *   - where all wait for the root (broadcast, scatter) its sum goes to all along a
 *     binomial tree, ahead of the data. A root without memory says that the entry is the
 *     library's. A rank that has another sum cannot go back: the root may be gone. The
 * job ends with a sentence;
 *   - where the root waits for all (gather, reduce) sums go to the root; likewise.
 * Non-blocking calls of all kinds must not wait for the sum: they begin, and the sum of
 * the root, or of rank 0, which goes to all along that tree, is compared while the
 * library makes progress. Nobody can go back then: if sums differ, or a rank is without
 * memory, the job ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"
#include "mpi/tags.h"
#include "mpi/tuning.h"

struct ticket {
    uint64_t sum;
    int32_t able; /* 0: there was no memory to plan */
    int32_t rank; /* whose it is */
};

enum { CHILDREN = 32 }; /* derived: the bits of a rank */

/* One that is to come from the parent, and to go to the children. */
struct errand {
    struct errand *next;
    struct espi_comm *c;
    MPI_Request in, out[CHILDREN];
    int came, n_out;
    struct ticket own, other;
    int tag, root;
    const char *op;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct errand *list;
static atomic_int n_errands;

/* ---- the tree ---- */

static int turn_rank(int rank, int by, int n)
{
    return (int)(((int64_t)rank + by + n) % n);
}

static int parent_of(const struct espi_comm *c, int root)
{
    int seat = turn_rank(c->rank, -root, c->size);
    return turn_rank(seat & (seat - 1), root, c->size);
}

/* Calls for each child; -1: no. */
static int next_child(const struct espi_comm *c, int root, int *bit)
{
    int seat = turn_rank(c->rank, -root, c->size);
    *bit = *bit ? *bit * 2 : 1;
    if ((seat && *bit >= (seat & -seat)) || *bit > c->size - 1 - seat)
        return -1;
    return turn_rank(seat + *bit, root, c->size);
}

static void hand(const struct ticket *t, int to, int tag, const struct espi_comm *c)
{
    PMPI_Send(t, (int)sizeof *t, MPI_BYTE, to, tag, c->twin);
}

static void pass_on(const struct ticket *t, const struct espi_comm *c, int root, int tag)
{
    for (int bit = 0, child; (child = next_child(c, root, &bit)) >= 0;)
        hand(t, child, tag, c);
}

/* Without one it is of a rank that is out of memory. */
static struct ticket receive_ticket(int from, int tag, const struct espi_comm *c)
{
    struct ticket t = {.rank = from};
    MPI_Request request;
    if (!PMPI_Irecv(&t, (int)sizeof t, MPI_BYTE, from, tag, c->twin, &request))
        espi_mpi_wait(&request);
    return t;
}

/* ---- what follows from it ---- */

static void compare_tickets(const struct ticket *own, const struct ticket *other,
                            const char *op)
{
    if (!own->able)
        espi_end_job(op, "is out of memory");
    if (!other->able || own->sum != other->sum)
        espi_end_job(op, other->able ? "plans otherwise than another rank"
                                     : "waits for a rank that is out of memory");
}

static void vote_on_entry(struct espi_comm *c, struct espi_entry *e,
                          const struct ticket *own)
{
    uint64_t mine[3] = {own->able != 0, own->sum, ~own->sum}, least[3] = {0, 0, 0};
    MPI_Request request;
    if (!PMPI_Iallreduce(mine, least, 3, MPI_UINT64_T, MPI_MIN, c->twin, &request) &&
        !espi_mpi_wait(&request) && least[0] && least[1] == ~least[2])
        return;
    espi_make_native(e);
    if (c->rank == 0 && espi_job.settings.log >= ESPI_LOG_INFO)
        espi_say(ESPI_LOG_INFO, "%s on %d ranks runs natively: %s", espi_entry_name(e),
                 c->size, least[0] ? "they plan otherwise" : "one is out of memory");
}

static void hear_root(struct espi_comm *c, struct espi_entry *e, const struct ticket *own,
                      int tag)
{
    struct ticket t = *own;
    if (c->rank != e->root)
        t = receive_ticket(parent_of(c, e->root), tag, c);
    pass_on(&t, c, e->root, tag);
    if (!t.able)
        espi_make_native(e);
    else
        compare_tickets(own, &t, espi_entry_name(e));
}

static void tell_root(const struct espi_comm *c, const struct espi_entry *e,
                      const struct ticket *own, int tag)
{
    for (int bit = 0, child; (child = next_child(c, e->root, &bit)) >= 0;) {
        struct ticket t = receive_ticket(child, tag, c);
        compare_tickets(own, &t, espi_entry_name(e));
    }
    compare_tickets(own, own, espi_entry_name(e));
    if (c->rank != e->root)
        hand(own, parent_of(c, e->root), tag, c);
}

static int begin_vote(struct espi_comm *c, struct espi_entry *e, int able,
                      struct ticket *own)
{
    e->agreed = 1;
    e->plan_agreed = e->choice.plan && e->bytes > 0;
    *own = (struct ticket){espi_entry_sum(e), able, c->rank};
    return ESPI_TAG_SUMS + (int)(c->n_agreed++ % ESPI_SUMS);
}

void espi_agree(struct espi_comm *c, struct espi_entry *e, int able)
{
    struct ticket own;
    int tag = begin_vote(c, e, able, &own);
    if (e->op == ESP_OP_BCAST || e->op == ESP_OP_SCATTER)
        hear_root(c, e, &own, tag);
    else if (e->op == ESP_OP_REDUCE || e->op == ESP_OP_GATHER)
        tell_root(c, e, &own, tag);
    else
        vote_on_entry(c, e, &own);
}

/* ---- without waiting ---- */

static void start_out(struct errand *e)
{
    e->came = 1;
    for (int bit = 0, child; (child = next_child(e->c, e->root, &bit)) >= 0;)
        PMPI_Isend(&e->other, (int)sizeof e->other, MPI_BYTE, child, e->tag, e->c->twin,
                   &e->out[e->n_out++]);
}

void espi_agree_later(struct espi_comm *c, struct espi_entry *e, int able)
{
    struct ticket own;
    int tag = begin_vote(c, e, able, &own);
    struct errand *errand = able ? espi_malloc(sizeof *errand) : NULL;
    if (!errand)
        espi_end_job(espi_entry_name(e), "is out of memory");
    *errand = (struct errand){
        .c = c, .own = own, .tag = tag, .root = e->root, .op = espi_entry_name(e)};
    errand->other = own;
    if (c->rank == e->root)
        start_out(errand);
    else
        PMPI_Irecv(&errand->other, (int)sizeof errand->other, MPI_BYTE,
                   parent_of(c, e->root), tag, c->twin, &errand->in);
    espi_comm_hold(c);
    pthread_mutex_lock(&lock);
    errand->next = list;
    list = errand;
    atomic_fetch_add(&n_errands, 1);
    pthread_mutex_unlock(&lock);
}

/* Is it over? */
static int go_on(struct errand *e)
{
    MPI_Status statuses[CHILDREN];
    int done = 0;
    if (!e->came) {
        if (PMPI_Test(&e->in, &done, MPI_STATUS_IGNORE) || !done)
            return 0;
        start_out(e);
        compare_tickets(&e->own, &e->other, e->op);
    }
    return !PMPI_Testall(e->n_out, e->out, &done, statuses) && done;
}

void espi_agree_progress(void)
{
    if (!atomic_load(&n_errands) || pthread_mutex_trylock(&lock))
        return; /* nothing to do, or somebody is at it: we ourselves, perhaps */
    for (struct errand **link = &list, *errand; (errand = *link);) {
        if (!go_on(errand)) {
            link = &errand->next;
            continue;
        }
        *link = errand->next;
        espi_comm_release(errand->c);
        espi_free(errand);
        atomic_fetch_sub(&n_errands, 1);
    }
    pthread_mutex_unlock(&lock);
}

void espi_agree_end(void)
{
    double end_s = espi_now_s() + ESPI_FINALIZE_S;
    while (atomic_load(&n_errands) && espi_now_s() < end_s)
        espi_agree_progress();
}
