#include "algo/search/twins.h"

/* Do two arcs take the same times, and the same cables? */
static int arcs_alike(const struct espi_view *v, int a, int b)
{
    if (a < 0 || b < 0)
        return a == b;
    int first = v->use_start[a], other = v->use_start[b];
    int n_uses = v->use_start[a + 1] - first;
    if (v->lag_s[a] != v->lag_s[b] || v->hold_s[a] != v->hold_s[b] ||
        v->time_s[a] != v->time_s[b] || v->use_start[b + 1] - other != n_uses)
        return 0;
    for (int k = 0; k < n_uses; k++) {
        int r = v->use_resource[first + k], s = v->use_resource[other + k];
        if (v->use_s[first + k] != v->use_s[other + k] ||
            ((r >= v->links.first_cable || s >= v->links.first_cable) && r != s))
            return 0;
    }
    return 1;
}

static int find_arc(const struct espi_view *v, int from, int to)
{
    for (int k = v->g.out.start[from]; k < v->g.out.start[from + 1]; k++)
        if (v->g.head[v->g.out.item[k]] == to)
            return v->g.out.item[k];
    return -1;
}

/* Would exchanging the two change anything? */
static int are_twins(const struct espi_view *v, int a, int b)
{
    if (!arcs_alike(v, find_arc(v, a, b), find_arc(v, b, a)))
        return 0;
    for (int h = 0; h < v->g.n; h++)
        if (h != a && h != b &&
            (!arcs_alike(v, find_arc(v, a, h), find_arc(v, b, h)) ||
             !arcs_alike(v, find_arc(v, h, a), find_arc(v, h, b))))
            return 0;
    return 1;
}

void espi_find_twins(const struct espi_view *v, int root, espi_hostset *twins)
{
    /* Arcs through switches share links in more ways than arcs_alike looks at. */
    int look = v->p->n_hosts == v->p->n_nodes;
    for (int a = 0; a < v->g.n; a++) {
        twins[a] = 0;
        for (int b = 0; look && b < v->g.n; b++)
            if (a != b && a != root && b != root && are_twins(v, a, b))
                twins[a] |= espi_hostset_of(b);
    }
}
