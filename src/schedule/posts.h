/* The messages of a plan with steps as hosts send them: cut at every host that passes
 * them on, in the order of sending, with what each waits for. */
#ifndef ESPI_SCHEDULE_POSTS_H
#define ESPI_SCHEDULE_POSTS_H

#include "plan/messages.h"
#include "platform/platform.h"

struct espi_post {
    int message;
    int leg;               /* which stretch of the message's path */
    int is_last;           /* `to` keeps the data; else it passes them on */
    int from, to;          /* nodes, hosts both */
    int first_hop, n_hops; /* from the message's hops */
};

/* A host sends its posts in their order, and a post waits only for ones before it: those
 * of earlier steps, or for the stretch before its own. So nothing ever waits for what
 * waits for it. */
struct espi_posts {
    const struct esp_plan *plan;
    struct espi_messages messages;
    int n;
    struct espi_post *post;  /* by step, then by leg */
    int *need_start, *needs; /* post -> posts that its sender waits for, as rows */
};

/* The posts of a checked plan; -1 when out of memory. O(edges log edges + trees *
 * nodes). */
int espi_posts_init(struct espi_posts *x, const struct esp_platform *p,
                    const struct esp_plan *plan, struct espi_arena *arena);

static inline int espi_post_pieces(const struct espi_posts *x, int post)
{
    int m = x->post[post].message;
    return x->messages.start[m + 1] - x->messages.start[m];
}

static inline const int *espi_post_hops(const struct espi_posts *x, int post)
{
    return espi_message_hops(&x->messages, x->plan, x->post[post].message) +
           x->post[post].first_hop;
}

#endif
