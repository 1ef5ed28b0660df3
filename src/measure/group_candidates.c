/* Groups of areas of a site behind one uplink, such as racks in rows.
 *
 * With the limits of single areas, transfers from group to group are still slower than
 * predicted, those within a group are not. So areas are parted in two such that as many
 * slow transfers as possible go from the first to the second, and as few others: one
 * after the other changes sides as long as that helps. But transfers within a group that
 * something else holds up are slow, too. So sides are then judged by what limits between
 * them would explain, from there on and from each single area on. What goes there is a
 * candidate, and what comes back; the rounds decide, as they do of all others.
 *
 * Complexity: O(areas^2) rounds predicted over and over, a site whose transfers are slow
 * still; O(transfers + areas^3) for the others. */
#include <math.h>
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

/* ---- sides by what they predict ---- */

/* Both directions of a parting, while sides are tried. */
struct trial_limits {
    struct espi_limit limit[2];
    unsigned char *pairs[2];
};

static void set_pairs(const struct espi_fitting *t, const struct parting *p, int side,
                      unsigned char *pairs)
{
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n; to++)
            pairs[(p->first + from) * t->n_areas + p->first + to] =
                p->side[from] == side && p->side[to] != side;
}

/* What a limit of each direction would explain, as much as one would pay for. */
static double weigh_sides(struct espi_fitting *t, const struct parting *p,
                          struct trial_limits *trial)
{
    double gain = 0;
    for (int side = 0; side < 2; side++) {
        struct espi_limit *l = &trial->limit[side];
        *l = (struct espi_limit){.kind = ESPI_LIMIT_GROUP_OUT,
                                 .price = ESPI_LIMIT_PRICE,
                                 .pairs = trial->pairs[side]};
        set_pairs(t, p, side, l->pairs);
        gain += fmax(0, espi_weigh_candidate(t, l));
    }
    return gain;
}

static int smaller_side(const struct parting *p)
{
    int others = 0;
    for (int a = 0; a < p->n; a++)
        others += p->side[a];
    return others < p->n - others ? others : p->n - others;
}

/* Areas change sides as long as that explains more; gives how much that is. */
static double change_sides(struct espi_fitting *t, struct parting *p,
                           struct trial_limits *trial)
{
    double most = weigh_sides(t, p, trial);
    for (int changed = 1; changed;) {
        changed = 0;
        for (int a = 0; a < p->n; a++) {
            p->side[a] = !p->side[a];
            double gain = smaller_side(p) < 1 ? -1 : weigh_sides(t, p, trial);
            if (gain > most + ESPI_ROUND_PAYS_MOST / 4) {
                changed = 1;
                most = gain;
            } else {
                p->side[a] = !p->side[a];
            }
        }
    }
    return most;
}

static int has_slow(const struct parting *p, int area)
{
    for (int b = 0; b < p->n; b++)
        if (p->score[area * p->n + b] > 0 || p->score[b * p->n + area] > 0)
            return 1;
    return 0;
}

/* Slow transfers tell roughly who is on which side, for those that only what is within a
 * side held up are slow, too. So sides grow from there, and from single areas; of all
 * what explains most is taken. */
static int find_sides(struct espi_fitting *t, struct parting *p)
{
    size_t cells = (size_t)t->n_areas * (size_t)t->n_areas, n = (size_t)p->n;
    struct espi_arena_mark mark = espi_arena_mark(t->arena);
    struct trial_limits trial;
    unsigned char *best = ESPI_ARENA_ZNEW(t->arena, unsigned char, n);
    trial.pairs[0] = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    trial.pairs[1] = ESPI_ARENA_ZNEW(t->arena, unsigned char, cells);
    if (!best || !trial.pairs[0] || !trial.pairs[1])
        return -1;
    double most = 0;
    for (int start = -1; start < p->n; start++) {
        if (start >= 0 && !has_slow(p, start))
            continue;
        for (int a = 0; a < p->n && start >= 0; a++)
            p->side[a] = a == start;
        double gain = change_sides(t, p, &trial);
        if (gain > most && smaller_side(p) >= 2) {
            most = gain;
            memcpy(best, p->side, n);
        }
    }
    memcpy(p->side, best, n);
    espi_arena_release(t->arena, mark);
    return 0;
}

/* ---- candidates ---- */

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
    set_pairs(t, p, side, l->pairs);
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
    part_areas(&p);
    if (find_sides(t, &p))
        return -1;
    int others = 0;
    for (int a = 0; a < p.n; a++)
        others += p.side[a];
    int size = others < p.n - others ? others : p.n - others;
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
