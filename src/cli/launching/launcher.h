/* Command lines that start MPI programs: mpirun.openmpi -n 4 ./a : -n 2 ./b, timeout 10
 * mpiexec.mpich -n 4 ./a, srun -n 4 ./a. What they mean, and the same with variables for
 * the ranks of all of their programs. */
#ifndef ESPI_CLI_LAUNCHING_LAUNCHER_H
#define ESPI_CLI_LAUNCHING_LAUNCHER_H

#include <stdbool.h>

#include "base/arena.h"

enum { CLI_OPENMPI, CLI_MPICH, CLI_MPIS };

extern const char *const cli_mpi_names[]; /* ended by NULL */

/* How a launcher is told of variables that its ranks are to have. */
enum cli_way {
    CLI_WAY_INHERIT, /* none that is known: it passes on of its own what it will */
    CLI_WAY_X,       /* Open MPI: -x NAME=VALUE, for each program */
    CLI_WAY_LIST,   /* Open MPI, when the user names them in a list: -x is refused then */
    CLI_WAY_GENV,   /* MPICH: -genv NAME VALUE, for all programs at once */
    CLI_WAY_EXPORT, /* Slurm: --export=NAME,..., for each program */
    CLI_WAYS
};

typedef char *(*cli_get)(const char *name); /* as getenv */

struct cli_launch {
    const char *const *words;
    int n;
    int at; /* the launcher, behind env, timeout and the like; n: there is none */
    enum cli_way way;
};

/* The place of the command that the programs in front of it (env, timeout, nice, ...) are
 * to run; n: none. */
int cli_launcher_at(int n, const char *const *words);

/* Which MPI a command belongs to: by its name or that of the file that it leads to; -1:
 * nobody knows. */
int cli_launcher_mpi(const char *command);

/* Is there such a program, as the shell would find it? */
bool cli_command_exists(const char *command);

/* Reads a command line for that MPI. */
void cli_launch_read(struct cli_launch *l, int n, const char *const *words, int mpi,
                     cli_get get);

/* The value of a variable as the launcher has it: of `env NAME=VALUE launcher`, else
 * get's; NULL: none. */
const char *cli_launch_value(const struct cli_launch *l, const char *name, cli_get get);

struct cli_variable {
    const char *name, *value;
};

/* What ranks are to have. */
struct cli_handover {
    const char *shim; /* to be preloaded, before what the line says itself */
    const char
        *preload; /* LD_PRELOAD where the line says nothing: it, and what was set */
    const struct cli_variable *variables;
    int n;
};

/* The line with all that, ended by NULL and as long as the arena lives; as it is where
 * the way is to inherit. NULL: out of memory. */
const char **cli_launch_line(const struct cli_launch *l, const struct cli_handover *h,
                             cli_get get, struct espi_arena *arena);

/* ---- between the two files ---- */

/* The options of a command: names of those whose value is the next word, or the next two
 * words; letters of which several may stand behind one '-' where it has such. Names are
 * parted by spaces. */
struct cli_syntax {
    const char *letters, *one, *two;
};

/* The first word from `at` on that is neither an option nor the value of one. */
int cli_skip_options(const struct cli_syntax *s, int at, int end,
                     const char *const *words);

/* Is it "-NAME" or "--NAME"? */
bool cli_is_option(const char *word, const char *name);

/* Is the word the value of Open MPI's -mca mca_base_env_list? */
bool cli_is_env_list(const struct cli_launch *l, int at);

extern const struct cli_syntax cli_way_syntax[CLI_WAYS];

#endif
