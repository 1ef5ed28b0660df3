/* espalier cp: files and folders to many hosts, by a plan. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/commands/cp.h"
#include "cli/launching/launcher.h"
#include "cli/options/live.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "cli/printing/term.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void watch_signals(void)
{
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    struct rlimit limit;

    for (int i = 0; i < 3; i++)
        sigaction(numbers[i], &action, NULL);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max; /* each stream is a connection */
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- the network ---- */

static int find_own_name(struct cli_copy *c)
{
    const char *root = cli_text(c->args, "root");

    if (gethostname(c->root, sizeof c->root - 1))
        c->root[0] = '\0';
    if (root)
        snprintf(c->root, sizeof c->root, "%s", root);
    for (int i = 0; !root && i < c->hosts.n; i++)
        if (strcmp(c->hosts.host[i].name, c->root) == 0) /* also a target */
            snprintf(c->root, sizeof c->root, "(here)");
    return c->root[0] ? CLI_OK
                      : cli_error(CLI_BAD_USAGE, "this host has no name; say --root");
}

/* What is believed of hosts of which no platform was given; the names of all are known.
 */
static int make_believed(struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    int host;
    esp_status status = espi_known_add(&c->known, c->root, &host, &err);

    for (int i = 0; !status && i < c->hosts.n; i++)
        status = espi_known_add(&c->known, c->hosts.host[i].name, &host, &err);
    c->n_learned = cli_copy_count_learned(c);
    if (!status)
        status = espi_known_settle(&c->known, NULL, &err);
    if (!status)
        status = espi_known_platform(&c->known, &c->p, &err);
    return cli_fail(status, &err);
}

static int guess_network(struct cli_copy *c)
{
    if (cli_text(c->args, "plan"))
        return cli_error(CLI_BAD_USAGE, "--plan needs the platform that it is for: -p");
    int code = cli_copy_recall(c);
    return code == CLI_OK ? make_believed(c) : code;
}

static int check_names(const struct cli_copy *c, const struct esp_platform *p)
{
    char quoted[128];

    for (int i = -1; i < c->hosts.n; i++) {
        const char *name = i < 0 ? c->root : c->hosts.host[i].name;
        if (esp_platform_find_node(p, name) < 0)
            return cli_error(CLI_BAD_INPUT, "%s: no host is named '%s'%s",
                             cli_text(c->args, "platform"),
                             espi_quote(quoted, sizeof quoted, name),
                             i < 0 ? "; say which one this is with --root"
                                   : " ('espalier info --hosts' lists them)");
        if (i >= 0 && strcmp(name, c->root) == 0)
            return cli_error(CLI_BAD_USAGE, "%s is where the copy comes from",
                             espi_quote(quoted, sizeof quoted, name));
    }
    return CLI_OK;
}

/* The hosts of the copy, and no others. */
static int read_network(struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *all = NULL;
    int code = cli_read_platform(c->args, cli_text(c->args, "platform"), NULL, &all);

    if (code != CLI_OK)
        return code;
    code = check_names(c, all);
    unsigned char *keeps = espi_calloc(1, (size_t)esp_platform_node_count(all) + 1);
    if (code == CLI_OK && keeps) {
        for (int i = -1; i < c->hosts.n; i++)
            keeps[esp_platform_find_node(all, i < 0 ? c->root : c->hosts.host[i].name)] =
                1;
        code = cli_fail(espi_copy_network(all, keeps, NULL, 0, &c->p, &err), &err);
        if (code == CLI_OK)
            code = cli_copy_read_plan(c, all);
    } else if (code == CLI_OK) {
        code = cli_error(CLI_FAILED, "out of memory");
    }
    espi_free(keeps);
    esp_platform_free(all);
    return code;
}

/* ---- the copy ---- */

static void show_progress(void *arg, const struct espi_copy_progress *now)
{
    struct cli_copy *c = arg;

    cli_copy_page_show(c, now);
    if (now->is_sending && isatty(STDERR_FILENO))
        cli_copy_print_progress(c, now);
}

