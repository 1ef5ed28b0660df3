/* Probes in quiet times: when one may be sent, which is next, how much they take, what
 * answers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "advisor/advisor.h"
#include "advisor/probe_planner.h"
#include "base/rng.h"
#include "channel/prober.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* ---- a job on a network of which probes see the truth ---- */

struct job {
    struct esp_platform *p;
    struct espi_belief belief;
    struct espi_probe_planner *q;
    double *factor; /* of links, in truth */
    double now_s;
    struct espi_rng rng;
    double noise;
};

static void open_job(struct job *j, struct esp_platform *p, double share, uint64_t seed)
{
    *j = (struct job){.p = p, .now_s = 100, .noise = 0.1};
    espi_rng_seed(&j->rng, test_seed(seed));
    j->factor = malloc((size_t)p->n_links * sizeof *j->factor);
    assert_non_null(j->factor);
    for (int e = 0; e < p->n_links; e++)
        j->factor[e] = 1;
    assert_int_equal(espi_belief_init(&j->belief, p, 120, NULL), ESP_OK);
    assert_int_equal(espi_probe_planner_create(&j->belief, share, &j->q, NULL), ESP_OK);
    for (int i = 0; i < p->n_nodes; i++)
        espi_probe_planner_set_host(j->q, i, 1);
}

static void close_job(struct job *j)
{
    espi_probe_planner_free(j->q);
    espi_belief_done(&j->belief);
    free(j->factor);
    esp_platform_free(j->p);
}

/* The links between two hosts, found by a search of our own: the way of fewest links.
 * (Of the platforms here it is the only one.) */
static int way_between(const struct esp_platform *p, int from, int to, int links[16])
{
    int via[64], queue[64], n_queue = 0;
    assert_true(p->n_nodes <= 64);
    for (int i = 0; i < p->n_nodes; i++)
        via[i] = -1;
    queue[n_queue++] = from;
    for (int k = 0; k < n_queue; k++)
        for (int e = 0; e < p->n_links; e++) {
            int next = p->head[e];
            if (p->tail[e] != queue[k] || next == from || via[next] >= 0 ||
                (next != to && !espi_is_switch(p, next)))
                continue;
            via[next] = e;
            queue[n_queue++] = next;
        }
    int n = 0;
    for (int at = to; at != from; at = p->tail[via[at]]) {
        assert_true(via[at] >= 0 && n < 16);
        links[n++] = via[at];
    }
    return n;
}

static double true_Bps(struct job *j, const struct espi_probe_order *order)
{
    int links[16], n = way_between(j->p, order->from, order->to, links);
    double Bps = INFINITY;
    for (int i = 0; i < n; i++)
        Bps = fmin(Bps, j->p->bandwidth_Bps[links[i]] * j->factor[links[i]]);
    return Bps * espi_rng_range(&j->rng, 1 - j->noise, 1 + j->noise);
}

static const struct espi_outlook long_quiet = {
    .busy = 1, .root = 0, .calls = 5, .gap_s = 1e4, .last_s = 99};

/* There is room for so long. */
static struct espi_outlook quiet_for(double now_s, double room_s)
{
    struct espi_outlook o = long_quiet;
    o.gap_s = 10 * room_s;
    o.last_s = now_s - 8 * room_s;
    return o;
}

/* Probes for a while; how many were sent, and those that changed something. */
static int probe_for(struct job *j, double seconds, int *changes)
{
    double end_s = j->now_s + seconds;
    int n = 0;
    while (j->now_s < end_s) {
        struct espi_probe_order order;
        int changed = 0;
        struct espi_outlook o = quiet_for(j->now_s, 3);
        if (!espi_probe_planner_next(j->q, &o, j->now_s, &order)) {
            j->now_s += 0.02;
            continue;
        }
        double Bps = true_Bps(j, &order);
        n++;
        j->now_s += ESPI_TRAIN_BYTES / Bps + 0.01;
        assert_int_equal(espi_probe_planner_answer(j->q, order.number, ESPI_PROBE_RATE,
                                                   Bps, j->now_s, &changed, NULL),
                         ESP_OK);
        if (changes)
            *changes += changed;
    }
    return n;
}

static double believed(const struct job *j, int link)
{
    return espi_belief_link_factor(&j->belief, link, j->now_s, NULL);
}

/* ---- when ---- */

