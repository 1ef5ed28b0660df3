/* The beginning and the end. When all ranks have found that all have this shim (greet.h),
 * rank 0 alone reads environment and files and sends the bytes to all, so that every rank
 * works from the same; what goes wrong anywhere is put to a vote, and then the job runs
 * as if we were not there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "mpi/greet.h"
#include "mpi/shim.h"
#include "platform/platform.h"
#include "runtime/agreement.h"
#include "runtime/given_plan.h"
#include "runtime/tuning.h"

struct espi_job espi_job;

void espi_say(int level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (espi_job.rank != 0 || level > espi_job.settings.log)
        return;
    va_start(ap, fmt);
    espi_quote_print(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "espalier: %s\n", text);
}

/* ---- what rank 0 reads ---- */

/* What all get to know first. */
struct head {
    struct espi_settings settings;
    struct espi_protocol protocol; /* of the MPI library */
    /* 0: none */
    uint64_t platform_length, plan_length, learned_length, library_length;
};

struct files {
    /* texts; platforms as JSON whatever they were */
    char *platform, *plan, *learned, *library;
    char plan_where[160]; /* what the plan is called in messages, on rank 0 */
};

static esp_status platform_to_text(const struct esp_platform *p, struct files *files,
                                   struct head *head, struct esp_err *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return espi_err_nomem(err);
    esp_status st = esp_platform_write_stream(p, out, err);
    if (fclose(out) && !st)
        st = espi_err_nomem(err);
    if (!st && !(files->platform = espi_malloc(length + 1)))
        st = espi_err_nomem(err);
    if (!st) {
        memcpy(files->platform, text, length + 1);
        head->platform_length = length;
    }
    free(text); /* the C library's */
    return st;
}

/* Whether it fits is seen when it is known which hosts have ranks. */
static esp_status read_plan(struct files *files, struct head *head, struct esp_err *err)
{
    struct espi_input in;
    esp_status st = espi_given_plan_read(&in, head->settings.plan, getenv, err);
    if (st)
        return st;
    snprintf(files->plan_where, sizeof files->plan_where, "%s", in.where);
    files->plan = in.text;
    in.text = NULL;
    head->plan_length = in.length;
    espi_input_done(&in);
    return ESP_OK;
}

/* All ranks wait meanwhile: not for a pipe whose other end nobody opens. */
static esp_status check_kind(const char *path, struct esp_err *err)
{
    struct stat s;
    char quoted[160];
    return stat(path, &s) || S_ISREG(s.st_mode)
               ? ESP_OK
               : espi_err(err, ESP_EINPUT, "%s: is no regular file",
                          espi_quote_end(quoted, sizeof quoted, path));
}

/* What cannot be read is not used, and said: it is no reason to do without plans. */
static void read_learned(struct files *files, struct head *head)
{
    struct espi_settings *s = &head->settings;
    struct espi_input in;
    struct espi_learned learned = {NULL, 0, 0};
    struct esp_err err = {.text = ""};
    if (!s->learned[0] || access(s->learned, F_OK))
        return;
    esp_status st = check_kind(s->learned, &err);
    if (!st)
        st = espi_input_read(&in, s->learned, &err);
    if (!st) {
        st = espi_learned_parse(in.text, in.length, in.where, &learned, &err);
        if (!st) {
            files->learned = in.text;
            head->learned_length = in.length;
            in.text = NULL;
        }
        espi_input_done(&in);
    }
    espi_learned_done(&learned);
    espi_job.settings.log = s->log;
    if (st) {
        espi_say(ESPI_LOG_WARN, "nothing learned is used, nor kept: %s", err.text);
        memset(s->learned, 0, sizeof s->learned);
    }
}

/* Without it the library is taken to be as good as plans, until trials have shown more.
 */
static void read_library(struct files *files, struct head *head)
{
    struct esp_err err = {.text = ""};
    espi_job.settings.log = head->settings.log;
    if (espi_library_read(&files->library, &head->library_length, &head->protocol, &err))
        espi_say(ESPI_LOG_WARN, "what the MPI library takes is not predicted: %s",
                 err.text);
}

