#include "cost/post_uses.h"

/* Adds what a post takes over one link to its row, which ends at `at`; gives its new
 * end. */
static int add_link(struct espi_post_uses *u, const struct esp_platform *p,
                    const struct espi_resources *r, int link, double bytes, int first,
                    int at)
{
    for (int k = r->start[link]; k < r->start[link + 1]; k++) {
        int x = first;
        while (x < at && u->resource[x] != r->resource[k])
            x++;
        if (x == at) {
            u->resource[at] = r->resource[k];
            u->time_s[at++] = 0;
        }
        u->time_s[x] += espi_use_time_s(r, p, link, k, bytes);
    }
    return at;
}

int espi_post_uses_init(struct espi_post_uses *u, const struct esp_platform *p,
                        const struct espi_posts *x, const struct espi_resources *r,
                        double part_bytes, struct espi_arena *arena)
{
    size_t most = 0, n = (size_t)x->n;
    for (int i = 0; i < x->n; i++)
        for (int h = 0; h < x->post[i].n_hops; h++) {
            int link = espi_post_hops(x, i)[h];
            most += (size_t)(r->start[link + 1] - r->start[link]);
        }
    u->start = ESPI_ARENA_ZNEW(arena, int, n + 1);
    u->resource = ESPI_ARENA_NEW(arena, int, most);
    u->time_s = ESPI_ARENA_NEW(arena, double, most);
    if (!u->start || !u->resource || !u->time_s)
        return -1;
    for (int i = 0; i < x->n; i++) {
        int first = u->start[i], at = first;
        for (int h = 0; h < x->post[i].n_hops; h++)
            at = add_link(u, p, r, espi_post_hops(x, i)[h],
                          espi_post_bytes(x, i, part_bytes), first, at);
        u->start[i + 1] = at;
    }
    return 0;
}
