/* How near allgathers of long messages come to the optimum on random fabrics: by kind,
 * with links that carry one transfer at a time (exclusive) and with links that transfers
 * share (fluid).
 *
 *   bench_fabric [--json] [--judge] [--seeds FIRST-LAST] [--bytes SIZE]
 *                [--kinds torus,mesh] [--algos 'auto;time-expanded'] [--worst]
 *
 * Without arguments seeds 1 to 5, `auto`, 4 GB. Seeds 1 to 999 are for working. Those
 * from 100000 on are for judging (--judge: 100000 to 100019), and nothing may be chosen
 * by what they show. A row is a fabric, or with --worst a kind: its worst one. The
 * optimum is that of messages without end (the bound of the throughput), so that the
 * ratio is at most 1. Processor seconds are those of planning. */
#include <math.h>

#include "base/rng.h"
#include "bench.h"
#include "platform/platform.h"

enum { LIST_MAX = 16, JUDGE_FIRST = 100000, WORK_LAST = 999 };

struct list {
    char text[256];
    const char *item[LIST_MAX];
    int n;
};

struct fabric_question {
    int json, judge, worst;
    uint64_t first, last;
    double bytes;
    struct list kinds, algos;
};

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: bench_fabric [--json] [--judge] [--seeds FIRST-LAST] [--bytes SIZE]\n"
            "                    [--kinds KIND,...] [--algos 'ALGO;...'] [--worst]\n"
            "Seeds 1-999 are for working, those from 100000 on for judging only.\n");
    exit(2);
}

/* ---- fabrics ---- */

struct drawing {
    struct esp_builder *b;
    struct espi_rng rng;
    struct esp_err err;
    int n;
    char what[80];
};

static int draw_int(struct drawing *d, int least, int most)
{
    return least + (int)espi_rng_below(&d->rng, (uint32_t)(most - least + 1));
}

static int add_nodes(struct drawing *d, int n, esp_node_kind kind, const char *prefix)
{
    int first = d->n;
    for (int i = 0; i < n; i++, d->n++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        /* what messages cost is in the latencies, as in what is simulated */
        struct esp_node_spec spec = {.name = name, .kind = kind};
        bench_stop_if(esp_builder_add_node(d->b, &spec, NULL, &d->err), &d->err);
    }
    return first;
}

static void join(struct drawing *d, int u, int v, double Bps)
{
    const double latency_s = 1e-6;
    bench_stop_if(esp_builder_add_link(d->b, u, v, latency_s, Bps, NULL, &d->err),
                  &d->err);
    bench_stop_if(esp_builder_add_link(d->b, v, u, latency_s, Bps, NULL, &d->err),
                  &d->err);
}

static struct esp_platform *finish_drawing(struct drawing *d)
{
    struct esp_platform *p = NULL;
    bench_stop_if(esp_builder_build(d->b, &p, &d->err), &d->err);
    return p;
}

/* Two or three dimensions, each with a bandwidth of its own. */
static struct esp_platform *draw_grid(struct drawing *d, int closed)
{
    int size[3], all = 1, dimensions = draw_int(d, 2, 3);
    double Bps[3];
    for (int u = 0; u < 3; u++) {
        size[u] = u < dimensions ? draw_int(d, 2, dimensions > 2 ? 4 : 7) : 1;
        Bps[u] = 50e9 * (draw_int(d, 0, 1) ? espi_rng_log_range(&d->rng, 0.5, 2) : 1);
        all *= size[u];
    }
    add_nodes(d, all, ESP_NODE_HOST, "h");
    for (int u = 0, stride = 1; u < 3; stride *= size[u++])
        for (int i = 0; i < all && size[u] > 1; i++) {
            int at = i / stride % size[u], last = at == size[u] - 1;
            if (!last || (closed && size[u] > 2))
                join(d, i, last ? i - at * stride : i + stride, Bps[u]);
        }
    snprintf(d->what, sizeof d->what, "%dx%dx%d at %.3g, %.3g, %.3g GB/s", size[0],
             size[1], size[2], Bps[0] / 1e9, Bps[1] / 1e9, Bps[2] / 1e9);
    return finish_drawing(d);
}

