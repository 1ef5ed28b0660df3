/* Plans in stock: of one message, root, targets and partitions those that no other known
 * plan beats both in time and in price. What is put in depends neither on a deadline nor
 * on a budget (ladder.h), and the answer to each is the best in stock that meets it. So
 * two questions, each asked by itself, agree: a later deadline never gets a dearer plan,
 * nor a larger budget a slower one, for all that met the tighter limit is there. The
 * cheapest of all is looked for first, and longest. What the search within deadlines
 * would find below its price, by less than its gap, is left out, so that who asks for the
 * cheapest need not wait for that search. */
#ifndef ESPI_SOLVE_PRICED_STOCK_H
#define ESPI_SOLVE_PRICED_STOCK_H

#include "solve/priced/mix.h"

/* A mix of trees, in the trees of the stock. */
struct espi_priced_plan {
    int n;
    int *tree;
    double *share;
};

/* What a mix takes with some number of machines; the same mix may have several. */
struct espi_priced_offer {
    double usd_bytes, usd_machines, time_s;
    int plan;
};

struct espi_priced_stock {
    struct espi_arena *arena;
    struct espi_priced_pool pool; /* trees of the plans */
    struct espi_priced_plan *plans;
    int n_plans;
    struct espi_priced_offer *offers; /* time rises, price falls */
    int n_offers;
    size_t plan_room, offer_room;
    /* What costs less is not put in: the cheapest of all has been looked for, and it
     * costs that. */
    double floor_usd;
    double fastest_bound; /* no plan in as many partitions takes less */
    int all;              /* all plans that there are were put in, or are beaten */
};

/* Memory from the arena, and some that espi_priced_stock_done gives back. */
esp_status espi_priced_stock_init(struct espi_priced_stock *stock,
                                  const struct espi_priced_model *m,
                                  struct espi_arena *arena, struct esp_err *err);
void espi_priced_stock_done(struct espi_priced_stock *stock);

/* Puts in the mix that was last evaluated (m->values), unless it is beaten: 0, or -1: out
 * of memory. */
int espi_priced_stock_put(struct espi_priced_stock *stock,
                          const struct espi_priced_model *m,
                          const struct espi_priced_pool *pool, const double *share,
                          int n);

/* The best offer that meets the deadline and budget of the task, of equals the fastest;
 * -1: none does. */
int espi_priced_stock_best(const struct espi_priced_stock *stock,
                           const struct espi_priced_task *task);

/* The offer as a mix in another pool, which gets its trees: 0, or -1. */
int espi_priced_stock_take(const struct espi_priced_stock *stock, int offer,
                           struct espi_priced_model *m, struct espi_priced_pool *pool,
                           struct espi_priced_mix *best);

#endif
