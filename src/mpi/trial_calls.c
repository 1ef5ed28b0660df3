/* Trials of the calls of an entry (runtime/trials.h): who runs which, what is timed, and
 * how the ranks agree on it.
 *
 * Agreement. Each rank has its own times; what the record is told is the maximum over all
 * of them, by one short reduction on the twin. It starts when a rank leaves the call and
 * is waited for at the next one of the entry. So no rank ever waits in a call for others
 * to come to it: programs that rely on a broadcast not synchronising run as before, only
 * that for the few calls that are timed nobody may be two calls ahead. The first call is
 * not told of before the second: a program that makes one sends nothing.
 *
 * What a call took. A rank that leaves a call early, the root of a broadcast say, waits
 * in the next one for those that are still in the first, and ranks that compute longer
 * than others let all of them wait. Neither is the fault of the way that is tried. The
 * first is kept out by the reduction: when it is over all have left the call before. For
 * the second the ranks tell three numbers each: how long they were in the call, by a
 * clock that does not jump, and when they came and left by the clock on the wall. The
 * longest stay bounds what the call took from above; the last leaving less the last
 * coming is what it took from when all were there, and bounds it from below. Where clocks
 * on the wall differ between machines the latter is the stay of the rank whose clock is
 * ahead: no more than the former, and what it is compared with is wrong alike. Where they
 * differ by no more than a call takes, it is what the user waited for.
 *
 * The first call of a way on a communicator may be slow for what is done once: libraries
 * connect two ranks when they first talk. It does not decide against the way.
 *
 * Reductions that round are no matter of trials, unless the user says so: their last bits
 * would change with the way, from one call to the next.
 *
 * Sizes. An entry serves all sizes of a class; those are compared that are about equal.
 *
 * Where ranks tell each other sizes before a call (sizes.h) that is a part of what a plan
 * takes, and its clock begins before it. The library needs none of it. So when it is its
 * turn the call goes the way of the favourite, and the next one, of whatever size, is the
 * library's, and timed, and nobody tells anything before it. Whether it was of that size
 * the ranks say in the agreement on its time: those that know. If one says no, it does
 * not count, and from then on such calls are timed where sizes are told, with the
 * telling: a program whose sizes vary so needs it, whoever makes a call.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/shim.h"
#include "mpi/tuning.h"
#include "runtime/agreement.h"

/* What this job has learned, on rank 0. It is apart from what all ranks know of jobs
 * before: they have to expect the same. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct espi_learned fresh;

/* ---- are there any? ---- */

static int is_on_one_machine(const struct espi_comm *c)
{
    for (int i = 1; i < c->size; i++)
        if (c->node[i] != c->node[0])
            return 0;
    return 1;
}

/* Alike on all ranks. */
static int are_wanted(const struct espi_comm *c, const struct espi_entry *e)
{
    const struct espi_settings *s = &espi_job.settings;
    int advised = s->advice[0] && e->op == ESP_OP_BCAST && c->size == espi_job.n;
    return s->mode == ESPI_MODE_AUTO && s->trials != ESPI_TRIALS_OFF && !advised &&
           e->choice.plan && e->choice.ours_s > 0 && e->choice.native_s > 0 &&
           espi_job.net && c->node && !is_on_one_machine(c);
}

/* Contenders by number: what is expected to be best comes first. */
static int is_plans_number(const struct espi_entry *e, int contender)
{
    return contender == (e->choice.is_native ? 1 : 0);
}

/* ---- what jobs before have learned ---- */

/* The ranks by their hosts, and the MPI library; what is combined in order, and calls
 * that are another one's kin, are apart. */
static uint64_t sum_team(const struct espi_comm *c, const struct espi_entry *e)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    uint64_t sum = 0;
    PMPI_Get_library_version(version, &length);
    sum = espi_text_sum(sum, version);
    if (e->order != ESPI_ANY_ORDER || strcmp(espi_entry_name(e), esp_op_name(e->op)))
        sum = espi_text_sum(sum, espi_entry_name(e));
    for (int i = 0; i < c->size; i++)
        sum = espi_text_sum(sum, esp_platform_node_name(espi_job.net, c->node[i]));
    return sum;
}

