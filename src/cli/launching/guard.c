#include "cli/launching/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/report.h"

static struct {
    pid_t pid; /* of the second process; 0: there is none */
    int life;  /* a pipe to it, whose end is that of all who hold it */
} guard = {0, -1};

void cli_kept_clean(struct cli_kept *kept)
{
    if (kept->plan.path[0])
        unlink(kept->plan.path);
    if (kept->folder[0])
        espi_advice_clean(kept->folder);
}

/* Nothing of what this program was given stays open here: whoever reads its output must
 * not wait for us. */
static void let_go(int life)
{
    int nothing = open("/dev/null", O_RDWR);

    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != life)
            close(fd);
}

/* Signals are blocked; what ends a terminal's or a batch system's group of processes is
 * just what it is there for. */
static void watch_life(int life, struct cli_kept *kept)
{
    char nothing;

    setsid();
    let_go(life);
    while (read(life, &nothing, 1) < 0 && errno == EINTR)
        continue;
    cli_kept_clean(kept);
    _exit(0);
}

static void start_guard(struct cli_kept *kept)
{
    int ends[2];
    sigset_t all, before;

    if (pipe2(ends, O_CLOEXEC))
        return;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    guard.pid = fork();
    if (guard.pid == 0) {
        close(ends[1]);
        watch_life(ends[0], kept);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    guard.life = ends[1];
    if (guard.pid < 0)
        cli_guard_end();
}

struct cli_kept *cli_guard_begin(bool wanted)
{
    static struct cli_kept alone;
    void *page = wanted ? mmap(NULL, sizeof alone, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                        : MAP_FAILED;

    if (page == MAP_FAILED)
        return &alone;
    start_guard(page);
    return page;
}

void cli_guard_join(void)
{
    if (guard.life >= 0)
        fcntl(guard.life, F_SETFD, 0);
}

void cli_guard_end(void)
{
    if (guard.life >= 0)
        close(guard.life);
    if (guard.pid > 0) {
        kill(guard.pid, SIGKILL); /* even if somebody has stopped it */
        while (waitpid(guard.pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    guard.life = -1;
    guard.pid = 0;
}
