/* Broadcasts in which ranks help each other (exec/rescue.h), on a communicator. What
 * lasts from call to call hangs on the communicator, and is cleared away with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/units.h"
#include "cost/cost.h"
#include "exec/rescue.h"
#include "exec/slow.h"
#include "mpi/shim.h"
#include "runtime/backup_senders.h"

/* Late by less is not worth a message: so long may an operating system let a rank wait
 * for its turn, and so much of the whole does not matter. */
#define GRACE_S    5e-3
#define GRACE_PART 0.1

struct espi_help {
    struct espi_mpi_transport wire;
    struct espi_transport plain;
    struct espi_slow *slow; /* or NULL */
    struct espi_helpline *line;
    MPI_Request requests[ESPI_TRANSPORT_CHUNK];
    MPI_Status statuses[ESPI_TRANSPORT_CHUNK];
};

/* ---- what is the same in all calls of an entry ---- */

/* Helpers and forecast; without them the entry is run without help. */
static void find_helpers(const struct espi_comm *c, struct espi_entry *e)
{
    const struct esp_plan *plan = e->choice.plan;
    const struct esp_platform *p = c->rank_platform.p;
    double size = plan->size_bytes, slice = plan->slice_bytes;
    int n = esp_platform_node_count(p);
    struct espi_arena arena;
    struct espi_cost cost;
    struct esp_err err;
    e->helper = ESPI_NEW(int, n);
    espi_arena_init(&arena);
    esp_status st = e->helper ? ESP_OK : ESP_ENOMEM;
    if (!st)
        st = espi_find_backup_senders(p, plan, slice > 0 ? slice : size, e->helper, &err);
    if (!st)
        st = espi_plan_cost(p, plan, size, slice, &arena, &cost, &err);
    if (!st) {
        e->first_s = cost.fill_s;
        e->period_s = cost.period_s;
    } else if (st != ESP_ENOMEM) {
        e->no_help = 1; /* for the same reason on all ranks */
    } else {
        for (int i = 0; e->helper && i < n; i++)
            e->helper[i] = -1; /* asks nobody, but helps others */
    }
    espi_arena_done(&arena);
}

int espi_help_is_offered(void)
{
    const struct espi_settings *s = &espi_job.settings;
    return espi_job.net && (s->patience > 0 || s->slow[0]);
}

