/* Persistent collectives. The plan is chosen, compiled and agreed on by all ranks when
 * the call is made, which may wait for others: a rank that lacks something then leaves
 * the call to the library, on all ranks. A start does what the non-blocking call does
 * after that (later.c), with tags that are this call's alone, so that the order of starts
 * does not matter. Where all tags are taken, and not all ranks have freed all of those
 * calls, new ones are the library's.
 *
 * The user's request is one of the library's own, persistent too: a receive of nothing
 * from this rank itself, which we start with the call, and end by sending that. All
 * functions that wait and test do with it what they should, and nobody but MPI_Start and
 * MPI_Request_free need know that there is more. Where something has gone wrong there is
 * more to receive than there is room for. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "mpi/later.h"
#include "mpi/tags.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct espi_map by_request;
static atomic_int n_all;

/* ---- ours among all requests ---- */

/* MPI requests are an int or a pointer. */
static uint64_t key_of(MPI_Request request)
{
    uint64_t key = 0;
    _Static_assert(sizeof request <= sizeof key, "a request fits into a key");
    memcpy(&key, &request, sizeof request);
    return key;
}

static struct espi_later *init_of(struct espi_map_item *item)
{
    return item ? (struct espi_later *)((char *)item -
                                        offsetof(struct espi_later, by_request))
                : NULL;
}

static struct espi_later *find_init(MPI_Request request)
{
    if (!atomic_load_explicit(&n_all, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&lock);
    struct espi_later *p = init_of(espi_map_find(&by_request, key_of(request)));
    pthread_mutex_unlock(&lock);
    return p;
}

static void list_init(struct espi_later *p)
{
    pthread_mutex_lock(&lock);
    espi_map_put(&by_request, &p->by_request, key_of(p->request));
    atomic_fetch_add(&n_all, 1);
    pthread_mutex_unlock(&lock);
}

static void add_init(struct espi_later *p)
{
    espi_comm_keep(p->c);
    p->n_uses = 1;
    list_init(p);
    pthread_mutex_lock(&lock);
    p->c->n_init++;
    pthread_mutex_unlock(&lock);
}

/* Who gets it has what the user's request had. NULL: not there (any more). */
static struct espi_later *take_init(MPI_Request request)
{
    if (!atomic_load_explicit(&n_all, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&lock);
    struct espi_later *p = init_of(espi_map_take(&by_request, key_of(request)));
    atomic_fetch_sub(&n_all, p != NULL);
    if (by_request.n == 0)
        espi_map_done(&by_request);
    pthread_mutex_unlock(&lock);
    return p;
}

static void use_init(struct espi_later *p)
{
    pthread_mutex_lock(&lock);
    p->n_uses++;
    pthread_mutex_unlock(&lock);
}

/* The last use ends it: no request leads to it any more, and nothing is under way. */
static void unuse_init(struct espi_later *p)
{
    struct espi_comm *c = p->c;
    pthread_mutex_lock(&lock);
    int left = --p->n_uses;
    c->n_init -= !left;
    pthread_mutex_unlock(&lock);
    if (left)
        return;
    espi_later_free(p);
    espi_comm_unkeep(c);
}

/* ---- one that is under way ends ---- */

/* Whoever waits for a request that ends in an error is left with none by Open MPI. */
#ifdef OPEN_MPI
enum { ERRORS_FREE = 1 };
#else
enum { ERRORS_FREE = 0 };
#endif

static void complete_start(struct espi_later *p, int code)
{
    static const char error; /* a byte more than the request has room for */
    struct espi_comm *c = p->c;
    MPI_Request sent;
    if (code && ERRORS_FREE && take_init(p->request))
        unuse_init(p);
    if (code && !c->is_gone)
        PMPI_Comm_call_errhandler(p->work->call.comm, code);
    if (PMPI_Isend(&error, code ? 1 : 0, MPI_BYTE, c->rank, p->first_tag, c->twin, &sent))
        espi_end_job(p->name, "cannot end its request");
    PMPI_Request_free(&sent);
    unuse_init(p); /* it may have been started again meanwhile */
}

/* ---- the call ---- */

/* Do all ranks say yes? The call may wait for them. */
static int vote_on_init(const struct espi_comm *c, int yes)
{
    int all = 0;
    MPI_Request request;
    return !PMPI_Iallreduce(&yes, &all, 1, MPI_INT, MPI_MIN, c->twin, &request) &&
           !espi_mpi_wait(&request) && all;
}

/* Tags of its own, alike on all ranks: from the first again when nobody has any. */
static int find_tags(struct espi_later *p)
{
    struct espi_comm *c = p->c;
    if (c->next_init_tag + p->n_tags > ESPI_INIT_TAGS) {
        if (!vote_on_init(c, c->n_init == 0))
            return -1;
        c->next_init_tag = 0;
    }
    espi_later_tag(p, ESPI_TAG_INIT + c->next_init_tag);
    c->next_init_tag += p->n_tags;
    return 0;
}

static int make_start_request(struct espi_later *p)
{
    return PMPI_Recv_init(NULL, 0, MPI_BYTE, p->c->rank, p->first_tag, p->c->twin,
                          &p->request);
}

int espi_persistent_init(struct espi_work *w, const struct espi_manner *how)
{
    struct espi_later *p = espi_later_make(w);
    int ready = p && espi_keep(p->work, &p->kept) == MPI_SUCCESS;
    if (!vote_on_init(w->call.c, ready) || !p || find_tags(p)) {
        espi_later_free(p);
        return w->kind->native(w, how);
    }
    if (make_start_request(p))
        espi_end_job(w->kind->init, "cannot make a request");
    p->ended = complete_start;
    p->name = w->kind->init;
    add_init(p);
    *how->request = p->request;
    return MPI_SUCCESS;
}

/* ---- its starts, and its end ---- */

/* The library's request first: it knows whether it may be started. */
static int start_init(struct espi_later *p, MPI_Request *request)
{
    int code = PMPI_Start(request);
    if (code)
        return code;
    use_init(p);
    espi_count_call(p->work->call.which, p->work->call.bytes, 1);
    p->work->call.start_s = espi_job.settings.stats[0] ? espi_now_s() : 0;
    if (espi_later_begin(p))
        espi_end_job(p->name, "is out of memory");
    espi_later_go(p);
    return MPI_SUCCESS;
}

int espi_start(MPI_Request *request)
{
    struct espi_later *p = request ? find_init(*request) : NULL;
    return p ? start_init(p, request) : PMPI_Start(request);
}

int espi_start_all(int n, MPI_Request requests[])
{
    int code = MPI_SUCCESS;
    if (!atomic_load_explicit(&n_all, memory_order_acquire))
        return PMPI_Startall(n, requests);
    for (int i = 0; i < n && !code; i++)
        code = espi_start(&requests[i]);
    return code;
}

/* Out of the list first: the library may give the handle to another thread at once. */
int espi_request_free(MPI_Request *request)
{
    struct espi_later *p = request ? take_init(*request) : NULL;
    int code = PMPI_Request_free(request);
    if (p && code)
        list_init(p);
    else if (p)
        unuse_init(p);
    return code;
}
