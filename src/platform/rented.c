#include "base/alloc.h"
#include "base/err.h"
#include "platform/part.h"
#include "platform/platform.h"
#include "platform/prices.h"

/* Ports count once for each machine, links once for each pair of machines. */
static void count_factors(const struct esp_platform *p, const int *count, double *link,
                          double *cable)
{
    int is_out;
    for (int e = 0; e < p->n_links; e++) {
        int a = count[p->tail[e]], b = count[p->head[e]];
        link[e] = a && b ? (a < b ? a : b) : 1;
    }
    for (int s = 0; s < p->n_shared; s++) {
        int owner = espi_port_owner(p, s, &is_out);
        cable[s] = owner >= 0 && count[owner] ? count[owner] : 1;
    }
}

esp_status espi_platform_rented(const struct esp_platform *p, const int *count,
                                struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *joined = NULL;
    double *link = ESPI_NEW(double, p->n_links + 1);
    double *cable = ESPI_NEW(double, p->n_shared + 1);
    int *hosts = ESPI_NEW(int, p->n_nodes + 1), n = 0;
    esp_status st = link && cable && hosts ? ESP_OK : espi_err_nomem(err);

    if (!st) {
        count_factors(p, count, link, cable);
        for (int v = 0; v < p->n_nodes; v++)
            if (count[v])
                hosts[n++] = v;
        st = espi_platform_scaled(p, link, cable, &joined, err);
    }
    if (!st)
        st = espi_platform_part(joined, n, hosts, out, NULL, err);
    esp_platform_free(joined);
    espi_free(link);
    espi_free(cable);
    espi_free(hosts);
    return st;
}
