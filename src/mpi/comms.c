/* Communicators that are ours. Each has a twin with the same ranks in which our messages
 * travel, so that they cannot meet the user's. What we know hangs on the communicator as
 * an attribute, and goes with it.
 *
 * A twin is made by all ranks together. At first this happens when the user's
 * communicator is made, a moment at which the standard lets MPI synchronise the ranks, so
 * that no collective waits for it. That doubles what a communicator costs, and programs
 * that make them by the thousand seldom use them for long messages: from then on only the
 * first call that needs a twin makes it. MPI_COMM_WORLD has a number of those that are
 * made at once, and a communicator gets what its parent has left; all ranks of the parent
 * count alike, since all take part in what is made of it. Where communicators run short
 * twins are given back (scarce.c). Under Open MPI with MPI_THREAD_MULTIPLE only those get
 * one that are made at once and of all ranks of their parent (espi_job.orderly). */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct espi_comm *all;
static int n_twins;
static int n_stray;
static int ending; /* MPI_Finalize has begun: twins are left to it */
_Thread_local int espi_making;

/* Stand for communicators for whose record there was no memory: others may not know yet,
 * or know. */
static struct espi_comm poor = {.whose = ESPI_UNASKED};
static struct espi_comm lost = {.whose = ESPI_NATIVE};

static void list_add(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    c->next = all;
    c->link = &all;
    if (all)
        all->link = &c->next;
    all = c;
    pthread_mutex_unlock(&lock);
}

static void list_remove(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    if (c->link)
        *c->link = c->next;
    if (c->link && c->next)
        c->next->link = c->link;
    c->link = NULL;
    n_twins -= c->whose == ESPI_OURS;
    n_stray -= c->is_stray;
    c->is_stray = 0;
    pthread_mutex_unlock(&lock);
}

/* A place among the twins; 0: there is none left. */
static int take_place(void)
{
    pthread_mutex_lock(&lock);
    int yes = n_twins < ESPI_TWINS_MAX;
    n_twins += yes;
    pthread_mutex_unlock(&lock);
    return yes;
}

static void give_place_back(void)
{
    pthread_mutex_lock(&lock);
    n_twins--;
    pthread_mutex_unlock(&lock);
}

static void free_comm(struct espi_comm *c)
{
    if (!c)
        return;
    for (int i = 0; c->cache && i < ESPI_CACHE; i++) {
        espi_choice_done(&c->cache[i].choice);
        espi_arena_done(&c->cache[i].arena);
        espi_free(c->cache[i].backup);
    }
    for (int i = 0; i < c->n_advised; i++)
        esp_plan_free(c->advised[i].plan);
    espi_rank_platform_done(&c->rank_platform);
    espi_free(c->cache);
    espi_free(c->node);
    espi_free(c->world);
    espi_free(c);
}

/* ---- communicators that calls under way keep ---- */

static struct espi_comm *gone; /* free to go, when it suits us */

void espi_comm_keep(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    c->n_held++;
    pthread_mutex_unlock(&lock);
}

/* Called in the midst of the library's progress, which is no place to free one. */
void espi_comm_unkeep(struct espi_comm *c)
{
    pthread_mutex_lock(&lock);
    if (--c->n_held == 0 && c->is_gone) {
        c->next = gone;
        gone = c;
    }
    pthread_mutex_unlock(&lock);
}

void espi_comm_hold(struct espi_comm *c)
{
    espi_prober_busy(1);
    espi_comm_keep(c);
}

void espi_comm_release(struct espi_comm *c)
{
    espi_prober_busy(-1);
    espi_comm_unkeep(c);
}

/* A twin that was given up and that nothing holds any more; NULL: there is none. */
static struct espi_comm *find_stray(void)
{
    struct espi_comm *c = NULL;
    pthread_mutex_lock(&lock);
    if (n_stray > 0)
        for (c = all; c && !(c->is_stray && c->n_held == 0);)
            c = c->next;
    if (c) {
        c->is_stray = 0;
        n_stray--;
    }
    pthread_mutex_unlock(&lock);
    return c;
}

