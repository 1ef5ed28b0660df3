/* Collectives that go on while the program does something else: any of them, by the plan
 * that was decided on. The call starts this rank's part of the program and gives a
 * generalized request; the part goes on whenever the MPI library makes progress, whatever
 * the program waits for: the library calls us back (progress.c). Where it does not a rank
 * that waits in some other call would hold up the others, so there the call is the
 * library's own.
 *
 * Several may be under way on a communicator, in the order in which all ranks start them,
 * among themselves and between blocking calls, which have other tags. Each takes the next
 * tags of a ring, as many as its program has streams between two ranks. Where these are
 * still those of one before it a call waits, not its caller, until that has ended on this
 * rank: messages of two ranks keep their order, so that nobody else need know. So does
 * one that has many before it, to each of which the library would have to look. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/tags.h"
#include "mpi/work.h"

struct pending {
    struct pending *next;
    struct espi_work *work; /* ours, the collective's struct */
    struct espi_comm *c;
    MPI_Request request;
    struct espi_entry entry; /* a program of its own: the communicator's may change */
    struct espi_arena arena; /* of the run */
    struct espi_run run;
    struct espi_mpi_transport wire;
    struct espi_transport transport;
    struct espi_kept kept;
    int first_tag, n_tags;
    int waits;       /* for some before it */
    uint64_t looked; /* when it was last found to: how many had ended */
    atomic_int code; /* other threads may end it, and read that */
    char algo[40];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *list; /* in the order of their starts */
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
    espi_free(p->work);
    espi_free(p);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS; /* collectives cannot be cancelled */
}

/* result: of the run. */
static int take_result(struct pending *p, int result)
{
    struct espi_work *w = p->work;
    int code = result < 0 ? p->run.error : p->wire.error;
    if (result < 0)
        espi_mpi_transport_abandon(p->run.requests, p->run.n_requests);
    return code ? code : w->kind->end(w);
}

static void drop_needs(struct pending *p)
{
    p->work->kind->clear(p->work);
    espi_drop(&p->kept);
    espi_arena_done(&p->arena);
    espi_arena_done(&p->entry.arena);
}

/* Called with the lock held; afterwards the user may have freed it. */
static void finish_pending(struct pending *p, int result)
{
    const struct espi_call *call = &p->work->call;
    MPI_Request request = p->request;
    int code = take_result(p, result);
    drop_needs(p);
    if (espi_job.settings.stats[0])
        espi_stats_note(p->work->kind->later, p->c->size, call->bytes, p->algo,
                        espi_now_s() - call->start_s, call->native_s);
    p->c->n_ended++;
    espi_comm_release(p->c);
    atomic_fetch_sub(&n_pending, 1);
    atomic_store(&p->code, p->code ? p->code : code);
    PMPI_Grequest_complete(request);
}

/* ---- progress ---- */

enum { RUNNING = 32 }; /* limit: on a communicator, beside each other */

static int shares_tags(const struct pending *a, const struct pending *b)
{
    return a->c == b->c && a->first_tag < b->first_tag + b->n_tags &&
           b->first_tag < a->first_tag + a->n_tags;
}

/* For one before it that has its tags, or are there too many before it? */
static int has_to_wait(const struct pending *p)
{
    int n = 0;
    for (const struct pending *q = list; q && q != p; q = q->next)
        if (shares_tags(p, q) || (n += p->c == q->c) >= RUNNING)
            return 1;
    return 0;
}

static int go_on(struct pending *p)
{
    if (p->waits && p->looked == p->c->n_ended)
        return 0;
    p->looked = p->c->n_ended;
    if (p->waits && (p->waits = has_to_wait(p)))
        return 0;
    return espi_run_progress(&p->run, 0);
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
        int result = go_on(p);
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

/* The next tags of the ring, alike on all ranks. */
static void take_tags(struct pending *p)
{
    const struct espi_program *prog = &p->entry.prog;
    for (int i = 0; i < prog->n_streams; i++)
        if (p->entry.channel[i] >= p->n_tags)
            p->n_tags = p->entry.channel[i] + 1;
    if (p->c->next_tag + p->n_tags > ESPI_LATER_TAGS)
        p->c->next_tag = 0;
    p->first_tag = ESPI_TAG_LATER + p->c->next_tag;
    p->c->next_tag += p->n_tags;
    for (int i = 0; i < prog->n_streams; i++)
        p->entry.channel[i] += p->first_tag;
}

/* Tasks find the program by their call, as those of blocking calls do. */
static int take_program(struct pending *p)
{
    struct espi_call *call = &p->work->call;
    const struct espi_entry *from = call->entry;
    p->entry.op = from->op;
    p->entry.choice = from->choice;
    snprintf(p->algo, sizeof p->algo, "%s", from->choice.plan->algo);
    int bad = espi_compile(p->c, &p->entry, from->bytes) != ESP_OK;
    p->entry.choice.plan = NULL; /* it is the other's */
    call->entry = &p->entry;
    if (!bad)
        take_tags(p);
    return bad ? -1 : 0;
}

/* A rank that has lost its data takes part, for the sake of the others. */
static int begin_run(struct pending *p)
{
    struct espi_run_options options = {.window = 0};
    struct espi_work *w = p->work;
    void *data = NULL;
    int kept = espi_keep(w, &p->kept), lost = w->kind->begin(w, &options, &data);
    lost = kept ? kept : lost;
    options.window = espi_job.settings.window;
    if (lost)
        espi_lose(&options);
    espi_mpi_transport_init(&p->wire, &p->transport, p->c->twin);
    p->wire.error = lost;
    atomic_store(&p->code, lost);
    return espi_run_init(&p->run, &p->entry.prog, p->c->rank, p->entry.channel,
                         &p->transport, data, &options, &p->arena) ||
                   espi_mpi_transport_reserve(&p->wire, p->run.max_requests, &p->arena)
               ? -1
               : 0;
}

/* Puts it behind all others. */
static void enlist(struct pending *p)
{
    struct pending **link = &list;
    pthread_mutex_lock(&lock);
    while (*link)
        link = &(*link)->next;
    *link = p;
    p->waits = has_to_wait(p);
    p->looked = p->c->n_ended;
    espi_comm_hold(p->c);
    atomic_fetch_add(&n_pending, 1);
    pthread_mutex_unlock(&lock);
}

static struct pending *make_pending(const struct espi_work *w)
{
    struct pending *p = espi_calloc(1, sizeof *p);
    if (!p || !(p->work = espi_malloc(w->kind->bytes)))
        return NULL;
    memcpy(p->work, w, w->kind->bytes);
    p->c = w->call.c;
    espi_arena_init(&p->arena);
    espi_arena_init(&p->entry.arena);
    return p;
}

/* Others wait for this rank, whatever it lacks. */
int espi_later_start(const struct espi_work *w, MPI_Request *request)
{
    struct pending *p = make_pending(w);
    if (!p || take_program(p) || begin_run(p) || make_request(p))
        espi_end_job(w->kind->later, "is out of memory");
    *request = p->request;
    enlist(p);
    espi_progress();
    return MPI_SUCCESS;
}
