/* The library from end to end, without the program and without MPI:
 *
 *   cc library.c -o library $(pkg-config --cflags --libs espalier) && ./library [SAMPLES]
 *
 * takes a network (that of a file of samples, as `espalier measure --samples` keeps them,
 * or a made one), looks at it, lists algorithms, plans a broadcast, sets it beside what
 * no plan can beat, simulates it as planned and with a link that gets slower, and at last
 * carries the bytes of a message from rank to rank as the program of the plan says. */
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct esp_err err; /* one sentence on what went wrong */

static void must(esp_status status)
{
    if (status == ESP_OK)
        return;
    fprintf(stderr, "library: %s\n", err.text);
    exit(1);
}

/* ---- the network ---- */

static struct esp_platform *measured(const char *path)
{
    struct esp_samples *samples;
    struct esp_platform *p;

    must(esp_samples_read(path, &samples, &err));
    must(esp_samples_platform(samples, NULL, &p, &err));
    esp_samples_free(samples);
    return p;
}

static struct esp_platform *made(void)
{
    struct esp_sites_options options;
    struct esp_platform *p;

    esp_sites_options_defaults(&options); /* sets the size, too: always first */
    options.sites = 2;
    options.clusters = 1;
    options.hosts = 4;
    must(esp_generate_sites(&options, &p, &err));
    return p;
}

static void describe(const struct esp_platform *p)
{
    printf("%d hosts, %d links, %d cables\n", esp_platform_host_count(p),
           esp_platform_link_count(p), esp_platform_cable_count(p));
    for (int c = 0; c < esp_platform_cable_count(p) && c < 3; c++) {
        struct esp_rate_range range = esp_platform_cable_range(p, c);
        printf("  %d links share %s: %.3g MB/s", esp_platform_cable_link_count(p, c),
               esp_platform_cable_name(p, c),
               esp_platform_cable_bandwidth_Bps(p, c) / 1e6);
        if (range.confidence != ESP_UNSET) /* measured */
            printf(", at least %.3g", range.low_Bps / 1e6);
        printf("\n");
    }
}

/* ---- what can be done ---- */

static void list_algorithms(const struct esp_platform *p)
{
    int n = 0, options = 0;

    for (int a = 0; a < esp_algorithm_count(); a++)
        if (esp_algorithm_serves(a, ESP_OP_BCAST, 0) && esp_algorithm_applies(a, p)) {
            n++;
            options += esp_algorithm_option_count(a);
        }
    printf("%d algorithms for a broadcast, with %d options\n", n, options);
    int a = esp_algorithm_find("look-ahead");
    for (int i = 0; i < esp_algorithm_option_count(a); i++)
        printf("  %s:%s=%s  %s\n", esp_algorithm_name(a), esp_algorithm_option_name(a, i),
               esp_algorithm_option_choices(a, i) ? esp_algorithm_option_choices(a, i)
                                                  : "NUMBER",
               esp_algorithm_option_meaning(a, i));
}

static void bound_all(const struct esp_platform *p, const struct esp_request *request)
{
    for (int op = 0; op < ESP_OP_COUNT; op++) {
        struct esp_request other = *request;
        struct esp_bound_options options;
        struct esp_bound *bound;

        other.op = (esp_op)op;
        esp_bound_options_defaults(&options);
        options.makespan = 1;
        must(esp_bound_compute(p, &other, &options, &bound, &err));
        printf("  %-14s at most %.4g MB/s, not before %.4g s\n", esp_op_name(other.op),
               bound->throughput_Bps / 1e6, bound->makespan_s);
        if (bound->text)
            printf("  %-14s %s\n", "", bound->text);
        esp_bound_free(bound);
    }
}

/* ---- what would happen ---- */

static double finish_s(const struct esp_platform *p, const struct esp_plan *plan,
                       const struct esp_trace *trace, int *lost)
{
    struct esp_sim_options options;
    struct esp_sim_result *result;

    esp_sim_options_defaults(&options);
    options.changes = esp_trace_changes(trace, &options.n_changes);
    options.stops = esp_trace_stops(trace, &options.n_stops);
    must(esp_simulate(p, plan, &options, &result, &err));
    double makespan_s = result->makespan_s;
    *lost = result->lost;
    esp_sim_result_free(result);
    return makespan_s;
}

