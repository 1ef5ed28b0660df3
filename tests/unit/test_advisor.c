/* The advisor: what it makes of reports, what it predicts, what it publishes, and that it
 * believes nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "advisor/advisor.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "channel/report.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/reports.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* Broadcasts by the plan on the real network; all ranks tell of it. */
static void broadcast(struct espi_advisor *a, const struct esp_platform *p,
                      const struct esp_plan *plan, const struct esp_platform *reality,
                      uint64_t call, double now_s)
{
    struct espi_report reports[64];
    int n = reports_of(p, plan, reality, plan->size_bytes, call, now_s, reports);
    for (int i = 0; i < n; i++)
        assert_int_equal(espi_advisor_hear(a, &reports[i], now_s, NULL), ESP_OK);
}

static struct esp_platform *slowed(const struct esp_platform *p, int link, double by)
{
    double factor[256];
    struct esp_platform *out;
    for (int e = 0; e < p->n_links; e++)
        factor[e] = e == link ? by : 1;
    assert_int_equal(espi_platform_scaled(p, factor, factor, &out, NULL), ESP_OK);
    return out;
}

static struct esp_plan *made(const struct esp_platform *p, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = 2e6;
    request.slice_bytes = 65536;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    return plan;
}

/* The link between two sites that the plan uses is slow, and so it is found out, and the
 * one to the third site is not blamed; when it is not heard of any more, it is given
 * another chance. */
static void slow_links_are_found_and_forgiven(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor_options options = {.window = 1, .work = 1, .forget_s = 100};
    struct espi_advisor *a;
    struct esp_plan *plan = made(p, "hierarchical");
    int from = esp_platform_find_node(p, "s1-router");
    int slow = esp_platform_find_link(p, from, esp_platform_find_node(p, "s2-router"));
    int fast = esp_platform_find_link(p, from, esp_platform_find_node(p, "s3-router"));
    struct esp_platform *reality = slowed(p, slow, 0.2);
    assert_true(slow >= 0 && fast >= 0);
    assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
    for (uint64_t call = 1; call <= 4; call++)
        broadcast(a, p, plan, p, call, 10 * (double)call);
    assert_true(espi_advisor_factor(a, slow, 40, NULL) > 0.9);
    for (uint64_t call = 5; call <= 8; call++)
        broadcast(a, p, plan, reality, call, 10 * (double)call);
    assert_true(espi_advisor_factor(a, slow, 80, NULL) < 0.45);
    assert_true(espi_advisor_factor(a, fast, 80, NULL) > 0.9);
    assert_true(espi_advisor_factor(a, slow, 1080, NULL) > 0.95);
    espi_advisor_free(a);
    esp_plan_free(plan);
    esp_platform_free(reality);
    esp_platform_free(p);
}

/* The first call by a plan makes connections, and may be slow for it: no link is blamed;
 * but one that is as slow again is. */
static void first_messages_between_hosts_blame_nobody(void **state)
{
    static const char *const algos[] = {"hierarchical", "chain", "flat"};
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor_options options = {.window = 1, .work = 1};
    struct espi_advisor *a;
    int slow = esp_platform_find_link(p, esp_platform_find_node(p, "s1-router"),
                                      esp_platform_find_node(p, "s2-router"));
    struct esp_platform *reality = slowed(p, slow, 0.2);
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct esp_plan *plan = made(p, algos[i]);
        assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
        broadcast(a, p, plan, reality, 1, 10);
        for (int e = 0; e < p->n_links; e++)
            assert_true(espi_advisor_factor(a, e, 10, NULL) == 1);
        broadcast(a, p, plan, reality, 2, 20);
        assert_true(espi_advisor_factor(a, slow, 20, NULL) < 0.5);
        espi_advisor_free(a);
        esp_plan_free(plan);
    }
    esp_platform_free(reality);
    esp_platform_free(p);
}

/* On a network without load nobody is blamed, whatever the tree: also where a sender has
 * children near and far, which it serves in turns. */
static void nobody_is_blamed_without_load(void **state)
{
    static const char *const algos[] = {"hierarchical", "hierarchical:wan=binomial",
                                        "binomial",     "chain",
                                        "grow",         "prune-degree",
                                        "flat"};
    (void)state;
    struct esp_platform *p = small_grid();
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct espi_advisor_options options = {.window = 1, .work = 1};
        struct espi_advisor *a;
        struct esp_plan *plan = made(p, algos[i]);
        assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
        for (uint64_t call = 1; call <= 4; call++)
            broadcast(a, p, plan, p, call, 10 * (double)call);
        for (int e = 0; e < p->n_links; e++)
            if (!(espi_advisor_factor(a, e, 40, NULL) > 0.9))
                fail_msg("%s: %s>%s is believed to have %g", algos[i],
                         espi_node_name(p, p->tail[e]), espi_node_name(p, p->head[e]),
                         espi_advisor_factor(a, e, 40, NULL));
        espi_advisor_free(a);
        esp_plan_free(plan);
    }
    esp_platform_free(p);
}

