/* Offers of senders, the best on top. Only the top ever changes, so that the heap needs
 * no index. */
#ifndef ESPI_ALGO_OFFERS_H
#define ESPI_ALGO_OFFERS_H

/* Ordered by key, then second, then sender. */
struct espi_offer {
    double key;
    double second;
    int sender, arc;
};

/* The caller's array has room for an offer of each sender. */
struct espi_offers {
    struct espi_offer *heap;
    int n;
};

static inline int espi_offer_before(const struct espi_offer *a,
                                    const struct espi_offer *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->second != b->second)
        return a->second < b->second;
    return a->sender < b->sender;
}

static inline void espi_offers_push(struct espi_offers *o, const struct espi_offer *offer)
{
    int at = o->n++;
    for (; at > 0 && espi_offer_before(offer, &o->heap[(at - 1) / 2]); at = (at - 1) / 2)
        o->heap[at] = o->heap[(at - 1) / 2];
    o->heap[at] = *offer;
}

static inline void espi_offers_replace_top(struct espi_offers *o, struct espi_offer offer)
{
    int at = 0;
    for (int kid = 1; kid < o->n; kid = 2 * at + 1) {
        if (kid + 1 < o->n && espi_offer_before(&o->heap[kid + 1], &o->heap[kid]))
            kid++;
        if (!espi_offer_before(&o->heap[kid], &offer))
            break;
        o->heap[at] = o->heap[kid];
        at = kid;
    }
    o->heap[at] = offer;
}

static inline void espi_offers_drop_top(struct espi_offers *o)
{
    if (--o->n > 0)
        espi_offers_replace_top(o, o->heap[o->n]);
}

#endif
