/* Time-expanded: chunks matched with links as these become free, for allgather and
 * broadcast.
 *
 * After Won, Elavazhagan, Srinivasan, Gupta, Krishna, TACOS: Topology-Aware Collective
 * Algorithm Synthesizer for distributed machine learning, MICRO 2024. The message is cut
 * into chunks, each with a tree of its own, and what comes out is trees and the order of
 * all their sends at once (synthesis.c). Departures: resources of any machine model
 * instead of links; of the chunks that could go, the one that its receiver is least
 * likely to get otherwise, instead of any; receivers that need most go first; several
 * draws, of which the one that ends first is taken. Model: all but hnow, whose
 * processors take up what there is. Guarantee: none; where no two hosts share a link or
 * cable a run takes the time that was found, but for a few reduce-scatters of the
 * capacity model, where connections go on by themselves. Complexity: O(sends * (chunks /
 * 64 + hosts)) a draw where links are nobody else's.
 */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/synthesis/synthesis.h"
#include "algo/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/watch.h"
#include "plan/ops.h"
#include "plan/schedule.h"

enum { OPTION_CHUNKS, OPTION_RESTARTS, OPTION_SEED };

/* One number of chunks. */
struct cut {
    int chunks; /* a part */
    struct espi_view view;
    int *source;
    struct espi_synthesis found; /* n_sends is 0: nothing; finish_s as in a run */
};

struct synthesizer {
    const struct espi_task *task;
    int n;     /* hosts */
    int parts; /* of the message */
    struct espi_arena *arena;
    double work; /* sends so far */
    int shared;  /* do several hosts send over one link or cable? */
};

static double sends_of(const struct synthesizer *z, int chunks)
{
    return (double)z->parts * chunks * (z->n - 1);
}

static int is_too_many(const struct synthesizer *z, int chunks)
{
    return (chunks > 1 && (double)z->parts * chunks > ESPI_MAX_SLOTS) ||
           sends_of(z, chunks) > ESPI_SYNTHESIS_SENDS;
}

static esp_status cut_init(struct cut *x, const struct synthesizer *z, int chunks,
                           struct esp_err *err)
{
    int all = z->parts * chunks;
    double bytes = z->task->request->size_bytes / all;
    *x = (struct cut){.chunks = chunks};
    esp_status st = espi_view_init(&x->view, z->task->p, bytes, z->arena, err);
    if (st)
        return st;
    x->source = ESPI_ARENA_NEW(z->arena, int, all);
    if (!x->source)
        return espi_err_nomem(err);
    for (int c = 0; c < all; c++)
        x->source[c] = z->parts > 1 ? c / chunks : z->task->root;
    return ESP_OK;
}

static int draws_of(const struct synthesizer *z, int chunks)
{
    double n = ESPI_SYNTHESIS_WORK / (4 * sends_of(z, chunks));
    if (z->task->option[OPTION_RESTARTS] > 0)
        return (int)z->task->option[OPTION_RESTARTS];
    return n < 1 ? 1 : n > ESPI_SYNTHESIS_DRAWS ? ESPI_SYNTHESIS_DRAWS : (int)n;
}

/* ---- the plan ---- */

/* Sends of each chunk, in their order, as rows. */
static int sort_by_chunk(const struct synthesizer *z, const struct cut *x,
                         struct espi_rows *rows)
{
    int n = x->found.n_sends, *chunk = ESPI_ARENA_NEW(z->arena, int, n);
    if (!chunk)
        return -1;
    for (int i = 0; i < n; i++)
        chunk[i] = x->found.send[i].chunk;
    return espi_rows_build(rows, z->parts * x->chunks, n, chunk, z->arena);
}

static esp_status add_trees(const struct synthesizer *z, const struct cut *x,
                            const struct espi_rows *rows, struct esp_plan *plan,
                            struct esp_err *err)
{
    int all = z->parts * x->chunks, *arcs = ESPI_ARENA_NEW(z->arena, int, z->n);
    esp_status st = arcs ? ESP_OK : espi_err_nomem(err);
    for (int c = 0; c < all && !st; c++) {
        int n = 0;
        for (int i = rows->start[c]; i < rows->start[c + 1]; i++)
            arcs[n++] = x->found.send[rows->item[i]].arc;
        st = espi_plan_add_arcs(plan, &x->view, 1.0 / all, arcs, n, z->arena, err);
        if (!st && z->parts > 1)
            st = esp_plan_set_tree_ends(plan, x->view.node[x->source[c]], 0, NULL, err);
    }
    return st;
}

