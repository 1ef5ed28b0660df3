/* The functions of MPI_T by which tools find variables, by their C names. What a tool
 * finds does not hang on whether we serve calls in this job. */
#include "mpi/hooks.h"
#include "mpi/variables.h"

#define OURS(X, name, params, args) X(T_##name, params, args, espi_##name args)

/* clang-format off */
#define PLAIN(X)                                                                         \
    OURS(X, cvar_get_num, (int *n), (n))                                                 \
    OURS(X, cvar_get_info, (int index, char *name, int *name_length, int *verbosity,     \
         MPI_Datatype *type, MPI_T_enum *enumeration, char *text, int *text_length, int  \
         *bind, int *scope),                                                             \
         (index, name, name_length, verbosity, type, enumeration, text, text_length,     \
         bind, scope))                                                                   \
    OURS(X, cvar_get_index, (const char *name, int *index), (name, index))               \
    OURS(X, cvar_handle_alloc, (int index, void *object, MPI_T_cvar_handle *handle,      \
         int *count),                                                                    \
         (index, object, handle, count))                                                 \
    OURS(X, cvar_handle_free, (MPI_T_cvar_handle *handle), (handle))                     \
    OURS(X, cvar_read, (MPI_T_cvar_handle handle, void *to), (handle, to))               \
    OURS(X, cvar_write, (MPI_T_cvar_handle handle, const void *from), (handle, from))    \
    OURS(X, pvar_get_num, (int *n), (n))                                                 \
    OURS(X, pvar_get_info, (int index, char *name, int *name_length, int *verbosity,     \
         int *var_class, MPI_Datatype *type, MPI_T_enum *enumeration, char *text, int    \
         *text_length, int *bind, int *read_only, int *continuous, int *atomic),         \
         (index, name, name_length, verbosity, var_class, type, enumeration, text,       \
         text_length, bind, read_only, continuous, atomic))                              \
    OURS(X, pvar_get_index, (const char *name, int var_class, int *index),               \
         (name, var_class, index))                                                       \
    OURS(X, pvar_session_free, (MPI_T_pvar_session *session), (session))                 \
    OURS(X, pvar_handle_alloc, (MPI_T_pvar_session session, int index, void *object,     \
         MPI_T_pvar_handle *handle, int *count),                                         \
         (session, index, object, handle, count))                                        \
    OURS(X, pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle             \
         *handle),                                                                       \
         (session, handle))                                                              \
    OURS(X, pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),          \
         (session, handle))                                                              \
    OURS(X, pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),           \
         (session, handle))                                                              \
    OURS(X, pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void       \
         *to),                                                                           \
         (session, handle, to))                                                          \
    OURS(X, pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const     \
         void *from),                                                                    \
         (session, handle, from))                                                        \
    OURS(X, pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),          \
         (session, handle))                                                              \
    OURS(X, pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle,       \
         void *to),                                                                      \
         (session, handle, to))                                                          \
    OURS(X, category_get_num, (int *n), (n))                                             \
    OURS(X, category_get_info, (int index, char *name, int *name_length, char *text,     \
         int *text_length, int *n_cvars, int *n_pvars, int *n_categories),               \
         (index, name, name_length, text, text_length, n_cvars, n_pvars,                 \
         n_categories))                                                                  \
    OURS(X, category_get_index, (const char *name, int *index), (name, index))           \
    OURS(X, category_get_cvars, (int index, int room, int indices[]),                    \
         (index, room, indices))                                                         \
    OURS(X, category_get_pvars, (int index, int room, int indices[]),                    \
         (index, room, indices))                                                         \
    OURS(X, category_get_categories, (int index, int room, int indices[]),               \
         (index, room, indices))
#if MPI_VERSION >= 4
#define ALL(X) PLAIN(X)                                                                  \
    OURS(X, category_get_num_events, (int index, int *n), (index, n))                    \
    OURS(X, category_get_events, (int index, int room, int indices[]),                   \
         (index, room, indices))
#else
#define ALL(X) PLAIN(X)
#endif
/* clang-format on */

ALL(ALWAYS)

__attribute__((constructor)) static void find_native_variables(void){ALL(FIND)
                                                                         ALL(SET_ALWAYS)}

#pragma GCC visibility push(default)

ALL(SHOW)

#pragma GCC visibility pop
