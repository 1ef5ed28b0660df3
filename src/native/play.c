/* What goes from one rank to another goes over one connection, one thing after the other,
 * in the order in which it was ready; connections that meet share what they meet on, max-
 * min fairly, as TCP's do (graph/fair_rates.h, the kernel of all fluid simulations). A
 * message has arrived a latency after its last byte has left.
 *
 * A rank goes through its calls without taking time, until it waits for one that is not
 * over. A send is over when it has left, an eager one at once; a receive when all of its
 * message is there.
 *
 * Complexity: O(log connections) a message, and what it takes to change the rates that it
 * changes. */
#include "native/play.h"

#include <math.h>

#include "base/err.h"
#include "base/events.h"
#include "base/heap.h"
#include "base/watch.h"
#include "graph/fair_rates.h"

/* Things that go over a connection: all of an eager message, the request to send with
 * the first bytes of a long one, and its rest. At equal times an answer comes last, and
 * then what a rank has done with a message: it may leave, or is taken. */
enum { EAGER, REQUEST, REST, ANSWER, LEAVES, TAKEN };

/* Something that is ready to leave, or the last that was put behind it. */
struct parcel {
    int kind, call;
    double bytes;
    int next; /* behind it; -1: none */
};

struct lane {
    int first, last; /* parcels that have not left, -1: none */
    double left_bytes, rate_Bps, since_s;
    double awaited, arrived; /* messages, by their weight */
    uint64_t unseen;         /* messages that have to pass before it has seen enough */
};

/* What is known of a send and its receive, by the send's call. */
struct message {
    double start_s;
    unsigned char is_requested, is_received, has_arrived; /* is_received: started */
};

struct stage {
    struct espi_play *play;
    const struct espi_script *s;
    const struct espi_rank_connections *c;
    double now_s;
    int *at;                /* rank -> its next call */
    double *free_s;         /* rank -> when it has no message in hand any more */
    unsigned char *is_over; /* by call: may a wait for it end? */
    struct message *message;
    struct lane *lane; /* by connection */
    struct parcel *parcel;
    size_t n_parcels, room;
    struct espi_heap leaving; /* connections by the time at which their parcel has left */
    struct espi_events arrivals; /* id: the send; about: the kind */
    struct espi_fair_rates rates;
    int *begun, n_begun; /* connections whose parcel has no rate yet */
    unsigned char *is_begun;
    int *awake, n_awake; /* ranks that may go on */
    int is_cut;          /* may there be more messages than are looked at? */
    int n_unseen;        /* connections that have not carried enough messages */
    unsigned char *is_awake;
    int out_of_memory;
};

static void wake_up(struct stage *g, int rank)
{
    if (!g->is_awake[rank])
        g->awake[g->n_awake++] = rank;
    g->is_awake[rank] = 1;
}

/* ---- connections ---- */

static void begin_parcel(struct stage *g, int lane)
{
    struct lane *l = &g->lane[lane];
    l->left_bytes = g->parcel[l->first].bytes;
    l->rate_Bps = 0;
    l->since_s = g->now_s;
    if (!(l->left_bytes > 0)) {
        espi_heap_set(&g->leaving, lane, g->now_s);
        return;
    }
    espi_fair_rates_set(&g->rates, lane, 1);
    if (!g->is_begun[lane])
        g->begun[g->n_begun++] = lane;
    g->is_begun[lane] = 1;
}

static void queue_parcel(struct stage *g, int kind, int call, double bytes)
{
    int i = (int)g->n_parcels, lane = g->c->of_call[call];
    struct lane *l = &g->lane[lane];
    if (espi_grow((void **)&g->parcel, &g->room, g->n_parcels + 1, sizeof *g->parcel)) {
        g->out_of_memory = 1;
        return;
    }
    g->parcel[g->n_parcels++] = (struct parcel){kind, call, bytes, -1};
    if (l->first >= 0)
        g->parcel[l->last].next = i;
    l->last = i;
    if (l->first >= 0)
        return;
    l->first = i;
    begin_parcel(g, lane);
}

static void count_left(struct stage *g, int lane)
{
    struct lane *l = &g->lane[lane];
    double bytes = l->rate_Bps * (g->now_s - l->since_s);
    l->left_bytes -= bytes;
    l->since_s = g->now_s;
    for (int k = g->c->use_start[lane]; k < g->c->use_start[lane + 1]; k++)
        g->play->busy_s[g->c->use_resource[k]] += bytes * g->c->use_part[k];
}

