/* espalier testbed run and exec: MPI programs on all hosts, other programs on one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/parts.h"
#include "base/rng.h"
#include "cli/commands/testbed.h"

enum { OPENMPI, MPICH };

static const char *const mpi_names[] = {"openmpi", "mpich", NULL};
static const char *const launchers[] = {"mpirun.openmpi", "mpiexec.mpich"};

/* ---- hosts of the ranks ---- */

struct crew {
    int *host; /* in the order of ranks, each once */
    int n_hosts, n_ranks;
};

/* The hosts named in a list, each once. */
static int listed_hosts(struct crew *crew, const struct espi_grid *g, const char *text)
{
    char quoted[80], name[80];

    crew->n_hosts = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        int box = espi_grid_find_box(g, name);
        int host = box < 0 ? -1 : g->boxes[box].host;
        for (int i = 0; i < crew->n_hosts && host >= 0; i++)
            if (crew->host[i] == host)
                return cli_error(CLI_BAD_USAGE, "--hosts names %s twice", name);
        if (host < 0)
            return cli_error(CLI_BAD_USAGE, "--hosts: the testbed has no host '%s'",
                             espi_quote(quoted, sizeof quoted, name));
        crew->host[crew->n_hosts++] = host;
        text += length + (text[length] == ',');
    }
    return crew->n_hosts ? CLI_OK : cli_error(CLI_BAD_USAGE, "--hosts names no host");
}

static int find_crew(const struct cli_args *args, const struct espi_grid *g,
                     struct crew *crew)
{
    struct espi_rng rng;

    *crew = (struct crew){.host = ESPI_NEW(int, g->n_hosts), .n_hosts = g->n_hosts};
    if (!crew->host)
        return cli_error(CLI_FAILED, "out of memory");
    for (int h = 0; h < g->n_hosts; h++)
        crew->host[h] = h;
    if (cli_has(args, "hosts")) {
        int code = listed_hosts(crew, g, cli_text(args, "hosts"));
        if (code != CLI_OK)
            return code;
    }
    if (cli_has(args, "shuffle")) {
        espi_rng_seed(&rng, cli_seed(args, "shuffle"));
        espi_rng_shuffle(&rng, crew->host, crew->n_hosts);
    }
    crew->n_ranks = cli_has(args, "ranks") ? (int)cli_int(args, "ranks") : crew->n_hosts;
    if (crew->n_ranks < crew->n_hosts)
        crew->n_hosts = crew->n_ranks; /* daemons start on every host that is listed */
    return CLI_OK;
}

/* Written to memory and given by its number, so that nothing is left on disk. */
static int write_hostfile(const struct espi_grid *g, const struct crew *crew, int mpi,
                          char path[40])
{
    int fd = memfd_create("hostfile", 0);
    FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

    for (int i = 0; out && i < crew->n_hosts; i++) {
        int slots = crew->n_ranks / crew->n_hosts + (i < crew->n_ranks % crew->n_hosts);
        fprintf(out, mpi == OPENMPI ? "%s slots=%d\n" : "%s:%d\n",
                g->boxes[g->host_box[crew->host[i]]].name, slots);
    }
    if (!out || fclose(out))
        return cli_error(CLI_FAILED, "cannot write the hostfile: %s", strerror(errno));
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return CLI_OK;
}

/* ---- what both MPIs are told ---- */

struct setting {
    const char *name, *value;
    int soft; /* what the user sets counts */
};

/* Slices of messages go without a question first up to 128 KB: by both MPIs, for all
 * that run on a testbed. */
static const struct setting openmpi_settings[] = {
    {"OMPI_ALLOW_RUN_AS_ROOT", "1", 0},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0},
    {"OMPI_MCA_plm", "rsh", 0},
    {"OMPI_MCA_plm_rsh_no_tree_spawn", "1", 0},
    {"OMPI_MCA_plm_rsh_num_concurrent", "128", 0},
    {"OMPI_MCA_oob_tcp_if_include", "ctl0", 0},
    {"OMPI_MCA_pml", "ob1", 0},
    {"OMPI_MCA_btl", "tcp,self", 0},
    {"OMPI_MCA_btl_tcp_if_include", "eth0", 0},
    {"OMPI_MCA_mpi_yield_when_idle", "1", 0},
    {"OMPI_MCA_hwloc_base_binding_policy", "none", 0},
    {"OMPI_MCA_rmaps_base_mapping_policy", "node", 0},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1", 0},
    {"OMPI_MCA_opal_event_include", "epoll", 0},
    {"OMPI_MCA_btl_tcp_eager_limit", "131072", 1},
    {"OMPI_MCA_btl_tcp_rndv_eager_limit", "131072", 1},
    {NULL, NULL, 0}};

