#include "support/races.h"

#include <math.h>
#include <stdlib.h>

#include "platform/platform.h"
#include "support/small_platform.h"

struct esp_platform *race_example(int real)
{
    static const double measured[6][6] = {{0, 2, 3, 6, 7, 8}, {2, 0, 4, 3, 6, 7},
                                          {3, 4, 0, 7, 3, 5}, {6, 3, 7, 0, 5, 4},
                                          {7, 6, 3, 5, 0, 4}, {8, 7, 5, 4, 4, 0}};
    struct small_arc arcs[30];
    int m = 0;
    for (int u = 0; u < 6; u++)
        for (int v = 0; v < 6; v++)
            if (u != v)
                arcs[m++] = (struct small_arc){u, v, measured[u][v]};
    static const struct small_arc wrong[] = {
        {3, 5, 20}, {5, 3, 20}, {0, 5, 6}, {2, 4, 9}, {1, 4, 3}};
    for (int i = 0; i < m && real; i++)
        for (int k = 0; k < 5; k++)
            if (arcs[i].from == wrong[k].from && arcs[i].to == wrong[k].to)
                arcs[i].time_s = wrong[k].time_s;
    return small_platform(ESP_MODEL_ONE_PORT, 6, arcs, m);
}

struct esp_platform *race_reality(const struct esp_platform *p, struct espi_rng *rng,
                                  int whole)
{
    struct small_arc *arcs = calloc((size_t)p->n_links + 1, sizeof *arcs);
    if (!arcs)
        abort();
    for (int e = 0; e < p->n_links; e++) {
        double time_s = p->latency_s[e] * espi_rng_log_range(rng, 1. / 3, 3);
        arcs[e] = (struct small_arc){p->tail[e], p->head[e],
                                     whole ? fmax(1, round(time_s)) : time_s};
    }
    struct esp_platform *q = small_platform(p->model, p->n_nodes, arcs, p->n_links);
    free(arcs);
    return q;
}