static void room_is_until_the_call_that_is_expected(void **state)
{
    struct espi_outlook o = {.calls = 3, .last_s = 100, .gap_s = 10};
    (void)state;
    assert_true(fabs(espi_probe_planner_room_s(&o, 0, 101) - 8) < 1e-9);
    assert_true(espi_probe_planner_room_s(&o, 0, 109.5) <= 0);
    assert_true(espi_probe_planner_room_s(&o, 0, 110.5) <= 0); /* it is about to come */
    assert_true(espi_probe_planner_room_s(&o, 0, 120) > 3);    /* it did not */
    o.gap_s = 0;
    assert_true(espi_probe_planner_room_s(&o, 0, 104) == 2);
    o.calls = 0;
    assert_true(espi_probe_planner_room_s(&o, 90, 104) == 7);
}

/* No probe begins that would not have ended, twice over, when the call comes; none while
 * another is under way; none right after one was refused for a call. */
static void probes_keep_out_of_the_way_of_calls(void **state)
{
    struct job j;
    struct espi_rng rng;
    long begun = 0;
    (void)state;
    open_job(&j, small_grid(), 0.2, 1);
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < 20000; i++) {
        struct espi_outlook o = {.calls = 9, .gap_s = espi_rng_log_range(&rng, 1e-3, 10)};
        struct espi_probe_order order, other;
        o.last_s = j.now_s - o.gap_s * espi_rng_range(&rng, 0, 1.05);
        j.now_s += espi_rng_range(&rng, 0, 0.1);
        if (!espi_probe_planner_next(j.q, &o, j.now_s, &order))
            continue;
        double Bps = true_Bps(&j, &order), took_s = ESPI_TRAIN_BYTES / Bps;
        double until_s, next_s = o.last_s + o.gap_s;
        begun++;
        if (next_s > j.now_s)
            assert_true(j.now_s + took_s < next_s);
        assert_false(espi_probe_planner_next(j.q, &long_quiet, j.now_s + 1, &other));
        assert_true(espi_probe_planner_open(j.q, &until_s) == order.number &&
                    until_s > j.now_s);
        enum espi_probe_end end = (enum espi_probe_end)espi_rng_below(&rng, 3);
        espi_probe_planner_answer(j.q, order.number, end, Bps, j.now_s, NULL, NULL);
        assert_true(espi_probe_planner_open(j.q, NULL) == 0);
        if (end == ESPI_PROBE_REFUSED)
            assert_false(
                espi_probe_planner_next(j.q, &long_quiet, j.now_s + 0.01, &other));
    }
    assert_true(begun > 100);
    close_job(&j);
}

/* Whatever the answers are, no link and no host is busy with probes for more than the
 * share, and every link has its turn. */
static void the_share_is_kept_and_all_have_their_turn(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct job j;
        double share = seed % 2 ? 0.05 : 0.01, link_s[256] = {0}, host_s[64] = {0};
        open_job(&j, small_grid(), share, seed);
        int n_links = j.p->n_links, links[16];
        double begun_s = j.now_s;
        while (j.now_s < begun_s + 200) {
            struct espi_probe_order order;
            struct espi_outlook o = quiet_for(j.now_s, 3);
            j.now_s += 0.01;
            if (!espi_probe_planner_next(j.q, &o, j.now_s, &order))
                continue;
            int n = way_between(j.p, order.from, order.to, links);
            double most_s = 0;
            for (int i = 0; i < n; i++) {
                double busy_s = ESPI_TRAIN_BYTES / j.p->bandwidth_Bps[links[i]];
                link_s[links[i]] += busy_s;
                most_s = fmax(most_s, busy_s);
                if (link_s[links[i]] - busy_s > share * (j.now_s - begun_s) + 1e-9)
                    fail_msg("seed %d: link %d is busy for too long", (int)seed,
                             links[i]);
            }
            int ends[2] = {order.from, order.to};
            for (int k = 0; k < 2; k++) {
                assert_true(host_s[ends[k]] <= share * (j.now_s - begun_s) + 1e-9);
                host_s[ends[k]] += most_s;
            }
            enum espi_probe_end end =
                espi_rng_below(&j.rng, 10) == 0 ? ESPI_PROBE_REFUSED : ESPI_PROBE_RATE;
            double Bps = espi_rng_log_range(&j.rng, 1e3, 1e9);
            espi_probe_planner_answer(j.q, order.number, end, Bps, j.now_s, NULL, NULL);
        }
        for (int e = 0; e < n_links; e++)
            if (!(link_s[e] > 0))
                fail_msg("seed %d: link %d was never looked at", (int)seed, e);
        close_job(&j);
    }
}

