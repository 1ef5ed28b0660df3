#include "mpi/counts.h"

#include <stdatomic.h>

static const char *const names[ESPI_CALL_KINDS] = {
#define NAME(NAME, name) name,
    ESPI_EACH_COLLECTIVE(NAME)
#undef NAME
};

static _Atomic uint64_t counts[ESPI_CALL_KINDS][ESPI_COUNTED];

const char *espi_collective_name(enum espi_collective which)
{
    return names[which];
}

void espi_count(enum espi_collective which, enum espi_counted what, uint64_t more)
{
    atomic_fetch_add_explicit(&counts[which][what], more, memory_order_relaxed);
}

uint64_t espi_counted(enum espi_collective which, enum espi_counted what)
{
    return atomic_load_explicit(&counts[which][what], memory_order_relaxed);
}

void espi_count_call(enum espi_collective which, uint64_t bytes, int by_plan)
{
    espi_count(which, ESPI_COUNTED_CALLS, 1);
    espi_count(which, ESPI_COUNTED_BYTES, bytes);
    if (by_plan)
        espi_count(which, ESPI_COUNTED_PLANS, 1);
}
