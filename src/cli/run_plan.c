#include "cli/run_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algo/algo.h"
#include "base/err.h"
#include "cli/platforms.h"
#include "cli/supervise.h"

static int first_host(const struct esp_platform *p)
{
    int u = 0;

    while (u < p->n_nodes - 1 && espi_is_switch(p, u))
        u++;
    return u;
}

/* The node on which rank 0 runs, as far as is known. */
static int root_of(const struct cli_args *args, const struct esp_platform *p,
                   const char *path, int *root)
{
    const char *named = cli_text(args, "root"), *hosts = cli_text(args, "hosts");
    char first[256];

    if (!named && hosts && *hosts) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(hosts, ","), hosts);
        named = first;
    }
    return cli_find_root(p, path, named ? named : espi_node_name(p, first_host(p)), root);
}

/* "auto" is a choice by the size of each message: between the plans that the library
 * makes by itself and one of many trees, made here. */
static const char *algorithm_of(const struct cli_args *args)
{
    const char *name = cli_text(args, "algo");

    return name && strcmp(name, "auto") == 0 ? "mtp" : name;
}

static int make(const struct cli_args *args, const struct espi_algo *algo,
                const struct esp_platform *p, struct esp_plan **out)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_request request;
    int root = 0, code = root_of(args, p, cli_text(args, "platform"), &root);

    if (code != CLI_OK)
        return code;
    esp_request_init(&request, root);
    request.op = algo->op;
    request.algo = algorithm_of(args);
    request.size_bytes = 16e6;
    return cli_fail(esp_plan_make(p, &request, out, &err), &err);
}

static int write_file(const struct esp_plan *plan, const struct esp_platform *p,
                      char path[CLI_RUN_PLAN_MAX])
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *dir = getenv("TMPDIR");
    int n = snprintf(path, CLI_RUN_PLAN_MAX, "%s/espalier-plan-XXXXXX",
                     dir && *dir ? dir : "/tmp");
    cli_hold_signals(); /* the file must not be left behind */
    int fd = n < CLI_RUN_PLAN_MAX ? mkstemp(path) : -1;

    if (fd < 0) {
        path[0] = '\0';
        return cli_error(CLI_FAILED, "cannot make a file for the plan: %s",
                         strerror(errno));
    }
    close(fd);
    int code = cli_fail(esp_plan_write(plan, p, path, &err), &err);
    if (code != CLI_OK) {
        unlink(path);
        path[0] = '\0';
    }
    return code;
}

int cli_run_plan(const struct cli_args *args, char path[CLI_RUN_PLAN_MAX])
{
    const char *name = algorithm_of(args), *file = cli_text(args, "platform");
    const struct espi_algo *algo = name ? espi_algo_find(name, strcspn(name, ":")) : NULL;
    struct esp_platform *p = NULL;
    struct esp_plan *plan = NULL;

    path[0] = '\0';
    if (!algo || !espi_algo_needs_lp(algo) || cli_text(args, "plan"))
        return CLI_OK;
    if (!file)
        return cli_error(CLI_BAD_USAGE, "--algo %s needs --platform", algo->name);
    int code = cli_read_platform(args, file, NULL, &p);
    if (code == CLI_OK)
        code = make(args, algo, p, &plan);
    if (code == CLI_OK)
        code = write_file(plan, p, path);
    esp_plan_free(plan);
    esp_platform_free(p);
    return code;
}
