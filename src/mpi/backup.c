/* Broadcasts with backup senders (exec/backup.h), on a communicator. What lasts from call
 * to call hangs on the communicator, and is cleared away with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/units.h"
#include "cost/cost.h"
#include "exec/backup.h"
#include "exec/slow.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"
#include "runtime/backup_senders.h"

struct espi_comm_backup {
    struct espi_mpi_transport wire;
    struct espi_transport plain;
    struct espi_slow *slow; /* or NULL */
    struct espi_backup_session *session;
    MPI_Request requests[ESPI_TRANSPORT_CHUNK];
    MPI_Status statuses[ESPI_TRANSPORT_CHUNK];
};

/* ---- what is the same in all calls of an entry ---- */

/* Backup senders and forecast; without them the entry is run as the program has it. */
static void find_backups(const struct espi_comm *c, struct espi_entry *e)
{
    const struct esp_plan *plan = e->choice.plan;
    const struct esp_platform *p = c->rank_platform.p;
    double size = plan->size_bytes, slice = plan->slice_bytes;
    int n = esp_platform_node_count(p);
    struct espi_arena arena;
    struct espi_cost cost;
    struct esp_err err;
    e->backup = ESPI_NEW(int, n);
    espi_arena_init(&arena);
    esp_status st = e->backup ? ESP_OK : ESP_ENOMEM;
    if (!st)
        st = espi_find_backup_senders(p, plan, slice > 0 ? slice : size, e->backup, &err);
    if (!st)
        st = espi_plan_cost(p, plan, size, slice, &arena, &cost, &err);
    if (!st) {
        e->first_s = cost.fill_s;
        e->period_s = cost.period_s;
    } else if (st != ESP_ENOMEM) {
        e->no_backup = 1; /* for the same reason on all ranks */
    } else {
        for (int i = 0; e->backup && i < n; i++)
            e->backup[i] = -1; /* asks nobody, but sends to others */
    }
    espi_arena_done(&arena);
}

int espi_backup_is_offered(void)
{
    const struct espi_settings *s = &espi_job.settings;
    return espi_job.net && (s->patience > 0 || s->slow[0]);
}

int espi_comm_backup_applies(struct espi_comm *c, struct espi_entry *e)
{
    if (!espi_backup_is_offered() || e->op != ESP_OP_BCAST || e->no_backup ||
        !espi_backup_applies(&e->prog))
        return 0;
    if (!e->backup)
        find_backups(c, e);
    return !e->no_backup;
}

/* ---- what lasts ---- */

/* "0>3=1MB/s,...": the links from this rank that are to be slow, for trials. */
static void slow_down(struct espi_slow *slow, const struct espi_comm *c)
{
    const char *at = espi_job.settings.slow;
    while (*at) {
        struct espi_slow_setting s;
        size_t length = strcspn(at, ",");
        int mine =
            espi_slow_parse(at, length, &s) == 0 && (s.from < 0 || s.from == c->rank);
        for (int to = 0; mine && to < c->size; to++)
            if (s.to < 0 || s.to == to)
                espi_slow_link(slow, to, s.bandwidth_Bps);
        at += length + (at[length] == ',');
    }
}

static struct espi_comm_backup *make_comm_backup(const struct espi_comm *c)
{
    struct espi_comm_backup *h = espi_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    espi_mpi_transport_init(&h->wire, &h->plain, c->twin);
    h->wire.any_size = 1;
    h->wire.requests = h->requests;
    h->wire.statuses = h->statuses;
    h->session = espi_backup_session_create(c->size);
    if (espi_job.settings.slow[0])
        h->slow = espi_slow_create(&h->plain, c->size);
    if (!h->session || (espi_job.settings.slow[0] && !h->slow)) {
        espi_backup_session_free(h->session);
        espi_slow_free(h->slow);
        espi_free(h);
        return NULL;
    }
    if (h->slow)
        slow_down(h->slow, c);
    return h;
}

static const struct espi_transport *transport_of(const struct espi_comm_backup *h)
{
    return h->slow ? espi_slow_transport(h->slow) : &h->plain;
}

/* Takes what is still under way, so that nothing is left on the twin. Collective. */
static void drain_comm(struct espi_comm *c)
{
    struct espi_comm_backup *h = c->backup;
    int notes = 0;
    if (PMPI_Reduce_scatter_block(h->session->notes_sent, &notes, 1, MPI_INT, MPI_SUM,
                                  c->twin) == MPI_SUCCESS)
        espi_backup_session_drain(h->session, transport_of(h), notes);
}

/* What is still under way is the library's to clear away. */
static void discard_backup(struct espi_comm *c)
{
    struct espi_comm_backup *h = c->backup;
    if (h && h->session->n_requests == 0) {
        espi_backup_session_free(h->session);
        espi_slow_free(h->slow);
        espi_free(h);
    }
    c->backup = NULL;
}

