/* Memory that all ranks of a test share, which are on one machine. */
#ifndef TESTS_MPI_SHARED_H
#define TESTS_MPI_SHARED_H

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "mpi/native_call.h"

/* n counters, 0 at first. */
static atomic_long *share(size_t n)
{
    char path[] = "/tmp/espalier-shared-XXXXXX";
    int file = check_rank == 0 ? mkstemp(path) : -1;
    if (check_rank == 0 &&
        (file < 0 || ftruncate(file, (off_t)(n * sizeof(atomic_long)))))
        abort();
    NATIVE(Bcast)(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check_rank > 0 && (file = open(path, O_RDWR)) < 0)
        abort();
    void *at =
        mmap(NULL, n * sizeof(atomic_long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        abort();
    close(file);
    NATIVE(Barrier)(MPI_COMM_WORLD);
    if (check_rank == 0)
        unlink(path);
    return at;
}

#endif
