/* Graphviz: sites are clusters, switches boxes, the root a double circle; a pair of nodes
 * is one line, with both rates where they differ; transfers of a plan's trees are arrows
 * in colours, which do not move the layout. */
#include "report/dot.h"

#include "base/err.h"
#include "base/units.h"
#include "platform/platform.h"

static const char *const tree_colours[ESPI_NETWORK_COLOURS] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7",
    "#b58900", "#56b4e9", "#7a4fbf", "#8c6d46"};

static void put_quoted(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_node(const struct espi_network *net, int node, const char *indent,
                     FILE *out)
{
    const char *shape = espi_is_switch(net->p, node) ? "box"
                        : node == net->root          ? "doublecircle"
                                                     : "ellipse";

    fputs(indent, out);
    put_quoted(out, espi_node_name(net->p, node));
    fprintf(out, " [shape=%s];\n", shape);
}

static void put_site(const struct espi_network *net, int site, FILE *out)
{
    fprintf(out, "  subgraph cluster_%d {\n    label=", site);
    put_quoted(out, espi_names_text(&net->p->sites, site));
    fputs(";\n", out);
    for (int i = 0; i < net->p->n_nodes; i++)
        if (net->p->node_site[i] == site)
            put_node(net, i, "    ", out);
    fputs("  }\n", out);
}

static void put_ends(const struct esp_platform *p, int from, int to, FILE *out)
{
    fputs("  ", out);
    put_quoted(out, espi_node_name(p, from));
    fputs(" -> ", out);
    put_quoted(out, espi_node_name(p, to));
}

/* A pair stands once, with the link that was there first. */
static void put_link(const struct esp_platform *p, int link, FILE *out)
{
    int back = esp_platform_find_link(p, p->head[link], p->tail[link]);
    char there[32], here[32];

    if (back >= 0 && back < link)
        return;
    espi_format_bandwidth(there, sizeof there, p->bandwidth_Bps[link]);
    put_ends(p, p->tail[link], p->head[link], out);
    if (back >= 0 && p->bandwidth_Bps[back] != p->bandwidth_Bps[link])
        fprintf(out, " [dir=both, label=\"%s, back %s\"];\n", there,
                espi_format_bandwidth(here, sizeof here, p->bandwidth_Bps[back]));
    else
        fprintf(out, " [dir=%s, label=\"%s\"];\n", back >= 0 ? "both" : "forward", there);
}

static void put_plan(const struct espi_network *net, const struct esp_plan *plan,
                     FILE *out)
{
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        for (int i = 0; i < tree->n_edges; i++) {
            put_ends(net->p, tree->edges[i].from, tree->edges[i].to, out);
            fprintf(out,
                    " [color=\"%s\", penwidth=2, constraint=false, "
                    "tooltip=\"tree %d: %.1f%% of the message\"];\n",
                    tree_colours[t % ESPI_NETWORK_COLOURS], t + 1, 100 * tree->weight);
        }
    }
}

esp_status espi_dot_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_picture *picture = what;
    const struct espi_network *net = &picture->net;

    fputs("digraph {\n  label=", out);
    put_quoted(out, picture->title);
    fputs(";\n  node [fontname=\"sans-serif\"];\n"
          "  edge [color=\"#9aa7b5\", fontname=\"sans-serif\", fontsize=9];\n",
          out);
    for (int s = 0; s < net->p->n_sites; s++)
        put_site(net, s, out);
    for (int i = 0; i < net->p->n_nodes; i++)
        if (net->p->node_site[i] < 0)
            put_node(net, i, "  ", out);
    for (int e = 0; e < net->p->n_links; e++)
        put_link(net->p, e, out);
    for (int i = 0; i < net->n_plans; i++)
        put_plan(net, net->plans[i], out);
    fputs("}\n", out);
    return ferror(out) ? espi_err(err, ESP_EIO, "cannot write the picture") : ESP_OK;
}
