/* espalier run: starts an MPI program with the shim in it. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/parts.h"
#include "channel/report.h"
#include "cli/command.h"
#include "cli/launching/guard.h"
#include "cli/launching/launcher.h"
#include "cli/launching/run_line.h"
#include "cli/launching/run_plan.h"
#include "cli/launching/supervise.h"
#include "cli/options/hosts.h"
#include "cli/options/live.h"
#include "runtime/knobs.h"

#include <espalier/plan.h>

/* ---- settings ---- */

static int set_variable(const char *name, const char *value)
{
    return setenv(name, value, 1) ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

/* The ranks may have another working directory. */
static int set_file(const char *name, const char *path)
{
    char whole[PATH_MAX], quoted[80];

    if (!realpath(path, whole))
        return cli_error(CLI_BAD_INPUT, "%s: %s", espi_quote(quoted, sizeof quoted, path),
                         strerror(errno));
    return set_variable(name, whole);
}

/* Does the platform have these hosts? */
static int check_hosts(const struct esp_platform *p, const char *hosts)
{
    int *nodes = NULL, n = 0;
    int code = hosts && *hosts ? cli_find_hosts(p, hosts, "--hosts", &nodes, &n) : CLI_OK;

    espi_free(nodes);
    return code;
}

/* What is wrong with files and hosts is better said before the ranks start. */
static int check_files(const char *platform, const char *plan, const char *hosts)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *p = NULL;
    struct esp_plan *read = NULL;

    if (!platform)
        return plan ? cli_error(CLI_BAD_USAGE, "--plan needs --platform") : CLI_OK;
    esp_status st = esp_platform_read(platform, NULL, &p, &err);
    if (!st && plan)
        st = esp_plan_read(plan, p, &read, &err);
    int code = st ? cli_fail(st, &err) : check_hosts(p, hosts);
    esp_plan_free(read);
    esp_platform_free(p);
    return code;
}

/* Brackets spelled out: ranks count the names. */
static int set_hosts(const char *list)
{
    struct cli_hosts hosts = {0};
    int code = cli_read_hosts(&hosts, list, "--hosts");

    for (size_t i = 0; code == CLI_OK && i + 1 < hosts.used; i++)
        if (!hosts.text[i])
            hosts.text[i] = ',';
    if (code == CLI_OK)
        code = set_variable("ESPALIER_HOSTS", hosts.text);
    cli_hosts_done(&hosts);
    return code;
}

static int set_all(const struct cli_args *args)
{
    static const struct {
        const char *option, *name;
    } texts[] = {
        {"mode", "ESPALIER_MODE"}, {"log", "ESPALIER_LOG"}, {"algo", "ESPALIER_ALGO"}};
    struct espi_settings settings;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *platform = cli_text(args, "platform"), *plan = cli_text(args, "plan");
    int code = check_files(platform, plan, cli_text(args, "hosts"));

    if (code == CLI_OK && platform)
        code = set_file("ESPALIER_PLATFORM", platform);
    if (code == CLI_OK && plan)
        code = set_file("ESPALIER_PLAN", plan);
    if (code == CLI_OK && cli_has(args, "stats"))
        code = set_variable("ESPALIER_STATS", "-");
    for (size_t i = 0; i < sizeof texts / sizeof *texts && code == CLI_OK; i++)
        if (cli_text(args, texts[i].option))
            code = set_variable(texts[i].name, cli_text(args, texts[i].option));
    if (code == CLI_OK && cli_text(args, "hosts") && *cli_text(args, "hosts"))
        code = set_hosts(cli_text(args, "hosts"));
    return code ? code : cli_fail(espi_settings_read(&settings, getenv, &err), &err);
}

/* ---- the advisor ---- */

struct advice {
    char self[PATH_MAX], share[32];
    char *folder; /* ours to make and to take away; of CLI_FOLDER_MAX bytes */
    const char *words[20];
    struct cli_companion advisor; /* its command line is words, if there is one */
};

static void add_word(struct advice *a, const char *word)
{
    a->words[a->advisor.n++] = word;
}

/* What probes are sent by, if that is wished and can be; and what the advisor is told. */
static int set_prober(struct advice *a)
{
    struct espi_settings settings = {.probe = 0};
    char path[PATH_MAX];
    int bad = espi_settings_read(&settings, getenv, NULL) ||
              (!settings.prober[0] && espi_find_part(ESPI_PART_PROBER, NULL, path));

    snprintf(a->share, sizeof a->share, "%g", bad ? 0 : settings.probe);
    add_word(a, "--probe");
    add_word(a, a->share);
    return bad || settings.prober[0] ? CLI_OK : set_variable("ESPALIER_PROBER", path);
}

