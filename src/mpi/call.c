/* What all collectives share: whose a call is, the run of our program, and what is noted
 * of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"
#include "plan/ops.h"
#include "runtime/tuning.h"

uint64_t espi_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size;
    uint64_t bytes;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) ||
        size <= 0 || __builtin_mul_overflow((uint64_t)count, (uint64_t)size, &bytes) ||
        bytes > (uint64_t)INT64_MAX / 2)
        return 0;
    return bytes;
}

int espi_is_nowhere(const void *at, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size;
    return at == MPI_IN_PLACE ||
           (!at && count > 0 && type != MPI_DATATYPE_NULL &&
            !PMPI_Type_size_x(type, &size) && espi_is_flat(type, size));
}

/* MPICH looks in all collectives, Open MPI in some; both may be told not to. */
int espi_is_alias(const struct espi_call *call, const void *a, const void *b,
                  MPI_Count count)
{
    if (a != b)
        return 0;
#ifdef MPICH_VERSION
    const char *asked = getenv("MPIR_CVAR_COLL_ALIAS_CHECK");
    (void)call;
    return count > 0 && (!asked || strcmp(asked, "1") == 0);
#else
    const char *asked = getenv("OMPI_MCA_mpi_param_check");
    return (call->op == ESP_OP_REDUCE || (call->op == ESP_OP_ALLREDUCE && count > 1)) &&
           (!asked || strcmp(asked, "1") == 0);
#endif
}

double espi_least_bytes(void)
{
    const struct espi_settings *s = &espi_job.settings;
    return s->mode == ESPI_MODE_FORCE || (espi_job.is_wide && !(s->min_bytes > 0)) ? 0
           : s->min_bytes > 0 ? s->min_bytes
                              : ESPI_SHORT_LIMIT_BYTES;
}

int espi_is_short_bytes(double bytes)
{
    return !espi_job.settings.stats[0] && bytes < espi_least_bytes();
}

int espi_is_short(MPI_Count count, MPI_Datatype type)
{
    return espi_is_short_bytes((double)espi_bytes(count, type));
}

static const char *call_name(const struct espi_call *call)
{
    return espi_collective_name(call->which);
}

uint64_t espi_parts(const struct espi_call *call, uint64_t part)
{
    uint64_t bytes;
    if (!call->known || call->size < 2 ||
        __builtin_mul_overflow((uint64_t)(call->size - 1), part, &bytes) ||
        bytes > (uint64_t)INT64_MAX / 2)
        return 0;
    return bytes;
}

void espi_call_open(struct espi_call *call, esp_op op, int root, MPI_Comm comm)
{
    int inter = 1, counted = espi_job.settings.stats[0] != '\0';
    *call = (struct espi_call){.op = op, .root = root, .comm = comm};
    espi_prober_busy(1);
    if (counted || espi_job.settings.advice[0])
        call->start_s = espi_now_s();
    if (comm == MPI_COMM_NULL || root < 0)
        return;
    call->c = espi_job.plans ? espi_comm_of(comm) : NULL;
    if (call->c && call->c->size) {
        call->known = 1;
        call->rank = call->c->rank;
        call->size = call->c->size;
    } else if (call->c || (counted && !PMPI_Comm_test_inter(comm, &inter) && !inter)) {
        call->known =
            !PMPI_Comm_rank(comm, &call->rank) && !PMPI_Comm_size(comm, &call->size);
    }
    if (call->c && (root >= call->size || call->c->whose == ESPI_NATIVE))
        call->c = NULL;
}

/* That what is decided on can be done, on all ranks. */
static void agree_on(const struct espi_call *call, const struct espi_decision *d)
{
    int agreed = d->ours ? d->entry->plan_agreed : d->entry->agreed;
    if (!agreed && call->later)
        espi_agree_later(call->c, d->entry, d->able);
    else if (!agreed)
        espi_agree(call->c, d->entry, d->able);
    else if (!d->able)
        espi_end_job(call_name(call), "is out of memory");
}

/* The clock starts when all is ready: what planning took is no fault of the plan. */
static void begin_trial(struct espi_call *call, const struct espi_decision *d)
{
    struct espi_entry *e = d->entry;
    call->on_trial = espi_trials_is_other(e, &d->turn);
    if (!d->turn.timed || !e->trials.on)
        return;
    if (d->ours && !call->entry) {
        espi_trials_void(e, &d->turn);
        return;
    }
    call->timed = e;
    call->contender = d->turn.contender;
    espi_trials_enter(call);
}

uint64_t espi_program_bytes(const struct espi_call *call, uint64_t largest_part)
{
    uint64_t n = (uint64_t)call->size, bytes;
    uint64_t parts = espi_op_has_parts(call->op)   ? n
                     : espi_op_has_pairs(call->op) ? n * (n - 1)
                                                   : n - 1;
    return __builtin_mul_overflow(largest_part, parts, &bytes) ||
                   bytes > (uint64_t)INT64_MAX / 2
               ? 0
               : bytes;
}

int espi_call_decide(struct espi_call *call, uint64_t bytes, uint64_t largest_part)
{
    uint64_t program_bytes =
        largest_part ? espi_program_bytes(call, largest_part) : bytes;
    call->bytes = bytes;
    if (!call->c || !bytes || (call->is_barrier ? 0 : (double)bytes) < espi_least_bytes())
        return 0;
    if (!program_bytes)
        return 0;
    if (!espi_comm_ask(call->c, call->comm)) {
        call->c = NULL;
        return 0;
    }
    struct espi_decision d = espi_decide(call, bytes, program_bytes);
    agree_on(call, &d);
    call->decided = 1;
    call->ours_s = d.entry->choice.ours_s;
    call->native_s = d.entry->choice.native_s;
    if (d.ours && d.entry->choice.plan)
        call->entry = d.entry;
    begin_trial(call, &d);
    return call->entry != NULL;
}

