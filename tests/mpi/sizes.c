/* Every root, sizes around all the limits there are, from nothing to 8 MB; bytes before
 * and behind the message stay as they were. */
#include "check.h"

enum { GUARD = 64 };

static void one(size_t n, int root, unsigned seed)
{
    unsigned char *room = check_alloc(n + 2 * GUARD), *data = room + GUARD;
    memset(room, 0xaa, n + 2 * GUARD);
    if (check_rank == root)
        check_fill(data, n, seed);
    CHECK(MPI_Bcast(data, (int)n, MPI_BYTE, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(check_wrong(data, n, seed) == -1);
    for (int i = 0; i < GUARD; i++)
        CHECK(room[i] == 0xaa && data[n + (size_t)i] == 0xaa);
    free(room);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0,     1,     2,      7,      8,       100,    1023,
                                   4096,  8127,  8128,   8129,   8192,    12345,  65024,
                                   65536, 65537, 131072, 300001, 1000000, 1 << 20};
    unsigned seed = 1;
    check_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int root = 0; root < check_size; root++)
            one(sizes[i], root, seed++);
    one(8 << 20, 0, seed++);
    one((8 << 20) - 3, check_size - 1, seed++);
    for (int i = 0; i < 200; i++) /* the same again, and others between */
        one(20000 + (size_t)(i % 3), i % check_size, seed++);
    return check_end();
}
