/* What comes in on the advisor's socket: messages of a kind each, whose contents are
 * anything. Advisor and ledger must survive them, forecast finite numbers, still plan,
 * and tell of themselves in JSON. A message: a byte of kind, one of flags (1: its magic
 * and version are right), its bytes; what is missing is 0. Kind 3 is raw: as many bytes
 * as the flags say. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "live/live_log.h"
#include "support/small_platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct job {
    struct esp_platform *p;
    struct espi_advisor *a;
    struct espi_live_log *l;
    int ends[2];
    double now_s;
};

static size_t take(void *to, size_t length, const uint8_t **data, size_t *size)
{
    size_t n = *size < length ? *size : length;
    memcpy(to, *data, n);
    *data += n;
    *size -= n;
    return n;
}

/* The next message of the input; its length. */
static size_t next(const struct job *j, union espi_news_text *m, const uint8_t **data,
                   size_t *size)
{
    uint8_t head[2] = {0, 0};
    memset(m, 0, sizeof *m);
    take(head, 2, data, size);
    if (head[0] % 4 == 3)
        return take(m, head[1], data, size);
    size_t length = head[0] % 4 == 0   ? offsetof(struct espi_report, way)
                    : head[0] % 4 == 1 ? sizeof m->outcome
                                       : sizeof m->probe;
    uint32_t marks[3][2] = {{ESPI_REPORT_MAGIC, ESPI_REPORT_VERSION},
                            {ESPI_OUTCOME_MAGIC, ESPI_OUTCOME_VERSION},
                            {ESPI_PROBE_NOTE_MAGIC, ESPI_PROBE_NOTE_VERSION}};
    take(m, length, data, size);
    if (head[1] & 1)
        memcpy(m, marks[head[0] % 4], sizeof marks[0]);
    if (head[0] % 4 == 0) { /* as many ways as it says, or fewer */
        if (head[1] & 4)
            m->report.n_ways &= 15;
        length = espi_report_bytes(&m->report);
        take(m->report.way, length - offsetof(struct espi_report, way), data, size);
    }
    if (head[0] % 4 == 2 && (head[1] & 2))
        m->probe.number = espi_advisor_open_probe(j->a, NULL);
    return length;
}

/* As espalier advise does it. */
static void hear(struct job *j, const union espi_news_text *m, enum espi_news kind)
{
    int n = esp_platform_node_count(j->p), changed = 0;
    if (kind == ESPI_NEWS_REPORT) {
        if (j->l)
            espi_live_log_report(j->l, j->a, &m->report, j->now_s);
        espi_advisor_hear(j->a, &m->report, j->now_s, NULL);
    } else if (kind == ESPI_NEWS_OUTCOME) {
        if (j->l)
            espi_live_log_outcome(j->l, &m->outcome, j->now_s);
    } else if (kind == ESPI_NEWS_PROBE && espi_probe_note_is_sane(&m->probe, n)) {
        if (m->probe.kind == ESPI_PROBE_NOTE_PROBER)
            espi_advisor_set_prober(j->a, m->probe.from, 1);
        else if (m->probe.kind == ESPI_PROBE_NOTE_END)
            espi_advisor_probed(j->a, m->probe.number, m->probe.end, m->probe.Bps,
                                j->now_s, &changed, NULL);
    }
}

static void tell_all(struct job *j, const uint8_t *data, size_t size)
{
    struct espi_probe_order order;
    union espi_news_text m, got;
    for (int i = 0; size > 0 && i < 64; i++) {
        size_t length = next(j, &m, &data, &size);
        j->now_s += 0.25;
        if (send(j->ends[0], &m, length, MSG_DONTWAIT) != (ssize_t)length)
            return;
        enum espi_news kind = espi_advice_receive(j->ends[1], &got);
        if (kind > 0)
            hear(j, &got, kind);
        espi_advisor_next_probe(j->a, j->now_s, &order);
    }
}

static void look(struct job *j)
{
    struct espi_outlook o;
    struct espi_advice advice;
    espi_advisor_outlook(j->a, j->now_s, &o);
    if (!isfinite(o.size_bytes) || !isfinite(o.gap_s))
        abort();
    for (int e = 0; e < esp_platform_link_count(j->p); e++) {
        double factor = espi_advisor_factor(j->a, e, j->now_s, NULL);
        if (!(factor > 0) || !isfinite(factor))
            abort();
    }
    esp_status st = espi_advisor_plan_for(j->a, 0, 1e5, j->now_s, &advice, NULL);
    if (st)
        abort();
    if (j->l)
        espi_live_log_publish(j->l, j->a, &advice, j->now_s);
    esp_plan_free(advice.plan);
}

static void write_down(struct job *j)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    espi_live_log_look(j->l, j->a, j->now_s + 10);
    if (!out || espi_live_log_write_state(j->l, 0, j->now_s, out, NULL) || fclose(out))
        abort();
    json_t *json = json_loadb(text, length, 0, NULL);
    if (!json) {
        fprintf(stderr, "%s\n", text);
        abort();
    }
    json_decref(json);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct esp_platform *p;
    struct job j = {.now_s = 1000};
    struct espi_advisor_options options = {
        .work = 1, .algo = "hierarchical", .probe_share = 0.05};
    if (!p)
        p = small_grid();
    j.p = p;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, j.ends))
        return 0;
    if (espi_advisor_create(p, &options, &j.a, NULL))
        abort();
    if (size && data[0] < 128 &&
        (espi_live_log_create(&j.l, NULL) || espi_live_log_set_network(j.l, p, 0, NULL)))
        abort();
    tell_all(&j, data, size);
    look(&j);
    if (j.l)
        write_down(&j);
    espi_live_log_free(j.l);
    espi_advisor_free(j.a);
    close(j.ends[0]);
    close(j.ends[1]);
    return 0;
}
