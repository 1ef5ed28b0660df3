#include "report/network.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/portable_math.h"
#include "base/units.h"
#include "report/markup.h"
#include "report/overview.h"

/* looks: what is left out or drawn otherwise where there is much */
enum {
    PAIRS_MAX = 6000,  /* lines of links; of more, those within sites are left out */
    TITLES_MAX = 3000, /* links that say what they are when pointed at */
    LABELS_MAX = 80,   /* nodes that all have their name beside them */
    CROWD = 200,       /* nodes; of more, trees are drawn with thinner lines */
    BUNDLE_MIN = 8,    /* links between two sites that are drawn as one */
    BUNDLED_MAX = 500, /* groups; beyond, none are bundled */
};

const char espi_network_style[] =
    ":root{--ink:#1b2430;--soft:#5b6777;--paper:#fff;--panel:#f4f6f8;--line:#9aa7b5;"
    "--site:#eef2f6;--cut:#d1242f;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;"
    "--c4:#b58900;--c5:#56b4e9;--c6:#7a4fbf;--c7:#8c6d46;--c8:#7f8c99}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#a3b0be;"
    "--paper:#14191f;--panel:#1d242c;--line:#5a6876;--site:#1b222a;--cut:#ff7b72;"
    "--c0:#4aa8e0;--c1:#ff8c42;--c2:#35c99a;--c3:#e59cc6;--c4:#e0b93a;--c5:#86cdf5;"
    "--c6:#b08cf0;--c7:#c4a27a;--c8:#8b98a5}}"
    ".site{fill:var(--site);stroke:var(--line);stroke-opacity:.5}"
    ".site-name{fill:var(--soft);font:600 16px system-ui,sans-serif;text-anchor:middle;"
    "paint-order:stroke;stroke:var(--paper);stroke-width:4;stroke-opacity:.8;"
    "pointer-events:none}"
    ".link{stroke:var(--line);fill:none}"
    ".s0{stroke-width:.8;stroke-opacity:.35;stroke-dasharray:3 3}"
    ".s1{stroke-width:.9;stroke-opacity:.4}"
    ".s2{stroke-width:1.4;stroke-opacity:.45}.s3{stroke-width:2.2;stroke-opacity:.5}"
    ".s4{stroke-width:3.2;stroke-opacity:.55}"
    ".cross{stroke:var(--cut);stroke-width:6;stroke-opacity:.6;stroke-dasharray:9 5;"
    "fill:none}"
    ".edge{fill:none;stroke-width:2.6;stroke-linecap:round}"
    ".t0{stroke:var(--c0)}.t1{stroke:var(--c1)}.t2{stroke:var(--c2)}"
    ".t3{stroke:var(--c3)}.t4{stroke:var(--c4)}.t5{stroke:var(--c5)}"
    ".t6{stroke:var(--c6)}.t7{stroke:var(--c7)}.t8{stroke:var(--c8);stroke-width:1.4}"
    ".node circle{fill:var(--panel);stroke:var(--ink);stroke-width:2}"
    ".node rect{fill:var(--paper);stroke:var(--soft);stroke-width:2}"
    ".node.side circle{fill:var(--cut);fill-opacity:.35}"
    ".node.root circle{fill:var(--ink)}"
    ".node.relay circle{fill:var(--paper);stroke-width:1.4;stroke-dasharray:3 2}"
    ".node text{fill:var(--ink);font:13px system-ui,sans-serif;paint-order:stroke;"
    "stroke:var(--paper);stroke-width:3;stroke-opacity:.7}.node .left{text-anchor:end}"
    ".node .mid{text-anchor:middle}"
    ".crowd .edge{stroke-width:1.3;stroke-opacity:.8}"
    ".bundle{stroke-width:5;stroke-linecap:round}"
    ".closed circle{fill:var(--panel);stroke:var(--ink);stroke-width:2}"
    ".closed.root circle{fill:var(--ink)}"
    ".closed text{fill:var(--ink);font:600 15px system-ui,sans-serif;text-anchor:middle}"
    ".closed.root text{fill:var(--paper)}"
    ".cable-of{opacity:.75}.cable{fill:none;stroke:var(--c0)}.cable-head{fill:var(--c0)}";

/* ---- what is drawn ---- */

