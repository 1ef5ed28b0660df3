/* Performance variables: what is counted of calls. They count from the beginning of the
 * program on whether anybody looks or not; a handle may begin anew for itself. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/counts.h"
#include "mpi/variables.h"

struct handle {
    struct handle *next;
    MPI_T_pvar_session session;
    int index;
    uint64_t from; /* what had been counted when it was 0 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *handles;

static const struct {
    const char *name, *text;
} counted[ESPI_COUNTED] = {
    {"calls", "calls of it that came to espalier"},
    {"bytes", "bytes of these calls, as plans count a message"},
    {"plans", "of these calls, those that a plan ran"},
    {"trials", "of these calls, those that were timed to compare plan and MPI library"},
};

int espi_n_pvars(void)
{
    return ESPI_CALL_KINDS * ESPI_COUNTED;
}

static int is_own(int index)
{
    return index >= 0 && index < espi_n_pvars();
}

static int library_index(int index)
{
    return index < 0 ? index : index - espi_n_pvars();
}

static int ask_library(void)
{
    int n;
    return PMPI_T_pvar_get_num(&n);
}

static void name_pvar(int index, char *name, size_t size)
{
    snprintf(name, size, "espalier_%s_%s",
             espi_collective_name((enum espi_collective)(index / ESPI_COUNTED)),
             counted[index % ESPI_COUNTED].name);
    for (char *at = name; *at; at++)
        *at = *at == '-' ? '_' : *at;
}

int espi_pvar_get_num(int *n)
{
    int code = PMPI_T_pvar_get_num(n);
    if (!code)
        *n += espi_n_pvars();
    return code;
}

int espi_pvar_get_info(int index, char *name, int *name_length, int *verbosity,
                       int *var_class, MPI_Datatype *type, MPI_T_enum *enumeration,
                       char *text, int *text_length, int *bind, int *read_only,
                       int *continuous, int *atomic)
{
    char own_name[80], own_text[160];
    if (!is_own(index))
        return PMPI_T_pvar_get_info(library_index(index), name, name_length, verbosity,
                                    var_class, type, enumeration, text, text_length, bind,
                                    read_only, continuous, atomic);
    int code = ask_library();
    if (code)
        return code;
    name_pvar(index, own_name, sizeof own_name);
    snprintf(own_text, sizeof own_text, "%s: %s",
             espi_collective_name((enum espi_collective)(index / ESPI_COUNTED)),
             counted[index % ESPI_COUNTED].text);
    espi_give_text(own_name, name, name_length);
    espi_give_text(own_text, text, text_length);
    ESPI_GIVE(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    ESPI_GIVE(var_class, MPI_T_PVAR_CLASS_COUNTER);
    ESPI_GIVE(type, MPI_UNSIGNED_LONG_LONG);
    ESPI_GIVE(enumeration, MPI_T_ENUM_NULL);
    ESPI_GIVE(bind, MPI_T_BIND_NO_OBJECT);
    ESPI_GIVE(read_only, 0);
    ESPI_GIVE(continuous, 1);
    ESPI_GIVE(atomic, 1);
    return MPI_SUCCESS;
}

int espi_pvar_get_index(const char *name, int var_class, int *index)
{
    char own[80];
    int code = PMPI_T_pvar_get_index(name, var_class, index);
    if (!code)
        *index += espi_n_pvars();
    if (code == MPI_T_ERR_NOT_INITIALIZED || !code || !name || !index ||
        var_class != MPI_T_PVAR_CLASS_COUNTER)
        return code;
    for (int i = 0; i < espi_n_pvars(); i++) {
        name_pvar(i, own, sizeof own);
        if (strcmp(own, name) == 0) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return code;
}

/* ---- handles ---- */

static uint64_t count_now(const struct handle *h)
{
    return espi_counted((enum espi_collective)(h->index / ESPI_COUNTED),
                        (enum espi_counted)(h->index % ESPI_COUNTED));
}

