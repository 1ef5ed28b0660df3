/* Rounds of trials: in each every contender that is still in it runs one call. After the
 * first a contender is beaten if it was slower by half, after the second by a quarter,
 * after the third by an eighth (few samples are noisy, and those that are near each other
 * may take turns for long, since that costs little). After ESPI_TRIAL_ROUNDS the best is
 * taken.
 *
 * Twice as slow is out at once. It gets one more chance when the allowance has paid for
 * it, for a single stall must not decide ten thousand calls; twice as slow again, and it
 * is never tried again.
 *
 * Afterwards the favourite is timed now and then, which costs no more than agreeing does.
 * When it has changed twice in a row by more than ESPI_TRIAL_DRIFT all begins anew. The
 * others are tried again at distances that double. */
#include "runtime/trials.h"

#include <math.h>
#include <string.h>

#include "runtime/tuning.h"

void espi_trials_init(struct espi_trials *t, int n, const double *predicted_s,
                      double agree_s)
{
    *t = (struct espi_trials){.n = n, .round = 1, .agree_s = agree_s};
    t->gap = ESPI_TRIAL_GAP;
    for (int i = 0; i < n; i++)
        t->contender[i].predicted_s = predicted_s[i];
}

/* ---- what is known ---- */

/* The median of those that are kept, the lower of two. */
static double lower_median(const struct espi_contender *c, int high)
{
    double sorted[ESPI_TRIAL_SAMPLES] = {0}; /* for compilers that do not see n > 0 */
    int n = c->n_times < ESPI_TRIAL_SAMPLES ? c->n_times : ESPI_TRIAL_SAMPLES;
    for (int i = 0; i < n; i++) {
        double value = high ? c->time[i].high_s : c->time[i].low_s;
        int at = i;
        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    return sorted[(n - 1) / 2];
}

struct espi_call_time espi_contender_time(const struct espi_contender *c)
{
    if (c->n_times == 0)
        return (struct espi_call_time){c->predicted_s, c->predicted_s};
    return (struct espi_call_time){lower_median(c, 0), lower_median(c, 1)};
}

int espi_contender_is_out(const struct espi_contender *c)
{
    return c->n_far >= ESPI_TRIAL_CHANCES;
}

double espi_trials_margin(const struct espi_trials *t)
{
    double best_s = espi_contender_time(&t->contender[t->favourite]).high_s;
    double second_s = INFINITY;
    if (!t->contender[t->favourite].n_times || !(best_s > 0))
        return 0;
    for (int i = 0; i < t->n; i++)
        if (i != t->favourite && t->contender[i].n_times)
            second_s = fmin(second_s, espi_contender_time(&t->contender[i]).high_s);
    return isfinite(second_s) ? second_s / best_s : 0;
}

static double favourite_s(const struct espi_trials *t)
{
    return espi_contender_time(&t->contender[t->favourite]).high_s;
}

/* ---- what may be spent ---- */

/* Beyond the favourite's time, by what is known before the call. */
static double expected_extra_s(const struct espi_trials *t, int i)
{
    double own_s = espi_contender_time(&t->contender[i]).low_s;
    return t->agree_s + fmax(0, own_s - favourite_s(t));
}

static int is_affordable(const struct espi_trials *t, int i)
{
    double calls = (double)t->calls - ESPI_TRIAL_FIRST_CALLS;
    double allowance_s =
        favourite_s(t) * (ESPI_TRIAL_FIRST + ESPI_TRIAL_SHARE * fmax(0, calls));
    return t->spent_s + expected_extra_s(t, i) <= allowance_s;
}

/* ---- verdicts ---- */

static int has_tied(const struct espi_contender *c, struct espi_call_time best, int round)
{
    double factor = 1;
    for (int i = 0; i < round; i++)
        factor /= 2;
    return espi_contender_time(c).low_s <= best.high_s * (1 + factor);
}

/* In this round: others that are not beaten in the one before. */
static int is_in(const struct espi_trials *t, int i)
{
    const struct espi_contender *c = &t->contender[i];
    if (i == t->favourite)
        return 1;
    if (c->n_far > 0)
        return 0;
    return c->n_times == 0 ||
           has_tied(c, espi_contender_time(&t->contender[t->favourite]), t->round - 1);
}

static void choose_favourite(struct espi_trials *t)
{
    double best_s = INFINITY;
    for (int i = 0; i < t->n; i++) {
        const struct espi_contender *c = &t->contender[i];
        double own_s = espi_contender_time(c).high_s;
        if (c->n_times > 0 && !espi_contender_is_out(c) && own_s < best_s) {
            best_s = own_s;
            t->favourite = i;
        }
    }
}

/* Far behind the best in what it has just shown. */
static void note_far(struct espi_trials *t, int i, struct espi_call_time time)
{
    if (i != t->favourite && t->contender[t->favourite].n_times > 0 &&
        time.low_s >= ESPI_TRIAL_FAR * favourite_s(t))
        t->contender[i].n_far++;
}

/* The next look at the favourite is when its cost is covered. */
static void plan_look(struct espi_trials *t)
{
    double far = t->agree_s / (ESPI_TRIAL_SHARE / 2 * favourite_s(t));
    t->look = t->calls + ESPI_TRIAL_GAP;
    if (far > ESPI_TRIAL_GAP)
        t->look = t->calls + (uint64_t)fmin(far, 1e9);
}

static void end_rounds(struct espi_trials *t)
{
    t->round = 0;
    t->n_drifts = 0;
    plan_look(t);
    t->relook = t->calls + t->gap;
    t->gap *= 2;
}

void espi_trials_renew(struct espi_trials *t)
{
    for (int i = 0; i < t->n; i++)
        t->contender[i].n_times = 0;
    t->round = 1;
    t->n_drifts = 0;
    t->gap = ESPI_TRIAL_GAP;
}

/* Who is still to run in this round; -1: nobody that is in it. */
static int next_in_round(const struct espi_trials *t)
{
    for (int i = 0; i < t->n; i++)
        if (is_in(t, i) && t->contender[i].n_times + (i == 0 && t->untold) < t->round)
            return i;
    return -1;
}

static int count_in(const struct espi_trials *t)
{
    int n = 0;
    for (int i = 0; i < t->n; i++)
        n += is_in(t, i);
    return n;
}

/* Rounds that are over, until one has something left to do. */
static void close_rounds(struct espi_trials *t)
{
    while (t->round > 0 && !t->untold && next_in_round(t) < 0) {
        choose_favourite(t);
        t->round++;
        if (t->round > ESPI_TRIAL_ROUNDS || count_in(t) < 2)
            end_rounds(t);
    }
}

/* ---- calls ---- */

/* Where the next in turn is too dear it is worth knowing what the favourite really takes:
 * beside that it may be cheap. */
static struct espi_turn take_turn_in_round(const struct espi_trials *t)
{
    int i = next_in_round(t), unknown = t->contender[t->favourite].n_times == 0;
    if (t->calls == 0 || (i >= 0 && is_affordable(t, i)))
        return (struct espi_turn){t->calls == 0 ? 0 : i, 1};
    return (struct espi_turn){t->favourite, unknown && is_affordable(t, t->favourite)};
}

/* Of those that may be tried again, and can be paid, the one that was tried least. */
static int find_rival(const struct espi_trials *t)
{
    int rival = -1;
    for (int i = 0; i < t->n; i++)
        if (i != t->favourite && !espi_contender_is_out(&t->contender[i]) &&
            is_affordable(t, i) &&
            (rival < 0 || t->contender[i].n_times < t->contender[rival].n_times))
            rival = i;
    return rival;
}

static struct espi_turn look_again(struct espi_trials *t)
{
    int rival = t->calls >= t->relook ? find_rival(t) : -1;
    if (rival >= 0) {
        t->relook = t->calls + t->gap;
        t->gap *= 2;
        return (struct espi_turn){rival, 1};
    }
    if (t->calls >= t->look) {
        plan_look(t);
        return (struct espi_turn){t->favourite, 1};
    }
    return (struct espi_turn){t->favourite, 0};
}

struct espi_turn espi_trials_next(struct espi_trials *t)
{
    struct espi_turn turn = {0, 0};
    if (t->n > 1) {
        if (t->calls > 0)
            close_rounds(t);
        turn = t->round > 0 ? take_turn_in_round(t) : look_again(t);
    }
    t->untold |= t->calls++ == 0 && turn.timed;
    return turn;
}

static int is_a_time(struct espi_call_time time)
{
    return isfinite(time.high_s) && time.high_s >= 0 && time.low_s >= 0 &&
           time.low_s <= time.high_s;
}

/* Has the favourite changed, twice in a row? */
static int has_drifted(struct espi_trials *t, struct espi_call_time known,
                       struct espi_call_time time)
{
    int changed = time.low_s > known.high_s * ESPI_TRIAL_DRIFT ||
                  time.high_s * ESPI_TRIAL_DRIFT < known.low_s;
    t->n_drifts = changed ? t->n_drifts + 1 : 0;
    if (changed)
        t->look = t->calls; /* a stall, or more? */
    return t->n_drifts >= 2;
}

static void add_time(struct espi_contender *c, struct espi_call_time time)
{
    c->time[c->n_times % ESPI_TRIAL_SAMPLES] = time;
    c->n_times++;
    c->n_tried++;
}

/* While the verdict stands. */
static void tell_after(struct espi_trials *t, int i, struct espi_call_time time)
{
    struct espi_call_time known = espi_contender_time(&t->contender[t->favourite]);
    if (i == t->favourite && t->contender[i].n_times > 0 && has_drifted(t, known, time)) {
        espi_trials_renew(t);
        add_time(&t->contender[i], time);
        return;
    }
    if (i == t->favourite && t->n_drifts > 0)
        return; /* not before it is confirmed */
    int before = t->favourite;
    note_far(t, i, time);
    add_time(&t->contender[i], time);
    choose_favourite(t);
    if (t->favourite != before) {
        t->gap = ESPI_TRIAL_GAP;
        t->relook = t->calls + t->gap;
    }
}

/* In a round. */
static void tell_within(struct espi_trials *t, int i, struct espi_call_time time)
{
    int before = t->favourite;
    note_far(t, i, time);
    add_time(&t->contender[i], time);
    choose_favourite(t);
    if (t->favourite != before) /* so that one was slower, all the time */
        note_far(t, before, espi_contender_time(&t->contender[before]));
}

/* own_s: what the way is to blame for. */
static void tell_call(struct espi_trials *t, int contender, struct espi_call_time time,
                      double own_s)
{
    if (contender < 0 || contender >= t->n)
        return;
    t->spent_s += t->agree_s;
    t->untold &= contender != 0;
    if (!is_a_time(time))
        return;
    int others = contender != t->favourite;
    if (t->round > 0)
        tell_within(t, contender, time);
    else
        tell_after(t, contender, time);
    if (others || contender != t->favourite)
        t->spent_s += fmax(0, own_s - favourite_s(t));
}

void espi_trials_tell(struct espi_trials *t, int contender, struct espi_call_time time)
{
    tell_call(t, contender, time, time.high_s);
}

void espi_trials_tell_new(struct espi_trials *t, int contender,
                          struct espi_call_time time)
{
    if (contender >= 0 && contender < t->n)
        time.low_s = fmin(time.low_s, t->contender[contender].predicted_s);
    tell_call(t, contender, time, time.low_s);
}

void espi_trials_resume(struct espi_trials *t)
{
    choose_favourite(t);
    t->calls = 1;
    end_rounds(t);
}