static const struct setting mpich_settings[] = {
    {"HYDRA_LAUNCHER", "ssh", 0},     {"HYDRA_IFACE", "ctl0", 0},
    {"UCX_TLS", "tcp,self", 0},       {"UCX_NET_DEVICES", "eth0", 0},
    {"UCX_RNDV_THRESH", "131072", 1}, {NULL, NULL, 0}};

static int set_environment(const struct espi_testbed *testbed, int mpi,
                           const char *hostfile)
{
    char agent[160];
    int bad = 0;
    const struct setting *s = mpi == OPENMPI ? openmpi_settings : mpich_settings;

    snprintf(agent, sizeof agent, "%s/agent", testbed->dir);
    for (; s->name; s++)
        bad |= setenv(s->name, s->value, !s->soft);
    if (mpi == OPENMPI) {
        bad |= setenv("OMPI_MCA_plm_rsh_agent", agent, 1);
        bad |= setenv("OMPI_MCA_orte_default_hostfile", hostfile, 1);
        bad |= setenv("OMPI_MCA_orte_tmpdir_base", testbed->dir, 1);
    } else {
        bad |= setenv("HYDRA_LAUNCHER_EXEC", agent, 1);
        bad |= setenv("HYDRA_HOST_FILE", hostfile, 1);
    }
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* ---- the waiting library ---- */

/* "old:library". */
static char *join_libraries(const char *old, const char *library)
{
    size_t size = strlen(old) + strlen(library) + 2;
    char *text = espi_malloc(size);

    if (text)
        snprintf(text, size, "%s%s%s", old, *old ? ":" : "", library);
    return text;
}

/* The ranks' LD_PRELOAD as the command line gives it ("-x LD_PRELOAD=...", "-genv
 * LD_PRELOAD ..."), or as the environment does, gets the library at its end. */
static int preload(char **words, int n, const char *library)
{
    static const char assign[] = "LD_PRELOAD=";
    const char *old = getenv("LD_PRELOAD");
    int bad = 0;

    for (int i = 1; i < n && !bad; i++) {
        int assigned = strcmp(words[i - 1], "-x") == 0 &&
                       strncmp(words[i], assign, sizeof assign - 1) == 0;
        int given = strcmp(words[i - 1], "LD_PRELOAD") == 0 && i >= 2 &&
                    strstr(words[i - 2], "env");
        if (assigned || given)
            bad = !(words[i] = join_libraries(words[i], library));
    }
    char *own = join_libraries(old ? old : "", library);
    bad |= !own || setenv("LD_PRELOAD", own, 1);
    espi_free(own);
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static int load_waiting(char **words, int n, int mpi)
{
    char path[PATH_MAX];

    if (espi_find_part(ESPI_PART_WAIT, mpi_names[mpi], path))
        return cli_error(CLI_FAILED,
                         "libespalier-wait-%s.so is not there, without which ranks take "
                         "the processor from each other: it is built and installed with "
                         "espalier",
                         mpi_names[mpi]);
    return preload(words, n, path);
}

/* ---- run ---- */

static int start_launcher(const struct cli_args *args, struct espi_testbed *testbed,
                          int mpi, const struct crew *crew)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char ranks[16], hostfile[40];
    const char *launcher =
        cli_has(args, "launcher") ? cli_text(args, "launcher") : launchers[mpi];
    char **words = ESPI_NEW(char *, args->n_words + 4);

    if (!words)
        return cli_error(CLI_FAILED, "out of memory");
    snprintf(ranks, sizeof ranks, "%d", crew->n_ranks);
    memcpy(words, (char *[]){(char *)launcher, (char *)"-n", ranks}, 3 * sizeof *words);
    for (int i = 0; i <= args->n_words; i++)
        words[3 + i] = i < args->n_words ? (char *)args->words[i] : NULL;
    int code = write_hostfile(&testbed->grid, crew, mpi, hostfile);
    if (code == CLI_OK)
        code = set_environment(testbed, mpi, hostfile);
    if (code == CLI_OK)
        code = load_waiting(words, args->n_words + 3, mpi);
    if (code == CLI_OK)
        code = cli_fail(espi_testbed_enter(testbed, -1, &err), &err);
    if (code != CLI_OK)
        return code;
    execvp(words[0], words);
    return cli_error(CLI_FAILED, "cannot start %s: %s", words[0], strerror(errno));
}

/* The number of words that an option of a launcher takes; -1: none that is known. */
static int option_words(const char *word)
{
    static const struct {
        const char *name;
        int words;
    } known[] = {{"-x", 1},    {"-genv", 2}, {"-env", 2}, {"-mca", 2},
                 {"--mca", 2}, {"-n", 1},    {"-np", 1},  {"--n", 1}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, word) == 0)
            return known[i].words;
    return -1;
}

