#include "report/overview.h"

#include <math.h>

#include "base/portable_math.h"
#include "base/sort.h"
#include "report/markup.h"

/* looks: from so many on, of a network or of a plan, sites are drawn as one */
enum { HOSTS = 150, EDGES = 300, GROUPS_MAX = 500 };

/* looks: as in web/src/sites.ts: the circle of a site, as part of that round its hosts */
#define CLOSED 0.62
/* looks: a name within the circle: so many radii over its letters */
#define WIDE 2.6
/* looks: cables, as parts of the smallest circle */
#define WIDEST 0.35
/* looks: likewise */
#define THINNEST 0.06
/* looks: from the middle of a host that has no site to where a cable ends */
#define LONE 14.0

struct end {
    double x, y, r;
};

struct overview {
    const struct espi_network *net;
    double *load;   /* group * group -> part of the message, counted for each transfer */
    int *transfers; /* likewise */
    double most, unit;
};

bool espi_overview_suits(const struct espi_network *net)
{
    long edges = 0;

    for (int t = 0; net->n_plans && t < net->plans[0]->n_trees; t++)
        edges += net->plans[0]->trees[t].n_edges;
    return net->p->n_sites > 1 && net->layout.n_groups <= GROUPS_MAX &&
           net->n_plans > 0 && (net->p->n_hosts >= HOSTS || edges >= EDGES);
}

/* ---- what is drawn ---- */

static struct end end_of(const struct espi_network *net, int group)
{
    const struct espi_group *g = &net->layout.groups[group];
    double r = g->site < 0 ? LONE : CLOSED * (g->radius + 1.2) * ESPI_NETWORK_SCALE;

    return (struct end){g->centre.x * ESPI_NETWORK_SCALE,
                        g->centre.y * ESPI_NETWORK_SCALE, r};
}

static size_t pair_of(const struct overview *o, int from, int to)
{
    return (size_t)from * (size_t)o->net->layout.n_groups + (size_t)to;
}

static void count_tree(struct overview *o, const struct esp_tree *tree)
{
    const int *of = o->net->layout.group_of;

    for (int i = 0; i < tree->n_edges; i++) {
        int from = of[tree->edges[i].from], to = of[tree->edges[i].to];
        if (from == to)
            continue;
        size_t k = pair_of(o, from, to);
        o->load[k] += tree->weight;
        o->transfers[k]++;
        o->most = fmax(o->most, o->load[k]);
    }
}

static int overview_init(struct overview *o, const struct espi_network *net,
                         struct espi_arena *arena)
{
    size_t n = (size_t)net->layout.n_groups;

    *o = (struct overview){.net = net, .unit = INFINITY};
    o->load = ESPI_ARENA_ZNEW(arena, double, n *n + 1);
    o->transfers = ESPI_ARENA_ZNEW(arena, int, n *n + 1);
    if (!o->load || !o->transfers)
        return -1;
    for (int t = 0; t < net->plans[0]->n_trees; t++)
        count_tree(o, &net->plans[0]->trees[t]);
    for (int g = 0; g < net->layout.n_groups; g++)
        if (net->layout.groups[g].site >= 0)
            o->unit = fmin(o->unit, end_of(net, g).r);
    return 0;
}

/* ---- cables ---- */

struct way {
    double ux, uy; /* of length 1 */
};

/* A point so far along the way from another, and so far to the right of it. */
static struct espi_point beside(double x, double y, struct way w, double along,
                                double aside)
{
    return (struct espi_point){x + w.ux * along - w.uy * aside,
                               y + w.uy * along + w.ux * aside};
}

static struct way way_to(double x, double y, double to_x, double to_y, double *length)
{
    *length = fmax(espi_hypot(to_x - x, to_y - y), 1);
    return (struct way){(to_x - x) / *length, (to_y - y) / *length};
}

static double rim(const struct end *e, double aside)
{
    return sqrt(fmax(0, e->r * e->r - aside * aside));
}

static void put_point(FILE *out, char command, struct espi_point p)
{
    fprintf(out, "%c%ld %ld", command, lround(p.x), lround(p.y));
}

/* From rim to rim, to the right of the straight way, so that both directions can be seen;
 * the head goes on where the line leads. */
