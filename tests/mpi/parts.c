/* Scatter, gather and allgather, also with parts of different sizes: every root, sizes
 * from nothing on, data in place, arguments that mean nothing on a rank and are garbage
 * there, and ranks that describe the same bytes by different counts and types. */
#include "check.h"

static void *const GARBAGE = (void *)16;

/* How a rank describes n bytes, n a multiple of 4: with `stride` bytes from one to the
 * next piece of `piece`. */
struct shape {
    MPI_Datatype type;
    int per_part; /* elements */
    int piece, stride;
};

static void make_shape(struct shape *s, int how, int n)
{
    *s = (struct shape){MPI_BYTE, n, 1, 1};
    if (how % 4 == 0)
        MPI_Type_dup(MPI_BYTE, &s->type);
    else if (how % 4 == 1) {
        *s = (struct shape){MPI_INT, n / 4, 4, 4};
        MPI_Type_contiguous(1, MPI_INT, &s->type);
    } else if (how % 4 == 2) {
        *s = (struct shape){MPI_BYTE, n / 4, 4, 7};
        MPI_Type_contiguous(4, MPI_BYTE, &s->type);
        MPI_Datatype inner = s->type;
        MPI_Type_create_resized(inner, 0, 7, &s->type);
        MPI_Type_free(&inner);
    } else {
        *s = (struct shape){MPI_BYTE, n / 2, 2, 5};
        MPI_Datatype inner;
        MPI_Type_vector(2, 1, 1, MPI_BYTE, &inner);
        MPI_Type_create_resized(inner, 0, 5, &s->type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&s->type);
}

static size_t room(const struct shape *s, size_t bytes)
{
    return (bytes / (size_t)s->piece + 1) * (size_t)s->stride;
}

static size_t place(const struct shape *s, size_t i)
{
    return i / (size_t)s->piece * (size_t)s->stride + i % (size_t)s->piece;
}

/* Byte i of rank r's part. */
static unsigned char byte_of(int r, size_t i)
{
    return check_byte((unsigned)r * 31 + 7, i);
}

static void fill(unsigned char *at, const struct shape *s, int first, int count, int n,
                 int with)
{
    memset(at, 0x5a, room(s, (size_t)count * (size_t)n));
    for (int r = 0; r < count && with; r++)
        for (int i = 0; i < n; i++)
            at[place(s, (size_t)r * (size_t)n + (size_t)i)] =
                byte_of(first + r, (size_t)i);
}

/* All there, and nothing else touched. */
static void look(const unsigned char *at, const struct shape *s, int first, int count,
                 int n)
{
    size_t bytes = (size_t)count * (size_t)n, next = 0;
    long wrong = 0, touched = 0;
    for (int r = 0; r < count; r++)
        for (int i = 0; i < n; i++) {
            size_t here = place(s, (size_t)r * (size_t)n + (size_t)i);
            for (; next < here; next++)
                touched += at[next] != 0x5a;
            next = here + 1;
            wrong += at[here] != byte_of(first + r, (size_t)i);
        }
    for (; next < room(s, bytes); next++)
        touched += at[next] != 0x5a;
    CHECK(wrong == 0);
    CHECK(touched == 0);
}

struct scene {
    MPI_Comm comm;
    int rank, size, n, in_place;
    struct shape whole, part;
    unsigned char *all, *own;
};

static void set_scene(struct scene *s, MPI_Comm comm, int n, int how, int in_place)
{
    s->comm = comm;
    s->n = n;
    s->in_place = in_place;
    MPI_Comm_rank(comm, &s->rank);
    MPI_Comm_size(comm, &s->size);
    make_shape(&s->whole, how, n);
    make_shape(&s->part, how + 1 + s->rank, n);
    s->all = check_alloc(room(&s->whole, (size_t)n * (size_t)s->size));
    s->own = check_alloc(room(&s->part, (size_t)n));
}

static void clear_scene(struct scene *s)
{
    MPI_Type_free(&s->whole.type);
    MPI_Type_free(&s->part.type);
    free(s->all);
    free(s->own);
}

static void scatter(struct scene *s, int root)
{
    int here = s->rank == root;
    fill(s->all, &s->whole, 0, s->size, s->n, 1);
    fill(s->own, &s->part, s->rank, 1, s->n, 0);
    if (here && s->in_place) {
        CHECK(!MPI_Scatter(s->all, s->whole.per_part, s->whole.type, MPI_IN_PLACE, -7,
                           MPI_DATATYPE_NULL, root, s->comm));
        look(s->all, &s->whole, 0, s->size, s->n);
    } else if (here) {
        CHECK(!MPI_Scatter(s->all, s->whole.per_part, s->whole.type, s->own,
                           s->part.per_part, s->part.type, root, s->comm));
        look(s->own, &s->part, s->rank, 1, s->n);
    } else {
        CHECK(!MPI_Scatter(GARBAGE, -3, MPI_DATATYPE_NULL, s->own, s->part.per_part,
                           s->part.type, root, s->comm));
        look(s->own, &s->part, s->rank, 1, s->n);
    }
}

static void gather(struct scene *s, int root)
{
    int here = s->rank == root;
    fill(s->all, &s->whole, 0, s->size, s->n, 0);
    fill(s->own, &s->part, s->rank, 1, s->n, 1);
    if (here && s->in_place) {
        for (int i = 0; i < s->n; i++)
            s->all[place(&s->whole, (size_t)root * (size_t)s->n + (size_t)i)] =
                byte_of(root, (size_t)i);
        CHECK(!MPI_Gather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, s->all, s->whole.per_part,
                          s->whole.type, root, s->comm));
    } else if (here) {
        CHECK(!MPI_Gather(s->own, s->part.per_part, s->part.type, s->all,
                          s->whole.per_part, s->whole.type, root, s->comm));
    } else {
        CHECK(!MPI_Gather(s->own, s->part.per_part, s->part.type, GARBAGE, -3,
                          MPI_DATATYPE_NULL, root, s->comm));
    }
    if (here)
        look(s->all, &s->whole, 0, s->size, s->n);
    look(s->own, &s->part, s->rank, 1, s->n);
}

