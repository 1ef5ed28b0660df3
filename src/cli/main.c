/* The program: finds the subcommand, parses its arguments, runs it. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/parts.h"
#include "cli/command.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"

static const struct command *const commands[] = {
#define COMMAND(name) &cli_command_##name,
#include "cli/command_list.def"
#undef COMMAND
    NULL};

const struct command *const *cli_commands(void)
{
    return commands;
}

const struct command *cli_find_command(const struct command *const *list,
                                       const char *name)
{
    for (; *list; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}

int cli_error(int code, const char *fmt, ...)
{
    char raw[2048], text[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    cli_progress_stop();
    fflush(stdout);
    fprintf(stderr, "espalier: %s\n", espi_quote(text, sizeof text, raw));
    return code;
}

int cli_fail(esp_status status, const struct esp_err *err)
{
    const char *text = err && err->text[0] ? err->text : esp_status_text(status);

    switch (status) {
    case ESP_OK:
        return CLI_OK;
    case ESP_EUSAGE:
        return cli_error(CLI_BAD_USAGE, "%s", text);
    case ESP_EINPUT:
    case ESP_EIO:
        return cli_error(CLI_BAD_INPUT, "%s", text);
    default:
        return cli_error(CLI_FAILED, "%s", text);
    }
}

static const struct command *no_such(const struct command *parent,
                                     const struct command *const *list, const char *word)
{
    const char *names[64];
    char quoted[64], name[128] = "espalier";
    int n = 0;

    for (; *list && n < 64; list++)
        if ((*list)->group != CLI_GROUP_HIDDEN)
            names[n++] = (*list)->name;
    const char *near = cli_nearest(word, names, n);
    espi_quote(quoted, sizeof quoted, word);
    if (parent)
        cli_full_name(parent, name, sizeof name);
    if (near)
        cli_error(CLI_BAD_USAGE, "'%s %s' does not exist, did you mean '%s %s'?", name,
                  quoted, name, near);
    else
        cli_error(CLI_BAD_USAGE, "'%s %s' does not exist (see '%s --help')", name, quoted,
                  name);
    return NULL;
}

const struct command *cli_resolve(int n, char *const *words, int *used)
{
    const struct command *c = cli_find_command(commands, words[0]);

    *used = 1;
    if (!c)
        return no_such(NULL, commands, words[0]);
    if (!c->children || n < 2 || words[1][0] == '-')
        return c;
    const struct command *const *children = c->children();
    const struct command *child = cli_find_command(children, words[1]);
    *used = 2;
    return child ? child : no_such(c, children, words[1]);
}

static int run_command(int argc, char **argv)
{
    struct cli_args args;
    int used, code;
    const struct command *c = cli_resolve(argc, argv, &used);

    if (!c)
        return CLI_BAD_USAGE;
    code = cli_parse(c, argc - used, argv + used, &args);
    if (code != CLI_OK)
        return code;
    if (cli_has(&args, "help"))
        cli_print_help(c);
    else
        code = c->run(&args);
    cli_args_done(&args);
    return code;
}

/* A descriptor 0, 1 or 2 that is closed would be given to the next file opened, which
 * messages would then be written into. Opened the wrong way round, using it fails. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            _exit(CLI_FAILED);
}

static char *alias(char *word)
{
    static char help[] = "help", version[] = "version";

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return version;
    return word;
}

int main(int argc, char **argv)
{
    int code = CLI_OK;

    hold_standard_streams();
    espi_program_is_ours();
    cli_term_init();
    if (argc < 2) {
        cli_print_overview();
    } else {
        argv[1] = alias(argv[1]);
        if (argv[1][0] == '-')
            code = cli_error(CLI_BAD_USAGE,
                             "'%.40s' stands before any command (see "
                             "'espalier --help')",
                             argv[1]);
        else
            code = run_command(argc - 1, argv + 1);
    }
    int flushed = cli_flush_stdout();
    return code == CLI_OK ? flushed : code;
}