static struct esp_platform *draw_torus(struct drawing *d)
{
    return draw_grid(d, 1);
}

static struct esp_platform *draw_mesh(struct drawing *d)
{
    return draw_grid(d, 0);
}

/* The same network, in which messages cost nothing but latency and some nodes are
 * routers. */
static struct esp_platform *copy_network(struct drawing *d, const struct esp_platform *p,
                                         const char *hosts, double latency_s)
{
    for (int i = 0; i < p->n_nodes; i++, d->n++) {
        const char *name = esp_platform_node_name(p, i);
        int is_switch = espi_is_switch(p, i) || !strchr(hosts, name[0]);
        struct esp_node_spec spec = {.name = name,
                                     .kind = is_switch ? ESP_NODE_SWITCH : ESP_NODE_HOST};
        bench_stop_if(esp_builder_add_node(d->b, &spec, NULL, &d->err), &d->err);
    }
    for (int e = 0; e < p->n_links; e++)
        bench_stop_if(esp_builder_add_link(d->b, p->tail[e], p->head[e], latency_s,
                                           p->bandwidth_Bps[e], NULL, &d->err),
                      &d->err);
    return finish_drawing(d);
}

/* As the generator makes them; half of them with unequal links. */
static struct esp_platform *draw_clusters(struct drawing *d, int switches)
{
    struct esp_fabric_options o;
    struct esp_platform *drawn = NULL, *p;
    esp_fabric_options_defaults(&o);
    o.clusters = draw_int(d, 2, 8);
    o.hosts = draw_int(d, 2, 8);
    o.spread = draw_int(d, 0, 1) ? espi_rng_log_range(&d->rng, 1, 3) : 1;
    o.spines = draw_int(d, 1, 4);
    o.switches = switches;
    o.seed = espi_rng_next(&d->rng) >> 12;
    bench_stop_if(esp_generate_fabric(&o, &drawn, &d->err), &d->err);
    p = copy_network(d, drawn, "c", o.latency_s);
    esp_platform_free(drawn);
    snprintf(d->what, sizeof d->what, "%d clusters of %d, spread %.2f", o.clusters,
             o.hosts, o.spread);
    if (switches)
        snprintf(d->what + strlen(d->what), sizeof d->what - strlen(d->what),
                 ", %d spines", o.spines);
    return p;
}

static struct esp_platform *draw_clustered(struct drawing *d)
{
    return draw_clusters(d, 0);
}

static struct esp_platform *draw_cards(struct drawing *d)
{
    return draw_clusters(d, 1);
}

/* Hosts on leaves, leaves on all spines, up to four times as many links down as up. */
static struct esp_platform *draw_leaves(struct drawing *d)
{
    int leaves = draw_int(d, 2, 6), hosts = draw_int(d, 2, 8), spines = draw_int(d, 1, 4);
    double port_Bps = 12.5e9, narrow = espi_rng_log_range(&d->rng, 1, 4);
    double spread = draw_int(d, 0, 1) ? espi_rng_log_range(&d->rng, 1, 3) : 1;
    int host = add_nodes(d, leaves * hosts, ESP_NODE_HOST, "h");
    int leaf = add_nodes(d, leaves, ESP_NODE_SWITCH, "leaf");
    int spine = add_nodes(d, spines, ESP_NODE_SWITCH, "spine");
    for (int u = 0; u < leaves * hosts; u++)
        join(d, host + u, leaf + u / hosts, port_Bps);
    for (int l = 0; l < leaves; l++)
        for (int s = 0; s < spines; s++)
            join(d, leaf + l, spine + s,
                 port_Bps * hosts / (narrow * spines) *
                     (spread > 1 ? espi_rng_log_range(&d->rng, 1 / spread, spread) : 1));
    snprintf(d->what, sizeof d->what,
             "%d leaves of %d, %d spines, %.2f to 1, spread %.2f", leaves, hosts, spines,
             narrow, spread);
    return finish_drawing(d);
}