/* Short messages count as sent when they are in a buffer. With several trees a sender
 * that runs ahead then fills the network with slices in the wrong proportion: trees of
 * little weight get as much of a cable as the others, whose slices are late downstream.
 * In step with the receivers, and with more under way, the order of the plan holds. Long
 * messages lose little by disorder, and something by every wait. */
static void keep_in_step(struct espi_mpi_transport *wire, struct espi_run_options *o,
                         const struct espi_call *call)
{
    if (call->op != ESP_OP_BCAST || call->entry->prog.n_trees < 2 ||
        call->bytes > ESPI_IN_STEP_BYTES)
        return;
    wire->in_step = 1;
    o->window *= ESPI_IN_STEP_WINDOW;
}

/* ---- a rank that cannot do its part ---- */

static void load_nothing(void *arg, int part, uint64_t at, void *to, size_t bytes)
{
    (void)arg, (void)part, (void)at, (void)to, (void)bytes;
}

static void keep_nothing(void *arg, int part, uint64_t at, const void *from, size_t bytes)
{
    (void)arg, (void)part, (void)at, (void)from, (void)bytes;
}

void espi_lose(struct espi_run_options *options)
{
    options->load = load_nothing;
    options->keep = keep_nothing;
    options->combine = NULL;
}

void espi_end_job(const char *collective, const char *why)
{
    fprintf(stderr,
            "espalier: rank %d %s in %s %s in which others wait for it: the job ends; "
            "ESPALIER_MODE=off leaves all to the MPI library\n",
            espi_job.rank, why, espi_article(collective), collective);
    usleep(ESPI_LAST_WORDS_US);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- the run ---- */

struct trip {
    struct espi_run run;
    struct espi_mpi_transport wire;
    struct espi_transport transport;
    struct espi_arena arena;
    struct espi_run_options options;
    struct espi_piggyback piggyback;
    int noted;
};

static int set_out(struct trip *t, const struct espi_call *call, void *data)
{
    if (t->noted) {
        if (espi_piggyback_init(&t->piggyback, call, &t->arena))
            return -1;
        t->wire.piggyback = &t->piggyback;
        t->piggyback.window = t->options.window;
        if (call->rank == call->root)
            espi_piggyback_ask(&t->piggyback, call->c, call->bytes);
    }
    return espi_run_init(&t->run, &call->entry->prog, call->c->rank, call->entry->channel,
                         &t->transport, data, &t->options, &t->arena) ||
                   espi_mpi_transport_reserve(&t->wire, t->run.max_requests, &t->arena)
               ? -1
               : 0;
}

static int go(struct trip *t, const struct espi_call *call, void *data)
{
    int code = MPI_SUCCESS;
    if (set_out(t, call, data)) {
        code = MPI_ERR_NO_MEM;
    } else if (espi_run_progress(&t->run, 1) < 0) {
        code = t->run.error;
        espi_mpi_transport_abandon(t->run.requests, t->run.n_requests);
    } else {
        code = t->wire.error;
    }
    if (t->noted && code != MPI_ERR_NO_MEM) {
        espi_piggyback_report(&t->piggyback, call);
        espi_relay_call(call);
        int adopted = espi_piggyback_adopt(&t->piggyback, call->c);
        code = adopted ? adopted : code;
    }
    return code;
}

/* Advice and reports travel with the messages of a plain run. */
int espi_call_needs_whole(const struct espi_call *call)
{
    return !espi_piggyback_wanted(call) && espi_comm_backup_applies(call->c, call->entry);
}

int espi_call_run(const struct espi_call *call, void *data,
                  const struct espi_run_options *options, int lost)
{
    struct trip t = {.options = *options, .noted = espi_piggyback_wanted(call)};
    int code;
    if (espi_call_needs_whole(call)) {
        code = espi_comm_backup_run(call->c, call->entry, lost ? NULL : data);
    } else {
        t.options.window = espi_job.settings.window;
        espi_arena_init(&t.arena);
        espi_mpi_transport_init(&t.wire, &t.transport, call->c->twin);
        keep_in_step(&t.wire, &t.options, call);
        if (lost)
            espi_lose(&t.options);
        t.wire.error = lost;
        code = go(&t, call, data);
        espi_arena_done(&t.arena);
    }
    if (code == MPI_ERR_NO_MEM && !lost)
        espi_end_job(call_name(call), "is out of memory");
    return lost ? lost : code;
}

int espi_call_close(struct espi_call *call, int ours, int code)
{
    if (call->timed)
        espi_trials_leave(call);
    espi_prober_busy(-1);
    if (espi_job.settings.stats[0] && call->known && !call->is_inner)
        espi_stats_note(call_name(call), call->size, call->bytes,
                        call->entry ? call->entry->choice.plan->algo : "native",
                        espi_now_s() - call->start_s, call->native_s);
    if (!call->is_inner)
        espi_piggyback_outcome(call);
    if (ours && code && !call->is_inner)
        PMPI_Comm_call_errhandler(call->comm, code);
    return code;
}
