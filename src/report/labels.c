#include "report/labels.h"

#include <math.h>

#include "report/network.h"

/* looks: of the letters of espi_network_style, in units of the picture */
enum {
    NODE_LETTER = 75, /* width of a letter, in tenths */
    SITE_LETTER = 66, /* of the height, in hundredths */
    NODE_HEIGHT = 14,
    SITE_PX = 16, /* in pictures of up to LARGE; in larger ones more */
    LARGE = 1000,
    DISC = 9, /* of a node */
    GAP = 13, /* from the node to its name */
    RIM = 18, /* from the disc of a site to its name */
    TRIES = 6,
    PLACES = 3, /* of the name of a site */
};

struct box {
    double left, top, right, bottom;
};

struct placer {
    const struct esp_platform *p;
    const struct espi_picture_layout *layout;
    int site_px;
    int nodes_show;  /* or are they too many to be told apart? */
    struct box *box; /* of names that are placed */
    int n;
};

/* What is tried: where the name begins, ends or has its middle, from the node. */
struct offset {
    espi_label_anchor anchor;
    int x, y;
};

int espi_letters(const char *name)
{
    int n = 0;
    for (; *name; name++)
        n += ((unsigned char)*name & 0xc0) != 0x80;
    return n;
}

static struct box box_of(double x, double y, espi_label_anchor anchor, double width,
                         double height)
{
    double left = anchor == ESPI_LABEL_STARTS ? x
                  : anchor == ESPI_LABEL_ENDS ? x - width
                                              : x - width / 2;
    return (struct box){left, y - 0.8 * height, left + width, y + 0.25 * height};
}

static int overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom &&
           b->top < a->bottom;
}

static int meets_name(const struct placer *x, const struct box *b)
{
    for (int i = 0; i < x->n; i++)
        if (overlap(&x->box[i], b))
            return 1;
    return 0;
}

static int meets_node(const struct placer *x, const struct box *b)
{
    for (int v = 0; v < x->p->n_nodes; v++) {
        double cx = x->layout->node[v].x * ESPI_NETWORK_SCALE,
               cy = x->layout->node[v].y * ESPI_NETWORK_SCALE;
        struct box disc = {cx - DISC, cy - DISC, cx + DISC, cy + DISC};
        if (overlap(&disc, b))
            return 1;
    }
    return 0;
}

static int is_inside(const struct placer *x, const struct box *b)
{
    return b->left >= 0 && b->top >= 0 &&
           b->right <= x->layout->width * ESPI_NETWORK_SCALE &&
           b->bottom <= x->layout->height * ESPI_NETWORK_SCALE;
}

/* Away from the middle of the site first. */
static void list_offsets(const struct placer *x, int v, struct offset out[TRIES])
{
    const struct espi_group *group = &x->layout->groups[x->layout->group_of[v]];
    int left = x->layout->node[v].x - group->centre.x < -0.5;
    int y = x->layout->node[v].y < group->centre.y ? -7 : 11;
    struct offset right_side = {ESPI_LABEL_STARTS, GAP, y},
                  left_side = {ESPI_LABEL_ENDS, -GAP, y};
    out[0] = left ? left_side : right_side;
    out[1] = out[0];
    out[1].y = 4;
    out[2] = (struct offset){ESPI_LABEL_MIDDLE, 0, y < 0 ? -GAP : GAP + NODE_HEIGHT - 2};
    out[3] = (struct offset){ESPI_LABEL_MIDDLE, 0, y < 0 ? GAP + NODE_HEIGHT - 2 : -GAP};
    out[4] = left ? right_side : left_side;
    out[5] = out[4];
    out[5].y = 4;
}

static void place_node(struct placer *x, int v, int in_any_case, struct espi_label *out)
{
    struct offset tries[TRIES];
    double width = espi_letters(espi_node_name(x->p, v)) * NODE_LETTER / 10.0;
    double cx = x->layout->node[v].x * ESPI_NETWORK_SCALE,
           cy = x->layout->node[v].y * ESPI_NETWORK_SCALE;
    list_offsets(x, v, tries);
    for (int i = 0; i < TRIES && out->anchor == ESPI_LABEL_LEFT_OUT; i++) {
        struct box b =
            box_of(cx + tries[i].x, cy + tries[i].y, tries[i].anchor, width, NODE_HEIGHT);
        int fits = is_inside(x, &b) && !meets_name(x, &b) && !meets_node(x, &b);
        if (!fits && !(in_any_case && i == TRIES - 1))
            continue;
        *out = (struct espi_label){tries[i].anchor, tries[i].x, tries[i].y};
        x->box[x->n++] = b;
    }
}

/* Above its disc, or below, at first where no node is, then where it may cover one; above
 * it in any case: what sites there are shall be seen. */
static void place_site(struct placer *x, int g, struct espi_label *out)
{
    const struct espi_group *k = &x->layout->groups[g];
    double width = espi_letters(espi_names_text(&x->p->sites, k->site)) * SITE_LETTER *
                   x->site_px / 100.0;
    double height = 1.2 * x->site_px;
    double cx = k->centre.x * ESPI_NETWORK_SCALE, cy = k->centre.y * ESPI_NETWORK_SCALE;
    int rim = (int)lround(k->radius * ESPI_NETWORK_SCALE) + RIM;
    int y[PLACES] = {-rim, rim + x->site_px - 2, -rim - x->site_px};
    int last = 2 * PLACES;
    for (int i = x->nodes_show ? 0 : PLACES; i <= last; i++) {
        int at = y[i % PLACES];
        struct box b = box_of(cx, cy + at, ESPI_LABEL_MIDDLE, width, height);
        int is_free = !meets_name(x, &b) && (i >= PLACES || !meets_node(x, &b));
        if (!(is_free && is_inside(x, &b)) && i < last)
            continue;
        *out = (struct espi_label){ESPI_LABEL_MIDDLE, 0, at};
        x->box[x->n++] = b;
        return;
    }
}

/* Sites first, then the root, hosts, and what forwards where there is room left. */
int espi_labels_place(struct espi_labels *out, const struct esp_platform *p,
                      const struct espi_picture_layout *layout, int root, int most,
                      struct espi_arena *arena)
{
    struct placer x = {.p = p, .layout = layout, .nodes_show = p->n_nodes <= most};
    size_t n = (size_t)p->n_nodes, groups = (size_t)layout->n_groups;
    double high = layout->height * ESPI_NETWORK_SCALE;
    x.site_px = high > LARGE ? (int)lround(SITE_PX * high / LARGE) : SITE_PX;
    out->site_px = x.site_px;
    out->node = ESPI_ARENA_ZNEW(arena, struct espi_label, n + 1);
    out->group = ESPI_ARENA_ZNEW(arena, struct espi_label, groups + 1);
    x.box = ESPI_ARENA_NEW(arena, struct box, n + groups + 1);
    if (!out->node || !out->group || !x.box)
        return -1;
    for (int g = 0; g < layout->n_groups; g++) {
        const struct espi_group *k = &layout->groups[g];
        if (k->site >= 0 && (k->n_nodes > 1 || layout->n_groups <= most))
            place_site(&x, g, &out->group[g]);
    }
    if (root >= 0)
        place_node(&x, root, 1, &out->node[root]);
    for (int forwards = 0; forwards < 2 && p->n_nodes <= most; forwards++)
        for (int v = 0; v < p->n_nodes; v++)
            if (v != root && espi_is_switch(p, v) == forwards)
                place_node(&x, v, 0, &out->node[v]);
    return 0;
}
