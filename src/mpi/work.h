/* One call of a collective with the user's data, apart from the manner in which it is
 * made: what is to be done with the data before this rank's part of the plan's program
 * runs, and when it has. Each collective has a struct of its own that begins with
 * struct espi_work, and says what is particular to it in a struct espi_work_kind. */
#ifndef ESPI_MPI_WORK_H
#define ESPI_MPI_WORK_H

#include "mpi/shim.h"

/* Persistent collectives: of MPI 4, or an extension of Open MPI. */
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define ESPI_HAS_INIT               1
#define ESPI_INIT_NAME(front, Name) front##MPIX_##Name
#elif MPI_VERSION >= 4
#define ESPI_HAS_INIT               1
#define ESPI_INIT_NAME(front, Name) front##MPI_##Name
#else
#define ESPI_HAS_INIT 0
#endif

/* How a call is made. */
enum espi_manner_kind {
    ESPI_BLOCKING,
    ESPI_LATER, /* non-blocking: what it gives back is a request */
    ESPI_INIT,  /* persistent: what it gives back is one that can be started */
};

struct espi_manner {
    enum espi_manner_kind kind;
    MPI_Request *request;
    MPI_Info info; /* of persistent calls */
    int is_inner;  /* a blocking one that is part of a call of the program's */
};

#define ESPI_NOW (&(const struct espi_manner){.kind = ESPI_BLOCKING})
#define ESPI_BY_REQUEST(request)                                                         \
    (&(const struct espi_manner){ESPI_LATER, request, MPI_INFO_NULL, 0})
#define ESPI_BY_START(info, request)                                                     \
    (&(const struct espi_manner){ESPI_INIT, request, info, 0})

/* The library's own call, made in that manner. Not all have persistent ones. */
#if ESPI_HAS_INIT
#define ESPI_NATIVE(how, Name, IName, Init, ...)                                         \
    ((how)->kind == ESPI_BLOCKING ? PMPI_##Name(__VA_ARGS__)                             \
     : (how)->kind == ESPI_LATER                                                         \
         ? PMPI_##IName(__VA_ARGS__, (how)->request)                                     \
         : ESPI_INIT_NAME(P, Init)(__VA_ARGS__, (how)->info, (how)->request))
#else
#define ESPI_NATIVE(how, Name, IName, Init, ...)                                         \
    ((how)->kind == ESPI_BLOCKING ? PMPI_##Name(__VA_ARGS__)                             \
                                  : PMPI_##IName(__VA_ARGS__, (how)->request))
#endif

struct espi_work;

enum { ESPI_NEEDED_TYPES = 2 }; /* derived: of what is sent, and of what comes */

/* Where a call has what it needs till its end, of that which means something on this
 * rank.
 */
struct espi_needs {
    MPI_Datatype *types[ESPI_NEEDED_TYPES];
    int n_types;
    const MPI_Op *op; /* NULL: none */
};

struct espi_work_kind {
    size_t bytes; /* of the collective's struct */
    enum espi_collective which;
    const char *later; /* names of the non-blocking and the persistent call, as */
    const char *init;  /* statistics have them */
    /* Makes the data ready for the run, tells it how to reach them, and sets *data to
     * them where they are in one piece. MPI_SUCCESS, or why this rank has lost them; it
     * takes part all the same, since others wait for it. */
    int (*begin)(struct espi_work *w, struct espi_run_options *options, void **data);
    /* Puts what came where it belongs, after a run in which nothing went wrong. A code.
     */
    int (*end)(struct espi_work *w);
    /* Frees what both have allocated; once for each beginning. */
    void (*clear)(struct espi_work *w);
    void (*needs)(struct espi_work *w, struct espi_needs *needs);
    /* The library's own call, with the user's arguments. */
    int (*native)(const struct espi_work *w, const struct espi_manner *how);
    /* Of calls of which not all ranks know how large all parts are (sizes.h), else NULL.
     * Are this rank's arguments such that it can tell its own sizes? And these, in bytes,
     * one for each rank. */
    int (*knows_sizes)(struct espi_work *w);
    void (*tell_sizes)(const struct espi_work *w, uint64_t *own);
};

struct espi_work {
    const struct espi_work_kind *kind;
    struct espi_call call;
    uint64_t *sizes; /* what the ranks have told each other, or NULL; freed with it */
};

/* Looks at communicator and root only, as espi_call_open does. A call that must not wait
 * finds only communicators that are ours already, and none where nothing goes on while
 * the program does something else. */
void espi_work_open(struct espi_work *w, esp_op op, int root, MPI_Comm comm,
                    const struct espi_manner *how);

/* Leaves a call of so many bytes to the library without a further look. The code. */
int espi_work_leave(struct espi_work *w, uint64_t bytes, const struct espi_manner *how);

/* Frees what was found out before the call was decided on, which a call that goes on, or
 * may be started again, keeps till its end. */
void espi_work_forget(struct espi_work *w);

/* Makes the call, which has been decided on, by its plan or by the library, and forgets
 * it. The code. */
int espi_work_do(struct espi_work *w, const struct espi_manner *how);

/* What is kept of it, though the user frees it (needs.c). */
struct espi_kept {
    MPI_Datatype types[ESPI_NEEDED_TYPES];
    int n_types, has_op;
    MPI_Op op;
};

/* MPI_SUCCESS, or a code: not all is kept. Then from espi_drop on nothing is. */
int espi_keep(struct espi_work *w, struct espi_kept *kept);
void espi_drop(struct espi_kept *kept);

/* Starts one by its plan, which must not wait (later.c). This and the next one forget the
 * call, or keep what is to be forgotten until it ends. */
int espi_later_start(struct espi_work *w, MPI_Request *request);
/* Makes one ready that can be started again and again (persistent.c). */
int espi_persistent_init(struct espi_work *w, const struct espi_manner *how);

#endif
