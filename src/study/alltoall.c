/* Figures 4 and 5 of J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous
 * network of workstations (2000): both algorithms by number of agents, and all algorithms
 * by the length of the message; then longer messages, more workstations, and workstations
 * of other speeds. */
#include "study/alltoall.h"

#include <math.h>

#include <espalier/platform.h>

#include "base/portable_math.h"
#include "study/study.h"

enum { HOSTS = ESPI_ALLTOALL_HOSTS, ALGOS = ESPI_ALLTOALL_ALGOS };
enum { N_SIZES = 3, QUICK_SIZES = 2, N_LENGTHS = 7 };
enum { N_RATIOS = 4, MIXES = 12, QUICK_MIXES = 3, MIX_LENGTHS = 5 };

static const int sizes[N_SIZES] = {8, 64, 256};
static const double ratios[N_RATIOS] = {1.5, 2, 4, 8};
static const int mix_hosts[] = {8, 16, 32};

enum { RING = 2, GATHER_BROADCAST = 6, TWO_STEP = 7, AUTO = 8 };

/* Bytes of a part: 32, 128, ... */
static double part_bytes(int length)
{
    return 32 * espi_power(4, length);
}

/* ---- jobs: a row each; first lengths on halves of both kinds, then mixes ---- */

struct shape {
    int sizes, mixes; /* mixes: of each ratio */
};

static const struct shape shapes[] = {{N_SIZES, MIXES}, {QUICK_SIZES, QUICK_MIXES}};

/* Rows of so many workstations, by length. */
static const int first_row[N_SIZES + 1] = {0, 7, 14, 19};

static int first_mix(const struct shape *s)
{
    return first_row[s->sizes];
}

static esp_status try_halves(int row, double *cells, struct esp_err *err)
{
    struct esp_platform *p = NULL;
    struct espi_alltoall_trial trial;
    int size = 0;

    while (size + 1 < N_SIZES && row >= first_row[size + 1])
        size++;
    esp_status status = espi_alltoall_halves(sizes[size], 1, &p, err);
    if (status == ESP_OK)
        status = espi_alltoall_try(p, part_bytes(row - first_row[size]), &trial, err);
    for (int i = 0; status == ESP_OK && i < ALGOS; i++)
        cells[i] = 1e3 * trial.time_s[i];
    esp_platform_free(p);
    return status;
}

/* One mix at several lengths: what auto gains over the best classical algorithm. */
static esp_status try_mix(int mix, uint64_t seed, double ratio, double *cells,
                          struct esp_err *err)
{
    struct esp_platform *p = NULL;
    struct espi_alltoall_trial trial;
    int n = mix_hosts[mix % 3];
    esp_status status = espi_alltoall_mix(n, ratio, seed + (uint64_t)mix + 1, &p, err);

    for (int i = 0; i < MIX_LENGTHS && status == ESP_OK; i++) {
        status = espi_alltoall_try(p, part_bytes(i), &trial, err);
        cells[i] = trial.gain;
    }
    esp_platform_free(p);
    return status;
}

static esp_status fill_row(const struct espi_study_table *x, size_t row, double *cells,
                           struct esp_err *err)
{
    const struct shape *s = x->arg;
    int mix = (int)row - first_mix(s);

    return mix < 0 ? try_halves((int)row, cells, err)
                   : try_mix(mix % s->mixes, x->seed, ratios[mix / s->mixes], cells, err);
}

/* ---- figures ---- */

static void add_agents(const struct espi_alltoall_agents agents[2],
                       struct espi_findings *f)
{
    struct espi_figure *figure = espi_findings_figure(
        f, "alltoall-fig4", "Cost by number of agents, 8 workstations, 32 bytes",
        "agents", "us");
    double x[HOSTS], y[HOSTS];

    for (int i = 0; i < 4; i++) {
        const struct espi_alltoall_agents *a = &agents[i / 2];
        for (int m = 0; m < HOSTS; m++) {
            x[m] = m + 1;
            y[m] = 1e6 * (i % 2 ? a->simulated_s : a->estimate_s)[m];
        }
        espi_findings_series(
            f, figure,
            espi_findings_text(f, "%s, %s", a->algo, i % 2 ? "simulated" : "estimated"),
            HOSTS, x, y);
    }
}

static void add_lengths(const struct espi_study_table *x, int size,
                        struct espi_findings *f)
{
    static const char *const names[N_SIZES] = {"alltoall-fig5", "alltoall-64",
                                               "alltoall-256"};
    struct espi_figure *figure = espi_findings_figure(
        f, names[size],
        espi_findings_text(f, "All algorithms by length, %d workstations", sizes[size]),
        "bytes of a part", "ms");
    double bytes[N_LENGTHS], y[N_LENGTHS];
    int count = first_row[size + 1] - first_row[size];

    if (!figure)
        return;
    figure->log_x = figure->log_y = 1;
    for (int a = 0; a < ALGOS; a++) {
        for (int i = 0; i < count && i < N_LENGTHS; i++) {
            int row = first_row[size] + i;
            bytes[i] = part_bytes(i);
            y[i] = x->cells[(size_t)row * x->width + (size_t)a];
        }
        espi_findings_series(f, figure, espi_alltoall_algos[a], count, bytes, y);
    }
}