/* Nobody else's, and gone when we are. */
static int make_folder(struct advice *a)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    const char *tmp = getenv("TMPDIR");

    if (!tmp || !*tmp || strlen(tmp) + sizeof "/espalier-XXXXXX" > CLI_FOLDER_MAX)
        tmp = "/tmp";
    cli_hold_signals();
    snprintf(a->folder, CLI_FOLDER_MAX, "%s/espalier-XXXXXX", tmp);
    if (!mkdtemp(a->folder)) {
        a->folder[0] = '\0';
        return cli_error(CLI_FAILED, "cannot make a folder for the advisor: %s",
                         strerror(errno));
    }
    return cli_fail(espi_advice_mark(a->folder, &err), &err);
}

/* The command line of the advisor. */
static int set_advisor(const struct cli_args *args, struct advice *a)
{
    static const char *const passed[] = {"--http", "--http-token", "--http-open"};

    a->advisor = (struct cli_companion){a->words, 0, "the advisor", "--again"};
    add_word(a, a->self);
    add_word(a, "advise");
    add_word(a, "-p");
    add_word(a, getenv("ESPALIER_PLATFORM"));
    add_word(a, "--folder");
    add_word(a, a->folder);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (!cli_has(args, passed[i] + 2))
            continue;
        add_word(a, passed[i]);
        if (cli_text(args, passed[i] + 2))
            add_word(a, cli_text(args, passed[i] + 2));
    }
    if (cli_text(args, "log") && strcmp(cli_text(args, "log"), "debug") == 0)
        add_word(a, "-v");
    if (cli_has(args, "stats"))
        add_word(a, "--stats");
    return set_prober(a);
}

static int set_advice(const struct cli_args *args, struct advice *a)
{
    if (!cli_has(args, "adapt"))
        return CLI_OK;
    if (!cli_text(args, "platform"))
        return cli_error(CLI_BAD_USAGE, "--adapt needs --platform");
    if (espi_find_self(a->self))
        return cli_error(CLI_FAILED, "cannot find this program itself");
    int code = make_folder(a);
    if (code == CLI_OK)
        code = set_advisor(args, a);
    return code == CLI_OK ? set_variable("ESPALIER_ADVICE", a->folder) : code;
}

static int start_program(const char *const *line, const struct cli_run_plan *plan,
                         struct advice *advice)
{
    char quoted[80];

    if (plan->path[0] || advice->folder[0])
        return cli_supervise(line, &advice->advisor);
    cli_guard_end();
    execvp(line[0], (char *const *)line);
    return cli_error(CLI_FAILED, "cannot start %s: %s",
                     espi_quote(quoted, sizeof quoted, line[0]), strerror(errno));
}

/* Plan, advisor and program, when all else is known to be right. */
static int run_all(const struct cli_args *args, int mpi, const char *shim)
{
    bool may_leave =
        cli_has(args, "adapt") || cli_text(args, "algo") || cli_text(args, "platform");
    struct cli_kept *kept = cli_guard_begin(may_leave);
    struct advice advice = {.folder = kept->folder};
    struct espi_arena arena;
    int code = cli_run_plan(args, &kept->plan);

    espi_arena_init(&arena);
    if (code == CLI_OK)
        code = set_advice(args, &advice);
    if (code == CLI_OK) {
        const char **line = cli_run_line(args, mpi, shim, &arena);
        code = line ? start_program(line, &kept->plan, &advice) : CLI_FAILED;
    }
    cli_kept_clean(kept);
    cli_guard_end();
    espi_arena_done(&arena);
    return code;
}

static int run_run(const struct cli_args *args)
{
    char shim[PATH_MAX];
    struct espi_address address;
    bool has_page;
    int mpi = -1, code = cli_find_mpi(args, &mpi);

    if (code != CLI_OK)
        return code;
    if (cli_live_address(args, &address, &has_page) != CLI_OK)
        return CLI_BAD_USAGE;
    if (has_page && !cli_has(args, "adapt"))
        return cli_error(CLI_BAD_USAGE, "--http shows the advisor: it needs --adapt");
    code = cli_run_plan_check(args);
    if (code == CLI_OK)
        code = set_all(args);
    if (code != CLI_OK)
        return code;
    if (espi_find_part(ESPI_PART_SHIM, cli_mpi_names[mpi], shim))
        return cli_error(CLI_FAILED,
                         "libespalier-%s.so is not there: it is built where mpicc.%s is "
                         "installed",
                         cli_mpi_names[mpi], cli_mpi_names[mpi]);
    return run_all(args, mpi, shim);
}

