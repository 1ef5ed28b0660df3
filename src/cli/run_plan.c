#include "cli/run_plan.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "algo/algo.h"
#include "base/err.h"
#include "cli/platforms.h"

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

/* Signals that ask us to end are the launcher's. */
static volatile sig_atomic_t launcher;

static void pass_on(int signal)
{
    if (launcher > 0)
        kill((pid_t)launcher, signal);
}

static pid_t start_process(const char *const *words, int companion)
{
    char quoted[80];
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    if (companion)
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive us */
    execvp(words[0], (char *const *)words);
    int code = cli_error(CLI_FAILED, "cannot start %s: %s",
                         espi_quote(quoted, sizeof quoted, words[0]), strerror(errno));
    fflush(NULL);
    _exit(code);
}

/* Waits for the launcher; a companion that ends is started anew, not too often. */
static int wait_for(pid_t pid, const char *const *companion, pid_t *beside)
{
    int status = 0;

    for (;;) {
        int other;
        pid_t ended = waitpid(pid, &status, companion ? WNOHANG : 0);
        if (ended == pid)
            return status;
        if (ended < 0 && errno != EINTR)
            return 0;
        if (!companion)
            continue;
        if (*beside > 0 && waitpid(*beside, &other, WNOHANG) == *beside) {
            sleep(1);
            *beside = start_process(companion, 1);
        }
        usleep(20000);
    }
}

int cli_run_to_end(const char *const *words, const char *plan,
                   const char *const *companion)
{
    struct sigaction action = {.sa_handler = pass_on};
    pid_t beside = companion ? start_process(companion, 1) : 0;
    pid_t pid = start_process(words, 0);

    launcher = pid;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int status = pid > 0 ? wait_for(pid, companion, &beside) : 0;
    if (beside > 0) {
        kill(beside, SIGTERM);
        waitpid(beside, NULL, 0);
    }
    if (*plan)
        unlink(plan);
    if (pid < 0)
        return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
