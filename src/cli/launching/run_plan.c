#include "cli/launching/run_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/launching/job_hosts.h"
#include "cli/launching/supervise.h"
#include "cli/options/platforms.h"
#include "platform/part.h"
#include "runtime/given_plan.h"

static int first_host(const struct esp_platform *p)
{
    int u = 0;

    while (u < p->n_nodes - 1 && espi_is_switch(p, u))
        u++;
    return u;
}

/* The network that the job has of its own. */
struct job {
    struct esp_platform *p;
    int root; /* the node of rank 0, as far as is known */
};

/* The part of the platform on which ranks will run, where that is known, and its root. */
static int cut_job(const struct cli_args *args, struct job *job)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *part = NULL;
    int *nodes = NULL, n = 0, code = cli_job_hosts(args, job->p, &nodes, &n);

    if (code != CLI_OK)
        return code;
    job->root = n ? nodes[0] : first_host(job->p);
    if (cli_text(args, "root"))
        code = cli_find_root(job->p, cli_text(args, "platform"), cli_text(args, "root"),
                             &job->root);
    int *place = ESPI_NEW(int, job->p->n_nodes);
    if (!place)
        code = cli_error(CLI_FAILED, "out of memory");
    if (code == CLI_OK && n && n < job->p->n_hosts) {
        code = cli_fail(espi_platform_part(job->p, n, nodes, &part, place, &err), &err);
        if (code == CLI_OK) {
            /* a root without a rank is none of this job's */
            int root = place[job->root];
            job->root = root >= 0 && !espi_is_switch(part, root) ? root : place[nodes[0]];
            esp_platform_free(job->p);
            job->p = part;
        }
    }
    espi_free(place);
    espi_free(nodes);
    return code;
}

/* A plan that is to be made before the program starts. */
struct early {
    const struct espi_algo *algo; /* NULL: none is */
    struct esp_request request;
    bool asked; /* by name; else the program starts, too, where no plan can be made */
};

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

/* What solves linear programs the library inside the program has not. What weighs all
 * plans there are takes its time: there it is done here, as `espalier plan` does it. */
static struct early find_early(const struct cli_args *args)
{
    struct early e = {.asked = cli_text(args, "algo") != NULL};

    esp_request_init(&e.request, 0);
    if (cli_has(args, "size"))
        e.request.size_bytes = cli_number(args, "size");
    if (e.asked)
        e.request.algo = cli_text(args, "algo");
    bool wanted = e.asked || (cli_text(args, "platform") && !is_set("ESPALIER_ALGO"));
    if (!wanted || is_set("ESPALIER_PLAN") || !(e.request.size_bytes > 0))
        return e;
    e.algo = espi_algo_find(e.request.algo, strcspn(e.request.algo, ":"));
    if (e.algo && !(e.algo->flags & (ESPI_ALGO_NEEDS_LP | ESPI_ALGO_CHOOSES)))
        e.algo = NULL;
    if (e.algo)
        e.request.op = e.algo->op;
    return e;
}

static int make_plan(struct early *e, const struct job *job, struct esp_plan **out)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    if (job->p->n_hosts < 2) /* one machine, which the library does best */
        return CLI_OK;
    e->request.root = job->root;
    esp_status st = esp_plan_make(job->p, &e->request, out, &err);
    return e->asked || st == ESP_ENOMEM ? cli_fail(st, &err) : CLI_OK;
}

/* ---- handing it over ---- */

