/* Trials: verdicts, what they cost, and that ranks that are told the same do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "runtime/learned.h"
#include "runtime/trials.h"
#include "runtime/tuning.h"
#include "support/seed.h"

/* What contenders take, and what goes wrong meanwhile. */
struct world {
    int n;
    double true_s[ESPI_CONTENDERS], predicted_s[ESPI_CONTENDERS];
    double agree_s, noise, late_s;
    int stalls_left[ESPI_CONTENDERS]; /* first samples of each */
    double stall;
    int connects; /* first samples are told as those of ways that are new */
};

struct run {
    struct espi_trials trial;
    struct espi_rng rng;
    int n_untold, untold[2]; /* contenders of calls whose times are not told yet */
    struct espi_call_time times[2];
    double total_s;
    int n_runs[ESPI_CONTENDERS];
};

static void run_init(struct run *r, const struct world *w, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    espi_rng_seed(&r->rng, seed);
    espi_trials_init(&r->trial, w->n, w->predicted_s, w->agree_s);
}

static double draw_s(struct run *r, struct world *w, int i)
{
    double s = w->true_s[i] * espi_rng_range(&r->rng, 1, 1 + w->noise);
    return w->stalls_left[i] > 0 && w->stalls_left[i]-- > 0 ? s * w->stall : s;
}

/* One call, as the shim makes it: the first time is told with the second. */
static struct espi_turn make_call(struct run *r, struct world *w)
{
    int first = r->trial.calls == 0;
    struct espi_turn turn = espi_trials_next(&r->trial);
    double took_s = draw_s(r, w, turn.contender), late_s = 0;
    if (w->late_s > 0)
        late_s = espi_rng_uniform(&r->rng) * w->late_s;
    r->n_runs[turn.contender]++;
    r->total_s += took_s + (turn.timed && !first ? w->agree_s : 0);
    if (!turn.timed)
        return turn;
    r->untold[r->n_untold] = turn.contender;
    r->times[r->n_untold++] = (struct espi_call_time){took_s, took_s + late_s};
    for (int i = 0; !first && i < r->n_untold; i++)
        (w->connects && r->trial.contender[r->untold[i]].n_tried == 0
             ? espi_trials_tell_new
             : espi_trials_tell)(&r->trial, r->untold[i], r->times[i]);
    if (!first)
        r->n_untold = 0;
    return turn;
}

static void make_calls(struct run *r, struct world *w, int n)
{
    for (int i = 0; i < n; i++)
        make_call(r, w);
}

static double best_s(const struct world *w)
{
    double best = w->true_s[0];
    for (int i = 1; i < w->n; i++)
        best = fmin(best, w->true_s[i]);
    return best;
}

/* Contenders by their predictions, of which each is wrong by at most that factor. */
static void draw_world(struct world *w, struct espi_rng *rng, double spread, double error)
{
    *w = (struct world){.n = 2 + (int)espi_rng_below(rng, ESPI_CONTENDERS - 1)};
    for (int i = 0; i < w->n; i++) {
        double predicted_s = espi_rng_log_range(rng, 1, spread);
        double true_s = predicted_s * espi_rng_log_range(rng, 1 / error, error);
        int at = i;
        for (; at > 0 && w->predicted_s[at - 1] > predicted_s; at--) {
            w->predicted_s[at] = w->predicted_s[at - 1];
            w->true_s[at] = w->true_s[at - 1];
        }
        w->predicted_s[at] = predicted_s;
        w->true_s[at] = true_s;
    }
}

static void begins_with_the_prediction(void **state)
{
    double predicted_s[] = {1, 1.1, 1.2};
    struct espi_trials t;
    (void)state;
    espi_trials_init(&t, 3, predicted_s, 0);
    assert_int_equal(espi_trials_next(&t).contender, 0);
    assert_int_equal(espi_trials_next(&t).contender, 1);
    espi_trials_init(&t, 1, predicted_s, 0); /* nothing to try */
    for (int i = 0; i < 1000; i++)
        assert_false(espi_trials_next(&t).timed);
}