static void allgather(struct scene *s)
{
    fill(s->all, &s->whole, 0, s->size, s->n, 0);
    fill(s->own, &s->part, s->rank, 1, s->n, 1);
    if (s->in_place) {
        for (int i = 0; i < s->n; i++)
            s->all[place(&s->whole, (size_t)s->rank * (size_t)s->n + (size_t)i)] =
                byte_of(s->rank, (size_t)i);
        CHECK(!MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, s->all,
                             s->whole.per_part, s->whole.type, s->comm));
    } else {
        CHECK(!MPI_Allgather(s->own, s->part.per_part, s->part.type, s->all,
                             s->whole.per_part, s->whole.type, s->comm));
    }
    look(s->all, &s->whole, 0, s->size, s->n);
}

/* Parts of different sizes, some empty, with a gap of three bytes before each. */
static void varying(MPI_Comm comm, int n, int root, int in_place)
{
    int rank, size, counts[64], at[64], total = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 == 1 ? 0 : n / (r + 1);
        at[r] = total + (size > 1 ? 3 : 0); /* alone, MPICH 4.0 forgets the place */
        total = at[r] + counts[r];
    }
    unsigned char *all = check_alloc((size_t)total), *own = check_alloc((size_t)n);
    for (int kind = 0; kind < 3; kind++) {
        memset(all, 0x5a, (size_t)total);
        for (int i = 0; i < counts[rank]; i++)
            own[i] = byte_of(rank, (size_t)i);
        if (in_place && kind == 0)
            memcpy(all + at[rank], own, (size_t)counts[rank]);
        if (kind == 0)
            CHECK(!MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, counts[rank], MPI_BYTE,
                                  all, counts, at, MPI_BYTE, comm));
        else if (kind == 1)
            CHECK(!MPI_Gatherv(own, counts[rank], MPI_BYTE, rank == root ? all : GARBAGE,
                               rank == root ? counts : NULL, rank == root ? at : NULL,
                               rank == root ? MPI_BYTE : MPI_DATATYPE_NULL, root, comm));
        for (int r = 0; kind < 2 && r < size; r++)
            for (int i = size > 1 ? -3 : 0; i < counts[r] && (kind == 0 || rank == root);
                 i++)
                CHECK(all[at[r] + i] == (i < 0 ? 0x5a : byte_of(r, (size_t)i)));
        for (int r = 0; kind == 2 && r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                all[at[r] + i] = byte_of(r, (size_t)i);
        memset(own, 0, (size_t)n);
        if (kind == 2)
            CHECK(!MPI_Scatterv(rank == root ? all : GARBAGE,
                                rank == root ? counts : NULL, rank == root ? at : NULL,
                                rank == root ? MPI_BYTE : MPI_DATATYPE_NULL, own,
                                counts[rank], MPI_BYTE, root, comm));
        for (int i = 0; kind == 2 && i < counts[rank]; i++)
            CHECK(own[i] == byte_of(rank, (size_t)i));
    }
    free(all);
    free(own);
}