/* One round: a slice of every tree, in the order found. */
static esp_status add_schedule(const struct synthesizer *z, const struct cut *x,
                               const struct espi_rows *rows, struct esp_plan *plan,
                               struct esp_err *err)
{
    int all = z->parts * x->chunks, n = x->found.n_sends;
    struct esp_schedule *s = espi_calloc(1, sizeof *s);
    if (!s)
        return espi_err_nomem(err);
    s->slice_bytes = plan->size_bytes / all;
    s->slots = all;
    s->n_sends = n;
    s->tree_slices = ESPI_NEW(int, all);
    s->sends = ESPI_NEW(struct esp_send, n);
    if (!s->tree_slices || !s->sends) {
        espi_schedule_free(s);
        return espi_err_nomem(err);
    }
    for (int c = 0; c < all; c++) {
        s->tree_slices[c] = 1;
        for (int i = rows->start[c]; i < rows->start[c + 1]; i++)
            s->sends[rows->item[i]] =
                (struct esp_send){.tree = c, .edge = i - rows->start[c]};
    }
    plan->slice_bytes = s->slice_bytes;
    plan->schedule = s;
    return ESP_OK;
}

static esp_status write_plan(const struct synthesizer *z, const struct cut *x,
                             struct esp_plan *plan, struct esp_err *err)
{
    struct espi_rows rows;
    if (x->found.n_sends == 0)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "not all hosts get everything over their links");
    if (sort_by_chunk(z, x, &rows))
        return espi_err_nomem(err);
    esp_status st = add_trees(z, x, &rows, plan, err);
    return st ? st : add_schedule(z, x, &rows, plan, err);
}

/* ---- draws ---- */

/* Where hosts share links a run may end earlier or later than was found: it is played. */
static esp_status play_found(const struct synthesizer *z, struct cut *x,
                             struct esp_err *err)
{
    struct esp_plan *plan = NULL;
    struct espi_arena_mark mark = espi_arena_mark(z->arena);
    const struct espi_task *t = z->task;
    struct espi_finish played;
    esp_status st = esp_plan_create(t->request->op, t->request->root, "", &plan, err);
    if (st)
        return st;
    plan->size_bytes = t->request->size_bytes;
    st = write_plan(z, x, plan, err);
    if (!st)
        st = espi_plan_finish(t->p, plan, plan->size_bytes, plan->slice_bytes,
                              ESPI_SYNTHESIS_SENDS, z->arena, &played, err);
    if (!st)
        x->found.finish_s = played.makespan_s;
    esp_plan_free(plan);
    espi_arena_release(z->arena, mark);
    return st;
}

/* Draws are of so many kinds: every other is hasty, and every other pair has a deadline,
 * which may be worth factors where some links are slow. code: how many there are */
enum { KINDS_OF_DRAWS = 4 };

/* One draw, if it ends before the limit. */
static esp_status draw_once(struct synthesizer *z, struct cut *x, int i, double limit_s,
                            struct esp_err *err)
{
    struct espi_synthesis_task t = {
        .view = &x->view,
        .n_chunks = z->parts * x->chunks,
        .source = x->source,
        .seed = (uint64_t)z->task->option[OPTION_SEED] + (uint64_t)i,
        .limit_s = z->shared ? INFINITY : limit_s,
        .deadline_s = i % KINDS_OF_DRAWS > 1 && isfinite(limit_s)
                          ? limit_s * (1 - ESPI_SYNTHESIS_HURRY * (1 + i % 3))
                          : INFINITY,
        .hasty = i % 2};
    struct espi_synthesis before = x->found;
    struct espi_arena_mark mark = espi_arena_mark(z->arena);
    int got = espi_synthesize(&t, z->arena, &x->found);
    z->work += sends_of(z, x->chunks);
    if (got < 0)
        return espi_err_nomem(err);
    z->shared = x->found.shared;
    esp_status st = !got && z->shared ? play_found(z, x, err) : ESP_OK;
    if (got || !(x->found.finish_s < limit_s)) {
        espi_arena_release(z->arena, mark);
        x->found = before;
    }
    return st;
}

static double known_limit_s(const struct synthesizer *z)
{
    return z->task->limit_s > 0 ? z->task->limit_s : INFINITY;
}

