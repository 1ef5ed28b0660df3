/* The rates of the limits that were chosen. */
#include <stdlib.h>

#include "measure/explain_impl.h"

static int compare_rates(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* What a limit carried in rounds in which it was the reason why transfers were no faster,
 * as far as the prediction says; gives how many values there are. */
static int list_carried(struct espi_fitting *t, const struct espi_limit *l)
{
    int n = 0;
    for (int k = 0; k < t->r->n; k++) {
        double sum = 0, predicted = 0;
        for (int i = t->r->start[k]; i < t->r->start[k + 1]; i++)
            if (l->pairs[t->key[i]]) {
                sum += t->r->flows[i].Bps;
                predicted += t->predicted[i];
            }
        if (sum > 0 && predicted > l->Bps * (1 - 1e-6))
            t->values[n++] = sum;
    }
    return n;
}

/* The same of one that each transfer has for itself. */
static int list_carried_singly(struct espi_fitting *t, const struct espi_limit *l)
{
    int n = 0;
    for (int i = 0; i < t->r->start[t->r->n]; i++)
        if (l->pairs[t->key[i]] &&
            t->predicted[i] > espi_limit_single_Bps(t, l, i) * (1 - 1e-6))
            t->values[n++] =
                t->r->flows[i].Bps * (l->kind == ESPI_LIMIT_TURN ? t->turn_s[i] : 1);
    return n;
}

/* The middle of that: a machine that stood still lets less through, and then what has
 * piled up, more. */
void espi_fit_rates(struct espi_fitting *t)
{
    for (int c = 0; c < t->n_chosen; c++) {
        struct espi_limit *l = t->chosen[c];
        int n = espi_limit_is_single(l) ? list_carried_singly(t, l) : list_carried(t, l);
        if (n >= 3) {
            qsort(t->values, (size_t)n, sizeof *t->values, compare_rates);
            l->Bps = t->values[n / 2];
        }
    }
    espi_fit_all(t);
}
