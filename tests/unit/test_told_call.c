/* What broadcasts by plans of many trees tell the advisor, on a network as measuring
 * writes it: two ports and a cable on the way between hosts of two sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "advisor/advice_reason.h"
#include "advisor/advisor.h"
#include "platform/platform.h"
#include "support/reports.h"

enum { HOSTS = 24 };

#define BYTES 1e6

struct scene {
    struct esp_platform *p;
    struct esp_plan *plan;
    struct espi_advisor *a;
    struct espi_report *reports;
    double now_s;
    uint64_t call;
};

static void begin(struct scene *s, const char *algo, double slice_bytes)
{
    struct esp_measured_options o;
    struct esp_request request;
    struct espi_advisor_options options = {.window = 1 << 20, .work = 1};
    *s = (struct scene){.now_s = 100};
    esp_measured_options_defaults(&o);
    assert_int_equal(esp_measured_options_preset(&o, "three-sites", NULL), ESP_OK);
    assert_int_equal(esp_generate_measured(&o, &s->p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = BYTES;
    request.slice_bytes = slice_bytes;
    assert_int_equal(esp_plan_make(s->p, &request, &s->plan, NULL), ESP_OK);
    assert_int_equal(espi_advisor_create(s->p, &options, &s->a, NULL), ESP_OK);
    s->reports = calloc(HOSTS, sizeof *s->reports);
    assert_non_null(s->reports);
}

static void end(struct scene *s)
{
    free(s->reports);
    espi_advisor_free(s->a);
    esp_plan_free(s->plan);
    esp_platform_free(s->p);
}

/* A broadcast, after each message of which hosts have to rest for so long. */
static void broadcast(struct scene *s, const struct esp_platform *reality,
                      double message_s)
{
    int n = reports_of(s->p, s->plan, reality, BYTES, ++s->call, s->now_s, s->reports);
    for (int i = 0; i < n; i++) {
        struct espi_report *r = &s->reports[i];
        for (int k = 0; k < r->n_ways; k++)
            if (r->way[k].kind == ESPI_WAY_FROM)
                r->way[k].seconds =
                    (float)hypot((double)r->way[k].seconds, message_s * r->slices);
        assert_int_equal(espi_advisor_hear(s->a, r, s->now_s, NULL), ESP_OK);
    }
    s->now_s += 2;
}

static struct esp_platform *loaded(const struct esp_platform *p, int cable, double left)
{
    double *link = calloc((size_t)p->n_links, sizeof *link);
    double *shared = calloc((size_t)p->n_shared, sizeof *shared);
    struct esp_platform *out;
    assert_true(link && shared);
    for (int i = 0; i < p->n_shared; i++)
        shared[i] = i == cable ? left : 1;
    for (int e = 0; e < p->n_links; e++)
        link[e] = 1;
    for (int k = p->shared_links.start[cable]; k < p->shared_links.start[cable + 1];
         k++) {
        int e = p->shared_links.item[k];
        link[e] = fmin(1, p->shared_Bps[cable] * left / p->bandwidth_Bps[e]);
    }
    assert_int_equal(espi_platform_scaled(p, link, shared, &out, NULL), ESP_OK);
    free(link);
    free(shared);
    return out;
}

static int slow_resources(const struct scene *s)
{
    struct espi_outlook o;
    espi_advisor_outlook(s->a, s->now_s, &o);
    return o.slow;
}

static int find_cable(const struct esp_platform *p, const char *name)
{
    for (int i = 0; i < p->n_shared; i++)
        if (strcmp(espi_shared_name(p, i), name) == 0)
            return i;
    return -1;
}

/* One call is enough to know the cable that has an eighth of its rate, and no other is
 * blamed; one without load is enough to know that it is over. */
static void one_call_by_many_trees_tells(void **state)
{
    static const struct {
        const char *algo;
        double slice_bytes;
    } plans[] = {
        {"auto", ESP_SLICE_AUTO}, {"mtp", 4000}, {"mtp:k=4", 4000}, {"grow", 60000}};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct scene s;
        begin(&s, plans[i].algo, plans[i].slice_bytes);
        int cable = find_cable(s.p, "wan:lyon>nice");
        assert_true(cable >= 0);
        struct esp_platform *reality = loaded(s.p, cable, 0.125);
        for (int call = 0; call < 3; call++)
            broadcast(&s, s.p, 0);
        assert_int_equal(slow_resources(&s), 0);
        assert_int_equal(espi_advisor_finding(s.a)->number, 0);
        broadcast(&s, reality, 0);
        const struct espi_finding *found = espi_advisor_finding(s.a);
        assert_int_equal(found->resource, cable);
        assert_int_equal(slow_resources(&s), 1);
        assert_true(fabs(found->factor - 0.125) < 0.03);
        broadcast(&s, s.p, 0);
        assert_int_equal(slow_resources(&s), 0);
        esp_platform_free(reality);
        end(&s);
    }
}

/* Hosts that are slow with messages are no fault of the network: nobody is blamed, and
 * plans are cut into fewer slices. */
