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
 * one that has many before it, to each of which the library would have to look.
 *
 * Persistent calls (persistent.c) are the same but for their tags and requests. Ranks may
 * start them in any order, so that none may wait for another: each has tags of its own,
 * and they do not count among those before a non-blocking call. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/later.h"
#include "mpi/tags.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct espi_later *list, **last = &list; /* in the order of their starts */
static atomic_int n_pending;

/* ---- the end of one ---- */

void espi_later_free(struct espi_later *p)
{
    if (!p)
        return;
    espi_drop(&p->kept);
    espi_arena_done(&p->arena);
    espi_arena_done(&p->entry.arena);
    for (int i = 0; i < ESPI_UNTOLD_PLANS; i++)
        esp_plan_free(p->plans[i]);
    if (p->work)
        espi_work_forget(p->work);
    espi_free(p->work);
    espi_free(p);
}

static int query(void *extra, MPI_Status *status)
{
    const struct espi_later *p = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return p->code;
}

static int release(void *extra)
{
    struct espi_later *p = extra;
    (void)atomic_load(&p->code); /* all that was done before is seen */
    espi_later_free(p);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS; /* collectives cannot be cancelled */
}

/* result: of the run. */
static int take_result(struct espi_later *p, int result)
{
    struct espi_work *w = p->work;
    int code = result < 0 ? p->run.error : p->wire.error;
    if (result < 0)
        espi_mpi_transport_abandon(p->run.requests, p->run.n_requests);
    return code ? code : w->kind->end(w);
}

/* What there is to do before its request is complete. */
static void finish_later(struct espi_later *p, int result)
{
    struct espi_work *w = p->work;
    int code = take_result(p, result);
    w->kind->clear(w);
    espi_arena_done(&p->arena);
    if (espi_job.settings.stats[0] && !w->call.is_inner)
        espi_stats_note(p->name, p->c->size, w->call.bytes, p->algo,
                        espi_now_s() - w->call.start_s, w->call.native_s);
    p->code_of_run = p->lost ? p->lost : code;
    p->c->n_ended++;
    espi_comm_release(p->c);
    atomic_fetch_sub(&n_pending, 1);
}

static void complete_request(struct espi_later *p, int code)
{
    MPI_Request request = p->request;
    espi_drop(&p->kept);
    espi_arena_done(&p->entry.arena);
    atomic_store(&p->code, code);
    PMPI_Grequest_complete(request);
}

/* ---- progress ---- */

enum { RUNNING = 32 }; /* limit: on a communicator, beside each other */

static int shares_tags(const struct espi_later *a, const struct espi_later *b)
{
    return a->c == b->c && a->first_tag < b->first_tag + b->n_tags &&
           b->first_tag < a->first_tag + a->n_tags;
}

/* Has it tags of the ring, and its place in the order that all ranks have? */
static int is_in_ring(const struct espi_later *p)
{
    return p->first_tag < ESPI_TAG_LATER + ESPI_LATER_TAGS;
}

/* For one before it that has its tags, or are there too many before it? */
static int has_to_wait(const struct espi_later *p)
{
    int n = 0;
    if (!is_in_ring(p))
        return 0;
    for (const struct espi_later *q = list; q && q != p; q = q->next)
        if (is_in_ring(q) && (shares_tags(p, q) || (n += p->c == q->c) >= RUNNING))
            return 1;
    return 0;
}

static int go_on(struct espi_later *p)
{
    if (p->waits && p->looked == p->c->n_ended)
        return 0;
    p->looked = p->c->n_ended;
    if (p->waits && (p->waits = has_to_wait(p)))
        return 0;
    if (p->is_untold && !espi_untold_hear(p))
        return 0;
    return espi_run_progress(&p->run, 0);
}

/* All go on; those that end leave the list. Returns them. */
static struct espi_later *all_go_on(void)
{
    struct espi_later *ended = NULL, **end = &ended, **left = &list;
    while (*left) {
        struct espi_later *p = *left;
        int result = go_on(p);
        if (result == 0) {
            left = &p->next;
            continue;
        }
        *left = p->next;
        p->next = NULL;
        finish_later(p, result);
        *end = p;
        end = &p->next;
    }
    last = left;
    return ended;
}

/* Requests are completed when the lock is free again: an error handler of the user's may
 * make calls of its own. */
int espi_progress(void)
{
    int finished = 0;
    espi_relay_idle();
    espi_agree_progress();
    if (!atomic_load(&n_pending) || pthread_mutex_trylock(&lock))
        return 0; /* nothing to do, or somebody is at it: we ourselves, perhaps */
    struct espi_later *p = all_go_on(), *next;
    pthread_mutex_unlock(&lock);
    for (; p; p = next, finished++) {
        next = p->next; /* afterwards the user may have freed it */
        p->ended(p, p->code_of_run);
    }
    if (finished == 0)
        sched_yield(); /* the library spins: see mpi_transport.c */
    return finished;
}

