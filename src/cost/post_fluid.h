/* Messages of plans with steps where transfers share what they meet on. */
#ifndef ESPI_COST_POST_FLUID_H
#define ESPI_COST_POST_FLUID_H

#include "platform/platform.h"
#include "schedule/posts.h"

struct espi_post_fluid {
    const struct esp_platform *p; /* of the capacity model */
    const struct espi_posts *posts;
    const struct espi_rows *sends; /* node -> its posts, in order */
    int n_resources;
    /* post -> the resources it uses, and for how long it would take each alone; as rows
     */
    const int *use_start, *use_resource;
    const double *use_s;
};

/* When each post has arrived. A host starts its posts in their order, each as soon as it
 * has the data, and those under way share the network max-min fairly; they arrive a
 * latency after they have left. -1 when out of memory. O(log posts) a post, and what it
 * takes to change the rates that it changes (graph/fair_rates.h). */
int espi_post_fluid_run(const struct espi_post_fluid *m, struct espi_arena *arena,
                        double *done_s);

#endif
