/* The Fortran names that begin and end MPI or make communicators, of mpif.h, mpi and
 * mpi_f08. All arguments are
 * addresses, handles are integers (in mpi_f08 records of one), and the last is the error
 * code, which mpi_f08 may leave out.
 *
 * Open MPI's Fortran calls PMPI_* and never reaches hooks on the C names; MPICH's does
 * for broadcasts, but not for all else. So each call that begins, ends or makes a
 * communicator is passed on to the function of the same name behind us, and what we do on
 * the C names is done here too; a second time it does nothing. */
#include <dlfcn.h>
#include <stdlib.h>

#include "mpi/greet.h"
#include "mpi/shim.h"

typedef void function(void);

/* The function behind us; a program that calls one that nobody has would not have
 * started. */
static function *behind(const char *name)
{
    function *f;
    *(void **)&f = dlsym(RTLD_NEXT, name);
    if (!f)
        abort();
    return f;
}

/* Newly made communicators, when the call went well. */
static void made_comm(const int *code, const MPI_Fint *parent, const MPI_Fint *fresh)
{
    if (*code == MPI_SUCCESS)
        espi_comm_made(PMPI_Comm_f2c(*parent), PMPI_Comm_f2c(*fresh));
}

static void made_of_group(const int *code, const MPI_Fint *fresh)
{
    if (*code == MPI_SUCCESS)
        espi_comm_made_of_group(PMPI_Comm_f2c(*fresh));
}

#define T1  void *a1
#define T2  T1, void *a2
#define T3  T2, void *a3
#define T4  T3, void *a4
#define T5  T4, void *a5
#define T6  T5, void *a6
#define T7  T6, void *a7
#define T8  T7, void *a8
#define T9  T8, void *a9
#define T10 T9, void *a10
#define A1  a1
#define A2  A1, a2
#define A3  A2, a3
#define A4  A3, a4
#define A5  A4, a5
#define A6  A5, a6
#define A7  A6, a7
#define A8  A7, a8
#define A9  A8, a9
#define A10 A9, a10

#pragma GCC visibility push(default)

/* A name as compilers spell it: gfortran's first, others are other names of it. */
#define SPELLINGS(name, NAME, args)                                                      \
    void mpi_##name(args, int *) __attribute__((alias("mpi_" #name "_")));               \
    void mpi_##name##__(args, int *) __attribute__((alias("mpi_" #name "_")));           \
    void MPI_##NAME(args, int *) __attribute__((alias("mpi_" #name "_")));

/* symbol: the name; n arguments before the error code; what to do before and afterwards.
 */
#define HOOK(symbol, n, before, then)                                                    \
    void symbol(T##n, int *ierror);                                                      \
    void symbol(T##n, int *ierror)                                                       \
    {                                                                                    \
        static void (*next)(T##n, int *);                                                \
        int own = MPI_SUCCESS, *code = ierror ? ierror : &own;                           \
        if (!next)                                                                       \
            next = (void (*)(T##n, int *))behind(#symbol);                               \
        before;                                                                          \
        espi_making++;                                                                   \
        next(A##n, code);                                                                \
        espi_making--;                                                                   \
        then;                                                                            \
    }

/* One that makes a communicator of its first argument, again if there is hope. */
#define MAKER_HOOK(symbol, n, then)                                                      \
    void symbol(T##n, int *ierror);                                                      \
    void symbol(T##n, int *ierror)                                                       \
    {                                                                                    \
        static void (*next)(T##n, int *);                                                \
        int own = MPI_SUCCESS, *code = ierror ? ierror : &own;                           \
        struct espi_try try;                                                             \
        if (!next)                                                                       \
            next = (void (*)(T##n, int *))behind(#symbol);                               \
        espi_try_begin(&try, PMPI_Comm_f2c(*(MPI_Fint *)a1), MPI_GROUP_NULL);            \
        do {                                                                             \
            espi_making++;                                                               \
            next(A##n, code);                                                            \
            espi_making--;                                                               \
        } while (espi_try_again(&try, *code));                                           \
        espi_try_end(&try, *code,                                                        \
                     *code ? MPI_COMM_NULL : PMPI_Comm_f2c(*(MPI_Fint *)a##n));          \
        then;                                                                            \
    }

#define MAKER(name, NAME, n)                                                             \
    MAKER_HOOK(mpi_##name##_, n, made_comm(code, a1, a##n))                              \
    MAKER_HOOK(mpi_##name##_f08_, n, made_comm(code, a1, a##n))                          \
    SPELLINGS(name, NAME, T##n)

MAKER(comm_dup, COMM_DUP, 2)
MAKER(comm_dup_with_info, COMM_DUP_WITH_INFO, 3)
MAKER(comm_split, COMM_SPLIT, 4)
MAKER(comm_split_type, COMM_SPLIT_TYPE, 5)
MAKER(comm_create, COMM_CREATE, 3)
HOOK(mpi_comm_create_group_, 4, , made_of_group(code, a4))
HOOK(mpi_comm_create_group_f08_, 4, , made_of_group(code, a4))
SPELLINGS(comm_create_group, COMM_CREATE_GROUP, T4)
MAKER(cart_create, CART_CREATE, 6)
MAKER(cart_sub, CART_SUB, 3)
MAKER(graph_create, GRAPH_CREATE, 6)
MAKER(dist_graph_create, DIST_GRAPH_CREATE, 9)
MAKER(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT, 10)
MAKER(intercomm_merge, INTERCOMM_MERGE, 3)

static void attach_fortran(const int *code)
{
    if (*code == MPI_SUCCESS)
        espi_attach();
}

HOOK(mpi_init_thread_, 2, espi_greet(), attach_fortran(code))
HOOK(mpi_init_thread_f08_, 2, espi_greet(), attach_fortran(code))
SPELLINGS(init_thread, INIT_THREAD, T2)

/* ---- those with no argument but the error code ---- */

#define PLAIN_HOOK(symbol, before, then)                                                 \
    void symbol(int *ierror);                                                            \
    void symbol(int *ierror)                                                             \
    {                                                                                    \
        static void (*next)(int *);                                                      \
        int own = MPI_SUCCESS, *code = ierror ? ierror : &own;                           \
        if (!next)                                                                       \
            next = (void (*)(int *))behind(#symbol);                                     \
        before;                                                                          \
        next(code);                                                                      \
        then;                                                                            \
    }
#define PLAIN_SPELLINGS(name, NAME)                                                      \
    void mpi_##name(int *) __attribute__((alias("mpi_" #name "_")));                     \
    void mpi_##name##__(int *) __attribute__((alias("mpi_" #name "_")));                 \
    void MPI_##NAME(int *) __attribute__((alias("mpi_" #name "_")));

PLAIN_HOOK(mpi_init_, espi_greet(), attach_fortran(code))
PLAIN_HOOK(mpi_init_f08_, espi_greet(), attach_fortran(code))
PLAIN_SPELLINGS(init, INIT)
PLAIN_HOOK(mpi_finalize_, espi_detach(), )
PLAIN_HOOK(mpi_finalize_f08_, espi_detach(), )
PLAIN_SPELLINGS(finalize, FINALIZE)

#pragma GCC visibility pop
