/* Communicators that are ours. Each has a twin with the same ranks in which our messages
 * travel, so that they cannot meet the user's. It is made when the user's communicator
 * is, by all of its ranks, at a moment at which the standard lets MPI synchronise them;
 * never inside a broadcast. What we know hangs on the communicator as an attribute, and
 * goes with it. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"

/* MPI libraries run out of communicators at about two thousand: leave most to the user.
 */
enum { TWINS_MAX = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct espi_comm *all;
static int n_twins;
static int ending; /* MPI_Finalize has begun: twins are left to it */

static void list_add(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    c->next = all;
    c->link = &all;
    if (all)
        all->link = &c->next;
    all = c;
    n_twins++;
    pthread_mutex_unlock(&lock);
}

static void list_remove(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    n_twins--;
    pthread_mutex_unlock(&lock);
}

static int may_have_more(void)
{
    pthread_mutex_lock(&lock);
    int yes = n_twins < TWINS_MAX;
    pthread_mutex_unlock(&lock);
    return yes;
}

static void free_comm(struct espi_comm *c)
{
    if (!c)
        return;
    for (int i = 0; i < ESPI_CACHE; i++) {
        espi_choice_done(&c->cache[i].choice);
        espi_arena_done(&c->cache[i].arena);
        espi_free(c->cache[i].helper);
    }
    for (int i = 0; i < c->n_advised; i++)
        esp_plan_free(c->advised[i].plan);
    espi_team_done(&c->team);
    espi_free(c->node);
    espi_free(c);
}

/* ---- communicators that calls under way keep ---- */

static struct espi_comm *gone; /* free to go, when it suits us */

void espi_comm_hold(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    c->n_held++;
    pthread_mutex_unlock(&lock);
}

/* Called in the midst of the library's progress, which is no place to free one. */
void espi_comm_release(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    if (--c->n_held == 0 && c->is_gone) {
        c->next = gone;
        gone = c;
    }
    pthread_mutex_unlock(&lock);
}

static void bury(void)
{
    pthread_mutex_lock(&lock);
    struct espi_comm *c = gone;
    gone = NULL;
    pthread_mutex_unlock(&lock);
    while (c) {
        struct espi_comm *next = c->next;
        if (!ending)
            PMPI_Comm_free(&c->twin);
        free_comm(c);
        c = next;
    }
}

/* Is something still under way there? */
static int is_held(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    int held = c->n_held > 0;
    c->is_gone = held;
    pthread_mutex_unlock(&lock);
    return held;
}

/* Called by MPI when the communicator is freed, on all of its ranks. */
static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct espi_comm *c = value;
    (void)comm;
    (void)keyval;
    (void)extra;
    list_remove(c);
    espi_help_end(c, !ending);
    if (is_held(c))
        return MPI_SUCCESS;
    if (!ending)
        PMPI_Comm_free(&c->twin);
    free_comm(c);
    return MPI_SUCCESS;
}

int espi_comms_begin(void)
{
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &espi_job.keyval,
                                   NULL);
}

/* The world's twin is freed while that is allowed; those of communicators that the user
 * has not freed go the way of these. */
void espi_comms_end(void)
{
    bury();
    if (espi_comm_of(MPI_COMM_WORLD))
        PMPI_Comm_delete_attr(MPI_COMM_WORLD, espi_job.keyval);
    ending = 1;
    while (all)
        PMPI_Comm_delete_attr(all->user, espi_job.keyval);
    PMPI_Comm_free_keyval(&espi_job.keyval);
}

struct espi_comm *espi_comm_of(MPI_Comm comm)
{
    struct espi_comm *c;
    int found;
    if (PMPI_Comm_get_attr(comm, espi_job.keyval, &c, &found) || !found)
        return NULL;
    return c;
}

/* ---- making one ours ---- */

/* The nodes of the ranks; -1 when one is not of our world, or without memory. */
static int find_ranks(struct espi_comm *c, MPI_Group group)
{
    int *ranks = ESPI_NEW(int, c->size), *world = ESPI_NEW(int, c->size);
    int bad = !ranks || !world;
    for (int i = 0; i < c->size && !bad; i++)
        ranks[i] = i;
    if (!bad)
        bad = PMPI_Group_translate_ranks(group, c->size, ranks, espi_job.world, world);
    for (int i = 0; i < c->size && !bad; i++) {
        bad = world[i] == MPI_UNDEFINED;
        if (!bad && espi_job.node)
            ranks[i] = espi_job.node[world[i]];
    }
    espi_free(world);
    if (bad)
        espi_free(ranks);
    else
        c->node = ranks;
    return bad ? -1 : 0;
}