static void slow_hosts_blame_no_link(void **state)
{
    (void)state;
    struct scene s;
    struct espi_advice before, after;
    begin(&s, "auto", ESP_SLICE_AUTO);
    double message_s = s.plan->makespan_s * s.plan->slice_bytes / BYTES;
    assert_int_equal(espi_advisor_plan_for(s.a, 0, BYTES, s.now_s, &before, NULL),
                     ESP_OK);
    for (int call = 0; call < 4; call++)
        broadcast(&s, s.p, message_s);
    assert_int_equal(espi_advisor_finding(s.a)->number, 0);
    assert_int_equal(espi_advisor_plan_for(s.a, 0, BYTES, s.now_s, &after, NULL), ESP_OK);
    assert_true(after.plan->slice_bytes > before.plan->slice_bytes);
    esp_plan_free(before.plan);
    esp_plan_free(after.plan);
    end(&s);
}

static void advice_for(struct scene *s, struct espi_advice *out)
{
    assert_int_equal(espi_advisor_plan_for(s->a, 0, BYTES, s->now_s, out, NULL), ESP_OK);
}

/* What ranks have is what is said, without a word, as long as nothing is better. */
static void what_ranks_have_stands(void **state)
{
    (void)state;
    struct scene s;
    struct espi_advice advice;
    begin(&s, "auto", ESP_SLICE_AUTO);
    assert_int_equal(espi_advisor_offer(s.a, s.plan, NULL), ESP_OK);
    for (int call = 0; call < 3; call++) {
        broadcast(&s, s.p, 0);
        assert_int_equal(espi_advisor_plan_for(s.a, 0, BYTES, s.now_s, &advice, NULL),
                         ESP_OK);
        assert_int_equal(advice.is_new, 0);
        assert_int_equal(advice.plan->n_trees, s.plan->n_trees);
        esp_plan_free(advice.plan);
    }
    struct esp_platform *reality = loaded(s.p, find_cable(s.p, "wan:lyon>nice"), 0.125);
    broadcast(&s, reality, 0);
    assert_int_equal(espi_advisor_plan_for(s.a, 0, BYTES, s.now_s, &advice, NULL),
                     ESP_OK);
    assert_int_equal(advice.is_new, 1);
    assert_int_equal(esp_plan_check(advice.plan, s.p, NULL), ESP_OK);
    esp_plan_free(advice.plan);
    esp_platform_free(reality);
    end(&s);
}

/* A change of plans has a reason, and what is believed of a resource its evidence. */
static void advice_says_why(void **state)
{
    (void)state;
    struct scene s;
    struct espi_advice advice;
    struct espi_believed_rate rates[64];
    char text[ESPI_REASON_TEXT];
    begin(&s, "auto", ESP_SLICE_AUTO);
    int cable = find_cable(s.p, "wan:lyon>nice");
    struct esp_platform *reality = loaded(s.p, cable, 0.125);
    advice_for(&s, &advice);
    assert_true(advice.is_new && advice.why.is_first);
    espi_advice_explain(s.a, &advice, text, sizeof text);
    assert_non_null(strstr(text, "first plan"));
    esp_plan_free(advice.plan);

    broadcast(&s, s.p, 0);
    broadcast(&s, reality, 0); /* it moves the belief, and the next one bears it out */
    broadcast(&s, reality, 0);
    advice_for(&s, &advice);
    assert_true(advice.is_new && !advice.why.is_first);
    assert_int_equal(advice.why.resource, cable);
    assert_true(advice.why.now_s < advice.why.last_s);
    espi_advice_explain(s.a, &advice, text, sizeof text);
    assert_non_null(strstr(text, "cable wan:lyon>nice has 1"));
    assert_non_null(strstr(text, "of its rate (1 call)"));
    esp_plan_free(advice.plan);

    int n = espi_advisor_rates(s.a, s.now_s, rates, 64), seen = 0;
    assert_in_range(n, 1, 64);
    for (int i = 0; i < n; i++) {
        assert_true(rates[i].low <= rates[i].factor && rates[i].factor <= rates[i].high);
        if (rates[i].resource != cable)
            continue;
        seen++;
        assert_int_equal(rates[i].calls, 1);
        assert_int_equal(rates[i].probes, 0);
    }
    assert_int_equal(seen, 1);
    esp_platform_free(reality);
    end(&s);
}

/* Other ranks than the plan says have sent: it is not what runs. */
static void what_does_not_run_does_not_stand(void **state)
{
    (void)state;
    struct scene s;
    struct espi_advice advice;
    struct esp_request request;
    struct esp_plan *other;
    begin(&s, "grow", ESP_SLICE_AUTO);
    esp_request_init(&request, 0);
    request.algo = "flat";
    request.size_bytes = BYTES;
    assert_int_equal(esp_plan_make(s.p, &request, &other, NULL), ESP_OK);
    assert_int_equal(espi_advisor_offer(s.a, other, NULL), ESP_OK);
    broadcast(&s, s.p, 0);
    assert_int_equal(espi_advisor_plan_for(s.a, 0, BYTES, s.now_s, &advice, NULL),
                     ESP_OK);
    assert_int_equal(advice.is_new, 1);
    esp_plan_free(advice.plan);
    esp_plan_free(other);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_call_by_many_trees_tells),
        cmocka_unit_test(slow_hosts_blame_no_link),
        cmocka_unit_test(what_ranks_have_stands),
        cmocka_unit_test(advice_says_why),
        cmocka_unit_test(what_does_not_run_does_not_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