/* The least and the mean gain over all mixes of a ratio. */
static void add_mixes(const struct espi_study_table *x, struct espi_findings *f)
{
    const struct shape *s = x->arg;
    struct espi_figure *figure = espi_findings_figure(
        f, "alltoall-mixes",
        "auto against the best classical algorithm, workstations of mixed speeds",
        "bytes of a part", "times as fast");
    double bytes[MIX_LENGTHS], mean[MIX_LENGTHS], least[MIX_LENGTHS];

    if (figure)
        figure->log_x = 1;
    for (int i = 0; i < MIX_LENGTHS; i++) {
        bytes[i] = part_bytes(i);
        least[i] = INFINITY;
    }
    for (int r = 0; r < N_RATIOS; r++) {
        for (int i = 0; i < MIX_LENGTHS; i++) {
            mean[i] = 0;
            for (int k = 0; k < s->mixes; k++) {
                size_t row = (size_t)(first_mix(s) + r * s->mixes + k);
                double gain = x->cells[row * x->width + (size_t)i];
                mean[i] += gain / s->mixes;
                least[i] = fmin(least[i], gain);
            }
        }
        espi_findings_series(f, figure,
                             espi_findings_text(f, "speeds 1 to %g, mean", ratios[r]),
                             MIX_LENGTHS, bytes, mean);
    }
    espi_findings_series(f, figure, "least of all", MIX_LENGTHS, bytes, least);
}

static void add_claims(const struct espi_study_table *x,
                       const struct espi_alltoall_agents agents[2],
                       struct espi_findings *f)
{
    static const double published[2] = {4, 3};
    static const char *const why =
        "the simulation finds two agents 20 us faster than three; the paper says of its "
        "measured choices only that they are quite consistent with the estimated ones";
    const double *short_ms = x->cells + (size_t)first_row[0] * x->width;

    for (int i = 0; i < 2; i++)
        espi_findings_claim(f, &(struct espi_claim){
                                   espi_findings_text(f,
                                                      "%s: best number of agents, "
                                                      "estimated",
                                                      agents[i].algo),
                                   published[i], espi_alltoall_best(agents[i].estimate_s),
                                   0, "", NULL, 1});
    for (int i = 0; i < 2; i++)
        espi_findings_claim(
            f,
            &(struct espi_claim){
                espi_findings_text(f, "%s: best number of agents, %s", agents[i].algo,
                                   "measured there, simulated here"),
                published[i], espi_alltoall_best(agents[i].simulated_s), 0, "", why, 1});
    espi_findings_claim(
        f, &(struct espi_claim){
               "speed-up over MPICH, short messages", 2,
               short_ms[RING] / fmin(short_ms[GATHER_BROADCAST], short_ms[TWO_STEP]), 0,
               "", "MPICH of that time is taken for a ring, which it was", 0});
}

static esp_status run_alltoall(const struct espi_study_run *r, struct esp_err *err)
{
    struct shape shape = shapes[r->quick != 0];
    struct espi_study_table x = {.rows =
                                     (size_t)(first_mix(&shape) + N_RATIOS * shape.mixes),
                                 .width = ALGOS,
                                 .arg = &shape};
    struct espi_alltoall_agents agents[2];
    esp_status status = espi_alltoall_agents(agents, err);

    if (status == ESP_OK)
        status = espi_study_fill(r, &x, fill_row, err);
    if (status != ESP_OK)
        return status;
    add_agents(agents, r->findings);
    for (int i = 0; i < shape.sizes && i < N_SIZES; i++)
        add_lengths(&x, i, r->findings);
    add_mixes(&x, r->findings);
    add_claims(&x, agents, r->findings);
    r->findings->setting = espi_findings_text(
        r->findings, "up to %d workstations; %d mixes of each range of speeds",
        sizes[shape.sizes - 1], shape.mixes);
    return ESP_OK;
}

const struct espi_study espi_study_alltoall = {
    .name = "alltoall",
    .figures = "alltoall-fig4 alltoall-fig5 alltoall-64 alltoall-256 alltoall-mixes",
    .paper = "J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous network of "
             "workstations (2000)",
    .title = "All-to-all broadcast on unequal workstations",
    .assumed =
        (const char *const[]){
            "The formulas are read so that the printed choice of agents comes out: T_rev "
            "is T_recv; an agent with nothing to send receives the messages of all "
            "owners; clients are assigned fastest first, to the agent that is done with "
            "them first, ties to the agent with fewest clients; of equal numbers of "
            "agents the larger is taken.",
            "The paper prints \"T_send (slow node)\" twice; the second, 130 us, is taken "
            "for T_recv.",
            "The paper is for short messages and says nothing of bytes. Here processors "
            "take 80 MB/s (fast) and 45 MB/s (slow), wires 12.5 MB/s, end to end 11 "
            "MB/s.",
            "The plots have no numbers in the text. That Two-Step is before "
            "Gather-Broadcast for longer messages does not come out of the model, in "
            "which what is sent in two messages costs as many bytes and more starts.",
            "More workstations, longer messages, mixes of speeds, ring, recursive "
            "doubling, Bruck, neighbour exchange and auto are not in the paper.",
            NULL},
    .run = run_alltoall,
};
