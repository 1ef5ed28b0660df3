#include "cli/plans.h"

#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "base/input.h"
#include "cli/platforms.h"
#include "cost/packing.h"

const char *const cli_op_names[] = {"bcast", NULL};

static int first_host(const struct esp_platform *p)
{
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u))
            return u;
    return -1;
}

int cli_request_root(const struct cli_args *args, const struct esp_platform *p,
                     const char *path, int *root)
{
    const char *text = cli_text(args, "root");
    char where[160];
    int first = first_host(p);

    espi_input_where(where, sizeof where, path);
    if (first < 0)
        return cli_error(CLI_BAD_INPUT, "%s: there is no host", where);
    return cli_find_root(p, path, text ? text : espi_node_name(p, first), root);
}

int cli_request(const struct cli_args *args, const struct esp_platform *p,
                const char *path, struct esp_request *request)
{
    int root = 0, code = cli_request_root(args, p, path, &root);

    if (code != CLI_OK)
        return code;
    esp_request_init(request, root);
    if (cli_text(args, "op"))
        esp_op_parse(cli_text(args, "op"), &request->op);
    if (cli_text(args, "algo"))
        request->algo = cli_text(args, "algo");
    request->size_bytes = cli_number(args, "size");
    if (cli_text(args, "slice"))
        request->slice_bytes = cli_number(args, "slice");
    request->seed = cli_seed(args, "seed");
    if (cli_has(args, "budget"))
        request->budget_s = cli_number(args, "budget");
    if (!(request->size_bytes > 0))
        return cli_error(CLI_BAD_USAGE, "--size: the message needs at least one byte");
    return CLI_OK;
}

double cli_bound_Bps(const struct esp_platform *p, int root, double slice_bytes,
                     double time_limit_s)
{
    struct espi_packing_options options = {.gap = 1e-6, .time_limit_s = time_limit_s};
    struct espi_packing packing;
    struct espi_view view;
    struct espi_arena arena;
    double Bps = 0;

    espi_arena_init(&arena);
    if (!espi_view_init(&view, p, slice_bytes, &arena, NULL) &&
        !espi_packing_solve(&view, view.host[root], &options, &arena, &packing, NULL) &&
        isfinite(packing.bound))
        Bps = packing.bound * slice_bytes;
    espi_arena_done(&arena);
    return Bps;
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