/* Predictions wrong by up to 1.8, and noise: the best is found, or one as good. */
static void finds_the_best(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(4000); k++) {
        struct world w;
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(100000 + (uint64_t)k));
        draw_world(&w, &rng, 1.5, 1.8);
        w.noise = 0.05;
        w.agree_s = 0.02;
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 400);
        assert_true(w.true_s[r.trial.favourite] <= best_s(&w) * 1.06);
    }
}

/* First calls in which connections are made, however slow, do not decide: where
 * predictions are about right the better way is found within ten calls. */
static void connecting_does_not_decide(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(4000); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(700000 + (uint64_t)k));
        double ratio = espi_rng_range(&rng, 1.2, 1.9);
        int better = (int)espi_rng_below(&rng, 2), slow = (int)espi_rng_below(&rng, 3);
        double other_s = espi_rng_range(&rng, 1, 1.3);
        double stall = espi_rng_log_range(&rng, 2, 50);
        struct world w = {.n = 2,
                          .predicted_s = {1, other_s},
                          .true_s = {better == 0 ? 1 : ratio, better == 1 ? 1 : ratio},
                          .noise = 0.02,
                          .agree_s = 0.01,
                          .stall = stall,
                          .stalls_left = {slow != 1, slow != 0},
                          .connects = 1};
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 10);
        assert_int_equal(r.trial.favourite, better);
    }
}

/* Two contenders: the verdict stands by the fifth call where one is clearly better. */
static void decides_early(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(4000); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(200000 + (uint64_t)k));
        double ratio = espi_rng_log_range(&rng, 1.4, 20);
        struct world w = {.n = 2,
                          .true_s = {ratio, 1},
                          .predicted_s = {1, espi_rng_range(&rng, 1, 2)},
                          .noise = 0.05,
                          .agree_s = 0.02};
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 4);
        for (int i = 0; i < 10; i++)
            assert_int_equal(make_call(&r, &w).contender, 1);
    }
}

/* Where predictions are right trials cost no more than they may, at any call. */
static void costs_what_it_may(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(2000); k++) {
        struct world w;
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(300000 + (uint64_t)k));
        draw_world(&w, &rng, 30, 1);
        w.noise = 0.03;
        w.agree_s = espi_rng_log_range(&rng, 0.001, 10);
        run_init(&r, &w, test_seed((uint64_t)k));
        for (int n = 1; n <= 2000; n++) {
            make_call(&r, &w);
            double may =
                ESPI_TRIAL_FIRST + ESPI_TRIAL_SHARE * fmax(0, n - ESPI_TRIAL_FIRST_CALLS);
            assert_true(r.total_s <= best_s(&w) * (n + may) * (1 + 2 * w.noise));
        }
    }
}

/* Where they are wrong by up to six, too, the best is found in the end. Until what was
 * spent is paid for by a share of each call, the favourite may be a bad one; the rest is
 * that share, and noise. */
static void regret_is_bounded(void **state)
{
    enum { CALLS = 20000 };
    (void)state;
    for (int k = 0; k < test_draws(400); k++) {
        struct world w;
        struct run r;
        struct espi_rng rng;
        double at_stake_s = 0;
        espi_rng_seed(&rng, test_seed(400000 + (uint64_t)k));
        draw_world(&w, &rng, 3, 6);
        w.noise = 0.05;
        w.agree_s = 0.01;
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, CALLS);
        for (int i = 0; i < w.n; i++)
            at_stake_s += w.true_s[i] + w.predicted_s[i];
        assert_true(w.true_s[r.trial.favourite] <= 1.06 * best_s(&w));
        assert_true(r.total_s <= CALLS * best_s(&w) * (1 + w.noise + ESPI_TRIAL_SHARE) +
                                     at_stake_s / ESPI_TRIAL_SHARE);
    }
}

