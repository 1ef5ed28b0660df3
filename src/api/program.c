/* Programs, looked at from outside: the steps of a rank one by one. */
#include <espalier/program.h>

#include <math.h>

#include "base/alloc.h"
#include "base/options.h"
#include "program/program.h"
#include "schedule/arrange.h"

struct esp_program {
    struct espi_arena arena;
    struct espi_program all;
};

/* A list of steps and how far it is walked. */
struct track {
    const struct espi_step *steps;
    int n_steps, at;
    int64_t round;
};

struct esp_walk {
    const struct espi_program *prog;
    struct track sends, receives; /* those that are not walked are empty */
    const struct espi_step *step; /* at hand, or NULL */
    int64_t round;                /* in which it is made */
    int is_send;
};

void esp_compile_options_defaults_sized(struct esp_compile_options *options, size_t size)
{
    struct esp_compile_options standard = {.size = size};
    espi_options_give(options, size, &standard, sizeof standard);
}

static esp_status take_options(struct esp_compile_options *ours,
                               const struct esp_compile_options *given,
                               struct esp_err *err)
{
    esp_compile_options_defaults(ours);
    if (!given)
        return ESP_OK;
    esp_status st =
        espi_options_take(ours, sizeof *ours, given,
                          ESPI_SIZE_UP_TO(struct esp_compile_options, slice_bytes),
                          "esp_compile_options", err);
    if (!st && !(ours->size_bytes >= 0 && isfinite(ours->size_bytes) &&
                 ours->slice_bytes >= 0 && isfinite(ours->slice_bytes)))
        return espi_err(
            err, ESP_EUSAGE,
            "the sizes of message and slice must be finite, and not negative");
    return st;
}

esp_status esp_program_compile(const struct esp_platform *p, const struct esp_plan *plan,
                               const struct esp_compile_options *options,
                               struct esp_program **out, struct esp_err *err)
{
    struct esp_compile_options how;
    if (!p || !plan || !out)
        return espi_err(err, ESP_EUSAGE, "a program needs a platform and a plan");
    esp_status st = take_options(&how, options, err);
    if (!st)
        st = esp_plan_check(plan, p, err);
    if (st)
        return st;
    struct espi_compile_options cut = {.size_bytes = how.size_bytes,
                                       .slice_bytes = how.slice_bytes};
    struct esp_program *program = espi_calloc(1, sizeof *program);
    if (!program)
        return espi_err_nomem(err);
    struct esp_plan scheduled;
    espi_arena_init(&program->arena);
    st = espi_plan_scheduled(p, plan, how.size_bytes, how.slice_bytes, &scheduled, err);
    if (!st) {
        st = espi_program_compile(p, &scheduled, &cut, &program->arena, &program->all,
                                  err);
        espi_plan_scheduled_done(&scheduled, plan);
    }
    if (st)
        esp_program_free(program);
    else
        *out = program;
    return st;
}

void esp_program_free(struct esp_program *program)
{
    if (!program)
        return;
    espi_arena_done(&program->arena);
    espi_free(program);
}

/* ---- the whole ---- */

int esp_program_rank_count(const struct esp_program *program)
{
    return program ? program->all.n_ranks : 0;
}

int esp_program_node(const struct esp_program *program, int rank)
{
    return rank >= 0 && rank < esp_program_rank_count(program) ? program->all.node[rank]
                                                               : -1;
}

int esp_program_rank(const struct esp_program *program, int node)
{
    return program && node >= 0 && node < program->all.p->n_nodes
               ? program->all.rank[node]
               : -1;
}

double esp_program_size_bytes(const struct esp_program *program)
{
    return program ? program->all.size_bytes : 0;
}

int64_t esp_program_slice_count(const struct esp_program *program)
{
    return program ? program->all.n_slices : 0;
}

static int has_slice(const struct esp_program *program, int64_t slice)
{
    return slice >= 0 && slice < esp_program_slice_count(program);
}

uint64_t esp_program_slice_offset(const struct esp_program *program, int64_t slice)
{
    uint64_t bytes;
    return has_slice(program, slice) ? espi_slice_range(&program->all, slice, &bytes) : 0;
}

uint64_t esp_program_slice_bytes(const struct esp_program *program, int64_t slice)
{
    uint64_t bytes = 0;
    if (has_slice(program, slice))
        espi_slice_range(&program->all, slice, &bytes);
    return bytes;
}

esp_step_order esp_program_order(const struct esp_program *program)
{
    if (program && program->all.ordered == ESPI_FREE)
        return ESP_ORDER_OF_CONNECTIONS;
    if (!program || program->all.ordered == ESPI_UNORDERED)
        return ESP_ORDER_OF_SENDS;
    return program->all.ordered == ESPI_ORDERED ? ESP_ORDER_OF_BOTH : ESP_ORDER_OF_ALL;
}

/* ---- walking ---- */

static struct track track_of(const struct espi_step *steps, const int *start, int rank)
{
    return (struct track){.steps = steps + start[rank],
                          .n_steps = start[rank + 1] - start[rank]};
}

