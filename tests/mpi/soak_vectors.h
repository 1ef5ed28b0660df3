/* Of the soak: scatters, gathers and alltoalls of parts of different sizes. */
#ifndef TESTS_MPI_SOAK_VECTORS_H
#define TESTS_MPI_SOAK_VECTORS_H

static void put_parts(const struct call *c, const struct unequal *u,
                      const struct shape *whole, unsigned char *at, int only)
{
    for (int r = 0; r < c->size; r++) {
        struct shape part = *whole;
        part.n = u->count[r];
        if (only < 0 || only == r)
            put(&part, at + u->at[r] * whole->stride, seed_of(c, r));
    }
}

static long scatterv(struct soaker *s, const struct call *c)
{
    struct unequal u = draw_parts(s, c);
    int is_root = c->rank == c->root, in_place = is_root && below(&s->own, 2);
    struct shape whole = describe(s, u.all, 1);
    struct shape own = describe(s, u.count[c->rank], 1);
    unsigned char *from = is_root ? room_for(&whole, 1) : NULL;
    unsigned char *to = room_for(&own, 1);
    if (is_root)
        put_parts(c, &u, &whole, from, -1);
    long bad = MAKE(s, c, Scatterv, Iscatterv, from, is_root ? u.count : NULL,
                    is_root ? u.at : NULL, whole.type, in_place ? MPI_IN_PLACE : to,
                    own.count, own.type, c->root, c->comm);
    if (!in_place)
        bad += wrong(&own, to, seed_of(c, c->rank));
    forget(&whole, &own, from, to);
    forget_parts(&u);
    return bad;
}

static long gatherv(struct soaker *s, const struct call *c)
{
    struct unequal u = draw_parts(s, c);
    int is_root = c->rank == c->root, in_place = is_root && below(&s->own, 2);
    struct shape whole = describe(s, u.all, 1);
    struct shape own = describe(s, u.count[c->rank], 1);
    unsigned char *to = is_root ? room_for(&whole, 1) : NULL;
    unsigned char *from = room_for(&own, 1);
    put(&own, from, seed_of(c, c->rank));
    if (in_place)
        put_parts(c, &u, &whole, to, c->rank);
    long bad = MAKE(s, c, Gatherv, Igatherv, in_place ? MPI_IN_PLACE : from, own.count,
                    own.type, to, is_root ? u.count : NULL, is_root ? u.at : NULL,
                    whole.type, c->root, c->comm);
    bad += is_root ? check_parts(c, &u, &whole, to) : 0;
    forget(&whole, &own, from, to);
    forget_parts(&u);
    return bad;
}

/* Of the parts of all pairs those that a rank sends, or those it gets; in place both are
 * of the same sizes. */
static struct unequal take_half(const struct call *c, const int *sizes, int sends,
                                int in_place)
{
    struct unequal h = {.count = check_alloc((size_t)c->size * sizeof *h.count),
                        .at = check_alloc((size_t)c->size * sizeof *h.at)};
    for (int r = c->size - 1; r >= 0; r--) {
        int from = sends ? c->rank : r, to = sends ? r : c->rank;
        if (in_place && from > to) {
            from = to;
            to = sends ? c->rank : r;
        }
        h.count[r] = sizes[from * c->size + to];
        h.at[r] = (int)h.all;
        h.all += h.count[r] + r % 2;
    }
    return h;
}

static int *draw_pairs(struct soaker *s, const struct call *c)
{
    int n = c->size * c->size, *sizes = check_alloc((size_t)n * sizeof *sizes);
    for (int k = 0; k < n; k++)
        sizes[k] =
            (int)(below(&s->lots, 5) ? below(&s->lots, 2 * c->n / c->size + 1) : 0);
    return sizes;
}

static long alltoallv(struct soaker *s, const struct call *c)
{
    /* in place Open MPI itself may wait for ever where the call does not wait */
    int in_place = (int)below(&s->lots, 2) && c->manner == NOW;
    int *sizes = draw_pairs(s, c);
    struct unequal out = take_half(c, sizes, 1, in_place);
    struct unequal in = take_half(c, sizes, 0, in_place);
    struct shape from = describe(s, out.all, 1), to = describe(s, in.all, 1);
    unsigned char *sent = room_for(&from, 1), *got = room_for(&to, 1);
    for (int r = 0; r < c->size; r++) {
        struct shape part = in_place ? to : from;
        part.n = out.count[r];
        put(&part, in_place ? got + in.at[r] * to.stride : sent + out.at[r] * from.stride,
            seed_of(c, c->rank * c->size + r));
    }
    long bad = MAKE(s, c, Alltoallv, Ialltoallv, in_place ? MPI_IN_PLACE : sent,
                    out.count, out.at, from.type, got, in.count, in.at, to.type, c->comm);
    for (int r = 0; r < c->size; r++) {
        struct shape part = to;
        part.n = in.count[r];
        bad +=
            wrong(&part, got + in.at[r] * to.stride, seed_of(c, r * c->size + c->rank));
    }
    forget(&from, &to, sent, got);
    free(sizes);
    forget_parts(&out);
    forget_parts(&in);
    return bad;
}

#endif
