/* Growing a tree greedily: again and again the informed host that makes the best offer
 * sends. What FEF, ECEF, look-ahead and extended shortest paths share; they differ in
 * what they offer.
 *
 * A lazy heap holds one offer of each informed host. Offers only get worse (receivers
 * are taken, senders become busy), so that an old offer is a lower bound: the best one
 * is made anew when it comes to the top, and sinks when it was stale. */
#ifndef ESPI_ALGO_ATOMIC_GREEDY_H
#define ESPI_ALGO_ATOMIC_GREEDY_H

#include "algo/algo.h"
#include "algo/offers.h"

/* An arc beside what it is sorted by. */
struct espi_ranked_arc {
    double lag_s;
    int to, arc;
};

struct espi_greedy {
    const struct espi_view *v;
    int root;
    struct espi_ranked_arc *ranked; /* in the rows of v->g.out: by lag, then receiver */
    int *next;                      /* host -> place in its row; those before are taken */
    unsigned char *informed;
    double *ready_s;           /* when an informed host can send next */
    struct espi_offers offers; /* the second of each: when the receiver would have it */
    int *chosen;               /* arcs in the order of choice, which is a send order */
    int n_chosen;
};

/* The best offer of an informed host as things stand; 0: it has nobody left to send to.
 * Must never get better from one call to the next. */
typedef int (*espi_offer_fn)(void *self, struct espi_greedy *g, int sender,
                             struct espi_offer *offer);

/* Memory from the task's arena; -1 when out of memory. O(m log n). */
int espi_greedy_init(struct espi_greedy *g, const struct espi_task *task);

/* The fastest arc from the host to one not informed, or NULL. */
const struct espi_ranked_arc *espi_fastest_open(struct espi_greedy *g, int host);

/* Grows until every host is informed. */
void espi_greedy_run(struct espi_greedy *g, espi_offer_fn offer, void *self);

/* All of it, and the tree as a plan in the order of choice. */
esp_status espi_greedy_plan(const struct espi_task *task, espi_offer_fn offer,
                            struct esp_plan *plan, struct esp_err *err);

/* Offers the receiver that would have the message first: ECEF. */
int espi_offer_earliest(void *self, struct espi_greedy *g, int sender,
                        struct espi_offer *offer);

#endif
