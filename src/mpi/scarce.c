/* Communicators that run short. MPICH has about two thousand for a process, and the twins
 * are some of them. Where the user's call that makes one fails for lack of them, all its
 * ranks give back the twins of all communicators whose ranks are among them, and try
 * again; then that of MPI_COMM_WORLD, too. All of them fail alike, and each rank of such
 * a communicator is there, so that all know that it has become the library's. */
#include <string.h>

#include "mpi/shim.h"

void espi_try_begin(struct espi_try *t, MPI_Comm comm, MPI_Group group)
{
    int inter = 1;
    *t = (struct espi_try){.comm = comm, .group = group};
#ifdef OPEN_MPI
    return; /* it has more than anybody can make */
#endif
    if (!espi_job.plans || espi_making || comm == MPI_COMM_NULL ||
        PMPI_Comm_test_inter(comm, &inter) || inter ||
        PMPI_Comm_get_errhandler(comm, &t->handler))
        return;
    /* The first failures are not the user's business. */
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    t->active = 1;
}

static int is_shortage(int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length;
    return code && !PMPI_Error_string(code, text, &length) &&
           (strstr(text, "Too many communicators") || strstr(text, "context ID"));
}

int espi_try_again(struct espi_try *t, int code)
{
    MPI_Group group;
    int world = t->n_tries == 1;
    if (!t->active || t->n_tries == 2 || !is_shortage(code))
        return 0;
    t->n_tries++;
    if (t->group != MPI_GROUP_NULL) {
        espi_comms_give_back(MPI_COMM_NULL, t->group, world);
    } else if (!PMPI_Comm_group(t->comm, &group)) {
        espi_comms_give_back(t->comm, group, world);
        PMPI_Group_free(&group);
    }
    return 1;
}

void espi_try_end(const struct espi_try *t, int code, MPI_Comm fresh)
{
    MPI_Errhandler handler = t->handler;
    if (!t->active)
        return;
    PMPI_Comm_set_errhandler(t->comm, handler);
    if (!code && fresh != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(fresh, handler); /* it inherits what it has */
    PMPI_Errhandler_free(&handler);
    if (code)
        PMPI_Comm_call_errhandler(t->comm, code);
}
