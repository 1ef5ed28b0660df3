/* Scatters of short unequal parts, which are the library's: ranks tell each other sizes
 * before the first four, and then ever more rarely. What they have told counts among the
 * bytes of the calls. */
#include "check.h"

enum { CALLS = 40, PART = 16 };

static unsigned long long scattered(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long bytes = 0;
    CHECK(!MPI_T_pvar_read(session, handle, &bytes));
    return bytes;
}

/* Is a call, numbered from 1, one before which they tell? */
static int is_told(int call)
{
    int behind = call - 4;
    return behind <= 0 || (behind & (behind - 1)) == 0;
}

static void scatter_all(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned char whole[64 * PART], own[PART];
    int counts[64], at[64];
    for (int r = 0; r < check_size; r++) {
        counts[r] = r == 0 ? 0 : PART;
        at[r] = r * PART;
        check_fill(whole + at[r], PART, (unsigned)r);
    }
    for (int call = 1; call <= CALLS; call++) {
        unsigned long long before = scattered(session, handle);
        CHECK(!MPI_Scatterv(whole, counts, at, MPI_BYTE, own, counts[check_rank],
                            MPI_BYTE, 0, MPI_COMM_WORLD));
        CHECK(check_wrong(own, (size_t)counts[check_rank], (unsigned)check_rank) == -1);
        unsigned long long more = scattered(session, handle) - before;
        CHECK(
            more ==
            (is_told(call) ? (unsigned long long)PART * (unsigned)(check_size - 1) : 0));
    }
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int index, count, provided;
    check_begin(&argc, &argv);
    CHECK(!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(!MPI_T_pvar_session_create(&session));
    CHECK(!MPI_T_pvar_get_index("espalier_scatterv_bytes", MPI_T_PVAR_CLASS_COUNTER,
                                &index));
    CHECK(!MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    scatter_all(session, handle);
    CHECK(!MPI_T_pvar_handle_free(session, &handle));
    CHECK(!MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return check_end();
}
