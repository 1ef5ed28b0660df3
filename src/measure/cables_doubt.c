/* What is in doubt about cables between sites.
 *
 * Cables that share something are held up each time they are tried together, a machine
 * that stood still was so once. So what holds up several cables must show in some rounds,
 * of which those of the same transfers that got less do not count (trial_rounds.c): in
 * rounds over these cables, or over others that got as much together. And what a cable
 * carries at the best must have been seen twice. */
#include <math.h>

#include "measure/cables_impl.h"

static int is_alone(const struct espi_cabling *c, const struct espi_crossing *x)
{
    const int *start = &c->net->rounds.start[x->round];
    return start[1] - start[0] == 1;
}

/* How many rounds bear out that these cables share something: these, and those over other
 * cables that say the same. */
static int count_accusing(const struct espi_cabling *c, const struct espi_suspect *s)
{
    int accusing = s->accusing;
    for (int k = 0; k < c->n_suspects; k++)
        if (&c->suspects[k] != s && s->Bps > 0 &&
            fmin(s->Bps, c->suspects[k].Bps) >=
                ESPI_BORNE_OUT * fmax(s->Bps, c->suspects[k].Bps))
            accusing += c->suspects[k].accusing;
    return accusing;
}

static int all_ran_alone(const struct espi_cabling *c, const struct espi_suspect *s,
                         const unsigned char *alone)
{
    int round = s->about->round;
    for (int k = c->start[round]; k < c->start[round + 1]; k++)
        if (!alone[c->crossings[k].key])
            return 0;
    return 1;
}

/* Is it sure that there is something in the middle? Enough rounds say the same, or most
 * of those over the most cables say anything. */
static int is_sure(const struct espi_cabling *c)
{
    int most = 0, of_most = 0, accusing = 0;
    for (int i = 0; i < c->n_about; i++)
        most = c->about[i].cables > most ? c->about[i].cables : most;
    for (int i = 0; i < c->n_about; i++)
        of_most += c->about[i].cables == most;
    for (int i = 0; i < c->n_suspects; i++) {
        const struct espi_suspect *s = &c->suspects[i];
        accusing += s->about->cables == most ? s->accusing : 0;
        if (count_accusing(c, s) >= ESPI_ROUNDS_ENOUGH)
            return 1;
    }
    return accusing >= ESPI_ROUNDS_ENOUGH && 2 * accusing > of_most;
}

/* Cables that were held up in few rounds: perhaps it was something else that disturbed
 * those. Once it is sure that there is something in the middle, others can wait until
 * their cables have been tried alone. */
static void doubt_few(struct espi_cabling *c, const unsigned char *alone)
{
    int sure = is_sure(c);
    for (int i = 0; i < c->n_suspects; i++) {
        const struct espi_suspect *s = &c->suspects[i];
        if (count_accusing(c, s) >= ESPI_ROUNDS_ENOUGH ||
            (sure && !all_ran_alone(c, s, alone)))
            continue;
        for (int k = 0; k < s->n; k++)
            espi_trial_rounds_doubt(&c->net->rounds, s->about[k].round);
    }
}

/* What a cable carried at the best should not be the only value of its kind. While cables
 * are in each other's way, that shows only when one is alone; and it has to be known
 * before what they share. Gives the number of doubts. */
static int doubt_best(struct espi_cabling *c)
{
    int n = c->start[c->net->rounds.n], doubts = 0;
    for (int i = 0, end; i < n; i = end) {
        double second = 0;
        int best = -1;
        for (end = i; end < n && c->sorted[end].key == c->sorted[i].key; end++)
            if (!c->net->crossed || is_alone(c, &c->sorted[end])) {
                second = best < 0 ? 0 : c->sorted[best].sum;
                best = end;
            }
        if (best >= 0 && second < ESPI_BORNE_OUT * c->sorted[best].sum)
            doubts += espi_trial_rounds_doubt(&c->net->rounds, c->sorted[best].round);
    }
    return doubts;
}

int espi_cables_doubt(struct espi_cabling *c)
{
    size_t keys = (size_t)c->net->n_sites * (size_t)c->net->n_sites;
    unsigned char *alone = ESPI_ARENA_ZNEW(c->arena, unsigned char, keys);
    if (!alone)
        return -1;
    for (int i = 0; i < c->start[c->net->rounds.n]; i++)
        alone[c->sorted[i].key] |= is_alone(c, &c->sorted[i]);
    if (doubt_best(c) == 0 || !c->net->crossed)
        doubt_few(c, alone);
    return 0;
}
