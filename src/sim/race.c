/* The rules of a race.
 *
 * A host that has the message sends it to its children in the first tree, in order, then
 * to those in the next, one at a time. What happens when i turns to j at time t:
 *   j has the message        i goes on to its next child at once
 *   j is idle                the transfer starts
 *   j receives from a        j compares the two for alpha, in which all three do nothing
 *                            else; the winner ends at t + alpha + what it still needs,
 *                            the loser goes on to its next child at t + alpha
 * Policy finish: the new sender wins when it would be done before the old one, after
 * sending all of the message (restart) or what is left of it (resume); policy speed: when
 * its link is the faster one. At equal times completions come first, then the senders by
 * number. A third sender waits for the end of a comparison.
 *
 * Faults: a host that stops falls silent; so does a link that goes down. A receiver drops
 * a sender, and a sender gives up a receiver, after a silence of `timeout` times what it
 * believed the transfer to take. The receiver is then idle again; a sender that lost a
 * comparison before is not called back. Before the silence nobody knows of it, so that a
 * comparison counts on senders that will stop.
 *
 * Reference: K. Cha, D. Han, C. Yu, O. Byeon, Two-tree collective communication in
 * distributed heterogeneous systems, 2002; faults are not in the paper. One port a host,
 * whatever the model of the platform: a sender serves one receiver at a time. */
#include "sim/race.h"

#include <math.h>
#include <string.h>

enum { SKIPPED, TAKEN, WAITS }; /* what becomes of an attempt */

int espi_race_init(struct espi_race *r, int n, int n_sends, struct espi_arena *a)
{
    memset(r, 0, sizeof *r);
    r->out_start = ESPI_ARENA_NEW(a, int, n + 2);
    r->in_start = ESPI_ARENA_NEW(a, int, n + 2);
    r->out = ESPI_ARENA_NEW(a, int, n_sends);
    r->in = ESPI_ARENA_NEW(a, int, n_sends);
    r->next = ESPI_ARENA_NEW(a, int, n);
    r->serving = ESPI_ARENA_NEW(a, int, n);
    r->from = ESPI_ARENA_NEW(a, int, n);
    r->state = ESPI_ARENA_NEW(a, unsigned char, n);
    r->parked = ESPI_ARENA_NEW(a, unsigned char, n_sends);
    r->expected_s = ESPI_ARENA_NEW(a, double, n_sends);
    double **arrays[] = {&r->busy_until_s, &r->started_s,   &r->finish_s, &r->silent_s,
                         &r->paused_s,     &r->delivered_s, NULL};
    for (int i = 0; arrays[i]; i++)
        if (!(*arrays[i] = ESPI_ARENA_NEW(a, double, n)))
            return -1;
    if (!r->out_start || !r->in_start || !r->out || !r->in || !r->next || !r->serving ||
        !r->from || !r->state || !r->parked || !r->expected_s)
        return -1;
    return espi_heap_init(&r->events, a, 3 * n);
}

static double stop_s(const struct espi_race *r, int host)
{
    return r->rules.stop_s ? r->rules.stop_s[host] : INFINITY;
}

static double timeout_s(const struct espi_race *r, int send)
{
    return r->rules.timeout * r->sends[send].believed_s;
}

static void wake_host(struct espi_race *r, int host, double at_s)
{
    r->busy_until_s[host] = fmax(r->busy_until_s[host], at_s);
    espi_heap_set(&r->events, r->n + host, at_s);
}

/* ---- transfers ---- */

double espi_race_silence_s(const struct espi_race *r, int host)
{
    return fmin(r->silent_s[host], stop_s(r, r->sends[r->from[host]].from));
}

/* When the transfer to the host is over, or given up. */
static void plan_end(struct espi_race *r, int host)
{
    double silent = fmin(espi_race_silence_s(r, host), stop_s(r, host));
    double end = r->finish_s[host];
    if (silent < end)
        end = fmax(silent, r->started_s[host]) + timeout_s(r, r->from[host]);
    espi_heap_set(&r->events, host, end);
    if (r->rules.patience > 0)
        espi_patience_watch(r, host, r->started_s[host]);
}

static void connect(struct espi_race *r, int send, double start_s, double finish_s,
                    double silent_s)
{
    int to = r->sends[send].to;
    r->state[to] = ESPI_RACE_RECEIVING;
    r->from[to] = send;
    r->serving[r->sends[send].from] = send;
    r->started_s[to] = start_s;
    r->finish_s[to] = finish_s;
    r->silent_s[to] = silent_s;
    plan_end(r, to);
}