static esp_status read_files(struct head *head, struct files *files, struct esp_err *err)
{
    struct esp_platform *p;
    if (!head->settings.platform[0])
        return head->settings.plan[0]
                   ? espi_err(err, ESP_EUSAGE, "ESPALIER_PLAN needs ESPALIER_PLATFORM")
                   : ESP_OK;
    esp_status st = check_kind(head->settings.platform, err);
    if (!st)
        st = check_kind(head->settings.plan, err);
    if (!st)
        st = esp_platform_read(head->settings.platform, NULL, &p, err);
    if (st)
        return st;
    st = platform_to_text(p, files, head, err);
    if (!st && head->settings.plan[0])
        st = read_plan(files, head, err);
    esp_platform_free(p);
    return st;
}

static void give_up(struct espi_settings *s, const char *why)
{
    espi_job.settings.log = s->log;
    if (s->mode != ESPI_MODE_OFF)
        espi_say(ESPI_LOG_WARN, "all runs natively: %s", why);
    s->mode = ESPI_MODE_OFF;
}

static esp_status check_algo(const struct espi_settings *s, struct esp_err *err)
{
    const struct espi_algo *algo;
    double options[ESPI_ALGO_OPTIONS_MAX];
    return s->algo[0] ? espi_algo_parse(s->algo, &algo, options, err) : ESP_OK;
}

static void read_all(struct head *head, struct files *files)
{
    struct esp_err err = {.text = ""};
    memset(head, 0, sizeof *head);
    head->settings.log = ESPI_LOG_WARN;
    esp_status st = espi_settings_read(&head->settings, getenv, &err);
    if (!st && head->settings.mode != ESPI_MODE_OFF)
        st = check_algo(&head->settings, &err);
    if (!st && head->settings.mode != ESPI_MODE_OFF)
        st = read_files(head, files, &err);
    if (st)
        give_up(&head->settings, err.text);
    else if (head->settings.mode == ESPI_MODE_AUTO && head->platform_length) {
        read_learned(files, head);
        read_library(files, head);
    }
    if (head->settings.mode == ESPI_MODE_OFF)
        head->platform_length = head->plan_length = 0;
}

/* ---- the same for all ---- */

