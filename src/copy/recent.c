#include "copy/recent.h"

#include <string.h>

#include "base/alloc.h"

static void forget_pieces(struct espi_recent *r, uint64_t at, size_t bytes)
{
    for (int i = 0; i < ESPI_RECENT_PIECES; i++) {
        struct espi_recent_piece *p = &r->piece[i];
        if (p->at < at + bytes && at < p->at + p->bytes)
            p->bytes = 0;
    }
}

void espi_recent_keep(struct espi_recent *r, uint64_t at, const void *from, size_t bytes)
{
    forget_pieces(r, at, bytes);
    if (!r->data)
        r->data = espi_malloc((size_t)ESPI_RECENT_PIECES * ESPI_COPY_WORK_BYTES);
    if (!r->data || bytes > ESPI_COPY_WORK_BYTES)
        return;
    r->piece[r->next] = (struct espi_recent_piece){at, bytes};
    memcpy(r->data + (size_t)r->next * ESPI_COPY_WORK_BYTES, from, bytes);
    r->next = (r->next + 1) % ESPI_RECENT_PIECES;
}

int espi_recent_load(const struct espi_recent *r, uint64_t at, void *to, size_t bytes)
{
    for (int i = 0; i < ESPI_RECENT_PIECES; i++) {
        const struct espi_recent_piece *p = &r->piece[i];
        if (at < p->at || at >= p->at + p->bytes || bytes > p->at + p->bytes - at)
            continue;
        memcpy(to, r->data + (size_t)i * ESPI_COPY_WORK_BYTES + (at - p->at), bytes);
        return 1;
    }
    return 0;
}

void espi_recent_done(struct espi_recent *r)
{
    espi_free(r->data);
    *r = (struct espi_recent){0};
}
