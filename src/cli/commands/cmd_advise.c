/* espalier advise: the advisor of a job. Listens to its ranks, keeps a belief of the
 * network and plans ahead. All that it thinks with is in src/advisor. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advisor/advice_reason.h"
#include "advisor/advisor.h"
#include "advisor/probe_planner.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "channel/report.h"
#include "cli/command.h"
#include "cli/options/live.h"
#include "cli/options/platforms.h"
#include "cli/tuning.h"
#include "platform/platform.h"
#include "runtime/given_plan.h"

#include <espalier/simulate.h>

enum { PEERS_MAX = 4096, PATH_ROOM = 1024 };

struct service {
    const char *path; /* of the platform */
    struct esp_platform *p;
    struct stat look; /* of its file */
    struct espi_advisor *advisor;
    struct pollfd *peers; /* the first is where others connect */
    int n_peers;
    char folder[PATH_ROOM];
    int to_plan;      /* sizes to look at before the next rest */
    double planned_s; /* when the last was */
    bool verbose, stats;
    struct cli_live live;
    int hub; /* the connection from which probes are sent; -1: none */
    long told_changes, told_findings;
};

static volatile sig_atomic_t stopped;

static void stop_serving(int signal)
{
    (void)signal;
    stopped = 1;
}

/* ---- ranks ---- */

