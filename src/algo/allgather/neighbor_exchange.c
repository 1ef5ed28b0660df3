/* Neighbour exchange: pairs of neighbours exchange what they got last, now with the host
 * on one side, now on the other.
 *
 * Reference: J. Chen, L. Zhang, Y. Zhang, W. Yuan, Performance evaluation of allgather
 * algorithms on terascale Linux cluster with Fast Ethernet, 2005. After the first step
 * every message is of two parts: half as many steps as a ring. Hosts stand in the order
 * of their numbers, and there must be an even number of them.
 * Model: any. Guarantee: none. Complexity: O(n^2). */
#include "algo/exchange.h"

#include "base/err.h"

/* The pair of hosts (2 * pair and the next) whose parts `host` got in the step. */
static int pair_got(int host, int step, int n)
{
    int pairs = n / 2, pair = host / 2;
    int far = (step + 1) / 2;
    /* even hosts hear first from the left, odd ones from the right, then in turns */
    int left = (host % 2 == 0) == (step % 2 == 1);
    return left ? (pair - far + 2 * pairs) % pairs : (pair + far) % pairs;
}

static int peer_of(int host, int step, int n)
{
    int right = (host % 2 == 0) == (step % 2 == 0);
    return right ? (host + 1) % n : (host - 1 + n) % n;
}

static esp_status run_neighbor_exchange(const struct espi_task *task,
                                        struct esp_plan *plan, struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    if (st)
        return st;
    if (x.n % 2)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "neighbor-exchange is for an even number of hosts, not for %d",
                        x.n);
    for (int from = 0; from < x.n && !st; from++)
        st = espi_exchange_send(&x, 0, from, peer_of(from, 0, x.n), 1, &from, err);
    for (int from = 0; from < x.n && !st; from++)
        for (int step = 1; step < x.n / 2 && !st; step++) {
            int pair = step == 1 ? from / 2 : pair_got(from, step - 1, x.n);
            int pieces[2] = {2 * pair, 2 * pair + 1};
            st = espi_exchange_send(&x, step, from, peer_of(from, step, x.n), 2, pieces,
                                    err);
        }
    return st ? st : espi_exchange_plan(&x, plan, err);
}

const struct espi_algo espi_algo_neighbor_exchange = {
    .name = "neighbor-exchange",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Chen et al. 2005",
    .complexity = "O(n^2)",
    .summary = "pairs exchange what came last, now to the left, now to the right",
    .run = run_neighbor_exchange,
};
