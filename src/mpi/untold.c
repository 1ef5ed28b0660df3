/* Non-blocking calls of which not all ranks know how large all parts are (sizes.h). They
 * must not wait till the ranks have told each other, and whose a call is cannot be left
 * till then: the library's own calls have to be made in the same order on all ranks. So
 * it is decided on without the sizes. Two plans are looked for, one for short messages
 * and one for long ones, each with what telling takes. If the library is predicted to be
 * faster for both the call is the library's at once. If it is for one, then where ranks
 * are near each other it is the library's, too: a plan for long messages must not take
 * the short ones. Where they are far apart either way may cost a crossing too many, and
 * the one is taken that is the less wrong in its worst case. Where the user says below
 * which size calls are the library's, these are: any may be below. For a plan the ranks
 * begin to tell each other, and when this rank has heard it compiles the plan that is
 * nearer to what is told, and begins its part. All ranks hear the same, so that they run
 * the same. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/later.h"
#include "mpi/sizes.h"
#include "plan/ops.h"
#include "runtime/tuning.h"

static const uint64_t looked_for[ESPI_UNTOLD_PLANS] = {ESPI_UNTOLD_SHORT_BYTES,
                                                       ESPI_UNTOLD_LONG_BYTES};

/* ---- the plans ---- */

static int is_forced(void)
{
    return espi_job.settings.mode == ESPI_MODE_FORCE;
}

/* May it be one that the user has left to the library? */
static int may_be_left(void)
{
    return !is_forced() && espi_job.settings.min_bytes > 1;
}

/* How many times as long as by the other way a call may take, at worst. */
struct worst {
    double ours, native;
};

/* Nothing is known of a call that plans cannot run. */
static void note_worst(struct worst *worst, const struct espi_call *call)
{
    worst->ours = fmax(worst->ours, call->ours_s > 0 && call->native_s > 0
                                        ? call->ours_s / call->native_s
                                        : INFINITY);
    worst->native = fmax(worst->native, call->native_s / call->ours_s);
}

/* Those of the entries of this call that plans run; are they to do so? All ranks find the
 * same. */
static int find_plans(struct espi_call *call, const struct espi_entry **entries)
{
    struct worst worst = {0, 0};
    int n_found = 0;
    for (int i = 0; i < ESPI_UNTOLD_PLANS; i++) {
        struct espi_call one = *call;
        espi_call_decide(&one, looked_for[i], 0);
        entries[i] = one.entry;
        n_found += one.entry != NULL;
        note_worst(&worst, &one);
    }
    if (n_found == 0 || n_found == ESPI_UNTOLD_PLANS || is_forced())
        return n_found > 0;
    return call->c->longest_way_s >= ESPI_WIDE_S && worst.ours < worst.native;
}

/* Copies: entries may have others by the time they run. Streams, and so tags, do not hang
 * on sizes. 0, or -1: out of memory. */
static int take_plans(struct espi_later *p, const struct espi_entry **entries)
{
    struct esp_err err;
    for (int i = 0; i < ESPI_UNTOLD_PLANS; i++) {
        const struct espi_entry *e = entries[i];
        if (!e)
            continue;
        if (esp_plan_copy(e->choice.plan, &p->plans[i], &err))
            return -1;
        p->n_tags = espi_later_count_tags(e, p->n_tags);
    }
    return 0;
}

static const struct esp_plan *nearer_plan(const struct espi_later *p, uint64_t bytes)
{
    int i = bytes / looked_for[0] > looked_for[1] / (bytes ? bytes : 1);
    return p->plans[i] ? p->plans[i] : p->plans[!i];
}

/* ---- what is told ---- */

static int begin_told(struct espi_later *p)
{
    struct espi_call *call = &p->work->call;
    uint64_t largest, program_bytes;
    call->bytes = espi_sizes_sum(p->work, &largest);
    program_bytes = espi_program_bytes(call, largest);
    if (largest && !(call->bytes && program_bytes))
        espi_end_job(p->name, "has more than it can count");
    espi_count(call->which, ESPI_COUNTED_BYTES, call->bytes);
    /* where there is nothing the messages are empty */
    if (espi_later_compile(p, nearer_plan(p, call->bytes),
                           largest ? program_bytes : espi_program_bytes(call, 1)))
        return -1;
    espi_later_tag(p, p->first_tag);
    return espi_later_begin(p);
}

int espi_untold_hear(struct espi_later *p)
{
    int came;
    if (PMPI_Test(&p->telling, &came, MPI_STATUS_IGNORE))
        espi_end_job(p->name, "does not hear of sizes");
    if (!came)
        return 0;
    p->is_untold = 0;
    if (begin_told(p))
        espi_end_job(p->name, "is out of memory");
    return 1;
}

/* ---- the call ---- */

static int start_untold(struct espi_work *w, const struct espi_entry **entries,
                        MPI_Request *request)
{
    espi_count_call(w->call.which, 0, 1);
    espi_sizes_room(w);
    struct espi_later *p = espi_later_bare(w);
    if (!p || take_plans(p, entries))
        espi_end_job(w->kind->later, "is out of memory");
    p->is_untold = 1;
    espi_sizes_tell(p->work, 1,
                    &(const struct espi_manner){
                        .kind = ESPI_LATER, .request = &p->telling, .is_inner = 1});
    return espi_later_enter(p, request);
}

/* Arguments of which this rank alone can say nothing are wrong: the library says so. */
int espi_untold_do(struct espi_work *w, const struct espi_manner *how)
{
    const struct espi_entry *entries[ESPI_UNTOLD_PLANS];
    struct espi_call *call = &w->call;
    call->tells = 1;
    if (call->c && (call->size < 2 ||
                    (espi_op_has_pairs(call->op) && call->size > ESPI_PAIRS_HOSTS) ||
                    !w->kind->knows_sizes(w)))
        call->c = NULL;
    return call->c && !may_be_left() && find_plans(call, entries)
               ? start_untold(w, entries, how->request)
               : espi_work_do(w, how);
}