int espi_vote(int yes)
{
    int all_say = 0;
    PMPI_Allreduce(&yes, &all_say, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all_say;
}

static void spread_text(char *text, uint64_t length)
{
    const uint64_t most = 1 << 30; /* derived: an int counts it */
    for (uint64_t at = 0; at < length; at += most)
        PMPI_Bcast(text + at, (int)(length - at < most ? length - at : most), MPI_BYTE, 0,
                   MPI_COMM_WORLD);
}

static int spread_files(const struct head *head, struct files *files)
{
    if (espi_job.rank != 0) {
        files->platform = espi_malloc((size_t)head->platform_length + 1);
        files->plan = espi_malloc((size_t)head->plan_length + 1);
        files->learned = espi_malloc((size_t)head->learned_length + 1);
        files->library = espi_malloc((size_t)head->library_length + 1);
    }
    int ready = (files->platform || !head->platform_length) &&
                (files->plan || !head->plan_length) &&
                (files->learned || !head->learned_length) &&
                (files->library || !head->library_length);
    if (!espi_vote(ready))
        return 0;
    spread_text(files->platform, head->platform_length);
    spread_text(files->plan, head->plan_length);
    spread_text(files->learned, head->learned_length);
    spread_text(files->library, head->library_length);
    return 1;
}

static esp_status parse_files(const struct head *head, const struct files *files,
                              struct esp_err *err)
{
    esp_status st = ESP_OK;
    if (head->platform_length)
        st = esp_platform_parse(files->platform, (size_t)head->platform_length,
                                "the platform", NULL, &espi_job.net, err);
    if (!st && head->learned_length)
        st = espi_learned_parse(files->learned, (size_t)head->learned_length,
                                "what was learned", &espi_job.learned, err);
    if (!st && head->library_length)
        st =
            espi_library_take(files->library, head->library_length, &head->protocol, err);
    return st;
}

/* The plan as one for the world; where it does not fit it is put aside. */
static esp_status try_plan(const struct espi_rank_platform *rank_platform, int root,
                           struct esp_plan **out, struct esp_err *err)
{
    struct esp_err why = {.text = ""};
    esp_status st = espi_rank_platform_adapt(rank_platform, espi_job.net, espi_job.node,
                                             espi_job.plan, root, out, &why);
    if (st != ESP_EUNSUPPORTED) {
        if (st)
            espi_err(err, st, "%s", why.text);
        return st;
    }
    espi_say(ESPI_LOG_WARN, "the plan is not used, others are made: %s", why.text);
    esp_plan_free(espi_job.plan);
    espi_job.plan = NULL;
    return ESP_OK;
}

/* Can the whole job be planned, and does the plan from outside fit it at all? */
static esp_status try_world(uint64_t *sum, struct esp_err *err)
{
    struct espi_rank_platform rank_platform;
    struct esp_plan *plan = NULL;
    double longest_s = 0;
    int root = 0;
    esp_status st =
        espi_job.net ? espi_rank_platform_create(&rank_platform, espi_job.net, espi_job.n,
                                                 espi_job.node, err)
                     : espi_rank_platform_create_equal(&rank_platform, espi_job.n, err);
    if (st)
        return st;
    if (espi_job.plan) {
        while (root < espi_job.n - 1 && espi_job.node[root] != espi_job.plan->root)
            root++;
        st = try_plan(&rank_platform, root, &plan, err);
    }
    *sum = st ? 0 : espi_plan_sum(&rank_platform, plan, root, 1 << 20);
    esp_plan_free(plan);
    if (!st)
        st = espi_longest_way(rank_platform.p, &longest_s, err);
    espi_job.is_wide = !st && longest_s >= ESPI_WIDE_S;
    if (!st && *sum == 0)
        st = espi_err_nomem(err);
    espi_rank_platform_done(&rank_platform);
    return st;
}

static int all_equal(uint64_t sum)
{
    uint64_t mine[2] = {sum, ~sum}, least[2] = {0, 0};
    PMPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == ~least[1];
}

/* Everything up to the first plan; collective whatever happens on one rank. */
static esp_status prepare_job(const struct head *head, struct files *files,
                              struct esp_err *err)
{
    uint64_t sum = 0;
    if (!spread_files(head, files))
        return espi_err(err, ESP_ENOMEM, "a rank is out of memory");
    esp_status st = parse_files(head, files, err);
    if (!espi_vote(!st))
        return st ? st : espi_err(err, ESP_ENOMEM, "a rank is out of memory");
    st = head->platform_length ? espi_find_job_nodes(err) : ESP_OK;
    if (!st && head->platform_length)
        st = espi_take_plan(files->plan, (size_t)head->plan_length, files->plan_where,
                            err);
    if (!st)
        st = try_world(&sum, err);
    if (!espi_vote(!st))
        return st ? st : espi_err(err, ESP_ENOMEM, "a rank is out of memory");
    if (!all_equal(sum))
        return espi_err(err, ESP_EINTERNAL, "the ranks do not plan alike");
    return ESP_OK;
}

static int wants_plans(const struct head *head)
{
    return head->settings.mode == ESPI_MODE_FORCE ||
           (head->settings.mode == ESPI_MODE_AUTO && head->platform_length > 0);
}

static void forget_network(void)
{
    esp_plan_free(espi_job.plan);
    espi_learned_done(&espi_job.learned);
    espi_library_forget();
    esp_platform_free(espi_job.net);
    espi_free(espi_job.node);
    espi_job.plan = NULL;
    espi_job.net = NULL;
    espi_job.node = NULL;
}

/* Do all ranks run on one? Then the library, which knows its memory, has no equal. */
static int is_one_machine(void)
{
    for (int r = 1; r < espi_job.n; r++)
        if (!espi_job.node || espi_job.node[r] != espi_job.node[0])
            return 0;
    return 1;
}

/* Open MPI lets the threads of a rank make communicators one after the other, first those
 * made of the oldest. Where the program makes none, or of others, a twin may so wait for
 * a thread that waits for ranks that wait for the twin. */
static int is_orderly(void)
{
#ifdef OPEN_MPI
    int level;
    return !PMPI_Query_thread(&level) && level == MPI_THREAD_MULTIPLE;
#else
    return 0;
#endif
}

static void begin_plans(const struct head *head, struct files *files)
{
    struct esp_err err = {.text = ""};
    esp_status st = espi_job.n > 1 ? prepare_job(head, files, &err) : ESP_OK;
    int alone = head->settings.mode == ESPI_MODE_AUTO && !st && is_one_machine();
    if (st || espi_job.n < 2 || alone || espi_comms_begin()) {
        if (st)
            give_up(&espi_job.settings, err.text);
        else if (alone)
            espi_say(ESPI_LOG_INFO, "all ranks are on one machine: all runs natively");
        forget_network();
        return;
    }
    PMPI_Comm_group(MPI_COMM_WORLD, &espi_job.world);
    espi_job.plans = 1;
    espi_job.nonblocking = espi_vote(espi_progress_begin() == 0);
    espi_job.orderly = !espi_vote(!is_orderly());
    espi_comms_take_world();
    espi_prober_begin();
    espi_say(ESPI_LOG_INFO, "%d ranks, mode %s, network: %s", espi_job.n,
             espi_job.settings.mode == ESPI_MODE_FORCE ? "force" : "auto",
             espi_job.net ? espi_job.settings.platform : "all links equal");
}

/* Nobody is served: nothing is sent, and each rank has its own settings. */
static void stand_aside(void)
{
    struct esp_err err = {.text = ""};
    espi_job.settings.log = ESPI_LOG_WARN;
    if (espi_settings_read(&espi_job.settings, getenv, &err))
        espi_say(ESPI_LOG_WARN, "all runs natively: %s", err.text);
    espi_job.settings.mode = ESPI_MODE_OFF;
}

static void take_part(void)
{
    struct head head;
    struct files files = {.plan = NULL};
    if (espi_job.rank == 0)
        read_all(&head, &files);
    PMPI_Bcast(&head, (int)sizeof head, MPI_BYTE, 0, MPI_COMM_WORLD);
    espi_job.settings = head.settings;
    if (wants_plans(&head))
        begin_plans(&head, &files);
    espi_free(files.platform);
    espi_free(files.plan);
    espi_free(files.learned);
    espi_free(files.library);
}

void espi_attach(void)
{
    static int attached;
    if (attached)
        return;
    attached = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &espi_job.n);
    PMPI_Comm_rank(MPI_COMM_WORLD, &espi_job.rank);
    if (!espi_is_off() && espi_meet(espi_job.rank, espi_job.n))
        take_part();
    else
        stand_aside();
    espi_job.awake = espi_job.plans || espi_job.settings.stats[0];
    if (!espi_job.nonblocking)
        espi_progress_sleep();
    if (espi_job.awake) {
        espi_hooks_wake();
        espi_hooks_wake_later();
        espi_hooks_wake_init();
    } else {
        espi_hooks_sleep(1);
        espi_hooks_sleep_later(1);
        espi_hooks_sleep_init(1);
    }
}

void espi_detach(void)
{
    static int detached; /* MPICH's Fortran comes here twice */
    if (detached)
        return;
    detached = 1;
    espi_job.awake = 0;
    espi_hooks_sleep(0);
    espi_hooks_sleep_later(0);
    espi_hooks_sleep_init(0);
    if (espi_job.plans)
        espi_comms_end_trials();
    if (espi_job.plans && espi_job.settings.learned[0] && espi_job.rank == 0)
        espi_trials_keep(espi_job.settings.learned);
    if (espi_job.settings.stats[0] && espi_job.rank == 0)
        espi_stats_write(espi_job.settings.stats);
    if (!espi_job.plans)
        return;
    espi_job.plans = 0;
    espi_prober_end();
    espi_agree_end();
    espi_progress_end();
    espi_relay_end();
    espi_comms_end();
    PMPI_Group_free(&espi_job.world);
    forget_network();
}