void espi_comm_backup_end(struct espi_comm *c)
{
    if (c->backup)
        drain_comm(c);
    discard_backup(c);
}

/* ---- the end of the job ---- */

/* Ranks that all are here have cleared away what is under way between them in a moment;
 * who is not done by ESPI_FINALIZE_S is broken. Between rounds they let each other, and
 * slow links, have time. */

/* Looks at all once; *left: what is under way then. */
static int sweep_all(const struct espi_comm *all, int64_t *left)
{
    int count = 0, code = 0;
    *left = 0;
    for (const struct espi_comm *c = all; c && !code; c = c->next)
        if (c->backup) {
            code = espi_backup_session_sweep(c->backup->session, &count);
            *left += espi_backup_session_left(c->backup->session);
        }
    return code;
}

/* Communicators that the user has not freed, each rank in its own order: nobody waits for
 * one of them, but all ranks of the job look at theirs until nothing is left on any.
 * Whether they go on follows from sums that all have. */
static void drain_all(const struct espi_comm *all, MPI_Comm job)
{
    enum { LEFT, STOP, TERMS };
    double end_s = 0;
    for (int round = 0; round < ESPI_SWEEP_ROUNDS; round++) {
        int64_t mine[TERMS], sums[TERMS];
        int code = sweep_all(all, &mine[LEFT]);
        mine[STOP] = code || (round && espi_now_s() > end_s);
        if (PMPI_Allreduce(mine, sums, TERMS, MPI_INT64_T, MPI_SUM, job) || sums[STOP] ||
            sums[LEFT] == 0)
            return;
        if (round)
            usleep(round < ESPI_SWEEP_PAUSE_US ? (useconds_t)round : ESPI_SWEEP_PAUSE_US);
        else
            end_s = espi_now_s() + ESPI_FINALIZE_S; /* from now on all are here */
    }
}

void espi_comm_backup_finish(struct espi_comm *all, MPI_Comm job)
{
    if (!espi_backup_is_offered())
        return;
    for (struct espi_comm *c = all; c; c = c->next)
        if (c->backup)
            espi_backup_session_close(c->backup->session, transport_of(c->backup));
    if (job != MPI_COMM_NULL)
        drain_all(all, job);
    for (struct espi_comm *c = all; c; c = c->next)
        discard_backup(c);
}

/* ---- the run ---- */

static void tell_count(const struct espi_backup_count *n)
{
    if (espi_job.settings.log >= ESPI_LOG_DEBUG && n->asked + n->spared + n->answers > 0)
        fprintf(
            stderr,
            "espalier: rank %d: asked its backup %lld times: %lld slices of use, %lld "
            "not; sent %lld as a backup, left out %lld\n",
            espi_job.rank, (long long)n->asked, (long long)n->helped,
            (long long)n->wasted, (long long)n->answers, (long long)n->spared);
}

/* When it is over, whatever is still under way of the program is given up. Requests of a
 * slowed transport are not MPI's. */
static int run_program(struct espi_comm_backup *h, struct espi_run *run,
                       const struct espi_backup *b)
{
    if (espi_run_progress(run, 1) == 1)
        return b->broken ? MPI_ERR_COUNT : h->wire.error;
    if (!h->slow)
        espi_mpi_transport_abandon(run->requests, run->n_requests);
    return run->error < 0 ? MPI_ERR_NO_MEM : run->error;
}

static int run_with_backup(struct espi_comm *c, const struct espi_entry *e, void *data)
{
    struct espi_comm_backup *h = c->backup;
    double all_s = e->first_s + e->period_s * (double)e->prog.n_slices;
    struct espi_backup_options options = {.sender = -1,
                                          .first_s = e->first_s,
                                          .period_s = e->period_s,
                                          .patience = espi_job.settings.patience,
                                          .grace_s =
                                              ESPI_GRACE_S + ESPI_GRACE_PART * all_s};
    struct espi_backup backup;
    struct espi_run_options o = {.window = espi_job.settings.window,
                                 .policy = &backup.policy};
    struct espi_arena arena;
    struct espi_run run;
    int code = MPI_ERR_NO_MEM;
    if (e->backup && options.patience > 0)
        options.sender = e->backup[c->rank];
    h->wire.error = MPI_SUCCESS;
    espi_arena_init(&arena);
    espi_backup_session_begin(h->session, transport_of(h));
    if (!espi_backup_init(&backup, &e->prog, c->rank, h->session, data, &options,
                          &arena) &&
        !espi_run_init(&run, &e->prog, c->rank, e->channel, transport_of(h), data, &o,
                       &arena))
        code = run_program(h, &run, &backup);
    espi_backup_done(&backup);
    espi_arena_done(&arena);
    tell_count(&backup.count);
    return code;
}

int espi_comm_backup_run(struct espi_comm *c, const struct espi_entry *e, void *data)
{
    if (!c->backup)
        c->backup = make_comm_backup(c);
    return c->backup ? run_with_backup(c, e, data) : MPI_ERR_NO_MEM;
}
