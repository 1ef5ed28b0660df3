/* The plan of a copy: one that is given, what no plan can beat, and what is said of it
 * without a copy. */
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/commands/cp.h"
#include "cli/options/plans.h"
#include "cli/tuning.h"

/* ---- one that is given ---- */

/* The hosts over which the plan goes, by node. */
static void mark_hosts(const struct esp_platform *p, const struct esp_plan *plan,
                       unsigned char *marks)
{
    marks[plan->root] = 1;
    for (int i = 0; i < plan->n_targets; i++)
        marks[plan->targets[i]] = 1;
    for (int t = 0; t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_hops; i++) {
            marks[esp_platform_link_from(p, plan->trees[t].hops[i])] = 1;
            marks[esp_platform_link_to(p, plan->trees[t].hops[i])] = 1;
        }
    for (int v = 0; v < esp_platform_node_count(p); v++)
        marks[v] &= esp_platform_node_kind(p, v) == ESP_NODE_HOST;
}

enum { NAMES_BYTES = 600 }; /* looks: more than anybody reads */

/* The names of hosts that are marked in one and not in the other, with commas between
 * them; how many there are. */
static int list_missing(const struct esp_platform *p, const unsigned char *in,
                        const unsigned char *not_in, char *names)
{
    size_t at = 0;
    int n = 0, is_cut = 0;

    names[0] = '\0';
    for (int v = 0; v < esp_platform_node_count(p); v++) {
        char quoted[96];
        if (!in[v] || not_in[v])
            continue;
        espi_quote(quoted, sizeof quoted, esp_platform_node_name(p, v));
        if (!is_cut && at + strlen(quoted) + 6 < NAMES_BYTES)
            at += (size_t)snprintf(names + at, NAMES_BYTES - at, "%s%s", n ? "," : "",
                                   quoted);
        else if (!is_cut) {
            snprintf(names + at, NAMES_BYTES - at, ",...");
            is_cut = 1;
        }
        n++;
    }
    return n;
}

/* Where a plan for the whole platform goes over hosts that are not of the copy, it says
 * which; CLI_OK: that is not so. */
static int name_missing(const struct cli_copy *c, const struct esp_platform *all)
{
    const char *path = cli_text(c->args, "plan");
    int nodes = esp_platform_node_count(all), code = CLI_OK;
    unsigned char *marks = espi_calloc(2, (size_t)nodes + 1);
    struct esp_plan *plan = NULL;
    char names[NAMES_BYTES];

    if (marks && esp_plan_read(path, all, &plan, NULL) == ESP_OK) {
        unsigned char *named = marks + nodes;
        mark_hosts(all, plan, marks);
        for (int v = 0; v < nodes; v++)
            named[v] = esp_platform_find_node(c->p, esp_platform_node_name(all, v)) >= 0;
        int n = list_missing(all, marks, named, names);
        if (n > 0)
            code =
                cli_error(CLI_BAD_INPUT,
                          "%s: the plan goes over %d host%s that %s not named; for hosts "
                          "that only pass on say --relay %s",
                          path, n, n == 1 ? "" : "s", n == 1 ? "is" : "are", names);
    }
    esp_plan_free(plan);
    espi_free(marks);
    return code;
}

/* Does it bring everything to all that are to have it? */
static int check_served(const struct cli_copy *c)
{
    int nodes = esp_platform_node_count(c->p), code = CLI_OK;
    unsigned char *wants = espi_calloc(2, (size_t)nodes + 1);
    char names[NAMES_BYTES];

    if (!wants)
        return cli_error(CLI_FAILED, "out of memory");
    unsigned char *gets = wants + nodes;
    for (int i = 0; i < c->job.n_hosts; i++)
        wants[esp_platform_find_node(c->p, c->job.host[i].name)] =
            !c->job.host[i].is_relay;
    memset(gets, c->plan->op == ESP_OP_BCAST, (size_t)nodes);
    for (int i = 0; i < c->plan->n_targets; i++)
        gets[c->plan->targets[i]] = 1;
    if (list_missing(c->p, wants, gets, names) > 0)
        code = cli_error(CLI_BAD_INPUT, "%s: the plan does not bring it to %s",
                         cli_text(c->args, "plan"), names);
    espi_free(wants);
    return code;
}

int cli_copy_read_plan(struct cli_copy *c, const struct esp_platform *all)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *path = cli_text(c->args, "plan");

    if (!path)
        return CLI_OK;
    esp_status status = esp_plan_read(path, c->p, &c->plan, &err);
    if (status) {
        int code = status == ESP_EINPUT ? name_missing(c, all) : CLI_OK;
        return code != CLI_OK ? code : cli_fail(status, &err);
    }
    if (c->plan->op != ESP_OP_BCAST && c->plan->op != ESP_OP_MULTICAST)
        return cli_error(CLI_BAD_INPUT,
                         "the plan is neither a broadcast nor a multicast");
    if (c->plan->root != esp_platform_find_node(c->p, c->root))
        return cli_error(CLI_BAD_INPUT, "the plan begins at another host: say --root");
    return check_served(c);
}

/* ---- the question that the plan answers ---- */

static int list_targets(struct cli_copy *c, struct esp_request *request)
{
    espi_free(c->targets);
    c->targets = ESPI_NEW(int, c->hosts.n + 1);
    if (!c->targets)
        return cli_error(CLI_FAILED, "out of memory");
    esp_request_init(request, esp_platform_find_node(c->p, c->root));
    int n = 0;
    for (int i = 0; i < c->hosts.n; i++)
        if (!c->job.host[i].is_relay)
            c->targets[n++] = esp_platform_find_node(c->p, c->hosts.host[i].name);
    request->op = n < c->hosts.n ? ESP_OP_MULTICAST : ESP_OP_BCAST;
    if (n < c->hosts.n) {
        request->targets = c->targets;
        request->n_targets = n;
    }
    request->algo = "auto";
    request->slice_bytes = ESP_SLICE_AUTO;
    request->seed = cli_seed(c->args, "seed");
    return CLI_OK;
}

int cli_copy_find_bound(struct cli_copy *c, double bytes)
{
    struct esp_request request;
    int code = list_targets(c, &request);

    request.size_bytes = bytes;
    if (code == CLI_OK && bytes > 0)
        c->bound_s = cli_makespan_bound_s(c->p, &request,
                                          esp_platform_model(c->p) != ESP_MODEL_CAPACITY,
                                          CLI_PLAN_BOUND_S);
    return code;
}

/* The plan that was given, for so many bytes, or the best. */
static esp_status find_plan(struct cli_copy *c, struct esp_request *request,
                            struct esp_err *err)
{
    struct esp_plan *given = c->plan;

    if (!given)
        return espi_copy_ask(c->p, request, &c->plan, err);
    esp_status status =
        espi_copy_adopt(given, c->p, c->p, request->size_bytes, &c->plan, err);
    if (!status)
        esp_plan_free(given);
    return status;
}

int cli_copy_show_plan(struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_request request;
    double bytes = (double)c->source.m.data_bytes;
    int code = list_targets(c, &request);

    if (code != CLI_OK)
        return code;
    request.size_bytes = bytes > 0 ? bytes : 1;
    esp_status status = find_plan(c, &request, &err);
    if (status)
        return cli_fail(status, &err);
    code = cli_copy_find_bound(c, bytes);
    return code == CLI_OK ? cli_copy_print_plan(c) : code;
}