static struct espi_comm *new_comm(MPI_Comm comm, int size, MPI_Group group)
{
    struct espi_comm *c = espi_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->user = comm;
    c->twin = MPI_COMM_NULL;
    c->size = size;
    PMPI_Comm_rank(comm, &c->rank);
    for (int i = 0; i < ESPI_CACHE; i++)
        c->cache[i].size_class = -1;
    if (find_ranks(c, group) == 0)
        return c;
    free_comm(c);
    return NULL;
}

/* Are all for it? */
static int vote(MPI_Comm comm, int yes)
{
    int all_say = 0;
    if (PMPI_Allreduce(&yes, &all_say, 1, MPI_INT, MPI_MIN, comm))
        return 0;
    return all_say;
}

/* How the user's communicator was made, where the twin is better made likewise: Open MPI
 * waits for ever when some threads make communicators of groups while others use the
 * usual ways. */
struct origin {
    MPI_Comm parent; /* MPI_COMM_NULL: of no account */
    int tag;
};

/* Not by MPI_Comm_dup, which would call the user's functions that copy attributes. */
static MPI_Comm make_twin(MPI_Comm comm, MPI_Group group, const struct origin *origin)
{
    MPI_Comm twin = MPI_COMM_NULL;
    int code = origin->parent == MPI_COMM_NULL
                   ? PMPI_Comm_create(comm, group, &twin)
                   : PMPI_Comm_create_group(origin->parent, group, origin->tag, &twin);
    if (code || twin == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    return twin;
}

/* The twin is made before anybody knows whether all can use it: one vote is enough. */
static void try_to_adopt(MPI_Comm comm, int size, MPI_Group group,
                         const struct origin *origin)
{
    struct espi_comm *c = may_have_more() ? new_comm(comm, size, group) : NULL;
    MPI_Comm twin = make_twin(comm, group, origin);
    if (vote(comm, c && twin != MPI_COMM_NULL) && c) {
        c->twin = twin;
        list_add(c);
        if (PMPI_Comm_set_attr(comm, espi_job.keyval, c) == MPI_SUCCESS)
            return;
        list_remove(c); /* not ours on this rank: nothing must be on any */
    }
    if (twin != MPI_COMM_NULL)
        PMPI_Comm_free(&twin);
    free_comm(c);
}

/* Is it worth a vote? Every rank sees the same. */
static int is_candidate(MPI_Comm comm, int *size)
{
    int inter;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) || inter)
        return 0;
    return !PMPI_Comm_size(comm, size) && *size >= 2 && !espi_comm_of(comm);
}

/* Is everyone of our world? Then everyone has voted like us to be here. */
static int is_of_world(MPI_Group group)
{
    MPI_Group both;
    int size, common;
    if (PMPI_Group_intersection(group, espi_job.world, &both))
        return 0;
    PMPI_Group_size(group, &size);
    PMPI_Group_size(both, &common);
    if (both != MPI_GROUP_EMPTY)
        PMPI_Group_free(&both);
    return size == common;
}

static void adopt(MPI_Comm comm, const struct origin *origin)
{
    MPI_Errhandler handler;
    MPI_Group group;
    int size;
    if (!espi_job.plans)
        return;
    bury();
    if (!is_candidate(comm, &size) || PMPI_Comm_group(comm, &group))
        return;
    if (is_of_world(group) && !PMPI_Comm_get_errhandler(comm, &handler)) {
        /* What goes wrong here is not the user's business. */
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        try_to_adopt(comm, size, group, origin);
        PMPI_Comm_set_errhandler(comm, handler);
        PMPI_Errhandler_free(&handler);
    }
    PMPI_Group_free(&group);
}

void espi_adopt(MPI_Comm comm)
{
    struct origin origin = {MPI_COMM_NULL, 0};
    adopt(comm, &origin);
}

void espi_adopt_group(MPI_Comm comm, MPI_Comm parent, int tag)
{
    struct origin origin = {parent, tag};
    adopt(comm, &origin);
}