static void set_lane_rate(struct stage *g, int lane)
{
    struct lane *l = &g->lane[lane];
    double rate_Bps = g->rates.rate[lane];
    if (l->first < 0 || !(l->left_bytes > 0) ||
        (l->rate_Bps == rate_Bps && espi_heap_has(&g->leaving, lane)))
        return;
    count_left(g, lane);
    l->rate_Bps = rate_Bps;
    espi_heap_set(&g->leaving, lane, g->now_s + fmax(l->left_bytes, 0) / rate_Bps);
}

static void set_lane_rates(struct stage *g)
{
    espi_fair_rates_update(&g->rates);
    for (int i = 0; i < g->rates.n_updated; i++)
        set_lane_rate(g, g->rates.updated[i]);
    for (int i = 0; i < g->n_begun; i++) {
        g->is_begun[g->begun[i]] = 0;
        set_lane_rate(g, g->begun[i]);
    }
    g->n_begun = 0;
}

static int sender_of(const struct stage *g, int call)
{
    return g->s->call[g->s->call[call].meets].other;
}

/* The first parcel of a connection has left: the next may go. */
static void end_parcel(struct stage *g, int lane)
{
    struct lane *l = &g->lane[lane];
    struct parcel parcel = g->parcel[l->first];
    espi_heap_remove(&g->leaving, lane);
    count_left(g, lane);
    espi_fair_rates_set(&g->rates, lane, 0);
    l->first = parcel.next;
    if (parcel.kind == REST) {
        g->is_over[parcel.call] = 1;
        wake_up(g, sender_of(g, parcel.call));
    }
    if (espi_events_push(&g->arrivals,
                         (struct espi_event){g->now_s + g->c->latency_s[lane],
                                             parcel.kind, parcel.call, 0}))
        g->out_of_memory = 1;
    if (l->first >= 0)
        begin_parcel(g, lane);
}

/* ---- messages ---- */

/* How much a message counts among others: its bytes, and itself. */
static double weight_of(const struct espi_script_call *send)
{
    return 1 + (double)send->bytes;
}

static void tell_transfer(struct stage *g, int call)
{
    struct espi_play *play = g->play;
    const struct espi_script_call *send = &g->s->call[call];
    int lane = g->c->of_call[call];
    struct esp_sim_transfer transfer = {.from = g->c->node[g->c->from[lane]],
                                        .to = g->c->node[send->other],
                                        .slice = (int64_t)play->messages++,
                                        .start_s = g->message[call].start_s,
                                        .end_s = g->now_s};
    g->lane[lane].arrived += weight_of(send);
    g->n_unseen -= g->lane[lane].unseen > 0 && --g->lane[lane].unseen == 0;
    if (play->on_transfer)
        play->on_transfer(play->arg, &transfer);
}

/* The rank works on a message, when it is free: what follows comes after that. */
static void take_in_hand(struct stage *g, int rank, int kind, int call)
{
    g->free_s[rank] = fmax(g->free_s[rank], g->now_s) + g->play->protocol.message_s;
    if (espi_events_push(&g->arrivals,
                         (struct espi_event){g->free_s[rank], kind, call, 0}))
        g->out_of_memory = 1;
}

static void take_message(struct stage *g, int call)
{
    g->is_over[g->s->call[call].meets] = 1;
    wake_up(g, g->s->call[call].other);
}

static void end_receive(struct stage *g, int call)
{
    const struct message *m = &g->message[call];
    if (!m->has_arrived || !m->is_received)
        return;
    if (g->play->protocol.message_s > 0)
        take_in_hand(g, g->s->call[call].other, TAKEN, call);
    else
        take_message(g, call);
}

/* It leaves, or the request for it. */
static void leave_message(struct stage *g, int call)
{
    const struct espi_protocol *protocol = &g->play->protocol;
    double bytes = (double)g->s->call[call].bytes;
    if (bytes <= protocol->eager_bytes)
        queue_parcel(g, EAGER, call, bytes);
    else
        queue_parcel(g, REQUEST, call, fmin(protocol->first_bytes, bytes));
}

/* Both are there: the receiver answers. */
static void answer_request(struct stage *g, int call)
{
    const struct message *m = &g->message[call];
    double back_s = g->c->back_s[g->c->of_call[call]];
    if (m->is_requested && m->is_received &&
        espi_events_push(&g->arrivals,
                         (struct espi_event){g->now_s + back_s, ANSWER, call, 0}))
        g->out_of_memory = 1;
}

