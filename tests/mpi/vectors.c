/* MPI_Scatterv, MPI_Gatherv and MPI_Alltoallv: parts of many sizes and of nothing, in
 * places of any order with gaps between them, plain and with gaps inside, by different
 * types on both sides and on different ranks, in place, with room for more than comes;
 * blocking, non-blocking, persistent and with large counts; among all ranks and among
 * some in another order. Every byte is checked, also those that must not be touched. */
#include "blocks.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { RANKS = 32, UNTOUCHED = 0x5a };

/* One side of a call: parts as this rank has them. */
struct side {
    struct shape s;
    int count[RANKS], at[RANKS]; /* elements */
    size_t room;
    unsigned char *data, *want;
};

struct scene {
    MPI_Comm comm;
    int rank, size, root, base, turn, in_place, more;
};

/* The bytes from one rank for another, four each. Alike in both directions where all is
 * in place. */
static int bytes_of(const struct scene *s, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    int k = s->in_place ? 3 * low + 5 * high : 3 * from + 5 * to;
    return s->base / 8 * ((k + s->turn) % 3) * 4;
}

/* Elements of a part as the shape has them. */
static int elements(const struct shape *s, int bytes)
{
    return s->type == MPI_BYTE ? bytes : bytes / 4;
}

/* The place of byte i of what begins at an element. */
static size_t place_of(const struct shape *s, int at, size_t i)
{
    return place(s, (size_t)at * (s->type == MPI_BYTE ? 1 : 4) + i);
}

/* From the last part to the first, with room for an element more after each. */
static void lay(const struct scene *c, struct side *s, int how, int incoming)
{
    int next = 0;
    s->s = make_shape(how, 4); /* elements do not hang on the count */
    for (int r = c->size - 1; r >= 0; r--) {
        int bytes = incoming ? bytes_of(c, r, c->rank) : bytes_of(c, c->rank, r);
        s->count[r] = elements(&s->s, bytes);
        s->at[r] = next;
        next += s->count[r] + elements(&s->s, 4);
    }
    s->room = place_of(&s->s, next, 0) + 64;
    s->data = check_alloc(s->room);
    s->want = check_alloc(s->room);
    memset(s->data, UNTOUCHED, s->room);
    memset(s->want, UNTOUCHED, s->room);
}

static void put(unsigned char *data, const struct side *s, int at, int from, int to,
                int bytes)
{
    for (int i = 0; i < bytes; i++)
        data[place_of(&s->s, at, (size_t)i)] = byte_of(from, to, (size_t)i);
}

static void done(struct side *s)
{
    CHECK(memcmp(s->data, s->want, s->room) == 0);
    free_shape(&s->s);
    free(s->data);
    free(s->want);
}

/* ---- calls in five manners ---- */

enum manner { NOW, LATER, AGAIN, LARGE, LARGE_LATER, MANNERS };

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(Name, ...) MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#elif MPI_VERSION >= 4
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#else
#define INIT(Name, ...) MPI_##Name(__VA_ARGS__)
#endif

/* Twice, where it can be started again. */
static void finish(enum manner manner, MPI_Request *request)
{
    for (int i = 0; i < 2 && manner == AGAIN && *request != MPI_REQUEST_NULL; i++) {
        CHECK(!MPI_Start(request));
        CHECK(!MPI_Wait(request, MPI_STATUS_IGNORE));
    }
    if (manner == AGAIN && *request != MPI_REQUEST_NULL)
        CHECK(!MPI_Request_free(request));
    CHECK(!MPI_Wait(request, MPI_STATUS_IGNORE));
}

#define MAKE(manner, Name, IName, ...)                                                   \
    do {                                                                                 \
        MPI_Request request = MPI_REQUEST_NULL;                                          \
        CHECK(!(manner == NOW     ? MPI_##Name(__VA_ARGS__)                              \
                : manner == LATER ? MPI_##IName(__VA_ARGS__, &request)                   \
                                  : INIT(Name, __VA_ARGS__)));                           \
        finish(manner, &request);                                                        \
    } while (0)

#if MPI_VERSION >= 4
#define MAKE_LARGE(manner, Name, IName, ...)                                             \
    do {                                                                                 \
        MPI_Request request = MPI_REQUEST_NULL;                                          \
        CHECK(!(manner == LARGE ? MPI_##Name##_c(__VA_ARGS__)                            \
                                : MPI_##IName##_c(__VA_ARGS__, &request)));              \
        CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));                                   \
    } while (0)

struct large {
    MPI_Count count[RANKS];
    MPI_Aint at[RANKS];
};

static struct large large_of(const struct side *s)
{
    struct large l;
    for (int r = 0; r < RANKS; r++) {
        l.count[r] = s->count[r];
        l.at[r] = s->at[r];
    }
    return l;
}
#endif

/* ---- from the root, and to it ---- */

static void *const GARBAGE = (void *)16;

