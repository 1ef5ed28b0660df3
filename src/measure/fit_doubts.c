/* Which rounds should be run again. */
#include <math.h>

#include "measure/explain_impl.h"

/* The round that a limit rests on, where few rounds bear it out and none of them came
 * again; or -1. */
static int find_lone_support(struct espi_fitting *t, struct espi_limit *l)
{
    int rounds = 0, which = -1;
    double most = 0;
    l->aside = 1;
    for (int k = 0; k < t->r->n && rounds < ESPI_ROUNDS_ENOUGH; k++) {
        if (!espi_limit_has_transfers(t, l, k))
            continue;
        espi_fit_round(t, k, NULL, t->trial_rate);
        double pays = espi_fit_loss(t, k, t->trial_rate) - t->loss[k];
        if (pays > ESPI_ROUND_PAYS_MOST / 4)
            rounds += t->r->kept[k] > 1 ? ESPI_ROUNDS_ENOUGH : 1;
        which = pays > most ? k : which;
        most = fmax(most, pays);
    }
    l->aside = 0;
    return rounds < ESPI_ROUNDS_ENOUGH ? which : -1;
}

/* Rounds that the network does not explain are to be run again, and those that a limit
 * rests on: two that were disturbed look like one. */
void espi_mark_doubts(struct espi_fitting *t)
{
    struct espi_trial_rounds *r = &t->net->rounds;
    for (int k = 0; k < r->n; k++)
        for (int i = r->start[k]; i < r->start[k + 1]; i++)
            if (espi_flow_is_slow(t, i)) {
                espi_trial_rounds_doubt(r, k);
                break;
            }
    for (int c = 0; c < t->n_chosen; c++) {
        int round = find_lone_support(t, t->chosen[c]);
        if (round >= 0)
            espi_trial_rounds_doubt(r, round);
    }
}
