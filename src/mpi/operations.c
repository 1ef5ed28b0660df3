#include "mpi/operations.h"

#include "mpi/shim.h"

/* ---- MPI's own operations, and the types they are for ---- */

/* code: bits */
enum {
    INTEGER = 1, /* C's and Fortran's */
    FLOATING = 2,
    COMPLEX = 4,
    LOGICAL = 8,
    BYTE = 16,
    PAIR = 32,
    C_INTEGER = 64,
};

/* Handles may be variables: so no tables. */
static int kind_of_integer(MPI_Datatype t)
{
    if (t == MPI_INT || t == MPI_LONG || t == MPI_SHORT || t == MPI_UNSIGNED ||
        t == MPI_UNSIGNED_LONG || t == MPI_UNSIGNED_SHORT || t == MPI_LONG_LONG_INT ||
        t == MPI_UNSIGNED_LONG_LONG || t == MPI_SIGNED_CHAR || t == MPI_UNSIGNED_CHAR ||
        t == MPI_INT8_T || t == MPI_INT16_T || t == MPI_INT32_T || t == MPI_INT64_T ||
        t == MPI_UINT8_T || t == MPI_UINT16_T || t == MPI_UINT32_T || t == MPI_UINT64_T ||
        t == MPI_AINT || t == MPI_OFFSET || t == MPI_COUNT)
        return INTEGER | C_INTEGER;
    return t != MPI_DATATYPE_NULL && t == MPI_INTEGER ? INTEGER : 0;
}

static int kind_of(MPI_Datatype t)
{
    int kind = kind_of_integer(t);
    if (kind)
        return kind;
    if (t == MPI_FLOAT || t == MPI_DOUBLE || t == MPI_LONG_DOUBLE || t == MPI_REAL ||
        t == MPI_DOUBLE_PRECISION)
        return FLOATING;
    if (t == MPI_COMPLEX || t == MPI_DOUBLE_COMPLEX || t == MPI_C_FLOAT_COMPLEX ||
        t == MPI_C_DOUBLE_COMPLEX)
        return COMPLEX;
    if (t == MPI_LOGICAL || t == MPI_C_BOOL)
        return LOGICAL;
    if (t == MPI_BYTE)
        return BYTE;
    if (t == MPI_FLOAT_INT || t == MPI_DOUBLE_INT || t == MPI_LONG_INT || t == MPI_2INT ||
        t == MPI_SHORT_INT || t == MPI_LONG_DOUBLE_INT)
        return PAIR;
    return 0;
}

/* The kinds that the operation takes; 0: it is none of MPI's own. */
static int kinds_for(MPI_Op op)
{
    if (op == MPI_MAX || op == MPI_MIN)
        return INTEGER | FLOATING;
    if (op == MPI_SUM || op == MPI_PROD)
        return INTEGER | FLOATING | COMPLEX;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return C_INTEGER | LOGICAL;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return INTEGER | BYTE;
    if (op == MPI_MAXLOC || op == MPI_MINLOC)
        return PAIR;
    return 0;
}

/* What is rounded hangs on the order, and of the user's own operations nobody knows. */
static int is_exact(MPI_Op op, int kind)
{
    int rounds = (kind & (FLOATING | COMPLEX)) && (op == MPI_SUM || op == MPI_PROD);
    return kinds_for(op) && !rounds;
}

static int is_foreign(MPI_Op op)
{
    return op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP;
}

int espi_is_own_op(MPI_Op op)
{
    return kinds_for(op) != 0 || is_foreign(op);
}

/* ---- elements ---- */

/* Elements must not reach into each other: what is between two of them is not looked at,
 * and travels with them. */
static int measure_element(MPI_Datatype type, struct espi_element *e)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Count size;
    if (PMPI_Type_size_x(type, &size) || PMPI_Type_get_extent(type, &lb, &extent) ||
        PMPI_Type_get_true_extent(type, &true_lb, &true_extent))
        return 0;
    e->plain = espi_is_flat(type, size);
    e->bytes = (size_t)extent;
    e->lb = true_lb;
    return extent > 0 && true_extent <= extent && extent < 1 << 28;
}

int espi_may_combine(MPI_Datatype type, MPI_Op op, struct espi_element *element)
{
    int commutes = 1, kinds = kinds_for(op);
    if (is_foreign(op))
        return 0;
    if (kinds ? !(kinds & kind_of(type)) : PMPI_Op_commutative(op, &commutes))
        return 0;
    element->in_order = !commutes;
    element->exact = is_exact(op, kinds ? kind_of(type) : 0);
    return measure_element(type, element);
}

/* ---- reductions ---- */

void espi_reduction_combine(void *arg, void *into, const void *from, size_t bytes)
{
    const struct espi_reduction *r = arg;
    MPI_Aint lb = r->element.lb;
    if (bytes > 0)
        PMPI_Reduce_local((const char *)from - lb, (char *)into - lb,
                          (int)(bytes / r->element.bytes), r->type, r->op);
}

int espi_is_fixed(const struct espi_reduction *r)
{
    return !r->element.exact && espi_job.settings.trials != ESPI_TRIALS_ALL;
}

int64_t espi_reduction_bytes(struct espi_reduction *r, MPI_Count count)
{
    int64_t bytes;
    if (count < 0 || !espi_bytes(1, r->type) ||
        !espi_may_combine(r->type, r->op, &r->element) ||
        __builtin_mul_overflow((int64_t)count, (int64_t)r->element.bytes, &bytes) ||
        bytes > INT64_MAX / 2)
        return -1;
    return bytes;
}