static void arrive_parcel(struct stage *g, const struct espi_event *e)
{
    struct message *m = &g->message[e->id];
    double bytes = (double)g->s->call[e->id].bytes;
    switch (e->kind) {
    case REQUEST:
        m->is_requested = 1;
        answer_request(g, e->id);
        break;
    case ANSWER:
        queue_parcel(g, REST, e->id, fmax(bytes - g->play->protocol.first_bytes, 0));
        break;
    case LEAVES:
        leave_message(g, e->id);
        break;
    case TAKEN:
        take_message(g, e->id);
        break;
    default:
        m->has_arrived = 1;
        tell_transfer(g, e->id);
        end_receive(g, e->id);
    }
}

static void post_send(struct stage *g, int call)
{
    const struct espi_protocol *protocol = &g->play->protocol;
    g->message[call].start_s = g->now_s;
    if ((double)g->s->call[call].bytes <= protocol->eager_bytes)
        g->is_over[call] = 1;
    if (protocol->message_s > 0)
        take_in_hand(g, sender_of(g, call), LEAVES, call);
    else
        leave_message(g, call);
}

static void post_receive(struct stage *g, int call)
{
    int send = g->s->call[call].meets;
    struct message *m = &g->message[send];
    m->is_received = 1;
    if ((double)g->s->call[send].bytes > g->play->protocol.eager_bytes)
        answer_request(g, send);
    end_receive(g, send);
}

/* ---- ranks ---- */

static void go_on(struct stage *g, int rank)
{
    for (; g->at[rank] < g->s->start[rank + 1]; g->at[rank]++) {
        int call = g->at[rank];
        const struct espi_script_call *c = &g->s->call[call];
        if (c->kind == ESPI_ISEND)
            post_send(g, call);
        else if (c->kind == ESPI_IRECV)
            post_receive(g, call);
        else if (!g->is_over[c->meets])
            return;
    }
    if (!isfinite(g->play->end_s[rank]))
        g->play->end_s[rank] = fmax(g->now_s, g->free_s[rank]);
}

/* ---- time ---- */

/* Parcels leave together that do so but for rounding. */
static int is_leaving(const struct stage *g)
{
    if (g->leaving.size == 0)
        return 0;
    int lane = espi_heap_top(&g->leaving);
    double left_s = g->leaving.key[lane] - g->now_s;
    return left_s <= 0 ||
           left_s * g->lane[lane].rate_Bps <= 1e-9 * g->parcel[g->lane[lane].first].bytes;
}

static int is_arriving(const struct stage *g)
{
    return g->arrivals.size > 0 && g->arrivals.item[0].at_s <= g->now_s;
}

static void pass_moment(struct stage *g)
{
    while (g->n_awake > 0 || is_leaving(g) || is_arriving(g)) {
        while (is_leaving(g))
            end_parcel(g, espi_heap_top(&g->leaving));
        while (is_arriving(g)) {
            struct espi_event e = espi_events_pop(&g->arrivals);
            arrive_parcel(g, &e);
        }
        for (int i = 0; i < g->n_awake; i++) {
            g->is_awake[g->awake[i]] = 0;
            go_on(g, g->awake[i]);
        }
        g->n_awake = 0;
        if (g->out_of_memory)
            return;
    }
    set_lane_rates(g);
    g->play->events++;
}

static double next_moment(const struct stage *g)
{
    double at_s = g->arrivals.size > 0 ? g->arrivals.item[0].at_s : INFINITY;
    return g->leaving.size > 0 ? fmin(at_s, g->leaving.key[espi_heap_top(&g->leaving)])
                               : at_s;
}

/* Has every connection carried as many messages as are looked at, or all that it will? */
static int has_seen_enough(const struct stage *g)
{
    return g->is_cut && g->n_unseen == 0;
}

/* Of what goes over a connection, which part has arrived; what is on its way counts as
 * far as it has come. */
static double part_of_lane(const struct stage *g, int i)
{
    const struct lane *l = &g->lane[i];
    double on_way = 0;
    if (l->first >= 0 && g->parcel[l->first].bytes > 0)
        on_way = g->parcel[l->first].bytes - l->left_bytes +
                 l->rate_Bps * (g->now_s - l->since_s);
    return fmin(1, (l->arrived + on_way) / l->awaited);
}

/* The connection that is least far holds up the others; its rest goes as what it has seen
 * did. */