/* "-n 4" or "-np 4" among the launcher's own options sets the ranks, too. */
static int take_ranks(struct cli_args *args, struct crew *crew)
{
    char quoted[80], *end;
    int at = 0, words;

    while (at < args->n_words && (words = option_words(args->words[at])) >= 0 &&
           !strstr(args->words[at], "-n"))
        at += words + 1;
    if (at + 2 > args->n_words || option_words(args->words[at]) != 1 ||
        !strstr(args->words[at], "-n"))
        return CLI_OK;
    long n = strtol(args->words[at + 1], &end, 10);
    if (*end || n < 1 || n > 100000)
        return cli_error(CLI_BAD_USAGE, "'%s' is not a number of ranks",
                         espi_quote(quoted, sizeof quoted, args->words[at + 1]));
    crew->n_ranks = (int)n;
    crew->n_hosts = crew->n_ranks < crew->n_hosts ? crew->n_ranks : crew->n_hosts;
    args->n_words -= 2;
    memmove(&args->words[at], &args->words[at + 2],
            (size_t)(args->n_words - at) * sizeof *args->words);
    return CLI_OK;
}

static int run_run(const struct cli_args *given)
{
    struct cli_args args = *given;
    struct espi_testbed testbed;
    struct crew crew = {.host = NULL};
    int mpi = cli_choice(&args, "mpi");
    int code = cli_open_testbed(&args, &testbed);

    if (code != CLI_OK)
        return code;
    code = find_crew(&args, &testbed.grid, &crew);
    if (code == CLI_OK)
        code = take_ranks(&args, &crew);
    if (code == CLI_OK)
        code = start_launcher(&args, &testbed, mpi, &crew);
    espi_free(crew.host);
    espi_testbed_done(&testbed);
    return code;
}

const struct command cli_testbed_run = {
    .name = "run",
    .summary = "run an MPI program on the hosts of a testbed",
    .about =
        (const char *const[]){
            "Starts the program by mpirun.openmpi or mpiexec.mpich, a rank on each host, "
            "over TCP through the shaped network. Hostfile, agent and parameters are "
            "taken care of. What follows '--' is given to the launcher, so it may start "
            "with options of it.",
            "Ranks that wait for messages sleep instead of looking for them all the "
            "time, so that many of them share few processors; see docs/testbed.md.",
            "The testbed's folder has launchers with these settings for programs that "
            "start others, such as 'espalier run': mpirun.openmpi and mpiexec.mpich.",
            NULL},
    .positionals =
        (const struct cli_positional[]){{.name = "COMMAND",
                                         .kind = CLI_STRING,
                                         .repeated = true,
                                         .help = "The program and its arguments."},
                                        {0}},
    .options =
        (const struct cli_option[]){
            CLI_BED_OPTION,
            {.name = "mpi",
             .kind = CLI_CHOICE,
             .choices = mpi_names,
             .value = "MPI",
             .fallback = "openmpi",
             .help = "Which MPI the program uses."},
            {.name = "ranks",
             .letter = 'n',
             .kind = CLI_INT,
             .limited = true,
             .min = 1,
             .max = 100000,
             .help = "Number of ranks; without it, one a host. More than hosts are "
                     "dealt out in turn."},
            {.name = "hosts",
             .kind = CLI_STRING,
             .value = "NAME,...",
             .help = "The hosts of the ranks, in this order; without it, all, in the "
                     "order of the platform."},
            {.name = "shuffle",
             .kind = CLI_SEED,
             .value = "SEED",
             .help = "Deal the hosts out in a random order, which the seed determines."},
            {.name = "launcher",
             .kind = CLI_FILE,
             .help = "Another launcher than mpirun.openmpi or mpiexec.mpich."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"On all hosts:", "espalier testbed run -- ./app"},
            {"Eight ranks of MPICH, anywhere:",
             "espalier testbed run --mpi mpich -n 8 --shuffle 1 -- ./app"},
            {"With the broadcasts by our plans:",
             "espalier run -p p.json -- /run/espalier-testbed/grid/mpirun.openmpi ./app"},
            {0}},
    .see = (const char *const[]){"run", NULL},
    .no_json = true,
    .parent = &cli_command_testbed,
    .run = run_run,
};