/* The place of ours in the list; of NULL: it is the library's. */
static struct handle **find_handle(const void *handle)
{
    struct handle **link = &handles;
    while (*link && (void *)*link != handle)
        link = &(*link)->next;
    return link;
}

static int is_ours(MPI_T_pvar_handle handle)
{
    pthread_mutex_lock(&lock);
    int ours = *find_handle(handle) != NULL;
    pthread_mutex_unlock(&lock);
    return ours;
}

int espi_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                           MPI_T_pvar_handle *handle, int *count)
{
    if (!is_own(index))
        return PMPI_T_pvar_handle_alloc(session, library_index(index), object, handle,
                                        count);
    int code = ask_library();
    struct handle *h = code ? NULL : espi_malloc(sizeof *h);
    if (!h)
        return code ? code : MPI_T_ERR_OUT_OF_HANDLES;
    pthread_mutex_lock(&lock);
    *h = (struct handle){handles, session, index, 0};
    handles = h;
    pthread_mutex_unlock(&lock);
    *handle = (MPI_T_pvar_handle)(void *)h;
    *count = 1;
    return MPI_SUCCESS;
}

/* From the list, those of a session or the one. */
static void drop_handles(MPI_T_pvar_session session, const void *which)
{
    pthread_mutex_lock(&lock);
    for (struct handle **link = &handles, *h; (h = *link);) {
        if (h->session != session || (which && (void *)h != which)) {
            link = &h->next;
            continue;
        }
        *link = h->next;
        espi_free(h);
    }
    pthread_mutex_unlock(&lock);
}

int espi_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    if (!handle || !is_ours(*handle))
        return PMPI_T_pvar_handle_free(session, handle);
    const void *h = *handle;
    drop_handles(session, h);
    if (is_ours(*handle))
        return MPI_T_ERR_INVALID_SESSION;
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int espi_pvar_session_free(MPI_T_pvar_session *session)
{
    MPI_T_pvar_session freed = session ? *session : MPI_T_PVAR_SESSION_NULL;
    int code = PMPI_T_pvar_session_free(session);
    if (!code)
        drop_handles(freed, NULL);
    return code;
}

/* They cannot be stopped. */
int espi_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return is_ours(handle) ? MPI_T_ERR_PVAR_NO_STARTSTOP
                           : PMPI_T_pvar_start(session, handle);
}

int espi_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return is_ours(handle) ? MPI_T_ERR_PVAR_NO_STARTSTOP
                           : PMPI_T_pvar_stop(session, handle);
}

/* Reads (to) and sets (value) ours, where they are asked for. */
static int reach_count(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                       unsigned long long *to, const unsigned long long *value)
{
    int code = MPI_T_ERR_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    struct handle *h = *find_handle(handle);
    if (h)
        code = h->session == session ? MPI_SUCCESS : MPI_T_ERR_INVALID_SESSION;
    if (!code) {
        uint64_t now = count_now(h);
        if (to)
            *to = now - h->from;
        if (value)
            h->from = now - *value;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int espi_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *to)
{
    return is_ours(handle) ? reach_count(session, handle, to, NULL)
                           : PMPI_T_pvar_read(session, handle, to);
}

int espi_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                    const void *from)
{
    return is_ours(handle) ? reach_count(session, handle, NULL, from)
                           : PMPI_T_pvar_write(session, handle, from);
}

static const unsigned long long nothing;

static void reset_all(MPI_T_pvar_session session)
{
    pthread_mutex_lock(&lock);
    for (struct handle *h = handles; h; h = h->next)
        if (h->session == session)
            h->from = count_now(h);
    pthread_mutex_unlock(&lock);
}

int espi_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    if (is_ours(handle))
        return reach_count(session, handle, NULL, &nothing);
    int code = PMPI_T_pvar_reset(session, handle);
    if (!code && handle == MPI_T_PVAR_ALL_HANDLES)
        reset_all(session);
    return code;
}

int espi_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *to)
{
    return is_ours(handle) ? reach_count(session, handle, to, &nothing)
                           : PMPI_T_pvar_readreset(session, handle, to);
}
