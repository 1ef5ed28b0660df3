#include "bound/own_bound.h"

#include <math.h>

/* Resources of hosts: what a send and a receive take of each. */
struct own {
    int n;
    const struct espi_resources *res;
    int *host;               /* resource -> host, -1: nobody's */
    double *send_s, *recv_s; /* resource */
    int *n_sends, *n_recvs;  /* resource -> arcs that use it so */
    double *room;            /* scratch: host -> sends it has time for */
};

static int own_init(struct own *o, const struct espi_view *v, struct espi_arena *arena)
{
    int resources = v->links.n;
    *o = (struct own){.n = v->g.n, .res = &v->links};
    o->host = ESPI_ARENA_NEW(arena, int, resources);
    o->send_s = ESPI_ARENA_ZNEW(arena, double, resources);
    o->recv_s = ESPI_ARENA_ZNEW(arena, double, resources);
    o->n_sends = ESPI_ARENA_ZNEW(arena, int, resources);
    o->n_recvs = ESPI_ARENA_ZNEW(arena, int, resources);
    o->room = ESPI_ARENA_NEW(arena, double, o->n);
    if (!o->host || !o->send_s || !o->recv_s || !o->n_sends || !o->n_recvs || !o->room)
        return -1;
    for (int r = 0; r < resources; r++) {
        int owner;
        espi_resource_kind kind = espi_resource_kind_of(&v->links, r, &owner);
        int is_link = kind == ESPI_LINK || kind == ESPI_CABLE;
        o->host[r] = is_link ? -1 : v->host[owner];
    }
    return 0;
}

/* Notes what a use takes; 0: it is not as that of others before it. */
static int note_use(double *time_s, int *count, double s)
{
    if (*count && fabs(*time_s - s) > 1e-12 * s)
        return 0;
    *time_s = fmax(*time_s, s);
    ++*count;
    return 1;
}

/* Is it so that hosts have costs of their own only? */
static int note_all(struct own *o, const struct espi_view *v)
{
    for (int e = 0; e < v->g.m; e++)
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++) {
            int r = v->use_resource[k], host = o->host[r];
            if (host < 0 || (host != v->g.tail[e] && host != v->g.head[e]))
                return 0;
            int fits = host == v->g.tail[e]
                           ? note_use(&o->send_s[r], &o->n_sends[r], v->use_s[k])
                           : note_use(&o->recv_s[r], &o->n_recvs[r], v->use_s[k]);
            if (!fits)
                return 0;
        }
    for (int r = 0; r < v->links.n; r++)
        if ((o->n_sends[r] && o->n_sends[r] != o->n - 1) ||
            (o->n_recvs[r] && o->n_recvs[r] != o->n - 1))
            return 0;
    return 1;
}

/* Below this no host has time for its receives and one send. */
static double least_s(const struct own *o)
{
    double s = 0;
    for (int r = 0; r < o->res->n; r++)
        s = fmax(s, (o->n - 1) * o->recv_s[r] + o->send_s[r]);
    return s;
}

/* How often all together can send in that time. */
static double sends_in(struct own *o, double all_s)
{
    double sum = 0;
    for (int h = 0; h < o->n; h++)
        o->room[h] = INFINITY;
    for (int r = 0; r < o->res->n; r++)
        if (o->send_s[r] > 0) {
            double *room = &o->room[o->host[r]];
            *room = fmin(*room, (all_s - (o->n - 1) * o->recv_s[r]) / o->send_s[r]);
        }
    for (int h = 0; h < o->n; h++)
        sum += o->room[h];
    return sum;
}

int espi_all_own_s(const struct espi_view *v, struct espi_arena *arena, double *period_s)
{
    struct own o;
    double n = v->g.n, want = n * (n - 1);
    *period_s = 0;
    if (v->g.n < 2 || v->g.n < v->p->n_nodes || v->g.m != v->g.n * (v->g.n - 1))
        return 0;
    if (own_init(&o, v, arena))
        return -1;
    if (!note_all(&o, v))
        return 0;
    double low_s = least_s(&o), high_s = 2 * low_s;
    while (isfinite(high_s) && sends_in(&o, high_s) < want)
        high_s *= 2;
    if (!(low_s > 0) || !isfinite(high_s))
        return 0;
    for (int i = 0; i < 100 && sends_in(&o, low_s) < want; i++) {
        double mid_s = (low_s + high_s) / 2;
        if (sends_in(&o, mid_s) < want)
            low_s = mid_s;
        else
            high_s = mid_s;
    }
    *period_s = low_s / n;
    return 0;
}