/* ---- exec ---- */

/* As remote shells do: all words are one command line. */
static int exec_shell(const struct cli_args *args, int first)
{
    size_t size = 1;

    for (int i = first; i < args->n_words; i++)
        size += strlen(args->words[i]) + 1;
    char *line = espi_malloc(size);
    if (!line)
        return cli_error(CLI_FAILED, "out of memory");
    line[0] = '\0';
    for (int i = first; i < args->n_words; i++) {
        strcat(line, args->words[i]);
        strcat(line, " ");
    }
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    return cli_error(CLI_FAILED, "cannot start /bin/sh: %s", strerror(errno));
}

static int run_exec(const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_testbed testbed;
    char quoted[80];
    int agent = cli_has(args, "agent"), first = 0;

    while (agent && first < args->n_words && args->words[first][0] == '-')
        first++; /* options for remote shells */
    if (args->n_words < first + 2)
        return cli_error(CLI_BAD_USAGE, "say a node and a command");
    int code = cli_open_testbed(args, &testbed);
    if (code != CLI_OK)
        return code;
    int box = espi_grid_find_box(&testbed.grid, args->words[first]);
    if (box < 0)
        code = cli_error(CLI_BAD_USAGE, "testbed %s has no node '%s'", testbed.name,
                         espi_quote(quoted, sizeof quoted, args->words[first]));
    else
        code = cli_fail(espi_testbed_enter(&testbed, box, &err), &err);
    espi_testbed_done(&testbed);
    if (code != CLI_OK)
        return code;
    if (agent)
        return exec_shell(args, first + 1);
    const char **words = ESPI_NEW(const char *, args->n_words);
    for (int i = 1; words && i <= args->n_words; i++)
        words[i - 1] = i < args->n_words ? args->words[i] : NULL;
    if (words)
        execvp(words[0], (char *const *)words);
    return cli_error(CLI_FAILED, "cannot start %s: %s",
                     espi_quote(quoted, sizeof quoted, args->words[1]), strerror(errno));
}

const struct command cli_testbed_exec = {
    .name = "exec",
    .summary = "run a program on one node of a testbed",
    .about =
        (const char *const[]){
            "Runs the command with the node's network and host name. Hosts know each "
            "other by name in the control network; in the shaped one they have the "
            "addresses 10.77.0.1, 10.77.0.2 and so on, in the order of the platform.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "NODE", .kind = CLI_STRING, .help = "A host, switch or router."},
            {.name = "COMMAND",
             .kind = CLI_STRING,
             .repeated = true,
             .help = "The program and its arguments, after '--'."},
            {0}},
    .options =
        (const struct cli_option[]){
            CLI_BED_OPTION,
            {.name = "agent",
             .help = "Behave like a remote shell, as launchers expect: options before "
                     "the node are passed over, and the words are one command line."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"What does a host see?", "espalier testbed exec s1-c1-h1 -- ip address"},
            {0}},
    .no_json = true,
    .parent = &cli_command_testbed,
    .run = run_exec,
};
