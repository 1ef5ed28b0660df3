#include "cli/launching/launcher.h"

#include <string.h>

#include "cli/launching/program_mpi.h"

const char *const cli_mpi_names[] = {"openmpi", "mpich", NULL};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- options ---- */

const struct cli_syntax cli_way_syntax[CLI_WAYS] = {
    [CLI_WAY_X] = {.one =
                       "n np c N H host hostfile machinefile default-hostfile x wd wdir "
                       "path prefix app am tune map-by bind-to rank-by ppr npernode "
                       "npersocket rf rankfile output-filename stdin report-uri "
                       "report-pid report-events ompi-server timeout max-restarts "
                       "xterm personality hnp cpu-list cpu-set cpus-per-proc "
                       "cpus-per-rank cf cartofile preload-files debugger launch-agent "
                       "max-vm-size xml-file dvm-uri output runtime-options",
                   .two = "mca gmca omca pmixmca prtemca gpmixmca gprtemca"},
    [CLI_WAY_GENV] = {.one =
                          "genvlist envlist f file hostfile machinefile host hosts wdir "
                          "dir path configfile n np launcher bootstrap launcher-exec "
                          "bootstrap-exec rmk topolib bind-to binding map-by membind "
                          "demux iface ppn prepend-pattern outfile-pattern "
                          "errfile-pattern nameserver order-nodes localhost usize "
                          "gpus-per-proc arch soft perhost",
                      .two = "genv env"},
    [CLI_WAY_EXPORT] =
        {.letters = "ABcCdDeFGiJLmMnNopPqrStTwWx",
         .one =
             "account acctg-freq bb bbf begin chdir cluster-constraint clusters comment "
             "constraint container context core-spec cores-per-socket cpu-bind cpu-freq "
             "cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution "
             "epilog error exclude export extra extra-node-info gid gpu-bind gpu-freq "
             "gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group "
             "hint input job-name jobid licenses mail-type mail-user mcs-label mem "
             "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network nodefile "
             "nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node "
             "ntasks-per-socket open-mode output partition power prefer priority profile "
             "prolog qos relative reservation signal slurmd-debug sockets-per-node step "
             "switches task-epilog task-prolog thread-spec threads threads-per-core time "
             "time-min tmp tree-width tres-bind tres-per-task uid wait wckey"},
};

static bool is_in(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (list && *list) {
        size_t word = strcspn(list, " ");
        if (word == length && memcmp(list, name, word) == 0)
            return true;
        list += word + (list[word] == ' ');
    }
    return false;
}

bool cli_is_option(const char *word, const char *name)
{
    size_t dashes = strspn(word, "-");

    return (dashes == 1 || dashes == 2) && strcmp(word + dashes, name) == 0;
}

/* Of "-vk": does the last letter take the next word? */
static bool letters_take(const char *letters, const char *cluster)
{
    for (; *cluster; cluster++)
        if (strchr(letters, *cluster))
            return !cluster[1];
    return false;
}

/* How many words behind an option are its own. */
static int values_of(const struct cli_syntax *s, const char *word, const char *next)
{
    const char *name = word + strspn(word, "-");

    if (is_in(s->two, name)) /* "-genv A=1" is one, too */
        return strstr(name, "env") && next && strchr(next, '=') ? 1 : 2;
    if (s->letters && word[1] != '-')
        return letters_take(s->letters, name);
    return is_in(s->one, name);
}

int cli_skip_options(const struct cli_syntax *s, int at, int end,
                     const char *const *words)
{
    while (at < end && words[at][0] == '-') {
        if (s->letters && strcmp(words[at], "--") == 0)
            return at + 1;
        at += 1 + values_of(s, words[at], at + 1 < end ? words[at + 1] : NULL);
    }
    return at < end ? at : end;
}

/* ---- what runs other commands ---- */

static const struct wrapper {
    const char *name;
    struct cli_syntax options;
    int operands; /* words before the command */
} wrappers[] = {
    {"env", {"uCa", "unset chdir argv0", NULL}, 0},
    {"timeout", {"sk", "signal kill-after", NULL}, 1},
    {"nice", {"n", "adjustment", NULL}, 0},
    {"nohup", {"", NULL, NULL}, 0},
    {"time", {"fo", "format output", NULL}, 0},
    {"taskset", {"", NULL, NULL}, 1},
    {"setsid", {"", NULL, NULL}, 0},
    {"stdbuf", {"ioe", "input output error", NULL}, 0},
    {"ionice", {"cn", "class classdata", NULL}, 0},
    {"chrt", {"TPD", "sched-runtime sched-period sched-deadline", NULL}, 1},
    {"numactl",
     {"iwpPCNm",
      "interleave weighted-interleave preferred preferred-many physcpubind cpunodebind "
      "membind",
      NULL},
     0},
    {"prlimit", {"", NULL, NULL}, 0},
    {"flock", {"wE", "timeout wait conflict-exit-code", NULL}, 1},
    {"unbuffer", {"", NULL, NULL}, 0},
    {"valgrind", {"", NULL, NULL}, 0},
    {"ip", {"", NULL, NULL}, 3}, /* netns exec NAME */
};