static void write_cable(const struct overview *o, int from, int to, FILE *out)
{
    struct end a = end_of(o->net, from), b = end_of(o->net, to);
    size_t k = pair_of(o, from, to);
    double wide = o->unit * (THINNEST + (WIDEST - THINNEST) * o->load[k] / o->most);
    double head = fmax(2 * wide, 0.25 * o->unit), length, rest;
    double aside = fmin(0.7 * fmin(a.r, b.r), 0.6 * head);
    struct way w = way_to(a.x, a.y, b.x, b.y, &length);
    struct espi_point start = beside(a.x, a.y, w, rim(&a, aside), aside);
    struct espi_point tip = beside(b.x, b.y, w, -rim(&b, aside), aside);
    struct espi_point bow =
        beside((start.x + tip.x) / 2, (start.y + tip.y) / 2, w, 0, 0.08 * length);
    struct way last = way_to(bow.x, bow.y, tip.x, tip.y, &rest);

    fprintf(out, "<g class=\"cable-of\"><path class=\"cable\" stroke-width=\"%ld\" d=\"",
            lround(fmax(wide, 1)));
    put_point(out, 'M', start);
    put_point(out, 'Q', bow);
    put_point(out, ' ', beside(tip.x, tip.y, last, -head, 0));
    fputs("\"/><path class=\"cable-head\" d=\"", out);
    put_point(out, 'M', beside(tip.x, tip.y, last, -head, -head / 2));
    put_point(out, 'L', beside(tip.x, tip.y, last, -head, head / 2));
    put_point(out, 'L', tip);
    fprintf(out, "Z\"/><title>%.1f%% of the message, in %d transfers</title></g>\n",
            100 * o->load[k], o->transfers[k]);
}

struct cable {
    double load;
    int from, to;
};

static int is_heavier(const struct cable *x, const struct cable *y)
{
    return x->load > y->load;
}

ESPI_DEFINE_SORT(sort_cables, struct cable, is_heavier)

/* Those that carry less lie over those that carry more. */
static int write_cables(const struct overview *o, struct espi_arena *arena, FILE *out)
{
    int n = o->net->layout.n_groups, count = 0;
    struct cable *cable =
        ESPI_ARENA_NEW(arena, struct cable, 2 * (size_t)n * (size_t)n + 1);

    if (!cable)
        return -1;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (o->transfers[pair_of(o, from, to)])
                cable[count++] = (struct cable){o->load[pair_of(o, from, to)], from, to};
    sort_cables(cable, cable + count, count);
    for (int i = 0; i < count; i++)
        write_cable(o, cable[i].from, cable[i].to, out);
    return 0;
}

/* ---- sites ---- */

static int hosts_of(const struct espi_network *net, int group)
{
    int n = 0;

    for (int v = 0; v < net->p->n_nodes; v++)
        n += net->layout.group_of[v] == group && !espi_is_switch(net->p, v);
    return n;
}

static void put_text(FILE *out, const struct end *e, double down, double px,
                     const char *text)
{
    fprintf(out, "<text x=\"%ld\" y=\"%ld\" style=\"font-size:%ldpx\">", lround(e->x),
            lround(e->y + down), lround(px));
    espi_markup_text(out, text);
    fputs("</text>", out);
}

static void write_site(const struct espi_network *net, int group, FILE *out)
{
    const struct espi_group *g = &net->layout.groups[group];
    struct end e = end_of(net, group);
    bool has_root = net->root >= 0 && net->layout.group_of[net->root] == group;

    fprintf(out, "<g class=\"closed%s\"><circle cx=\"%ld\" cy=\"%ld\" r=\"%ld\"/>",
            has_root ? " root" : "", lround(e.x), lround(e.y), lround(e.r));
    if (g->site >= 0) {
        const char *name = espi_names_text(&net->p->sites, g->site);
        int hosts = hosts_of(net, group), n = espi_letters(name);
        double px = e.r * fmin(0.5, WIDE / (n > 0 ? n : 1));
        char text[48];
        snprintf(text, sizeof text, "%d host%s", hosts, hosts == 1 ? "" : "s");
        put_text(out, &e, -0.1 * e.r, px, name);
        put_text(out, &e, 0.4 * e.r, fmin(px, 0.3 * e.r), text);
    }
    fputs("</g>\n", out);
}

int espi_overview_write(const struct espi_network *net, FILE *out)
{
    struct overview o;
    struct espi_arena arena;

    espi_arena_init(&arena);
    fputs("<g>\n", out);
    int failed = overview_init(&o, net, &arena) || write_cables(&o, &arena, out);
    if (!failed) {
        for (int g = 0; g < net->layout.n_groups; g++)
            write_site(net, g, out);
        fputs("</g>\n", out);
    }
    espi_arena_done(&arena);
    return failed;
}
