/* The transport of the executor over MPI messages of the communicator's twin. Channels
 * are tags. MPI keeps messages of one sender, receiver and tag in order, and a rank's
 * part of a call ends only when all its messages have, so that calls cannot be mixed up.
 */
#include <sched.h>
#include <string.h>

#include "mpi/shim.h"

/* MPI requests are an int or a pointer; the other member holds the bytes that are to
 * come, or ANY. */
_Static_assert(sizeof(MPI_Request) == sizeof(int) ||
                   sizeof(MPI_Request) == sizeof(void *),
               "a request fits into one of the two");

/* Below these: receives with a head, and sends whose time is taken. */
enum { ANY = -1, FIRST_NOTED = -2, FIRST_WAY = -(1 << 24) };

static struct espi_request wrap(MPI_Request mpi, int bytes)
{
    struct espi_request r = {NULL, 0};
    if (sizeof mpi == sizeof r.number) {
        memcpy(&r.number, &mpi, sizeof r.number);
        r.handle = (void *)(intptr_t)bytes;
    } else {
        memcpy(&r.handle, &mpi, sizeof mpi);
        r.number = bytes;
    }
    return r;
}

static int bytes_to_come(const struct espi_request *r)
{
    return sizeof(MPI_Request) == sizeof r->number ? (int)(intptr_t)r->handle : r->number;
}

static MPI_Request unwrap(const struct espi_request *r)
{
    MPI_Request mpi;
    if (sizeof mpi == sizeof r->number)
        memcpy(&mpi, &r->number, sizeof r->number);
    else
        memcpy(&mpi, &r->handle, sizeof mpi);
    return mpi;
}

static int wire_send(void *self, int peer, int channel, const void *from, size_t bytes,
                     struct espi_request *request)
{
    struct espi_mpi_transport *wire = self;
    MPI_Request mpi;
    if (wire->error)
        bytes = 0; /* so that the receiver learns of it, too */
    if (wire->piggyback &&
        !(from = espi_piggyback_send(wire->piggyback, peer, channel, from, &bytes)))
        return MPI_ERR_NO_MEM;
    int n = (int)bytes;
    int code = wire->in_step
                   ? PMPI_Issend(from, n, MPI_BYTE, peer, channel, wire->comm, &mpi)
                   : PMPI_Isend(from, n, MPI_BYTE, peer, channel, wire->comm, &mpi);
    int way = wire->piggyback ? espi_piggyback_begin(wire->piggyback, peer, channel) : -1;
    if (code == MPI_SUCCESS)
        *request = wrap(mpi, way < 0 ? ANY : FIRST_WAY - way);
    return code;
}

static int wire_recv(void *self, int peer, int channel, void *to, size_t bytes,
                     struct espi_request *request)
{
    struct espi_mpi_transport *wire = self;
    MPI_Request mpi;
    int which = -1;
    if (wire->piggyback &&
        !(to = espi_piggyback_recv(wire->piggyback, peer, channel, to, &bytes, &which)))
        return MPI_ERR_NO_MEM;
    int code = PMPI_Irecv(to, (int)bytes, MPI_BYTE, peer, channel, wire->comm, &mpi);
    if (code == MPI_SUCCESS)
        *request = wrap(mpi, which < 0 ? (int)bytes : FIRST_NOTED - which);
    return code;
}

/* A message of another length means that the program is wrong (its ranks disagree on the
 * size). We tell, but go on: others wait for what comes after. */
static void check_lengths(struct espi_mpi_transport *wire,
                          const struct espi_request *requests, const int *done,
                          int n_done)
{
    for (int i = 0; i < n_done; i++) {
        int wanted = bytes_to_come(&requests[done[i]]), came = wanted;
        if (wanted == ANY || PMPI_Get_count(&wire->statuses[i], MPI_BYTE, &came))
            continue;
        if (wanted <= FIRST_WAY) {
            espi_piggyback_sent(wire->piggyback, FIRST_WAY - wanted);
            continue;
        }
        int wrong = came != wanted;
        if (wire->piggyback)
            espi_piggyback_clock(wire->piggyback, wire->statuses[i].MPI_SOURCE);
        if (wanted <= FIRST_NOTED)
            wrong =
                espi_piggyback_came(wire->piggyback, FIRST_NOTED - wanted, (size_t)came);
        if (wrong && !wire->error)
            wire->error = MPI_ERR_COUNT;
    }
}

