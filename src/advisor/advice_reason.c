#include "advisor/advice_reason.h"

#include <math.h>
#include <stdio.h>

#include "advisor/advisor_impl.h"
#include "base/units.h"
#include "platform/platform.h"

void espi_resource_name(const struct esp_platform *p, int resource, int first_link,
                        char *out, size_t size)
{
    int from = p->tail[first_link], to = p->head[first_link];
    int a = p->node_site[from], b = p->node_site[to];
    int is_host = !espi_is_switch(p, from) && !espi_is_switch(p, to);

    if (resource < p->n_shared)
        snprintf(out, size, "cable %s", espi_shared_name(p, resource));
    else if (a >= 0 && b >= 0 && a != b && is_host)
        snprintf(out, size, "%s \xe2\x86\x92 %s", espi_names_text(&p->sites, a),
                 espi_names_text(&p->sites, b));
    else
        snprintf(out, size, "%s \xe2\x86\x92 %s", espi_node_name(p, from),
                 espi_node_name(p, to));
}

/* "4 calls, 2 probes" */
static void write_evidence(const struct espi_fate *fate, char *out, size_t size)
{
    long calls = fate->told[ESPI_BY_CALL], probes = fate->told[ESPI_BY_PROBE];
    int n = 0;
    if (calls > 0 || probes == 0)
        n = snprintf(out, size, "%ld call%s", calls, calls == 1 ? "" : "s");
    if (probes > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "%s%ld probe%s", n > 0 ? ", " : "", probes,
                 probes == 1 ? "" : "s");
}

static void write_moved(const struct espi_advisor *a,
                        const struct espi_advice_reason *why, char *out, size_t size)
{
    const struct espi_fate *fate = &a->belief.fate[why->resource];
    char name[160], evidence[64], now[32], last[32];
    espi_resource_name(a->net, why->resource, fate->first_link, name, sizeof name);
    write_evidence(fate, evidence, sizeof evidence);
    espi_format_time(now, sizeof now, why->now_s);
    espi_format_time(last, sizeof last, why->last_s);
    if (why->factor >= ESPI_FULL && why->before < ESPI_FULL)
        snprintf(out, size,
                 "%s has its rate again (%s): %s instead of %s by the last plan", name,
                 evidence, now, last);
    else
        snprintf(out, size,
                 "%s has %.0f%% of its rate (%s): %s instead of %s by the last plan",
                 name, 100 * why->factor, evidence, now, last);
}

void espi_advice_explain(const struct espi_advisor *a, const struct espi_advice *advice,
                         char *out, size_t size)
{
    const struct espi_advice_reason *why = &advice->why;
    char now[32], last[32];
    if (why->is_first) {
        snprintf(out, size, "the first plan for messages of this size");
    } else if (why->resource >= 0) {
        write_moved(a, why, out, size);
    } else {
        espi_format_time(now, sizeof now, why->now_s);
        espi_format_time(last, sizeof last, why->last_s);
        snprintf(out, size, "a better plan was found: %s instead of %s", now, last);
    }
}
