#include "cli/launching/lines.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

int cli_start_lines(const char *const *words, pid_t *pid, FILE **lines)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    char quoted[80];

    if (!words[0])
        return cli_error(CLI_BAD_USAGE, "there is no command");
    if (pipe(ends) || !(*lines = fdopen(ends[0], "r")) ||
        posix_spawn_file_actions_init(&actions))
        return cli_error(CLI_FAILED, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int code = posix_spawnp(pid, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code)
        return cli_error(CLI_FAILED, "cannot start %s: %s",
                         espi_quote(quoted, sizeof quoted, words[0]), strerror(code));
    return CLI_OK;
}

void cli_put_program(const struct cli_args *args, const char *const *program,
                     const char **words)
{
    int n = 0, placed = 0;

    for (int i = 0; i <= args->n_words; i++)
        if (i < args->n_words && strcmp(args->words[i], "{}") != 0)
            words[n++] = args->words[i];
        else if (!placed++)
            for (int k = 0; program[k]; k++)
                words[n++] = program[k];
    words[n] = NULL;
}

void cli_pass_line_on(char *line)
{
    char quoted[200];

    line[strcspn(line, "\r\n")] = '\0';
    fprintf(stderr, "%s\n", espi_quote(quoted, sizeof quoted, line));
}
