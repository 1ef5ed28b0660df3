/* Trees of a plan drawn as text, senders above their receivers. */
#include "base/arena.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/options/plans.h"
#include "cli/printing/term.h"
#include "platform/platform.h"

/* The edges of one tree by sender: a child is the edge that leads to it. */
struct drawing {
    const struct esp_platform *p;
    const struct esp_tree *tree;
    int *first, *next;   /* node -> its first edge; edge -> the sender's next; -1 */
    int *last;           /* node -> its last edge so far */
    int *path;           /* edges from the root down to where we are */
    unsigned char *more; /* by level: do siblings follow? */
};

static int drawing_init(struct drawing *d, const struct esp_platform *p,
                        const struct esp_tree *tree, struct espi_arena *a)
{
    int n = p->n_nodes, m = tree->n_edges;

    *d = (struct drawing){.p = p, .tree = tree};
    d->first = ESPI_ARENA_NEW(a, int, n);
    d->last = ESPI_ARENA_NEW(a, int, n);
    d->next = ESPI_ARENA_NEW(a, int, m);
    d->path = ESPI_ARENA_NEW(a, int, m + 1);
    d->more = ESPI_ARENA_NEW(a, unsigned char, m + 1);
    if (!d->first || !d->last || !d->next || !d->path || !d->more)
        return -1;
    for (int u = 0; u < n; u++)
        d->first[u] = d->last[u] = -1;
    for (int i = 0; i < m; i++) {
        int u = tree->edges[i].from;
        d->next[i] = -1;
        *(d->last[u] < 0 ? &d->first[u] : &d->next[d->last[u]]) = i;
        d->last[u] = i;
    }
    return 0;
}

static void print_name(const struct esp_platform *p, int node)
{
    char name[64];

    fputs(espi_quote(name, sizeof name, espi_node_name(p, node)), stdout);
}

static void print_edge(const struct drawing *d, int edge, int level)
{
    bool utf8 = cli_term_utf8();
    const struct esp_edge *e = &d->tree->edges[edge];
    const int *hops = d->tree->hops + e->first_hop;
    double slowest = d->p->bandwidth_Bps[hops[0]];
    char text[32];

    fputs("  ", stdout);
    for (int i = 0; i < level; i++)
        fputs(!d->more[i] ? "   " : utf8 ? "\xe2\x94\x82  " : "|  ", stdout);
    if (d->more[level])
        fputs(utf8 ? "\xe2\x94\x9c\xe2\x94\x80 " : "|- ", stdout);
    else
        fputs(utf8 ? "\xe2\x94\x94\xe2\x94\x80 " : "`- ", stdout);
    print_name(d->p, e->to);
    for (int k = 1; k < e->n_hops; k++) {
        double Bps = d->p->bandwidth_Bps[hops[k]];
        slowest = Bps < slowest ? Bps : slowest;
        fputs(k == 1 ? " via " : ", ", stdout);
        print_name(d->p, d->p->tail[hops[k]]);
    }
    printf("  %s%s%s\n", cli_dim(stdout),
           espi_format_bandwidth(text, sizeof text, slowest), cli_plain(stdout));
}

static void draw_tree(struct drawing *d, int root)
{
    int level = 0, edge = d->first[root];

    fputs("  ", stdout);
    print_name(d->p, root);
    putchar('\n');
    while (level >= 0) {
        if (edge < 0) { /* up, and on to the next sibling */
            if (--level >= 0)
                edge = d->next[d->path[level]];
            continue;
        }
        d->path[level] = edge;
        d->more[level] = d->next[edge] >= 0;
        print_edge(d, edge, level++);
        edge = d->first[d->tree->edges[edge].to];
    }
}

int cli_draw_plan(const struct esp_plan *plan, const struct esp_platform *p)
{
    struct espi_arena arena;
    int bad = 0;

    espi_arena_init(&arena);
    for (int t = 0; t < plan->n_trees && !bad; t++) {
        struct drawing d;
        printf("\n%s", cli_bold(stdout));
        if (plan->n_trees > 1)
            printf("Tree %d, %.3g%% of the message", t + 1, 100 * plan->trees[t].weight);
        else
            printf("Tree");
        printf("%s\n", cli_plain(stdout));
        bad = drawing_init(&d, p, &plan->trees[t], &arena);
        if (!bad)
            draw_tree(&d, plan->root);
        espi_arena_done(&arena);
    }
    return bad;
}

int cli_plan_depth(const struct esp_plan *plan, const struct esp_platform *p)
{
    struct espi_arena arena;
    int deepest = 0;

    espi_arena_init(&arena);
    int *depth = ESPI_ARENA_ZNEW(&arena, int, p->n_nodes);
    for (int t = 0; depth && t < plan->n_trees; t++)
        for (int i = 0; i < plan->trees[t].n_edges; i++) {
            const struct esp_edge *e = &plan->trees[t].edges[i];
            depth[e->to] = e->from == plan->root ? 1 : depth[e->from] + 1;
            deepest = depth[e->to] > deepest ? depth[e->to] : deepest;
        }
    espi_arena_done(&arena);
    return depth ? deepest : -1;
}