int espi_help_applies(struct espi_comm *c, struct espi_entry *e)
{
    if (!espi_help_is_offered() || e->op != ESP_OP_BCAST || e->no_help ||
        !espi_rescue_applies(&e->prog))
        return 0;
    if (!e->helper)
        find_helpers(c, e);
    return !e->no_help;
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

static struct espi_help *make_help(const struct espi_comm *c)
{
    struct espi_help *h = espi_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    espi_mpi_transport_init(&h->wire, &h->plain, c->twin);
    h->wire.any_size = 1;
    h->wire.requests = h->requests;
    h->wire.statuses = h->statuses;
    h->line = espi_helpline_create(c->size);
    if (espi_job.settings.slow[0])
        h->slow = espi_slow_create(&h->plain, c->size);
    if (!h->line || (espi_job.settings.slow[0] && !h->slow)) {
        espi_helpline_free(h->line);
        espi_slow_free(h->slow);
        espi_free(h);
        return NULL;
    }
    if (h->slow)
        slow_down(h->slow, c);
    return h;
}

static const struct espi_transport *transport_of(const struct espi_help *h)
{
    return h->slow ? espi_slow_transport(h->slow) : &h->plain;
}

/* Takes what is still under way, so that nothing is left on the twin. Collective. */
static void drain(struct espi_comm *c)
{
    struct espi_help *h = c->help;
    int piggyback = 0;
    if (PMPI_Reduce_scatter_block(h->line->notes_sent, &piggyback, 1, MPI_INT, MPI_SUM,
                                  c->twin) == MPI_SUCCESS)
        espi_helpline_drain(h->line, transport_of(h), piggyback);
}

/* What is still under way is the library's to clear away. */
static void discard(struct espi_comm *c)
{
    struct espi_help *h = c->help;
    if (h && h->line->n_requests == 0) {
        espi_helpline_free(h->line);
        espi_slow_free(h->slow);
        espi_free(h);
    }
    c->help = NULL;
}

void espi_help_end(struct espi_comm *c)
{
    if (c->help)
        drain(c);
    discard(c);
}

/* ---- the end of the job ---- */

/* Ranks that all are here have cleared away what is under way between them in a moment;
 * who is not done by then is broken. Between rounds they let each other, and slow links,
 * have time. */
#define END_S    10.0
#define ROUNDS   (1 << 16)
#define PAUSE_US 1000

/* Looks at all once; *left: what is under way then. */
static int sweep(const struct espi_comm *all, int64_t *left)
{
    int count = 0, code = 0;
    *left = 0;
    for (const struct espi_comm *c = all; c && !code; c = c->next)
        if (c->help) {
            code = espi_helpline_sweep(c->help->line, &count);
            *left += espi_helpline_left(c->help->line);
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
    for (int round = 0; round < ROUNDS; round++) {
        int64_t mine[TERMS], sums[TERMS];
        int code = sweep(all, &mine[LEFT]);
        mine[STOP] = code || (round && espi_now_s() > end_s);
        if (PMPI_Allreduce(mine, sums, TERMS, MPI_INT64_T, MPI_SUM, job) || sums[STOP] ||
            sums[LEFT] == 0)
            return;
        if (round)
            usleep(round < PAUSE_US ? (useconds_t)round : PAUSE_US);
        else
            end_s = espi_now_s() + END_S; /* from now on all are here */
    }
}

void espi_help_finish(struct espi_comm *all, MPI_Comm job)
{
    if (!espi_help_is_offered())
        return;
    for (struct espi_comm *c = all; c; c = c->next)
        if (c->help)
            espi_helpline_close(c->help->line, transport_of(c->help));
    if (job != MPI_COMM_NULL)
        drain_all(all, job);
    for (struct espi_comm *c = all; c; c = c->next)
        discard(c);
}

/* ---- the run ---- */

static void tell(const struct espi_rescue_count *n)
{
    if (espi_job.settings.log >= ESPI_LOG_DEBUG && n->asked + n->spared + n->answers > 0)
        fprintf(stderr,
                "espalier: rank %d: asked for help %lld times: %lld slices of use, %lld "
                "not; sent %lld as a helper, left out %lld\n",
                espi_job.rank, (long long)n->asked, (long long)n->helped,
                (long long)n->wasted, (long long)n->answers, (long long)n->spared);
}

static int run(struct espi_comm *c, const struct espi_entry *e, void *data)
{
    struct espi_help *h = c->help;
    struct espi_rescue rescue;
    struct espi_arena arena;
    double all_s = e->first_s + e->period_s * (double)e->prog.n_slices;
    struct espi_rescue_options options = {.window = espi_job.settings.window,
                                          .helper = -1,
                                          .first_s = e->first_s,
                                          .period_s = e->period_s,
                                          .patience = espi_job.settings.patience,
                                          .grace_s = GRACE_S + GRACE_PART * all_s};
    if (e->helper && options.patience > 0)
        options.helper = e->helper[c->rank];
    h->wire.error = MPI_SUCCESS;
    espi_arena_init(&arena);
    espi_helpline_begin(h->line, transport_of(h));
    int code = espi_rescue_run(&rescue, &e->prog, c->rank, e->channel, h->line, data,
                               &options, &arena);
    espi_arena_done(&arena);
    tell(&rescue.count);
    if (code == ESPI_RESCUE_SIZES)
        return MPI_ERR_COUNT;
    return code < 0 ? MPI_ERR_NO_MEM : code ? code : h->wire.error;
}

int espi_help_run(struct espi_comm *c, const struct espi_entry *e, void *data)
{
    if (!c->help)
        c->help = make_help(c);
    return c->help ? run(c, e, data) : MPI_ERR_NO_MEM;
}
