#include "cli/options/plans.h"

#include <espalier/simulate.h>
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "base/number.h"
#include "bound/makespan_bound.h"
#include "bound/op_bound.h"
#include "cli/options/platforms.h"
#include "cli/tuning.h"
#include "plan/ops.h"

const char *const cli_op_names[] = {
    "bcast",     "multicast", "scatter",        "gather",   "reduce",
    "allreduce", "allgather", "reduce-scatter", "alltoall", NULL};

static int first_host(const struct esp_platform *p)
{
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u))
            return u;
    return -1;
}

static int find_root(const struct cli_args *args, const struct esp_platform *p,
                     const char *where, int *root)
{
    const char *text = cli_text(args, "root");
    char quoted[64];

    *root = text ? cli_find_node(p, text) : first_host(p);
    if (*root >= 0)
        return CLI_OK;
    if (!text)
        return cli_error(CLI_BAD_INPUT, "%s: there is no host", where);
    return cli_error(CLI_BAD_INPUT, "%s: there is no node with the name or number '%s'",
                     where, espi_quote(quoted, sizeof quoted, text));
}

/* The options that say how large and by which algorithm, as far as the command has
 * them. */
static int read_measures(const struct cli_args *args, struct esp_request *request)
{
    if (cli_text(args, "algo"))
        request->algo = cli_text(args, "algo");
    if (cli_text(args, "size"))
        request->size_bytes = cli_number(args, "size");
    if (cli_text(args, "slice"))
        request->slice_bytes = cli_number(args, "slice");
    if (cli_text(args, "seed"))
        request->seed = cli_seed(args, "seed");
    if (cli_has(args, "budget") && !cli_is_usd(args, "budget"))
        request->budget_s = cli_number(args, "budget");
    if (!(request->size_bytes > 0))
        return cli_error(CLI_BAD_USAGE, "--size: the message needs at least one byte");
    return CLI_OK;
}

/* Checks what only the platform can tell; the list of targets is the caller's. */
static int read_ends(struct cli_question *q, const char *where, int **targets)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_request *r = &q->request;
    const char *list = cli_text(q->args, "targets");
    int code = CLI_OK;

    if (cli_text(q->args, "op"))
        esp_op_parse(cli_text(q->args, "op"), &r->op);
    if (list)
        code = cli_parse_targets(q->p, list, r->root, r->seed, targets, &r->n_targets);
    if (code != CLI_OK)
        return code;
    r->targets = *targets;
    esp_status status = espi_check_ends(q->p, r, &err);
    if (status == ESP_EINPUT)
        espi_err_prefix(&err, status, where);
    return cli_fail(status, &err);
}

static int read_request(struct cli_question *q, int **targets)
{
    char where[160];
    int root = 0, code;

    espi_input_where(where, sizeof where, q->args->words[0]);
    code = find_root(q->args, q->p, where, &root);
    esp_request_init(&q->request, root);
    if (code == CLI_OK)
        code = read_measures(q->args, &q->request);
    return code == CLI_OK ? read_ends(q, where, targets) : code;
}

int cli_ask(const struct cli_args *args, int (*answer)(struct cli_question *q))
{
    struct esp_platform *p = NULL;
    struct cli_question q = {.args = args};
    int *targets = NULL, code = cli_read_platform(args, args->words[0], NULL, &p);

    q.p = p;
    if (code == CLI_OK)
        code = read_request(&q, &targets);
    if (code == CLI_OK)
        code = answer(&q);
    espi_free(targets);
    esp_platform_free(p);
    return code;
}

size_t cli_planning_cost(const struct espi_algo *algo)
{
    unsigned hard =
        ESPI_ALGO_NEEDS_LP | ESPI_ALGO_SEARCHES | ESPI_ALGO_MANY_TREES | ESPI_ALGO_LONG;

    if (algo->flags & ESPI_ALGO_CHOOSES)
        return 0;
    return algo->flags & hard ? CLI_HARD_COST : 1;
}

double cli_bound_Bps(const struct esp_platform *p, const struct esp_request *request,
                     double slice_bytes, double time_limit_s)
{
    struct espi_op_bound_task task = {
        p,           request->op, request->root, request->n_targets, request->targets,
        slice_bytes, time_limit_s};
    struct espi_op_bound bound = {0};

    return espi_op_bound(&task, &bound, NULL) ? 0 : bound.throughput_Bps;
}

double cli_makespan_bound_s(const struct esp_platform *p,
                            const struct esp_request *request, bool exclusive,
                            double time_limit_s)
{
    struct espi_makespan_task task = {.p = p,
                                      .op = request->op,
                                      .root = request->root,
                                      .n_targets = request->n_targets,
                                      .targets = request->targets,
                                      .size_bytes = request->size_bytes,
                                      .exclusive = exclusive,
                                      .time_limit_s = time_limit_s};
    double bound_s = 0;

    if (espi_makespan_bound(&task, &bound_s, NULL))
        return 0;
    return espi_round_digits(bound_s, 9);
}

const char *cli_ends_text(char *out, size_t size, const struct esp_platform *p, esp_op op,
                          int root, int n_targets)
{
    char name[64];
    int n = n_targets > 0 ? n_targets : p->n_hosts - 1;

    espi_quote(name, sizeof name, espi_node_name(p, root));
    if (espi_op_frees_roots(op))
        snprintf(out, size, "among %d hosts", p->n_hosts);
    else if (espi_op_collects(op))
        snprintf(out, size, "from %d host%s to %s", n, n == 1 ? "" : "s", name);
    else
        snprintf(out, size, "from %s to %d host%s", name, n, n == 1 ? "" : "s");
    return out;
}

const char *cli_short_ends(char *out, size_t size, const struct esp_platform *p,
                           esp_op op, int root)
{
    char name[64];

    espi_quote(name, sizeof name, espi_node_name(p, root));
    if (espi_op_frees_roots(op))
        snprintf(out, size, "among %d hosts", p->n_hosts);
    else
        snprintf(out, size, "%s %s", espi_op_collects(op) ? "to" : "from", name);
    return out;
}

int cli_no_such_algorithm(const char *name)
{
    const char *names[256];
    char quoted[64];
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);

    n = n > 256 ? 256 : n;
    for (int i = 0; i < n; i++)
        names[i] = algos[i]->name;
    const char *near = cli_nearest(name, names, n);
    espi_quote(quoted, sizeof quoted, name);
    if (near)
        return cli_error(CLI_BAD_USAGE, "there is no algorithm '%s', did you mean '%s'?",
                         quoted, near);
    return cli_error(CLI_BAD_USAGE,
                     "there is no algorithm '%s' ('espalier algorithms' lists them)",
                     quoted);
}