static const struct espi_lesson *find_lesson(const struct espi_entry *e)
{
    const struct espi_lesson *lesson =
        espi_job.settings.learned[0]
            ? espi_learned_find(&espi_job.learned, e->trials.team, e->op, e->root,
                                e->size_class)
            : NULL;
    return lesson && lesson->native.n_times && lesson->planned.n_times &&
                   lesson->plan == espi_whole_plan_sum(e->choice.plan)
               ? lesson
               : NULL;
}

/* What was faster then is expected to be so again, by calls that are not tried, too. */
static void expect_as_learned(struct espi_choice *choice,
                              const struct espi_lesson *lesson)
{
    choice->is_native = espi_contender_time(&lesson->native).high_s <=
                        espi_contender_time(&lesson->planned).high_s;
}

static void begin_as_learned(struct espi_entry *e, const struct espi_lesson *lesson)
{
    struct espi_trials *record = &e->trials.record;
    for (int i = 0; i < 2; i++) {
        const struct espi_contender *known =
            is_plans_number(e, i) ? &lesson->planned : &lesson->native;
        double predicted_s = record->contender[i].predicted_s;
        record->contender[i] = *known;
        record->contender[i].predicted_s = predicted_s;
    }
    e->trials.bytes = lesson->bytes;
    espi_trials_resume(record);
}

/* By rank 0, for those that it is in. */
static void keep_lesson(const struct espi_entry *e)
{
    const struct espi_entry_trials *t = &e->trials;
    int ours = e->choice.is_native ? 1 : 0;
    struct espi_lesson lesson = {.team = t->team,
                                 .op = e->op,
                                 .root = e->root,
                                 .size_class = e->size_class,
                                 .bytes = t->bytes,
                                 .native = t->record.contender[!ours],
                                 .planned = t->record.contender[ours]};
    if (espi_job.rank != 0 || !espi_job.settings.learned[0] || !lesson.native.n_times ||
        !lesson.planned.n_times)
        return;
    lesson.plan = espi_whole_plan_sum(e->choice.plan);
    pthread_mutex_lock(&lock);
    espi_learned_keep(&fresh, &lesson, NULL); /* or it is forgotten */
    pthread_mutex_unlock(&lock);
}

/* ---- the beginning ---- */

esp_status espi_trials_begin(struct espi_comm *c, struct espi_entry *e,
                             struct esp_err *err)
{
    struct espi_choice *choice = &e->choice;
    e->trials = (struct espi_entry_trials){.request = MPI_REQUEST_NULL, .ranks = c->size};
    if (!are_wanted(c, e))
        return ESP_OK;
    if (!(c->agree_s > 0)) {
        esp_status st = espi_predict_agreement(c->rank_platform.p, &c->agree_s, err);
        if (st)
            return st;
    }
    e->trials.team = espi_job.settings.learned[0] ? sum_team(c, e) : 0;
    const struct espi_lesson *lesson = find_lesson(e);
    if (lesson)
        expect_as_learned(choice, lesson);
    double predicted_s[2] = {choice->ours_s, choice->native_s};
    if (choice->is_native) {
        predicted_s[0] = choice->native_s;
        predicted_s[1] = choice->ours_s;
    }
    espi_trials_init(&e->trials.record, 2, predicted_s, c->agree_s);
    if (lesson)
        begin_as_learned(e, lesson);
    e->trials.on = 1;
    return ESP_OK;
}

/* ---- times ---- */

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What telling sizes took went before. */
void espi_trials_enter(struct espi_call *call)
{
    espi_count(call->which, ESPI_COUNTED_TRIALS, 1);
    call->clock.start_s = wall_s() - call->told_s;
    call->clock.took_s = call->told_s - espi_now_s();
}

/* The reduction counts doubles. */
enum { WORDS = sizeof(struct espi_call_clock) / sizeof(double) }; /* derived */
_Static_assert(sizeof(struct espi_call_clock) == WORDS * sizeof(double),
               "nothing but doubles");

static void start_agreement(const struct espi_call *call, struct espi_entry_trials *t)
{
    if (PMPI_Iallreduce(t->own, t->all, WORDS * t->n_own, MPI_DOUBLE, MPI_MAX,
                        call->c->twin, &t->request) != MPI_SUCCESS)
        espi_end_job(espi_entry_name(call->timed), "cannot agree with others on a time");
    t->under_way = 1;
}

