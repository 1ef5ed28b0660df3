/* digits: parts travel by the digits of how far they have to go. In the round of a digit
 * every host sends all it has whose way has that digit there, as one message, so far.
 *
 * Reference: J. Bruck et al., Efficient algorithms for all-to-all communications in
 * multiport message-passing systems, 1997 (the index operation). Hosts stand in the order
 * of their numbers. Model: any. Guarantee: with radix r, (r - 1) ceil(log_r n) messages a
 * host, and each part travels at most ceil(log_r n) times: radix 2 sends the fewest
 * messages, radix n is pairwise. Complexity: O(n^2 log n). */
#include "algo/exchange.h"
#include "base/err.h"
#include "plan/ops.h"

enum { OPTION_RADIX };

struct digits {
    struct espi_exchange x;
    int radix;
    int *pieces;
};

/* All that is at the host now and whose way, of place * radix at most by now, has this
 * digit there. */
static int gather_pieces(const struct digits *d, int host, int place, int digit)
{
    int n = d->x.n, count = 0;
    for (int way = 1; way < n; way++) {
        if (way / place % d->radix != digit)
            continue;
        int from = (host - way % place + n) % n;
        d->pieces[count++] = from * n + (from + way) % n;
    }
    return count;
}

static esp_status send_digit(struct digits *d, int step, int place, int digit,
                             struct esp_err *err)
{
    int n = d->x.n;
    esp_status st = ESP_OK;
    for (int host = 0; host < n && !st; host++) {
        int count = gather_pieces(d, host, place, digit);
        st = espi_exchange_send(&d->x, step, host, (host + digit * place) % n, count,
                                d->pieces, err);
    }
    return st;
}

static esp_status run_digits(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct digits d = {.radix = (int)task->option[OPTION_RADIX]};
    int step = 0;
    esp_status st = espi_exchange_init(&d.x, task, err);
    d.pieces = ESPI_ARENA_NEW(task->arena, int, d.x.n);
    if (!st && !d.pieces)
        st = espi_err_nomem(err);
    for (int place = 1; place < d.x.n && !st; place *= d.radix)
        for (int digit = 1; digit < d.radix && digit * place < d.x.n && !st; digit++)
            st = send_digit(&d, step++, place, digit, err);
    return st ? st : espi_exchange_plan(&d.x, plan, err);
}

static const struct espi_algo_option options[] = {
    {.name = "radix",
     .standard = 2,
     .min = 2,
     .max = ESPI_PAIRS_HOSTS,
     .meaning = "of the digits: larger, more messages, which travel less far"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED, .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_RADIX, 3}}, .n_set = 1},
    {.use = ESPI_USE_QUICK | ESPI_USE_WEIGHED,
     .set = {{OPTION_RADIX, 4}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_RADIX, 8}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_digits = {
    .name = "digits",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "Bruck et al. 1997",
    .complexity = "O(n^2 log n)",
    .summary = "what has the same digit of its way to go travels together",
    .options = options,
    .uses = uses,
    .run = run_digits,
};
