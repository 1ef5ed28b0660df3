/* Trees that grow in steps: in each of them whoever has the data sends them to a partner.
 */
#ifndef ESPI_ALGO_PARTNERS_H
#define ESPI_ALGO_PARTNERS_H

struct espi_place_send {
    int from, to; /* places */
};

/* The partner of a place in a step, among a power of two of places; they are each
 * other's. */
typedef int (*espi_partner_fn)(int place, int step, int places);

/* Places that differ in one bit: in step 0 the highest. */
int espi_bit_partner(int place, int step, int places);

/* 1 - 2 + 4 - ... places (step + 1 terms) to the right of an even place, to the left of
 * an odd one. */
int espi_swing_partner(int place, int step, int places);

/* The largest power of two that is not larger. */
int espi_power_of_two(int n);

/* Writes the n - 1 sends of the tree of all n places from one, which is below
 * espi_power_of_two(n): from the last step to the first, and then to each place that is
 * too many for a power of two from the one so many before. */
void espi_grow_by_partners(espi_partner_fn partner, int root, int n,
                           struct espi_place_send *sends);

#endif