/* The first call of a way: MPI libraries connect ranks when they first talk. */
static int is_new_way(struct espi_comm *c, const struct espi_entry *e, int contender)
{
    unsigned *tried = &c->tried[is_plans_number(e, contender)], bit = 1u << e->op;
    int is_new = !(*tried & bit);
    *tried |= bit;
    return is_new;
}

/* Whatever came of the call: others count it. */
void espi_trials_leave(struct espi_call *call)
{
    struct espi_entry_trials *t = &call->timed->trials;
    int first = t->record.calls == 1;
    call->clock.took_s += espi_now_s();
    call->clock.end_s = wall_s();
    call->clock.waited_s = t->waited_s;
    t->contender[t->n_own] = call->contender;
    t->is_new[t->n_own] = is_new_way(call->c, call->timed, call->contender);
    t->own[t->n_own++] = call->clock;
    if (!first)
        start_agreement(call, t);
}

static struct espi_call_time time_of(const struct espi_call_clock *all)
{
    double from_last_s = all->end_s - all->start_s;
    return (struct espi_call_time){fmin(fmax(from_last_s, 0), all->took_s), all->took_s};
}

/* What agreeing took, where it is known, was less than was predicted, or others came late
 * and that was waited for. */
static void tell_time(struct espi_entry *e, int contender, int is_new,
                      const struct espi_call_clock *all)
{
    struct espi_trials *record = &e->trials.record;
    struct espi_call_time time = time_of(all);
    if (all->waited_s > 0 && all->waited_s < record->agree_s)
        record->agree_s = all->waited_s;
    if (all->differs > 0) {
        e->trials.is_mixed = 1;
        time = (struct espi_call_time){NAN, NAN};
    }
    (is_new ? espi_trials_tell_new : espi_trials_tell)(record, contender, time);
    if (espi_job.settings.log >= ESPI_LOG_DEBUG)
        espi_say(ESPI_LOG_DEBUG,
                 "%s from rank %d, about %llu bytes: %s took %.3g to %.3g s; now %s",
                 espi_entry_name(e), e->root, (unsigned long long)e->trials.bytes,
                 is_plans_number(e, contender) ? e->choice.plan->algo : "native",
                 time.low_s, time.high_s,
                 is_plans_number(e, record->favourite) ? e->choice.plan->algo : "native");
}

/* What is under way is waited for. */
static void settle_times(struct espi_entry *e)
{
    struct espi_entry_trials *t = &e->trials;
    if (!t->under_way)
        return;
    double start_s = espi_now_s();
    if (espi_mpi_wait(&t->request) != MPI_SUCCESS)
        espi_end_job(espi_entry_name(e), "cannot agree with others on a time");
    for (int i = 0; i < t->n_own; i++)
        tell_time(e, t->contender[i], t->is_new[i], &t->all[i]);
    t->under_way = 0;
    t->n_own = 0;
    t->waited_s = espi_now_s() - start_s;
}

void espi_trials_void(struct espi_entry *e, const struct espi_turn *turn)
{
    espi_trials_tell(&e->trials.record, turn->contender,
                     (struct espi_call_time){NAN, NAN});
}

/* ---- turns ---- */

/* Is a call of this size to be compared with the others? */
static int is_comparable(const struct espi_entry_trials *t, uint64_t bytes)
{
    uint64_t apart = bytes > t->bytes ? bytes - t->bytes : t->bytes - bytes;
    return apart <= t->bytes / ESPI_COMPARED_PART;
}

/* From now on calls of this size are; what is known of the first call is of another. */
static void change_size(struct espi_entry *e, uint64_t bytes)
{
    struct espi_entry_trials *t = &e->trials;
    settle_times(e);
    for (; t->n_own > 0; t->n_own--)
        espi_trials_void(e, &(struct espi_turn){t->contender[0], 1});
    if (t->bytes > 0)
        espi_trials_renew(&t->record);
    t->bytes = bytes;
}

/* The library's turn, where sizes are told, is the next call's. */
static void put_off(struct espi_entry *e, const struct espi_call *call,
                    struct espi_turn *turn)
{
    struct espi_entry_trials *t = &e->trials;
    if (!turn->timed || !call->tells || t->is_mixed ||
        is_plans_number(e, turn->contender))
        return;
    t->owed = 1;
    t->own_bytes = call->own_bytes;
    *turn = (struct espi_turn){t->record.favourite, 0};
}

