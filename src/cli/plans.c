#include "cli/plans.h"

#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "base/input.h"
#include "cli/platforms.h"

const char *const cli_op_names[] = {"bcast", NULL};

static int first_host(const struct esp_platform *p)
{
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u))
            return u;
    return -1;
}

/* --root, or the first host; it must reach all others. */
static int find_root(const struct cli_args *args, const struct esp_platform *p,
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

/* The first that is there and works on such a platform. */
static const char *default_algo(const struct esp_platform *p, const char *otherwise)
{
    static const char *const names[] = {"auto", "grow", "multiport-grow", "ecef"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct espi_algo *a = espi_algo_find(names[i], strlen(names[i]));
        if (a && espi_algo_applies(a, p))
            return names[i];
    }
    return otherwise;
}

int cli_request(const struct cli_args *args, const struct esp_platform *p,
                const char *path, struct esp_request *request)
{
    int root = 0, code = find_root(args, p, path, &root);

    if (code != CLI_OK)
        return code;
    esp_request_init(request, root);
    if (cli_text(args, "op"))
        esp_op_parse(cli_text(args, "op"), &request->op);
    request->algo = cli_text(args, "algo");
    if (!request->algo)
        request->algo = default_algo(p, "flat");
    request->size_bytes = cli_number(args, "size");
    request->slice_bytes = cli_number(args, "slice");
    request->seed = cli_seed(args, "seed");
    if (cli_has(args, "budget"))
        request->budget_s = cli_number(args, "budget");
    if (!(request->size_bytes > 0))
        return cli_error(CLI_BAD_USAGE, "--size: the message needs at least one byte");
    return CLI_OK;
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
