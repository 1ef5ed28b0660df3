#include "program/connections.h"

#include <limits.h>
#include <string.h>

#include "graph/parallel_arcs.h"
#include "schedule/tuning.h"

/* The streams of the ranks asked for, those between the same two together. */
static int group_streams(struct espi_connections *c, const struct espi_program *prog,
                         int rank, struct espi_arena *arena)
{
    int n = 0;
    struct espi_parallel_arcs pairs;
    struct espi_parallel_arc *ends =
        ESPI_ARENA_NEW(arena, struct espi_parallel_arc, prog->n_streams);
    c->of_stream = ESPI_ARENA_NEW(arena, int, prog->n_streams);
    c->open_of_stream = ESPI_ARENA_ZNEW(arena, int, prog->n_streams);
    if (!ends || !c->of_stream || !c->open_of_stream)
        return -1;
    for (int s = 0; s < prog->n_streams; s++)
        if (rank < 0 || prog->streams[s].from == rank)
            ends[n++] =
                (struct espi_parallel_arc){prog->streams[s].from, prog->streams[s].to, s};
    if (espi_parallel_arcs_init(&pairs, ends, n, prog->n_ranks, arena))
        return -1;
    c->n = pairs.n;
    c->start = pairs.start;
    c->stream = pairs.id;
    c->rank_start = pairs.node_start;
    c->open = ESPI_ARENA_ZNEW(arena, int, c->n);
    if (!c->open)
        return -1;
    memset(c->of_stream, -1, (size_t)prog->n_streams * sizeof *c->of_stream);
    for (int i = 0; i < c->n; i++)
        for (int k = c->start[i]; k < c->start[i + 1]; k++)
            c->of_stream[c->stream[k]] = i;
    return 0;
}

/* Later legs of a tree lag behind its first ones, all of it as those do. */
static void find_tree_lags(struct espi_connections *c, const struct espi_program *prog)
{
    for (int t = 0; t < prog->n_trees; t++)
        c->tree_lag[t] = INT_MAX;
    for (int k = 0; k < prog->send_start[prog->n_ranks]; k++) {
        int *lag = &c->tree_lag[prog->streams[prog->sends[k].stream].tree];
        *lag = prog->sends[k].lag < *lag ? prog->sends[k].lag : *lag;
    }
}

static int list_steps(struct espi_connections *c, const struct espi_program *prog,
                      int rank, struct espi_arena *arena)
{
    int first = rank < 0 ? 0 : prog->send_start[rank];
    int last = prog->send_start[rank < 0 ? prog->n_ranks : rank + 1];
    c->step_start = ESPI_ARENA_ZNEW(arena, int, (size_t)prog->n_streams + 2);
    c->step = ESPI_ARENA_NEW(arena, struct espi_step, last - first);
    c->round = ESPI_ARENA_ZNEW(arena, int64_t, prog->n_streams);
    c->at = ESPI_ARENA_ZNEW(arena, int, prog->n_streams);
    c->lead = ESPI_ARENA_NEW(arena, int64_t, prog->n_trees);
    c->tree_lag = ESPI_ARENA_NEW(arena, int, prog->n_trees);
    if (!c->step_start || !c->step || !c->round || !c->at || !c->lead || !c->tree_lag)
        return -1;
    find_tree_lags(c, prog);
    for (int k = first; k < last; k++)
        c->step_start[prog->sends[k].stream + 2]++;
    for (int s = 0; s < prog->n_streams; s++)
        c->step_start[s + 2] += c->step_start[s + 1];
    for (int k = first; k < last; k++)
        c->step[c->step_start[prog->sends[k].stream + 1]++] = prog->sends[k];
    return 0;
}

int espi_connections_init(struct espi_connections *c, const struct espi_program *prog,
                          int rank, struct espi_arena *arena)
{
    memset(c, 0, sizeof *c);
    return group_streams(c, prog, rank, arena) || list_steps(c, prog, rank, arena) ? -1
                                                                                   : 0;
}

/* The next step of a stream; NULL: there is none. */
static const struct espi_step *next_of_stream(struct espi_connections *c,
                                              const struct espi_program *prog, int stream)
{
    int first = c->step_start[stream];
    return espi_next_step(prog, c->step + first, c->step_start[stream + 1] - first,
                          &c->round[stream], &c->at[stream]);
}

/* The round in which a stream's next step has its turn: that of its slice, and what the
 * tree lags. */
static int64_t turn_of(const struct espi_connections *c, const struct espi_program *prog,
                       const struct espi_step *step)
{
    return c->round[step->stream] - step->lag +
           c->tree_lag[prog->streams[step->stream].tree];
}

static int64_t slot_of(const struct espi_connections *c, const struct espi_program *prog,
                       const struct espi_step *step)
{
    int slot = prog->slot_turn ? prog->slot_turn[step->slot] : step->slot;
    return turn_of(c, prog, step) * prog->slots + slot;
}

/* How far each tree is that the rank has the data of: of those that it sends on, -1. */
static void find_leads(struct espi_connections *c, const struct espi_program *prog,
                       int first, int last)
{
    for (int i = first; i < last; i++)
        c->lead[prog->streams[c->stream[i]].tree] = -1;
    for (int i = first; i < last; i++) {
        int s = c->stream[i], tree = prog->streams[s].tree;
        if (prog->streams[s].source >= 0)
            continue;
        const struct espi_step *step = next_of_stream(c, prog, s);
        int64_t slot = step ? slot_of(c, prog, step) : INT64_MAX;
        if (slot > c->lead[tree])
            c->lead[tree] = slot;
    }
}

int64_t espi_connections_limit(struct espi_connections *c,
                               const struct espi_program *prog, int rank)
{
    int64_t ahead = (int64_t)ESPI_SLICES_AHEAD * prog->n_trees, least = INT64_MAX - ahead;
    int first = c->start[c->rank_start[rank]], last = c->start[c->rank_start[rank + 1]];
    if (prog->n_trees == 1)
        return INT64_MAX;
    find_leads(c, prog, first, last);
    for (int i = first; i < last; i++) {
        int64_t lead = c->lead[prog->streams[c->stream[i]].tree];
        if (lead >= 0 && lead < least)
            least = lead;
    }
    return least + ahead;
}

void espi_connection_start(struct espi_connections *c, const struct espi_step *step)
{
    c->at[step->stream]++;
    c->open[c->of_stream[step->stream]]++;
    c->open_of_stream[step->stream]++;
}

void espi_connection_end(struct espi_connections *c, int stream)
{
    c->open[c->of_stream[stream]]--;
    c->open_of_stream[stream]--;
}

const struct espi_step *
espi_connection_next(struct espi_connections *c, const struct espi_program *prog,
                     int connection, const struct espi_sendable *now, int64_t *round)
{
    const struct espi_step *first = NULL;
    int64_t first_batch = 0;
    for (int i = c->start[connection]; i < c->start[connection + 1]; i++) {
        int s = c->stream[i];
        const struct espi_step *step = next_of_stream(c, prog, s);
        if (!step || (now->window > 0 && c->open_of_stream[s] >= now->window))
            continue;
        if ((prog->streams[s].source < 0 && slot_of(c, prog, step) > now->limit) ||
            !espi_step_has_data(prog, step, now->arrived, c->round[s]))
            continue;
        int64_t batch = turn_of(c, prog, step);
        if (!first || batch < first_batch ||
            (batch == first_batch && step->place < first->place)) {
            first = step;
            first_batch = batch;
            *round = c->round[s];
        }
    }
    return first;
}
