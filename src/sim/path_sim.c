#include "sim/path_sim.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

/* Cuts the paths at the hosts that forward: there a message is stored first. */
static void add_streams(struct espi_path_sim *c, const struct espi_paths *paths)
{
    struct espi_program *prog = &c->prog;
    const struct esp_platform *p = prog->p;
    for (int i = 0; i < paths->n; i++) {
        c->first_stream[i] = prog->n_streams;
        for (int k = paths->start[i]; k < paths->start[i + 1]; k++) {
            int link = paths->hops[k], at = k - paths->start[0];
            struct espi_stream *s = &prog->streams[prog->n_streams];
            if (k == paths->start[i] || !espi_is_switch(p, p->tail[link])) {
                *s = (struct espi_stream){.from = prog->rank[p->tail[link]],
                                          .first_hop = at};
                prog->n_streams++;
            }
            s = &prog->streams[prog->n_streams - 1];
            s->to = prog->rank[p->head[link]];
            s->n_hops++;
            prog->hops[at] = link;
        }
    }
    c->first_stream[paths->n] = prog->n_streams;
}

esp_status espi_path_sim_init(struct espi_path_sim *c, const struct esp_platform *p,
                              const struct esp_plan *plan,
                              const struct esp_sim_options *options,
                              const struct espi_paths *paths, struct espi_arena *arena,
                              struct esp_err *err)
{
    double size = options->size_bytes > 0 ? options->size_bytes : plan->size_bytes;
    struct espi_compile_options whole = {.size_bytes = size, .slice_bytes = size};
    esp_status st = espi_program_compile(p, plan, &whole, arena, &c->prog, err);
    if (st)
        return st;
    size_t n_hops = (size_t)(paths->start[paths->n] - paths->start[0]);
    c->prog.n_streams = 0;
    c->prog.streams = ESPI_ARENA_NEW(arena, struct espi_stream, n_hops);
    c->prog.hops = ESPI_ARENA_NEW(arena, int, n_hops);
    c->first_stream = ESPI_ARENA_NEW(arena, int, (size_t)paths->n + 1);
    if (!c->prog.streams || !c->prog.hops || !c->first_stream)
        return espi_err_nomem(err);
    add_streams(c, paths);
    return espi_sim_init(&c->sim, &c->prog, options, arena, err);
}

double espi_path_sim_arrival_s(void *path_sim, int path, double start_s, double *silent_s)
{
    const struct espi_path_sim *c = path_sim;
    double at_s = start_s;
    for (int s = c->first_stream[path]; s < c->first_stream[path + 1]; s++) {
        double next_s = espi_sim_carry_s(&c->sim, s, at_s, silent_s);
        if (s > c->first_stream[path]) { /* a host on the way may stop, too */
            double stop_s = c->sim.stop_s[c->prog.streams[s].from];
            if (stop_s < fmin(next_s, *silent_s)) {
                *silent_s = stop_s;
                return INFINITY;
            }
        }
        if (!isfinite(next_s))
            return INFINITY;
        at_s = next_s;
    }
    *silent_s = INFINITY;
    return at_s;
}

double espi_path_sim_lag_s(const struct espi_path_sim *c, int path)
{
    double sum_s = 0;
    for (int s = c->first_stream[path]; s < c->first_stream[path + 1]; s++)
        sum_s += c->sim.lag_s[s];
    return sum_s;
}

void espi_path_sim_use(struct espi_path_sim *c, int path, double most_s)
{
    for (int s = c->first_stream[path]; s < c->first_stream[path + 1]; s++)
        for (int k = c->sim.use_start[s]; k < c->sim.use_start[s + 1]; k++)
            c->sim.busy_s[c->sim.use_resource[k]] += fmin(c->sim.use_s[k], most_s);
}