static void tell_send(struct espi_race *r, int send, double start_s, double end_s,
                      int lost)
{
    r->n_transfers++;
    if (r->rules.on_transfer)
        r->rules.on_transfer(r->rules.on_transfer_arg, send, start_s, end_s, lost);
}

/* The transfer to the host ends without success; its sender is free at free_s. */
static void disconnect(struct espi_race *r, int host, double now_s, double free_s)
{
    int send = r->from[host], from = r->sends[send].from;
    tell_send(r, send, r->started_s[host], now_s, 1);
    r->serving[from] = -1;
    r->from[host] = -1;
    r->state[host] = ESPI_RACE_IDLE;
    wake_host(r, from, free_s);
}

static double finish_of(const struct espi_race *r, int send, double now_s,
                        double *silent_s)
{
    *silent_s = INFINITY;
    if (r->rules.arrival)
        return r->rules.arrival(r->rules.arg, send, now_s, silent_s);
    return now_s + r->sends[send].real_s;
}

/* What the sender still needs, as far as the receiver can tell. */
static double rest_s(const struct espi_race *r, int host, double now_s)
{
    if (espi_race_silence_s(r, host) <= now_s)
        return INFINITY;
    return isfinite(r->finish_s[host])
               ? r->finish_s[host] - now_s
               : r->started_s[host] + r->sends[r->from[host]].real_s - now_s;
}

/* What a new sender would need: everything, or what is left. */
static double candidate_s(const struct espi_race *r, int send, double now_s)
{
    int to = r->sends[send].to;
    const struct espi_send *old = &r->sends[r->from[to]];
    double real_s = r->sends[send].real_s;
    if (!r->rules.resume)
        return real_s;
    double known_s = fmin(now_s, espi_race_silence_s(r, to));
    double end_s =
        isfinite(r->finish_s[to]) ? r->finish_s[to] : r->started_s[to] + old->real_s;
    return real_s * fmin(1, fmax(0, (end_s - known_s) / old->real_s));
}

static void compare_senders(struct espi_race *r, int send, double now_s, double silent_s)
{
    const struct espi_send *s = &r->sends[send];
    int to = s->to;
    double until_s = now_s + r->rules.alpha_s, rest = rest_s(r, to, now_s);
    double candidate = candidate_s(r, send, now_s);
    int faster = r->rules.policy == ESP_RACE_SPEED
                     ? s->real_s < r->sends[r->from[to]].real_s || !isfinite(rest)
                     : candidate < rest;
    r->n_pauses++;
    r->paused_s[to] = until_s;
    if (faster) {
        r->n_switches++;
        disconnect(r, to, now_s, until_s);
        connect(r, send, now_s, until_s + candidate, silent_s);
        return;
    }
    wake_host(r, s->from, until_s);
    if (isfinite(r->finish_s[to]))
        r->finish_s[to] = until_s + rest;
    plan_end(r, to);
}

void espi_race_take_over(struct espi_race *r, int send, double now_s)
{
    int to = r->sends[send].to;
    double silent_s, finish_s = finish_of(r, send, now_s, &silent_s);
    if (r->state[to] == ESPI_RACE_RECEIVING) {
        r->n_switches++;
        disconnect(r, to, now_s, now_s);
    }
    connect(r, send, now_s, finish_s, silent_s);
}

/* The sender turns to the receiver; on TAKEN it is woken when it is free again. */
static int attempt_send(struct espi_race *r, int send, double now_s)
{
    const struct espi_send *s = &r->sends[send];
    double silent_s;
    if (stop_s(r, s->to) > now_s && r->state[s->to] == ESPI_RACE_DONE)
        return SKIPPED;
    double finish_s = finish_of(r, send, now_s, &silent_s);
    if (stop_s(r, s->to) <= now_s || silent_s <= now_s) { /* nobody answers */
        r->parked[send] = 0;
        tell_send(r, send, now_s, now_s + timeout_s(r, send), 1);
        wake_host(r, s->from, now_s + timeout_s(r, send));
        return TAKEN;
    }
    if (r->rules.patience > 0)
        return espi_patience_offer(r, send, now_s) ? TAKEN : SKIPPED;
    if (r->state[s->to] == ESPI_RACE_IDLE) {
        connect(r, send, now_s, finish_s, silent_s);
    } else if (now_s < r->paused_s[s->to]) {
        wake_host(r, s->from, r->paused_s[s->to]);
        return WAITS;
    } else {
        compare_senders(r, send, now_s, silent_s);
    }
    return TAKEN;
}