const struct command cli_command_run = {
    .name = "run",
    .group = CLI_GROUP_RUN,
    .summary = "run an unmodified MPI program with its collectives by plans",
    .about =
        (const char *const[]){
            "Starts an MPI program with the given command line and loads a library "
            "into it. The library runs a collective by a plan where the plan is "
            "predicted to be faster than the MPI library: broadcast, scatter, "
            "gather, allgather, alltoall, reduce, allreduce and reduce-scatter. "
            "Everything else is left to the MPI library, and so is everything when "
            "something is wrong. The program need not be changed or relinked; it "
            "may be in C or Fortran, with Open MPI or MPICH.",
            "Ranks find their nodes in the platform by host name. On other hosts "
            "the library must be installed at the same path. A job may use some of "
            "the platform's hosts only, as under a batch system. Plans are then "
            "made for these, before the program starts where --hosts, the "
            "launcher's options or the batch system name them.",
            "Without a platform, --mode force tests that plans run and that results "
            "are right. It says nothing about speed: on one machine MPI libraries "
            "copy through memory, faster than any plan can send.",
            "All programs of a command line (mpirun ./a : ./b) get the library and "
            "its settings by options of the launcher: mpirun and mpiexec of Open "
            "MPI and MPICH, orterun, oshrun, prterun, prun and srun, also behind "
            "env, timeout, nice, taskset and the like. Any other launcher, and the "
            "program itself, gets them in its environment.",
            "All settings can also be given as environment variables: see 'espalier "
            "knobs' and espalier-mpi(7).",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "COMMAND",
             .kind = CLI_STRING,
             .repeated = true,
             .help = "The command line, after '--': the MPI launcher with its options, "
                     "and the program."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "platform",
             .letter = 'p',
             .kind = CLI_FILE,
             .help = "The network. Without it only --mode force runs plans, as if all "
                     "links were equal."},
            {.name = "plan",
             .kind = CLI_FILE,
             .help = "A plan for the platform; for other roots, and where ranks run on "
                     "a part of its hosts, plans are made."},
            {.name = "mode",
             .kind = CLI_STRING,
             .value = "auto|force|off",
             .help = "Plans run where they are predicted to win (auto), wherever there "
                     "is one (force), or never (off). force among ranks of one machine "
                     "is a functional test, and slower: they share memory, through which "
                     "the MPI library copies."},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME",
             .names = CLI_NAMES_ALGO,
             .help = "The algorithm that plans; without it, auto. "
                     "auto, and those that solve linear programs, plan before the "
                     "program starts, for the root and the size below, as 'espalier "
                     "plan' does; that plan of auto runs for messages of its size, and "
                     "is weighed against quick ones for all others. What was not "
                     "planned before is planned by quick ones."},
            {.name = "size",
             .letter = 's',
             .kind = CLI_SIZE,
             .value = "SIZE",
             .limited = true,
             .min = 0,
             .max = INFINITY,
             .help = "The size of messages that plan is made for, and all from more "
                     "than the power of two below it to that above; 64 MB if not given; "
                     "0: no plan is made before."},
            {.name = "root",
             .letter = 'r',
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help = "The root of that plan; without it the node of rank 0, which is the "
                     "first of --hosts or the platform's first host."},
            {.name = "shared",
             .kind = CLI_STRING,
             .value = "FOLDER",
             .help = "A folder that all hosts see, for that plan. Without it the plan "
                     "travels with the settings; one of more than 256 KiB lies beside "
                     "the file of the platform, if that folder can be written to."},
            {.name = "hosts",
             .kind = CLI_STRING,
             .value = "NAME,...",
             .help = "The nodes of the ranks, one per rank, where the platform has other "
                     "names than the hosts: a,b,c or n[01-04]."},
            {.name = "adapt",
             .help =
                 "Start an advisor beside the program, by which the broadcasts of all "
                 "ranks follow the load of the network; see 'espalier advise'. While the "
                 "program makes no calls, links are probed (ESPALIER_PROBE=0: not)."},
            CLI_LIVE_OPTIONS,
            {.name = "stats",
             .help =
                 "At the end, print on standard error what ran and how long it took."},
            {.name = "log",
             .kind = CLI_STRING,
             .value = "quiet|warn|info|debug",
             .help = "How much is printed on standard error."},
            {.name = "mpi",
             .kind = CLI_CHOICE,
             .choices = cli_mpi_names,
             .value = "MPI",
             .help =
                 "Which MPI the program uses; without it, recognised from the launcher."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"On a measured network:",
             "espalier run -p p.json --stats -- mpirun.openmpi -n 64 ./app"},
            {"With an advisor, and a page that shows what it does:",
             "espalier run --adapt --http 8080 -p p.json -- mpirun.openmpi -n 64 ./app"},
            {"Do plans run here, and are results right? (A test, not a gain.)",
             "espalier run --mode force -- mpiexec.mpich -n 4 ./app"},
            {0}},
    .see = (const char *const[]){"knobs", "plan", NULL},
    .no_json = true,
    .run = run_run,
};
