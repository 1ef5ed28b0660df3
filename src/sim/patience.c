/* Races with patience: as fast as the first tree while it keeps its promise.
 *
 * In a plain race every second sender costs the receiver a comparison, also when nothing
 * is wrong. Here nobody pauses. A receiver that is idle takes whoever comes; one that
 * receives changes its sender when it expects the new one to be done earlier, where
 *   - of the new one it expects what was measured before (or what it took, if it was
 *     left before);
 *   - of the old one it expects the same, until the transfer takes longer than `patience`
 *     times that; then it goes by how fast the message comes in.
 * Senders of further trees must promise to be faster by a margin, because the promises
 * that look best are the wrong ones most often. A sender that is not taken goes on and
 * waits to be called: a receiver that is late calls, of those that wait for it and have
 * nothing to do, the one of which it expects most, and a sender with nothing to do looks
 * for receivers that would take it.
 *
 * When the measurements are right a second sender is taken only where it does no harm:
 * the first tree's sender takes its place when its time comes. A sender that was left is
 * known, so that a receiver changes its mind only a few times. */
#include <math.h>

#include "sim/race.h"
#include "sim/tuning.h"

void espi_patience_start(struct espi_race *r)
{
    for (int i = 0; i < r->n_sends; i++)
        r->expected_s[i] = r->sends[i].believed_s;
}

static double late_from_s(const struct espi_race *r, int host)
{
    return r->started_s[host] + r->rules.patience * r->expected_s[r->from[host]];
}

/* The receiver will look around for others when it is late, or at once when it is left
 * alone. */
void espi_patience_watch(struct espi_race *r, int host, double now_s)
{
    double at_s = r->state[host] == ESPI_RACE_RECEIVING ? late_from_s(r, host) : now_s;
    espi_heap_set(&r->events, 2 * r->n + host, fmax(now_s, at_s));
}

/* What the receiver expects its sender still to need. */
static double rest_s(const struct espi_race *r, int host, double now_s)
{
    if (now_s < late_from_s(r, host))
        return fmax(0, r->started_s[host] + r->expected_s[r->from[host]] - now_s);
    return espi_race_silence_s(r, host) <= now_s ? INFINITY : r->finish_s[host] - now_s;
}

static int is_welcome(const struct espi_race *r, int send, double now_s)
{
    const struct espi_send *s = &r->sends[send];
    if (r->state[s->to] != ESPI_RACE_RECEIVING)
        return r->state[s->to] == ESPI_RACE_IDLE;
    return r->expected_s[send] * (s->tree ? ESPI_RACE_MARGIN : 1) <
           rest_s(r, s->to, now_s);
}

/* A sender turns to a receiver, or waits to be called. */
int espi_patience_offer(struct espi_race *r, int send, double now_s)
{
    int to = r->sends[send].to;
    r->parked[send] = !is_welcome(r, send, now_s);
    if (r->parked[send])
        return 0;
    if (r->state[to] == ESPI_RACE_RECEIVING) {
        int old = r->from[to];
        r->parked[old] = 1;
        r->expected_s[old] = r->sends[old].real_s;
    }
    espi_race_take_over(r, send, now_s);
    return 1;
}

/* Does its sender wait to be called, with nothing else to do? */
static int waits(const struct espi_race *r, int send, double now_s)
{
    int from = r->sends[send].from;
    return r->parked[send] && r->state[from] == ESPI_RACE_DONE && r->serving[from] < 0 &&
           r->next[from] == r->out_start[from + 1] &&
           !espi_heap_has(&r->events, r->n + from) &&
           !(r->rules.stop_s && r->rules.stop_s[from] <= now_s);
}

/* Makes the best of a row of sends that its receiver would take now. */
static void make_best(struct espi_race *r, const int *row, int count, double now_s)
{
    int best = -1;
    for (int k = 0; k < count; k++)
        if (waits(r, row[k], now_s) && is_welcome(r, row[k], now_s) &&
            (best < 0 || r->expected_s[row[k]] < r->expected_s[best]))
            best = row[k];
    if (best >= 0)
        espi_race_attempt(r, best, now_s);
}

void espi_patience_call(struct espi_race *r, int host, double now_s)
{
    int first = r->in_start[host];
    make_best(r, r->in + first, r->in_start[host + 1] - first, now_s);
}

void espi_patience_help(struct espi_race *r, int sender, double now_s)
{
    int first = r->out_start[sender];
    make_best(r, r->out + first, r->out_start[sender + 1] - first, now_s);
}
