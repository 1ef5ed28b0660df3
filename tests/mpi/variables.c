/* A tool of MPI_T inside the program: settings of the shim are control variables, which
 * may be written before MPI_Init, what is counted of calls are performance variables, and
 * the MPI library's own are there as they were. The environment says ESPALIER_MODE=off,
 * and the tool that plans are forced. */
#include "check.h"

enum { BYTES = 30000, TEXT = 16384 };

static unsigned char data[BYTES];

/* ---- control variables ---- */

static MPI_T_cvar_handle open_setting(const char *name)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    char found[100];
    int index = -1, count = 0, room = sizeof found, scope = 0;
    MPI_Datatype type;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_info(index, found, &room, NULL, &type, NULL, NULL, NULL, NULL,
                              &scope) == MPI_SUCCESS);
    CHECK(strcmp(found, name) == 0 && room == (int)strlen(name) + 1);
    CHECK(type == MPI_CHAR && scope == MPI_T_SCOPE_ALL_EQ);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(count > 100 && count <= TEXT);
    return handle;
}

static void check_setting(MPI_T_cvar_handle handle, const char *wanted)
{
    static char text[TEXT];
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS);
    CHECK(strcmp(text, wanted) == 0);
}

static void set_before_init(void)
{
    MPI_T_cvar_handle mode = open_setting("ESPALIER_MODE");
    MPI_T_cvar_handle margin = open_setting("ESPALIER_MARGIN");
    check_setting(mode, "off");
    check_setting(margin, "0.9"); /* the standard: nobody has set it */
    CHECK(MPI_T_cvar_write(mode, "fast") == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(margin, "-1") == MPI_T_ERR_INVALID);
    check_setting(mode, "off");
    CHECK(MPI_T_cvar_write(mode, "force") == MPI_SUCCESS);
    check_setting(mode, "force");
    CHECK(MPI_T_cvar_handle_free(&mode) == MPI_SUCCESS && mode == MPI_T_CVAR_HANDLE_NULL);
    CHECK(MPI_T_cvar_handle_free(&margin) == MPI_SUCCESS);
}

static void set_after_init(void)
{
    MPI_T_cvar_handle mode = open_setting("ESPALIER_MODE");
    check_setting(mode, "force");
    CHECK(MPI_T_cvar_write(mode, "off") == MPI_T_ERR_CVAR_SET_NOT_NOW);
    check_setting(mode, "force");
    CHECK(MPI_T_cvar_handle_free(&mode) == MPI_SUCCESS);
}

/* All variables by their numbers, and by their names: the same ones. Some of Open MPI's
 * cannot be looked at, or are called as others. */
static int list_settings(void)
{
    char name[1000];
    int n = 0, ours = 0, alike = 0;
    CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS);
    for (int i = 0; i < n; i++) {
        int room = sizeof name, index = -1;
        if (MPI_T_cvar_get_info(i, name, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL))
            continue;
        ours += strncmp(name, "ESPALIER_", 9) == 0;
        alike += MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i;
    }
    CHECK(ours > 10);
    CHECK(alike > ours + 10 && alike > n / 2);
    CHECK(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) !=
          MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) !=
          MPI_SUCCESS);
    return n;
}

/* One of the library's own, by the number that we have given it. */
static void read_library_setting(void)
{
#ifdef OPEN_MPI
    const char *name = "mpi_param_check";
#else
    const char *name = "MPIR_CVAR_ERROR_CHECKING";
#endif
    MPI_T_cvar_handle handle;
    int index = -1, count = 0, value = -77;
    if (MPI_T_cvar_get_index(name, &index))
        return; /* it was built without */
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(count == 1);
    CHECK(MPI_T_cvar_read(handle, &value) == MPI_SUCCESS && value != -77);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
}

/* ---- performance variables ---- */

static MPI_T_pvar_session session;

static MPI_T_pvar_handle open_count(const char *name)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = 0, class = 0, continuous = 0, room = 0;
    MPI_Datatype type;
    CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_info(index, NULL, &room, NULL, &class, &type, NULL, NULL, NULL,
                              NULL, NULL, &continuous, NULL) == MPI_SUCCESS);
    CHECK(room == (int)strlen(name) + 1 && class == MPI_T_PVAR_CLASS_COUNTER);
    CHECK(type == MPI_UNSIGNED_LONG_LONG && continuous);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(count == 1);
    return handle;
}

