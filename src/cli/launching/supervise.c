#include "cli/launching/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/command.h"
#include "cli/launching/guard.h"
#include "cli/tuning.h"

/* ---- signals ---- */

/* Those that end programs and that launchers know what to do with. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static sigset_t held, before; /* before: what was blocked when we were started */
static int is_holding;

static int is_ignored(int signal)
{
    struct sigaction action;

    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void cli_hold_signals(void)
{
    if (is_holding)
        return;
    is_holding = 1;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!is_ignored(
                ends[i])) /* blocked signals would wait even if they are ignored */
            sigaddset(&held, ends[i]);
    sigaddset(&held, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held, &before);
    signal(SIGCHLD, SIG_DFL); /* else nobody hears how children ended */
}

/* What the terminal sends goes to all processes in its foreground, the command among
 * them; but when it hangs up it may tell the leader of the session alone. */
static int has_it_already(int signal, const siginfo_t *info)
{
    return info->si_code == SI_KERNEL && !(signal == SIGHUP && getsid(0) == getpid());
}

/* Launchers end their ranks when they are told to, but not all do when a line hangs up.
 */
static void pass_on(pid_t pid, int signal, const siginfo_t *info)
{
    if (!has_it_already(signal, info))
        kill(pid, signal == SIGHUP ? SIGTERM : signal);
}

/* ---- processes ---- */

/* It does not outlive us, whatever ends us: it gets that signal then. */
static pid_t start_process(const char *const *words, int at_our_end)
{
    char quoted[80];
    pid_t parent = getpid(), pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, at_our_end);
    if (getppid() != parent)
        _exit(1);
    if (at_our_end == SIGKILL)
        cli_guard_join();
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(words[0], (char *const *)words);
    int code = cli_error(CLI_FAILED, "cannot start %s: %s",
                         espi_quote(quoted, sizeof quoted, words[0]), strerror(errno));
    fflush(NULL);
    _exit(code);
}

struct beside {
    struct cli_companion *who; /* NULL: none */
    pid_t pid;                 /* 0: it does not run */
    double started_s, next_s;  /* next_s: when it is started again; 0: never */
    struct cli_retry retry;
};

static void start_beside(struct beside *b)
{
    struct cli_companion *c = b->who;

    c->words[c->n] = b->retry.failures > 0 ? c->again : NULL;
    c->words[c->n + 1] = NULL;
    b->pid = start_process(c->words, SIGKILL);
    b->started_s = espi_now_s();
    b->next_s = 0;
    if (b->pid < 0) {
        b->pid = 0;
        b->next_s = b->started_s + 1;
    }
}

/* It has ended before its time. */
static void plan_restart(struct beside *b, int status)
{
    double now_s = espi_now_s();
    double wait_s = cli_retry_wait(&b->retry, status, now_s - b->started_s);

    b->pid = 0;
    b->next_s = wait_s < 0 ? 0 : now_s + wait_s;
    if (wait_s < 0)
        cli_error(CLI_FAILED,
                  "%s could not be kept running (%d tries, the last ended by %s %d): the "
                  "program goes on without it",
                  b->who->name, b->retry.failures,
                  WIFSIGNALED(status) ? "signal" : "exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void tend(struct beside *b)
{
    int status;

    if (b->pid > 0 && waitpid(b->pid, &status, WNOHANG) == b->pid)
        plan_restart(b, status);
    if (b->next_s > 0 && espi_now_s() >= b->next_s)
        start_beside(b);
}

/* It is asked first. One that was stopped, or waits for a file that never comes, does not
 * hear that. */
static void end_beside(struct beside *b)
{
    struct timespec t = {0, 10000000};
    double end_s = espi_now_s() + CLI_END_S;

    if (b->pid <= 0)
        return;
    kill(b->pid, SIGTERM);
    while (waitpid(b->pid, NULL, WNOHANG) == 0) {
        if (espi_now_s() > end_s)
            kill(b->pid, SIGKILL);
        nanosleep(&t, NULL);
    }
}

/* Until a signal comes, of the end of a child or from outside, or something is due. */
static void wait_for_news(pid_t pid, const struct beside *b)
{
    double wait_s = b->next_s > 0 ? b->next_s - espi_now_s() : 3600;
    struct timespec t = {0, 0};
    siginfo_t info;

    if (wait_s > 0) {
        t.tv_sec = (time_t)wait_s;
        t.tv_nsec = (long)(1e9 * (wait_s - (double)t.tv_sec));
    }
    int signal = sigtimedwait(&held, &info, &t);
    if (signal > 0 && signal != SIGCHLD)
        pass_on(pid, signal, &info);
}

/* What came before the command was there could not reach it, whoever it is from. */
static void pass_on_held(pid_t pid)
{
    static const struct timespec at_once = {0, 0};
    sigset_t set = held;
    int signal;

    sigdelset(&set, SIGCHLD);
    while ((signal = sigtimedwait(&set, NULL, &at_once)) > 0)
        kill(pid, signal);
}

/* How the command ended. */
static int run_command(pid_t pid, struct beside *b)
{
    int status = 0;

    pass_on_held(pid);
    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        if (b->who)
            tend(b);
        wait_for_news(pid, b);
    }
}

int cli_supervise(const char *const *words, struct cli_companion *companion)
{
    struct beside b = {.who = companion && companion->words ? companion : NULL};

    cli_hold_signals();
    if (b.who)
        start_beside(&b);
    pid_t pid = start_process(words, SIGTERM); /* launchers end their ranks then */
    int why = errno, status = pid > 0 ? run_command(pid, &b) : 0;
    if (b.who)
        end_beside(&b);
    if (pid < 0)
        return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(why));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
