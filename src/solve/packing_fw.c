/* A good mix of trees and good prices, fast: Frank-Wolfe on the soft maximum of loads.
 *
 * Reference: S. Plotkin, D. Shmoys, E. Tardos, Fast approximation algorithms for
 * fractional packing and covering problems, 1995; N. Young, 2001; M. Frank, P. Wolfe,
 * 1956. The prices are the gradient of log(sum of exp(eta * load)) at the mix; the
 * cheapest tree at these prices enters with the share that a line search gives it. The
 * sharpness eta grows as the gap closes.
 * Guarantee: bounds on both sides at every round. Complexity: a cheapest tree and
 * O(n_res) a round. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "base/softmax_price.h"
#include "solve/packing_impl.h"
#include "solve/tuning.h"

/* Keeps the trees with the largest shares. */
static void prune(struct espi_pk *k, double floor_share)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->n_trees; i++) {
        struct espi_pk_tree *t = k->tree[i];
        if (t->x > floor_share)
            k->tree[kept++] = t;
        else
            espi_pk_give_back(k, t);
    }
    k->n_trees = kept;
}

static esp_status enter_tree(struct espi_pk *k, double share, const double *tree_load,
                             struct esp_err *err)
{
    size_t at;
    int fresh;
    if (espi_pk_keep(k, &at, &fresh))
        return espi_err_nomem(err);
    for (size_t i = 0; i < k->n_trees; i++)
        k->tree[i]->x *= 1 - share;
    k->tree[at]->x += share;
    for (int r = 0; r < k->pr.n_res; r++)
        k->load[r] += share * (tree_load[r] - k->load[r]);
    return ESP_OK;
}

static esp_status first_tree(struct espi_pk *k, struct esp_err *err)
{
    for (int r = 0; r < k->pr.n_res; r++)
        k->work[r] = 1.0 / k->pr.n_res;
    if (isnan(espi_pk_price(k, k->work)))
        return espi_err(err, ESP_EINPUT, "some hosts cannot be reached from the root");
    espi_pricer_loads(&k->pr, k->work2);
    esp_status st = enter_tree(k, 1, k->work2, err);
    k->upper_s = espi_softmax_largest(k->load, k->pr.n_res);
    return st;
}

esp_status espi_pk_warm_up(struct espi_pk *k, int max_rounds, struct esp_err *err)
{
    int n_res = k->pr.n_res;
    double *scratch = ESPI_NEW(double, 2 * (size_t)n_res);
    if (!scratch)
        return espi_err_nomem(err);
    esp_status st = k->n_trees ? ESP_OK : first_tree(k, err);
    double scale = 2 * espi_log(n_res + 2.0);
    for (int round = 0; !st && round < max_rounds; round++) {
        double gap = 1 - k->lower_s / k->upper_s;
        double eta = scale / fmax(gap, 1e-6);
        espi_softmax_prices(k->load, n_res, eta, k->work);
        espi_pk_price(k, k->work);
        if (espi_pk_closed(k) || espi_pk_out_of_time(k))
            break;
        espi_pricer_loads(&k->pr, k->work2);
        st = enter_tree(k, espi_softmax_share(k->load, k->work2, n_res, eta, scratch),
                        k->work2, err);
        k->upper_s = espi_softmax_largest(k->load, n_res);
        k->rounds++;
        if (k->n_trees > 2 * ESPI_WARM_UP_TREES) {
            prune(k, ESPI_WARM_UP_SHARE);
            espi_pk_measure(k);
        }
    }
    if (!st)
        espi_pk_measure(k);
    espi_free(scratch);
    return st;
}
