/* SimGrid as referee: the same programs on the same platforms must deliver at the same
 * times as in our fluid simulator. Latencies are zero here: with latencies SimGrid weighs
 * the shares of flows by their round-trip times, which we do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "program/program.h"
#include "schedule/tuning.h"
#include "support/seed.h"

/* Hosts with random links; each link may run over one of some cables. */
static struct esp_platform *random_platform(struct espi_rng *rng, esp_model model)
{
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    int n = 4 + (int)espi_rng_below(rng, 12), m = 0, cable_links[4][300], count[4] = {0};
    char name[16];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, model);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            if (u != v && (v == u + 1 || espi_rng_below(rng, 3) == 0)) {
                double bw = espi_rng_range(rng, 1e6, 1e7);
                int cable = (int)espi_rng_below(rng, 6);
                assert_int_equal(esp_builder_add_link(b, u, v, 0, bw, NULL, NULL),
                                 ESP_OK);
                if (cable < 4)
                    cable_links[cable][count[cable]++] = m;
                m++;
            }
    for (int c = 0; c < 4; c++) {
        snprintf(name, sizeof name, "c%d", c);
        double bw = espi_rng_range(rng, 4e6, 2e7);
        if (count[c])
            assert_int_equal(
                esp_builder_add_cable(b, name, bw, cable_links[c], count[c], NULL),
                ESP_OK);
    }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

static struct esp_plan *random_plan(struct espi_rng *rng, const struct esp_platform *p,
                                    int n_trees)
{
    struct esp_plan *plan = NULL;
    int n = p->n_nodes, arcs[32];
    assert_int_equal(esp_plan_create(ESP_OP_BCAST, 0, "random", &plan, NULL), ESP_OK);
    for (int t = 0; t < n_trees; t++) {
        unsigned char has[32] = {1};
        for (int size = 0; size < n - 1;) {
            int e = (int)espi_rng_below(rng, (uint32_t)p->n_links);
            if (has[p->tail[e]] && !has[p->head[e]]) {
                has[p->head[e]] = 1;
                arcs[size++] = e;
            }
        }
        assert_int_equal(
            esp_plan_add_simple_tree(plan, p, 1.0 / n_trees, n - 1, arcs, NULL), ESP_OK);
    }
    plan->size_bytes = 1e6 * (1 + espi_rng_below(rng, 8));
    plan->slice_bytes = 2.5e5;
    return plan;
}

static void write_stream(FILE *f, const struct espi_program *prog, int i)
{
    const struct esp_platform *p = prog->p;
    const struct espi_stream *s = &prog->streams[i];
    fprintf(f, "stream %d %d %d %d %d", s->from, s->to, s->keeps, s->source, s->tree);
    for (int h = 0; h < s->n_hops; h++) {
        int link = prog->hops[s->first_hop + h];
        fprintf(f, " %d", link);
        for (int k = p->n_shared ? p->link_shared.start[link] : 0;
             k < (p->n_shared ? p->link_shared.start[link + 1] : 0); k++)
            fprintf(f, " %d", p->n_links + p->link_shared.item[k]);
    }
    fprintf(f, "\n");
}

/* All sends of a rank, round after round; the NTH slice of a stream needs as many of its
 * source, since both carry the slices of the tree in the same order. */
static void write_sends(FILE *f, const struct espi_program *prog, int rank, int *sent)
{
    for (int64_t round = 0; round < prog->rounds + prog->max_lag; round++)
        for (int k = prog->send_start[rank]; k < prog->send_start[rank + 1]; k++) {
            const struct espi_step *step = &prog->sends[k];
            if (espi_step_slice(prog, step, round) < 0)
                continue;
            int nth = ++sent[step->stream];
            fprintf(f, "send %d %d %d %d %d %d %d\n", rank, step->stream, nth, nth,
                    (int)espi_step_slice(prog, step, round), (int)round - step->lag,
                    step->place);
        }
}

static void write_scenario(FILE *f, const struct espi_program *prog)
{
    const struct esp_platform *p = prog->p;
    int *sent = calloc((size_t)prog->n_streams, sizeof *sent);
    fprintf(f, "blocking %d\nahead %d\nslice %.17g\nranks %d\n",
            p->model == ESP_MODEL_ONE_PORT, ESPI_SLICES_AHEAD * prog->n_trees,
            prog->size_bytes / (double)prog->n_slices, prog->n_ranks);
    for (int e = 0; e < p->n_links; e++)
        fprintf(f, "link %.17g %.17g\n", p->bandwidth_Bps[e], p->latency_s[e]);
    for (int c = 0; c < p->n_shared; c++)
        fprintf(f, "link %.17g 0\n", p->shared_Bps[c]);
    for (int i = 0; i < prog->n_streams; i++)
        write_stream(f, prog, i);
    for (int r = 0; r < prog->n_ranks; r++)
        write_sends(f, prog, r, sent);
    free(sent);
}

static void ask_referee(const struct espi_program *prog, double *delivered_s)
{
    char path[] = "/tmp/espalier-referee-XXXXXX", command[512];
    int fd = mkstemp(path), rank, seen = 0;
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    write_scenario(f, prog);
    fclose(f);
    snprintf(command, sizeof command, "%s %s 2>/dev/null", REFEREE, path);
    FILE *out = popen(command, "r");
    double at_s;
    while (fscanf(out, "%d %lf", &rank, &at_s) == 2) {
        delivered_s[rank] = at_s;
        seen++;
    }
    assert_int_equal(pclose(out), 0);
    assert_int_equal(seen, prog->n_ranks);
    unlink(path);
}

static double worst_difference(struct espi_rng *rng, esp_model model, int n_trees)
{
    struct espi_arena arena;
    struct espi_program prog;
    struct esp_sim_result *r = NULL;
    struct esp_sim_options o = {.size = sizeof o, .sharing = ESP_SHARING_FLUID};
    struct esp_platform *p = random_platform(rng, model);
    struct esp_plan *plan = random_plan(rng, p, n_trees);
    double theirs[32], worst = 0;
    espi_arena_init(&arena);
    assert_int_equal(esp_plan_schedule(plan, p, NULL), ESP_OK);
    assert_int_equal(esp_simulate(p, plan, &o, &r, NULL), ESP_OK);
    assert_int_equal(espi_program_compile(p, plan, NULL, &arena, &prog, NULL), ESP_OK);
    ask_referee(&prog, theirs);
    for (int rank = 0; rank < prog.n_ranks; rank++) {
        double ours = r->delivered_s[prog.node[rank]];
        if (rank != prog.root)
            worst = fmax(worst, fabs(ours / theirs[rank] - 1));
    }
    espi_arena_done(&arena);
    esp_sim_result_free(r);
    esp_plan_free(plan);
    esp_platform_free(p);
    return worst;
}

static void delivery_times_agree(void **state)
{
    (void)state;
    if (access(REFEREE, X_OK)) {
        print_message("no libsimgrid, no referee: skipped\n");
        skip();
    }
    struct espi_rng rng;
    double worst = 0;
    espi_rng_seed(&rng, test_seed(5));
    for (int i = 0; i < test_draws(24); i++) {
        esp_model model = i % 2 ? ESP_MODEL_CAPACITY : ESP_MODEL_ONE_PORT;
        double d =
            worst_difference(&rng, model, model == ESP_MODEL_CAPACITY ? 1 + i % 3 : 1);
        if (d > 1e-3)
            print_message("platform %d (%s): off by %.3g\n", i, esp_model_name(model), d);
        worst = fmax(worst, d);
    }
    print_message("the worst delivery time differs by %.2g\n", worst);
    assert_true(worst < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(delivery_times_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
