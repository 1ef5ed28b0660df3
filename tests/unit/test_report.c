/* Pictures and pages: layouts in which nothing overlaps, files that parse whatever names
 * they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <expat.h>
#include <jansson.h>
#include <math.h>

#include <espalier/espalier.h>

#include "platform/platform.h"
#include "report/layout.h"
#include "report/load.h"
#include "report/overview.h"
#include "report/page.h"
#include "report/picture.h"
#include "report/study_report.h"
#include "support/alloc_fail.h"
#include "support/seed.h"
#include "support/small_platform.h"

static const char *const HOSTILE = "a</script><b>\"'&\\";

/* Sites of hosts, fully joined, and a lone host with a hostile name. */
static struct esp_platform *sites_platform(int n_sites, int hosts)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int n = 0;

    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    for (int s = 0; s < n_sites; s++)
        for (int h = 0; h < hosts; h++) {
            char name[32], site[32];
            snprintf(name, sizeof name, "h%d-%d", s, h);
            snprintf(site, sizeof site, "<site&%d>", s);
            struct esp_node_spec spec = {
                .name = name, .site = site, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
            assert_int_equal(esp_builder_add_node(b, &spec, &n, NULL), ESP_OK);
        }
    struct esp_node_spec lone = {
        .name = HOSTILE, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
    assert_int_equal(esp_builder_add_node(b, &lone, &n, NULL), ESP_OK);
    for (int u = 0; u <= n; u++)
        for (int v = 0; v <= n; v++)
            if (u != v)
                assert_int_equal(esp_builder_add_link(b, u, v, 1e-4,
                                                      u / hosts == v / hosts ? 1e8 : 1e6,
                                                      NULL, NULL),
                                 ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* A plan of an algorithm for some targets, or for all. */
static struct esp_plan *plan_of(const struct esp_platform *p, esp_op op, const char *algo,
                                int n_targets, const int *targets)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;

    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = 1e6;
    request.n_targets = n_targets;
    request.targets = targets;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    return plan;
}

/* The text of the file that the public function writes; free() it. */
static char *picture_of(const struct esp_platform *p, const struct esp_plan *plan)
{
    enum { ROOM = 1 << 20 };
    char path[] = "/tmp/espalier-test-XXXXXX", *text = calloc(ROOM, 1);
    int fd = mkstemp(path);

    assert_true(fd >= 0 && text);
    close(fd);
    assert_int_equal(esp_picture_write(p, plan, NULL, path, NULL), ESP_OK);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t length = fread(text, 1, ROOM - 1, in);
    assert_true(length > 0 && feof(in));
    fclose(in);
    remove(path);
    return text;
}

/* ---- layout ---- */

static double distance(struct espi_point a, struct espi_point b)
{
    return hypot(a.x - b.x, a.y - b.y);
}

static void check_layout(const struct espi_picture_layout *l,
                         const struct esp_platform *p)
{
    for (int v = 0; v < p->n_nodes; v++) {
        const struct espi_group *g = &l->groups[l->group_of[v]];
        assert_true(l->node[v].x >= 1 && l->node[v].x <= l->width - 1);
        assert_true(l->node[v].y >= 1 && l->node[v].y <= l->height - 1);
        assert_true(distance(l->node[v], g->centre) <= g->radius);
        for (int u = 0; u < v; u++)
            assert_true(distance(l->node[v], l->node[u]) > 1.9);
    }
}

static void test_layouts_are_readable(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct espi_arena arena;

    espi_rng_seed(&rng, test_seed(5));
    for (int i = 0; i < 60; i++) {
        struct small_options o = {.n = 2 + i, .density = 0.1, .model = i % 4};
        struct esp_platform *p =
            i % 3 ? small_random(&rng, &o) : sites_platform(1 + i / 12, 1 + i / 2);
        struct espi_picture_layout a, b;
        espi_arena_init(&arena);
        assert_int_equal(espi_layout_make(&a, p, &arena), 0);
        assert_int_equal(espi_layout_make(&b, p, &arena), 0);
        check_layout(&a, p);
        assert_memory_equal(a.node, b.node, (size_t)p->n_nodes * sizeof *a.node);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* A chain lies straight: the ends are the two nodes farthest apart. */
static void test_a_chain_is_long(void **state)
{
    (void)state;
    struct small_arc arcs[11];
    struct espi_arena arena;
    struct espi_picture_layout l;

    for (int i = 0; i < 11; i++)
        arcs[i] = (struct small_arc){i, i + 1, 1};
    struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, 12, arcs, 11);
    espi_arena_init(&arena);
    assert_int_equal(espi_layout_make(&l, p, &arena), 0);
    double ends = distance(l.node[0], l.node[11]);
    for (int u = 0; u < 12; u++)
        for (int v = 0; v < u; v++)
            assert_true(distance(l.node[u], l.node[v]) <= ends);
    assert_true(l.width > 3 * l.height);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* ---- files ---- */

struct drawing {
    struct espi_arena arena;
    struct esp_platform *p;
    struct esp_plan *plan;
    struct esp_bound *bound;
    struct espi_page page;
    struct espi_page_timeline line;
    struct espi_page_transfer transfer;
};

static void setup(struct drawing *d)
{
    struct esp_request request;

    memset(d, 0, sizeof *d);
    espi_arena_init(&d->arena);
    d->p = sites_platform(3, 5);
    esp_request_init(&request, 0);
    request.algo = "mtp";
    assert_int_equal(esp_plan_make(d->p, &request, &d->plan, NULL), ESP_OK);
    assert_int_equal(esp_bound_compute(d->p, &request, NULL, &d->bound, NULL), ESP_OK);
    assert_int_equal(espi_network_init(&d->page.net, d->p, 0, d->bound, &d->arena), 0);
    d->page.net.plans = (const struct esp_plan *const *)&d->plan;
    d->page.net.n_plans = 1;
    d->page.title = HOSTILE;
    d->transfer = (struct espi_page_transfer){0, 1, 0, 0, 0, 10};
    d->line = (struct espi_page_timeline){.size_bytes = 1,
                                          .slice_bytes = 1,
                                          .makespan_s = 1,
                                          .n_transfers = 1,
                                          .transfers = &d->transfer};
    d->page.timelines = &d->line;
}

static void teardown(struct drawing *d)
{
    esp_bound_free(d->bound);
    esp_plan_free(d->plan);
    esp_platform_free(d->p);
    espi_arena_done(&d->arena);
}

struct text {
    char *at;
    size_t length;
};

static void write_text(esp_status (*write)(const void *, FILE *, struct esp_err *),
                       const void *what, struct text *text)
{
    FILE *out = open_memstream(&text->at, &text->length);

    assert_int_equal(write(what, out, NULL), ESP_OK);
    fclose(out);
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

struct counts {
    int nodes, edges;
    char names[4096];
};

static void on_start(void *counts, const char *name, const char **attributes)
{
    struct counts *c = counts;

    for (int i = 0; attributes[i]; i += 2) {
        c->nodes += strcmp(attributes[i], "data-n") == 0;
        c->edges += strcmp(attributes[i], "data-f") == 0;
    }
    assert_int_not_equal(strcmp(name, "script"), 0);
}

static void on_text(void *counts, const char *text, int length)
{
    struct counts *c = counts;
    size_t used = strlen(c->names);

    if (used + (size_t)length < sizeof c->names)
        memcpy(c->names + used, text, (size_t)length);
}

static void test_pictures_are_xml(void **state)
{
    (void)state;
    struct drawing d;
    struct counts c = {0};
    struct text text = {0};

    setup(&d);
    struct espi_picture picture = {.net = d.page.net, .title = HOSTILE};
    write_text(espi_picture_write, &picture, &text);
    XML_Parser parser = XML_ParserCreate("UTF-8");
    XML_SetUserData(parser, &c);
    XML_SetElementHandler(parser, on_start, NULL);
    XML_SetCharacterDataHandler(parser, on_text);
    if (XML_Parse(parser, text.at, (int)text.length, 1) != XML_STATUS_OK)
        fail_msg("%s", XML_ErrorString(XML_GetErrorCode(parser)));
    int edges = 0;
    for (int t = 0; t < d.plan->n_trees; t++)
        edges += d.plan->trees[t].n_edges;
    assert_int_equal(c.nodes, d.p->n_nodes);
    assert_int_equal(c.edges, edges);
    assert_non_null(strstr(c.names, "a</script><b>\"'&\\"));
    XML_ParserFree(parser);
    free(text.at);
    teardown(&d);
}

static void test_pages_hold_their_data(void **state)
{
    (void)state;
    static const char *const open_tag = "id=\"data\">";
    struct drawing d;
    struct text text = {0};

    if (!espi_page_exists())
        skip();
    setup(&d);
    write_text(espi_page_write, &d.page, &text);
    char *data = strstr(text.at, open_tag);
    assert_non_null(data);
    data += strlen(open_tag);
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    json_t *json = json_loadb(data, (size_t)(end - data), 0, NULL);
    assert_non_null(json);
    json_t *platform = json_object_get(json, "platform");
    json_t *nodes = json_object_get(platform, "nodes");
    assert_int_equal(json_array_size(nodes), (size_t)d.p->n_nodes);
    json_t *last = json_array_get(nodes, (size_t)d.p->n_nodes - 1);
    assert_string_equal(json_string_value(json_array_get(last, 0)), HOSTILE);
    json_t *plan = json_array_get(json_object_get(json, "plans"), 0);
    double weight = 0;
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(plan, "trees"), i, value) weight +=
        json_number_value(value);
    assert_true(fabs(weight - 1) < 1e-9);
    json_decref(json);
    free(text.at);
    teardown(&d);
}

/* The loads that a page shows are those that set the pace: at the plan's throughput the
 * busiest resource has no time left. */
static void test_load_is_that_of_the_throughput(void **state)
{
    (void)state;
    struct drawing d;
    struct espi_load load;

    setup(&d);
    assert_int_equal(espi_load_init(&load, d.p, d.plan, d.plan->slice_bytes, &d.arena),
                     0);
    double slices_per_s = d.plan->throughput_Bps / d.plan->slice_bytes;
    assert_true(fabs(load.most_s * slices_per_s - 1) < 1e-6);
    double most = 0;
    for (int v = 0; v < d.p->n_nodes; v++)
        most = fmax(most, espi_load_of_node(&load, v));
    assert_true(most <= 1 && most > 0);
    teardown(&d);
}

/* ---- the account of experiments ---- */

/* A page of charts is XML too, but for its first line; values that are missing, infinite
 * or out of a logarithm's range leave no mark. */
/* Hosts that are no targets look otherwise, and nobody is the root of an allgather. */
static void test_roles_are_told_apart(void **state)
{
    const int targets[] = {3, 5, 6};
    struct esp_platform *p = sites_platform(3, 4);
    struct esp_plan *to_some = plan_of(p, ESP_OP_MULTICAST, "mcph", 3, targets);
    struct esp_plan *to_all = plan_of(p, ESP_OP_BCAST, "ecef", 0, NULL);
    struct esp_plan *of_all = plan_of(p, ESP_OP_ALLGATHER, "all-roots", 0, NULL);
    const struct {
        const struct esp_plan *plan;
        int relays, roots;
    } cases[] = {
        {to_some, p->n_hosts - 3 - 1, 1}, {to_all, 0, 1}, {of_all, 0, 0}, {NULL, 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = picture_of(p, cases[i].plan);
        assert_int_equal(count(text, "(not a target)"), cases[i].relays);
        assert_int_equal(count(text, "(root)"), cases[i].roots);
        free(text);
    }
    esp_plan_free(to_some);
    esp_plan_free(to_all);
    esp_plan_free(of_all);
    esp_platform_free(p);
}

/* Without ports, the load of a node is that of its links. */
/* A dense plan is drawn site by site, with cables between these; another is not. */
static void test_dense_plans_are_drawn_by_site(void **state)
{
    enum { SITES = 4, HOSTS = 10 };
    struct esp_platform *p = sites_platform(SITES, HOSTS);
    struct esp_plan *dense = plan_of(p, ESP_OP_ALLGATHER, "ring", 0, NULL);
    struct esp_plan *plain = plan_of(p, ESP_OP_BCAST, "ecef", 0, NULL);
    char *text = picture_of(p, dense);

    (void)state;
    assert_int_equal(count(text, "class=\"closed\""), SITES + 1); /* and a lone host */
    assert_int_equal(count(text, ">10 hosts<"), SITES);
    assert_int_equal(count(text, "class=\"edge"), 0);
    assert_int_equal(count(text, "class=\"link"), 0);
    int cables = count(text, "class=\"cable\"");
    assert_true(cables > SITES && cables <= (SITES + 1) * SITES);
    free(text);
    text = picture_of(p, plain);
    assert_int_equal(count(text, "class=\"closed"), 0);
    assert_true(count(text, "class=\"edge") >= p->n_hosts - 1);
    free(text);
    esp_plan_free(dense);
    esp_plan_free(plain);
    esp_platform_free(p);
}

static void test_load_without_ports(void **state)
{
    struct esp_platform *ports = sites_platform(2, 3), *p = NULL;
    struct espi_arena arena;
    struct espi_load load;

    (void)state;
    assert_int_equal(esp_platform_with_model(ports, ESP_MODEL_CAPACITY, &p, NULL),
                     ESP_OK);
    struct esp_plan *plan = plan_of(p, ESP_OP_BCAST, "ecef", 0, NULL);
    espi_arena_init(&arena);
    assert_int_equal(espi_load_init(&load, p, plan, 1e5, &arena), 0);
    double most = 0;
    for (int v = 0; v < p->n_nodes; v++) {
        double share = espi_load_of_node(&load, v);
        assert_true(share > 0 && share <= 1); /* all receive */
        most = fmax(most, share);
    }
    assert_true(most == 1);
    espi_arena_done(&arena);
    esp_plan_free(plan);
    esp_platform_free(p);
    esp_platform_free(ports);
}

static void test_accounts_are_well_formed(void **state)
{
    (void)state;
    static const double x[] = {1, 10, 100, 1000}, y[] = {NAN, 0, 20, INFINITY};
    struct espi_arena arena;
    struct text text = {0};

    espi_arena_init(&arena);
    struct espi_findings f = {.arena = &arena, .setting = "tried & true"};
    struct espi_figure *figure = espi_findings_figure(&f, "fig1", HOSTILE, "x<", "y>");
    figure->log_x = figure->log_y = 1;
    espi_findings_series(&f, figure, HOSTILE, 4, x, y);
    espi_findings_published(&f, figure, "theirs", 0, x, y);
    espi_findings_figure(&f, "fig2", "nothing in it", "x", "y");
    espi_findings_claim(&f, &(struct espi_claim){"near", 10, 11, 0, "%", NULL, 0});
    espi_findings_claim(&f, &(struct espi_claim){"far", 10, 12, 0, "%", HOSTILE, 0});
    assert_true(espi_claim_agrees(&f.claims[0]) && !espi_claim_agrees(&f.claims[1]));
    /* 19% later against 8% is 119 against 108, and numbers are equal or not */
    assert_true(espi_claim_agrees(&(struct espi_claim){"", 19, 8, 100, "%", NULL, 0}));
    assert_false(espi_claim_agrees(&(struct espi_claim){"", 19, 4.5, 100, "%", NULL, 0}));
    assert_false(espi_claim_agrees(&(struct espi_claim){"", 30, 29, 0, "", NULL, 1}));
    assert_int_equal(f.failed, 0);
    struct espi_study_report_entry entry = {
        "one", HOSTILE, "paper", (const char *const[]){HOSTILE, NULL}, &f, 1.5};
    struct espi_study_report account = {.title = HOSTILE, .n = 1, .entries = &entry};
    write_text(espi_study_report_write, &account, &text);
    assert_int_equal(count(text.at, "<circle"), 1);
    assert_int_equal(count(text.at, "</script>"), 0);
    assert_int_equal(count(text.at, "class=\"agrees\""), 1);
    assert_int_equal(count(text.at, "nan") + count(text.at, "inf\""), 0);
    assert_int_equal(count(text.at, "<figure"), count(text.at, "</figure>"));
    for (int i = 0; i < ESPI_CLAIMS_MAX; i++)
        espi_findings_claim(&f, &(struct espi_claim){"more", 1, 1, 0, "", NULL, 0});
    assert_int_equal(f.failed, 1);
    free(text.at);
    espi_arena_done(&arena);
}

/* ---- names ---- */

struct place {
    double left, right, y;
};

/* Where a name of letters 7 wide stands, about. */
static struct place place_of(const struct espi_network *net, int v)
{
    const struct espi_label *l = &net->labels.node[v];
    double width = 7.0 * (double)strlen(espi_node_name(net->p, v));
    double x = net->layout.node[v].x * ESPI_NETWORK_SCALE + l->x;
    double left = l->anchor == ESPI_LABEL_ENDS     ? x - width
                  : l->anchor == ESPI_LABEL_MIDDLE ? x - width / 2
                                                   : x;
    double y = net->layout.node[v].y * ESPI_NETWORK_SCALE + l->y;
    return (struct place){left, left + width, y};
}

static int covers(struct place a, struct place b)
{
    return a.left < b.right && b.left < a.right && fabs(a.y - b.y) < 11;
}

/* How many names there are; none covers another, and none goes beyond the picture. */
static int check_names(const struct espi_network *net)
{
    int shown = 0;
    for (int v = 0; v < net->p->n_nodes; v++) {
        if (net->labels.node[v].anchor == ESPI_LABEL_LEFT_OUT)
            continue;
        struct place a = place_of(net, v);
        shown++;
        if (v == net->root)
            continue;
        assert_true(a.left >= 0 && a.right <= net->layout.width * ESPI_NETWORK_SCALE);
        for (int w = 0; w < v; w++)
            if (net->labels.node[w].anchor != ESPI_LABEL_LEFT_OUT && w != net->root)
                assert_false(covers(a, place_of(net, w)));
    }
    return shown;
}

static void test_no_name_covers_another(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < 12; i++) {
        struct espi_arena arena;
        struct espi_network net;
        struct small_options o = {.n = 5 + 6 * i, .density = 0.2};
        struct esp_platform *p =
            i % 2 ? small_random(&rng, &o) : sites_platform(2 + i / 3, 2 + i / 2);
        espi_arena_init(&arena);
        assert_int_equal(espi_network_init(&net, p, 0, NULL, &arena), 0);
        int shown = check_names(&net);
        assert_true(net.labels.node[0].anchor != ESPI_LABEL_LEFT_OUT);
        /* most have room; of many nodes the root alone has its name */
        assert_true(p->n_nodes <= 80 ? 2 * shown > p->n_nodes : shown == 1);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* ---- without memory ---- */

static esp_status lay_out(void *platform)
{
    struct espi_arena arena;
    struct espi_network net;

    espi_arena_init(&arena);
    int failed = espi_network_init(&net, platform, -1, NULL, &arena);
    espi_arena_done(&arena);
    return failed ? ESP_ENOMEM : ESP_OK;
}

/* Of a network that is laid out. */
static esp_status draw_by_site(void *network)
{
    FILE *out = fopen("/dev/null", "w");

    assert_non_null(out);
    int failed = espi_overview_write(network, out);
    fclose(out);
    return failed ? ESP_ENOMEM : ESP_OK;
}

static void test_without_memory(void **state)
{
    (void)state;
    struct esp_platform *p = sites_platform(8, 12);
    struct esp_plan *plan = plan_of(p, ESP_OP_BCAST, "flat", 0, NULL);
    const struct esp_plan *plans[] = {plan};
    struct espi_arena arena;
    struct espi_network net;

    assert_true(alloc_fail_each(lay_out, p) > 0);
    espi_arena_init(&arena);
    assert_int_equal(espi_network_init(&net, p, 0, NULL, &arena), 0);
    net.plans = plans;
    net.n_plans = 1;
    assert_true(alloc_fail_each(draw_by_site, &net) > 0);
    espi_arena_done(&arena);
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_are_readable),
        cmocka_unit_test(test_a_chain_is_long),
        cmocka_unit_test(test_pictures_are_xml),
        cmocka_unit_test(test_pages_hold_their_data),
        cmocka_unit_test(test_load_is_that_of_the_throughput),
        cmocka_unit_test(test_roles_are_told_apart),
        cmocka_unit_test(test_dense_plans_are_drawn_by_site),
        cmocka_unit_test(test_load_without_ports),
        cmocka_unit_test(test_accounts_are_well_formed),
        cmocka_unit_test(test_no_name_covers_another),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
