/* MPI_Ibcast. The call starts this rank's part of the program and gives a generalized
 * request; the part goes on whenever the MPI library makes progress, whatever the program
 * waits for: the library calls us back (progress.c). Where it does not a rank that waits
 * in some other call would hold up the others, so there the call is the library's own.
 *
 * Several may be under way on a communicator, in the order in which all ranks start them;
 * each has tags of its own. When all tags are taken a call waits, not its caller, until
 * the one before it with the same tags has ended on this rank: messages of two ranks keep
 * their order, so that nobody else need know. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"
#include "mpi/tags.h"

struct pending {
    struct pending *next;
    struct pending *heir; /* the next call with the same tags, or NULL */
    int waits;            /* for the one before it with the same tags */
    struct espi_comm *c;
    MPI_Request request;
    struct espi_arena arena;
    struct espi_program prog;
    struct espi_run run;
    struct espi_mpi_transport wire;
    struct espi_transport transport;
    struct espi_buffer_layout layout;
    int is_root, slot;
    atomic_int code;       /* other threads may end it, and read that */
    struct espi_call call; /* for the notes; its entry may be gone by then */
    char algo[40];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *list;
static atomic_int n_pending;

/* ---- the end of one ---- */

static int query(void *extra, MPI_Status *status)
{
    const struct pending *p = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return p->code;
}

static int release(void *extra)
{
    struct pending *p = extra;
    (void)atomic_load(&p->code); /* all that was done before is seen */
    espi_layout_done(&p->layout);
    espi_arena_done(&p->arena);
    espi_free(p);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS; /* collectives cannot be cancelled */
}

/* Called with the lock held; afterwards the user may have freed it. */
static void finish_pending(struct pending *p, int result)
{
    int code = result < 0 ? p->run.error : p->wire.error;
    if (result < 0)
        espi_mpi_transport_abandon(p->run.requests, p->run.n_requests);
    if (!code)
        code = p->is_root ? p->layout.slicer.error
                          : espi_layout_unpack(&p->layout, p->c->twin);
    MPI_Request request = p->request;
    if (espi_job.settings.stats[0])
        espi_stats_note("ibcast", p->c->size, p->call.bytes, p->algo,
                        espi_now_s() - p->call.start_s, p->call.native_s);
    if (p->heir)
        p->heir->waits = 0;
    espi_comm_release(p->c);
    atomic_fetch_sub(&n_pending, 1);
    atomic_store(&p->code, p->code ? p->code : code);
    PMPI_Grequest_complete(request);
}

int espi_progress(void)
{
    int finished = 0;
    espi_relay_idle();
    espi_agree_progress();
    if (!atomic_load(&n_pending) || pthread_mutex_trylock(&lock))
        return 0; /* nothing to do, or somebody is at it: we ourselves, perhaps */
    for (struct pending **link = &list; *link;) {
        struct pending *p = *link;
        int result = p->waits ? 0 : espi_run_progress(&p->run, 0);
        if (result == 0) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        finish_pending(p, result);
        finished++;
    }
    pthread_mutex_unlock(&lock);
    return finished;
}

/* ---- the beginning ---- */

#ifdef OPEN_MPI
static int make_request(struct pending *p)
{
    return PMPI_Grequest_start(query, release, cancel, p, &p->request);
}
#else
/* MPI_Waitall does not stand generalized requests that have not ended, beside a null
 * request, unless it has been told how to wait for them; then all calls that wait for
 * them ask, again and again. */
static int query_request(void *extra, MPI_Status *status)
{
    (void)extra;
    (void)status;
    espi_progress();
    return MPI_SUCCESS;
}

static int ask_all(int count, void **extra, double timeout_s, MPI_Status *statuses)
{
    (void)count;
    (void)timeout_s;
    return query_request(extra, statuses);
}

static int make_request(struct pending *p)
{
    return PMPIX_Grequest_start(query, release, cancel, query_request, ask_all, p,
                                &p->request);
}
#endif

static int native_ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                         MPI_Comm comm, MPI_Request *request)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Ibcast_c(buffer, count, type, root, comm, request);
#endif
    return PMPI_Ibcast(buffer, (int)count, type, root, comm, request);
}

