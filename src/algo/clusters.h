/* Who is near whom: hosts as clusters, cut where distances between them jump. */
#ifndef ESPI_ALGO_CLUSTERS_H
#define ESPI_ALGO_CLUSTERS_H

#include "algo/allgather/pairs.h"

struct espi_clusters {
    struct espi_pairs pairs;
    double part_bytes;
    int n;
    int *order;     /* place -> host; the hosts of a site stand together at every cut */
    double *join_s; /* place -> how far it is from those before it */
    int m;          /* sites of the cut at hand */
    int *first;     /* site -> its first place; [m]: n */
    int *leader;    /* site -> place */
};

/* Hosts in the order in which single linkage joins them, by how long a part takes between
 * them. -1 when out of memory. O(n^2), and the distances. */
int espi_clusters_init(struct espi_clusters *c, const struct espi_task *task,
                       double part_bytes);

/* Cuts them into sites at the widest gap between distances (gap 1), or at the second
 * widest (2), ... Where all hosts are equally far each is a site. ESP_EUNSUPPORTED where
 * there are not so many gaps. */
esp_status espi_clusters_cut(struct espi_clusters *c, int gap, struct espi_arena *arena,
                             struct esp_err *err);

static inline int espi_site_size(const struct espi_clusters *c, int site)
{
    return c->first[site + 1] - c->first[site];
}

#endif
