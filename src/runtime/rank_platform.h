/* The ranks of a communicator as a platform of their own, so that the algorithms plan for
 * them: node i is rank i. The first rank on a host stands for the platform's node; the
 * others are hosts beside it, joined to it and to each other by fast links inside the
 * machine. What goes to another machine so passes the first rank, which keeps the
 * machine's ports honest. */
#ifndef ESPI_RUNTIME_RANK_PLATFORM_H
#define ESPI_RUNTIME_RANK_PLATFORM_H

#include <espalier/plan.h>
#include <espalier/platform.h>

struct espi_rank_platform {
    int n; /* ranks */
    struct esp_platform *p;
    int *leader; /* rank -> the first rank on its machine */
    int *link;   /* link of the network -> link of p, -1: not in it; or NULL */
};

/* The host of that name, else the one of the same name up to the first dot; -1: there is
 * none, or there are *several. */
int espi_find_host(const struct esp_platform *net, const char *name, int *several);

/* Finds the node of each rank by the name of its host: the whole name, else what stands
 * before the first dot of either. ESP_EINPUT names the first host that is not there. */
esp_status espi_find_nodes(const struct esp_platform *net, int n,
                           const char *const *host_name, int *node, struct esp_err *err);

/* The team of n ranks that run on these nodes of the network. Hosts without a rank are
 * left out; if the others cannot reach each other without them, they are taken as
 * switches. */
esp_status espi_rank_platform_create(struct espi_rank_platform *rank_platform,
                                     const struct esp_platform *net, int n,
                                     const int *node, struct esp_err *err);

/* n ranks on machines all equally near. */
esp_status espi_rank_platform_create_equal(struct espi_rank_platform *rank_platform,
                                           int n, struct esp_err *err);

void espi_rank_platform_done(struct espi_rank_platform *rank_platform);

/* A plan for the network as one for the team. ESP_EUNSUPPORTED when the root's machine is
 * not the plan's or when a host has no rank; but for broadcasts, also when one has
 * several. */
esp_status espi_rank_platform_adapt(const struct espi_rank_platform *rank_platform,
                                    const struct esp_platform *net, const int *node,
                                    const struct esp_plan *plan, int root,
                                    struct esp_plan **out, struct esp_err *err);

#endif