static int set_variable(const char *name, const char *value)
{
    return setenv(name, value, 1) ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* In variables, which launchers carry to rank 0 wherever that is. *fits: it is so. */
static int put_into_environment(char *text, size_t length, bool *fits)
{
    char value[ESPI_PLAN_NAME_MAX], name[ESPI_PLAN_NAME_MAX];
    size_t squeezed = espi_plan_squeeze(text, length);
    int pieces = espi_plan_pieces(squeezed, value), code = CLI_OK;

    *fits = pieces > 0;
    for (int i = pieces; i > 0 && code == CLI_OK;
         i--) { /* the last first: it is cut off */
        char *piece = text + (size_t)(i - 1) * ESPI_PLAN_PIECE_BYTES;
        espi_plan_piece_name(i, name);
        code = set_variable(name, piece);
        *piece = '\0';
    }
    return pieces && code == CLI_OK ? set_variable("ESPALIER_PLAN", value) : code;
}

/* The folder for a file: the user's, that of the platform, which the ranks have to read,
 * too, or else one of this machine alone. */
static const char *find_folder(const struct cli_args *args, char *room, size_t size,
                               bool *seen)
{
    const char *shared = cli_text(args, "shared"), *tmp = getenv("TMPDIR");

    *seen = true;
    if (shared)
        return shared;
    snprintf(room, size, "%s", getenv("ESPALIER_PLATFORM"));
    char *slash = strrchr(room, '/');
    if (slash)
        slash[slash == room] = '\0';
    if (slash && access(room, W_OK | X_OK) == 0)
        return room;
    *seen = false;
    return tmp && *tmp ? tmp : "/tmp";
}

static int open_file(const struct cli_args *args, char path[PATH_MAX], FILE **out)
{
    char room[PATH_MAX], whole[PATH_MAX], quoted[160];
    bool seen;
    const char *folder = find_folder(args, room, sizeof room, &seen);
    int n = realpath(folder, whole)
                ? snprintf(path, PATH_MAX, "%s/espalier-plan-XXXXXX", whole)
                : -1;

    cli_hold_signals(); /* the file must not be left behind */
    int fd = n > 0 && n < PATH_MAX ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0) {
        path[0] = '\0';
        return cli_error(CLI_FAILED, "cannot make a file for the plan in %s: %s",
                         espi_quote(quoted, sizeof quoted, folder), strerror(errno));
    }
    *out = fdopen(fd, "w");
    if (!*out) {
        close(fd);
        return cli_error(CLI_FAILED, "out of memory");
    }
    if (!seen)
        cli_error(CLI_OK,
                  "the plan is in %s: if rank 0 runs on another machine, give a folder "
                  "that both see (--shared)",
                  espi_quote(quoted, sizeof quoted, path));
    return CLI_OK;
}

/* Into the file itself, which nobody reads yet: another one beside it could be left. */
static int put_into_file(const struct cli_args *args, const struct esp_plan *plan,
                         const struct esp_platform *p, char path[PATH_MAX])
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char quoted[160];
    FILE *out = NULL;
    int code = open_file(args, path, &out);

    if (code != CLI_OK)
        return code;
    code = cli_fail(esp_plan_write_stream(plan, p, out, &err), &err);
    if (fclose(out) && code == CLI_OK)
        code = cli_error(CLI_FAILED, "%s: %s", espi_quote(quoted, sizeof quoted, path),
                         strerror(errno));
    return code == CLI_OK ? set_variable("ESPALIER_PLAN", path) : code;
}

static int hand_over(const struct cli_args *args, const struct esp_plan *plan,
                     const struct esp_platform *p, char path[PATH_MAX])
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char *text = NULL;
    size_t length = 0;
    bool fits = false;
    FILE *out = cli_text(args, "shared") ? NULL : open_memstream(&text, &length);
    int code = CLI_OK;

    if (out) {
        code = cli_fail(esp_plan_write_stream(plan, p, out, &err), &err);
        if (fclose(out) && code == CLI_OK)
            code = cli_error(CLI_FAILED, "out of memory");
        if (code == CLI_OK)
            code = put_into_environment(text, length, &fits);
    }
    free(text);
    return code == CLI_OK && !fits ? put_into_file(args, plan, p, path) : code;
}

int cli_run_plan_check(const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct early e = find_early(args);
    const struct espi_algo *algo;
    double options[ESPI_ALGO_OPTIONS_MAX];

    if (e.asked && espi_algo_parse(cli_text(args, "algo"), &algo, options, &err))
        return cli_fail(err.status, &err);
    return e.algo && e.asked && !cli_text(args, "plan") && !cli_text(args, "platform")
               ? cli_error(CLI_BAD_USAGE, "--algo %s needs --platform", e.algo->name)
               : CLI_OK;
}

int cli_run_plan(const struct cli_args *args, struct cli_run_plan *out)
{
    struct early e = find_early(args);
    struct job job = {NULL, 0};
    struct esp_plan *plan = NULL;

    out->path[0] = '\0';
    if (!e.algo)
        return CLI_OK;
    int code = cli_read_platform(args, cli_text(args, "platform"), NULL, &job.p);
    if (code == CLI_OK)
        code = cut_job(args, &job);
    if (code == CLI_OK)
        code = make_plan(&e, &job, &plan);
    if (code == CLI_OK && plan)
        code = hand_over(args, plan, job.p, out->path);
    if (code == CLI_OK) /* what the plan is not for is planned by the others */
        code =
            set_variable("ESPALIER_ALGO",
                         plan && e.algo->flags & ESPI_ALGO_CHOOSES ? e.algo->name : "");
    if (code != CLI_OK && out->path[0])
        unlink(out->path);
    esp_plan_free(plan);
    esp_platform_free(job.p);
    return code;
}