/* Of the root's parts those for the root and from it are the same. */
static void scatter(const struct scene *c, enum manner manner)
{
    struct side whole = {.room = 0}, own = {.room = 0};
    int here = c->rank == c->root, in_place = here && c->in_place;
    int bytes = bytes_of(c, c->root, c->rank);
    lay(c, &whole, c->turn, 0);
    lay(c, &own, c->turn + 1 + c->rank, 1);
    int count = elements(&own.s, bytes), at = own.at[c->root];
    for (int r = 0; here && r < c->size; r++) {
        put(whole.data, &whole, whole.at[r], c->rank, r, bytes_of(c, c->rank, r));
        put(whole.want, &whole, whole.at[r], c->rank, r, bytes_of(c, c->rank, r));
    }
    if (!in_place)
        put(own.want, &own, at, c->root, c->rank, bytes);
    void *to = in_place ? MPI_IN_PLACE : own.data + place_of(&own.s, at, 0);
    count += c->more && !here ? elements(&own.s, 4) : 0; /* there is room */
    if (manner >= LARGE) {
#if MPI_VERSION >= 4
        struct large l = large_of(&whole);
        MAKE_LARGE(manner, Scatterv, Iscatterv, here ? whole.data : GARBAGE,
                   here ? l.count : NULL, here ? l.at : GARBAGE, whole.s.type, to, count,
                   own.s.type, c->root, c->comm);
#endif
    } else {
        MAKE(manner, Scatterv, Iscatterv, here ? whole.data : GARBAGE,
             here ? whole.count : NULL, here ? whole.at : GARBAGE, whole.s.type, to,
             count, own.s.type, c->root, c->comm);
    }
    done(&whole);
    done(&own);
}

static void gather(const struct scene *c, enum manner manner)
{
    struct side whole = {.room = 0}, own = {.room = 0};
    int here = c->rank == c->root, in_place = here && c->in_place;
    int bytes = bytes_of(c, c->rank, c->root);
    lay(c, &whole, c->turn + 1, 1);
    lay(c, &own, c->turn + 2 + c->rank, 0);
    int at = own.at[c->root];
    put(own.data, &own, at, c->rank, c->root, bytes);
    put(own.want, &own, at, c->rank, c->root, bytes);
    for (int r = 0; here && r < c->size; r++)
        put(whole.want, &whole, whole.at[r], r, c->rank, bytes_of(c, r, c->rank));
    if (in_place)
        put(whole.data, &whole, whole.at[c->rank], c->rank, c->rank, bytes);
    const void *from = in_place ? MPI_IN_PLACE : own.data + place_of(&own.s, at, 0);
    int count = elements(&own.s, bytes);
    if (manner >= LARGE) {
#if MPI_VERSION >= 4
        struct large l = large_of(&whole);
        MAKE_LARGE(manner, Gatherv, Igatherv, from, count, own.s.type,
                   here ? whole.data : GARBAGE, here ? l.count : NULL,
                   here ? l.at : GARBAGE, whole.s.type, c->root, c->comm);
#endif
    } else {
        MAKE(manner, Gatherv, Igatherv, from, count, own.s.type,
             here ? whole.data : GARBAGE, here ? whole.count : NULL,
             here ? whole.at : GARBAGE, whole.s.type, c->root, c->comm);
    }
    done(&whole);
    done(&own);
}

/* ---- among all ---- */

static void exchange(const struct scene *c, enum manner manner)
{
    struct side out = {.room = 0}, in = {.room = 0};
    lay(c, &out, c->turn + c->rank, 0);
    lay(c, &in, c->turn / 3 + 2 * c->rank, 1);
    for (int r = 0; r < c->size; r++) {
        put(out.data, &out, out.at[r], c->rank, r, bytes_of(c, c->rank, r));
        put(out.want, &out, out.at[r], c->rank, r, bytes_of(c, c->rank, r));
        put(in.want, &in, in.at[r], r, c->rank, bytes_of(c, r, c->rank));
        if (c->in_place)
            put(in.data, &in, in.at[r], c->rank, r, bytes_of(c, c->rank, r));
    }
    const void *from = c->in_place ? MPI_IN_PLACE : out.data;
    if (manner >= LARGE) {
#if MPI_VERSION >= 4
        struct large lo = large_of(&out), li = large_of(&in);
        MAKE_LARGE(manner, Alltoallv, Ialltoallv, from, lo.count, lo.at, out.s.type,
                   in.data, li.count, li.at, in.s.type, c->comm);
#endif
    } else {
        MAKE(manner, Alltoallv, Ialltoallv, from, out.count, out.at, out.s.type, in.data,
             in.count, in.at, in.s.type, c->comm);
    }
    done(&out);
    done(&in);
}

/* Do plans run all, also what does not wait? */
static int by_plans(void)
{
    return getenv("VECTORS_BY_PLANS") != NULL;
}

/* Libraries themselves: Open MPI 4.1.4 may wait for ever in non-blocking alltoalls in
 * place, and what has come is sent again by a second start. MPICH 4.0.2 brings wrong
 * bytes in persistent gathers. */
static int is_safe(const struct scene *c, enum manner manner)
{
    return !(c->in_place && ((manner == LATER && !by_plans()) || manner == AGAIN));
}

/* Libraries wait for ever for what the root does not send; plans do not, where there is
 * something for anybody. */
static int may_have_room(const struct scene *c)
{
    int bytes = 0;
    for (int r = 0; r < c->size; r++)
        bytes += r == c->root ? 0 : bytes_of(c, c->root, r);
    return by_plans() && bytes > 0;
}

static void all_of(MPI_Comm comm)
{
    static const int sizes[] = {0, 8, 64, 1000, 20000, 131072};
    struct scene c = {.comm = comm};
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.size);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int round = 0; round < 2 * MANNERS; round++, c.turn++) {
            enum manner manner = (enum manner)(round % MANNERS);
            c.base = sizes[k];
            c.root = c.turn % c.size;
            c.in_place = round / MANNERS;
            c.more = 0;
            if (manner >= LARGE && MPI_VERSION < 4)
                manner = manner == LARGE ? NOW : LATER;
            scatter(&c, manner);
            c.more = may_have_room(&c);
            scatter(&c, manner);
            gather(&c, manner);
            if (is_safe(&c, manner))
                exchange(&c, manner);
        }
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    check_begin(&argc, &argv);
    all_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    all_of(half);
    MPI_Comm_free(&half);
    return check_end();
}