static void extrapolate(struct stage *g)
{
    double least = 1;
    for (int i = 0; i < g->c->n; i++)
        least = fmin(least, part_of_lane(g, i));
    for (int r = 0; r < g->s->n_ranks; r++)
        if (!isfinite(g->play->end_s[r]))
            g->play->end_s[r] = g->now_s / least;
}

/* ---- set-up ---- */

/* What each connection will carry. */
static void await_messages(struct stage *g)
{
    for (int k = 0; k < (int)g->s->n; k++)
        if (g->s->call[k].kind == ESPI_ISEND) {
            struct lane *l = &g->lane[g->c->of_call[k]];
            l->awaited += weight_of(&g->s->call[k]);
            g->is_cut |= g->play->rounds_most > 0 && l->unseen == g->play->rounds_most;
            l->unseen += l->unseen < g->play->rounds_most;
        }
    for (int i = 0; i < g->c->n; i++)
        g->n_unseen += g->lane[i].unseen > 0;
}

static int stage_init(struct stage *g, struct espi_arena *arena)
{
    int n = g->s->n_ranks, lanes = g->c->n, uses = g->c->use_start[lanes];
    g->at = ESPI_ARENA_NEW(arena, int, n);
    g->free_s = ESPI_ARENA_ZNEW(arena, double, n);
    g->awake = ESPI_ARENA_NEW(arena, int, n);
    g->is_awake = ESPI_ARENA_ZNEW(arena, unsigned char, n);
    g->is_over = ESPI_ARENA_ZNEW(arena, unsigned char, g->s->n);
    g->message = ESPI_ARENA_ZNEW(arena, struct message, g->s->n);
    g->lane = ESPI_ARENA_ZNEW(arena, struct lane, lanes);
    g->begun = ESPI_ARENA_NEW(arena, int, lanes);
    g->is_begun = ESPI_ARENA_ZNEW(arena, unsigned char, lanes);
    g->play->end_s = ESPI_ARENA_NEW(arena, double, n);
    g->play->busy_s = ESPI_ARENA_ZNEW(arena, double, g->c->links.n);
    if (!g->at || !g->free_s || !g->awake || !g->is_awake || !g->is_over || !g->message ||
        !g->lane || !g->begun || !g->is_begun || !g->play->end_s || !g->play->busy_s ||
        espi_heap_init(&g->leaving, arena, lanes) ||
        espi_fair_rates_init(&g->rates, lanes, g->c->links.n, g->c->use_start,
                             g->c->use_resource, arena))
        return -1;
    for (int k = 0; k < uses; k++)
        g->rates.part[k] = g->c->use_part[k];
    for (int i = 0; i < lanes; i++)
        g->lane[i].first = g->lane[i].last = -1;
    await_messages(g);
    for (int r = 0; r < n; r++) {
        g->at[r] = g->s->start[r];
        g->play->end_s[r] = INFINITY;
        wake_up(g, r);
    }
    return 0;
}

/* derived: of so many moments, each of some microseconds, one looks at the clock. */
enum { LOOK_EVERY = 1024 };

esp_status espi_play_script(struct espi_play *play, struct espi_arena *arena,
                            struct esp_err *err)
{
    struct stage g = {.play = play, .s = play->script, .c = &play->connections};
    esp_status st = espi_rank_connections_init(&play->connections, play->p, g.s,
                                               play->nodes, arena, err);
    if (st)
        return st;
    play->events = play->messages = 0;
    if (stage_init(&g, arena))
        return espi_err_nomem(err);
    double until_s = play->until_s > 0 ? play->until_s : INFINITY, at_s = 0;
    int ended = 0;
    for (; isfinite(at_s) && at_s <= until_s && !g.out_of_memory &&
           !has_seen_enough(&g) && !ended;
         at_s = next_moment(&g)) {
        g.now_s = at_s;
        pass_moment(&g);
        ended = play->events % LOOK_EVERY == 0 && espi_watch_is_over();
    }
    if (isfinite(at_s) && has_seen_enough(&g) && !g.out_of_memory)
        extrapolate(&g);
    espi_free(g.parcel);
    espi_free(g.arrivals.item);
    if (g.out_of_memory)
        return espi_err_nomem(err);
    if (ended)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the time was over before the simulation was: give it more "
                        "(--budget)");
    for (int r = 0; r < g.s->n_ranks && !isfinite(at_s); r++)
        if (!isfinite(play->end_s[r]))
            return espi_err(err, ESP_EINPUT, "rank %d waits for ever", r);
    return ESP_OK;
}
