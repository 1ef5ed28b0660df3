#include <math.h>
#include <stddef.h>
#include <string.h>

#include "channel/prober.h"

int espi_probe_note_is_sane(const struct espi_probe_note *n, int n_nodes)
{
    if (n->magic != ESPI_PROBE_NOTE_MAGIC || n->version != ESPI_PROBE_NOTE_VERSION ||
        n->kind < ESPI_PROBE_NOTE_PROBER || n->kind > ESPI_PROBE_NOTE_END ||
        n->from < 0 || n->from >= n_nodes)
        return 0;
    if (n->kind == ESPI_PROBE_NOTE_PROBER)
        return 1;
    if (n->to < 0 || n->to >= n_nodes || n->to == n->from || n->number == 0)
        return 0;
    return n->kind == ESPI_PROBE_NOTE_ORDER ||
           (n->end >= ESPI_PROBE_RATE && n->end <= ESPI_PROBE_LOST && isfinite(n->Bps) &&
            n->Bps >= 0);
}

int espi_prober_head_is_sane(const struct espi_prober_head *h)
{
    return h->magic == ESPI_PROBER_MAGIC && h->n >= 2 && h->n <= ESPI_PROBERS_MAX &&
           h->self >= 0 && h->self < h->n && h->hub >= 0 && h->hub < h->n &&
           memchr(h->folder, '\0', sizeof h->folder);
}

static uint64_t mac_of(const struct espi_packet *p,
                       const unsigned char key[ESPI_KEY_BYTES])
{
    enum { SKIP = sizeof p->mac };
    return espi_mac(key, (const char *)p + SKIP, sizeof *p - SKIP);
}

void espi_packet_seal(struct espi_packet *p, const unsigned char key[ESPI_KEY_BYTES])
{
    p->magic = ESPI_PACKET_MAGIC;
    p->mac = mac_of(p, key);
}

static int place_of(const struct espi_prober_head *head, const struct espi_prober *list,
                    int node)
{
    for (int i = 0; i < head->n; i++)
        if (list[i].node == node)
            return i;
    return -1;
}

/* Who may say it: of the three that take part in a probe. */
static int speaks_for_itself(const struct espi_packet *p, int hub_node)
{
    switch (p->kind) {
    case ESPI_PACKET_ORDER:
        return p->sender == hub_node;
    case ESPI_PACKET_TRAIN:
        return p->sender == p->from && p->index < ESPI_TRAIN_PACKETS;
    case ESPI_PACKET_RATE:
        return p->sender == p->to && p->Bps > 0 && isfinite(p->Bps);
    case ESPI_PACKET_REFUSED:
        return p->sender == p->from;
    default:
        return 0;
    }
}

int espi_packet_open(const void *data, size_t length, const struct sockaddr_in *from,
                     const struct espi_prober_head *head, const struct espi_prober *list,
                     struct espi_packet *out)
{
    struct espi_packet p;
    if (length < sizeof p || length > ESPI_TRAIN_PACKET_BYTES)
        return -1;
    memcpy(&p, data, sizeof p);
    if (p.magic != ESPI_PACKET_MAGIC || p.mac != mac_of(&p, head->key) || !p.number ||
        p.from == p.to || !speaks_for_itself(&p, list[head->hub].node))
        return -1;
    int at = place_of(head, list, p.sender);
    if (at < 0 || from->sin_family != AF_INET ||
        from->sin_addr.s_addr != list[at].address || from->sin_port != list[at].port)
        return -1;
    if (place_of(head, list, p.from) < 0 || place_of(head, list, p.to) < 0)
        return -1;
    *out = p;
    return at;
}

/* ---- trains ---- */

enum { HALF = ESPI_TRAIN_PACKETS / 2 };
_Static_assert(ESPI_TRAIN_PACKETS - HALF <= 32, "what came of a train is kept in bits");

int espi_train_note(struct espi_train *t, const struct espi_packet *p, double at_s)
{
    if (p->number < t->number || (p->number == t->number && t->done))
        return 0; /* it was played again, or came too late */
    if (p->number > t->number)
        *t = (struct espi_train){.number = p->number, .from = p->from};
    if (p->from != t->from || p->index < HALF || p->index >= ESPI_TRAIN_PACKETS)
        return 0;
    uint32_t one = UINT32_C(1) << (p->index - HALF);
    if (t->seen & one)
        return 0; /* networks may double what they carry */
    if (!t->seen)
        t->first_s = at_s;
    t->seen |= one;
    t->last_s = at_s;
    t->done = p->index == ESPI_TRAIN_PACKETS - 1;
    return t->done;
}

/* What passes an idle link first may pass it faster than it can go on; so the first half
 * is not looked at. */
double espi_train_Bps(const struct espi_train *t)
{
    /* derived: of IP and UDP; less than half of a half is no train */
    enum { HEADS = 28, LEAST = ESPI_TRAIN_PACKETS / 4 };
    int count = __builtin_popcount(t->seen);
    if (count < LEAST)
        return 0;
    double took_s = fmax(t->last_s - t->first_s, 1e-7);
    return (count - 1) * (double)(ESPI_TRAIN_PACKET_BYTES + HEADS) / took_s;
}
