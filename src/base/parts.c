#include "base/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum home { LIB, LIBEXEC, DATA };

static const struct {
    const char *name; /* %s: the MPI */
    enum home home;
    const char *built; /* where it is in the build folder */
} parts[ESPI_PART_COUNT] = {
    [ESPI_PART_SIMGRID] = {"espalier-simgrid", LIBEXEC, "."},
    [ESPI_PART_DELAY] = {"espalier-delay", LIBEXEC, "testbed"},
    [ESPI_PART_PROBER] = {"espalier-prober", LIB, "src/prober"},
    [ESPI_PART_PROBE] = {"espalier-probe-%s", LIB, "src/mpi"},
    [ESPI_PART_SWEEP] = {"espalier-sweep-%s", LIB, "src/mpi"},
    [ESPI_PART_SHIM] = {"libespalier-%s.so", LIB, "src/mpi"},
    [ESPI_PART_WAIT] = {"libespalier-wait-%s.so", LIB, "testbed"},
    [ESPI_PART_NATIVE] = {"native/%s.json", DATA, "share"},
};

/* Folders of the installation, below the prefix, and as they were configured. */
static const char *const home_dirs[] = {
    [LIB] = ESPALIER_LIBDIR "/espalier",
    [LIBEXEC] = ESPALIER_LIBEXECDIR "/espalier",
    [DATA] = ESPALIER_DATADIR "/espalier",
};
static const char *const full_home_dirs[] = {
    [LIB] = ESPALIER_FULL_LIBDIR "/espalier",
    [LIBEXEC] = ESPALIER_FULL_LIBEXECDIR "/espalier",
    [DATA] = ESPALIER_FULL_DATADIR "/espalier",
};

/* Where files of ours that have this code in them lie: program, library, shims. */
static const char *const own_dirs[] = {
    ESPALIER_BINDIR,
    ESPALIER_LIBDIR,
    ESPALIER_LIBDIR "/espalier",
};
static const char *const full_own_dirs[] = {
    ESPALIER_FULL_BINDIR,
    ESPALIER_FULL_LIBDIR,
    ESPALIER_FULL_LIBDIR "/espalier",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int is_our_program;

void espi_program_is_ours(void)
{
    is_our_program = 1;
}

/* ---- where a part would be ---- */

/* dir of length n, then `below`, then the part's file. */
static int put_path(char out[PATH_MAX], const char *dir, int n, const char *below,
                    enum espi_part part, const char *mpi)
{
    char name[64];
    if (strchr(parts[part].name, '%'))
        snprintf(name, sizeof name, parts[part].name, mpi ? mpi : "none");
    else
        snprintf(name, sizeof name, "%s", parts[part].name);
    int length = snprintf(out, PATH_MAX, "%.*s/%s/%s", n, dir, below, name);
    return length < PATH_MAX ? 0 : -1;
}

static int put_full_path(char out[PATH_MAX], enum espi_part part, const char *mpi)
{
    const char *home = full_home_dirs[parts[part].home];
    return put_path(out, home, (int)strlen(home), ".", part, mpi);
}

static int is_built(const char *file, char build_dir[PATH_MAX])
{
    size_t n;
    if (!realpath(ESPALIER_BUILD_DIR, build_dir))
        return 0;
    n = strlen(build_dir);
    return strncmp(file, build_dir, n) == 0 && file[n] == '/';
}

int espi_part_near(enum espi_part part, const char *mpi, const char *file,
                   char out[PATH_MAX])
{
    char build_dir[PATH_MAX];
    const char *slash = strrchr(file, '/'), *home = home_dirs[parts[part].home];
    size_t n = slash ? (size_t)(slash - file) : 0;
    if (is_built(file, build_dir))
        return put_path(out, build_dir, (int)strlen(build_dir), parts[part].built, part,
                        mpi);
    for (size_t i = 0; i < COUNT(own_dirs); i++) {
        size_t m = strlen(own_dirs[i]);
        /* A folder that was configured with its whole path is not below the prefix. */
        if (n == strlen(full_own_dirs[i]) && memcmp(file, full_own_dirs[i], n) == 0)
            return put_full_path(out, part, mpi);
        if (home[0] != '/' && n > m && file[n - m - 1] == '/' &&
            memcmp(file + n - m, own_dirs[i], m) == 0)
            return put_path(out, file, (int)(n - m - 1), home, part, mpi);
    }
    return -1;
}

/* ---- where we are ---- */

int espi_find_self(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

/* The file that this very code was loaded from. (dladdr tells what the program was called
 * when it was started, and libraries relative to a folder that it may have left.) */
static int find_own_file(char out[PATH_MAX])
{
    char line[PATH_MAX + 128];
    uintptr_t here = (uintptr_t)&find_own_file, from, to;
    FILE *maps = fopen("/proc/self/maps", "re");
    int found = 0;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        if (path && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 &&
            here >= from && here < to)
            found = snprintf(out, PATH_MAX, "%.*s", (int)strcspn(path, "\n"), path) <
                    PATH_MAX;
    }
    if (maps)
        fclose(maps);
    return found ? 0 : -1;
}

/* ---- finding ---- */

/* Not a file that somebody else put there. */
static int is_ours(const char *path, const char *own_file)
{
    struct stat part, own;
    if (stat(path, &part) || stat(own_file, &own) || !S_ISREG(part.st_mode) ||
        part.st_mode & S_IWOTH)
        return 0;
    return part.st_uid == 0 || part.st_uid == geteuid() || part.st_uid == own.st_uid;
}

static int find_by_setting(const char *dir, enum espi_part part, char out[PATH_MAX])
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", dir, parts[part].name);
    return n < PATH_MAX && realpath(path, out) ? 0 : -1;
}

int espi_find_part(enum espi_part part, const char *mpi, char out[PATH_MAX])
{
    char own_file[PATH_MAX], self[PATH_MAX], path[PATH_MAX];
    const char *dir =
        part == ESPI_PART_SIMGRID ? secure_getenv("ESPALIER_LIBEXEC") : NULL;
    if (dir && dir[0])
        return find_by_setting(dir, part, out);
    if (find_own_file(own_file) || espi_find_self(self))
        return -1;
    int in_program = strcmp(own_file, self) == 0;
    int bad = in_program && !is_our_program && !is_built(own_file, path)
                  ? put_full_path(path, part, mpi)
                  : espi_part_near(part, mpi, own_file, path);
    return !bad && realpath(path, out) && is_ours(out, own_file) ? 0 : -1;
}
