#include "cli/launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const cli_mpi_names[] = {"openmpi", "mpich", NULL};

/* What stands in the names of an MPI's launchers. */
static const char *const marks[CLI_MPIS][4] = {{"openmpi", "orterun", "prterun", NULL},
                                               {"mpich", "hydra", NULL}};

static int mpi_by_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (int mpi = 0; mpi < CLI_MPIS; mpi++)
        for (int i = 0; marks[mpi][i]; i++)
            if (strstr(name, marks[mpi][i]))
                return mpi;
    return -1;
}

/* The file that a command names, as the shell would find it, behind all links. */
static int find_command(const char *command, char out[PATH_MAX])
{
    const char *dirs = getenv("PATH");

    if (strchr(command, '/'))
        return realpath(command, out) ? 0 : -1;
    while (dirs && *dirs) {
        char path[PATH_MAX];
        size_t length = strcspn(dirs, ":");
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, dirs, command);
        if (n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0 &&
            realpath(path, out))
            return 0;
        dirs += length + (dirs[length] == ':');
    }
    return -1;
}

int cli_find_mpi(const struct cli_args *args)
{
    char path[PATH_MAX];
    int mpi = cli_choice(args, "mpi");

    if (mpi < 0)
        mpi = mpi_by_name(args->words[0]);
    if (mpi < 0 && find_command(args->words[0], path) == 0)
        mpi = mpi_by_name(path);
    return mpi;
}

int cli_is_launcher(const char *command)
{
    const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;

    return strncmp(name, "mpirun", 6) == 0 || strncmp(name, "mpiexec", 7) == 0 ||
           strcmp(name, "orterun") == 0;
}
