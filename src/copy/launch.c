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

enum { WORDS_MAX = 64 }; /* limit: of a launcher's command line */

/* In a process group of its own, so that Ctrl-C reaches the agents through us. */
static void run_launcher(const struct espi_copy_job *job, const struct espi_copy_host *h,
                         int in, int out)
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
    _exit(127);
}

static int launch_one(const struct espi_copy_job *job, struct espi_copy_host *h)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC))
        return -1;
    if (pipe2(up, O_CLOEXEC)) {
        close(down[0]);
        close(down[1]);
        return -1;
    }
    h->pid = fork();
    if (h->pid == 0)
        run_launcher(job, h, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    espi_control_open(&h->control, up[0], down[1]);
    return h->pid < 0 ? -1 : 0;
}

esp_status espi_copy_launch(struct espi_copy_job *job, struct esp_err *err)
{
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        struct espi_wire_out w = {0};
        if (launch_one(job, h))
            return espi_err(err, ESP_EIO, "cannot start %s: %s", job->options.rsh[0],
                            strerror(errno));
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
