/* The simulator of workstations: processors that work for every send and receive.
 *
 * The model of J. Wu, S. Yeh, Efficient all-to-all broadcast in heterogeneous network of
 * workstations, 2000, whose times here grow with the bytes. A send takes T_send of its
 * sender's processor, and the next one may start T_hold after it; T_end - T_recv after
 * its start the message is in the receiver's buffer. A processor takes messages out of
 * its buffer first come first served, T_recv each, whenever it has nothing to send: what
 * can be sent goes first. So T_end is the time from the start of a send to the end of the
 * receive, if the receiver has nothing else to do (definition 1 of the paper). Cables,
 * which the paper does not have, carry one message after the other, in the order of their
 * sends; who waits there keeps no processor.
 *
 * O(log ranks) for each send and receive, and the length of a buffer for one that comes
 * in out of order. */
#include <math.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/heap.h"
#include "sim/sim.h"

/* A message in the network or a buffer. */
struct letter {
    int stream, state;
    int64_t slice;
    double start_s, there_s; /* of the send; in the buffer */
    int next, last;          /* in the buffer, by there_s */
};

struct engine {
    struct espi_sim *sim;
    const struct espi_program *prog;
    /* ranks */
    double *free_s, *hold_s; /* the processor; the next send */
    int64_t *round;
    int *at;
    int *first, *last;               /* of the buffer; -1: empty */
    double *send_s, *recv_s, *gap_s; /* streams: T_send, T_recv, T_hold */
    double *cable_free_s;            /* cables */
    int64_t *arrived;
    struct espi_heap next; /* rank -> when it does something */
    struct letter *letters;
    size_t n_letters, cap;
    int spare; /* letters that were read */
};

static const struct espi_step *current(struct engine *g, int rank)
{
    const struct espi_program *prog = g->prog;
    int first = prog->send_start[rank];
    return espi_next_step(prog, prog->sends + first, prog->send_start[rank + 1] - first,
                          &g->round[rank], &g->at[rank]);
}

/* When the rank can send next, as far as is known now. */
static double next_send_s(struct engine *g, int rank)
{
    const struct espi_step *step = current(g, rank);
    if (!step || !espi_step_has_data(g->prog, step, g->arrived, g->round[rank]))
        return INFINITY;
    return fmax(g->free_s[rank], g->hold_s[rank]);
}

static double next_receive_s(const struct engine *g, int rank)
{
    int first = g->first[rank];
    return first < 0 ? INFINITY : fmax(g->free_s[rank], g->letters[first].there_s);
}

static void set_alarm(struct engine *g, int rank)
{
    double send_s = next_send_s(g, rank);
    double at_s = fmin(send_s, next_receive_s(g, rank));
    if (at_s < g->sim->stop_s[rank])
        espi_heap_set(&g->next, rank, at_s);
    else
        espi_heap_remove(&g->next, rank);
}

static int new_letter(struct engine *g)
{
    int letter = g->spare;
    if (letter >= 0) {
        g->spare = g->letters[letter].next;
        return letter;
    }
    if (espi_grow((void **)&g->letters, &g->cap, g->n_letters + 1, sizeof *g->letters))
        return -1;
    return (int)g->n_letters++;
}

static void put_in_buffer(struct engine *g, int rank, int letter)
{
    struct letter *l = &g->letters[letter];
    int after = g->last[rank];
    while (after >= 0 && g->letters[after].there_s > l->there_s)
        after = g->letters[after].last;
    l->last = after;
    l->next = after < 0 ? g->first[rank] : g->letters[after].next;
    *(after < 0 ? &g->first[rank] : &g->letters[after].next) = letter;
    *(l->next < 0 ? &g->last[rank] : &g->letters[l->next].last) = letter;
}

static void occupy_processor(struct engine *g, int rank, double at_s, double busy_s)
{
    g->free_s[rank] = at_s + busy_s;
    g->sim->busy_s[g->sim->node[rank]] += busy_s; /* the processor */
}

/* The message takes its cables, as soon as all of them are free; gives when it is in the
 * receiver's hands. */
static double pass_cables(struct engine *g, int stream, double at_s)
{
    struct espi_sim *s = g->sim;
    int first = s->links.first_cable;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
        if (s->use_resource[k] >= first)
            at_s = fmax(at_s, g->cable_free_s[s->use_resource[k] - first]);
    double end_s = espi_sim_arrival_s(s, stream, at_s), stretch = 1;
    if (s->varies && s->varies[stream])
        stretch = (end_s - at_s) / s->lag_s[stream];
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
        if (s->use_resource[k] >= first) {
            double time_s = s->use_s[k] * stretch;
            g->cable_free_s[s->use_resource[k] - first] = at_s + time_s;
            s->busy_s[s->use_resource[k]] += isfinite(time_s) ? time_s : 0;
        }
    return end_s;
}