/* Hosts are those of LANs; nodes of the WAN and of MANs are routers. */
static struct esp_platform *draw_tiers(struct drawing *d)
{
    const char *preset = draw_int(d, 0, 1) ? "30b" : "65b";
    struct esp_platform *all = bench_tiers(preset, espi_rng_next(&d->rng) >> 12);
    struct esp_platform *p = copy_network(d, all, "l", 1e-4);
    snprintf(d->what, sizeof d->what, "%d hosts, %d routers", p->n_hosts,
             p->n_nodes - p->n_hosts);
    esp_platform_free(all);
    return p;
}

static const struct kind {
    const char *name;
    struct esp_platform *(*draw)(struct drawing *d);
} kinds[] = {
    {"clustered", draw_clustered}, {"cards", draw_cards}, {"leaves", draw_leaves},
    {"tiers", draw_tiers},         {"torus", draw_torus}, {"mesh", draw_mesh},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static struct esp_platform *draw_platform(int kind, uint64_t seed, char what[80])
{
    struct drawing d = {0};
    espi_rng_seed(&d.rng, seed * KINDS + (uint64_t)kind);
    bench_stop_if(esp_builder_create(&d.b, &d.err), &d.err);
    esp_builder_set_model(d.b, ESP_MODEL_CAPACITY);
    struct esp_platform *p = kinds[kind].draw(&d);
    esp_builder_free(d.b);
    memcpy(what, d.what, sizeof d.what);
    return p;
}

/* ---- one fabric ---- */

struct outcome {
    double exclusive, fluid, cpu_s; /* parts of the optimum */
    char algo[64], what[80];
    int hosts;
    uint64_t seed;
};

static double makespan_s(const struct esp_platform *p, const struct esp_plan *plan,
                         esp_sharing sharing)
{
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    struct esp_err err;
    esp_sim_options_defaults(&o);
    o.sharing = sharing;
    bench_stop_if(esp_simulate(p, plan, &o, &result, &err), &err);
    double s = result->makespan_s;
    esp_sim_result_free(result);
    return s;
}

static int first_host(const struct esp_platform *p)
{
    int i = 0;
    while (espi_is_switch(p, i))
        i++;
    return i;
}

static struct outcome try_algo(const struct esp_platform *p, struct esp_request *r,
                               const char *algo, double least_s)
{
    struct outcome x = {.exclusive = NAN, .fluid = NAN, .hosts = p->n_hosts};
    struct esp_plan *plan = NULL;
    double start_s = espi_cpu_s();
    r->algo = algo;
    esp_status st = esp_plan_make(p, r, &plan, NULL);
    x.cpu_s = espi_cpu_s() - start_s;
    if (st)
        return x;
    x.exclusive = least_s / makespan_s(p, plan, ESP_SHARING_EXCLUSIVE);
    x.fluid = least_s / makespan_s(p, plan, ESP_SHARING_FLUID);
    snprintf(x.algo, sizeof x.algo, "%s", plan->algo);
    esp_plan_free(plan);
    return x;
}

static double bound_s(const struct esp_platform *p, const struct esp_request *r)
{
    struct esp_bound *bound = NULL;
    struct esp_err err;
    struct esp_request long_run = *r;
    long_run.slice_bytes = r->size_bytes / 1024;
    bench_stop_if(esp_bound_compute(p, &long_run, NULL, &bound, &err), &err);
    double s = r->size_bytes / bound->throughput_Bps;
    esp_bound_free(bound);
    return s;
}

static void print_row(const struct fabric_question *a, const char *kind,
                      const struct outcome *x)
{
    static int rows;
    printf(a->json
               ? "%s\n  {\"kind\": \"%s\", \"seed\": %llu, \"hosts\": %d, \"fabric\": "
                 "\"%s\", \"exclusive\": %.4f, \"fluid\": %.4f, \"cpu_s\": %.3f, "
                 "\"algo\": \"%s\"}"
               : "%.0s%-9s %6llu %4d  %-44s %7.4f %7.4f %7.2f  %s\n",
           a->json && rows ? "," : "", kind, (unsigned long long)x->seed, x->hosts,
           x->what, x->exclusive, x->fluid, x->cpu_s, x->algo);
    rows++;
    fflush(stdout);
}

/* The least of each measure, of whichever fabric; named is the one that is worst by
 * either. */
static void keep_worst(struct outcome *worst, const struct outcome *x)
{
    double exclusive = fmin(worst->exclusive, x->exclusive);
    double fluid = fmin(worst->fluid, x->fluid), cpu_s = fmax(worst->cpu_s, x->cpu_s);
    if (!worst->hosts ||
        fmin(x->exclusive, x->fluid) < fmin(worst->exclusive, worst->fluid))
        *worst = *x;
    worst->exclusive = exclusive;
    worst->fluid = fluid;
    worst->cpu_s = cpu_s;
}

static void run_kind(const struct fabric_question *a, int kind)
{
    struct outcome worst[LIST_MAX];
    for (int i = 0; i < a->algos.n; i++)
        worst[i] = (struct outcome){.exclusive = INFINITY, .fluid = INFINITY};
    for (uint64_t seed = a->first; seed <= a->last; seed++) {
        struct esp_request r;
        char what[80];
        struct esp_platform *p = draw_platform(kind, seed, what);
        esp_request_init(&r, first_host(p));
        r.op = ESP_OP_ALLGATHER;
        r.size_bytes = a->bytes;
        double least_s = bound_s(p, &r);
        for (int i = 0; i < a->algos.n; i++) {
            struct outcome x = try_algo(p, &r, a->algos.item[i], least_s);
            memcpy(x.what, what, sizeof what);
            x.seed = seed;
            keep_worst(&worst[i], &x);
            if (!a->worst)
                print_row(a, kinds[kind].name, &x);
        }
        esp_platform_free(p);
    }
    for (int i = 0; i < a->algos.n && a->worst; i++)
        print_row(a, kinds[kind].name, &worst[i]);
}

/* ---- arguments ---- */

static void split_list(struct list *l, const char *text, const char *by)
{
    l->n = 0;
    snprintf(l->text, sizeof l->text, "%s", text);
    for (char *word = strtok(l->text, by); word && l->n < LIST_MAX;
         word = strtok(NULL, by))
        l->item[l->n++] = word;
}

static void take_seeds(struct fabric_question *a, const char *text)
{
    unsigned long long first = 0, last = 0;
    if (sscanf(text, "%llu-%llu", &first, &last) != 2 || first < 1 || last < first)
        usage();
    a->first = first;
    a->last = last;
}

static void take_argument(struct fabric_question *a, const char *name, const char *value)
{
    if (!value)
        usage();
    if (!strcmp(name, "--seeds"))
        take_seeds(a, value);
    else if (!strcmp(name, "--bytes"))
        a->bytes = atof(value);
    else if (!strcmp(name, "--kinds"))
        split_list(&a->kinds, value, ",");
    else if (!strcmp(name, "--algos"))
        split_list(&a->algos, value, ";");
    else
        usage();
}

static void read_arguments(struct fabric_question *a, int argc, char **argv)
{
    a->bytes = 4e9;
    split_list(&a->kinds, "clustered,cards,leaves,tiers,torus,mesh", ",");
    split_list(&a->algos, "auto", ";");
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            a->json = 1;
        else if (!strcmp(argv[i], "--judge"))
            a->judge = 1;
        else if (!strcmp(argv[i], "--worst"))
            a->worst = 1;
        else {
            take_argument(a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        }
    }
    if (!a->first)
        take_seeds(a, a->judge ? "100000-100019" : "1-5");
    if (!(a->bytes >= 1) || (a->judge && a->first < JUDGE_FIRST) ||
        (!a->judge && a->last > WORK_LAST))
        usage();
}

static int find_kind(const char *name)
{
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(kinds[k].name, name))
            return k;
    usage();
}

int main(int argc, char **argv)
{
    static struct fabric_question a;
    read_arguments(&a, argc, argv);
    if (a.json)
        putchar('[');
    else
        printf("%-9s %6s %4s  %-44s %7s %7s %7s\n", "kind", "seed", "n", "fabric",
               "excl.", "fluid", "cpu s");
    for (int k = 0; k < a.kinds.n; k++)
        run_kind(&a, find_kind(a.kinds.item[k]));
    if (a.json)
        puts("\n]");
    return 0;
}
