/* Stands for a launcher: writes down each signal that it gets, in the file log of the
 * current folder, and ends half a second after the first that asks it to. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void note(int which)
{
    const char *name = which == SIGINT    ? "INT\n"
                       : which == SIGTERM ? "TERM\n"
                       : which == SIGHUP  ? "HUP\n"
                       : which == SIGQUIT ? "QUIT\n"
                                          : "USR1\n";
    int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, name, strlen(name)) < 0 || close(fd))
        _exit(6);
    ended |= which != SIGUSR1;
}

int main(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
    struct sigaction action = {.sa_handler = note};
    sigset_t blocked;
    FILE *f = fopen("pid", "w");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &action, NULL);
    if (!f || sigprocmask(SIG_BLOCK, NULL, &blocked) || !sigisemptyset(&blocked))
        return 7; /* it must not have been started with signals blocked */
    fprintf(f, "%d\n", (int)getpid());
    if (fclose(f) || close(open("ready", O_WRONLY | O_CREAT, 0600)))
        return 6;
    for (int left = 200; left > 0; left--) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        if (ended && left > 10)
            left = 10; /* time for a second one */
    }
    return 5;
}