/* ---- the beginning ---- */

#ifdef OPEN_MPI
static int make_request(struct espi_later *p)
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

static int make_request(struct espi_later *p)
{
    return PMPIX_Grequest_start(query, release, cancel, query_request, ask_all, p,
                                &p->request);
}
#endif

void espi_later_tag(struct espi_later *p, int first)
{
    p->first_tag = first;
    for (int i = 0; i < p->entry.prog.n_streams; i++)
        p->entry.channel[i] += first;
}

/* The next tags of the ring, alike on all ranks. */
static int next_tags(struct espi_later *p)
{
    int *next = &p->c->next_tag, first;
    if (*next + p->n_tags > ESPI_LATER_TAGS)
        *next = 0;
    first = ESPI_TAG_LATER + *next;
    *next += p->n_tags;
    return first;
}

int espi_later_count_tags(const struct espi_entry *e, int least)
{
    for (int i = 0; i < e->prog.n_streams; i++)
        if (e->channel[i] >= least)
            least = e->channel[i] + 1;
    return least;
}

/* Tasks find the program by their call, as those of blocking calls do. */
int espi_later_compile(struct espi_later *p, const struct esp_plan *plan, uint64_t bytes)
{
    struct espi_call *call = &p->work->call;
    snprintf(p->algo, sizeof p->algo, "%s", plan->algo);
    p->entry.choice.plan = (struct esp_plan *)plan; /* it is not changed */
    int bad = espi_compile(p->c, &p->entry, bytes) != ESP_OK;
    p->entry.choice.plan = NULL; /* it is the other's */
    call->entry = &p->entry;
    call->later = 1;
    return bad ? -1 : 0;
}

struct espi_later *espi_later_bare(struct espi_work *w)
{
    struct espi_later *p = espi_calloc(1, sizeof *p);
    struct espi_work *copy = p ? espi_malloc(w->kind->bytes) : NULL;
    if (!copy) {
        espi_free(p);
        espi_work_forget(w);
        return NULL;
    }
    memcpy(copy, w, w->kind->bytes);
    p->work = copy;
    p->c = w->call.c;
    p->entry.op = w->call.op;
    espi_arena_init(&p->arena);
    espi_arena_init(&p->entry.arena);
    return p;
}

struct espi_later *espi_later_make(struct espi_work *w)
{
    struct espi_later *p = espi_later_bare(w);
    if (!p)
        return NULL;
    const struct espi_entry *from = w->call.entry;
    p->entry.choice = from->choice;
    if (espi_later_compile(p, from->choice.plan, from->bytes)) {
        espi_later_free(p);
        return NULL;
    }
    p->n_tags = espi_later_count_tags(&p->entry, 0);
    return p;
}

/* A rank that has lost its data takes part, for the sake of the others. */
int espi_later_begin(struct espi_later *p)
{
    struct espi_run_options options = {.window = 0};
    struct espi_work *w = p->work;
    void *data = NULL;
    int lost = w->kind->begin(w, &options, &data);
    p->lost = p->not_kept ? p->not_kept : lost;
    options.window = espi_job.settings.window;
    if (p->lost)
        espi_lose(&options);
    espi_mpi_transport_init(&p->wire, &p->transport, p->c->twin);
    p->wire.error = p->lost;
    return espi_run_init(&p->run, &p->entry.prog, p->c->rank, p->entry.channel,
                         &p->transport, data, &options, &p->arena) ||
                   espi_mpi_transport_reserve(&p->wire, p->run.max_requests, &p->arena)
               ? -1
               : 0;
}

/* Puts it behind all others. */
void espi_later_go(struct espi_later *p)
{
    pthread_mutex_lock(&lock);
    p->next = NULL;
    *last = p;
    last = &p->next;
    p->waits = has_to_wait(p);
    p->looked = p->c->n_ended;
    espi_comm_hold(p->c);
    atomic_fetch_add(&n_pending, 1);
    pthread_mutex_unlock(&lock);
    espi_progress();
}

int espi_later_enter(struct espi_later *p, MPI_Request *request)
{
    int first = next_tags(p);
    p->ended = complete_request;
    p->name = p->work->kind->later;
    p->not_kept = espi_keep(p->work, &p->kept);
    if (p->is_untold)
        p->first_tag = first; /* till there are streams that have them */
    else
        espi_later_tag(p, first);
    if ((!p->is_untold && espi_later_begin(p)) || make_request(p))
        espi_end_job(p->name, "is out of memory");
    *request = p->request;
    espi_later_go(p);
    return MPI_SUCCESS;
}

/* Others wait for this rank, whatever it lacks. */
int espi_later_start(struct espi_work *w, MPI_Request *request)
{
    struct espi_later *p = espi_later_make(w);
    if (!p)
        espi_end_job(w->kind->later, "is out of memory");
    return espi_later_enter(p, request);
}