static int split_rsh(struct cli_copy *c)
{
    char *at = NULL;
    int n = 0;

    c->rsh_text = espi_strdup(cli_text(c->args, "rsh"));
    if (!c->rsh_text)
        return cli_error(CLI_FAILED, "out of memory");
    for (const char *word = strtok_r(c->rsh_text, " ", &at); word && n < CLI_RSH_WORDS;
         word = strtok_r(NULL, " ", &at))
        c->rsh[n++] = word;
    if (n == 0)
        return cli_error(CLI_BAD_USAGE, "--rsh needs a program");
    return cli_command_exists(c->rsh[0])
               ? CLI_OK
               : cli_error(CLI_BAD_USAGE,
                           "--rsh: there is no program '%s', by which agents would be "
                           "started on the hosts",
                           c->rsh[0]);
}

static int copy_files(struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    int code = split_rsh(c);

    if (code != CLI_OK)
        return code;
    c->job.options = (struct espi_copy_options){
        .rsh = c->rsh,
        .agent = cli_text(c->args, "agent"),
        .below = cli_text(c->args, "below"),
        .encrypted = !cli_has(c->args, "no-encrypt"),
        .resume = cli_has(c->args, "resume"),
        .patience_s = cli_number(c->args, "patience"),
        .p = c->p,
        .known = cli_text(c->args, "platform") ? NULL : &c->known,
        .root = c->root,
        .plan = c->plan,
        .seed = cli_seed(c->args, "seed"),
        .progress = show_progress,
        .progress_arg = c,
        .interrupted = &interrupted};
    c->job.source = &c->source;
    c->job.stream = c->is_stream ? STDIN_FILENO : -1;
    if (cli_text(c->args, "platform") && !c->is_stream) /* to say how near it is */
        code = cli_copy_find_bound(c, (double)c->source.m.data_bytes);
    if (code == CLI_OK)
        code = cli_copy_page_open(c);
    if (code != CLI_OK)
        return code;
    watch_signals();
    esp_status status = espi_copy_run(&c->job, &err);
    cli_copy_end_progress();
    cli_copy_page_close(c);
    cli_copy_keep_learned(c);
    if (status)
        return cli_fail(status, &err) == CLI_OK ? CLI_OK : CLI_FAILED;
    if (c->bound_s <= 0)
        code = cli_copy_find_bound(c, (double)c->job.data_bytes);
    return code == CLI_OK ? cli_copy_print(c) : code;
}

static int scan(struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    esp_status status =
        c->is_stream
            ? espi_source_stream(&c->source, c->stream_name, &err)
            : espi_source_scan(&c->source, c->args->words, c->args->n_words, &err);

    return cli_fail(status, &err);
}

static void forget(struct cli_copy *c)
{
    cli_copy_forget_target(c);
    espi_source_done(&c->source);
    esp_plan_free(c->plan);
    esp_platform_free(c->p);
    espi_known_done(&c->known);
    espi_free(c->learned_path);
    espi_free(c->rsh_text);
    espi_free(c->targets);
}

static int run_cp(const struct cli_args *args)
{
    struct cli_copy c = {.args = args};

    espi_source_init(&c.source);
    int code = cli_copy_read_target(&c);
    if (code == CLI_OK)
        code = find_own_name(&c);
    if (code == CLI_OK)
        code = cli_text(args, "platform") ? read_network(&c) : guess_network(&c);
    if (code == CLI_OK)
        code = scan(&c);
    if (code == CLI_OK)
        code = cli_has(args, "plan-only") ? cli_copy_show_plan(&c) : copy_files(&c);
    forget(&c);
    return code;
}

