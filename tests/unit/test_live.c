/* The advisor's page: its address, its token, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "base/clock.h"
#include "base/rng.h"
#include "live/server.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/live_scene.h"
#include "support/reports.h"
#include "support/seed.h"

/* ---- the door ---- */

static void addresses_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int good, port, is_loopback;
    } cases[] = {
        {"127.0.0.1:8080", 1, 8080, 1}, {"8080", 1, 8080, 1},
        {"localhost:0", 1, 0, 1},       {":81", 1, 81, 1},
        {"[::1]:65535", 1, 65535, 1},   {"127.9.9.9:1", 1, 1, 1},
        {"0.0.0.0:80", 1, 80, 0},       {"[::]:80", 1, 80, 0},
        {"10.1.2.3:80", 1, 80, 0},      {"[::ffff:127.0.0.1]:80", 1, 80, 1},
        {"[2001:db8::1]:80", 1, 80, 0}, {"", 0, 0, 0},
        {"127.0.0.1", 0, 0, 0},         {"127.0.0.1:", 0, 0, 0},
        {"127.0.0.1:65536", 0, 0, 0},   {"127.0.0.1:-1", 0, 0, 0},
        {"127.0.0.1:8 0", 0, 0, 0},     {"::1:80", 0, 0, 0},
        {"[::1:80", 0, 0, 0},           {"example.org:80", 0, 0, 0},
        {"1.2.3:80", 0, 0, 0},          {"[127.0.0.1]:99999999999", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct espi_address a;
        esp_status st = espi_address_parse(cases[i].text, &a, NULL);
        if ((st == ESP_OK) != cases[i].good)
            fail_msg("%s", cases[i].text);
        if (st)
            continue;
        assert_int_equal(a.port, cases[i].port);
        assert_int_equal(a.is_loopback, cases[i].is_loopback);
    }
}

