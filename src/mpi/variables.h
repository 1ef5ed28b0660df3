/* What tools see through MPI_T: our settings as control variables, what is counted of
 * calls as performance variables, and both as a category, in front of the MPI library's
 * own. All have the arguments of the MPI function of that name. */
#ifndef ESPI_MPI_VARIABLES_H
#define ESPI_MPI_VARIABLES_H

#include <mpi.h>

int espi_cvar_get_num(int *n);
int espi_cvar_get_info(int index, char *name, int *name_length, int *verbosity,
                       MPI_Datatype *type, MPI_T_enum *enumeration, char *text,
                       int *text_length, int *bind, int *scope);
int espi_cvar_get_index(const char *name, int *index);
int espi_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle,
                           int *count);
int espi_cvar_handle_free(MPI_T_cvar_handle *handle);
int espi_cvar_read(MPI_T_cvar_handle handle, void *to);
int espi_cvar_write(MPI_T_cvar_handle handle, const void *from);

int espi_pvar_get_num(int *n);
int espi_pvar_get_info(int index, char *name, int *name_length, int *verbosity,
                       int *var_class, MPI_Datatype *type, MPI_T_enum *enumeration,
                       char *text, int *text_length, int *bind, int *read_only,
                       int *continuous, int *atomic);
int espi_pvar_get_index(const char *name, int var_class, int *index);
int espi_pvar_session_free(MPI_T_pvar_session *session);
int espi_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                           MPI_T_pvar_handle *handle, int *count);
int espi_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle);
int espi_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int espi_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int espi_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *to);
int espi_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                    const void *from);
int espi_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int espi_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *to);

int espi_category_get_num(int *n);
int espi_category_get_info(int index, char *name, int *name_length, char *text,
                           int *text_length, int *n_cvars, int *n_pvars,
                           int *n_categories);
int espi_category_get_index(const char *name, int *index);
int espi_category_get_cvars(int index, int room, int indices[]);
int espi_category_get_pvars(int index, int room, int indices[]);
int espi_category_get_categories(int index, int room, int indices[]);
#if MPI_VERSION >= 4
int espi_category_get_num_events(int index, int *n);
int espi_category_get_events(int index, int room, int indices[]);
#endif

/* ---- between the files of this ---- */

int espi_n_cvars(void);
int espi_n_pvars(void);
/* A text as MPI_T gives it: as much as there is room for, and what all of it takes. */
void espi_give_text(const char *text, char *to, int *length);

#define ESPI_GIVE(to, value)                                                             \
    do {                                                                                 \
        if (to)                                                                          \
            *(to) = value;                                                               \
    } while (0)

#endif