#if MPI_VERSION >= 4
/* The calls with large counts, small. */
static void large(MPI_Comm comm, int n)
{
    int rank, size;
    MPI_Count counts[64];
    MPI_Aint at[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct shape s = {MPI_BYTE, n, 1, 1};
    unsigned char *all = check_alloc(room(&s, (size_t)n * (size_t)size));
    unsigned char *own = check_alloc(room(&s, (size_t)n));
    fill(own, &s, rank, 1, n, 1);
    fill(all, &s, 0, size, n, 0);
    CHECK(!MPI_Gather_c(own, n, MPI_BYTE, all, n, MPI_BYTE, 0, comm));
    if (rank == 0)
        look(all, &s, 0, size, n);
    CHECK(!MPI_Scatter_c(all, n, MPI_BYTE, own, n, MPI_BYTE, 0, comm));
    for (int i = 0; i < n; i++)
        CHECK(own[i] == byte_of(rank, (size_t)i));
    CHECK(!MPI_Allgather_c(own, n, MPI_BYTE, all, n, MPI_BYTE, comm));
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        at[r] = (MPI_Aint)(size - 1 - r) * n;
        for (int i = 0; i < n; i++)
            CHECK(all[(size_t)r * (size_t)n + (size_t)i] == byte_of(r, (size_t)i));
    }
    CHECK(!MPI_Allgatherv_c(own, n, MPI_BYTE, all, counts, at, MPI_BYTE, comm));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            CHECK(all[(size_t)at[r] + (size_t)i] == byte_of(r, (size_t)i));
    if (rank == 0)
        check_fill(all, (size_t)n, 99);
    CHECK(!MPI_Bcast_c(all, n, MPI_BYTE, 0, comm));
    CHECK(check_wrong(all, (size_t)n, 99) == -1);
    free(all);
    free(own);
}
#endif

static void all_of(MPI_Comm comm)
{
    static const int sizes[] = {0, 4, 1000, 52428, 400004};
    int size, round = 0;
    MPI_Comm_size(comm, &size);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (int root = 0; root < size && (root < 3 || k < 4); root++, round++) {
            struct scene s;
            set_scene(&s, comm, sizes[k], round, round / 2 % 2);
            scatter(&s, root);
            gather(&s, root);
            if (root < 4)
                allgather(&s);
            clear_scene(&s);
            if (root < 2)
                varying(comm, sizes[k], root, round % 2);
        }
#if MPI_VERSION >= 4
        large(comm, sizes[k]);
#endif
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