/* The link that stands for both directions between its ends: the first of them. */
static bool leads_pair(const struct esp_platform *p, int link)
{
    int back = esp_platform_find_link(p, p->head[link], p->tail[link]);
    int same = esp_platform_find_link(p, p->tail[link], p->head[link]);

    return p->tail[link] != p->head[link] && same == link && (back < 0 || back > link);
}

static int *bundle_at(const struct espi_network *net, int from, int to)
{
    return &net->bundle[(size_t)from * (size_t)net->layout.n_groups + (size_t)to];
}

/* Is the link one of many between its two sites? They are drawn as one. */
static bool is_bundled(const struct espi_network *net, int link)
{
    const int *of = net->layout.group_of;
    int from = of[net->p->tail[link]], to = of[net->p->head[link]];

    return net->bundle && from != to && *bundle_at(net, from, to) >= BUNDLE_MIN;
}

static int count_bundles(struct espi_network *net, struct espi_arena *arena)
{
    const struct esp_platform *p = net->p;
    const int *of = net->layout.group_of;
    size_t n = (size_t)net->layout.n_groups;

    if (n > BUNDLED_MAX)
        return 0;
    net->bundle = ESPI_ARENA_ZNEW(arena, int, n *n + 1);
    if (!net->bundle)
        return -1;
    for (int e = 0; e < p->n_links; e++)
        ++*bundle_at(net, of[p->tail[e]], of[p->head[e]]);
    return 0;
}

static bool is_shown(const struct espi_network *net, int link)
{
    const int *of = net->layout.group_of;

    if (!leads_pair(net->p, link) || is_bundled(net, link))
        return false;
    return net->n_pairs <= PAIRS_MAX ||
           (of[net->p->tail[link]] != of[net->p->head[link]] &&
            link % (net->n_pairs / PAIRS_MAX + 1) == 0);
}

int espi_network_init(struct espi_network *net, const struct esp_platform *p, int root,
                      const struct esp_bound *bound, struct espi_arena *arena)
{
    *net = (struct espi_network){
        .p = p, .root = root, .bound = bound, .slowest_Bps = INFINITY};
    net->near = ESPI_ARENA_ZNEW(arena, unsigned char, p->n_nodes + 1);
    if (!net->near || espi_layout_make(&net->layout, p, arena) ||
        espi_labels_place(&net->labels, p, &net->layout, root, LABELS_MAX, arena) ||
        count_bundles(net, arena))
        return -1;
    for (int i = 0; bound && i < bound->n_cut; i++)
        net->near[bound->cut[i]] = 1;
    for (int e = 0; e < p->n_links; e++) {
        net->slowest_Bps = fmin(net->slowest_Bps, p->bandwidth_Bps[e]);
        net->fastest_Bps = fmax(net->fastest_Bps, p->bandwidth_Bps[e]);
        net->n_pairs += leads_pair(p, e);
    }
    for (int e = 0; e < p->n_links; e++)
        net->n_drawn += is_shown(net, e) || (leads_pair(p, e) && is_bundled(net, e));
    return 0;
}

int espi_network_speed(const struct espi_network *net, double bandwidth_Bps)
{
    double span = espi_log(net->fastest_Bps / net->slowest_Bps);

    if (!(span > 1e-9))
        return ESPI_NETWORK_SPEEDS / 2;
    double part = espi_log(bandwidth_Bps / net->slowest_Bps) / span;
    int speed = (int)floor(part * ESPI_NETWORK_SPEEDS);
    return speed < 0 ? 0 : speed < ESPI_NETWORK_SPEEDS ? speed : ESPI_NETWORK_SPEEDS - 1;
}

double espi_network_speed_from(const struct espi_network *net, int speed)
{
    double span = espi_log(net->fastest_Bps / net->slowest_Bps);

    return net->slowest_Bps * espi_exp(span * speed / ESPI_NETWORK_SPEEDS);
}

/* ---- coordinates: whole numbers, the same in every locale ---- */

static int at(double v)
{
    return (int)lround(v * ESPI_NETWORK_SCALE);
}

static int x_of(const struct espi_network *net, int node)
{
    return at(net->layout.node[node].x);
}

static int y_of(const struct espi_network *net, int node)
{
    return at(net->layout.node[node].y);
}

/* ---- the network ---- */

