/* Tiers: an Internet of three levels, one WAN, MANs attached to it, LANs attached to the
 * MANs.
 *
 * Reference: M. Doar, "A better model for generating test networks" (Globecom 1996), and
 * the output of his program tiers 1.1, whose eleven parameters these are:
 *     NW NM NL SW SM SL RW RM RL RMW RLM
 * with NW = 1. Nodes: SW + NM * SM + NM * NL * SL, the WAN's first, then each MAN's, then
 * each LAN's.
 *
 * Nodes are random points of a 100 x 100 grid, 40 units apart in the WAN, 8 in a MAN and
 * 2 in a LAN. WAN and MAN: the Euclidean minimum spanning tree (distances in whole
 * units), then each node is joined with the nearest others until it has RW (RM) links.
 * LAN: a star around its first node; RL > 1 makes its first RL nodes hubs that are linked
 * with all. A MAN lies near a random WAN node, its anchor, and has RMW links to the WAN
 * nodes nearest to the anchor, the anchor first, each from a random node of the MAN. A
 * LAN has RLM links to the nodes of its MAN nearest to its anchor, from its hubs in turn.
 * Redundancies beyond the size of a network mean all of it.
 *
 * Bandwidths: Gaussian for each direction alone, as Beaumont, Marchal and Robert do, or
 * with `classes` those of Tiers: 10 Mbit/s in the WAN and up to it, 100 in the MANs and
 * up to them, 1000 in the LANs, and its delays, taken for microseconds (the program names
 * no unit): fixed + per unit * distance, the distance of links between networks being 1.
 *
 * Departures: the original now and then leaves a leaf without its redundant link or adds
 * one where none was asked for; this one does not. Which links of a network to another
 * are redundant is told by its files for MANs only; LANs follow the same rule here.
 *
 * The presets 30 and 65 have densities (arcs / (n (n - 1))) of about 0.15 and 0.05,
 * within what the paper gives for its own; its parameters are not known.
 *
 * Complexity: quadratic in the size of the WAN and of each MAN, linear in the rest. */
#include <math.h>
#include <stdio.h>

#include "platform/generate_common.h"
#include "platform/tiers_net.h"
#include "platform/tuning.h"

enum level { WAN, MAN, LAN };

static const int grid_units[] = {40, 8, 2};
#define GRID      100 /* published: Tiers */
#define NODES_MAX 10e6

/* By the sum of the levels of a link's ends: WW, WM, MM, ML, LL. */
static const struct link_class {
    double bandwidth_Bps, fixed_us, per_unit_us;
} link_classes[] = {{10e6 / 8, 5, 1},
                    {10e6 / 8, 50, 1},
                    {100e6 / 8, 100, 10},
                    {100e6 / 8, 1000, 1},
                    {1000e6 / 8, 150, 100}};

