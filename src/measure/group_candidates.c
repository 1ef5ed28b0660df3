/* Groups of areas of a site behind one uplink, such as racks in rows.
 *
 * With the limits of single areas, transfers from group to group are still slower than
 * predicted, those within a group are not. So areas are parted in two such that as many
 * slow transfers as possible go from the first to the second, and as few others: one
 * after the other changes sides as long as that helps. What goes there is a candidate,
 * and what comes back; the rounds decide, as they do of all others.
 *
 * Complexity: O(transfers + areas^3) a site. */
#include <string.h>

#include "measure/explain_impl.h"

/* The areas of a site, in two groups. */
struct parting {
    int first, n;        /* areas */
    int *score;          /* area * n + area: transfers that were slow, less others */
    unsigned char *side; /* area -> 0 or 1 */
};

static int count_areas(const struct espi_measured *net, int site)
{
    return net->first_subsite[site + 1] - net->first_subsite[site];
}

/* Cables between two areas are what a group's uplink looks like as long as nobody thinks
 * of it: without them its transfers are slow. */
static void put_cables_aside(struct espi_fitting *t, int aside)
{
    for (int c = 0; c < t->n_chosen; c++)
        if (t->chosen[c]->kind == ESPI_LIMIT_AREA_CABLE)
            t->chosen[c]->aside = aside;
    espi_fit_all(t);
}

static void count_slow(const struct espi_fitting *t, struct parting *p)
{
    memset(p->score, 0, (size_t)p->n * (size_t)p->n * sizeof *p->score);
    for (int i = 0; i < t->r->start[t->r->n]; i++) {
        int a = t->key[i] / t->n_areas - p->first, b = t->key[i] % t->n_areas - p->first;
        if (a == b || a < 0 || b < 0 || a >= p->n || b >= p->n)
            continue;
        p->score[a * p->n + b] += espi_flow_is_slow(t, i) ? ESPI_HELD_UP_COUNTS : -1;
    }
}

/* What would be won if the area changed sides, of what goes from the first to the
 * second. */
static int weigh_change(const struct parting *p, int area)
{
    int to_second = 0, from_first = 0;
    for (int b = 0; b < p->n; b++)
        if (b != area && p->side[b])
            to_second += p->score[area * p->n + b];
        else if (b != area)
            from_first += p->score[b * p->n + area];
    return p->side[area] ? to_second - from_first : from_first - to_second;
}

/* Gives how many areas are on the second side. */
static int part_areas(struct parting *p)
{
    int others = 0;
    memset(p->side, 0, (size_t)p->n);
    for (;;) {
        int best = -1, most = 0;
        for (int a = 0; a < p->n; a++) {
            int won = weigh_change(p, a);
            best = won > most ? a : best;
            most = won > most ? won : most;
        }
        if (best < 0)
            return others;
        p->side[best] = !p->side[best];
        others += p->side[best] ? 1 : -1;
    }
}

/* From the group of that side to the other one. `a`: the first area of the smaller group,
 * by which it has its name. Dearer than what has a name by the areas to be listed. */
static int add_group(struct espi_fitting *t, const struct parting *p, int side, int small,
                     int size)
{
    int a = 0;
    while (p->side[a] != small)
        a++;
    struct espi_limit *l = espi_new_candidate(
        t, side == small ? ESPI_LIMIT_GROUP_OUT : ESPI_LIMIT_GROUP_IN, p->first + a, -1);
    if (!l)
        return t->n_candidates == t->room ? 0 : -1;
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n; to++)
            l->pairs[(p->first + from) * t->n_areas + p->first + to] =
                p->side[from] == side && p->side[to] != side;
    l->price += size;
    return espi_complete_candidate(t);
}

/* Both directions; gives how many were added, -1 when out of memory. */
static int add_groups_of_site(struct espi_fitting *t, int site)
{
    int added = 0;
    size_t n = (size_t)count_areas(t->net, site);
    struct parting p = {.first = t->net->first_subsite[site], .n = (int)n};
    p.score = ESPI_ARENA_NEW(t->arena, int, n *n);
    p.side = ESPI_ARENA_NEW(t->arena, unsigned char, n);
    if (!p.score || !p.side)
        return -1;
    count_slow(t, &p);
    int others = part_areas(&p), size = others < p.n - others ? others : p.n - others;
    int small = 2 * others == p.n ? p.side[0] : 2 * others < p.n;
    for (int side = 0; side < 2 && size >= 2; side++) { /* one has its own */
        int more = add_group(t, &p, side, small, size);
        if (more < 0)
            return -1;
        added += more;
    }
    return added;
}

int espi_add_groups(struct espi_fitting *t)
{
    int added = 0;
    put_cables_aside(t, 1);
    for (int site = 0; site < t->net->n_sites; site++) {
        int more = count_areas(t->net, site) >= 4 ? add_groups_of_site(t, site) : 0;
        if (more < 0)
            return -1;
        added += more;
    }
    put_cables_aside(t, 0);
    return added;
}
