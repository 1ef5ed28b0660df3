#include "cli/launching/run_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/launching/launcher.h"
#include "cli/launching/program_mpi.h"
#include "runtime/given_plan.h"
#include "runtime/knobs.h"

/* srun is no MPI's own: its program is looked at. */
static int mpi_of_program(const struct cli_args *args, int at)
{
    struct cli_launch l;

    cli_launch_read(&l, args->n_words, args->words, -1, getenv);
    if (l.way != CLI_WAY_EXPORT)
        return -1;
    at = cli_skip_options(&cli_way_syntax[l.way], at + 1, l.n, l.words);
    at += cli_launcher_at(l.n - at, l.words + at);
    return at < l.n ? cli_program_mpi(l.words[at]) : -1;
}

int cli_find_mpi(const struct cli_args *args, int *mpi)
{
    char quoted[80];
    int at = cli_launcher_at(args->n_words, args->words);
    const char *command = args->words[at < args->n_words ? at : 0];

    *mpi = cli_choice(args, "mpi");
    if (*mpi < 0)
        *mpi = cli_launcher_mpi(command);
    if (*mpi < 0)
        *mpi = mpi_of_program(args, at);
    if (*mpi >= 0)
        return CLI_OK;
    return cli_error(CLI_BAD_USAGE,
                     "cannot tell which MPI '%s' belongs to: say --mpi openmpi or "
                     "--mpi mpich",
                     espi_quote(quoted, sizeof quoted, command));
}

/* What is to be preloaded: the shim, and what is so without us. */
static const char *preload_of(const struct cli_launch *l, const char *shim,
                              struct espi_arena *arena)
{
    const char *old = cli_launch_value(l, "LD_PRELOAD", getenv);
    size_t size = strlen(shim) + (old ? strlen(old) : 0) + 2;
    char *text = espi_arena_alloc(arena, size, 1);

    if (text)
        snprintf(text, size, "%s%s%s", shim, old && *old ? ":" : "", old ? old : "");
    return text;
}

static void add_variable(const struct cli_launch *l, struct cli_handover *h,
                         struct cli_variable *list, const char *name)
{
    const char *value = cli_launch_value(l, name, getenv);

    if (value)
        list[h->n++] = (struct cli_variable){name, value};
}

/* The settings that have a value, and a plan that travels with them. */
static int gather_settings(const struct cli_launch *l, struct cli_handover *h,
                           struct espi_arena *arena)
{
    int n;
    const struct espi_knob *knobs = espi_knobs(&n);
    struct cli_variable *list =
        ESPI_ARENA_NEW(arena, struct cli_variable, n + ESPI_PLAN_PIECES);
    char *names = espi_arena_alloc(arena, ESPI_PLAN_PIECES, ESPI_PLAN_NAME_MAX);

    if (!list || !names)
        return -1;
    h->variables = list;
    for (int i = 0; i < n; i++)
        add_variable(l, h, list, knobs[i].name);
    for (int i = 0; i < ESPI_PLAN_PIECES; i++) {
        char *name = names + (size_t)i * ESPI_PLAN_NAME_MAX;
        espi_plan_piece_name(i + 1, name);
        add_variable(l, h, list, name);
    }
    return 0;
}

/* How much is said is known by now: the settings were read. */
static void say_unknown(const struct cli_launch *l)
{
    struct espi_settings settings;
    char quoted[80];

    if (espi_settings_read(&settings, getenv, NULL) || settings.log < ESPI_LOG_WARN)
        return;
    cli_error(CLI_OK,
              "cannot tell how %s hands variables to its ranks: it gets them itself, "
              "and ranks on other machines have the library only if it passes them on",
              espi_quote(quoted, sizeof quoted, l->words[l->at < l->n ? l->at : 0]));
}

const char **cli_run_line(const struct cli_args *args, int mpi, const char *shim,
                          struct espi_arena *arena)
{
    struct cli_launch launch;
    struct cli_handover h = {.shim = shim};

    cli_launch_read(&launch, args->n_words, args->words, mpi, getenv);
    h.preload = preload_of(&launch, shim, arena);
    const char **line = h.preload && !gather_settings(&launch, &h, arena)
                            ? cli_launch_line(&launch, &h, getenv, arena)
                            : NULL;
    if (line && launch.way == CLI_WAY_INHERIT && setenv("LD_PRELOAD", h.preload, 1))
        line = NULL;
    if (!line)
        cli_error(CLI_FAILED, "out of memory");
    else if (launch.way == CLI_WAY_INHERIT)
        say_unknown(&launch);
    return line;
}