static int send_message(struct engine *g, int rank, double at_s)
{
    struct espi_sim *s = g->sim;
    const struct espi_step *step = current(g, rank);
    int to = g->prog->streams[step->stream].to, letter = new_letter(g);
    if (letter < 0)
        return -1;
    double end_s = pass_cables(g, step->stream, at_s);
    g->letters[letter] = (struct letter){
        .stream = step->stream,
        .state = step->state,
        .slice = espi_step_slice(g->prog, step, g->round[rank]),
        .start_s = at_s,
        .there_s = fmax(end_s - g->recv_s[step->stream], at_s),
    };
    put_in_buffer(g, to, letter);
    occupy_processor(g, rank, at_s, g->send_s[step->stream]);
    g->hold_s[rank] = at_s + g->gap_s[step->stream];
    g->at[rank]++;
    espi_sim_send(s, step->stream, g->letters[letter].slice);
    set_alarm(g, to);
    return 0;
}

/* The first of the buffer is read; the processor cannot use it before it is done. */
static void read_message(struct engine *g, int rank, double at_s)
{
    int letter = g->first[rank];
    struct letter *l = &g->letters[letter];
    occupy_processor(g, rank, at_s, g->recv_s[l->stream]);
    g->first[rank] = l->next;
    *(l->next < 0 ? &g->last[rank] : &g->letters[l->next].last) = -1;
    double end_s = g->free_s[rank];
    int lost = end_s > g->sim->stop_s[rank];
    espi_sim_tell(g->sim, l->stream, l->slice, l->start_s, lost ? INFINITY : end_s, lost);
    if (!lost) {
        g->arrived[l->state]++;
        if (g->prog->streams[l->stream].keeps)
            espi_sim_keep(g->sim, l->stream, end_s);
    }
    l->next = g->spare;
    g->spare = letter;
}

static void time_streams(struct engine *g)
{
    const struct espi_sim *s = g->sim;
    for (int i = 0; i < g->prog->n_streams; i++) {
        const struct espi_stream *stream = &g->prog->streams[i];
        int from = s->node[stream->from], to = s->node[stream->to];
        g->send_s[i] = espi_send_overhead_s(s->reality, from, s->bytes[i]);
        g->recv_s[i] = espi_recv_overhead_s(s->reality, to, s->bytes[i]);
        g->gap_s[i] = espi_hold_s(s->reality, from, s->bytes[i]);
    }
}

static int engine_init(struct engine *g, struct espi_sim *sim)
{
    const struct espi_program *prog = sim->prog;
    struct espi_arena *a = sim->arena;
    int n = prog->n_ranks;
    *g = (struct engine){.sim = sim, .prog = prog, .spare = -1};
    g->free_s = ESPI_ARENA_ZNEW(a, double, n);
    g->hold_s = ESPI_ARENA_ZNEW(a, double, n);
    g->round = ESPI_ARENA_ZNEW(a, int64_t, n);
    g->at = ESPI_ARENA_ZNEW(a, int, n);
    g->first = ESPI_ARENA_NEW(a, int, n);
    g->last = ESPI_ARENA_NEW(a, int, n);
    g->send_s = ESPI_ARENA_NEW(a, double, prog->n_streams);
    g->recv_s = ESPI_ARENA_NEW(a, double, prog->n_streams);
    g->gap_s = ESPI_ARENA_NEW(a, double, prog->n_streams);
    g->arrived = ESPI_ARENA_ZNEW(a, int64_t, prog->n_states);
    g->cable_free_s = ESPI_ARENA_ZNEW(a, double, (size_t)sim->reality->n_shared + 1);
    if (!g->free_s || !g->hold_s || !g->round || !g->at || !g->first || !g->last ||
        !g->send_s || !g->recv_s || !g->gap_s || !g->arrived || !g->cable_free_s ||
        espi_heap_init(&g->next, a, n))
        return -1;
    for (int r = 0; r < n; r++)
        g->first[r] = g->last[r] = -1;
    time_streams(g);
    return 0;
}

static esp_status run_events(struct engine *g, struct esp_err *err)
{
    for (int r = 0; r < g->prog->n_ranks; r++)
        set_alarm(g, r);
    while (g->next.size > 0) {
        int rank = espi_heap_top(&g->next);
        double at_s = g->next.key[rank];
        g->sim->events++;
        if (next_send_s(g, rank) > at_s)
            read_message(g, rank, at_s);
        else if (send_message(g, rank, at_s))
            return espi_err_nomem(err);
        set_alarm(g, rank);
        if (espi_sim_must_end(g->sim, at_s))
            return espi_sim_ended(g->sim, at_s, err);
    }
    return ESP_OK;
}

esp_status espi_run_hnow(struct espi_sim *sim, struct esp_err *err)
{
    struct engine g;
    esp_status st = engine_init(&g, sim) ? espi_err_nomem(err) : run_events(&g, err);
    espi_free(g.letters);
    return st;
}
