/* Control variables: the settings, as texts, by the names that they have in the
 * environment. They may be written until MPI_Init reads them, on all ranks alike.
 *
 * Ours come first, since indices never change and the library's become more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/variables.h"
#include "runtime/knobs.h"

struct handle {
    struct handle *next;
    const struct espi_knob *knob;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *handles;

int espi_n_cvars(void)
{
    int n;
    espi_knobs(&n);
    return n;
}

void espi_give_text(const char *text, char *to, int *length)
{
    if (!length)
        return;
    if (to && *length > 0)
        snprintf(to, (size_t)*length, "%s", text);
    *length = (int)strlen(text) + 1;
}

int espi_cvar_get_num(int *n)
{
    int code = PMPI_T_cvar_get_num(n);
    if (!code)
        *n += espi_n_cvars();
    return code;
}

/* Ours; NULL: the library's. */
static const struct espi_knob *knob_of(int index)
{
    int n;
    const struct espi_knob *knobs = espi_knobs(&n);
    return index >= 0 && index < n ? &knobs[index] : NULL;
}

/* An index below 0 is nobody's. */
static int library_index(int index)
{
    return index < 0 ? index : index - espi_n_cvars();
}

/* Has the tool begun as it must? The library knows. */
static int ask_library(void)
{
    int n;
    return PMPI_T_cvar_get_num(&n);
}

int espi_cvar_get_info(int index, char *name, int *name_length, int *verbosity,
                       MPI_Datatype *type, MPI_T_enum *enumeration, char *text,
                       int *text_length, int *bind, int *scope)
{
    const struct espi_knob *knob = knob_of(index);
    int code = knob ? ask_library() : MPI_SUCCESS;
    if (!knob)
        return PMPI_T_cvar_get_info(library_index(index), name, name_length, verbosity,
                                    type, enumeration, text, text_length, bind, scope);
    if (code)
        return code;
    espi_give_text(knob->name, name, name_length);
    espi_give_text(knob->help, text, text_length);
    ESPI_GIVE(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    ESPI_GIVE(type, MPI_CHAR);
    ESPI_GIVE(enumeration, MPI_T_ENUM_NULL);
    ESPI_GIVE(bind, MPI_T_BIND_NO_OBJECT);
    ESPI_GIVE(scope, MPI_T_SCOPE_ALL_EQ);
    return MPI_SUCCESS;
}

int espi_cvar_get_index(const char *name, int *index)
{
    int n = espi_n_cvars();
    int code = PMPI_T_cvar_get_index(name, index);
    if (!code)
        *index += n;
    if (code == MPI_T_ERR_NOT_INITIALIZED || !code || !name || !index)
        return code;
    for (int i = 0; i < n; i++)
        if (strcmp(knob_of(i)->name, name) == 0) {
            *index = i;
            return MPI_SUCCESS;
        }
    return code;
}

/* ---- handles ---- */

/* The place of ours in the list; of NULL: it is the library's. */
static struct handle **find_handle(const void *handle)
{
    struct handle **link = &handles;
    while (*link && (void *)*link != handle)
        link = &(*link)->next;
    return link;
}

static const struct espi_knob *knob_by(MPI_T_cvar_handle handle)
{
    pthread_mutex_lock(&lock);
    const struct handle *h = *find_handle(handle);
    const struct espi_knob *knob = h ? h->knob : NULL;
    pthread_mutex_unlock(&lock);
    return knob;
}

int espi_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    const struct espi_knob *knob = knob_of(index);
    if (!knob)
        return PMPI_T_cvar_handle_alloc(library_index(index), object, handle, count);
    int code = ask_library();
    struct handle *h = code ? NULL : espi_malloc(sizeof *h);
    if (!h)
        return code ? code : MPI_T_ERR_OUT_OF_HANDLES;
    pthread_mutex_lock(&lock);
    *h = (struct handle){handles, knob};
    handles = h;
    pthread_mutex_unlock(&lock);
    *handle = (MPI_T_cvar_handle)(void *)h;
    *count = ESPI_HOSTS_MAX; /* the longest that any may be */
    return MPI_SUCCESS;
}

int espi_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    if (!handle || !knob_by(*handle))
        return PMPI_T_cvar_handle_free(handle);
    pthread_mutex_lock(&lock);
    struct handle **link = find_handle(*handle), *h = *link;
    if (h)
        *link = h->next;
    pthread_mutex_unlock(&lock);
    espi_free(h);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int espi_cvar_read(MPI_T_cvar_handle handle, void *to)
{
    const struct espi_knob *knob = knob_by(handle);
    if (!knob)
        return PMPI_T_cvar_read(handle, to);
    const char *text = getenv(knob->name);
    snprintf(to, ESPI_HOSTS_MAX, "%s", text ? text : knob->standard);
    return MPI_SUCCESS;
}

/* ---- writing ---- */

/* What a reader of settings is to find, in the place of what there is. */
static _Thread_local const char *tried_name, *tried_text;

static char *try_text(const char *name)
{
    return strcmp(name, tried_name) == 0 ? (char *)tried_text : getenv(name);
}

/* Would it be understood? */
static int is_valid(const struct espi_knob *knob, const char *text)
{
    struct espi_settings settings;
    tried_name = knob->name;
    tried_text = text;
    return espi_settings_read(&settings, try_text, NULL) == ESP_OK;
}

int espi_cvar_write(MPI_T_cvar_handle handle, const void *from)
{
    const struct espi_knob *knob = knob_by(handle);
    int begun = 0;
    if (!knob)
        return PMPI_T_cvar_write(handle, from);
    if (PMPI_Initialized(&begun) || begun)
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    if (!from || strnlen(from, ESPI_HOSTS_MAX) == ESPI_HOSTS_MAX || !is_valid(knob, from))
        return MPI_T_ERR_INVALID;
    return setenv(knob->name, from, 1) ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}
