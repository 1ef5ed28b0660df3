/* What the messages of a plan with steps take of the network. */
#ifndef ESPI_COST_POST_USES_H
#define ESPI_COST_POST_USES_H

#include "platform/resources.h"
#include "schedule/posts.h"

/* Post -> the resources it uses, each once, and for how long it holds each; as rows. */
struct espi_post_uses {
    int *start, *resource;
    double *time_s;
};

static inline double espi_post_bytes(const struct espi_posts *x, int post,
                                     double part_bytes)
{
    return espi_post_pieces(x, post) * part_bytes;
}

/* For parts of that length; -1 when out of memory. O(hops of all posts). */
int espi_post_uses_init(struct espi_post_uses *u, const struct esp_platform *p,
                        const struct espi_posts *x, const struct espi_resources *r,
                        double part_bytes, struct espi_arena *arena);

#endif
