#include "cli/launching/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/parts.h"
#include "cli/launching/launcher.h"
#include "cli/launching/lines.h"
#include "cli/launching/run_line.h"
#include "cli/printing/term.h"
#include "cli/tuning.h"

enum { PARTS = 1000 }; /* looks: of the progress */

struct probe {
    pid_t pid;
    FILE *lines;
    char *text; /* the samples */
    size_t length, room;
    int ended; /* all samples have come */
    int progress;
    char what[64];
    char failure[400]; /* why the probe could not go on; "" if it could */
};

/* The launcher's words and the probe's. */
static const char **command_line(const struct cli_args *args, const char *probe,
                                 const char *budget, const char *check)
{
    const char *program[6] = {probe, budget};
    const char **words = ESPI_NEW(const char *, args->n_words + 6);
    int n = 2;

    if (cli_has(args, "ranks"))
        program[n++] = "ranks";
    if (check) {
        program[n++] = "check";
        program[n++] = check;
    }
    if (words)
        cli_put_program(args, program, words);
    return words;
}

/* "progress PART SECONDS WHAT": a bar on terminals, a line a stage elsewhere. */
static void show_progress(struct probe *p, const char *line)
{
    double part, left_s;
    char what[64], shown[80];

    if (sscanf(line, "progress %lf %lf %63[^\n]", &part, &left_s, what) != 3 ||
        !(part >= 0 && part <= 1))
        return;
    espi_quote(shown, sizeof shown, what);
    if (!p->progress++)
        cli_progress_start(PARTS, "measuring");
    cli_progress_update((long long)(part * PARTS));
    if (!isatty(STDERR_FILENO) && strcmp(what, p->what) != 0)
        fprintf(stderr, "espalier: measuring %s, about %.0f s left\n", shown, left_s);
    memcpy(p->what, what, sizeof what);
}

/* Lines of the probe begin with '@'; what else the launcher says is passed on. */
static int take_line(struct probe *p, char *line, size_t length)
{
    if (line[0] != '@') {
        cli_pass_line_on(line);
        return CLI_OK;
    }
    line++;
    length--;
    if (strncmp(line, "progress ", 9) == 0) {
        show_progress(p, line);
    } else if (strncmp(line, "failed ", 7) == 0) {
        line[strcspn(line, "\r\n")] = '\0';
        espi_quote(p->failure, sizeof p->failure, line + 7);
    } else if (strcmp(line, "end\n") == 0) {
        p->ended = 1;
    } else if (strncmp(line, "hosts ", 6) != 0) {
        if (espi_grow((void **)&p->text, &p->room, p->length + length + 1, 1))
            return cli_error(CLI_FAILED, "out of memory");
        memcpy(p->text + p->length, line, length + 1);
        p->length += length;
    }
    return CLI_OK;
}

/* Some MPIs hang when ranks leave: once the samples are there, that is not ours to wait
 * for. */
static int leave_probe(struct probe *p)
{
    double deadline_s = espi_now_s() + CLI_LEAVE_S;
    int how = 0;

    while (p->ended && waitpid(p->pid, &how, WNOHANG) == 0) {
        if (espi_now_s() > deadline_s) {
            kill(p->pid, SIGTERM);
            break;
        }
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    if (p->ended && p->failure[0])
        return cli_error(CLI_FAILED, "the probe could not go on: %s", p->failure);
    if (p->ended)
        return CLI_OK;
    while (waitpid(p->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    return cli_error(CLI_FAILED, "the probe ended before it was done (%s %d)",
                     WIFSIGNALED(how) ? "signal" : "exit status",
                     WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
}

static int listen_to(struct probe *p)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int code = CLI_OK;

    while (code == CLI_OK && !p->ended && (length = getline(&line, &room, p->lines)) > 0)
        code = take_line(p, line, (size_t)length);
    free(line);
    if (p->progress)
        cli_progress_end();
    return code;
}

int cli_run_probe(const struct cli_args *args, const char *budget, const char *check,
                  struct espi_samples *samples)
{
    char path[PATH_MAX];
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct probe p = {.pid = 0};
    int mpi = -1, code = cli_find_mpi(args, &mpi);

    if (code != CLI_OK)
        return code;
    if (espi_find_part(ESPI_PART_PROBE, cli_mpi_names[mpi], path))
        return cli_error(CLI_FAILED,
                         "espalier-probe-%s is not there: it is built where mpicc.%s is "
                         "installed",
                         cli_mpi_names[mpi], cli_mpi_names[mpi]);
    const char **words = command_line(args, path, budget, check);
    if (!words)
        return cli_error(CLI_FAILED, "out of memory");
    code = cli_start_lines(words, &p.pid, &p.lines);
    espi_free(words);
    if (code == CLI_OK)
        code = listen_to(&p);
    if (p.pid > 0) {
        int left = leave_probe(&p);
        code = code ? code : left;
    }
    if (p.lines)
        fclose(p.lines);
    if (code == CLI_OK)
        code = cli_fail(
            espi_samples_parse(samples, p.text ? p.text : "", p.length, "probe", &err),
            &err);
    espi_free(p.text);
    return code;
}
