#include "algo/partners.h"

int espi_bit_partner(int place, int step, int places)
{
    return place ^ (places >> (step + 1));
}

int espi_swing_partner(int place, int step, int places)
{
    int distance = 0;
    for (int s = 0, term = 1; s <= step; s++, term *= -2)
        distance += term;
    int to = place % 2 ? place - distance : place + distance;
    return (to % places + places) % places;
}

int espi_power_of_two(int n)
{
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

void espi_grow_by_partners(espi_partner_fn partner, int root, int n,
                           struct espi_place_send *sends)
{
    int places = espi_power_of_two(n), at = 0, steps = 0;
    while (1 << steps < places)
        steps++;
    for (int step = steps - 1; step >= 0; step--)
        for (int i = 0, there = at; i <= there; i++) {
            int from = i == 0 ? root : sends[i - 1].to;
            sends[at++] = (struct espi_place_send){from, partner(from, step, places)};
        }
    for (int i = places; i < n; i++)
        sends[at++] = (struct espi_place_send){i - places, i};
}