/* Would other draws of the same kinds hardly be better than what is known? */
static int is_hopeless(const struct synthesizer *z, double finish_s)
{
    return finish_s * (1 - ESPI_SYNTHESIS_LUCK) > known_limit_s(z);
}

/* With more chunks a broadcast is through earlier by what it takes to fill its trees,
 * which goes down as one over their number: two numbers tell what all the chunks in the
 * world would gain. */
static int is_hopeless_for_more(const struct synthesizer *z, int chunks)
{
    const struct espi_algo_memo *m = z->task->memo;
    if (!m || z->parts > 1 || !(m->synthesis.finish_s[0] > 0) ||
        !(m->synthesis.chunks[0] < m->synthesis.chunks[1]) ||
        !(m->synthesis.chunks[1] < chunks))
        return 0;
    const double *n = m->synthesis.chunks, *at_s = m->synthesis.finish_s;
    double slope = (at_s[0] - at_s[1]) / (1 / n[0] - 1 / n[1]);
    return is_hopeless(z, at_s[1] - fmax(slope, 0) / n[1]);
}

static void note_found(const struct synthesizer *z, const struct cut *x)
{
    struct espi_algo_memo *m = z->task->memo;
    if (!m || z->parts > 1)
        return;
    m->synthesis.chunks[0] = m->synthesis.chunks[1];
    m->synthesis.finish_s[0] = m->synthesis.finish_s[1];
    m->synthesis.chunks[1] = x->chunks;
    m->synthesis.finish_s[1] = x->found.n_sends > 0 ? x->found.finish_s : 0;
}

/* The best of some draws that end before the limit. */
static esp_status draw_all(struct synthesizer *z, struct cut *x, double limit_s,
                           struct esp_err *err)
{
    int n = draws_of(z, x->chunks);
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++) {
        st = draw_once(z, x, i, limit_s, err);
        if (x->found.n_sends > 0)
            limit_s = x->found.finish_s;
        if (x->found.n_sends > 0 && espi_watch_is_over())
            break;
        if (i + 1 >= KINDS_OF_DRAWS && is_hopeless(z, x->found.n_sends > 0 ? limit_s : 0))
            break;
    }
    return st;
}

/* 1, 2, 3, 4, 6, 8, 12, ... */
static int next_chunks(int chunks)
{
    int is_power = (chunks & (chunks - 1)) == 0;
    return chunks < 3 ? chunks + 1 : is_power ? chunks / 2 * 3 : chunks / 3 * 4;
}

/* More chunks, as long as that helps. */
static esp_status try_cuts(struct synthesizer *z, struct cut *best, struct esp_err *err)
{
    double best_s = INFINITY, gained_s = INFINITY;
    int late = 0;
    esp_status st = ESP_OK;
    for (int chunks = 1;
         late < ESPI_SYNTHESIS_PATIENCE && z->work < ESPI_SYNTHESIS_WORK &&
         !is_too_many(z, chunks) && !st && !(isfinite(best_s) && espi_watch_is_over());
         chunks = next_chunks(chunks)) {
        struct cut x;
        struct espi_arena_mark mark = espi_arena_mark(z->arena);
        st = cut_init(&x, z, chunks, err);
        if (!st)
            st = draw_all(z, &x, best_s, err);
        if (!st && x.found.n_sends > 0) {
            *best = x;
            best_s = x.found.finish_s;
        } else {
            espi_arena_release(z->arena, mark);
        }
        late = best_s < gained_s * (1 - ESPI_SYNTHESIS_GAIN) ? 0 : late + 1;
        if (late == 0)
            gained_s = best_s;
    }
    return st;
}

/* How many chunks a part is to have: as the option says, or the slices of the request; 0:
 * that is left open. */
static int asked_chunks(const struct synthesizer *z)
{
    const struct esp_request *r = z->task->request;
    if (z->task->option[OPTION_CHUNKS] > 0)
        return (int)z->task->option[OPTION_CHUNKS];
    if (r->slice_bytes == ESP_SLICE_AUTO)
        return 0;
    double n = espi_slices(r->size_bytes / z->parts, r->slice_bytes).count;
    return n > ESPI_MAX_SLOTS ? ESPI_MAX_SLOTS + 1 : (int)n;
}

