#include "algo/congestion.h"

#include "base/softmax_price.h"

int espi_congestion_init(struct espi_congestion *c, const struct espi_view *v,
                         struct espi_arena *arena)
{
    *c = (struct espi_congestion){.v = v};
    c->load_s = ESPI_ARENA_ZNEW(arena, double, v->links.n);
    c->price = ESPI_ARENA_NEW(arena, double, v->links.n);
    c->weight = ESPI_ARENA_NEW(arena, double, v->g.m);
    return c->load_s && c->price && c->weight ? 0 : -1;
}

double espi_congestion_most_s(const struct espi_congestion *c)
{
    return espi_softmax_largest(c->load_s, c->v->links.n);
}

/* What is loaded like the most loaded is some hundred times as dear as what is idle. */
void espi_congestion_price(struct espi_congestion *c)
{
    const struct espi_view *v = c->v;
    double most_s = espi_congestion_most_s(c);

    for (int r = 0; r < v->links.n; r++) {
        double x = most_s > 0 ? 1 + c->load_s[r] / most_s : 1, y = x * x * x * x;
        c->price[r] = y * y;
    }
    for (int e = 0; e < v->g.m; e++) {
        c->weight[e] = 0;
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            c->weight[e] += v->use_s[k] * c->price[v->use_resource[k]];
    }
}