const struct command cli_command_cp = {
    .name = "cp",
    .group = CLI_GROUP_RUN,
    .summary = "copy files and folders to many hosts, by a plan",
    .about =
        (const char *const[]){
            "Copies files and whole folders from this host to a folder on many others. "
            "An agent, the same program, is started on each host by ssh or another "
            "launcher; data go from host to host as a broadcast planned for the network "
            "would, in slices, so that no cable carries the same bytes twice where that "
            "can be avoided. No MPI is needed.",
            "Where no platform is given, the network is learned on the way: a copy "
            "begins "
            "with a plan by the names of hosts, by how far they are from one another and "
            "by what earlier copies have learned, plans anew where rates show that "
            "another plan is much faster, and keeps what it has learned.",
            "Connections are encrypted and authenticated with keys made for this copy, "
            "which travel over the launcher's channel. Every host proves what it has; "
            "what is wrong or missing is sent again by others. What is copied appears in "
            "its folder whole or not at all, and takes the place of what stands there "
            "under its name. Hosts that cannot be reached, stop, or have no room left "
            "are named, and the others go on without them.",
            NULL},
    .positionals =
        (const struct cli_positional[]){
            {.name = "FILE",
             .kind = CLI_FILE,
             .repeated = true,
             .help = "Files and folders to copy; - alone is standard input."},
            {0}},
    .options =
        (const struct cli_option[]){
            {.name = "to",
             .kind = CLI_STRING,
             .value = "HOSTS:FOLDER",
             .help = "The hosts, and the folder on each: names with commas between them, "
                     "n[1-3,7] for several, or a file (perhaps @FILE) with a name and, "
                     "where others reach it "
                     "by another one, its address on each line. The folder begins behind "
                     "the first ':' before a '/', '.' or '{', so that names may have "
                     "colons, too, or behind the only one there is. {host} in it is the "
                     "host's name, also in the name that a stream gets."},
            {.name = "relay",
             .kind = CLI_STRING,
             .value = "HOSTS",
             .help = "Hosts that may pass on what they do not keep."},
            {.name = "platform",
             .letter = 'p',
             .kind = CLI_FILE,
             .help =
                 "The network, with a host of each name. Without it, what earlier copies "
                 "learned, and what names and latencies say."},
            CLI_MODEL_OPTION,
            {.name = "learned",
             .kind = CLI_FILE,
             .help =
                 "Where no platform is given: the file from which what earlier copies "
                 "learned of the network is taken, if it is there, and in which it is "
                 "kept. Without it, espalier/network.json in the folder "
                 "$XDG_STATE_HOME, or ~/.local/state."},
            {.name = "no-learned",
             .help = "Take nothing from what earlier copies learned, and keep nothing."},
            {.name = "root",
             .kind = CLI_STRING,
             .value = "NODE",
             .names = CLI_NAMES_HOST,
             .help = "What this host is called in the platform; without it, its name."},
            {.name = "plan",
             .kind = CLI_FILE,
             .help = "A plan for the platform, of 'espalier plan', instead of the best."},
            {.name = "plan-only", .help = "Say the plan and its bound; copy nothing."},
            {.name = "rsh",
             .kind = CLI_STRING,
             .value = "COMMAND",
             .fallback = "ssh -o BatchMode=yes",
             .help = "The launcher: it is given the host's name and the agent's command "
                     "line. 'srun -N1 -n1 -w' and 'mpirun -n 1 --host' are others."},
            {.name = "agent",
             .kind = CLI_STRING,
             .value = "PROGRAM",
             .fallback = "espalier",
             .help = "The program on the hosts."},
            {.name = "below",
             .kind = CLI_STRING,
             .value = "FOLDER",
             .help = "Agents are told never to write outside of this folder; that of "
                     "--to is then below it."},
            {.name = "no-encrypt",
             .help = "Authenticate connections, but do not encrypt them: for networks "
                     "that nobody else can reach."},
            {.name = "resume",
             .help = "Send only what hosts lack: nobody is sent what he already has, in "
                     "place or from a copy that did not end. What has come stays where "
                     "this copy does not end either."},
            {.name = "patience",
             .kind = CLI_TIME,
             .fallback = "15s",
             .limited = true,
             .min = 0.5,
             .max = 86400,
             .help = "A host that says nothing, or takes nothing, for so long is left "
                     "out."},
            CLI_SEED_OPTION,
            {.name = "http",
             .kind = CLI_STRING,
             .value = "ADDRESS:PORT",
             .help =
                 "Show a page of how far each host is, as long as the copy goes on. "
                 "The address to open, with its token, is printed on standard error. A "
                 "port alone is one of 127.0.0.1, port 0 any that is free."},
            CLI_HTTP_ACCESS_OPTIONS,
            {0}},
    .examples =
        (const struct cli_example[]){
            {"A file and a folder to the hosts of a list:",
             "espalier cp big.tar weights/ --to hosts.txt:/scratch/run7"},
            {"What would it do, and how fast could it be?",
             "espalier cp big.tar --to @nodes:/tmp -p grid.json --plan-only"},
            {"A stream, while it is made:",
             "tar c build | espalier cp - --to @nodes:/tmp/build.tar"},
            {"Under Slurm:",
             "espalier cp big.tar --to n1,n2,n3:/tmp --rsh 'srun -N1 -n1 -w'"},
            {0}},
    .see = (const char *const[]){"plan", "measure", "agent", NULL},
    .run = run_cp,
};
