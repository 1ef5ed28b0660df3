/* espalier-probe-MPI [BUDGET [ranks] [check FILE]]: measures the network between the
 * ranks. Standard output of rank 0 has lines that begin with '@': samples, and how far it
 * is; see docs/measure.md. With the word "ranks" each rank is taken for a host of its
 * own; with "check" the platform in the file, which rank 0 reads, is held to the network.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "measure/recheck.h"
#include "mpi/probe/probe.h"
#include "mpi/probe/tuning.h"

enum { NAME = 256 }; /* limit: of a host's name */

struct commander {
    int n_ranks, n_hosts;
    int *leader; /* host -> rank */
    int *second; /* host -> another rank of it, or -1 */
    int *host;   /* rank -> host */
    struct command *command;
    size_t room; /* tasks */
    int *asked;  /* ranks that owe an answer */
};

/* ---- starting at once ---- */

static void take_signal(int rank, int tag)
{
    wait_message(rank, tag, 1e-3, ESPI_REST_S);
    MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void report_ready(void *unused)
{
    (void)unused;
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_READY, MPI_COMM_WORLD);
    take_signal(0, TAG_GO);
}

/* Rank 0: all that were asked. */
static void start_all(void *context)
{
    const struct commander *c = context;
    for (int rank = 1; rank < c->n_ranks; rank++)
        if (c->asked[rank])
            take_signal(rank, TAG_READY);
    for (int rank = 1; rank < c->n_ranks; rank++)
        if (c->asked[rank])
            MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_GO, MPI_COMM_WORLD);
}

/* ---- obeying ---- */

static void obey(const struct command *c, int rank, struct results *out,
                 struct commander *commander)
{
    switch (c->order) {
    case ORDER_MEET:
        run_meet(c, rank, out);
        break;
    case ORDER_FLOWS:
        run_flows(c, rank, out, commander ? start_all : report_ready, commander);
        break;
    case ORDER_BUS:
        run_bus(c, rank, out);
        break;
    default:
        break;
    }
}

static void serve_rounds(int rank)
{
    for (int order = ORDER_MEET; order != ORDER_QUIT;) {
        struct results out = {0};
        int size = wait_message(0, TAG_COMMAND, 0, ESPI_REST_IDLE_S);
        struct command *c = espi_malloc((size_t)size);
        if (!c)
            give_up("out of memory");
        MPI_Recv(c, size, MPI_BYTE, 0, TAG_COMMAND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        order = c->order;
        obey(c, rank, &out, NULL);
        if (order != ORDER_QUIT)
            MPI_Send(out.at, (int)(out.n * sizeof *out.at), MPI_BYTE, 0, TAG_RESULT,
                     MPI_COMM_WORLD);
        espi_free(out.at);
        espi_free(c);
    }
}

/* ---- commanding ---- */

static void keep_results(const struct result *r, size_t n, int round,
                         struct espi_samples *s)
{
    for (size_t i = 0; i < n; i++) {
        struct espi_sample sample = {(enum espi_sample_kind)r[i].kind, round, r[i].from,
                                     r[i].to, r[i].value};
        espi_samples_add(s, &sample, NULL); /* what cannot be is left out */
    }
}

/* The tasks of one rank, of all of them. */
static void command_rank(struct commander *c, int rank, const struct task *all, int n,
                         enum order order, double seconds)
{
    c->command->order = (int)order;
    c->command->seconds = seconds;
    c->command->n = 0;
    for (int i = 0; i < n; i++)
        if (all[i].from_rank == rank || all[i].to_rank == rank)
            c->command->tasks[c->command->n++] = all[i];
    if (rank != 0 && (c->command->n || order == ORDER_QUIT))
        MPI_Send(
            c->command,
            (int)(sizeof *c->command + (size_t)c->command->n * sizeof *c->command->tasks),
            MPI_BYTE, rank, TAG_COMMAND, MPI_COMM_WORLD);
    c->asked[rank] = rank != 0 && c->command->n;
}

static void collect_results(struct commander *c, int round, struct espi_samples *s)
{
    for (int rank = 1; rank < c->n_ranks; rank++) {
        if (!c->asked[rank])
            continue;
        int size = wait_message(rank, TAG_RESULT, 0, 1e-3);
        struct result *r = espi_malloc((size_t)size + 1);
        if (!r)
            give_up("out of memory");
        MPI_Recv(r, size, MPI_BYTE, rank, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        keep_results(r, (size_t)size / sizeof *r, round, s);
        espi_free(r);
    }
}

/* Rank 0 commands the others, does its own part last, and collects. */
static void carry_out(struct commander *c, const struct task *tasks, int n,
                      enum order order, double seconds, int round, struct espi_samples *s)
{
    struct results own = {0};
    if ((size_t)n > c->room || !c->command) {
        espi_free(c->command);
        c->command = espi_calloc(1, sizeof *c->command + (size_t)n * sizeof *tasks);
        c->room = (size_t)n;
        if (!c->command)
            give_up("out of memory");
    }
    for (int rank = c->n_ranks - 1; rank >= 0; rank--)
        command_rank(c, rank, tasks, n, order, seconds);
    if (c->command->n)
        obey(c->command, 0, &own, c);
    else if (order == ORDER_FLOWS)
        start_all(c);
    keep_results(own.at, own.n, round, s);
    espi_free(own.at);
    collect_results(c, round, s);
}

static esp_status run_trial(void *context, const struct espi_trial *trial,
                            struct espi_samples *samples, struct esp_err *err)
{
    struct commander *c = context;
    struct task *tasks = espi_array((size_t)trial->n, sizeof *tasks);
    if (!tasks)
        return espi_err_nomem(err);
    for (int i = 0; i < trial->n; i++) {
        const struct espi_trial_pair *p = &trial->pairs[i];
        tasks[i] = (struct task){.index = i,
                                 .from_rank = c->leader[p->from],
                                 .to_rank = c->leader[p->to],
                                 .from_host = p->from,
                                 .to_host = p->to,
                                 .expect_Bps = p->expect_Bps,
                                 .latency_s = p->latency_s};
    }
    carry_out(c, tasks, trial->n,
              trial->kind == ESPI_TRIAL_MEET ? ORDER_MEET : ORDER_FLOWS, trial->seconds,
              trial->round, samples);
    espi_free(tasks);
    return ESP_OK;
}

static double now(void *context)
{
    (void)context;
    return espi_now_s();
}

static void show_progress(void *context, const char *what, double part, double left_s)
{
    (void)context;
    printf("@progress %.3f %.1f %s\n", part, left_s, what);
    fflush(stdout);
}

/* ---- who is there ---- */

static void find_hosts(struct commander *c, const char *names, struct espi_samples *s)
{
    int *ranks = espi_calloc((size_t)c->n_ranks, sizeof *ranks);
    c->leader = espi_calloc((size_t)c->n_ranks, sizeof(int));
    c->second = espi_calloc((size_t)c->n_ranks, sizeof(int));
    c->host = espi_calloc((size_t)c->n_ranks, sizeof(int));
    c->asked = espi_calloc((size_t)c->n_ranks, sizeof(int));
    struct espi_names found = {0};
    if (!ranks || !c->leader || !c->second || !c->host || !c->asked)
        give_up("out of memory");
    c->n_hosts = 0;
    for (int r = 0; r < c->n_ranks; r++) {
        int h = c->host[r] = espi_names_intern(&found, names + (size_t)r * NAME);
        if (h < 0)
            give_up("out of memory");
        if (ranks[h]++ == 0) {
            c->leader[h] = r;
            c->second[h] = -1;
            c->n_hosts++;
        } else if (c->second[h] < 0) {
            c->second[h] = r;
        }
    }
    for (int h = 0; h < c->n_hosts; h++) {
        struct esp_err err = {0};
        if (espi_samples_add_host(s, espi_names_text(&found, h), ranks[h], &err))
            give_up(err.text);
    }
    espi_names_done(&found);
    espi_free(ranks);
}

/* Two ranks of a host, where there are two; a few hosts will do. */
static void try_buses(struct commander *c, struct espi_samples *s)
{
    int done = 0;
    for (int h = 0; h < c->n_hosts && done < 4; h++) {
        struct task task = {.from_rank = c->leader[h],
                            .to_rank = c->second[h],
                            .from_host = h,
                            .to_host = h};
        if (c->second[h] < 0)
            continue;
        carry_out(c, &task, 1, ORDER_BUS, 0, 0, s);
        done++;
    }
}

/* ---- the whole ---- */

static void print_samples(const struct espi_samples *s)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory || espi_samples_write_stream(s, memory, NULL) || fclose(memory))
        give_up("out of memory");
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        printf("@%.*s\n", (int)(end - line), line);
    }
    printf("@end\n");
    fflush(stdout);
    free(text);
}