static void bury(void)
{
    struct espi_comm *c;
    while (!ending && (c = find_stray()))
        PMPI_Comm_free(&c->twin);
    pthread_mutex_lock(&lock);
    c = gone;
    gone = NULL;
    pthread_mutex_unlock(&lock);
    while (c) {
        struct espi_comm *next = c->next;
        if (!ending && c->twin != MPI_COMM_NULL)
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
    if (c == &lost)
        return MPI_SUCCESS;
    espi_trials_end_all(c);
    list_remove(c);
    espi_comm_backup_end(c);
    if (is_held(c))
        return MPI_SUCCESS;
    if (!ending && c->twin != MPI_COMM_NULL)
        PMPI_Comm_free(&c->twin);
    free_comm(c);
    return MPI_SUCCESS;
}

/* ---- what we know of one ---- */

/* Can it be ours? Every rank sees the same. */
static int is_candidate(MPI_Comm comm, int *size)
{
    int inter;
    return !PMPI_Comm_test_inter(comm, &inter) && !inter && !PMPI_Comm_size(comm, size) &&
           *size >= 2;
}

/* A record of it, hung on it. */
static struct espi_comm *note_comm(MPI_Comm comm, int size)
{
    struct espi_comm *c = espi_calloc(1, sizeof *c);
    if (!c)
        return &poor;
    c->user = comm;
    c->twin = MPI_COMM_NULL;
    c->size = size;
    PMPI_Comm_rank(comm, &c->rank);
    list_add(c);
    if (PMPI_Comm_set_attr(comm, espi_job.keyval, c) == MPI_SUCCESS)
        return c;
    list_remove(c);
    espi_free(c);
    return &poor;
}

/* The record that hangs on it, if there is one. */
static struct espi_comm *record_of(MPI_Comm comm)
{
    struct espi_comm *c;
    int found;
    return PMPI_Comm_get_attr(comm, espi_job.keyval, &c, &found) || !found ? NULL : c;
}

struct espi_comm *espi_comm_of(MPI_Comm comm)
{
    struct espi_comm *c = record_of(comm);
    int size;
    if (c || !is_candidate(comm, &size))
        return c;
    return note_comm(comm, size);
}

/* ---- making one ours ---- */

/* The nodes of the ranks, and what they are in the job; -1: without memory. */
static int find_ranks(struct espi_comm *c, MPI_Group group)
{
    int *ranks = ESPI_NEW(int, c->size), *world = ESPI_NEW(int, c->size);
    int bad = !ranks || !world;
    for (int i = 0; i < c->size && !bad; i++)
        ranks[i] = i;
    if (!bad)
        bad = PMPI_Group_translate_ranks(group, c->size, ranks, espi_job.world, world);
    for (int i = 0; i < c->size && !bad; i++)
        if (espi_job.node)
            ranks[i] = espi_job.node[world[i]];
    if (bad) {
        espi_free(ranks);
        espi_free(world);
    } else {
        c->node = ranks;
        c->world = world;
    }
    return bad ? -1 : 0;
}

/* All that this rank needs; 0: it has it. */
static int prepare_comm(struct espi_comm *c, MPI_Group group)
{
    if (c == &poor)
        return -1;
    c->cache = espi_calloc(ESPI_CACHE, sizeof *c->cache);
    for (int i = 0; c->cache && i < ESPI_CACHE; i++)
        c->cache[i].size_class = -1;
    return !c->cache || find_ranks(c, group) || !take_place() ? -1 : 0;
}

/* Are all for it? */
static int vote_on_comm(MPI_Comm comm, int yes)
{
    int all_say = 0;
    if (PMPI_Allreduce(&yes, &all_say, 1, MPI_INT, MPI_MIN, comm))
        return 0;
    return all_say;
}

/* Not by MPI_Comm_dup, which would call the user's functions that copy attributes. And of
 * a group where the user's was: Open MPI waits for ever when some threads make
 * communicators so while others use the usual ways. */
static MPI_Comm make_twin(MPI_Comm comm, MPI_Group group, int by_group)
{
    MPI_Comm twin = MPI_COMM_NULL;
    int code = by_group ? PMPI_Comm_create_group(comm, group, 0, &twin)
                        : PMPI_Comm_create(comm, group, &twin);
    if (code || twin == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    return twin;
}

/* The twin is made before anybody knows whether all can use it: one vote is enough. */
static int try_to_take(struct espi_comm *c, MPI_Comm comm, MPI_Group group)
{
    int ready = prepare_comm(c, group) == 0;
    MPI_Comm twin = make_twin(comm, group, c->by_group);
    if (vote_on_comm(comm, ready && twin != MPI_COMM_NULL) && ready) {
        c->twin = twin;
        return 1;
    }
    if (twin != MPI_COMM_NULL)
        PMPI_Comm_free(&twin);
    if (ready)
        give_place_back();
    return 0;
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

static int take_comm(struct espi_comm *c, MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Group group;
    int taken = 0;
    if (PMPI_Comm_group(comm, &group))
        return 0;
    if (is_of_world(group) && !PMPI_Comm_get_errhandler(comm, &handler)) {
        /* What goes wrong here is not the user's business. */
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        taken = try_to_take(c, comm, group);
        PMPI_Comm_set_errhandler(comm, handler);
        PMPI_Errhandler_free(&handler);
    }
    PMPI_Group_free(&group);
    return taken;
}

/* wanted: 0: it is left to the library, on all ranks. */
static int ask_of_all(struct espi_comm *c, MPI_Comm comm, int wanted)
{
    if (c->whose != ESPI_UNASKED)
        return c->whose == ESPI_OURS;
    bury();
    int taken = wanted && take_comm(c, comm);
    if (c == &poor)
        PMPI_Comm_set_attr(comm, espi_job.keyval, &lost);
    else
        c->whose = taken ? ESPI_OURS : ESPI_NATIVE;
    return taken;
}

int espi_comm_ask(struct espi_comm *c, MPI_Comm comm)
{
    return ask_of_all(c, comm, !espi_job.orderly);
}

/* ---- communicators come and go ---- */

void espi_comm_made(MPI_Comm parent, MPI_Comm fresh)
{
    struct espi_comm *from, *c;
    int size;
    if (!espi_job.plans || espi_making)
        return;
    bury();
    from = record_of(parent);
    if (!from || from->at_once <= 0)
        return;
    from->at_once--;
    if (fresh == MPI_COMM_NULL || !is_candidate(fresh, &size) || record_of(fresh))
        return;
    c = note_comm(fresh, size);
    if (ask_of_all(c, fresh, !espi_job.orderly || size == from->size))
        c->at_once = from->at_once;
}

void espi_comm_made_of_group(MPI_Comm fresh)
{
    int size;
    if (!espi_job.plans || espi_making || fresh == MPI_COMM_NULL)
        return;
    bury();
    struct espi_comm *c = is_candidate(fresh, &size) ? note_comm(fresh, size) : &poor;
    if (c != &poor)
        c->by_group = 1;
}

/* Are all ranks of the one among those of the other? */
static int is_within(const struct espi_comm *c, MPI_Group group)
{
    MPI_Group own, common;
    int n = 0;
    if (PMPI_Comm_group(c->twin, &own))
        return 0;
    if (!PMPI_Group_intersection(own, group, &common)) {
        PMPI_Group_size(common, &n);
        if (common != MPI_GROUP_EMPTY)
            PMPI_Group_free(&common);
    }
    PMPI_Group_free(&own);
    return n == c->size;
}

/* Takes those that are to be given up out of the list. */
static struct espi_comm *take_out(MPI_Group group, int world)
{
    const struct espi_comm *job = record_of(MPI_COMM_WORLD);
    struct espi_comm *taken = NULL, *next;
    for (struct espi_comm *c = all; c; c = next) {
        next = c->next;
        if (c->whose != ESPI_OURS || (c == job && (!world || espi_relay_is_active())) ||
            !is_within(c, group))
            continue;
        list_remove(c);
        c->next = taken;
        taken = c;
    }
    return taken;
}

void espi_comms_give_back(MPI_Comm comm, MPI_Group group, int world)
{
    struct espi_comm *taken, *next;
    if (comm == MPI_COMM_NULL && espi_backup_is_offered())
        return;
    taken = take_out(group, world);
    espi_comm_backup_finish(taken, comm);
    for (struct espi_comm *c = taken; c; c = next) {
        next = c->next;
        espi_trials_end_all(c);
        c->whose = ESPI_NATIVE;
        c->at_once = 0;
        list_add(c);
        pthread_mutex_lock(&lock);
        c->is_stray = 1; /* calls that are under way keep it for so long */
        n_stray++;
        pthread_mutex_unlock(&lock);
    }
    bury();
}

int espi_comms_begin(void)
{
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &espi_job.keyval,
                                   NULL);
}

void espi_comms_take_world(void)
{
    struct espi_comm *c = espi_comm_of(MPI_COMM_WORLD);
    if (!ask_of_all(c, MPI_COMM_WORLD, 1))
        return;
    c->at_once = ESPI_TWINS_AT_ONCE;
    espi_relay_begin(c->twin);
}

void espi_comms_end_trials(void)
{
    for (struct espi_comm *c = all; c; c = c->next)
        espi_trials_end_all(c);
}

/* The world's twin is freed while that is allowed; those of communicators that the user
 * has not freed go the way of these. */
void espi_comms_end(void)
{
    const struct espi_comm *world = record_of(MPI_COMM_WORLD);
    bury();
    espi_comm_backup_finish(all, world && world->whose == ESPI_OURS ? world->twin
                                                                    : MPI_COMM_NULL);
    if (world)
        PMPI_Comm_delete_attr(MPI_COMM_WORLD, espi_job.keyval);
    ending = 1;
    while (all) {
        struct espi_comm *c = all;
        PMPI_Comm_delete_attr(c->user, espi_job.keyval);
        if (all == c)
            list_remove(c); /* it failed: the library may yet come by */
    }
    PMPI_Comm_free_keyval(&espi_job.keyval);
}