static unsigned long long read_count(MPI_T_pvar_handle handle)
{
    unsigned long long value = 12345678;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

static void broadcast(int times)
{
    for (int i = 0; i < times; i++) {
        if (check_rank == 0)
            check_fill(data, BYTES, (unsigned)i);
        MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK(check_wrong(data, BYTES, (unsigned)i) == -1);
    }
}

static void count_calls(void)
{
    MPI_T_pvar_handle calls = open_count("espalier_bcast_calls");
    MPI_T_pvar_handle bytes = open_count("espalier_bcast_bytes");
    MPI_T_pvar_handle plans = open_count("espalier_bcast_plans");
    MPI_T_pvar_handle trials = open_count("espalier_bcast_trials");
    MPI_T_pvar_handle others = open_count("espalier_reduce_scatter_calls");
    unsigned long long value = 0;
    broadcast(5);
    CHECK(read_count(calls) == 5 && read_count(bytes) == 5 * BYTES);
    CHECK(read_count(plans) == 5 && read_count(trials) == 0 && read_count(others) == 0);
    CHECK(MPI_T_pvar_reset(session, calls) == MPI_SUCCESS);
    broadcast(2);
    CHECK(MPI_T_pvar_readreset(session, bytes, &value) == MPI_SUCCESS);
    CHECK(read_count(calls) == 2 && value == 7 * BYTES && read_count(bytes) == 0);
    value = 100;
    CHECK(MPI_T_pvar_write(session, calls, &value) == MPI_SUCCESS);
    broadcast(1);
    CHECK(read_count(calls) == 101 && read_count(plans) == 8);
    CHECK(MPI_T_pvar_start(session, calls) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(read_count(calls) == 0 && read_count(plans) == 0);
    CHECK(MPI_T_pvar_handle_free(session, &others) == MPI_SUCCESS);
    CHECK(others == MPI_T_PVAR_HANDLE_NULL); /* the rest goes with the session */
}

static void use_other_session(void)
{
    MPI_T_pvar_session other;
    unsigned long long value;
    MPI_T_pvar_handle calls = open_count("espalier_bcast_calls");
    CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(other, calls, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_handle_free(other, &calls) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
    CHECK(read_count(calls) == 8);
}

/* ---- the category ---- */

static void find_category(void)
{
    char name[1000];
    int index = -1, n = 0, cvars = 0, pvars = 0, inner = 1, room = sizeof name;
    int indices[200];
    CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n > 1);
    CHECK(MPI_T_category_get_index("espalier", &index) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_info(index, name, &room, NULL, NULL, &cvars, &pvars,
                                  &inner) == MPI_SUCCESS);
    CHECK(strcmp(name, "espalier") == 0 && cvars > 10 && pvars > 30 && inner == 0);
    CHECK(MPI_T_category_get_cvars(index, 200, indices) == MPI_SUCCESS);
    for (int i = 0; i < cvars && i < 200; i++) {
        room = sizeof name;
        CHECK(MPI_T_cvar_get_info(indices[i], name, &room, NULL, NULL, NULL, NULL, NULL,
                                  NULL, NULL) == MPI_SUCCESS);
        CHECK(strncmp(name, "ESPALIER_", 9) == 0);
    }
    CHECK(MPI_T_category_get_pvars(index, 200, indices) == MPI_SUCCESS);
    for (int i = 0; i < pvars && i < 200; i++) {
        room = sizeof name;
        CHECK(MPI_T_pvar_get_info(indices[i], name, &room, NULL, NULL, NULL, NULL, NULL,
                                  NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
        CHECK(strncmp(name, "espalier_", 9) == 0);
    }
}

/* What the library's categories hold is the library's, and is there. */
static void check_members(int category, int n_settings, int n_cvars)
{
    static int indices[20000];
    char name[1000];
    CHECK(MPI_T_category_get_cvars(category, 20000, indices) == MPI_SUCCESS);
    for (int k = 0; k < n_cvars && category > 0; k++) {
        int room = sizeof name;
        CHECK(indices[k] >= 0 && indices[k] < n_settings);
        if (MPI_T_cvar_get_info(indices[k], name, &room, NULL, NULL, NULL, NULL, NULL,
                                NULL, NULL) == MPI_SUCCESS)
            CHECK(strncmp(name, "ESPALIER_", 9) != 0);
    }
}

/* Some of Open MPI's are gone, and cannot be looked at. */
static void list_categories(int n_settings)
{
    static int indices[20000];
    char name[1000];
    int n = 0, n_found = 0;
    MPI_T_category_get_num(&n);
    for (int i = 0; i < n; i++) {
        int cvars = 0, pvars = 0, inner = 0, room = sizeof name, index = -1;
        if (MPI_T_category_get_info(i, name, &room, NULL, NULL, &cvars, &pvars, &inner))
            continue;
        n_found += MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i;
        check_members(i, n_settings, cvars);
        CHECK(MPI_T_category_get_categories(i, 20000, indices) == MPI_SUCCESS);
        for (int k = 0; k < inner; k++)
            CHECK(indices[k] > 0 && indices[k] < n);
    }
    CHECK(n_found > 5);
}

int main(int argc, char **argv)
{
    int provided, n;
    CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    set_before_init();
    check_begin(&argc, &argv);
    set_after_init();
    n = list_settings();
    read_library_setting();
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    count_calls();
    use_other_session();
    find_category();
    list_categories(n);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    MPI_T_finalize();
    return check_end();
}
