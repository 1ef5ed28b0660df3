#include "cli/launching/job_hosts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/launching/launcher.h"
#include "cli/launching/run_line.h"
#include "cli/options/hosts.h"
#include "runtime/rank_platform.h"

static const char *const list_options[] = {"host", "H", "hosts", "w", "nodelist", NULL};
static const char *const file_options[] = {"hostfile", "machinefile", "default-hostfile",
                                           "f", NULL};
static const char *const list_variables[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST",
                                             NULL};
static const char *const file_variables[] = {"PBS_NODEFILE", "OAR_NODEFILE", NULL};

/* The value of one of the options: the rest of the word behind '=', or the next word. */
static const char *value_of(const char *word, const char *next,
                            const char *const *options)
{
    size_t dashes = strspn(word, "-");

    for (int i = 0; (dashes == 1 || dashes == 2) && options[i]; i++) {
        size_t n = strlen(options[i]);
        if (strncmp(word + dashes, options[i], n) != 0)
            continue;
        if (word[dashes + n] == '=')
            return word + dashes + n + 1;
        if (!word[dashes + n])
            return next;
    }
    return NULL;
}

/* What the launcher is told, where it starts one program: "h1,h2", or a file. */
static void find_in_line(const struct cli_args *args, const char **list,
                         const char **file)
{
    struct cli_launch l;
    int mpi = -1;

    if (cli_find_mpi(args, &mpi) != CLI_OK)
        return;
    cli_launch_read(&l, args->n_words, args->words, mpi, getenv);
    if (l.way == CLI_WAY_INHERIT)
        return;
    for (int i = l.at; i < l.n; i++)
        if (strcmp(l.words[i], ":") == 0)
            return;
    int end = cli_skip_options(&cli_way_syntax[l.way], l.at + 1, l.n, l.words);
    for (int i = l.at + 1; i < end; i++) {
        const char *next = i + 1 < end ? l.words[i + 1] : NULL;
        const char *value = value_of(l.words[i], next, list_options);
        *list = value ? value : *list;
        value = value_of(l.words[i], next, file_options);
        *file = value ? value : *file;
    }
}

static const char *first_set(const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

/* "n1:4" is n1 with four ranks, unless a node has that name. */
static const char *without_slots(const struct esp_platform *p, const char *name,
                                 char *room, size_t size)
{
    const char *colon = strrchr(name, ':');

    if (!colon || !isdigit((unsigned char)colon[1]) ||
        esp_platform_find_node(p, name) >= 0 || (size_t)(colon - name) >= size)
        return name;
    memcpy(room, name, (size_t)(colon - name));
    room[colon - name] = '\0';
    return room;
}

/* No node where one of the names is unknown: then nothing is known of the job. */
static void keep_known(const struct esp_platform *p, const struct cli_hosts *hosts,
                       int *nodes, int *n, unsigned char *seen)
{
    char room[256];

    *n = 0;
    for (int i = 0; i < hosts->n; i++) {
        const char *name = without_slots(p, cli_host(hosts, i), room, sizeof room);
        int several, node = espi_find_host(p, name, &several);
        if (node < 0) {
            *n = 0;
            return;
        }
        if (!seen[node])
            nodes[(*n)++] = node;
        seen[node] = 1;
    }
}

static int match_hosts(const struct esp_platform *p, const struct cli_hosts *hosts,
                       int **nodes, int *n)
{
    int *found = ESPI_NEW(int, hosts->n + 1);
    unsigned char *seen = espi_calloc((size_t)esp_platform_node_count(p), 1);

    if (found && seen) {
        keep_known(p, hosts, found, n, seen);
        *nodes = found;
        found = NULL;
    }
    espi_free(seen);
    espi_free(found);
    return *nodes ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

int cli_job_hosts(const struct cli_args *args, const struct esp_platform *p, int **nodes,
                  int *n)
{
    struct cli_hosts hosts = {0};
    const char *given = cli_text(args, "hosts"), *list = NULL, *file = NULL;

    *nodes = NULL;
    *n = 0;
    if (given && *given)
        return cli_find_hosts(p, given, "--hosts", nodes, n);
    find_in_line(args, &list, &file);
    if (!list && !file) {
        list = first_set(list_variables);
        file = list ? NULL : first_set(file_variables);
    }
    if (!list && !file)
        return CLI_OK;
    int bad = list ? cli_try_hosts(&hosts, list) : cli_try_hostfile(&hosts, file);
    int code = bad ? CLI_OK : match_hosts(p, &hosts, nodes, n);
    cli_hosts_done(&hosts);
    return code;
}