esp_status esp_walk_create(const struct esp_program *program, int rank,
                           esp_walk_kind kind, struct esp_walk **out, struct esp_err *err)
{
    if (!program || !out || (unsigned)kind > ESP_WALK_ALL)
        return espi_err(err, ESP_EUSAGE, "a walk needs a program and a kind");
    if (rank < 0 || rank >= program->all.n_ranks)
        return espi_err(err, ESP_EUSAGE, "there is no rank %d (of %d)", rank,
                        program->all.n_ranks);
    struct esp_walk *walk = espi_calloc(1, sizeof *walk);
    if (!walk)
        return espi_err_nomem(err);
    walk->prog = &program->all;
    if (kind != ESP_WALK_RECEIVES)
        walk->sends = track_of(walk->prog->sends, walk->prog->send_start, rank);
    if (kind != ESP_WALK_SENDS)
        walk->receives = track_of(walk->prog->recvs, walk->prog->recv_start, rank);
    *out = walk;
    return ESP_OK;
}

void esp_walk_free(struct esp_walk *walk)
{
    espi_free(walk);
}

/* The next step of a track that handles a slice; NULL at its end. */
static const struct espi_step *look_at(const struct esp_walk *walk, struct track *t)
{
    return espi_next_step(walk->prog, t->steps, t->n_steps, &t->round, &t->at);
}

static int send_comes_first(const struct esp_walk *walk, const struct espi_step *send,
                            const struct espi_step *receive)
{
    if (!send || !receive)
        return send != NULL;
    if (walk->sends.round != walk->receives.round)
        return walk->sends.round < walk->receives.round;
    return send->place < receive->place;
}

int esp_walk_next(struct esp_walk *walk)
{
    if (!walk)
        return 0;
    const struct espi_step *send = look_at(walk, &walk->sends);
    const struct espi_step *receive = look_at(walk, &walk->receives);
    walk->is_send = send_comes_first(walk, send, receive);
    struct track *t = walk->is_send ? &walk->sends : &walk->receives;
    walk->step = walk->is_send ? send : receive;
    walk->round = t->round;
    t->at += walk->step != NULL;
    return walk->step != NULL;
}

/* ---- the step at hand ---- */

static const struct espi_stream *stream_of(const struct esp_walk *walk)
{
    return walk && walk->step ? &walk->prog->streams[walk->step->stream] : NULL;
}

int esp_walk_is_send(const struct esp_walk *walk)
{
    return stream_of(walk) && walk->is_send;
}

int esp_walk_peer(const struct esp_walk *walk)
{
    const struct espi_stream *s = stream_of(walk);
    return !s ? -1 : walk->is_send ? s->to : s->from;
}

int esp_walk_tree(const struct esp_walk *walk)
{
    const struct espi_stream *s = stream_of(walk);
    return s ? s->tree : -1;
}

/* Messages are numbered by batches of slices, and within one by streams and slots. */
static int64_t message_number(const struct esp_walk *walk, int state)
{
    return (walk->round - walk->step->lag) * walk->prog->n_states + state;
}

int64_t esp_walk_message(const struct esp_walk *walk)
{
    return stream_of(walk) ? message_number(walk, walk->step->state) : -1;
}

int esp_walk_combines(const struct esp_walk *walk)
{
    const struct espi_stream *s = stream_of(walk);
    return s && s->combines;
}

int esp_walk_keeps(const struct esp_walk *walk)
{
    const struct espi_stream *s = stream_of(walk);
    return s && s->keeps;
}

int esp_walk_slice_count(const struct esp_walk *walk)
{
    return stream_of(walk) ? espi_stream_pieces(walk->prog, walk->step->stream) : 0;
}

int64_t esp_walk_slice(const struct esp_walk *walk, int i)
{
    if (i < 0 || i >= esp_walk_slice_count(walk))
        return -1;
    const struct espi_program *prog = walk->prog;
    if (prog->pieces)
        return prog->pieces[prog->piece_start[walk->step->stream] + i];
    return espi_step_slice(prog, walk->step, walk->round);
}

int esp_walk_need_count(const struct esp_walk *walk)
{
    if (!esp_walk_is_send(walk))
        return 0;
    const struct espi_program *prog = walk->prog;
    int n = 0, stream = walk->step->stream;
    if (prog->needs)
        return prog->need_start[stream + 1] - prog->need_start[stream];
    for (int q = prog->streams[stream].source; q >= 0; q = prog->streams[q].also)
        n++;
    return n;
}

int64_t esp_walk_need(const struct esp_walk *walk, int i)
{
    if (i < 0 || i >= esp_walk_need_count(walk))
        return -1;
    const struct espi_program *prog = walk->prog;
    const struct espi_stream *s = &prog->streams[walk->step->stream];
    if (prog->needs) {
        int q = prog->needs[prog->need_start[walk->step->stream] + i];
        return message_number(walk, prog->streams[q].first_state);
    }
    int q = s->source;
    while (i-- > 0)
        q = prog->streams[q].also;
    return message_number(walk, prog->streams[q].first_state + walk->step->state -
                                    s->first_state);
}

int esp_walk_hop_count(const struct esp_walk *walk)
{
    const struct espi_stream *s = stream_of(walk);
    return s ? s->n_hops : 0;
}

int esp_walk_hop(const struct esp_walk *walk, int i)
{
    return i >= 0 && i < esp_walk_hop_count(walk)
               ? walk->prog->hops[stream_of(walk)->first_hop + i]
               : -1;
}
