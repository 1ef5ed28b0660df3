/* Can all hosts be reached from a root, and which cannot? */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

enum { NAMED = 5 }; /* looks: as many as are read */

/* Marks what root reaches; returns the number of hosts reached, -1 when out of memory. */
static int reach_hosts(const struct esp_platform *p, int root, unsigned char *seen)
{
    int *queue = ESPI_NEW(int, p->n_nodes);
    if (!queue)
        return -1;
    int size = 0, hosts = 0;
    queue[size++] = root;
    seen[root] = 1;
    for (int i = 0; i < size; i++) {
        int u = queue[i];
        hosts += !espi_is_switch(p, u);
        for (int k = p->out.start[u]; k < p->out.start[u + 1]; k++) {
            int v = p->head[p->out.item[k]];
            if (!seen[v])
                seen[v] = 1, queue[size++] = v;
        }
    }
    espi_free(queue);
    return hosts;
}

/* What is told of the hosts that are not reached, in the order of their numbers. */
struct unreached {
    const struct esp_platform *p;
    const unsigned char *seen;
    int *hosts, *missing; /* by site; missing is 0 when it was told */
    char list[400];
    size_t used;
    int named, told; /* names, and the hosts that they stand for */
};

static void count_sites(struct unreached *x)
{
    for (int v = 0; v < x->p->n_nodes; v++)
        if (!espi_is_switch(x->p, v) && x->p->node_site[v] >= 0) {
            x->hosts[x->p->node_site[v]]++;
            x->missing[x->p->node_site[v]] += !x->seen[v];
        }
}

static void tell_name(struct unreached *x, const char *name, int hosts)
{
    char shown[48], count[32] = "";
    if (hosts > 1)
        snprintf(count, sizeof count, " (%d hosts)", hosts);
    int n = snprintf(x->list + x->used, sizeof x->list - x->used, "%s%s%s",
                     x->named ? ", " : "", espi_quote(shown, sizeof shown, name), count);
    x->used += (size_t)n;
    x->named++;
    x->told += hosts;
}

/* A site of which no host is reached is told as one. */
static void tell_host(struct unreached *x, int v)
{
    int site = x->p->node_site[v];
    if (site < 0 || x->hosts[site] < 2 ||
        (x->missing[site] && x->missing[site] < x->hosts[site])) {
        tell_name(x, espi_node_name(x->p, v), 1);
    } else if (x->missing[site]) {
        tell_name(x, espi_names_text(&x->p->sites, site), x->hosts[site]);
        x->missing[site] = 0;
    }
}

static esp_status tell_unreached(const struct esp_platform *p, int root,
                                 const unsigned char *seen, int missing,
                                 struct esp_err *err)
{
    struct unreached x = {.p = p, .seen = seen};
    char shown[48];
    x.hosts = espi_calloc(2 * (size_t)p->n_sites + 1, sizeof *x.hosts);
    if (!x.hosts)
        return espi_err_nomem(err);
    x.missing = x.hosts + p->n_sites;
    count_sites(&x);
    for (int v = 0; v < p->n_nodes && x.named < NAMED; v++)
        if (!seen[v] && !espi_is_switch(p, v))
            tell_host(&x, v);
    espi_free(x.hosts);
    return espi_err(err, ESP_EINPUT, "%d of %d hosts cannot be reached from %s: %s%s",
                    missing, p->n_hosts,
                    espi_quote(shown, sizeof shown, espi_node_name(p, root)), x.list,
                    missing > x.told ? ", ..." : "");
}

esp_status esp_platform_check_root(const struct esp_platform *p, int root,
                                   struct esp_err *err)
{
    if (root < 0 || root >= p->n_nodes)
        return espi_err(err, ESP_EUSAGE, "no node number %d", root);
    if (espi_is_switch(p, root)) {
        char shown[64];
        return espi_err(err, ESP_EINPUT, "%s is a switch and cannot be the root",
                        espi_quote(shown, sizeof shown, espi_node_name(p, root)));
    }
    unsigned char *seen = espi_calloc((size_t)p->n_nodes, 1);
    int hosts = seen ? reach_hosts(p, root, seen) : -1;
    esp_status st = ESP_OK;
    if (hosts < 0)
        st = espi_err_nomem(err);
    else if (hosts < p->n_hosts)
        st = tell_unreached(p, root, seen, p->n_hosts - hosts, err);
    espi_free(seen);
    return st;
}