int espi_race_attempt(struct espi_race *r, int send, double now_s)
{
    return attempt_send(r, send, now_s) == TAKEN;
}

/* ---- events ---- */

static void complete_host(struct espi_race *r, int host, double now_s)
{
    int send = r->from[host], from = r->sends[send].from;
    tell_send(r, send, r->started_s[host], now_s, 0);
    r->state[host] = ESPI_RACE_DONE;
    r->delivered_s[host] = now_s;
    r->serving[from] = -1;
    wake_host(r, from, now_s);
    wake_host(r, host, now_s);
}

static void end_transfer(struct espi_race *r, int host, double now_s)
{
    if (r->state[host] != ESPI_RACE_RECEIVING)
        return;
    if (now_s == r->finish_s[host] &&
        fmin(espi_race_silence_s(r, host), stop_s(r, host)) >= now_s) {
        complete_host(r, host, now_s);
        return;
    }
    disconnect(r, host, now_s, now_s);
    if (r->rules.patience > 0)
        espi_patience_watch(r, host, now_s);
}

static void go_on(struct espi_race *r, int host, double now_s)
{
    if (stop_s(r, host) <= now_s || r->serving[host] >= 0)
        return;
    while (r->next[host] < r->out_start[host + 1]) {
        int what = attempt_send(r, r->out[r->next[host]], now_s);
        r->next[host] += what != WAITS;
        if (what != SKIPPED)
            return;
    }
    if (r->rules.patience > 0)
        espi_patience_help(r, host, now_s);
}

/* ---- a race ---- */

/* Lists the sends by one of their ends; rows start at start[host]. */
static void list_sends(const struct espi_race *r, int by_sender, int *start, int *list)
{
    memset(start, 0, ((size_t)r->n + 2) * sizeof *start);
    for (int i = 0; i < r->n_sends; i++)
        start[(by_sender ? r->sends[i].from : r->sends[i].to) + 2]++;
    for (int h = 0; h < r->n; h++)
        start[h + 2] += start[h + 1];
    for (int i = 0; i < r->n_sends; i++)
        list[start[(by_sender ? r->sends[i].from : r->sends[i].to) + 1]++] = i;
}

static void reset(struct espi_race *r)
{
    list_sends(r, 1, r->out_start, r->out);
    list_sends(r, 0, r->in_start, r->in);
    espi_heap_clear(&r->events);
    memset(r->state, ESPI_RACE_IDLE, (size_t)r->n);
    memset(r->parked, 0, (size_t)r->n_sends);
    for (int h = 0; h < r->n; h++) {
        r->next[h] = r->out_start[h];
        r->serving[h] = r->from[h] = -1;
        r->busy_until_s[h] = r->paused_s[h] = 0;
        r->delivered_s[h] = INFINITY;
    }
    r->n_events = r->n_transfers = r->n_pauses = r->n_switches = 0;
    r->state[r->root] = ESPI_RACE_DONE;
    r->delivered_s[r->root] = 0;
}

void espi_race_run(struct espi_race *r, int n, int root, const struct espi_send *sends,
                   int n_sends, const struct espi_race_rules *rules)
{
    r->n = n;
    r->root = root;
    r->sends = sends;
    r->n_sends = n_sends;
    r->rules = *rules;
    reset(r);
    if (rules->patience > 0)
        espi_patience_start(r);
    wake_host(r, root, 0);
    while (r->events.size > 0) {
        int item = espi_heap_top(&r->events);
        double now_s = r->events.key[item];
        espi_heap_pop(&r->events);
        r->n_events++;
        if (item < n)
            end_transfer(r, item, now_s);
        else if (item < 2 * n)
            go_on(r, item - n, now_s);
        else
            espi_patience_call(r, item - 2 * n, now_s);
    }
}

double espi_race_makespan_s(const struct espi_race *r)
{
    double last_s = 0;
    for (int h = 0; h < r->n; h++)
        if (isfinite(r->delivered_s[h]))
            last_s = fmax(last_s, r->delivered_s[h]);
    return last_s;
}

int espi_race_covered(const struct espi_race *r)
{
    int covered = 0;
    for (int h = 0; h < r->n; h++)
        covered += !isfinite(stop_s(r, h)) && isfinite(r->delivered_s[h]);
    return covered;
}
