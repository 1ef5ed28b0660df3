/* MPI_Alltoall: parts of many sizes, plain and with gaps, by different types on both
 * sides and on different ranks, in place, among all ranks and among some in another
 * order. Every byte is checked, also those that must not be touched. */
#include "blocks.h"

static void fill(unsigned char *at, const struct shape *s, int rank, int size, int bytes,
                 size_t room)
{
    memset(at, 0x5a, room);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < bytes; i++)
            at[place(s, (size_t)to * (size_t)bytes + (size_t)i)] =
                byte_of(rank, to, (size_t)i);
}

static void look(const unsigned char *at, const struct shape *s, int rank, int size,
                 int bytes, size_t room)
{
    unsigned char *want = check_alloc(room);
    memset(want, 0x5a, room);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < bytes; i++)
            want[place(s, (size_t)from * (size_t)bytes + (size_t)i)] =
                byte_of(from, rank, (size_t)i);
    CHECK(memcmp(at, want, room) == 0);
    free(want);
}

static void exchange(MPI_Comm comm, int bytes, int how, int in_place)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct shape from = make_shape(how + rank, bytes);
    struct shape to = make_shape(how / 3 + 2 * rank, bytes);
    size_t out = (size_t)bytes * (size_t)size * 2 + 64;
    unsigned char *sent = check_alloc(out), *got = check_alloc(out);
    fill(sent, &from, rank, size, bytes, out);
    memset(got, 0x5a, out);
    if (in_place) {
        fill(got, &to, rank, size, bytes, out);
        CHECK(!MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, got, to.count, to.type,
                            comm));
    } else {
        CHECK(!MPI_Alltoall(sent, from.count, from.type, got, to.count, to.type, comm));
    }
    look(got, &to, rank, size, bytes, out);
    fill(got, &from, rank, size, bytes, out); /* what is sent stays */
    CHECK(memcmp(sent, got, out) == 0);
#if MPI_VERSION >= 4
    memset(got, 0x5a, out);
    CHECK(!MPI_Alltoall_c(sent, from.count, from.type, got, to.count, to.type, comm));
    look(got, &to, rank, size, bytes, out);
#endif
    free(sent);
    free(got);
    free_shape(&from);
    free_shape(&to);
}

static void all_of(MPI_Comm comm)
{
    static const int sizes[] = {0, 4, 64, 1000, 20004, 131072};
    int how = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int round = 0; round < 4; round++, how++)
            exchange(comm, sizes[k], how, round % 2);
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