static void write_sites(const struct espi_network *net, FILE *out)
{
    const struct espi_picture_layout *l = &net->layout;

    fputs("<g class=\"sites\">", out);
    for (int g = 0; g < l->n_groups; g++) {
        const struct espi_group *k = &l->groups[g];
        if (k->site >= 0)
            fprintf(out,
                    "<circle class=\"site\" data-s=\"%d\" cx=\"%d\" cy=\"%d\" "
                    "r=\"%d\"/>",
                    k->site, at(k->centre.x), at(k->centre.y), at(k->radius + 1.2));
    }
    fputs("</g>\n", out);
}

/* Above all else, so that no neighbour covers them. */
static void write_site_names(const struct espi_network *net, FILE *out)
{
    const struct espi_picture_layout *l = &net->layout;

    fputs("<g class=\"site-names\">", out);
    for (int g = 0; g < l->n_groups; g++) {
        const struct espi_group *k = &l->groups[g];
        const struct espi_label *label = &net->labels.group[g];
        if (label->anchor == ESPI_LABEL_LEFT_OUT)
            continue;
        fprintf(out,
                "<text class=\"site-name\" data-s=\"%d\" x=\"%d\" y=\"%d\" "
                "style=\"font-size:%dpx\">",
                k->site, at(k->centre.x) + label->x, at(k->centre.y) + label->y,
                net->labels.site_px);
        espi_markup_text(out, espi_names_text(&net->p->sites, k->site));
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

static void write_link_title(const struct espi_network *net, int link, FILE *out)
{
    const struct esp_platform *p = net->p;
    int back = esp_platform_find_link(p, p->head[link], p->tail[link]);
    char rate[32], time[32];

    fputs("<title>", out);
    espi_markup_text(out, espi_node_name(p, p->tail[link]));
    fputs(back >= 0 ? " \xe2\x86\x94 " : " \xe2\x86\x92 ", out);
    espi_markup_text(out, espi_node_name(p, p->head[link]));
    fprintf(out, ": %s, %s</title>",
            espi_format_bandwidth(rate, sizeof rate, p->bandwidth_Bps[link]),
            espi_format_time(time, sizeof time, p->latency_s[link]));
}

static void write_line(const struct espi_network *net, int link, const char *class_name,
                       FILE *out)
{
    const struct esp_platform *p = net->p;
    int a = p->tail[link], b = p->head[link];

    fprintf(out, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"", class_name,
            x_of(net, a), y_of(net, a), x_of(net, b), y_of(net, b));
}

static void write_links(const struct espi_network *net, FILE *out)
{
    const struct esp_platform *p = net->p;
    bool titles = net->n_drawn <= TITLES_MAX;
    char class_name[16] = "link s0";

    fputs("<g class=\"links\">", out);
    for (int e = 0; e < p->n_links; e++) {
        if (!is_shown(net, e))
            continue;
        class_name[6] = (char)('0' + espi_network_speed(net, p->bandwidth_Bps[e]));
        write_line(net, e, class_name, out);
        if (titles) {
            fputs(">", out);
            write_link_title(net, e, out);
            fputs("</line>", out);
        } else {
            fputs("/>", out);
        }
    }
    fputs("</g>\n", out);
}

/* All links between two sites as one line, from rim to rim. */
static void write_bundle(const struct espi_network *net, int from, int to,
                         const char *class_name, FILE *out)
{
    const struct espi_picture_layout *l = &net->layout;
    const struct espi_group *a = &l->groups[from], *b = &l->groups[to];
    double dx = b->centre.x - a->centre.x, dy = b->centre.y - a->centre.y;
    double length = fmax(espi_hypot(dx, dy), 1e-9);
    double start = (a->radius + 1.2) / length, end = 1 - (b->radius + 1.2) / length;

    fprintf(out,
            "<line class=\"%s bundle\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"><title>",
            class_name, at(a->centre.x + start * dx), at(a->centre.y + start * dy),
            at(a->centre.x + end * dx), at(a->centre.y + end * dy));
    fprintf(out, "%d links</title></line>", *bundle_at(net, from, to));
}

static void write_bundles(const struct espi_network *net, FILE *out)
{
    int n = net->bundle ? net->layout.n_groups : 0;

    fputs("<g class=\"links\">", out);
    for (int from = 0; from < n; from++)
        for (int to = from + 1; to < n; to++)
            if (*bundle_at(net, from, to) >= BUNDLE_MIN ||
                *bundle_at(net, to, from) >= BUNDLE_MIN)
                write_bundle(net, from, to, "link s4", out);
    fputs("</g>\n", out);
}

/* ---- the cut ---- */

static void write_cut_bundles(const struct espi_network *net, FILE *out)
{
    const struct esp_platform *p = net->p;
    int n = net->bundle ? net->layout.n_groups : 0;

    for (int e = 0; n && e < p->n_links; e++) {
        int from = net->layout.group_of[p->tail[e]],
            to = net->layout.group_of[p->head[e]];
        if (!is_bundled(net, e) || !net->near[p->tail[e]] || net->near[p->head[e]])
            continue;
        write_bundle(net, from, to, "cross", out);
        *bundle_at(net, from, to) = -*bundle_at(net, from, to); /* once is enough */
    }
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        net->bundle[i] = abs(net->bundle[i]);
}

/* The links over which everything must come that the far side gets. */
static void write_cut(const struct espi_network *net, FILE *out)
{
    const struct esp_platform *p = net->p;
    int crossing = 0;

    if (!net->bound || net->bound->n_cut == 0)
        return;
    fputs("<g class=\"cut\">", out);
    write_cut_bundles(net, out);
    for (int i = 0; i < net->bound->n_cut; i++) {
        int v = net->bound->cut[i];
        for (int k = p->out.start[v]; k < p->out.start[v + 1]; k++) {
            int e = p->out.item[k];
            if (crossing >= PAIRS_MAX || net->near[p->head[e]] || is_bundled(net, e))
                continue;
            crossing++;
            write_line(net, e, "cross", out);
            fputs("/>", out);
        }
    }
    fputs("</g>\n", out);
}

/* ---- plans ---- */

/* Trees over the same link bow out to different sides. */
static void write_curve(const struct espi_network *net, const struct esp_edge *edge,
                        int tree, FILE *out)
{
    int x1 = x_of(net, edge->from), y1 = y_of(net, edge->from);
    int x2 = x_of(net, edge->to), y2 = y_of(net, edge->to);
    int step = tree % ESPI_NETWORK_COLOURS / 2;
    double bow = (tree % 2 ? -1 : 1) * (0.07 + 0.06 * step);

    fprintf(out, "M%d %dQ%d %d %d %d", x1, y1,
            (int)lround((x1 + x2) / 2.0 - bow * (y2 - y1)),
            (int)lround((y1 + y2) / 2.0 + bow * (x2 - x1)), x2, y2);
}

/* Along the switches on the way. */
static void write_path(const struct espi_network *net, const struct esp_tree *tree,
                       const struct esp_edge *edge, int shift, FILE *out)
{
    const int *hops = tree->hops + edge->first_hop;
    int off = shift % ESPI_NETWORK_COLOURS * 2 - ESPI_NETWORK_COLOURS;

    fprintf(out, "M%d %d", x_of(net, edge->from), y_of(net, edge->from));
    for (int i = 0; i < edge->n_hops; i++) {
        int v = net->p->head[hops[i]], last = i + 1 == edge->n_hops;
        fprintf(out, "L%d %d", x_of(net, v) + (last ? 0 : off),
                y_of(net, v) + (last ? 0 : off));
    }
}

static void write_tree(const struct espi_network *net, const struct esp_plan *plan, int t,
                       FILE *out)
{
    const struct esp_tree *tree = &plan->trees[t];
    int colour = t < ESPI_NETWORK_COLOURS ? t : ESPI_NETWORK_COLOURS;

    fprintf(out, "<g class=\"tree\" data-tree=\"%d\">", t);
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *edge = &tree->edges[i];
        fprintf(out, "<path class=\"edge t%d\" data-f=\"%d\" data-t=\"%d\" d=\"", colour,
                edge->from, edge->to);
        if (edge->n_hops > 1)
            write_path(net, tree, edge, t, out);
        else
            write_curve(net, edge, t, out);
        fprintf(out, "\" marker-end=\"url(#arrow%d)\"/>", colour);
    }
    fputs("</g>", out);
}

static void write_arrows(FILE *out)
{
    fputs("<defs>", out);
    for (int c = 0; c <= ESPI_NETWORK_COLOURS; c++)
        fprintf(out,
                "<marker id=\"arrow%d\" viewBox=\"0 0 10 10\" refX=\"22\" refY=\"5\" "
                "markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" "
                "orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" style=\"fill:var(--c%d)\"/>"
                "</marker>",
                c, c);
    fputs("</defs>\n", out);
}

void espi_network_write_plan(const struct espi_network *net, const struct esp_plan *plan,
                             int number, FILE *out)
{
    fprintf(out, "<g class=\"plan\" data-plan=\"%d\">", number);
    for (int t = plan->n_trees - 1; t >= 0; t--)
        write_tree(net, plan, t, out);
    fputs("</g>\n", out);
}

static void write_plans(const struct espi_network *net, FILE *out)
{
    write_arrows(out);
    for (int i = 0; i < net->n_plans; i++)
        espi_network_write_plan(net, net->plans[i], i, out);
}

/* ---- nodes ---- */

/* The side of the cut that has fewer nodes is the one that stands out. */
static bool marked(const struct espi_network *net, int v)
{
    if (!net->bound || net->bound->n_cut == 0)
        return false;
    return net->near[v] == (2 * net->bound->n_cut <= net->p->n_nodes);
}

/* Does it help the targets without being one? */
static bool relays(const struct espi_network *net, int v)
{
    const struct esp_plan *plan = net->n_plans ? net->plans[0] : NULL;

    if (!plan || !plan->targets || v == net->root || espi_is_switch(net->p, v))
        return false;
    for (int i = 0; i < plan->n_targets; i++)
        if (plan->targets[i] == v)
            return false;
    return true;
}

static void write_name(const struct espi_network *net, int v, FILE *out)
{
    static const char *const classes[] = {
        [ESPI_LABEL_ENDS] = " class=\"left\"", [ESPI_LABEL_MIDDLE] = " class=\"mid\""};
    const struct espi_label *label = &net->labels.node[v];

    if (label->anchor == ESPI_LABEL_LEFT_OUT)
        return;
    fprintf(out, "<text%s x=\"%d\" y=\"%d\">",
            label->anchor == ESPI_LABEL_STARTS ? "" : classes[label->anchor], label->x,
            label->y);
    espi_markup_text(out, espi_node_name(net->p, v));
    fputs("</text>", out);
}

static void write_node(const struct espi_network *net, int v, FILE *out)
{
    const struct esp_platform *p = net->p;
    bool is_root = v == net->root, is_switch = espi_is_switch(p, v);

    bool is_relay = relays(net, v);

    fprintf(out,
            "<g class=\"node%s%s%s%s\" data-n=\"%d\" transform=\"translate(%d %d)\">",
            is_root ? " root" : "", is_switch ? " switch" : "", is_relay ? " relay" : "",
            marked(net, v) ? " side" : "", v, x_of(net, v), y_of(net, v));
    if (is_switch)
        fputs("<rect x=\"-7\" y=\"-7\" width=\"14\" height=\"14\" rx=\"3\"/>", out);
    else
        fprintf(out, "<circle r=\"%d\"/>", is_root ? 13 : is_relay ? 6 : 9);
    fputs("<title>", out);
    espi_markup_text(out, espi_node_name(p, v));
    fputs(is_root    ? " (root)</title>"
          : is_relay ? " (not a target)</title>"
                     : "</title>",
          out);
    write_name(net, v, out);
    fputs("</g>", out);
}

void espi_network_write(const struct espi_network *net, FILE *out)
{
    fputs(net->p->n_nodes > CROWD ? "<g class=\"crowd\">" : "<g>", out);
    write_sites(net, out);
    write_bundles(net, out);
    write_links(net, out);
    write_cut(net, out);
    write_plans(net, out);
    fputs("<g class=\"nodes\">", out);
    for (int v = 0; v < net->p->n_nodes; v++)
        write_node(net, v, out);
    fputs("</g>\n", out);
    write_site_names(net, out);
    fputs("</g>\n", out);
}

void espi_network_write_element(const struct espi_network *net, FILE *out)
{
    const struct espi_picture_layout *l = &net->layout;

    fprintf(out,
            "<svg id=\"network\"%s viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"The network\"><style>%s</style><g id=\"world\">\n",
            espi_overview_suits(net) ? " data-by-site=\"\"" : "",
            (int)ceil(l->width * ESPI_NETWORK_SCALE),
            (int)ceil(l->height * ESPI_NETWORK_SCALE), espi_network_style);
    espi_network_write(net, out);
    fputs("<g id=\"moving\"></g></g></svg>", out);
}