/* What failed, but for messages that are too long. */
static int judge_statuses(struct espi_mpi_transport *wire, int n_done)
{
    for (int i = 0; i < n_done; i++) {
        int class, code = wire->statuses[i].MPI_ERROR;
        if (code == MPI_SUCCESS)
            continue;
        PMPI_Error_class(code, &class);
        if (class != MPI_ERR_TRUNCATE)
            return code;
        wire->error = code;
    }
    return MPI_SUCCESS;
}

/* MPI libraries spin while they wait: MPICH always, Open MPI unless it knows that ranks
 * are more than processors. Whoever a rank waits for then runs only when its time slice
 * is over, so that each step of a plan takes milliseconds. So the processor is offered
 * to others between two looks, which costs a fraction of a microsecond where nobody
 * wants it. */
static int look_or_wait(struct espi_mpi_transport *wire, int n, int block, int *done,
                        int *n_done)
{
    for (;;) {
        int code = PMPI_Testsome(n, wire->requests, n_done, done, wire->statuses);
        if (code != MPI_SUCCESS || *n_done != 0 || !block)
            return code;
        sched_yield();
    }
}

int espi_mpi_wait(MPI_Request *request)
{
    for (;;) {
        int there = 0, code = PMPI_Test(request, &there, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || there)
            return code;
        sched_yield();
    }
}

static int wire_wait_some(void *self, struct espi_request *requests, int n, int block,
                          int *done, int *n_done)
{
    struct espi_mpi_transport *wire = self;
    for (int i = 0; i < n; i++)
        wire->requests[i] = unwrap(&requests[i]);
    int code = look_or_wait(wire, n, block, done, n_done);
    if (*n_done == MPI_UNDEFINED)
        *n_done = 0;
    if (code != MPI_SUCCESS) {
        int class;
        PMPI_Error_class(code, &class);
        code = class == MPI_ERR_IN_STATUS ? judge_statuses(wire, *n_done) : code;
    }
    if (code == MPI_SUCCESS && !wire->any_size)
        check_lengths(wire, requests, done, *n_done);
    return code;
}

static size_t wire_came(void *self, int i)
{
    const struct espi_mpi_transport *wire = self;
    int bytes;
    return PMPI_Get_count(&wire->statuses[i], MPI_BYTE, &bytes) || bytes < 0
               ? 0
               : (size_t)bytes;
}

static int wire_poll(void *self, int channel, void *to, size_t bytes, int *peer)
{
    struct espi_mpi_transport *wire = self;
    MPI_Status status;
    int there = 0;
    int code = PMPI_Iprobe(MPI_ANY_SOURCE, channel, wire->comm, &there, &status);
    *peer = -1;
    if (code || !there)
        return code;
    code = PMPI_Recv(to, (int)bytes, MPI_BYTE, status.MPI_SOURCE, channel, wire->comm,
                     MPI_STATUS_IGNORE);
    if (!code)
        *peer = status.MPI_SOURCE;
    return code;
}

void espi_mpi_transport_init(struct espi_mpi_transport *wire, struct espi_transport *t,
                             MPI_Comm twin)
{
    *wire = (struct espi_mpi_transport){.comm = twin, .error = MPI_SUCCESS};
    *t = (struct espi_transport){wire,           wire_send, wire_recv,
                                 wire_wait_some, wire_came, wire_poll};
}

int espi_mpi_transport_reserve(struct espi_mpi_transport *wire, int n,
                               struct espi_arena *arena)
{
    wire->requests = ESPI_ARENA_NEW(arena, MPI_Request, n ? n : 1);
    wire->statuses = ESPI_ARENA_NEW(arena, MPI_Status, n ? n : 1);
    return wire->requests && wire->statuses ? 0 : -1;
}

void espi_mpi_transport_abandon(const struct espi_request *requests, int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Request mpi = unwrap(&requests[i]);
        if (mpi == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&mpi);
        PMPI_Request_free(&mpi);
    }
}
