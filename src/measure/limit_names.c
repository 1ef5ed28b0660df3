/* The limits that were found, with names, as parts of the measured network. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/explain_impl.h"

/* By its areas, as many as there is room for: "lyon/1+3:out". */
static void name_group(const struct espi_fitting *t, const struct espi_limit *l,
                       char *name, size_t size)
{
    const struct espi_measured *net = t->net;
    int site = net->subsite_site[l->a], first = net->first_subsite[site];
    int out = l->kind == ESPI_LIMIT_GROUP_OUT;
    const size_t tail = sizeof "+1234+...:out"; /* looks: of a name */
    int n = snprintf(name, size, "%s/%d", net->site_name[site], l->a - first + 1);
    for (int a = l->a + 1; a < net->first_subsite[site + 1]; a++) {
        int is_member = 0;
        for (int b = first; b < net->first_subsite[site + 1]; b++)
            is_member |= l->pairs[out ? a * t->n_areas + b : b * t->n_areas + a];
        if (!is_member)
            continue;
        if ((size_t)n + tail > size) {
            n += snprintf(name + n, size - (size_t)n, "+...");
            break;
        }
        n += snprintf(name + n, size - (size_t)n, "+%d", a - first + 1);
    }
    snprintf(name + n, size - (size_t)n, out ? ":out" : ":in");
}

static void name_limit(const struct espi_fitting *t, const struct espi_limit *l,
                       int *cores, char *name, size_t size)
{
    const struct espi_measured *net = t->net;
    static const char *const ways[] = {"out", "in", "both"};
    int is_area = l->kind <= ESPI_LIMIT_BOTH;
    int site =
        is_area || l->kind == ESPI_LIMIT_AREA_CABLE ? net->subsite_site[l->a] : l->a;
    switch (l->kind) {
    case ESPI_LIMIT_OUT:
    case ESPI_LIMIT_IN:
    case ESPI_LIMIT_BOTH:
        if (net->first_subsite[site + 1] - net->first_subsite[site] > 1) {
            snprintf(name, size, "%s/%d:%s", net->site_name[site],
                     l->a - net->first_subsite[site] + 1, ways[l->kind - ESPI_LIMIT_OUT]);
            break;
        }
        snprintf(name, size, "wan:%s:%s", net->site_name[site],
                 ways[l->kind - ESPI_LIMIT_OUT]);
        break;
    case ESPI_LIMIT_SITE_OUT:
    case ESPI_LIMIT_SITE_IN:
    case ESPI_LIMIT_SITE_BOTH:
        snprintf(name, size, "wan:%s:%s", net->site_name[site],
                 ways[l->kind - ESPI_LIMIT_SITE_OUT]);
        break;
    case ESPI_LIMIT_CABLE:
    case ESPI_LIMIT_CABLE_BOTH:
        snprintf(name, size, "wan:%s%s%s", net->site_name[l->a],
                 l->kind == ESPI_LIMIT_CABLE ? ">" : "<>", net->site_name[l->b]);
        break;
    case ESPI_LIMIT_AREA_CABLE:
        snprintf(name, size, "%s/%d>%d", net->site_name[site],
                 l->a - net->first_subsite[site] + 1,
                 l->b - net->first_subsite[site] + 1);
        break;
    case ESPI_LIMIT_GROUP_OUT:
    case ESPI_LIMIT_GROUP_IN:
        name_group(t, l, name, size);
        break;
    case ESPI_LIMIT_MEDIUM:
        snprintf(name, size, "%s:medium", net->site_name[site]);
        break;
    case ESPI_LIMIT_WINDOW:
    case ESPI_LIMIT_TURN:
    case ESPI_LIMIT_SET:
        snprintf(name, size, "wan:core%d", ++*cores);
        break;
    }
}

static int by_name(const void *x, const void *y)
{
    const struct espi_limit *a = *(struct espi_limit *const *)x,
                            *b = *(struct espi_limit *const *)y;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a > b) - (a < b); /* both of the list of candidates */
}

static void limit_single_flows(struct espi_measured *net, const struct espi_limit *l)
{
    int s = net->n_sites;
    if (l->kind == ESPI_LIMIT_WINDOW)
        net->flow_Bps[l->a * s + l->b] = l->Bps;
    for (int k = 0; k < s * s && l->kind == ESPI_LIMIT_TURN; k++)
        if (k / s != k % s && net->site_latency_s[k] > 0)
            net->flow_Bps[k] =
                fmin(net->flow_Bps[k], l->Bps / (2 * net->site_latency_s[k]));
}

/* A wire that is all that leaves a site, say, is called so. */
static void take_name(const struct espi_fitting *t, struct espi_limit *l)
{
    size_t cells = (size_t)t->n_areas * (size_t)t->n_areas;
    for (int i = 0; i < t->n_candidates && l->wire; i++) {
        const struct espi_limit *other = &t->candidates[i];
        if (other->kind == ESPI_LIMIT_SET || espi_limit_is_single(other) ||
            memcmp(other->pairs, l->pairs, cells) != 0)
            continue;
        l->kind = other->kind;
        l->a = other->a;
        l->b = other->b;
        return;
    }
}

int espi_write_limits(const struct espi_fitting *t)
{
    struct espi_measured *net = t->net;
    int n = t->n_areas, cores = 0;
    for (int c = 0; c < t->n_chosen; c++)
        take_name(t, t->chosen[c]);
    qsort(t->chosen, (size_t)t->n_chosen, sizeof *t->chosen, by_name);
    for (int c = 0; c < t->n_chosen; c++) {
        const struct espi_limit *l = t->chosen[c];
        if (espi_limit_is_single(l)) {
            limit_single_flows(net, l);
            continue;
        }
        struct espi_shared *shared = espi_measured_add_shared(net, l->Bps);
        if (!shared)
            return -1;
        name_limit(t, l, &cores, shared->name, sizeof shared->name);
        for (int k = 0; k < n * n; k++)
            if (l->pairs[k] && k / n < net->n_subsites && k % n < net->n_subsites &&
                espi_measured_add_pair(net, k / n, k % n))
                return -1;
    }
    return 0;
}