static void twice_as_slow_is_out(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(500); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(500000 + (uint64_t)k));
        int slow = (int)espi_rng_below(&rng, 2);
        struct world w = {.n = 2, .predicted_s = {1, 1}, .noise = 0.05, .agree_s = 0.01};
        w.true_s[!slow] = 1;
        w.true_s[slow] = espi_rng_log_range(&rng, 2.2, 50);
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 3);
        assert_int_equal(r.n_runs[slow], 1); /* at once */
        make_calls(&r, &w, 10000);
        assert_in_range(r.n_runs[slow], 1, ESPI_TRIAL_CHANCES);
    }
}

/* The first calls of the better one stall: it comes to its own all the same. */
static void a_stall_does_not_decide(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(2000); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(600000 + (uint64_t)k));
        int good = (int)espi_rng_below(&rng, 2);
        struct world w = {.n = 2,
                          .predicted_s = {1, 1.1},
                          .noise = 0.05,
                          .agree_s = 0.01,
                          .stall = espi_rng_log_range(&rng, 2, 30)};
        w.true_s[good] = 1;
        w.true_s[!good] = espi_rng_range(&rng, 1.1, 1.8);
        w.stalls_left[good] = 1;
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 6000);
        assert_int_equal(r.trial.favourite, good);
    }
}

/* Ranks that come late by ten times what a call takes: nobody is out for it. */
static void lateness_is_not_charged(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(2000); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(700000 + (uint64_t)k));
        struct world w = {.n = 2,
                          .true_s = {1, 1},
                          .predicted_s = {1, 1},
                          .noise = 0.02,
                          .agree_s = 0.01,
                          .late_s = 10};
        uint32_t slow = espi_rng_below(&rng, 2);
        w.true_s[slow] = espi_rng_range(&rng, 1, 1.9);
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 500);
        assert_int_equal(r.trial.contender[0].n_far + r.trial.contender[1].n_far, 0);
    }
}

/* What was best becomes slow: it is seen soon, and the other taken. */
static void drift_is_seen(void **state)
{
    (void)state;
    for (int k = 0; k < test_draws(2000); k++) {
        struct run r;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(800000 + (uint64_t)k));
        struct world w = {.n = 2,
                          .true_s = {1, espi_rng_range(&rng, 1.2, 1.8)},
                          .predicted_s = {1, 1.1},
                          .noise = 0.05,
                          .agree_s = 0.01};
        run_init(&r, &w, test_seed((uint64_t)k));
        make_calls(&r, &w, 50 + (int)espi_rng_below(&rng, 1000));
        assert_int_equal(r.trial.favourite, 0);
        w.true_s[0] = 2.5;
        make_calls(&r, &w, 3 * ESPI_TRIAL_GAP);
        assert_int_equal(r.trial.favourite, 1);
    }
}

/* Each rank has its own times and its own record; told is what they agreed on. */
static void ranks_decide_alike(void **state)
{
    enum { RANKS = 5 };
    (void)state;
    for (int k = 0; k < test_draws(1000); k++) {
        struct world w;
        struct espi_trials t[RANKS];
        struct espi_rng rng;
        struct espi_call_time first = {0, 0};
        espi_rng_seed(&rng, test_seed(900000 + (uint64_t)k));
        draw_world(&w, &rng, 3, 4);
        for (int r = 0; r < RANKS; r++)
            espi_trials_init(&t[r], w.n, w.predicted_s, 0.01);
        for (int call = 0; call < 300; call++) {
            struct espi_turn turn = espi_trials_next(&t[0]);
            for (int r = 1; r < RANKS; r++) {
                struct espi_turn other = espi_trials_next(&t[r]);
                assert_int_equal(other.contender, turn.contender);
                assert_int_equal(other.timed, turn.timed);
            }
            struct espi_call_time agreed = {0, 0};
            for (int r = 0; r < RANKS; r++)
                agreed.high_s = fmax(agreed.high_s, w.true_s[turn.contender] *
                                                        espi_rng_log_range(&rng, 0.5, 3));
            agreed.low_s = agreed.high_s * espi_rng_uniform(&rng);
            if (call == 0)
                first = agreed;
            for (int r = 0; r < RANKS && call > 0 && turn.timed; r++) {
                if (t[r].contender[0].n_times == 0 && first.high_s > 0)
                    espi_trials_tell(&t[r], 0, first);
                espi_trials_tell(&t[r], turn.contender, agreed);
            }
            if (call > 0 && turn.timed)
                first.high_s = 0;
        }
    }
}

