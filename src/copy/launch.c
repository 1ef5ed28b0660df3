/* Agents are started by a launcher each, with pipes to its standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/job.h"
#include "copy/tuning.h"

enum {
    WORDS_MAX = 64,  /* limit: of a launcher's command line */
    NOT_FOUND = 127, /* code: of shells, and of launchers that use them */
};

/* In a process group of its own, so that Ctrl-C reaches the agents through us. Where
 * there is no such program, `told` gets the errno. */
static void run_launcher(const struct espi_copy_job *job, const struct espi_copy_host *h,
                         int in, int out, int told)
{
    const struct espi_copy_options *o = &job->options;
    const char *words[WORDS_MAX + 8];
    int n = 0;
    while (n < WORDS_MAX && o->rsh[n]) {
        words[n] = o->rsh[n];
        n++;
    }
    words[n++] = h->name;
    words[n++] = o->agent;
    words[n++] = "agent";
    if (o->below) {
        words[n++] = "--below";
        words[n++] = o->below;
    }
    words[n] = NULL;
    setpgid(0, 0);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execvp(words[0], (char *const *)(uintptr_t)words);
    int why = errno;
    _exit(write(told, &why, sizeof why) == sizeof why ? NOT_FOUND : NOT_FOUND - 1);
}

static int open_pipes(int pipes[3][2])
{
    for (int i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) == 0)
            continue;
        int why = errno;
        while (i-- > 0) {
            close(pipes[i][0]);
            close(pipes[i][1]);
        }
        errno = why;
        return -1;
    }
    return 0;
}

static int launch_one(const struct espi_copy_job *job, struct espi_copy_host *h)
{
    enum { DOWN, UP, TOLD };
    int pipes[3][2], why = 0;
    if (open_pipes(pipes))
        return -1;
    h->pid = fork();
    if (h->pid == 0)
        run_launcher(job, h, pipes[DOWN][0], pipes[UP][1], pipes[TOLD][1]);
    if (h->pid < 0)
        why = errno;
    close(pipes[DOWN][0]);
    close(pipes[UP][1]);
    close(pipes[TOLD][1]);
    espi_control_open(&h->control, pipes[UP][0], pipes[DOWN][1]);
    if (h->pid > 0 && read(pipes[TOLD][0], &why, sizeof why) != sizeof why)
        why = 0; /* it runs */
    close(pipes[TOLD][0]);
    errno = why;
    return why ? -1 : 0;
}

esp_status espi_copy_launch(struct espi_copy_job *job, struct esp_err *err)
{
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        struct espi_wire_out w = {0};
        if (launch_one(job, h))
            return espi_err(err, ESP_EIO,
                            "cannot start the launcher %s: %s; --rsh names "
                            "another",
                            job->options.rsh[0], strerror(errno));
        espi_put_8(&w, (unsigned)job->options.encrypted);
        espi_put_8(&w, (unsigned)job->options.resume);
        espi_put_8(&w, (unsigned)h->is_relay);
        espi_put_32(&w, (uint32_t)(1e3 * job->options.patience_s));
        espi_put_text(&w, h->folder);
        espi_copy_tell(job, h, ESPI_TO_BEGIN, &w, ESPI_FROM_HELLO);
    }
    return ESP_OK;
}

void espi_copy_lose(struct espi_copy_job *job, struct espi_copy_host *h, const char *fmt,
                    ...)
{
    va_list ap;
    (void)job;
    h->awaited = 0;
    if (h->state == ESPI_COPY_OUT || h->state == ESPI_COPY_HAS_IT)
        return;
    va_start(ap, fmt);
    espi_quote_print(h->why, sizeof h->why, fmt, ap);
    va_end(ap);
    h->state = ESPI_COPY_OUT;
    /* it cleans up, if it still can */
    espi_control_send(&h->control, ESPI_TO_QUIT, NULL);
}

int espi_copy_alive(const struct espi_copy_job *job)
{
    int n = 0;
    for (int i = 0; i < job->n_hosts; i++)
        n += espi_copy_is_alive(&job->host[i]) && !job->host[i].is_relay;
    return n;
}

void espi_copy_lose_unstarted(struct espi_copy_job *job, struct espi_copy_host *h)
{
    const char *launcher = job->options.rsh[0];
    int how = 0;
    if (h->pid > 0 && espi_child_reap(h->pid, ESPI_COPY_LAST_WORD_S, &how))
        kill(-h->pid, SIGKILL);
    h->pid = -1;
    if (WIFEXITED(how) && WEXITSTATUS(how) == NOT_FOUND)
        espi_copy_lose(job, h,
                       "no agent could be started on it: there is no program %s there "
                       "(exit status %d of %s); --agent says where it is",
                       job->options.agent, NOT_FOUND, launcher);
    else if (WIFEXITED(how))
        espi_copy_lose(job, h, "no agent could be started on it (exit status %d of %s)",
                       WEXITSTATUS(how), launcher);
    else
        espi_copy_lose(job, h, "no agent could be started on it (%s was killed)",
                       launcher);
}

/* Says farewell to all, and then waits for all. */
void espi_copy_end_agents(struct espi_copy_job *job)
{
    double wait_s = fmin(ESPI_COPY_FAREWELL_MOST_S,
                         fmax(ESPI_COPY_FAREWELL_LEAST_S, job->options.patience_s));
    double until_s = espi_now_s() + wait_s;
    for (int i = 0; i < job->n_hosts; i++)
        if (job->host[i].control.out >= 0)
            espi_control_send(&job->host[i].control, ESPI_TO_QUIT, NULL);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        double left_s = until_s - espi_now_s();
        int how;
        espi_control_close(&h->control);
        if (h->pid > 0 && espi_child_reap(h->pid, left_s > 0 ? left_s : 0, &how))
            kill(-h->pid, SIGKILL); /* what it started here */
        espi_free(h->has);
        espi_free(h->fresh);
        espi_free(h->stuck);
        espi_free(h->tags);
    }
}