static esp_status run_parts(const struct espi_task *task, int parts,
                            struct esp_plan *plan, struct esp_err *err)
{
    struct synthesizer z = {
        .task = task, .n = task->view->g.n, .parts = parts, .arena = task->arena};
    struct cut x = {0};
    int chunks = asked_chunks(&z);
    if (is_too_many(&z, chunks > 0 ? chunks : 1))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "%d hosts with %d chunks each are too many", z.n, chunks);
    if (is_hopeless_for_more(&z, chunks))
        return espi_err(err, ESP_EUNSUPPORTED, "a plan is there that is earlier");
    esp_status st = chunks > 0 ? cut_init(&x, &z, chunks, err) : try_cuts(&z, &x, err);
    if (!st && chunks > 0)
        st = draw_all(&z, &x, INFINITY, err);
    if (!st)
        note_found(&z, &x);
    return st ? st : write_plan(&z, &x, plan, err);
}

static esp_status run_allgather(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    return run_parts(task, task->view->g.n, plan, err);
}

static esp_status run_bcast(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    return run_parts(task, 1, plan, err);
}

static const struct espi_algo_option synthesis_options[] = {
    {.name = "chunks",
     .standard = 0,
     .min = 0,
     .max = ESPI_MAX_SLOTS,
     .meaning = "how many chunks each part of the message is cut into; 0: as the slices "
                "say, or several numbers are tried"},
    {.name = "restarts",
     .standard = 0,
     .min = 0,
     .max = 1e6,
     .meaning = "how often it is drawn anew; 0: as often as some work allows"},
    {.name = "seed",
     .standard = 1,
     .min = 0,
     .max = 1e15,
     .meaning = "of the first draw"},
    {0},
};

/* Numbers of chunks that the contest weighs, what their messages cost counted. */
#define WEIGHED(use_, n_)                                                                \
    {                                                                                    \
        .use = (use_), .set = {{OPTION_CHUNKS, n_}}, .n_set = 1                          \
    }

static const struct espi_algo_use allgather_uses[] = {
    WEIGHED(ESPI_USE_WEIGHED, 1),  WEIGHED(ESPI_USE_WEIGHED, 2),
    WEIGHED(ESPI_USE_WEIGHED, 3),  WEIGHED(ESPI_USE_WEIGHED, 4),
    WEIGHED(ESPI_USE_WEIGHED, 6),  WEIGHED(ESPI_USE_WEIGHED, 8),
    WEIGHED(ESPI_USE_WEIGHED, 12), WEIGHED(ESPI_USE_WEIGHED, 16),
    WEIGHED(ESPI_USE_WEIGHED, 32), {.use = 0},
};

static const struct espi_algo_use bcast_uses[] = {
    WEIGHED(ESPI_USE_FEW_TREES, 8),
    WEIGHED(ESPI_USE_FEW_TREES, 32),
    WEIGHED(ESPI_USE_FEW_TREES, 128),
    /* a chunk a slice */
    {.use = ESPI_USE_FEW_TREES | ESPI_USE_USUAL_SLICES,
     .max_slices = ESPI_SYNTHESIS_FEW_CHUNKS},
    {.use = ESPI_USE_LAST, .max_hosts = ESPI_LAST_HOSTS}, /* of whatever slices */
    {.use = 0},
};
const struct espi_algo espi_algo_time_expanded = {
    .name = "time-expanded",
    .family = "synthesis",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS & ~ESPI_MODEL_BIT(ESP_MODEL_HNOW),
    .flags = ESPI_ALGO_LONG,
    .paper = "Won et al. 2024",
    .complexity = "a word of 64 chunks a send and arc, some draws",
    .summary = "chunks matched with links in time, with the order of all sends",
    .options = synthesis_options,
    .uses = allgather_uses,
    .run = run_allgather,
};

const struct espi_algo espi_algo_time_expanded_bcast = {
    .name = "time-expanded-bcast",
    .family = "synthesis",
    .op = ESP_OP_BCAST,
    .models = ESPI_MODEL_BIT(ESP_MODEL_MULTI_PORT) | ESPI_MODEL_BIT(ESP_MODEL_CAPACITY),
    .flags = ESPI_ALGO_SEARCHES,
    .paper = "Won et al. 2024",
    .complexity = "a word of 64 chunks a send and arc, some draws",
    .summary = "chunks matched with links in time, with the order of all sends",
    .options = synthesis_options,
    .uses = bcast_uses,
    .run = run_bcast,
};