/* Where agreeing takes long beside the call itself nothing is tried for the time being.
 */
static void dear_agreement_waits(void **state)
{
    struct world w = {
        .n = 2, .true_s = {1, 1}, .predicted_s = {1, 1}, .noise = 0, .agree_s = 2};
    struct run r;
    (void)state;
    run_init(&r, &w, 1);
    make_calls(&r, &w, 30);
    assert_int_equal(r.n_runs[1], 0);
    make_calls(&r, &w, 1000);
    assert_true(r.n_runs[1] > 0);
}

static void resumes(void **state)
{
    double predicted_s[] = {1, 1.1};
    struct espi_trials t;
    (void)state;
    espi_trials_init(&t, 2, predicted_s, 0.01);
    t.contender[0] =
        (struct espi_contender){.predicted_s = 1, .n_times = 1, .time = {{3, 3}}};
    t.contender[1] =
        (struct espi_contender){.predicted_s = 1.1, .n_times = 1, .time = {{1, 1}}};
    espi_trials_resume(&t);
    for (int i = 0; i < ESPI_TRIAL_GAP - 2; i++)
        assert_int_equal(espi_trials_next(&t).contender, 1);
    assert_true(espi_trials_margin(&t) == 3);
}

/* Whatever is told, somebody who is there runs. */
static void nonsense_is_no_time(void **state)
{
    const double odd[] = {NAN, INFINITY, -1, 0, 1e300, 5e-324, -INFINITY, 1};
    (void)state;
    for (int k = 0; k < test_draws(2000); k++) {
        struct world w;
        struct espi_trials t;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(1000000 + (uint64_t)k));
        draw_world(&w, &rng, 3, 4);
        espi_trials_init(&t, w.n, w.predicted_s, odd[3 + espi_rng_below(&rng, 3)]);
        for (int call = 0; call < 200; call++) {
            int i = espi_trials_next(&t).contender;
            assert_in_range(i, 0, w.n - 1);
            double low_s = odd[espi_rng_below(&rng, 8)];
            double high_s = odd[espi_rng_below(&rng, 8)];
            int told = (int)espi_rng_below(&rng, 6) - 1;
            espi_trials_tell(&t, told, (struct espi_call_time){low_s, high_s});
        }
    }
}

/* ---- what is kept ---- */

static void draw_contender(struct espi_rng *rng, struct espi_contender *c)
{
    *c = (struct espi_contender){.n_far = (int)espi_rng_below(rng, 3)};
    c->n_times = (int)espi_rng_below(rng, ESPI_TRIAL_SAMPLES + 1);
    for (int i = 0; i < c->n_times; i++) {
        c->time[i].low_s = espi_rng_log_range(rng, 1e-9, 1e3);
        c->time[i].high_s = c->time[i].low_s * espi_rng_range(rng, 1, 3);
    }
}

static void draw_lesson(struct espi_rng *rng, struct espi_lesson *l)
{
    memset(l, 0, sizeof *l);
    l->team = espi_rng_next(rng);
    l->plan = espi_rng_next(rng);
    l->op = (esp_op)espi_rng_below(rng, ESP_OP_COUNT);
    l->root = (int)espi_rng_below(rng, 100);
    l->size_class = (int)espi_rng_below(rng, 40);
    l->bytes = espi_rng_next(rng) >> 20;
    draw_contender(rng, &l->native);
    draw_contender(rng, &l->planned);
}

static void assert_same_contender(const struct espi_contender *a,
                                  const struct espi_contender *b)
{
    assert_int_equal(a->n_times, b->n_times);
    assert_int_equal(a->n_far, b->n_far);
    assert_memory_equal(a->time, b->time, sizeof a->time);
}

static size_t read_file(const char *path, char *text, size_t most)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t n = fread(text, 1, most, in);
    assert_true(n < most);
    fclose(in);
    return n;
}