static void simulate(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_trace *trace;
    char event[600];
    int link = plan->trees[0].hops[0], lost;
    double as_planned_s = finish_s(p, plan, NULL, &lost);

    printf("simulated: everywhere after %.1f ms\n", 1e3 * as_planned_s);
    must(esp_trace_create(&trace, &err));
    snprintf(event, sizeof event, "link:%s:%s@%.6f=0.5",
             esp_platform_node_name(p, esp_platform_link_from(p, link)),
             esp_platform_node_name(p, esp_platform_link_to(p, link)), as_planned_s / 2);
    must(esp_trace_add(trace, p, event, &err));
    double slower_s = finish_s(p, plan, trace, &lost);
    printf("with one of its links half as fast from the middle on: %.1f ms, %d lost\n",
           1e3 * slower_s, lost);
    esp_trace_free(trace);
}

/* ---- doing it: all ranks in one process ---- */

/* Takes the step at hand, unless what it waits for is not there yet. */
static int take(const struct esp_program *program, const struct esp_walk *walk,
                char *const *memory, int rank, unsigned char *sent)
{
    int64_t message = esp_walk_message(walk);

    if (esp_walk_is_send(walk)) {
        sent[message] = 1;
        return 1;
    }
    if (!sent[message])
        return 0;
    for (int i = 0; i < esp_walk_slice_count(walk); i++) {
        int64_t slice = esp_walk_slice(walk, i);
        uint64_t at = esp_program_slice_offset(program, slice);
        memcpy(memory[rank] + at, memory[esp_walk_peer(walk)] + at,
               esp_program_slice_bytes(program, slice));
    }
    return 1;
}

static int64_t count_messages(const struct esp_program *program)
{
    int64_t last = -1;

    for (int r = 0; r < esp_program_rank_count(program); r++) {
        struct esp_walk *walk;
        must(esp_walk_create(program, r, ESP_WALK_SENDS, &walk, &err));
        while (esp_walk_next(walk))
            if (esp_walk_message(walk) > last)
                last = esp_walk_message(walk);
        esp_walk_free(walk);
    }
    return last + 1;
}

static void run(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_program *program;

    must(esp_program_compile(p, plan, NULL, &program, &err));
    int n = esp_program_rank_count(program), left = n, steps = 0;
    int root = esp_program_rank(program, plan->root);
    size_t size = (size_t)esp_program_size_bytes(program);
    unsigned char *sent = calloc((size_t)count_messages(program) + 1, 1);
    struct esp_walk **walk = calloc((size_t)n, sizeof *walk);
    char **memory = calloc((size_t)n, sizeof *memory);
    if (!sent || !walk || !memory)
        exit(1);
    for (int r = 0; r < n; r++) {
        must(esp_walk_create(program, r, ESP_WALK_ALL, &walk[r], &err));
        memory[r] = calloc(size, 1);
        if (!memory[r])
            exit(1);
        left -= !esp_walk_next(walk[r]);
    }
    for (size_t i = 0; i < size; i++)
        memory[root][i] = (char)(i * 2654435761u >> 13);
    while (left > 0)
        for (int r = 0; r < n; r++)
            while (esp_walk_message(walk[r]) >= 0 &&
                   take(program, walk[r], memory, r, sent)) {
                steps++;
                left -= !esp_walk_next(walk[r]);
            }
    for (int r = 0; r < n; r++)
        if (memcmp(memory[r], memory[root], size) != 0) {
            fprintf(stderr, "library: rank %d has other bytes\n", r);
            exit(1);
        }
    printf("carried out in %d steps: all %d ranks have the same %zu bytes\n", steps, n,
           size);
    for (int r = 0; r < n; r++) {
        esp_walk_free(walk[r]);
        free(memory[r]);
    }
    free(memory);
    free(walk);
    free(sent);
    esp_program_free(program);
}

int main(int argc, char **argv)
{
    struct esp_platform *p = argc > 1 ? measured(argv[1]) : made();
    struct esp_request request;
    struct esp_plan *plan, *copy;

    describe(p);
    list_algorithms(p);
    esp_request_init(&request, 0); /* what `espalier plan` takes where nothing is said */
    request.size_bytes = 4e6;
    must(esp_plan_make(p, &request, &plan, &err));
    printf("a plan by %s: %d trees, %.4g MB/s\n", plan->algo, plan->n_trees,
           plan->throughput_Bps / 1e6);
    request.slice_bytes = plan->slice_bytes;
    bound_all(p, &request);
    must(esp_plan_copy(plan, &copy, &err)); /* to be kept when the other is gone */
    esp_plan_free(plan);
    simulate(p, copy);
    run(p, copy);
    esp_plan_free(copy);
    esp_platform_free(p);
    return 0;
}
