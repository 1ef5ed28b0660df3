/* Recursive doubling: in round r host i exchanges all it has with host i xor 2^r.
 *
 * The MPI libraries' algorithm for short messages and powers of two (R. Thakur, R.
 * Rabenseifner, W. Gropp, 2005). Model: any. Guarantee: log2 n steps.
 * Complexity: O(n log n) messages. */
#include "algo/allgather/doubling.h"

#include "base/err.h"

/* Sends among the places below `half` (a power of two) what those of their groups have;
 * place i + half stands for its part with place i. */
static esp_status exchange(struct espi_exchange *x, const int *order, int half,
                           int *pieces, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int bit = 1, step = 1; bit < half; bit *= 2, step++)
        for (int i = 0; i < half && !st; i++) {
            int count = 0, first = i / bit * bit;
            for (int k = first; k < first + bit; k++) {
                pieces[count++] = order[k];
                if (k + half < x->n)
                    pieces[count++] = order[k + half];
            }
            st =
                espi_exchange_send(x, step, order[i], order[i ^ bit], count, pieces, err);
        }
    return st;
}

esp_status espi_double(struct espi_exchange *x, const int *order, struct esp_err *err)
{
    int half = 1, last = 1;
    int *pieces = ESPI_ARENA_NEW(x->task->arena, int, x->n);
    if (!pieces)
        return espi_err_nomem(err);
    while (half <= x->n / 2) {
        half *= 2;
        last++;
    }
    esp_status st = ESP_OK;
    for (int i = half; i < x->n && !st; i++)
        st = espi_exchange_send(x, 0, order[i], order[i - half], 1, &order[i], err);
    if (!st)
        st = exchange(x, order, half, pieces, err);
    for (int i = half; i < x->n && !st; i++) {
        int count = 0;
        for (int k = 0; k < x->n; k++)
            if (k != i)
                pieces[count++] = order[k];
        st = espi_exchange_send(x, last, order[i - half], order[i], count, pieces, err);
    }
    return st;
}

static esp_status run_recursive_doubling(const struct espi_task *task,
                                         struct esp_plan *plan, struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    if (st)
        return st;
    if (x.n & (x.n - 1))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "recursive-doubling is for a power of two of hosts, not for %d; "
                        "combining folds the others in",
                        x.n);
    int *order = ESPI_ARENA_NEW(task->arena, int, x.n);
    if (!order)
        return espi_err_nomem(err);
    for (int i = 0; i < x.n; i++)
        order[i] = i;
    st = espi_double(&x, order, err);
    return st ? st : espi_exchange_plan(&x, plan, err);
}

const struct espi_algo espi_algo_recursive_doubling = {
    .name = "recursive-doubling",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Thakur, Rabenseifner, Gropp 2005",
    .complexity = "O(n log n)",
    .summary = "all a host has, exchanged with the host 1, 2, 4, ... away",
    .run = run_recursive_doubling,
};
