/* Stands for the ranks of a program under an advisor: broadcasts in the simulator, by the
 * plans that the advisor publishes, on a network of which some links lose their rate now
 * and then; between them other collectives, decided so or so.
 *   feeder PLATFORM FOLDER CALLS GAP_S [ALGO]     (of the first calls; else binomial)
 * Sizes fall slowly. Every call is told of as ranks would. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "channel/report.h"
#include "platform/platform.h"
#include "support/reports.h"

struct job {
    struct esp_platform *p;
    const char *folder;
    struct esp_plan *plan; /* in force */
    int advised;
    struct espi_advice_seen seen[64];
    /* One a rank: while the advisor plans, what they say waits in sockets of their own.
     */
    struct espi_reporter *reporter;
    struct espi_report *reports;
};

static void stop_if(esp_status status, const struct esp_err *err)
{
    if (!status)
        return;
    fprintf(stderr, "feeder: %s\n", err->text);
    exit(1);
}

static int first_host(const struct esp_platform *p)
{
    int root = 0;
    while (espi_is_switch(p, root))
        root++;
    return root;
}

/* Before there is advice. */
static void plan_first(struct job *j, const char *algo)
{
    struct esp_request request;
    struct esp_err err;
    esp_request_init(&request, first_host(j->p));
    request.algo = algo;
    request.size_bytes = 1e6;
    request.slice_bytes = 65024;
    stop_if(esp_plan_make(j->p, &request, &j->plan, &err), &err);
}

/* What the advisor has published for about that size is in force from the next call on.
 */
static void ask(struct job *j, double bytes)
{
    int k = espi_size_class((uint64_t)bytes);
    for (int c = k - 1; c <= k + 1; c++) {
        struct esp_plan *plan = NULL;
        char *text = NULL;
        size_t length;
        if (!espi_advice_read(j->folder, j->plan->root, c, &j->seen[c], &text, &length))
            continue;
        if (!esp_plan_parse(text, length, "advice", j->p, &plan, NULL) &&
            plan->n_trees == 1) {
            esp_plan_free(j->plan);
            j->plan = plan;
            j->advised = 1;
        } else {
            esp_plan_free(plan);
        }
        espi_free(text);
    }
}

/* Two thirds of the time the ways from the root's site to another are slow. */
static struct esp_platform *weather(const struct esp_platform *p, int call)
{
    double *factor = calloc((size_t)p->n_links + (size_t)p->n_shared, sizeof *factor);
    struct esp_platform *out;
    struct esp_err err;
    if (!factor)
        exit(1);
    for (int e = 0; e < p->n_links + p->n_shared; e++)
        factor[e] = 1;
    for (int e = 0; e < p->n_links && call % 18 >= 6; e++) {
        int a = p->node_site[p->tail[e]], b = p->node_site[p->head[e]];
        if (a == 0 && b == 1 + call / 18 % 3)
            factor[e] = call % 18 < 12 ? 0.3 : 0.6;
    }
    stop_if(espi_platform_scaled(p, factor, factor + p->n_links, &out, &err), &err);
    free(factor);
    return out;
}

static void tell_outcome(struct job *j, esp_op op, uint64_t call, double bytes, int ours,
                         double took_s, double end_s)
{
    struct espi_outcome o = {.magic = ESPI_OUTCOME_MAGIC,
                             .version = ESPI_OUTCOME_VERSION,
                             .op = op,
                             .root = j->plan->root,
                             .ranks = j->p->n_hosts,
                             .ours = ours,
                             .call = call,
                             .bytes = (uint64_t)bytes,
                             .total_s = took_s,
                             .at_s = end_s,
                             .ours_s = bytes / 2.1e6 + 0.01,
                             .native_s = ours ? bytes / 1.1e6 + 0.02 : bytes / 2.5e6};
    snprintf(o.algo, sizeof o.algo, "%s", ours ? j->plan->algo : "");
    espi_news_send(&j->reporter[j->plan->root], j->folder, &o, sizeof o);
}

static void call_once(struct job *j, int call, double gap_s)
{
    double bytes = floor(1.2e6 - 4e3 * (call % 200));
    struct esp_platform *reality = weather(j->p, call);
    double began_s = espi_now_s();
    int n =
        reports_of(j->p, j->plan, reality, bytes, (uint64_t)call, began_s, j->reports);
    double took_s = 0;
    for (int i = 0; i < n; i++)
        took_s = fmax(took_s, j->reports[i].total_s);
    /* They end now: the time of the simulator has passed. */
    double shift_s = espi_now_s() - began_s - took_s;
    for (int i = 0; i < n; i++) {
        j->reports[i].at_s += shift_s;
        espi_news_send(&j->reporter[j->reports[i].node], j->folder, &j->reports[i],
                       espi_report_bytes(&j->reports[i]));
    }
    tell_outcome(j, ESP_OP_BCAST, (uint64_t)call, bytes, 1, took_s, espi_now_s());
    if (call % 3 == 0)
        tell_outcome(j, ESP_OP_ALLREDUCE, 0, 8192, 0, 0.004, espi_now_s());
    if (call % 5 == 0)
        tell_outcome(j, ESP_OP_SCATTER, 0, 262144, 1, 0.13, espi_now_s());
    esp_platform_free(reality);
    usleep((useconds_t)(1e6 * gap_s));
    ask(j, bytes);
}

int main(int argc, char **argv)
{
    struct esp_err err;
    if (argc < 5) {
        fprintf(stderr, "usage: feeder PLATFORM FOLDER CALLS GAP_S [ALGO]\n");
        return 2;
    }
    struct job j = {.folder = argv[2]};
    stop_if(esp_platform_read(argv[1], NULL, &j.p, &err), &err);
    j.reports = calloc((size_t)j.p->n_nodes + 1, sizeof *j.reports);
    j.reporter = calloc((size_t)j.p->n_nodes + 1, sizeof *j.reporter);
    if (!j.reports || !j.reporter)
        return 1;
    for (int i = 0; i < j.p->n_nodes; i++)
        j.reporter[i].fd = -1;
    plan_first(&j, argc > 5 ? argv[5] : "binomial");
    for (int call = 1; call <= atoi(argv[3]); call++)
        call_once(&j, call, strtod(argv[4], NULL));
    for (int i = 0; i < j.p->n_nodes; i++)
        espi_reporter_done(&j.reporter[i]);
    free(j.reporter);
    esp_plan_free(j.plan);
    esp_platform_free(j.p);
    free(j.reports);
    return 0;
}