static const struct wrapper *find_wrapper(const char *word)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(name_of(word), wrappers[i].name) == 0)
            return &wrappers[i];
    return NULL;
}

static bool is_assignment(const char *word)
{
    size_t name = strcspn(word, "=/");

    return name > 0 && word[name] == '=';
}

int cli_launcher_at(int n, const char *const *words)
{
    const struct wrapper *w;
    int at = 0;

    while (at < n && (w = find_wrapper(words[at]))) {
        at = cli_skip_options(&w->options, at + 1, n, words);
        while (strcmp(w->name, "env") == 0 && at < n && is_assignment(words[at]))
            at++;
        at += w->operands;
    }
    return at < n ? at : n;
}

const char *cli_launch_value(const struct cli_launch *l, const char *name, cli_get get)
{
    size_t length = strlen(name);

    for (int i = l->at - 1; i >= 0; i--)
        if (strncmp(l->words[i], name, length) == 0 && l->words[i][length] == '=')
            return l->words[i] + length + 1;
    return get(name);
}

/* ---- which MPI ---- */

static const char *const openmpi_only = "orterun oshrun shmemrun prterun prun";

static int mpi_by_name(const char *name)
{
    if (strstr(name, "openmpi") || is_in(openmpi_only, name))
        return CLI_OPENMPI;
    return strstr(name, "mpich") || strstr(name, "hydra") ? CLI_MPICH : -1;
}

bool cli_command_exists(const char *command)
{
    char path[PATH_MAX];

    return cli_program_file(command, path) == 0;
}

int cli_launcher_mpi(const char *command)
{
    char path[PATH_MAX];
    int mpi = mpi_by_name(name_of(command));

    if (mpi < 0 && cli_program_file(command, path) == 0)
        mpi = mpi_by_name(name_of(path));
    return mpi;
}

/* ---- which way ---- */

/* mpirun, mpiexec.hydra, mpirun-4: but not mpirun_rsh, which is another's. */
static bool is_mpirun(const char *name)
{
    size_t length = strncmp(name, "mpirun", 6) == 0 ? 6 : 7;

    return (length == 6 || strncmp(name, "mpiexec", 7) == 0) &&
           (!name[length] || strchr(".-", name[length]));
}

/* Programs may stand in a file, whose lines take no options of ours. */
static bool has_file(const struct cli_launch *l, int end)
{
    for (int i = l->at + 1; i < end; i++)
        if (cli_is_option(l->words[i], "app"))
            return true;
    return false;
}

bool cli_is_env_list(const struct cli_launch *l, int at)
{
    return at - 2 > l->at && cli_is_option(l->words[at - 2], "mca") &&
           strcmp(l->words[at - 1], "mca_base_env_list") == 0 &&
           strcmp(l->words[at], ":") != 0;
}

static bool has_list(const struct cli_launch *l, cli_get get)
{
    const char *set = cli_launch_value(l, "OMPI_MCA_mca_base_env_list", get);

    for (int i = l->at + 1; i < l->n; i++)
        if (cli_is_env_list(l, i))
            return true;
    return set && *set;
}

static enum cli_way way_of_openmpi(const struct cli_launch *l, cli_get get)
{
    int end = cli_skip_options(&cli_way_syntax[CLI_WAY_X], l->at + 1, l->n, l->words);

    if (has_file(l, end))
        return CLI_WAY_INHERIT;
    return has_list(l, get) ? CLI_WAY_LIST : CLI_WAY_X;
}

void cli_launch_read(struct cli_launch *l, int n, const char *const *words, int mpi,
                     cli_get get)
{
    *l = (struct cli_launch){words, n, cli_launcher_at(n, words), CLI_WAY_INHERIT};
    if (l->at == n)
        return;
    const char *name = name_of(words[l->at]);
    if (strcmp(name, "srun") == 0)
        l->way = CLI_WAY_EXPORT;
    else if (is_in(openmpi_only, name) || (is_mpirun(name) && mpi == CLI_OPENMPI))
        l->way = way_of_openmpi(l, get);
    else if (is_mpirun(name) && mpi == CLI_MPICH)
        l->way = CLI_WAY_GENV;
}