struct tiers {
    struct espi_gen *g;
    struct esp_tiers_options o; /* a copy, with the sizes chosen */
    int *x, *y;                 /* all nodes so far */
    int n;
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* ---- sizes ---- */

/* The cube root of n, halved and rounded; n is at least 1. */
static int half_cube_root(int n)
{
    int k = 0;
    while ((2 * k + 1.0) * (2 * k + 1.0) * (2 * k + 1.0) <= n)
        k++;
    return k;
}

/* Four fifths of the nodes in LANs, a fiftieth in the WAN; as many MANs as LANs a MAN. */
static esp_status choose_sizes(struct esp_tiers_options *o, struct esp_err *err)
{
    if (o->nodes == 0)
        return ESP_OK;
    if (o->nodes < 10)
        return espi_err(err, ESP_EUSAGE,
                        "tiers: nodes is %d, but must be at least 10, or 0 for sizes of "
                        "your own",
                        o->nodes);
    o->nm = o->nl = half_cube_root(o->nodes);
    o->sl = (int)(0.80 * o->nodes / (o->nm * o->nl));
    o->sm = (int)(0.18 * o->nodes / o->nm);
    o->sw = o->nodes - o->nm * o->sm - o->nm * o->nl * o->sl;
    return ESP_OK;
}

static double count_nodes(const struct esp_tiers_options *o)
{
    return o->sw + (double)o->nm * o->sm + (double)o->nm * o->nl * o->sl;
}

static esp_status check_sizes(const struct tiers *t)
{
    const struct esp_tiers_options *o = &t->o;
    double mans = o->nm, lans = mans * o->nl;
    double links = o->sw * (1.0 + o->rw) + mans * (o->sm * (1.0 + o->rm) + o->rmw) +
                   lans * ((double)o->sl * o->rl + o->rlm);
    if (count_nodes(o) > NODES_MAX)
        return espi_err(
            t->g->err, ESP_EUSAGE,
            "tiers: sw + nm * sm + nm * nl * sl is %.10g nodes, but must be at "
            "most %.0f",
            count_nodes(o), NODES_MAX);
    return espi_gen_check_links(t->g, 2 * links);
}

static esp_status check_density(const struct tiers *t)
{
    const struct esp_tiers_options *o = &t->o;
    if (o->density_min <= o->density_max)
        return ESP_OK;
    return espi_err(
        t->g->err, ESP_EUSAGE,
        "tiers: density-min is %g, but must not be larger than density-max, %g",
        o->density_min, o->density_max);
}

/* ---- links ---- */

static esp_status add_link(struct tiers *t, int u, int v, int levels, int distance)
{
    const struct link_class *c = &link_classes[levels];
    if (!t->o.classes)
        return espi_gen_pair(t->g, u, v, t->o.latency_s, &t->o.bandwidth);
    return espi_gen_duplex(t->g, u, v, (c->fixed_us + c->per_unit_us * distance) * 1e-6,
                           c->bandwidth_Bps);
}

static struct espi_points points(const struct tiers *t, int base, int size)
{
    return (struct espi_points){.x = t->x + base, .y = t->y + base, .count = size};
}

/* Links two nodes of the network that starts at node base. */
static esp_status add_inner(struct tiers *t, int base, int a, int b, enum level level)
{
    struct espi_points p = points(t, base, t->n - base);
    int unit = grid_units[level];
    return add_link(t, base + a, base + b, 2 * (int)level,
                    unit * espi_points_distance(&p, a, b, unit));
}

/* A WAN or MAN. */
static esp_status connect_mesh(struct tiers *t, int base, int redundancy,
                               enum level level)
{
    struct espi_points p = points(t, base, t->n - base);
    struct espi_arena *arena = &t->g->arena;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int(*pairs)[2] = espi_arena_alloc(
        arena, (size_t)espi_points_max_pairs(p.count, redundancy), sizeof *pairs);
    int n_pairs =
        pairs ? espi_points_connect(&p, redundancy, grid_units[level], arena, pairs) : -1;
    esp_status status = n_pairs < 0 ? espi_err_nomem(t->g->err) : ESP_OK;
    for (int k = 0; k < n_pairs && status == ESP_OK; k++)
        status = add_inner(t, base, pairs[k][0], pairs[k][1], level);
    espi_arena_release(arena, mark);
    return status;
}

static esp_status connect_star(struct tiers *t, int base, int hubs)
{
    esp_status status = ESP_OK;
    for (int h = 0; h < smaller(hubs, t->n - base); h++)
        for (int i = h + 1; i < t->n - base && status == ESP_OK; i++)
            status = add_inner(t, base, h, i, LAN);
    return status;
}

/* ---- networks ---- */

/* A level's names: nodes count on from network to network. */
static esp_status place_nodes(struct tiers *t, int size, int anchor, enum level level,
                              int first_number, const char *site)
{
    static const char *const prefix[] = {"w", "m", "l"};
    esp_status status = ESP_OK;
    for (int i = 0; i < size && status == ESP_OK; i++) {
        int x = (int)espi_rng_below(&t->g->rng, GRID) * grid_units[level];
        int y = (int)espi_rng_below(&t->g->rng, GRID) * grid_units[level];
        t->x[t->n] = x + (anchor < 0 ? 0 : t->x[anchor]);
        t->y[t->n] = y + (anchor < 0 ? 0 : t->y[anchor]);
        t->n++;
        status = espi_gen_host(t->g, prefix[level], first_number + i, site);
    }
    return status;
}

/* The network that starts at node base, up to the last node so far, gets its links to the
 * one above. A MAN links random nodes, a LAN its hubs in turn. */
static esp_status attach(struct tiers *t, int base, int above, int above_size, int anchor,
                         enum level level)
{
    struct espi_points p = points(t, above, above_size);
    int near[100]; /* the largest redundancy */
    int size = t->n - base, hubs = smaller(t->o.rl, size);
    int links = smaller(level == MAN ? t->o.rmw : t->o.rlm, above_size);
    esp_status status = ESP_OK;
    espi_points_nearest(&p, anchor - above, links, near);
    for (int r = 0; r < links && status == ESP_OK; r++) {
        int from =
            level == MAN ? (int)espi_rng_below(&t->g->rng, (uint32_t)size) : r % hubs;
        status = add_link(t, base + from, above + near[r], 2 * (int)level - 1, 1);
    }
    return status;
}

static esp_status add_wan(struct tiers *t)
{
    esp_status status = place_nodes(t, t->o.sw, -1, WAN, 0, "wan");
    return status == ESP_OK ? connect_mesh(t, 0, t->o.rw, WAN) : status;
}

static esp_status add_man(struct tiers *t, int man)
{
    char site[32];
    int base = t->n;
    int anchor = (int)espi_rng_below(&t->g->rng, (uint32_t)t->o.sw);
    snprintf(site, sizeof site, "man%d", man);
    esp_status status = place_nodes(t, t->o.sm, anchor, MAN, man * t->o.sm, site);
    if (status == ESP_OK)
        status = connect_mesh(t, base, t->o.rm, MAN);
    return status == ESP_OK ? attach(t, base, 0, t->o.sw, anchor, MAN) : status;
}

static esp_status add_lan(struct tiers *t, int man, int lan)
{
    char site[48];
    int base = t->n, man_base = t->o.sw + man * t->o.sm;
    int anchor = man_base + (int)espi_rng_below(&t->g->rng, (uint32_t)t->o.sm);
    int first_number = (man * t->o.nl + lan) * t->o.sl;
    snprintf(site, sizeof site, "man%d.lan%d", man, lan);
    esp_status status = place_nodes(t, t->o.sl, anchor, LAN, first_number, site);
    if (status == ESP_OK)
        status = connect_star(t, base, t->o.rl);
    return status == ESP_OK ? attach(t, base, man_base, t->o.sm, anchor, LAN) : status;
}

static esp_status add_networks(struct tiers *t)
{
    esp_status status = add_wan(t);
    for (int man = 0; man < t->o.nm && status == ESP_OK; man++)
        status = add_man(t, man);
    for (int man = 0; man < t->o.nm; man++)
        for (int lan = 0; lan < t->o.nl && status == ESP_OK; lan++)
            status = add_lan(t, man, lan);
    return status;
}

/* Options first: the table of parameters looks there. */
struct attempt {
    struct esp_tiers_options options;
    int number;
};

static esp_status draw_tiers(struct espi_gen *g, const void *options)
{
    const struct attempt *a = options;
    struct tiers t = {.g = g, .o = a->options};
    if (a->number > 0) /* a stream of its own; the first is that of the seed */
        espi_rng_seed(&g->rng, t.o.seed ^ ((uint64_t)a->number << 40));
    esp_status status = choose_sizes(&t.o, g->err);
    if (status == ESP_OK)
        status = check_sizes(&t);
    if (status == ESP_OK)
        status = check_density(&t);
    if (status != ESP_OK)
        return status;
    t.x = ESPI_ARENA_NEW(&g->arena, int, count_nodes(&t.o));
    t.y = ESPI_ARENA_NEW(&g->arena, int, count_nodes(&t.o));
    return t.x && t.y ? add_networks(&t) : espi_err_nomem(g->err);
}

esp_status esp_generate_tiers(const struct esp_tiers_options *options,
                              struct esp_platform **out, struct esp_err *err)
{
    struct attempt a = {.number = 0};
    struct esp_platform *p;
    double density = 0;
    esp_status taken = espi_generator_take("tiers", options, &a.options, err);
    if (taken != ESP_OK)
        return taken;
    options = &a.options;
    for (; a.number < ESPI_TIERS_ATTEMPTS; a.number++) {
        esp_status status = espi_generate_own("tiers", &a, draw_tiers, &p, err);
        if (status != ESP_OK)
            return status;
        double n = esp_platform_node_count(p);
        density = n > 1 ? esp_platform_link_count(p) / (n * (n - 1)) : 0;
        if (density >= options->density_min && density <= options->density_max) {
            *out = p;
            return ESP_OK;
        }
        esp_platform_free(p);
    }
    return espi_err(err, ESP_EUSAGE,
                    "tiers: no draw of %d had a density between density-min, %g, and "
                    "density-max, %g; the last one had %g",
                    ESPI_TIERS_ATTEMPTS, options->density_min, options->density_max,
                    density);
}