/* All ranks leave in order after it: an abort may take what was printed last with it, as
 * under MPICH's launcher. */
static void print_failure(const char *sentence)
{
    printf("@failed %s\n@end\n", sentence);
    fflush(stdout);
}

static esp_status measure_or_check(const struct espi_probe_driver *prober,
                                   const char *file, struct espi_samples *samples,
                                   struct esp_err *err)
{
    struct esp_platform *p = NULL;
    if (!file)
        return espi_probe(prober, samples, err);
    esp_status status = esp_platform_read(file, NULL, &p, err);
    if (!status)
        status = espi_probe_recheck(prober, p, samples, err);
    esp_platform_free(p);
    return status;
}

static void command_all(int n_ranks, const char *names, double budget_s, const char *file)
{
    struct commander c = {.n_ranks = n_ranks};
    struct espi_samples samples = {0};
    struct esp_err err = {0};
    struct espi_probe_driver prober = {.context = &c,
                                       .run = run_trial,
                                       .now_s = now,
                                       .progress = show_progress,
                                       .budget_s = budget_s};
    find_hosts(&c, names, &samples);
    printf("@hosts %d %d\n", c.n_hosts, n_ranks);
    try_buses(&c, &samples);
    if (measure_or_check(&prober, file, &samples, &err))
        print_failure(err.text);
    else
        print_samples(&samples);
    carry_out(&c, NULL, 0, ORDER_QUIT, 0, 0, &samples);
    espi_samples_done(&samples);
    espi_free(c.leader);
    espi_free(c.second);
    espi_free(c.host);
    espi_free(c.asked);
    espi_free(c.command);
}

int main(int argc, char **argv)
{
    int rank, size, by_rank = 0;
    char name[NAME] = "", *names = NULL;
    const char *file = NULL;
    double budget_s = 60;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && (espi_parse_time(argv[1], &budget_s) || budget_s <= 0))
        give_up("the budget is no time");
    for (int i = 2; i < argc; i++) {
        by_rank |= strcmp(argv[i], "ranks") == 0;
        if (strcmp(argv[i], "check") == 0 && i + 1 < argc)
            file = argv[++i];
    }
    if (by_rank || gethostname(name, NAME - 1) || !name[0])
        snprintf(name, NAME, "rank%d", rank);
    if (rank == 0 && !(names = espi_array((size_t)size, NAME)))
        give_up("out of memory");
    MPI_Gather(name, NAME, MPI_BYTE, names, NAME, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        command_all(size, names, budget_s, file);
    else
        serve_rounds(rank);
    espi_free(names);
    MPI_Finalize();
    return 0;
}