static void what_is_written_is_read(void **state)
{
    static char text[1 << 18];
    char path[] = "/tmp/test_learned_XXXXXX";
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int k = 0; k < test_draws(100); k++) {
        struct espi_learned l = {NULL, 0, 0}, again;
        struct espi_lesson lesson;
        struct espi_rng rng;
        espi_rng_seed(&rng, test_seed(1100000 + (uint64_t)k));
        for (uint32_t n = espi_rng_below(&rng, 50) + 1; n > 0; n--) {
            draw_lesson(&rng, &lesson);
            assert_int_equal(espi_learned_keep(&l, &lesson, NULL), ESP_OK);
        }
        assert_int_equal(espi_learned_keep(&l, &lesson, NULL), ESP_OK); /* known */
        assert_int_equal(espi_learned_write(&l, path, NULL), ESP_OK);
        size_t length = read_file(path, text, sizeof text);
        assert_int_equal(espi_learned_parse(text, length, path, &again, NULL), ESP_OK);
        assert_int_equal(again.n, l.n);
        for (size_t i = 0; i < l.n; i++) {
            const struct espi_lesson *a = &l.lessons[i];
            const struct espi_lesson *b =
                espi_learned_find(&again, a->team, a->op, a->root, a->size_class);
            assert_non_null(b);
            assert_true(b->plan == a->plan && b->bytes == a->bytes);
            assert_same_contender(&a->native, &b->native);
            assert_same_contender(&a->planned, &b->planned);
        }
        espi_learned_done(&l);
        espi_learned_done(&again);
    }
    unlink(path);
}

static void what_is_wrong_is_told(void **state)
{
#define LESSON(rest)                                                                     \
    "{\"format\": \"espalier-learned/1\", \"lessons\": [{\"team\": "                     \
    "\"0123456789abcdef\", \"op\": \"bcast\", \"root\": 0, \"class\": 9" rest "}]}"
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}", "take the file away"},
        {"[]", "f:1:1"},
        {"{\"format\": \"espalier-learned/2\"}", "take the file away"},
        {LESSON(""), "a lesson has"},
        {LESSON(", \"bytes\": -1"), "whole number"},
        {LESSON(", \"bytes\": 1.5"), "whole number"},
        {LESSON(", \"bytes\": 1, \"plan\": \"xyz\""), "sixteen digits"},
        {LESSON(", \"bytes\": 1, \"op\": \"dance\""), "name of a collective"},
        {LESSON(", \"bytes\": 1, \"native\": {\"times_s\": [[2, 1]]}"), "[low, high]"},
        {LESSON(", \"bytes\": 1, \"native\": {\"times_s\": [[1]]}"), "[low, high]"},
        {LESSON(", \"bytes\": 1, \"native\": {\"times_s\": "
                "[[1, 1], [1, 1], [1, 1], [1, 1]]}"),
         "at most 3"},
        {LESSON(", \"bytes\": 1, \"native\": {\"far\": 1e9}"), "whole number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct espi_learned l = {NULL, 7, 0};
        struct esp_err err = {.text = ""};
        assert_int_equal(
            espi_learned_parse(cases[i].text, strlen(cases[i].text), "f", &l, &err),
            ESP_EINPUT);
        assert_non_null(strstr(err.text, "f:1:"));
        assert_non_null(strstr(err.text, cases[i].why));
        assert_int_equal(l.n, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_the_prediction),
        cmocka_unit_test(finds_the_best),
        cmocka_unit_test(connecting_does_not_decide),
        cmocka_unit_test(decides_early),
        cmocka_unit_test(costs_what_it_may),
        cmocka_unit_test(regret_is_bounded),
        cmocka_unit_test(twice_as_slow_is_out),
        cmocka_unit_test(a_stall_does_not_decide),
        cmocka_unit_test(lateness_is_not_charged),
        cmocka_unit_test(drift_is_seen),
        cmocka_unit_test(ranks_decide_alike),
        cmocka_unit_test(dear_agreement_waits),
        cmocka_unit_test(resumes),
        cmocka_unit_test(nonsense_is_no_time),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