/* Ranks may be a call ahead of others: the reports of both calls count. */
static void reports_of_several_calls_may_mix(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor_options options = {.window = 1, .work = 1};
    struct espi_advisor *a;
    struct esp_plan *plan = made(p, "hierarchical");
    struct espi_report first[64], second[64];
    struct espi_outlook o;
    int n = reports_of(p, plan, p, plan->size_bytes, 1, 10, first);
    assert_int_equal(reports_of(p, plan, p, plan->size_bytes, 2, 20, second), n);
    assert_int_equal(espi_advisor_create(p, &options, &a, NULL), ESP_OK);
    for (int i = 0; i <= n; i++) {
        if (i < n)
            assert_int_equal(espi_advisor_hear(a, &first[i], 10, NULL), ESP_OK);
        if (i > 0)
            assert_int_equal(espi_advisor_hear(a, &second[i - 1], 20, NULL), ESP_OK);
    }
    espi_advisor_outlook(a, 20, &o);
    assert_int_equal(o.calls, 2);
    assert_int_equal(o.whole, 2);
    espi_advisor_free(a);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void the_next_call_is_predicted(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor *a;
    struct espi_outlook o;
    double now_s = 1000, gap_s = 90;
    assert_int_equal(espi_advisor_create(p, NULL, &a, NULL), ESP_OK);
    espi_advisor_outlook(a, 0, &o);
    assert_int_equal(o.busy, 0);
    assert_int_equal(o.root, -1);
    for (int call = 0; call < 20; call++) {
        struct espi_report r = {.magic = ESPI_REPORT_MAGIC,
                                .version = ESPI_REPORT_VERSION,
                                .parent = -1,
                                .n = p->n_hosts,
                                .call = (uint64_t)call,
                                .bytes = (uint64_t)(1000000 - 20000 * call),
                                .slices = 1};
        assert_int_equal(espi_advisor_hear(a, &r, now_s, NULL), ESP_OK);
        now_s += gap_s;
        gap_s *= 0.8;
    }
    espi_advisor_outlook(a, now_s, &o);
    assert_int_equal(o.busy, 1);
    assert_true(fabs(o.size_bytes - 600000) < 1);
    assert_true(fabs(o.gap_s - gap_s / 0.8) < 1e-6 * gap_s);
    espi_advisor_outlook(a, now_s + 1e6, &o);
    assert_int_equal(o.busy, 0);
    espi_advisor_free(a);
    esp_platform_free(p);
}

static int any_host(const struct esp_platform *p, struct espi_rng *rng)
{
    int node;
    do
        node = (int)espi_rng_below(rng, (uint64_t)p->n_nodes);
    while (espi_is_switch(p, node));
    return node;
}

static void nonsense_is_passed_over(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor *a;
    struct espi_rng rng;
    struct espi_advice advice;
    espi_rng_seed(&rng, test_seed(4));
    assert_int_equal(
        espi_advisor_create(p, &(struct espi_advisor_options){.work = 1}, &a, NULL),
        ESP_OK);
    enum { WAYS = 12 };
    for (int i = 0; i < 20000; i++) {
        struct espi_report r = {.n_ways = 0};
        unsigned char *bytes = (unsigned char *)&r;
        for (size_t k = 0; k < offsetof(struct espi_report, way[WAYS]); k++)
            bytes[k] = (unsigned char)espi_rng_below(&rng, 256);
        if (i % 2) { /* nearly right: any trees, circles among them, any times */
            r.magic = ESPI_REPORT_MAGIC;
            r.version = ESPI_REPORT_VERSION;
            r.node = (int)espi_rng_below(&rng, 16) - 2;
            r.root = (int)espi_rng_below(&rng, 3);
            r.parent = (int)espi_rng_below(&rng, 16) - 2;
            r.n = p->n_hosts;
            r.call = (uint64_t)i / 40;
            r.bytes = 100000;
            r.slices = (double)(1 + r.call % 20); /* of few, children alone tell */
            r.receive_s = espi_rng_log_range(&rng, 1e-9, 1e3);
            r.total_s = espi_rng_uniform(&rng);
            r.window = (int)(r.call % 3);
            r.n_ways = (int)espi_rng_below(&rng, WAYS + 2) - 1;
            for (int k = 0; k < r.n_ways; k++) {
                struct espi_report_way *w = &r.way[k];
                w->peer = any_host(p, &rng);
                w->kind = (uint8_t)espi_rng_below(&rng, r.call % 8 ? 3 : 4);
                w->tree = (uint16_t)espi_rng_below(&rng, 3);
                w->slices = (uint32_t)espi_rng_below(&rng, 20) + (r.call % 4 != 0);
                w->seconds = (float)espi_rng_log_range(&rng, 1e-9, 1e3);
            }
        }
        assert_int_equal(espi_advisor_hear(a, &r, i, NULL), ESP_OK);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(espi_advisor_plan(a, 20000 + i, &advice, NULL), ESP_OK);
        assert_int_equal(esp_plan_check(advice.plan, p, NULL), ESP_OK);
        esp_plan_free(advice.plan);
    }
    espi_advisor_free(a);
    esp_platform_free(p);
}

/* Idle: all sizes take turns. */
static void while_idle_all_sizes_take_turns(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advisor *a;
    assert_int_equal(
        espi_advisor_create(p, &(struct espi_advisor_options){.work = 1}, &a, NULL),
        ESP_OK);
    for (int i = 0; i < 24; i++) {
        struct espi_advice advice;
        assert_int_equal(espi_advisor_plan(a, i, &advice, NULL), ESP_OK);
        assert_int_equal(advice.size_class, 10 + i % 12);
        assert_int_equal(advice.is_new, i < 12);
        esp_plan_free(advice.plan);
    }
    espi_advisor_free(a);
    esp_platform_free(p);
}

static void files_and_socket_are_ours_only(void **state)
{
    char folder[] = "/tmp/espalier-test-XXXXXX", path[128], *text = NULL;
    struct espi_advice_seen seen = {0};
    struct espi_reporter reporter = {.fd = -1};
    struct espi_report r = {.magic = ESPI_REPORT_MAGIC};
    union espi_news_text got;
    struct stat s;
    size_t length;
    int fd, peer;
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advice advice = {
        .size_class = 21, .plan = made(p, "binomial"), .is_new = 1};
    struct esp_plan *read = NULL;
    assert_int_equal(espi_advice_listen(folder, &fd, NULL), ESP_OK);
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/advisor.sock", folder);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    espi_news_send(&reporter, folder, &r, espi_report_bytes(&r));
    peer = espi_advice_accept(fd);
    assert_true(peer >= 0);
    assert_int_equal(espi_advice_receive(peer, &got), ESPI_NEWS_REPORT);
    assert_memory_equal(&got.report, &r, espi_report_bytes(&r));
    assert_int_equal(espi_advice_receive(peer, &got), ESPI_NEWS_NONE);
    assert_int_equal(send(reporter.fd, "nonsense", 8, 0), 8);
    assert_int_equal(espi_advice_receive(peer, &got), ESPI_NEWS_END);
    close(peer);
    espi_news_send(&reporter, folder, &r,
                   espi_report_bytes(&r)); /* nobody is there: no harm */
    assert_int_equal(espi_advice_write(folder, p, &advice, NULL), ESP_OK);
    assert_int_equal(espi_advice_read(folder, 0, 21, &seen, &text, &length), 1);
    assert_int_equal(esp_plan_parse(text, length, "x", p, &read, NULL), ESP_OK);
    espi_free(text);
    assert_int_equal(espi_advice_read(folder, 0, 21, &seen, &text, &length), 0);
    assert_int_equal(espi_advice_read(folder, 1, 21, &seen, &text, &length), 0);
    snprintf(path, sizeof path, "%s/plan-0-21.json", folder);
    assert_int_equal(chmod(path, 0666), 0); /* others could have written it */
    memset(&seen, 0, sizeof seen);
    assert_int_equal(espi_advice_read(folder, 0, 21, &seen, &text, &length), 0);
    espi_reporter_done(&reporter);
    close(fd);
    espi_advice_clean(folder);
    assert_int_equal(stat(folder, &s), -1);
    esp_plan_free(read);
    esp_plan_free(advice.plan);
    esp_platform_free(p);
}

/* Only a folder that was made on this machine is here. */
static void machines_are_told_apart(void **state)
{
    char folder[] = "/tmp/espalier-test-XXXXXX", path[128];
    static const char *const lies[] = {"", "elsewhere\n",
                                       "00000000-0000-0000-0000-000000000000\n"};
    (void)state;
    assert_int_equal(espi_advice_is_here("/nonexistent"), 0);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(espi_advice_is_here(folder), 0);
    assert_int_equal(espi_advice_mark(folder, NULL), ESP_OK);
    assert_int_equal(espi_advice_is_here(folder), 1);
    snprintf(path, sizeof path, "%s/machine", folder);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(lies[i], f);
        fclose(f);
        assert_int_equal(espi_advice_is_here(folder), 0);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/proc/sys/kernel/random/boot_id", path), 0);
    assert_int_equal(espi_advice_is_here(folder), 0);
    espi_advice_clean(folder);
}

static void refuses(const char *folder, const char *why)
{
    struct espi_advice_seen seen = {0};
    struct esp_err err = {.text = ""};
    char *text = NULL;
    size_t length;
    assert_int_equal(espi_advice_is_here(folder), 0);
    assert_int_equal(espi_advice_check(folder, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, folder));
    assert_non_null(strstr(err.text, why));
    assert_int_equal(espi_advice_read(folder, 0, 21, &seen, &text, &length), 0);
}

/* Whoever can guess the name of this run of the kernel, as all on the machine can, is
 * not yet the advisor. */
static void folders_of_others_are_not_used(void **state)
{
    char folder[] = "/tmp/espalier-test-XXXXXX", link[64], path[128], *text = NULL;
    struct espi_advice_seen seen = {0};
    struct esp_err err;
    size_t length;
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advice advice = {
        .size_class = 21, .plan = made(p, "binomial"), .is_new = 1};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(espi_advice_mark(folder, NULL), ESP_OK);
    assert_int_equal(espi_advice_write(folder, p, &advice, NULL), ESP_OK);
    assert_int_equal(espi_advice_check(folder, &err), ESP_OK);
    assert_int_equal(espi_advice_check("/nonexistent", &err), ESP_EIO);
    assert_int_equal(chmod(folder, 0777), 0);
    refuses(folder, "others can write");
    assert_int_equal(chmod(folder, 0720), 0);
    refuses(folder, "others can write");
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(espi_advice_is_here(folder), 1);
    snprintf(link, sizeof link, "%s-link", folder);
    assert_int_equal(symlink(folder, link), 0);
    refuses(link, "link");
    assert_int_equal(unlink(link), 0);
    snprintf(path, sizeof path, "%s/machine", folder);
    assert_int_equal(chmod(path, 0622), 0);
    assert_int_equal(espi_advice_is_here(folder), 0);
    assert_int_equal(chmod(path, 0600), 0);
    if (geteuid() == 0) { /* only root can give things away */
        assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
        refuses(folder, "another user");
        assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
    }
    assert_int_equal(espi_advice_read(folder, 0, 21, &seen, &text, &length), 1);
    espi_free(text);
    espi_advice_clean(folder);
    esp_plan_free(advice.plan);
    esp_platform_free(p);
}

/* What somebody puts in the place of our files keeps nobody waiting and is gone in the
 * end. */
static void odd_files_do_no_harm(void **state)
{
    char folder[] = "/tmp/espalier-test-XXXXXX", path[128];
    struct stat look;
    (void)state;
    struct esp_platform *p = small_grid();
    struct espi_advice advice = {
        .size_class = 21, .plan = made(p, "binomial"), .is_new = 1};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/plan-0-21.new", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/plan-1-3.json", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/machine", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_int_equal(espi_advice_write(folder, p, &advice, NULL), ESP_OK);
    assert_int_equal(espi_advice_mark(folder, NULL), ESP_EIO);
    assert_int_equal(espi_advice_is_here(folder), 0);
    alarm(0);
    espi_advice_clean(folder);
    assert_int_equal(stat(folder, &look), -1);
    esp_plan_free(advice.plan);
    esp_platform_free(p);
}

static struct espi_report told[16];
static int told_n;

/* An algorithm that is named: what weighs all keeps things that it can do without. */
static esp_status advise_once(void *arg)
{
    struct espi_advisor *a;
    struct espi_advice advice;
    esp_status st = espi_advisor_create(
        arg, &(struct espi_advisor_options){.work = 1, .algo = "grow"}, &a, NULL);
    if (st)
        return st;
    for (int i = 0; i < told_n && !st; i++)
        st = espi_advisor_hear(a, &told[i], 0, NULL);
    if (!st)
        st = espi_advisor_plan_for(a, 0, 1000, 0, &advice, NULL);
    if (!st)
        esp_plan_free(advice.plan);
    espi_advisor_free(a);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = small_grid();
    struct esp_plan *plan = made(p, "mtp");
    told_n = reports_of(p, plan, p, plan->size_bytes, 1, 0, told);
    assert_true(alloc_fail_some(advise_once, p, 100) > 10);
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_links_are_found_and_forgiven),
        cmocka_unit_test(first_messages_between_hosts_blame_nobody),
        cmocka_unit_test(nobody_is_blamed_without_load),
        cmocka_unit_test(reports_of_several_calls_may_mix),
        cmocka_unit_test(machines_are_told_apart),
        cmocka_unit_test(folders_of_others_are_not_used),
        cmocka_unit_test(odd_files_do_no_harm),
        cmocka_unit_test(the_next_call_is_predicted),
        cmocka_unit_test(nonsense_is_passed_over),
        cmocka_unit_test(while_idle_all_sizes_take_turns),
        cmocka_unit_test(files_and_socket_are_ours_only),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
