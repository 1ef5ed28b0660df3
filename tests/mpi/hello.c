/* The least: one long broadcast from each rank. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { BYTES = 100000 };
    static unsigned char data[BYTES];
    check_begin(&argc, &argv);
    for (int root = 0; root < check_size; root++) {
        if (check_rank == root)
            check_fill(data, BYTES, (unsigned)root);
        MPI_Bcast(data, BYTES, MPI_BYTE, root, MPI_COMM_WORLD);
        CHECK(check_wrong(data, BYTES, (unsigned)root) == -1);
    }
    return check_end();
}