static void greet(struct service *s)
{
    int fd;

    while ((fd = espi_advice_accept(s->peers[0].fd)) >= 0) {
        if (s->n_peers == PEERS_MAX) {
            close(fd);
            continue;
        }
        s->peers[s->n_peers++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}

/* How the probe under way ended. */
static void end_probe(struct service *s, uint64_t number, int end, double Bps)
{
    int changed = 0;

    espi_advisor_probed(s->advisor, number, end, Bps, espi_now_s(), &changed, NULL);
    if (changed)
        s->to_plan = ESPI_ADVISED_SIZES;
}

static void set_probers(struct service *s, int hub)
{
    s->hub = hub;
    for (int i = 0; i < esp_platform_node_count(s->p); i++)
        espi_advisor_set_prober(s->advisor, i, 0);
    end_probe(s, espi_advisor_open_probe(s->advisor, NULL), ESPI_PROBE_LOST, 0);
}

static void part(struct service *s, int i)
{
    if (s->peers[i].fd == s->hub)
        set_probers(s, -1);
    close(s->peers[i].fd);
    s->peers[i] = s->peers[--s->n_peers];
}

/* What the hub of the probers says. */
static void hear_probe(struct service *s, int fd, const struct espi_probe_note *n)
{
    if (!espi_probe_note_is_sane(n, esp_platform_node_count(s->p)))
        return;
    if (n->kind == ESPI_PROBE_NOTE_PROBER) {
        if (s->hub >= 0 && fd != s->hub)
            return; /* another job's, which says so again: the first stays */
        if (fd != s->hub)
            set_probers(s, fd);
        espi_advisor_set_prober(s->advisor, n->from, 1);
    } else if (n->kind == ESPI_PROBE_NOTE_END && fd == s->hub) {
        end_probe(s, n->number, n->end, n->Bps);
    }
}

/* A cable by its name, other resources by their first link. */
static void say_finding(struct service *s)
{
    const struct espi_finding *f = espi_advisor_finding(s->advisor);
    const struct esp_platform *p = s->p;
    char name[80], from[80], to[80];

    if (!s->verbose || f->number == s->told_findings)
        return;
    s->told_findings = f->number;
    if (f->resource < p->n_shared)
        espi_quote(name, sizeof name, espi_shared_name(p, f->resource));
    else
        snprintf(name, sizeof name, "link %d", f->first_link);
    fprintf(
        stderr,
        "espalier: %s has %.2f of its rate: messages from %s to %s took %.2f times as "
        "long as explained\n",
        name, f->factor, espi_quote(from, sizeof from, espi_node_name(p, f->from)),
        espi_quote(to, sizeof to, espi_node_name(p, f->to)), f->late);
}

static void hear_report(struct service *s, const struct espi_report *report)
{
    double now_s = espi_now_s();

    if (s->live.log)
        espi_live_log_report(s->live.log, s->advisor, report, now_s);
    espi_advisor_hear(s->advisor, report, now_s, NULL);
    say_finding(s);
    s->to_plan = ESPI_ADVISED_SIZES;
}

/* All that a rank or the probers have to say; -1: it is gone. */
static int listen_to(struct service *s, int i)
{
    union espi_news_text text;
    enum espi_news news;

    while ((news = espi_advice_receive(s->peers[i].fd, &text)) > 0) {
        if (news == ESPI_NEWS_REPORT)
            hear_report(s, &text.report);
        else if (news == ESPI_NEWS_PROBE)
            hear_probe(s, s->peers[i].fd, &text.probe);
        else if (s->live.log)
            espi_live_log_outcome(s->live.log, &text.outcome, espi_now_s());
    }
    return news;
}

static void listen_all(struct service *s, int wait_ms)
{
    if (!s->peers || poll(s->peers, (nfds_t)s->n_peers, wait_ms) <= 0)
        return;
    for (int i = s->n_peers - 1; i > 0; i--)
        if (s->peers[i].revents && listen_to(s, i) < 0)
            part(s, i);
    if (s->peers[0].revents)
        greet(s);
}

/* ---- the platform ---- */

/* Whoever measures anew writes the file anew. */
static void renew(struct service *s)
{
    struct stat now;
    struct esp_platform *fresh = NULL;

    if (!s->path || stat(s->path, &now) || !S_ISREG(now.st_mode) ||
        (now.st_ino == s->look.st_ino && now.st_mtim.tv_sec == s->look.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == s->look.st_mtim.tv_nsec))
        return;
    s->look = now;
    if (esp_platform_read(s->path, NULL, &fresh, NULL))
        return; /* half written, perhaps: the old one will do */
    if (espi_advisor_renew(s->advisor, fresh, NULL)) {
        esp_platform_free(fresh);
        return;
    }
    if (s->live.log && espi_live_log_set_network(s->live.log, fresh, espi_now_s(), NULL))
        cli_live_close(&s->live); /* it has still the old one, which goes */
    esp_platform_free(s->p);
    s->p = fresh;
    s->to_plan = ESPI_ADVISED_SIZES;
}

/* ---- plans ---- */

static void tell_advice(const struct service *s, const struct espi_advice *advice)
{
    struct espi_outlook o;
    char algo[64], why[ESPI_REASON_TEXT], shown[ESPI_REASON_TEXT + 2];

    if (!s->verbose)
        return;
    espi_advice_explain(s->advisor, advice, why, sizeof why);
    espi_quote(algo, sizeof algo, advice->plan->algo);
    espi_advisor_outlook(s->advisor, espi_now_s(), &o);
    fprintf(
        stderr,
        "espalier: advice for up to 2^%d bytes: %s, %.4g s; call %ld, %ld told whole, "
        "next %.0f bytes after %.3g s, %d slow; %s\n",
        advice->size_class, algo, advice->plan->makespan_s, o.calls, o.whole,
        o.size_bytes, o.gap_s, o.slow, espi_quote(shown, sizeof shown, why));
}

static void plan_one(struct service *s)
{
    struct espi_advice advice;
    double now_s = espi_now_s();

    s->planned_s = now_s;
    if (s->to_plan > 0)
        s->to_plan--;
    if (espi_advisor_plan(s->advisor, now_s, &advice, NULL))
        return;
    if (advice.is_new && !espi_advice_write(s->folder, s->p, &advice, NULL)) {
        tell_advice(s, &advice);
        if (s->live.log)
            espi_live_log_publish(s->live.log, s->advisor, &advice, espi_now_s());
    }
    esp_plan_free(advice.plan);
}

/* ---- probes ---- */

static void say_change(struct service *s)
{
    struct espi_probe_tally t;
    const struct esp_platform *p = s->p;
    char from[80], to[80];

    if (!s->verbose || !espi_advisor_probes(s->advisor, &t) ||
        t.changed == s->told_changes || t.change_link < 0)
        return;
    s->told_changes = t.changed;
    fprintf(stderr, "espalier: probe %ld: %s>%s has %.2f of its bandwidth\n", t.heard,
            espi_quote(from, sizeof from, espi_node_name(p, p->tail[t.change_link])),
            espi_quote(to, sizeof to, espi_node_name(p, p->head[t.change_link])),
            t.change_factor);
}

static void send_probe(struct service *s)
{
    struct espi_probe_order order;
    double now_s = espi_now_s(), until_s;
    uint64_t open = espi_advisor_open_probe(s->advisor, &until_s);

    say_change(s);
    if (open && now_s > until_s)
        end_probe(s, open, ESPI_PROBE_LOST, 0);
    if (s->hub < 0 || !espi_advisor_next_probe(s->advisor, now_s, &order))
        return;
    struct espi_probe_note n = {.magic = ESPI_PROBE_NOTE_MAGIC,
                                .version = ESPI_PROBE_NOTE_VERSION,
                                .kind = ESPI_PROBE_NOTE_ORDER,
                                .from = order.from,
                                .to = order.to,
                                .number = order.number};
    if (send(s->hub, &n, sizeof n, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof n)
        end_probe(s, order.number, ESPI_PROBE_LOST, 0);
}

static void say_probes(const struct service *s)
{
    struct espi_probe_tally t;

    if (!espi_advisor_probes(s->advisor, &t) || !(s->verbose || s->stats))
        return;
    fprintf(stderr,
            "espalier: %ld probes of %.0f bytes in all on %d hosts: %ld answered, %ld "
            "refused for a call, %ld lost; %ld changed what was believed, %ld were "
            "doubted\n",
            t.sent, t.bytes, t.most_hosts, t.heard, t.refused, t.lost, t.changed,
            t.doubted);
}

static int serve_job(struct service *s)
{
    pid_t parent = getppid();

    while (!stopped && getppid() == parent) {
        listen_all(s, s->to_plan > 0 ? 0 : s->hub >= 0 ? CLI_PROBE_LOOK_MS : 200);
        send_probe(s);
        renew(s);
        if (s->to_plan > 0 || espi_now_s() - s->planned_s > CLI_REVIEW_S)
            plan_one(s);
        if (s->live.log) {
            espi_live_log_look(s->live.log, s->advisor, espi_now_s());
            espi_server_tend(s->live.server, espi_now_s());
        }
    }
    return CLI_OK;
}

/* ---- the command ---- */

/* While a plan is made probes go on. */
static void tick(void *service)
{
    struct service *s = service;
    union espi_news_text text;

    while (s->hub >= 0 && espi_advice_receive(s->hub, &text) == ESPI_NEWS_PROBE)
        hear_probe(s, s->hub, &text.probe);
    send_probe(s);
}

/* The plan that the program starts with, if `espalier run` has made one. */
static void take_given(struct service *s)
{
    const char *given = getenv("ESPALIER_PLAN");
    struct esp_plan *plan = NULL;
    struct espi_input in;

    if (!given || !*given || espi_given_plan_read(&in, given, getenv, NULL))
        return;
    if (!esp_plan_parse(in.text, in.length, "the plan", s->p, &plan, NULL))
        espi_advisor_offer(s->advisor, plan, NULL);
    esp_plan_free(plan);
    espi_input_done(&in);
}

static int open_service(struct service *s, const struct cli_args *args)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    static struct esp_sim_options fluid = {.size = sizeof fluid,
                                           .sharing = ESP_SHARING_FLUID};
    struct espi_advisor_options options = {.budget_s = cli_number(args, "budget"),
                                           .forget_s = cli_number(args, "forget"),
                                           .algo = cli_text(args, "algo"),
                                           .probe_share = cli_number(args, "probe"),
                                           .tick = tick,
                                           .tick_arg = s,
                                           .judge = esp_judge_by_simulation,
                                           .judge_arg = &fluid,
                                           .seed = 1};
    const char *folder = cli_text(args, "folder");
    struct espi_address address;
    bool has_page;
    int fd = -1;

    s->path = cli_text(args, "platform");
    if (!folder || !s->path)
        return cli_error(CLI_BAD_USAGE, "needs --platform and --folder");
    if (cli_live_address(args, &address, &has_page) != CLI_OK)
        return CLI_BAD_USAGE;
    if (strlen(folder) >= sizeof s->folder)
        return cli_error(CLI_BAD_USAGE, "--folder: the name is too long");
    strcpy(s->folder, folder);
    s->verbose = cli_has(args, "verbose");
    s->stats = cli_has(args, "stats");
    int code = cli_read_platform(args, s->path, NULL, &s->p);
    if (code != CLI_OK)
        return code;
    stat(s->path, &s->look);
    s->peers = ESPI_NEW(struct pollfd, PEERS_MAX);
    if (!s->peers)
        return cli_error(CLI_FAILED, "out of memory");
    code = cli_fail(espi_advisor_create(s->p, &options, &s->advisor, &err), &err);
    if (code == CLI_OK)
        code = cli_fail(espi_advice_listen(s->folder, &fd, &err), &err);
    if (code == CLI_OK)
        s->peers[s->n_peers++] = (struct pollfd){.fd = fd, .events = POLLIN};
    if (code == CLI_OK)
        take_given(s);
    return code;
}

/* Standard error, or nothing in its place. */
static void toggle_stderr(int *kept)
{
    if (*kept >= 0) {
        dup2(*kept, STDERR_FILENO);
        close(*kept);
        *kept = -1;
        return;
    }
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    *kept = nothing < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (*kept >= 0)
        dup2(nothing, STDERR_FILENO);
    if (nothing >= 0)
        close(nothing);
}

static int run_advise(const struct cli_args *args)
{
    struct service s = {.to_plan = 0, .hub = -1};
    struct sigaction action = {.sa_handler = stop_serving};
    int kept = -1;

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (nice(5) < 0)
        errno = 0; /* it gives way to the application where it can */
    if (cli_has(args, "again"))
        toggle_stderr(&kept);
    int code = open_service(&s, args);
    if (kept >= 0)
        toggle_stderr(&kept);
    if (code == CLI_OK) {
        cli_live_open(args, s.folder, s.p, &s.live);
        code = serve_job(&s);
    }
    if (code == CLI_OK)
        say_probes(&s);
    cli_live_close(&s.live);
    for (int i = 0; i < s.n_peers; i++)
        close(s.peers[i].fd);
    espi_advisor_free(s.advisor);
    esp_platform_free(s.p);
    espi_free(s.peers);
    return code;
}

const struct command cli_command_advise = {
    .name = "advise",
    .group = CLI_GROUP_RUN,
    .summary = "plan ahead for a running MPI program, as its network changes",
    .about =
        (const char *const[]){
            "The advisor of one job. The ranks tell it of each broadcast when it came, "
            "how long it was and how long each of them took to receive it. From that it "
            "keeps a belief of the network, predicts size and time of the next call, and "
            "puts plans for that size, its half and its double into a folder, where the "
            "root of a broadcast finds them; the plan travels with the data, and all "
            "ranks change to it at the next call.",
            "While the program makes no calls, a process beside the ranks of each "
            "machine "
            "sends short trains of packets to others, one at a time: over links that "
            "plans in force pass most often, then those of plans that came close, then "
            "all others.",
            "'espalier run --adapt' starts and stops it; by itself it is of use to try "
            "things out. When it ends, by whatever cause, the program goes on with the "
            "plans it has. When the file of the platform is replaced, by a new "
            "measurement, it begins again from that.",
            "With --http it has a page, which shows what it knows and does and cannot "
            "change any of it. The page is served to this machine only, and only to "
            "those who have its token; it needs no other network.",
            NULL},
    .options =
        (const struct cli_option[]){
            {.name = "platform",
             .letter = 'p',
             .kind = CLI_FILE,
             .help = "The network of the job. Needed."},
            {.name = "folder",
             .kind = CLI_STRING,
             .value = "FOLDER",
             .help = "Where plans and socket are; made if it is not there, and never one "
                     "that others can enter. The ranks get its name as ESPALIER_ADVICE. "
                     "Needed."},
            {.name = "algo",
             .letter = 'a',
             .kind = CLI_STRING,
             .value = "NAME",
             .names = CLI_NAMES_ALGO,
             .help = "Plan by this algorithm, in one piece, instead of the best of "
                     "several."},
            {.name = "budget",
             .kind = CLI_TIME,
             .fallback = "200ms",
             .help = "The longest search for one plan."},
            {.name = "forget",
             .kind = CLI_TIME,
             .fallback = "120s",
             .help = "Half of what is believed of a link is forgotten after this time "
                     "without news of it."},
            {.name = "probe",
             .kind = CLI_DOUBLE,
             .value = "SHARE",
             .fallback = "0.05",
             .limited = true,
             .min = 0,
             .max = 0.5,
             .help = "The part of the time that any link or host may be busy with probes "
                     "while the program makes no calls; 0: no probes. Probes are sent by "
                     "processes that the ranks start (ESPALIER_PROBER)."},
            CLI_LIVE_OPTIONS,
            {.name = "stats",
             .help = "At the end, say on standard error how many probes were sent and "
                     "what became of them."},
            {.name = "verbose",
             .letter = 'v',
             .help = "Say on standard error what is published."},
            {.name = "again",
             .help = "It was started before and could not: why is not said again."},
            {0}},
    .examples =
        (const struct cli_example[]){
            {"By hand, for a program that is started with the same folder:",
             "espalier advise -p grid.json --folder /run/user/1000/advice -v"},
            {"With a page to look at:",
             "espalier advise -p grid.json --folder /run/user/1000/advice --http 8080"},
            {0}},
    .see = (const char *const[]){"run", "knobs", NULL},
    .no_json = true,
    .run = run_advise,
};
