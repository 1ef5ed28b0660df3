/* What did not go as it should: links that are not used any more, and hosts that are left
 * out. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "copy/blame.h"
#include "copy/job.h"

enum { STUCK_MAX = 64 }; /* limit: of the root's own streams */

static int ban_link(struct espi_copy_job *job, const char *from, const char *to)
{
    void *grown = job->ban;
    if (espi_grow(&grown, &job->ban_room, (size_t)job->n_bans + 1, sizeof *job->ban))
        return -1;
    job->ban = grown;
    job->ban[job->n_bans++] = (struct espi_copy_ban){from, to};
    return 0;
}

/* Several streams that fail together are one reason. */
static void count_blame(const struct espi_copy_job *job, struct espi_copy_host *h)
{
    h->blames += h->blamed_run != job->runs;
    h->blamed_run = job->runs;
}

/* Is there no way from one to the other but through switches? Then the link that is not
 * to be used is none of the platform's. */
static int leads_through_switches(const struct espi_copy_job *job, const char *from,
                                  const char *to)
{
    int a = esp_platform_find_node(job->network, from);
    int b = esp_platform_find_node(job->network, to);
    return a >= 0 && b >= 0 && esp_platform_find_link(job->network, a, b) < 0;
}

void espi_copy_blame(struct espi_copy_job *job, int from, int to, int lies,
                     const char *what)
{
    struct espi_copy_host *h = espi_copy_host_at(job, to);
    struct espi_copy_host *sender = espi_copy_host_at(job, from);
    const char *name = sender ? sender->name : job->options.root;
    int failed = 0;
    if (!h || !espi_copy_is_alive(h))
        return;
    count_blame(job, h);
    snprintf(h->blame, sizeof h->blame, "%s", what);
    if (h->blames > 2 || (!sender && lies)) {
        espi_copy_lose(job, h, "%s", what);
        return;
    }
    if (!sender && h->blames < 2)
        return; /* the root tries once more: perhaps nobody else can reach it */
    for (int i = 0; i < job->n_hosts; i++)
        if (&job->host[i] == h || (lies && &job->host[i] != sender))
            failed |= ban_link(job, name, job->host[i].name);
    espi_copy_drop_plan(job);
    if (failed || leads_through_switches(job, name, h->name))
        espi_copy_lose(job, h, "%s", what);
}

/* ---- streams of which nothing arrives ---- */

static void mark(const struct espi_copy_job *job, const uint32_t *numbers, int n,
                 unsigned char *stuck)
{
    for (int i = 0; i < n; i++)
        if (numbers[i] < (uint32_t)job->prog.n_streams)
            stuck[numbers[i]] = 1;
}

static int blame_marked(struct espi_copy_job *job, unsigned char *stuck)
{
    unsigned char *only_passes = espi_calloc((size_t)job->prog.n_ranks + 1, 1);
    if (!only_passes)
        return 0; /* later */
    for (int r = 0; r < job->prog.n_ranks; r++)
        only_passes[r] = espi_copy_host_at(job, r) && espi_copy_host_at(job, r)->is_relay;
    int n = espi_blame_stuck(&job->prog, stuck, only_passes);
    for (int s = 0; s < job->prog.n_streams; s++)
        if (stuck[s])
            espi_copy_blame(job, job->prog.streams[s].from, job->prog.streams[s].to, 0,
                            "nothing could be sent to it any longer");
    espi_free(only_passes);
    return n > 0;
}

static int has_stuck(const struct espi_copy_job *job)
{
    int any = 0;
    for (int i = 0; i < job->n_hosts; i++)
        any |= espi_copy_is_alive(&job->host[i]) && job->host[i].n_stuck > 0;
    return any;
}

int espi_copy_blame_stuck(struct espi_copy_job *job)
{
    uint32_t own[STUCK_MAX];
    int n = espi_tcp_stuck(job->runner.tcp, job->options.patience_s, own, STUCK_MAX);
    if (n == 0 && !has_stuck(job))
        return 0;
    unsigned char *stuck = espi_calloc((size_t)job->prog.n_streams + 1, 1);
    if (!stuck)
        return 0; /* later */
    mark(job, own, n, stuck);
    for (int r = 0; r < job->prog.n_ranks; r++) {
        const struct espi_copy_host *h = espi_copy_host_at(job, r);
        if (h && espi_copy_is_alive(h))
            mark(job, h->stuck, h->n_stuck, stuck);
    }
    int found = blame_marked(job, stuck);
    espi_free(stuck);
    return found;
}

/* ---- connections that break ---- */

/* Whose connection broke while both ends are there is not trusted with it again. */
static void blame_stream(struct espi_copy_job *job, uint32_t stream, const char *who,
                         const char *why)
{
    char what[ESP_ERR_TEXT_MAX];
    if (stream >= (uint32_t)job->prog.n_streams)
        return;
    const struct espi_stream *s = &job->prog.streams[stream];
    const struct espi_copy_host *from = espi_copy_host_at(job, s->from);
    if (from && !espi_copy_is_alive(from))
        return;
    snprintf(what, sizeof what, "%s says: %s", who, why);
    espi_copy_blame(job, s->from, s->to, 0, what);
}

void espi_copy_blame_broken(struct espi_copy_job *job, uint32_t own, const char *why)
{
    blame_stream(job, own, job->options.root, why);
    for (int r = 0; r < job->prog.n_ranks; r++) {
        const struct espi_copy_host *h = espi_copy_host_at(job, r);
        if (h && espi_copy_is_alive(h) && h->saw_trouble)
            blame_stream(job, h->broken, h->name, h->broken_why);
    }
}

/* ---- blocks that are wrong ---- */

/* The rank that sent the block to this one in the last run; -1. */
static int sender_of(const struct espi_copy_job *job, int rank, uint32_t block)
{
    const struct espi_program *prog = &job->prog;
    for (int64_t slice = 0; slice < prog->n_slices; slice++) {
        if (job->block[slice] != block)
            continue;
        int tree = prog->slot_tree[slice % prog->slots];
        for (int s = 0; s < prog->n_streams; s++)
            if (prog->streams[s].to == rank && prog->streams[s].tree == tree)
                return prog->streams[s].from;
    }
    return -1;
}

/* Between a host that has it wrong and the one before it that has it right somebody
 * changed it: one of the two. Hosts that only pass on prove nothing, and may be wronged
 * by who says that it got something else, as any other. */
static void blame_for_block(struct espi_copy_job *job, int rank, uint32_t block)
{
    int from = sender_of(job, rank, block);
    int i = from < 0 ? -1 : job->host_of_rank[from];
    if (from < 0)
        return;
    const struct espi_copy_host *sender = i < 0 ? NULL : &job->host[i];
    if (!sender || sender->is_relay || espi_set_has(sender->has, block))
        espi_copy_blame(job, from, rank, 1, "what came to it was not what was sent");
}

void espi_copy_blame_wrong(struct espi_copy_job *job)
{
    for (int r = 0; r < job->prog.n_ranks; r++) {
        int i = job->host_of_rank[r];
        if (i < 0 || !espi_copy_is_alive(&job->host[i]) || job->host[i].is_relay)
            continue;
        for (uint32_t b = 0; b < job->message.n_blocks; b++)
            if (espi_set_has(job->host[i].fresh, b)) {
                blame_for_block(job, r, b);
                break;
            }
    }
}
