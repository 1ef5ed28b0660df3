/* Whether a request asks for something that the platform can do. */
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "graph/reach.h"
#include "plan/ops.h"

static esp_status check_target(const struct esp_platform *p, int i,
                               const struct esp_request *r, unsigned char *seen,
                               struct esp_err *err)
{
    int v = r->targets[i];
    char a[64];
    if (v < 0 || v >= p->n_nodes)
        return espi_err(err, ESP_EUSAGE, "target %d: no node number %d", i, v);
    espi_quote(a, sizeof a, espi_node_name(p, v));
    if (espi_is_switch(p, v))
        return espi_err(err, ESP_EINPUT, "%s is a switch and cannot be a target", a);
    if (v == r->root)
        return espi_err(err, ESP_EUSAGE,
                        "%s is the root, and needs no place among the "
                        "targets",
                        a);
    if (seen[v]++)
        return espi_err(err, ESP_EUSAGE, "%s is a target twice", a);
    return ESP_OK;
}

static esp_status check_way(const struct esp_platform *p, int v,
                            const struct esp_request *r, const unsigned char *seen,
                            int back, struct esp_err *err)
{
    char a[64], b[64];
    if (seen[v])
        return ESP_OK;
    espi_quote(a, sizeof a, espi_node_name(p, back ? v : r->root));
    espi_quote(b, sizeof b, espi_node_name(p, back ? r->root : v));
    return espi_err(err, ESP_EINPUT, "no path leads from %s to %s", a, b);
}

/* Is there a way between the root and all who take part? */
static esp_status check_ways(const struct esp_platform *p, const struct esp_request *r,
                             int back, unsigned char *seen, int *order,
                             struct esp_err *err)
{
    struct espi_digraph g = {p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    int n = r->targets ? r->n_targets : p->n_nodes;
    esp_status st = ESP_OK;
    if (back)
        espi_reach_back(&g, r->root, NULL, seen, order);
    else
        espi_reach(&g, r->root, NULL, seen, order);
    for (int i = 0; i < n && !st; i++) {
        int v = r->targets ? r->targets[i] : i;
        if (!espi_is_switch(p, v))
            st = check_way(p, v, r, seen, back, err);
    }
    return st;
}

static esp_status check_all(const struct esp_platform *p, const struct esp_request *r,
                            unsigned char *seen, int *order, struct esp_err *err)
{
    esp_status st = ESP_OK;
    memset(seen, 0, (size_t)p->n_nodes);
    for (int i = 0; i < r->n_targets && r->targets && !st; i++)
        st = check_target(p, i, r, seen, err);
    int both = espi_op_frees_roots(r->op);
    if (!st && (both || !espi_op_collects(r->op)))
        st = check_ways(p, r, 0, seen, order, err);
    if (!st && (both || espi_op_collects(r->op)))
        st = check_ways(p, r, 1, seen, order, err);
    return st;
}

esp_status espi_check_ends(const struct esp_platform *p, const struct esp_request *r,
                           struct esp_err *err)
{
    if (r->targets && !espi_op_takes_targets(r->op))
        return espi_err(err, ESP_EUSAGE, "%s %s is for all hosts: it takes no targets",
                        espi_article(esp_op_name(r->op)), esp_op_name(r->op));
    if (r->targets && r->n_targets < 1)
        return espi_err(err, ESP_EUSAGE, "there are no targets");
    if (r->op == ESP_OP_BCAST || r->root < 0 || r->root >= p->n_nodes ||
        espi_is_switch(p, r->root))
        return esp_platform_check_root(p, r->root, err);
    unsigned char *seen = espi_malloc((size_t)p->n_nodes);
    int *order = ESPI_NEW(int, p->n_nodes);
    esp_status st =
        seen && order ? check_all(p, r, seen, order, err) : espi_err_nomem(err);
    espi_free(seen);
    espi_free(order);
    return st;
}
