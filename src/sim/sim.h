/* Shared by the simulator's files. */
#ifndef ESPI_SIM_SIM_H
#define ESPI_SIM_SIM_H

#include <espalier/simulate.h>

#include "platform/resources.h"
#include "program/program.h"

/* The rate of a link or cable over time: factor[i] holds from at_s[i] on, 1 before. */
struct espi_rate_changes {
    int n;
    double *at_s, *factor;
};

/* A simulation: a program, the reality it runs in, and what comes out. */
struct espi_sim {
    const struct espi_program *prog;
    const struct esp_platform *reality;
    const struct esp_sim_options *options;
    struct espi_arena *arena;
    double slice_bytes;
    struct espi_resources links; /* of the reality */
    int *node;                   /* rank -> node of the reality */
    double *stop_s;              /* rank -> when it stops; infinity */
    int *hops;                   /* the program's hops as links of the reality */
    /* stream -> uses of resources, as rows */
    int *use_start, *use_resource;
    double *use_s;
    double *bytes, *latency_s, *lag_s, *bandwidth_Bps; /* of messages of streams */
    struct espi_rate_changes *link_rate, *cable_rate;  /* NULL: no changes */
    unsigned char *varies; /* stream: has it a link or cable whose rate changes? */
    /* what comes out */
    double *busy_s;      /* by resource */
    double *delivered_s; /* by rank; infinity: not yet */
    int64_t *kept;       /* slices that the rank has */
    uint64_t events, transfers;
    /* Each send when it starts, a sender's in the order in which it makes them; NULL. */
    void (*on_send)(void *arg, int stream, int64_t slice);
    void *on_send_arg;
    unsigned looked; /* how often espi_sim_must_end() was asked */
};

esp_status espi_sim_init(struct espi_sim *sim, const struct espi_program *prog,
                         const struct esp_sim_options *options, struct espi_arena *arena,
                         struct esp_err *err);

/* When a transfer of one slice that starts at start_s has arrived, as far as the changing
 * rates of its links and cables say; infinity: never. */
double espi_sim_arrival_s(const struct espi_sim *sim, int stream, double start_s);

/* The same; *silent_s is when the last of a transfer that never arrives came through, and
 * otherwise infinity. */
double espi_sim_carry_s(const struct espi_sim *sim, int stream, double start_s,
                        double *silent_s);

/* The factor of a rate at a time, and in *until_s when it changes next. */
double espi_rate_at(const struct espi_rate_changes *rate, double at_s, double *until_s);

/* Counts a send that starts. */
static inline void espi_sim_send(struct espi_sim *sim, int stream, int64_t slice)
{
    sim->transfers++;
    if (sim->on_send)
        sim->on_send(sim->on_send_arg, stream, slice);
}

/* Tells who asked for it of a transfer that is over, or was lost. */
void espi_sim_tell(const struct espi_sim *sim, int stream, int64_t slice, double start_s,
                   double end_s, int lost);

/* Counts what a message brought that is kept. */
static inline void espi_sim_keep(struct espi_sim *sim, int stream, double at_s)
{
    int rank = sim->prog->streams[stream].to;
    sim->kept[rank] += espi_stream_pieces(sim->prog, stream);
    if (sim->kept[rank] == sim->prog->expects[rank])
        sim->delivered_s[rank] = at_s;
}

/* Is the time over, or was the end asked for? At the moment now_s of the simulation; to
 * be asked at each event, of which few look at the clock. */
int espi_sim_must_end(struct espi_sim *sim, double now_s);
/* The error of who was ended then. */
esp_status espi_sim_ended(const struct espi_sim *sim, double now_s, struct esp_err *err);

/* Runs it by the model of its reality and the sharing that its options name. */
esp_status espi_sim_run(struct espi_sim *sim, struct esp_err *err);
esp_status espi_run_exclusive(struct espi_sim *sim, struct esp_err *err);
esp_status espi_run_fluid(struct espi_sim *sim, struct esp_err *err);
esp_status espi_run_hnow(struct espi_sim *sim, struct esp_err *err);

/* What a simulation that was run says. */
esp_status espi_sim_report(const struct espi_sim *sim, const struct esp_plan *plan,
                           struct esp_sim_result **out, struct esp_err *err);

/* All of it for a redundant plan. */
esp_status espi_simulate_redundant(const struct esp_platform *p,
                                   const struct esp_plan *plan,
                                   const struct esp_sim_options *options,
                                   struct espi_arena *arena, struct esp_sim_result **out,
                                   struct esp_err *err);

#endif
