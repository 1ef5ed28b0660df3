/* What comes in on a prober's socket: packets of trains and what probers tell each other,
 * under the right key or not. Only what a prober of the job says for itself may be taken,
 * and the rate of a train must be that of the packets that came, each counted once.
 * A packet: a byte of flags (1: sealed, 2: from the address of its sender), one of time,
 * its bytes. */
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "channel/prober.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOSTS = 3, FIRST = ESPI_TRAIN_PACKETS / 2 };

static struct espi_prober list[HOSTS];
static struct espi_prober_head head = {
    .magic = ESPI_PROBER_MAGIC, .n = HOSTS, .self = 2, .hub = 0, .key = {1, 2, 3}};

static void begin(void)
{
    static const int nodes[HOSTS] = {4, 7, 9};
    for (int i = 0; i < HOSTS; i++)
        list[i] = (struct espi_prober){nodes[i], htonl(0x0a000001 + (uint32_t)i),
                                       htons((uint16_t)(1001 + i)), i == 0};
}

static struct sockaddr_in address_of(int node, int right)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    for (int i = 0; i < HOSTS && right; i++)
        if (list[i].node == node) {
            a.sin_addr.s_addr = list[i].address;
            a.sin_port = list[i].port;
        }
    return a;
}

/* The same train, told by somebody else: every packet by itself. */
struct oracle {
    uint64_t number;
    int from, done;
    int came[ESPI_TRAIN_PACKETS];
    double first_s, last_s;
};

static void watch(struct oracle *o, const struct espi_packet *p, double at_s)
{
    int any = 0;
    if (p->number > o->number) {
        memset(o, 0, sizeof *o);
        o->number = p->number;
        o->from = p->from;
    }
    if (p->number != o->number || p->from != o->from || o->done || p->index < FIRST ||
        o->came[p->index])
        return;
    for (int i = 0; i < ESPI_TRAIN_PACKETS; i++)
        any |= o->came[i];
    if (!any)
        o->first_s = at_s;
    o->last_s = at_s;
    o->came[p->index] = 1;
    o->done = p->index == ESPI_TRAIN_PACKETS - 1;
}

static double rate_of(const struct oracle *o)
{
    int count = 0;
    for (int i = 0; i < ESPI_TRAIN_PACKETS; i++)
        count += o->came[i];
    return count < ESPI_TRAIN_PACKETS / 4
               ? 0
               : (count - 1) * 1428.0 / fmax(o->last_s - o->first_s, 1e-7);
}

/* A fuzzer that sees comparisons guesses seals, too. */
static int is_sealed(const struct espi_packet *p)
{
    struct espi_packet again;
    memcpy(&again, p, sizeof again); /* with whatever is between its members */
    espi_packet_seal(&again, head.key);
    return memcmp(&again, p, sizeof again) == 0;
}

/* Who may have said it? */
static void check_taken(const struct espi_packet *p, int sealed, int place)
{
    if (!sealed || place < 0 || place >= HOSTS || list[place].node != p->sender ||
        p->from == p->to || !p->number ||
        (p->kind == ESPI_PACKET_ORDER && place != head.hub) ||
        (p->kind == ESPI_PACKET_TRAIN &&
         (p->sender != p->from || p->index >= ESPI_TRAIN_PACKETS)) ||
        (p->kind == ESPI_PACKET_RATE && (p->sender != p->to || !isfinite(p->Bps))) ||
        (p->kind == ESPI_PACKET_REFUSED && p->sender != p->from))
        abort();
}

/* The other two things that are read from outside. */
static void look_at_others(const uint8_t *data, size_t size)
{
    struct espi_probe_note n;
    static struct espi_prober_head h;
    if (size >= sizeof n) {
        memcpy(&n, data, sizeof n);
        if (espi_probe_note_is_sane(&n, HOSTS) && (n.from < 0 || n.from >= HOSTS))
            abort();
    }
    if (size >= sizeof h) {
        memcpy(&h, data, sizeof h);
        if (espi_prober_head_is_sane(&h) && (h.n > ESPI_PROBERS_MAX || h.self >= h.n))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_train t = {0};
    struct oracle o = {0};
    struct espi_packet p, got;
    double at_s = 50;
    begin();
    look_at_others(data, size);
    while (size > 2) {
        size_t n = size - 2 < sizeof p ? size - 2 : sizeof p;
        memset(&p, 0, sizeof p);
        memcpy(&p, data + 2, n);
        struct sockaddr_in from = address_of(p.sender, data[0] & 2);
        at_s += 1e-6 * data[1];
        if (data[0] & 1)
            espi_packet_seal(&p, head.key);
        int sealed = is_sealed(&p);
        int place = espi_packet_open(&p, sizeof p, &from, &head, list, &got);
        if (place >= 0)
            check_taken(&got, sealed, place);
        if (place >= 0 && got.kind == ESPI_PACKET_TRAIN) {
            watch(&o, &got, at_s);
            espi_train_note(&t, &got, at_s);
            if (fabs(espi_train_Bps(&t) - rate_of(&o)) > 1e-6 * rate_of(&o))
                abort();
        }
        data += n + 2;
        size -= n + 2;
    }
    return 0;
}
