/* Command lines of launchers, a word a line; the first line says for which MPI. What is
 * given must come back with options beside it, and every program must have the library.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launching/launcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 256 };

static const char *list, *slurm;

static char *get(const char *name)
{
    const char *value = strcmp(name, "OMPI_MCA_mca_base_env_list") == 0 ? list
                        : strcmp(name, "SLURM_EXPORT_ENV") == 0         ? slurm
                                                                        : NULL;
    return (char *)(uintptr_t)value;
}

static const struct cli_variable variables[] = {{"M", "off"}, {"H", "p0,p1"}};
static const struct cli_handover handover = {"SHIM", "SHIM:old", variables, 2};

static int count(const char *const *line)
{
    int n = 0;
    while (line[n])
        n++;
    return n;
}

static int has_library(const char *const *line, int from, int end)
{
    for (int i = from; i < end; i++)
        if (strstr(line[i], "SHIM"))
            return 1;
    return 0;
}

/* How many programs there are; each has the library, if they are to. */
static int programs(const char *const *line, int from, int n, int each)
{
    int found = 0;
    for (int i = from; i <= n; i++) {
        if (i < n && strcmp(line[i], ":") != 0)
            continue;
        found += i > from;
        if (i > from && each && !has_library(line, from, i))
            abort();
        from = i + 1;
    }
    return found;
}

/* Is srun to be started without what is preloaded? Then its line is behind the words that
 * say so. */
static int words_in_front(const struct cli_launch *l, const char *const *line)
{
    const char *preloaded = cli_launch_value(l, "LD_PRELOAD", get);
    if (l->way != CLI_WAY_EXPORT || !preloaded || !*preloaded)
        return 0;
    if (strcmp(line[l->at], "env") != 0 || strcmp(line[l->at + 1], "-u") != 0 ||
        strcmp(line[l->at + 2], "LD_PRELOAD") != 0)
        abort();
    return 3;
}

/* Words are added, as many as the way takes, and none is lost. */
static void judge(const struct cli_launch *l, const char *const *line)
{
    int front = words_in_front(l, line), n = count(line), from = l->at + 1;
    int added = n - l->n - front;
    int each = l->way == CLI_WAY_X || l->way == CLI_WAY_EXPORT;
    int due = programs(l->words, from, l->n, 0);
    int found = l->way == CLI_WAY_INHERIT ? 0 : programs(line, from + front, n, each);
    for (int i = 0; i < (l->way == CLI_WAY_INHERIT ? l->n : from); i++)
        if (strcmp(line[i < l->at ? i : i + front], l->words[i]) != 0)
            abort();
    if ((l->way == CLI_WAY_INHERIT && added != 0) ||
        (l->way == CLI_WAY_X && added != 6 * due) ||
        (l->way == CLI_WAY_EXPORT && (added < 0 || added > due)) ||
        (l->way == CLI_WAY_GENV && added != (from < l->n ? 9 : 0)) ||
        (l->way == CLI_WAY_LIST && added != 0 && added != 3))
        abort();
    if (l->way != CLI_WAY_INHERIT && due &&
        (found < due || !has_library(line, from + front, n)))
        abort();
}

static void try_line(int n, const char *const *words, int mpi)
{
    struct cli_launch l;
    struct espi_arena arena;
    espi_arena_init(&arena);
    cli_launch_read(&l, n, words, mpi, get);
    if (l.at < 0 || l.at > n || (l.at == n && l.way != CLI_WAY_INHERIT))
        abort();
    const char **line = cli_launch_line(&l, &handover, get, &arena);
    if (!line)
        abort();
    judge(&l, line);
    espi_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *words[WORDS_MAX];
    char *text = malloc(size + 1);
    int n = 0;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && n < WORDS_MAX; n++) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        words[n] = at;
        at = end;
    }
    int mpi = words[0][0] == 'm' ? CLI_MPICH : CLI_OPENMPI;
    list = words[0][0] && words[0][1] == 'l' ? "A=1;B" : NULL;
    slurm = words[0][0] && words[0][1] == 's' ? "NONE" : NULL;
    if (n > 1)
        try_line(n - 1, words + 1, mpi);
    free(text);
    return 0;
}
