#include "native/predict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/units.h"
#include "native/simulate.h"
#include "native/tuning.h"

static uint64_t rounds_for(int n_ranks)
{
    int rounds = ESPI_PREDICT_MESSAGES / (n_ranks > 0 ? n_ranks : 1);
    return (uint64_t)(rounds > ESPI_PREDICT_ROUNDS ? rounds : ESPI_PREDICT_ROUNDS);
}

static esp_status predict_run(const struct espi_native_library *library,
                              const struct esp_platform *team,
                              struct espi_native_run *run, double *native_s,
                              struct esp_err *err)
{
    double makespan_s = 0;
    run->protocol = library->protocol;
    run->rounds_most = rounds_for(team->n_hosts);
    esp_status st =
        run->algo ? espi_native_makespan(team, run, &makespan_s, err) : ESP_OK;
    if (st == ESP_ENOMEM)
        return st;
    *native_s = !st && isfinite(makespan_s) ? makespan_s : 0;
    return ESP_OK;
}

esp_status espi_native_predict(const struct espi_native_library *library,
                               const struct esp_platform *team, esp_op op, int root,
                               double size_bytes, double *native_s, struct esp_err *err)
{
    const struct espi_native_rule *rule = espi_native_rule_for(
        library->table, op, team->n_hosts, espi_native_bytes(team, op, size_bytes));
    struct espi_native_run run = {.root = root, .size_bytes = size_bytes};
    if (rule) {
        run.algo = rule->algo;
        run.segment_bytes = rule->segment_bytes;
        run.fanout = rule->fanout;
    }
    return predict_run(library, team, &run, native_s, err);
}

esp_status espi_native_predict_unequal(const struct espi_native_library *library,
                                       const struct esp_platform *team, esp_op op,
                                       int root, double size_bytes, double *native_s,
                                       struct esp_err *err)
{
    struct espi_native_run run = {.algo =
                                      espi_native_unequal(library->table->library, op),
                                  .root = root,
                                  .size_bytes = size_bytes};
    return predict_run(library, team, &run, native_s, err);
}

/* ---- limits ---- */

struct limit {
    const char *library, *variable;
    size_t offset; /* in struct espi_protocol */
};

#define LIMIT(library, variable, member)                                                 \
    {                                                                                    \
        library, variable, offsetof(struct espi_protocol, member)                        \
    }
static const struct limit limits[] = {
    LIMIT("openmpi", "OMPI_MCA_btl_tcp_eager_limit", eager_bytes),
    LIMIT("openmpi", "OMPI_MCA_btl_tcp_rndv_eager_limit", first_bytes),
    LIMIT("mpich", "UCX_RNDV_THRESH", eager_bytes),
};

/* Digits, and perhaps a letter for powers of 1024, in front of the end or of "b". */
static int read_limit(const char *text, double *out)
{
    static const char letters[] = "kmg";
    double bytes = 0;
    size_t at = espi_scan_number(text, strlen(text), &bytes), digits = at;
    const char *letter = text[at] ? strchr(letters, text[at] | 0x20) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        bytes *= 1024;
    at += letter != NULL;
    at += text[at] == 'b' || text[at] == 'B';
    if (digits == 0 || text[at] || !(bytes < 0x1p52))
        return -1;
    *out = bytes;
    return 0;
}

void espi_native_read_limits(const char *library, char *(*get)(const char *name),
                             struct espi_protocol *protocol)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *text =
            strcmp(limits[i].library, library) == 0 ? get(limits[i].variable) : NULL;
        double bytes;
        if (text && !read_limit(text, &bytes))
            *(double *)((char *)protocol + limits[i].offset) = bytes;
    }
}
