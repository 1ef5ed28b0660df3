/* Two ranks meet: short messages to and fro for latency and overheads, then, unless they
 * are far apart, a train of packets each way for a rough rate. The first one leads and
 * says in each message what comes next. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "mpi/probe/probe.h"

enum next { ANSWER, TRAIN, END };

struct meeting {
    int peer;
    double round_trip_s;                           /* the least */
    double send_s[ESPI_PINGS], recv_s[ESPI_PINGS]; /* the first is warm-up */
    int n;
    char *car;
};

/* What was to be said and how long saying it took. */
static double say_to_peer(int peer, enum next next)
{
    char message = (char)next;
    double start_s = espi_now_s();
    MPI_Send(&message, 1, MPI_BYTE, peer, TAG_PING, MPI_COMM_WORLD);
    return espi_now_s() - start_s;
}

/* Takes the message, once it is there, and how long that took. */
static enum next hear_peer(int peer, double *took_s)
{
    char message;
    wait_message(peer, TAG_PING, ESPI_SPIN_S, ESPI_REST_S);
    double start_s = espi_now_s();
    MPI_Recv(&message, 1, MPI_BYTE, peer, TAG_PING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *took_s = espi_now_s() - start_s;
    return (enum next)message;
}

static int by_double(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double middle(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_double);
    return values[n / 2];
}

/* ---- trains ---- */

static void send_train(struct meeting *m)
{
    for (int i = 0; i < ESPI_CARS; i++)
        MPI_Send(m->car, ESPI_CAR_BYTES, MPI_BYTE, m->peer, TAG_TRAIN, MPI_COMM_WORLD);
}

/* The rate between the arrivals of the first car and the last. */
static double receive_train(struct meeting *m)
{
    double first_s = 0, last_s = 0;
    for (int i = 0; i < ESPI_CARS; i++) {
        wait_message(m->peer, TAG_TRAIN, ESPI_SPIN_S, ESPI_REST_S);
        MPI_Recv(m->car, ESPI_CAR_BYTES, MPI_BYTE, m->peer, TAG_TRAIN, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        last_s = espi_now_s();
        first_s = i ? first_s : last_s;
    }
    return (ESPI_CARS - 1) * (double)ESPI_CAR_BYTES / fmax(last_s - first_s, 1e-7);
}

/* ---- both sides ---- */

static void lead(struct meeting *m)
{
    int pings = ESPI_PINGS;
    double took_s;
    say_to_peer(m->peer, ANSWER); /* connections are made at the first message */
    hear_peer(m->peer, &took_s);
    for (m->n = 0; m->n < pings; m->n++) {
        double start_s = espi_now_s();
        m->send_s[m->n] = say_to_peer(m->peer, ANSWER);
        hear_peer(m->peer, &m->recv_s[m->n]);
        m->round_trip_s = fmin(m->round_trip_s, espi_now_s() - start_s);
        pings = m->round_trip_s > ESPI_PING_LONG_S ? ESPI_FAR_PINGS : ESPI_PINGS;
    }
}

static void run_leader(struct meeting *m, const struct task *t, struct results *out)
{
    lead(m);
    int near = m->round_trip_s / 2 < ESPI_FAR_S;
    say_to_peer(m->peer, near ? TRAIN : END);
    if (near)
        send_train(m);
    results_add(out, ESPI_SAMPLE_LATENCY, t->from_host, t->to_host, m->round_trip_s / 2);
    results_add(out, ESPI_SAMPLE_SEND, t->from_host, t->to_host, middle(m->send_s, m->n));
    results_add(out, ESPI_SAMPLE_RECV, t->to_host, t->from_host, middle(m->recv_s, m->n));
    if (near)
        results_add(out, ESPI_SAMPLE_QUICK, t->to_host, t->from_host, receive_train(m));
}

static void run_follower(struct meeting *m, const struct task *t, struct results *out)
{
    double took_s;
    enum next next;
    while ((next = hear_peer(m->peer, &took_s)) == ANSWER)
        say_to_peer(m->peer, ANSWER);
    if (next == END)
        return;
    results_add(out, ESPI_SAMPLE_QUICK, t->from_host, t->to_host, receive_train(m));
    send_train(m);
}

void run_meet(const struct command *c, int rank, struct results *out)
{
    for (int i = 0; i < c->n; i++) {
        const struct task *t = &c->tasks[i];
        struct meeting m = {.peer = t->from_rank == rank ? t->to_rank : t->from_rank,
                            .round_trip_s = INFINITY,
                            .car = espi_calloc(1, ESPI_CAR_BYTES)};
        if (!m.car)
            give_up("out of memory");
        if (t->from_rank == rank)
            run_leader(&m, t, out);
        else
            run_follower(&m, t, out);
        espi_free(m.car);
    }
}

/* ---- within a host ---- */

void run_bus(const struct command *c, int rank, struct results *out)
{
    const struct task *t = &c->tasks[0];
    char *data = espi_calloc(1, ESPI_BUS_BYTES), answer = 0;
    double best = 0;
    if (!data)
        give_up("out of memory");
    for (int i = 0; i < ESPI_BUS_TIMES; i++) {
        double start_s = espi_now_s();
        if (rank == t->from_rank) {
            MPI_Send(data, ESPI_BUS_BYTES, MPI_BYTE, t->to_rank, TAG_BUS, MPI_COMM_WORLD);
            wait_message(t->to_rank, TAG_BUS, ESPI_SPIN_S, ESPI_REST_S);
            MPI_Recv(&answer, 1, MPI_BYTE, t->to_rank, TAG_BUS, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            wait_message(t->from_rank, TAG_BUS, ESPI_SPIN_S, ESPI_REST_S);
            MPI_Recv(data, ESPI_BUS_BYTES, MPI_BYTE, t->from_rank, TAG_BUS,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&answer, 1, MPI_BYTE, t->from_rank, TAG_BUS, MPI_COMM_WORLD);
        }
        best = fmax(best, ESPI_BUS_BYTES / (espi_now_s() - start_s));
    }
    espi_free(data);
    if (rank == t->from_rank)
        results_add(out, ESPI_SAMPLE_BUS, t->from_host, t->to_host, best);
}