static void names_of_others_are_refused(void **state)
{
    (void)state;
    static const char *const safe[] = {"127.0.0.1",   "127.0.0.1:8080", "localhost",
                                       "localhost:9", "[::1]",          "[::1]:80",
                                       "10.0.0.7:80"};
    static const char *const unsafe[] = {"",
                                         "evil.example",
                                         "evil.example:8080",
                                         "localhost.evil.example",
                                         ":8080",
                                         "127.0.0.1.evil:1",
                                         "127.0.0.1:80:90",
                                         "127.0.0.1:x",
                                         "[::1",
                                         "localhost:99999",
                                         "127.0.0.1@evil.com",
                                         "127.0.0.1 evil.com",
                                         "localhost.",
                                         "127.1",
                                         "2130706433",
                                         "0x7f.0.0.1"};
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (!espi_host_is_safe(safe[i]))
            fail_msg("%s", safe[i]);
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (espi_host_is_safe(unsafe[i]))
            fail_msg("%s", unsafe[i]);
    assert_false(espi_host_is_safe(NULL));
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void tokens_are_kept_to_oneself(void **state)
{
    (void)state;
    struct espi_token one, two, read;
    char folder[] = "/tmp/espalier-live-XXXXXX", path[128];
    int port;
    assert_int_equal(espi_token_make(&one, NULL), ESP_OK);
    assert_int_equal(espi_token_make(&two, NULL), ESP_OK);
    assert_int_equal(strlen(one.text), 32);
    assert_string_not_equal(one.text, two.text);
    assert_true(espi_token_is_good(one.text));
    assert_false(espi_token_is_good("short"));
    assert_false(espi_token_is_good("with a blank in it"));
    assert_true(espi_token_matches(&one, one.text));
    assert_false(espi_token_matches(&one, two.text));
    assert_false(espi_token_matches(&one, NULL));
    assert_false(espi_token_matches(&one, ""));
    strcpy(read.text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_false(espi_token_matches(&read, "a")); /* though it repeats */
    strcpy(two.text, one.text);
    two.text[31] ^= 1;
    assert_false(espi_token_matches(&one, two.text));

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/token", folder);
    write_file(path, "abcdefghij0123456789\n", 0600);
    assert_int_equal(espi_token_read(path, &read, NULL), ESP_OK);
    assert_string_equal(read.text, "abcdefghij0123456789");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(espi_token_read(path, &read, NULL), ESP_EINPUT);
    write_file(path, "short\n", 0600);
    assert_int_equal(espi_token_read(path, &read, NULL), ESP_EINPUT);
    unlink(path);
    assert_int_equal(espi_token_read(path, &read, NULL), ESP_EINPUT);

    /* An advisor that comes after another finds its place. */
    assert_int_equal(espi_http_access_recall(folder, &port, &read), -1);
    assert_int_equal(
        espi_http_access_remember(
            folder, "http://127.0.0.1:4711/?token=abcdefghij0123456789", NULL),
        ESP_OK);
    assert_int_equal(espi_http_access_recall(folder, &port, &read), 0);
    assert_int_equal(port, 4711);
    assert_string_equal(read.text, "abcdefghij0123456789");
    snprintf(path, sizeof path, "%s/live.url", folder);
    write_file(path, "http://127.0.0.1:4711/?token=<script>", 0600);
    assert_int_equal(espi_http_access_recall(folder, &port, &read), -1);
    espi_advice_clean(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
}

/* ---- the ledger ---- */

static json_t *state_of(struct scene *s, uint64_t since, double now_s)
{
    char *text = NULL;
    size_t length;
    json_error_t error;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(espi_live_log_write_state(s->l, since, now_s, out, NULL), ESP_OK);
    fclose(out);
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("%s: %s", error.text, text);
    free(text);
    return json;
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* All ranks tell of a call, in some order; then what the root says of it. */
static double tell_call(struct scene *s, const struct esp_plan *plan, uint64_t call,
                        double bytes, double began_s, int backwards)
{
    struct espi_report reports[64];
    int n = reports_of(s->p, plan, NULL, bytes, call, began_s, reports);
    double took_s = 0;
    for (int i = 0; i < n; i++) {
        const struct espi_report *r = &reports[backwards ? n - 1 - i : i];
        took_s = fmax(took_s, r->total_s);
        espi_live_log_report(s->l, s->a, r, began_s + 5);
        espi_advisor_hear(s->a, r, began_s + 5, NULL);
    }
    return took_s;
}

static void calls_are_measured_beside_their_forecast(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    struct esp_plan *plan = publish(&s, 1e6, 90);
    double took_s = tell_call(&s, plan, 1, 1e6, 100, 0);
    tell_call(&s, plan, 2, 1e6, 110, 1);
    struct espi_outcome o = outcome_of(2, 1e6);
    espi_live_log_outcome(s.l, &o, 116);
    json_t *json = state_of(&s, 0, 120), *calls = json_object_get(json, "calls");
    assert_int_equal(json_array_size(calls), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *call = json_array_get(calls, i);
        assert_true(fabs(number(call, "took_s") - took_s) < 1e-9);
        assert_int_equal(number(call, "plan"), 1);
        assert_int_equal(number(call, "heard"), 6);
        assert_true(number(call, "forecast_s") > 0);
        assert_true(fabs(number(call, "ago_s") - (20 - 10 * (double)i - took_s)) < 1e-9);
    }
    /* Nothing was heard before the first call: the network is believed to be as it is. */
    assert_true(fabs(number(json_array_get(calls, 0), "forecast_s") - took_s) < 1e-9);
    assert_true(json_is_null(json_object_get(json_array_get(calls, 0), "native_s")));
    assert_true(number(json_array_get(calls, 1), "native_s") == 0.9);
    assert_int_equal(number(json, "in_force"), 1);
    const json_t *decision = json_array_get(json_object_get(json, "decisions"), 0);
    assert_int_equal(number(decision, "ours"), 1);
    assert_int_equal(number(decision, "native"), 0);
    json_decref(json);
    json = state_of(&s, 1, 120);
    assert_int_equal(json_array_size(json_object_get(json, "calls")), 1);
    json_decref(json);
    end(&s);
}

/* What a plan was replaced by is not taken for what ran. */
static void the_plan_that_ran_is_known(void **state)
{
    (void)state;
    struct scene s;
    struct esp_request request;
    struct espi_advice advice = {.root = 0, .size_class = 20};
    begin(&s);
    struct esp_plan *first = publish(&s, 1e6, 10), *flat, *other;
    esp_request_init(&request, 0);
    request.algo = "flat";
    request.size_bytes = 1e6;
    request.slice_bytes = 65536;
    assert_int_equal(esp_plan_make(s.p, &request, &advice.plan, NULL), ESP_OK);
    flat = advice.plan;
    espi_live_log_publish(s.l, s.a, &advice, 20);
    tell_call(&s, first, 1, 9e5, 30, 0);
    tell_call(&s, flat, 2, 9e5, 40, 0);
    request.algo = "chain";
    assert_int_equal(esp_plan_make(s.p, &request, &other, NULL), ESP_OK);
    tell_call(&s, other, 3, 9e5, 50, 0);
    esp_plan_free(other);
    json_t *json = state_of(&s, 0, 60), *calls = json_object_get(json, "calls");
    assert_int_equal(number(json_array_get(calls, 0), "plan"), 1);
    assert_int_equal(number(json_array_get(calls, 1), "plan"), 2);
    assert_true(json_is_null(json_object_get(json_array_get(calls, 2), "plan")));
    assert_int_equal(json_array_size(json_object_get(json, "plans")), 1);
    json_decref(json);
    /* Measured anew: all plans are gone. */
    assert_int_equal(espi_live_log_set_network(s.l, s.p, 70, NULL), ESP_OK);
    json = state_of(&s, 0, 80);
    assert_int_equal(json_array_size(json_object_get(json, "plans")), 0);
    assert_int_equal(number(json, "network"), 2);
    json_decref(json);
    end(&s);
}

static void only_the_last_calls_are_kept(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    for (uint64_t i = 1; i <= 1300; i++) {
        struct espi_outcome o = outcome_of(0, (double)i);
        o.op = (int)(i % ESP_OP_COUNT);
        o.ours = i % 2 == 0;
        o.skipped = 2;
        espi_live_log_outcome(s.l, &o, 100);
    }
    json_t *json = state_of(&s, 0, 200), *calls = json_object_get(json, "calls");
    assert_int_equal(json_array_size(calls), ESPI_LIVE_CALLS);
    assert_int_equal(number(json_array_get(calls, 0), "n"), 1300 - ESPI_LIVE_CALLS + 1);
    assert_int_equal(number(json_array_get(calls, ESPI_LIVE_CALLS - 1), "bytes"), 1300);
    assert_int_equal(number(json, "skipped"), 2600);
    json_decref(json);
    json = state_of(&s, 1300, 200);
    assert_int_equal(json_array_size(json_object_get(json, "calls")), 0);
    json_decref(json);
    json = state_of(&s, UINT64_MAX, 200);
    assert_int_equal(json_array_size(json_object_get(json, "calls")), 0);
    json_decref(json);
    end(&s);
}

static void nonsense_does_no_harm(void **state)
{
    (void)state;
    struct scene s;
    struct espi_rng rng;
    begin(&s);
    publish(&s, 1e5, 0);
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < 20000; i++) {
        struct espi_report r = {.n_ways = 0};
        struct espi_outcome o;
        unsigned char *a = (unsigned char *)&r, *b = (unsigned char *)&o;
        for (size_t k = 0; k < offsetof(struct espi_report, way[8]); k++)
            a[k] = (unsigned char)espi_rng_below(&rng, 256);
        for (size_t k = 0; k < sizeof o; k++)
            b[k] = (unsigned char)espi_rng_below(&rng, 256);
        if (i % 2) {
            r.magic = ESPI_REPORT_MAGIC;
            r.version = ESPI_REPORT_VERSION;
            r.node = (int)espi_rng_below(&rng, 12) - 1;
            r.root = (int)espi_rng_below(&rng, 2);
            r.parent = (int)espi_rng_below(&rng, 12) - 1;
            r.n = 6;
            r.call = (uint64_t)i / 16;
            r.bytes = 100000;
            r.slices = 20;
            r.receive_s = r.total_s = espi_rng_uniform(&rng);
            r.window = r.n_ways = 0;
            o.magic = ESPI_OUTCOME_MAGIC;
            o.version = ESPI_OUTCOME_VERSION;
            o.op = (int)espi_rng_below(&rng, ESP_OP_COUNT);
            o.root = (int)espi_rng_below(&rng, 8) - 1;
            o.ranks = 6;
            o.call = r.call;
            o.bytes = 100000;
            o.total_s = o.ours_s = o.native_s = espi_rng_uniform(&rng);
            o.algo[47] = '\0'; /* of every other one it is no text */
            if (i % 4 == 1)
                snprintf(o.algo, sizeof o.algo, "chain \xc3\xbc");
            if (i % 3)
                o.skipped = espi_rng_below(&rng, 100);
        }
        espi_live_log_report(s.l, s.a, &r, i);
        espi_live_log_outcome(s.l, &o, i);
        if (i % 1000 == 0)
            espi_live_log_look(s.l, s.a, i);
    }
    assert_true(s.l->state.n_calls > 1000);
    json_decref(state_of(&s, 0, 20000)); /* others can still read it */
    end(&s);
}

static void probes_are_counted(void **state)
{
    (void)state;
    struct scene s;
    struct espi_advisor_options options = {.work = 1, .probe_share = 0.1};
    struct espi_probe_order order;
    int changed;
    begin(&s);
    espi_advisor_free(s.a);
    assert_int_equal(espi_advisor_create(s.p, &options, &s.a, NULL), ESP_OK);
    espi_advisor_set_prober(s.a, 0, 1);
    espi_advisor_set_prober(s.a, 1, 1);
    espi_advisor_next_probe(s.a, 10, &order);
    assert_true(espi_advisor_next_probe(s.a, 1000, &order));
    espi_advisor_probed(s.a, order.number, ESPI_PROBE_RATE, 1e9, 1001, &changed, NULL);
    espi_live_log_look(s.l, s.a, 1002);
    json_t *json = state_of(&s, 0, 1003), *probes = json_object_get(json, "probes");
    assert_int_equal(number(probes, "hosts"), 2);
    assert_int_equal(number(probes, "sent"), 1);
    assert_int_equal(number(probes, "answered"), 1);
    assert_true(number(probes, "bytes") == ESPI_TRAIN_BYTES);
    json_decref(json);
    end(&s);
}

static void what_is_believed_is_shown(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    struct esp_plan *plan = publish(&s, 1e6, 0);
    for (uint64_t call = 1; call <= 4; call++) {
        tell_call(&s, plan, call, 1e6, 10 * (double)call, 0);
        espi_live_log_look(s.l, s.a, 10 * (double)call + 6);
    }
    json_t *json = state_of(&s, 0, 50), *rates = json_object_get(json, "rates");
    assert_true(number(json_object_get(json, "outlook"), "calls") == 4);
    assert_true(json_is_null(json_object_get(json, "probes")));
    assert_int_equal(number(json, "heard"), (double)json_array_size(rates));
    for (size_t i = 0; i < json_array_size(rates); i++) {
        const json_t *rate = json_array_get(rates, i);
        assert_true(number(rate, "factor") > 0 && number(rate, "factor") <= 1);
        assert_true(number(rate, "nominal_Bps") > 0);
        assert_true(json_string_length(json_object_get(rate, "name")) > 0);
    }
    json_decref(json);
    end(&s);
}

static esp_status draw_all(void *arg)
{
    struct scene *s = arg;
    struct espi_live_log *l = NULL;
    char *text = NULL;
    size_t length;
    esp_status st = espi_live_log_create(&l, NULL);
    if (!st)
        st = espi_live_log_set_network(l, s->p, 0, NULL);
    FILE *out = open_memstream(&text, &length);
    if (!st)
        st = espi_live_log_write_state(l, 0, 1, out, NULL);
    if (!st)
        st = espi_live_log_write_network(l, out, NULL);
    fclose(out);
    free(text);
    espi_live_log_free(l);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    assert_true(alloc_fail_each(draw_all, &s) > 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(names_of_others_are_refused),
        cmocka_unit_test(tokens_are_kept_to_oneself),
        cmocka_unit_test(calls_are_measured_beside_their_forecast),
        cmocka_unit_test(the_plan_that_ran_is_known),
        cmocka_unit_test(only_the_last_calls_are_kept),
        cmocka_unit_test(nonsense_does_no_harm),
        cmocka_unit_test(what_is_believed_is_shown),
        cmocka_unit_test(probes_are_counted),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