/* A program of its own, since the next call may change the communicator's. */
static int prepare_pending(struct pending *p)
{
    struct espi_run_options options = {.window = espi_job.settings.window};
    struct espi_entry own = {.op = ESP_OP_BCAST};
    own.choice = p->call.entry->choice;
    esp_status st = espi_compile(p->c, &own, p->call.bytes);
    p->arena = own.arena;
    if (st)
        return -1;
    p->prog = own.prog;
    for (int i = 0; i < p->prog.n_streams; i++)
        own.channel[i] += ESPI_TAG_IBCAST + p->slot * ESPI_IBCAST_STREAMS;
    espi_mpi_transport_init(&p->wire, &p->transport, p->c->twin);
    espi_layout_tell(&p->layout, &options);
    if (p->code) /* it takes part without data, for the sake of the others */
        espi_lose(&options);
    p->wire.error = p->code;
    return espi_run_init(&p->run, &p->prog, p->c->rank, own.channel, &p->transport,
                         p->layout.data, &options, &p->arena) ||
                   espi_mpi_transport_reserve(&p->wire, p->run.max_requests, &p->arena)
               ? -1
               : 0;
}

/* Puts it behind all others. */
static void enlist(struct pending *p)
{
    struct pending **link = &list, *before = NULL;
    pthread_mutex_lock(&lock);
    for (; *link; link = &(*link)->next)
        if ((*link)->c == p->c && (*link)->slot == p->slot)
            before = *link;
    *link = p;
    p->waits = before != NULL;
    if (before)
        before->heir = p;
    espi_comm_hold(p->c);
    atomic_fetch_add(&n_pending, 1);
    pthread_mutex_unlock(&lock);
}

static int start_pending(struct pending *p, MPI_Request *request)
{
    p->c = p->call.c;
    p->slot = (int)(p->c->n_started++ % ESPI_IBCAST_SLOTS);
    p->is_root = p->call.rank == p->call.root;
    snprintf(p->algo, sizeof p->algo, "%s", p->call.entry->choice.plan->algo);
    if (p->is_root && !p->code)
        p->code = espi_layout_pack(&p->layout, p->c->twin);
    if (prepare_pending(p) || make_request(p))
        return -1;
    *request = p->request;
    enlist(p);
    espi_progress();
    return 0;
}

/* The user may free the type while the call is under way. */
static int keep_type(struct espi_buffer_layout *l)
{
    MPI_Datatype own;
    if ((!l->packed && !l->sliced) || l->own_type)
        return MPI_SUCCESS;
    int code = PMPI_Type_dup(l->type, &own);
    if (code == MPI_SUCCESS) {
        l->type = l->slicer.type = own;
        l->own_type = 1;
    }
    return code;
}

/* Others wait for this rank, whatever it lacks. */
static int our_ibcast(const struct espi_call *call, void *buffer, MPI_Count count,
                      MPI_Datatype type, MPI_Request *request)
{
    struct pending *p = espi_calloc(1, sizeof *p);
    if (p) {
        p->call = *call;
        espi_arena_init(&p->arena);
        p->code = espi_layout_init(&p->layout, buffer, count, type,
                                   (MPI_Count)call->bytes / count, call->c->twin, 0);
        if (!p->code)
            p->code = keep_type(&p->layout);
    }
    if (!p || start_pending(p, request))
        espi_end_job("ibcast", "is out of memory");
    return MPI_SUCCESS;
}

/* Alike on all ranks. */
static int has_few_streams(const struct espi_entry *e)
{
    for (int i = 0; i < e->prog.n_streams; i++)
        if (e->channel[i] >= ESPI_IBCAST_STREAMS)
            return 0;
    return 1;
}

int espi_ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                MPI_Request *request)
{
    struct espi_call call;
    espi_call_open(&call, ESP_OP_BCAST, root, comm);
    espi_prober_busy(-1); /* what is under way counts by its communicator */
    if (call.c && call.c->whose != ESPI_OURS)
        call.c = NULL; /* this call must not wait for the others' answer */
    call.later = 1;
    uint64_t bytes = call.known && espi_job.nonblocking ? espi_bytes(count, type) : 0;
    if (!espi_call_decide(&call, bytes, 0) || !has_few_streams(call.entry))
        return native_ibcast(buffer, count, type, root, comm, request);
    return our_ibcast(&call, buffer, count, type, request);
}
