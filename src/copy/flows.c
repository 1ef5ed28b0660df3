#include "copy/flows.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "copy/tcp_impl.h"

enum { COUNT_BYTES = 28 }; /* derived: of a count on the wire */

static int count_one(const struct espi_tcp *t, const struct tcp_end *e,
                     struct espi_flow_count *c)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (!t->part->peer[e->stream].is_out || e->state != END_OPEN ||
        getsockopt(e->fd, IPPROTO_TCP, TCP_INFO, &info, &length))
        return 0;
    *c = (struct espi_flow_count){t->part->peer[e->stream].number, info.tcpi_bytes_acked,
                                  info.tcpi_busy_time, info.tcpi_rwnd_limited};
    return 1;
}

struct espi_flow_count *espi_flows_count(const struct espi_tcp *t, int *n,
                                         uint64_t *at_us)
{
    struct espi_flow_count *of =
        ESPI_NEW(struct espi_flow_count,
                 (t->n_ends < ESPI_FLOWS_MAX ? t->n_ends : ESPI_FLOWS_MAX) + 1);
    *n = 0;
    *at_us = (uint64_t)(1e6 * espi_now_s());
    for (int s = 0; of && s < t->n_ends && *n < ESPI_FLOWS_MAX; s++)
        *n += count_one(t, &t->end[s], &of[*n]);
    return of;
}

void espi_flows_put(struct espi_wire_out *w, const struct espi_flow_count *of, int n,
                    uint64_t at_us)
{
    espi_put_64(w, at_us);
    espi_put_32(w, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        espi_put_32(w, of[i].stream);
        espi_put_64(w, of[i].bytes);
        espi_put_64(w, of[i].busy_us);
        espi_put_64(w, of[i].choked_us);
    }
}

uint32_t espi_flows_take_head(struct espi_wire_in *r, uint64_t *at_us)
{
    *at_us = espi_take_64(r);
    return espi_take_count(r, COUNT_BYTES);
}

struct espi_flow_count espi_flows_take(struct espi_wire_in *r)
{
    struct espi_flow_count c = {.stream = espi_take_32(r)};
    c.bytes = espi_take_64(r);
    c.busy_us = espi_take_64(r);
    c.choked_us = espi_take_64(r);
    return c;
}
