/* Random broadcasts: communicators that come and go, roots, sizes from nothing to
 * SOAK_MAX bytes, datatypes that differ between ranks, SOAK_THREADS threads at once; each
 * byte is looked at. SOAK_CALLS broadcasts in all, from the seed SOAK_SEED. All ranks
 * draw the same lots, but for how each describes its data. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { COMMS = 6 };

struct soaker {
    uint64_t lots; /* equal on all ranks that share its communicators */
    uint64_t own;  /* of this rank alone */
    MPI_Comm comm[COMMS];
    long calls, bad;
    double bytes;
};

static long most_bytes;

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static long below(uint64_t *state, long n)
{
    return (long)(draw(state) % (uint64_t)n);
}

/* Small ones are frequent: the size is below 2^k, where k is the lower of two lots, so
 * that one in 700 may reach 64 MiB and the mean stays at some 100 kB. */
static long draw_size(uint64_t *state)
{
    long size = 1, first = below(state, 27), second = below(state, 27);
    for (long k = first < second ? first : second; k > 0 && size < most_bytes; k--)
        size *= 2;
    size = below(state, size + 1);
    return size > most_bytes ? most_bytes : size;
}

/* How this rank describes n bytes; gives the room that they take. */
static size_t describe(struct soaker *s, long n, MPI_Datatype *type, int *count,
                       long *stride)
{
    long how = below(&s->own, 4);
    *stride = 1;
    *count = 1;
    if (how == 0 || n < 8) {
        MPI_Type_dup(MPI_BYTE, type);
        *count = (int)n;
    } else if (how == 1) {
        MPI_Type_contiguous((int)n, MPI_CHAR, type);
    } else if (how == 2) {
        *stride = 3;
        MPI_Type_vector((int)n, 1, 3, MPI_BYTE, type);
    } else {
        *stride = 2;
        MPI_Type_create_resized(MPI_BYTE, 0, 2, type);
        *count = (int)n;
    }
    MPI_Type_commit(type);
    return (size_t)(n * *stride) + 1;
}

static void broadcast(struct soaker *s, MPI_Comm comm)
{
    int rank, size, count;
    MPI_Datatype type;
    long n = draw_size(&s->lots), stride;
    unsigned seed = (unsigned)draw(&s->lots);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int root = (int)below(&s->lots, size);
    size_t room = describe(s, n, &type, &count, &stride);
    unsigned char *data = check_alloc(room);
    for (long i = 0; rank == root && i < n; i++)
        data[i * stride] = check_byte(seed, (size_t)i);
    s->bad += MPI_Bcast(data, count, type, root, comm) != MPI_SUCCESS;
    for (long i = 0; i < n; i++)
        s->bad += data[i * stride] != check_byte(seed, (size_t)i);
    s->bytes += (double)n;
    MPI_Type_free(&type);
    free(data);
}

/* Replaces a communicator by another one of the same thread. The lots of a split's halves
 * stay equal, since each rank draws for all. */
static void renew(struct soaker *s)
{
    int at = 1 + (int)below(&s->lots, COMMS - 1), rank;
    long colors = 1 + below(&s->lots, 2), turn = below(&s->lots, 1000);
    if (s->comm[at] != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm[at]);
    MPI_Comm_rank(s->comm[0], &rank);
    if (turn < 300)
        MPI_Comm_dup(s->comm[0], &s->comm[at]);
    else
        MPI_Comm_split(s->comm[0], (int)(rank % colors), (int)((rank * 13 + turn) % 7),
                       &s->comm[at]);
}

static void *soak(void *arg)
{
    struct soaker *s = arg;
    for (long i = 0; i < s->calls; i++) {
        if (below(&s->lots, 40) == 0)
            renew(s);
        MPI_Comm comm = s->comm[below(&s->lots, COMMS)];
        uint64_t before = s->lots;
        broadcast(s, comm == MPI_COMM_NULL ? s->comm[0] : comm);
        s->lots = before; /* halves of different sizes draw different roots */
        draw(&s->lots);
    }
    return NULL;
}

static long setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : standard;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 8 };
    static struct soaker soakers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    long n = setting("SOAK_THREADS", 2), calls = setting("SOAK_CALLS", 400);
    most_bytes = setting("SOAK_MAX", 1 << 18);
    n = provided < MPI_THREAD_MULTIPLE ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
    for (long t = 0; t < n; t++) {
        struct soaker *s = &soakers[t];
        s->lots = (uint64_t)(setting("SOAK_SEED", 1) * 1000 + t);
        s->own = s->lots * 77 + (uint64_t)check_rank;
        s->calls = calls / n;
        for (int i = 0; i < COMMS; i++)
            s->comm[i] = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm[0]);
    }
    for (long t = 0; t < n; t++)
        pthread_create(&threads[t], NULL, soak, &soakers[t]);
    for (long t = 0; t < n; t++) {
        pthread_join(threads[t], NULL);
        CHECK(soakers[t].bad == 0);
        for (int i = 0; i < COMMS; i++)
            if (soakers[t].comm[i] != MPI_COMM_NULL)
                MPI_Comm_free(&soakers[t].comm[i]);
    }
    return check_end();
}