/* ---- which ---- */

static struct esp_plan *plan_of(const struct job *j, const char *algo)
{
    struct esp_platform *p = NULL;
    struct esp_request request;
    struct esp_plan *plan;
    assert_int_equal(espi_belief_platform(&j->belief, j->now_s, NULL, &p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = 1e6;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    esp_platform_free(p);
    return plan;
}

static void open_wide_job(struct job *j, int hosts)
{
    struct esp_sites_options o;
    struct esp_platform *p;
    esp_sites_options_defaults(&o);
    o.sites = 3;
    o.hosts = hosts;
    o.clusters = o.switches = 1;
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    open_job(j, p, 0.1, 11);
}

/* Probes that find all as it should be; by node, how many it took part in. */
static void count_probes(struct job *j, double seconds, int *by_node)
{
    double end_s = j->now_s + seconds;
    memset(by_node, 0, (size_t)j->p->n_nodes * sizeof *by_node);
    while (j->now_s < end_s) {
        struct espi_probe_order order;
        struct espi_outlook o = quiet_for(j->now_s, 3);
        j->now_s += 0.01;
        if (!espi_probe_planner_next(j->q, &o, j->now_s, &order))
            continue;
        by_node[order.from]++;
        by_node[order.to]++;
        espi_probe_planner_answer(j->q, order.number, ESPI_PROBE_RATE, 1e9, j->now_s,
                                  NULL, NULL);
    }
}

/* A job on a few hosts of a large platform probes between all of these, whichever they
 * are, and the next job does so between its own; where very many hosts can probe, only
 * some of them are asked. */
static void the_hosts_of_a_job_probe_on_large_platforms(void **state)
{
    static const int jobs[2][6] = {{1, 3, 101, 133, 201, 299},
                                   {7, 8, 111, 112, 213, 214}};
    struct job j;
    int by_node[512];
    (void)state;
    open_wide_job(&j, 100);
    assert_true(j.p->n_nodes < 512 && esp_platform_host_count(j.p) == 300);
    count_probes(&j, 10, by_node);
    int n_asked = 0;
    for (int i = 0; i < j.p->n_nodes; i++)
        n_asked += by_node[i] > 0;
    assert_true(n_asked > 100 && n_asked <= 256);
    for (int k = 0; k < 2; k++) {
        int hosts[6] = {0}, in_job = 0, in_all = 0;
        for (int i = 0; i < j.p->n_nodes; i++)
            espi_probe_planner_set_host(j.q, i, 0);
        for (int i = 0, host = 0; i < j.p->n_nodes; i++) {
            for (int n = 0; n < 6 && !espi_is_switch(j.p, i); n++)
                if (jobs[k][n] == host)
                    hosts[n] = i;
            host += !espi_is_switch(j.p, i);
        }
        for (int n = 0; n < 6; n++)
            espi_probe_planner_set_host(j.q, hosts[n], 1);
        count_probes(&j, 20, by_node);
        for (int n = 0; n < 6; n++) {
            assert_true(by_node[hosts[n]] > 0);
            in_job += by_node[hosts[n]];
        }
        for (int i = 0; i < j.p->n_nodes; i++)
            in_all += by_node[i];
        assert_int_equal(in_job, in_all);
    }
    close_job(&j);
}

/* Links of the plan in force are looked at more often than others of their kind. */
static void links_of_plans_come_first(void **state)
{
    struct job j;
    long in_plan = 0, others = 0, n_in = 0, n_others = 0, count[256] = {0};
    (void)state;
    open_job(&j, small_grid(), 0.02, 3);
    struct esp_plan *plan = plan_of(&j, "hierarchical");
    unsigned char passed[256] = {0};
    for (int i = 0; i < plan->trees[0].n_edges; i++) {
        int links[16], n = way_between(j.p, plan->trees[0].edges[i].from,
                                       plan->trees[0].edges[i].to, links);
        for (int k = 0; k < n; k++)
            passed[links[k]] = 1;
    }
    espi_probe_planner_mark(j.q, plan, ESPI_PROBE_PLANNER_IN_FORCE, 1);
    double end_s = j.now_s + 300;
    while (j.now_s < end_s) {
        struct espi_probe_order order;
        struct espi_outlook o = quiet_for(j.now_s, 20);
        j.now_s += 0.02;
        if (!espi_probe_planner_next(j.q, &o, j.now_s, &order))
            continue;
        int links[16], n = way_between(j.p, order.from, order.to, links);
        for (int i = 0; i < n; i++)
            count[links[i]]++;
        double Bps = true_Bps(&j, &order);
        espi_probe_planner_answer(j.q, order.number, ESPI_PROBE_RATE, Bps, j.now_s, NULL,
                                  NULL);
    }
    /* those between sites, of which some are in the plan */
    for (int e = 0; e < j.p->n_links; e++) {
        if (!espi_is_switch(j.p, j.p->tail[e]) || !espi_is_switch(j.p, j.p->head[e]))
            continue;
        *(passed[e] ? &in_plan : &others) += count[e];
        *(passed[e] ? &n_in : &n_others) += 1;
    }
    assert_true(n_in > 0 && n_others > 0 && others > 0);
    assert_true((double)in_plan / (double)n_in > 1.5 * (double)others / (double)n_others);
    esp_plan_free(plan);
    close_job(&j);
}

/* ---- what ---- */

/* Three sites of three hosts, so that no two links are passed by the same ways only. */
static struct esp_platform *plain_grid(void)
{
    struct esp_sites_options o;
    struct esp_platform *p;
    esp_sites_options_defaults(&o);
    o.sites = o.hosts = 3;
    o.clusters = o.switches = 1;
    o.lan_Bps = o.site_Bps = 125e6;
    o.wan_Bps = 50e6;
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    return p;
}

/* Whichever link loses most of its rate in a quiet spell, it alone is blamed; and it is
 * known again when it has all of it. */
static void loads_are_found_and_so_is_their_end(void **state)
{
    (void)state;
    struct esp_platform *sample = plain_grid();
    int n_links = sample->n_links;
    esp_platform_free(sample);
    for (int slow = 0; slow < n_links; slow++) {
        struct job j;
        int changes = 0, calm = 0;
        open_job(&j, plain_grid(), 0.1, (uint64_t)slow + 1);
        probe_for(&j, 30, &calm);
        assert_int_equal(calm, 0);
        j.factor[slow] = 0.15;
        probe_for(&j, 30, &changes);
        assert_true(changes > 0);
        double least = 1;
        int n_slow = 0;
        for (int e = 0; e < n_links; e++) {
            n_slow += believed(&j, e) < 0.7;
            least = fmin(least, believed(&j, e));
        }
        if (n_slow != 1 || !(least < 0.5))
            fail_msg("link %d: %d links are blamed, the worst has %g", slow, n_slow,
                     least);
        if (!(believed(&j, slow) < 0.4))
            fail_msg("link %d is not the one that is blamed", slow);
        j.factor[slow] = 1;
        probe_for(&j, 30, &changes);
        for (int e = 0; e < n_links; e++)
            if (!(believed(&j, e) > 0.8))
                fail_msg("link %d: %d is still believed to have %g", slow, e,
                         believed(&j, e));
        close_job(&j);
    }
}

/* Where probes never show what the platform says, nobody is blamed for it. */
static void probes_that_cannot_show_links_are_doubted(void **state)
{
    struct job j;
    struct espi_probe_tally t;
    (void)state;
    open_job(&j, small_grid(), 0.1, 5);
    for (int e = 0; e < j.p->n_links; e++)
        j.factor[e] = 0.05;
    probe_for(&j, 60, NULL);
    for (int e = 0; e < j.p->n_links; e++)
        assert_true(believed(&j, e) > 0.99);
    espi_probe_planner_tally(j.q, &t);
    assert_true(t.heard > 10 && t.doubted > 0 && t.changed == 0);
    assert_true(t.bytes == (double)t.sent * ESPI_TRAIN_BYTES);
    close_job(&j);
}

static void answers_that_are_none_are_passed_over(void **state)
{
    static const double rates[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300};
    struct job j;
    struct espi_probe_order order;
    struct espi_probe_tally t;
    (void)state;
    open_job(&j, small_grid(), 0.1, 5);
    espi_probe_planner_next(j.q, &long_quiet, j.now_s, &order);
    j.now_s = 5000;
    assert_true(espi_probe_planner_next(j.q, &long_quiet, j.now_s, &order));
    espi_probe_planner_answer(j.q, order.number + 1, ESPI_PROBE_RATE, 1, j.now_s, NULL,
                              NULL);
    espi_probe_planner_answer(j.q, 0, ESPI_PROBE_RATE, 1, j.now_s, NULL, NULL);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        espi_probe_planner_answer(j.q, order.number, ESPI_PROBE_RATE, rates[i], j.now_s,
                                  NULL, NULL);
    espi_probe_planner_tally(j.q, &t);
    assert_true(t.heard == 0 && espi_probe_planner_open(j.q, NULL) == order.number);
    espi_probe_planner_set_host(j.q, -1, 1);
    espi_probe_planner_set_host(j.q, j.p->n_nodes, 1);
    espi_probe_planner_tally(j.q, &t);
    assert_int_equal(t.hosts, esp_platform_host_count(j.p));
    close_job(&j);
}

/* The advisor takes probes in: after a load in a quiet spell it plans around the link
 * before anybody has called, and a new platform keeps the probers. */
static void the_advisor_hears_probes(void **state)
{
    struct esp_platform *p = small_grid();
    struct espi_advisor_options options = {.work = 1, .probe_share = 0.1};
    struct espi_advisor *a;
    struct espi_probe_order order;
    struct espi_probe_tally t;
    (void)state;
    int wan = esp_platform_find_link(p, esp_platform_find_node(p, "s1-router"),
                                     esp_platform_find_node(p, "s2-router"));
    assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
    assert_false(espi_advisor_next_probe(a, 10, &order)); /* nobody can */
    for (int i = 0; i < p->n_nodes; i++)
        espi_advisor_set_prober(a, i, 1);
    double now_s = 100;
    int changed, changes = 0;
    for (int i = 0; i < 3000; i++, now_s += 0.05) {
        if (!espi_advisor_next_probe(a, now_s, &order))
            continue;
        int links[16], n = way_between(p, order.from, order.to, links);
        double Bps = INFINITY;
        for (int k = 0; k < n; k++)
            Bps = fmin(Bps, p->bandwidth_Bps[links[k]] *
                                (links[k] == wan && i > 1500 ? 0.2 : 1));
        assert_int_equal(espi_advisor_probed(a, order.number, ESPI_PROBE_RATE, Bps, now_s,
                                             &changed, NULL),
                         ESP_OK);
        changes += changed;
    }
    assert_true(changes > 0);
    assert_true(espi_advisor_factor(a, wan, now_s, NULL) < 0.4);
    espi_advisor_probed(a, 1, 99, 1, now_s, &changed, NULL);
    assert_int_equal(espi_advisor_renew(a, p, NULL), ESP_OK);
    assert_true(espi_advisor_factor(a, wan, now_s, NULL) == 1);
    assert_true(espi_advisor_probes(a, &t) && t.hosts == esp_platform_host_count(p));
    espi_advisor_free(a);
    options.probe_share = 0;
    assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
    espi_advisor_set_prober(a, 0, 1);
    assert_false(espi_advisor_next_probe(a, 1000, &order));
    assert_false(espi_advisor_probes(a, &t));
    espi_advisor_free(a);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status probe_once(void *arg)
{
    struct espi_advisor_options options = {.work = 1, .probe_share = 0.1};
    struct espi_advisor *a;
    struct espi_probe_order order = {.number = 0};
    int changed;
    esp_status st = espi_advisor_create(arg, &options, &a, NULL);
    if (st)
        return st;
    for (int i = 0; i < 8; i++)
        espi_advisor_set_prober(a, i, 1);
    espi_advisor_next_probe(a, 1, &order);
    espi_advisor_next_probe(a, 1000, &order);
    st = espi_advisor_probed(a, order.number, ESPI_PROBE_RATE, 1e9, 1000, &changed, NULL);
    if (!st)
        st = espi_advisor_renew(a, arg, NULL);
    espi_advisor_free(a);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    assert_true(alloc_fail_each(probe_once, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_until_the_call_that_is_expected),
        cmocka_unit_test(probes_keep_out_of_the_way_of_calls),
        cmocka_unit_test(the_share_is_kept_and_all_have_their_turn),
        cmocka_unit_test(the_hosts_of_a_job_probe_on_large_platforms),
        cmocka_unit_test(links_of_plans_come_first),
        cmocka_unit_test(loads_are_found_and_so_is_their_end),
        cmocka_unit_test(probes_that_cannot_show_links_are_doubted),
        cmocka_unit_test(answers_that_are_none_are_passed_over),
        cmocka_unit_test(the_advisor_hears_probes),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
