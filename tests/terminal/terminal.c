/* Runs a command on a terminal of its own, in whose foreground it is, as a shell does;
 * when a file is there, types some keys, or takes the terminal away ("hangup"). usage:
 * terminal FILE KEYS COMMAND...     the exit code is the command's */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between the terminal and the command there is a shell, of which the command is a job:
 * the leader of the session is another. */
static int run_job(char **words)
{
    int status;
    pid_t pid = fork();
    if (pid < 0)
        return 126;
    if (pid == 0) {
        signal(SIGTTOU, SIG_IGN);
        setpgid(0, 0);
        tcsetpgrp(STDIN_FILENO, getpid());
        signal(SIGTTOU, SIG_DFL);
        execvp(words[0], words);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int master, status, typed = 0;
    if (argc < 4)
        return 2;
    pid_t pid = forkpty(&master, NULL, NULL, NULL);
    if (pid < 0)
        return 126;
    if (pid == 0)
        _exit(run_job(argv + 3));
    for (int i = 0; i < 3000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
        usleep(10000);
        if (typed || access(argv[1], F_OK))
            continue;
        typed = 1;
        if (strcmp(argv[2], "hangup") == 0)
            close(master);
        else if (write(master, argv[2], strlen(argv[2])) < 0)
            return 126;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
