/* Derived datatypes: gaps, reversed blocks, resized and struct types, pairs with padding,
 * and ranks that describe the same data by different counts and types. */
#include "check.h"

#define SEED(i) ((unsigned)(i) + 17)

/* How one rank describes n ints, n divisible by 12; place() tells where int i lies. */
struct shape {
    const char *name;
    void (*make)(int n, MPI_Datatype *type, int *count);
    long (*place)(int n, long i); /* in ints from the buffer */
    long (*room)(int n);          /* ints */
};

static long plain_place(int n, long i)
{
    (void)n;
    return i;
}

static long plain_room(int n)
{
    return n;
}

static void make_ints(int n, MPI_Datatype *type, int *count)
{
    MPI_Type_dup(MPI_INT, type);
    *count = n;
}

static void make_contiguous(int n, MPI_Datatype *type, int *count)
{
    MPI_Type_contiguous(n / 4, MPI_INT, type);
    *count = 4;
}

static void make_nested(int n, MPI_Datatype *type, int *count)
{
    MPI_Datatype inner;
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_contiguous(n / 3, inner, type);
    MPI_Type_free(&inner);
    *count = 1;
}

static void make_vector(int n, MPI_Datatype *type, int *count)
{
    MPI_Type_vector(n / 4, 2, 5, MPI_INT, type);
    *count = 2;
}

static long vector_place(int n, long i)
{
    long half = n / 2, element = i / half, at = i % half;
    return element * ((n / 4 - 1) * 5L + 2) + at / 2 * 5 + at % 2;
}

static long vector_room(int n)
{
    return 5L * n + 16;
}

/* Two blocks, the second in front of the first. */
static void make_reversed(int n, MPI_Datatype *type, int *count)
{
    int lengths[2] = {n / 3, n - n / 3};
    MPI_Aint at[2] = {(MPI_Aint)((size_t)(n - n / 3 + 7) * sizeof(int)), 0};
    MPI_Type_create_hindexed(2, lengths, at, MPI_INT, type);
    *count = 1;
}

static long reversed_place(int n, long i)
{
    return i < n / 3 ? n - n / 3 + 7 + i : i - n / 3;
}

static long reversed_room(int n)
{
    return n + 7L;
}

/* Two blocks side by side, the second in front of the first: size and extent agree, and
 * still it is not one piece in order. */
static void make_swapped(int n, MPI_Datatype *type, int *count)
{
    int lengths[2] = {1, 1}, at[2] = {1, 0};
    MPI_Type_indexed(2, lengths, at, MPI_INT, type);
    *count = n / 2;
}

static long swapped_place(int n, long i)
{
    (void)n;
    return i ^ 1;
}

static void make_resized(int n, MPI_Datatype *type, int *count)
{
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), type);
    *count = n;
}

static long resized_place(int n, long i)
{
    (void)n;
    return 3 * i;
}

static long resized_room(int n)
{
    return 3L * n;
}

static void make_struct(int n, MPI_Datatype *type, int *count)
{
    int lengths[2] = {1, 2};
    MPI_Aint at[2] = {sizeof(int), 4 * sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, at, types, type);
    *count = n / 3;
}

/* Its first byte lies one int behind the buffer, and its extent is five ints. */
static long struct_place(int n, long i)
{
    static const int at[3] = {1, 4, 5};
    (void)n;
    return i / 3 * 5 + at[i % 3];
}

static long struct_room(int n)
{
    return n / 3 * 5L + 6;
}

static const struct shape shapes[] = {
    {"ints", make_ints, plain_place, plain_room},
    {"contiguous", make_contiguous, plain_place, plain_room},
    {"nested", make_nested, plain_place, plain_room},
    {"vector", make_vector, vector_place, vector_room},
    {"reversed", make_reversed, reversed_place, reversed_room},
    {"swapped", make_swapped, swapped_place, plain_room},
    {"resized", make_resized, resized_place, resized_room},
    {"struct", make_struct, struct_place, struct_room},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static int value(unsigned seed, long i)
{
    return (int)(seed * 2654435761u + (unsigned)i * 40503u);
}

static void one(const struct shape *s, int n, int root, unsigned seed)
{
    MPI_Datatype type;
    int count;
    long room = s->room(n), wrong = 0, touched = 0;
    int *data = check_alloc((size_t)room * sizeof *data);
    char *is_data = check_alloc((size_t)room);
    s->make(n, &type, &count);
    MPI_Type_commit(&type);
    memset(is_data, 0, (size_t)room);
    memset(data, 0x55, (size_t)room * sizeof *data);
    for (long i = 0; i < n; i++) {
        is_data[s->place(n, i)] = 1;
        if (check_rank == root)
            data[s->place(n, i)] = value(seed, i);
    }
    CHECK(MPI_Bcast(data, count, type, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (long i = 0; i < n; i++)
        wrong += data[s->place(n, i)] != value(seed, i);
    for (long i = 0; i < room; i++)
        touched += !is_data[i] && data[i] != 0x55555555;
    if (wrong || touched)
        fprintf(stderr, "%s: %ld wrong, %ld touched\n", s->name, wrong, touched);
    CHECK(!wrong && !touched);
    MPI_Type_free(&type);
    free(is_data);
    free(data);
}

/* Pairs have padding inside, which is no part of the data. */
static void pairs(int n, int root)
{
    struct pair {
        double d;
        int i;
    } *data = check_alloc((size_t)n * sizeof *data);
    for (int i = 0; i < n; i++)
        data[i] = check_rank == root ? (struct pair){i * 0.5, i} : (struct pair){-1, -1};
    MPI_Bcast(data, n, MPI_DOUBLE_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(data[i].d == i * 0.5 && data[i].i == i);
    free(data);
}

/* Addresses from MPI_BOTTOM. */
static void bottom(int n, int root)
{
    int *data = check_alloc((size_t)n * sizeof *data);
    MPI_Aint at;
    MPI_Datatype type;
    MPI_Get_address(data, &at);
    MPI_Type_create_hindexed(1, &n, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < n; i++)
        data[i] = check_rank == root ? value(3, i) : 0;
    MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(data[i] == value(3, i));
    MPI_Type_free(&type);
    free(data);
}

/* Nothing, described in several ways: a type without bytes, a count of 0. */
static void nothing(void)
{
    MPI_Datatype empty;
    char c = 'x';
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Bcast(&c, 5, empty, 0, MPI_COMM_WORLD);
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    if (check_rank == 0) /* the same nothing, told differently */
        MPI_Bcast(&c, 7, empty, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(&c, 0, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(c == 'x');
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {12, 1200, 12000, 120000};
    unsigned seed = 1;
    check_begin(&argc, &argv);
    for (int k = 0; k < 4; k++)
        for (int a = 0; a < N_SHAPES; a++)
            for (int b = 0; b < N_SHAPES; b++, seed++)
                one(&shapes[(check_rank & 1) ? a : b], sizes[k], (int)seed % check_size,
                    seed);
    pairs(10, 0);
    pairs(20000, check_size - 1);
    bottom(10, 0);
    bottom(30000, check_size - 1);
    nothing();
    return check_end();
}
