/* What a call that is under way has need of till its end, and the user may free as soon
 * as it has begun: types, of which it gets copies, and operations. There is no copy of an
 * operation; one that is held when the user frees it is freed when nothing holds it any
 * more. */
#include <pthread.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/work.h"

struct held {
    struct held *next;
    MPI_Op op;
    int n; /* calls */
    int is_freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *ops;

/* The place of what is known of it in the list. */
static struct held **find_op(MPI_Op op)
{
    struct held **link = &ops;
    while (*link && (*link)->op != op)
        link = &(*link)->next;
    return link;
}

static int hold_op(MPI_Op op)
{
    pthread_mutex_lock(&lock);
    struct held **link = find_op(op);
    if (!*link && (*link = espi_calloc(1, sizeof **link)))
        (*link)->op = op;
    if (*link)
        (*link)->n++;
    int bad = !*link;
    pthread_mutex_unlock(&lock);
    return bad ? -1 : 0;
}

static void release_op(MPI_Op op)
{
    int goes = 0;
    pthread_mutex_lock(&lock);
    struct held **link = find_op(op), *held = *link;
    if (held && --held->n == 0) {
        *link = held->next;
        goes = held->is_freed;
        espi_free(held);
    }
    pthread_mutex_unlock(&lock);
    if (goes)
        PMPI_Op_free(&op);
}

int espi_op_free(MPI_Op *op)
{
    pthread_mutex_lock(&lock);
    struct held *held = ops && op ? *find_op(*op) : NULL;
    if (held)
        held->is_freed = 1;
    pthread_mutex_unlock(&lock);
    if (!held)
        return PMPI_Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static int keep_type(MPI_Datatype *type, struct espi_kept *kept)
{
    int ints, addresses, inner, combiner;
    int code = PMPI_Type_get_envelope(*type, &ints, &addresses, &inner, &combiner);
    if (code || combiner == MPI_COMBINER_NAMED)
        return code;
    code = PMPI_Type_dup(*type, &kept->types[kept->n_types]);
    if (!code)
        *type = kept->types[kept->n_types++];
    return code;
}

int espi_keep(struct espi_work *w, struct espi_kept *kept)
{
    struct espi_needs needs = {.n_types = 0};
    int code = MPI_SUCCESS;
    w->kind->needs(w, &needs);
    *kept = (struct espi_kept){.n_types = 0};
    for (int i = 0; i < needs.n_types && !code; i++)
        code = keep_type(needs.types[i], kept);
    if (needs.op && !code && !espi_is_own_op(*needs.op)) {
        kept->has_op = hold_op(*needs.op) == 0;
        kept->op = *needs.op;
        code = kept->has_op ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return code;
}

void espi_drop(struct espi_kept *kept)
{
    for (int i = 0; i < kept->n_types; i++)
        PMPI_Type_free(&kept->types[i]);
    kept->n_types = 0;
    if (kept->has_op)
        release_op(kept->op);
    kept->has_op = 0;
}