/* After some calls in a row that cannot be compared, they are those that are. */
int espi_trials_turn(struct espi_entry *e, const struct espi_call *call, uint64_t bytes,
                     struct espi_turn *turn)
{
    struct espi_entry_trials *t = &e->trials;
    t->n_strange = is_comparable(t, bytes) ? 0 : t->n_strange + 1;
    if (t->bytes == 0 || t->n_strange > ESPI_STRANGE_CALLS) {
        change_size(e, bytes);
        t->n_strange = 0;
    }
    *turn = (struct espi_turn){t->record.favourite, 0};
    if (t->n_strange == 0) {
        settle_times(e);
        *turn = espi_trials_next(&t->record);
        put_off(e, call, turn);
    }
    return is_plans_number(e, turn->contender);
}

int espi_trials_is_other(const struct espi_entry *e, const struct espi_turn *turn)
{
    return e->trials.on && turn->timed && turn->contender != e->trials.record.favourite;
}

double espi_trials_gain_s(const struct espi_entry *e)
{
    const struct espi_contender *all = e->trials.record.contender;
    int ours = e->choice.is_native ? 1 : 0;
    return e->trials.on ? espi_contender_time(&all[!ours]).high_s -
                              espi_contender_time(&all[ours]).high_s
                        : e->choice.native_s - e->choice.ours_s;
}

/* ---- calls before which nobody tells sizes ---- */

struct espi_entry *espi_trials_owed(const struct espi_call *call)
{
    struct espi_entry *cache = call->c->cache;
    for (int i = 0; cache && i < ESPI_CACHE; i++) {
        struct espi_entry *e = &cache[i];
        if (e->size_class >= 0 && e->which == call->which && e->root == call->root &&
            e->trials.on && e->trials.owed)
            return e;
    }
    return NULL;
}

int espi_trials_differs(const struct espi_entry *e, uint64_t own_bytes)
{
    uint64_t known = e->trials.own_bytes;
    uint64_t apart = own_bytes > known ? own_bytes - known : known - own_bytes;
    return apart > known / ESPI_COMPARED_PART;
}

void espi_trials_pay(struct espi_call *call, struct espi_entry *e, int differs)
{
    e->trials.owed = 0;
    call->timed = e;
    call->contender = e->choice.is_native ? 0 : 1;
    espi_trials_enter(call);
    call->clock.differs = differs;
}

/* ---- the end ---- */

static void note_trials(const struct espi_entry *e)
{
    const struct espi_trials *record = &e->trials.record;
    int ours = e->choice.is_native ? 1 : 0;
    struct espi_stats_trials note = {.name = espi_entry_name(e),
                                     .ranks = e->trials.ranks,
                                     .size_class = e->size_class,
                                     .root = e->root,
                                     .n_native = record->contender[!ours].n_tried,
                                     .n_plan = record->contender[ours].n_tried,
                                     .ours = record->favourite == ours,
                                     .margin = espi_trials_margin(record)};
    if (!espi_job.settings.stats[0] || record->calls < 2)
        return;
    snprintf(note.plan, sizeof note.plan, "%s", e->choice.plan->algo);
    espi_stats_note_trials(&note);
}

void espi_trials_end(struct espi_entry *e)
{
    if (!e->trials.on)
        return;
    settle_times(e);
    note_trials(e);
    keep_lesson(e);
    e->trials.on = 0;
}

void espi_trials_end_all(struct espi_comm *c)
{
    for (int i = 0; c->cache && i < ESPI_CACHE; i++)
        espi_trials_end(&c->cache[i]);
}

void espi_trials_keep(const char *path)
{
    struct esp_err err = {.text = ""};
    esp_status st = ESP_OK;
    for (size_t i = 0; i < fresh.n && !st; i++)
        st = espi_learned_keep(&espi_job.learned, &fresh.lessons[i], &err);
    if (!st && fresh.n)
        st = espi_learned_write(&espi_job.learned, path, &err);
    if (st)
        espi_say(ESPI_LOG_WARN, "cannot keep what was learned: %s", err.text);
    espi_learned_done(&fresh);
}
