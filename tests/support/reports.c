#include "support/reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "platform/platform.h"
#include "study/arrivals.h"

int reports_of(const struct esp_platform *p, const struct esp_plan *plan,
               const struct esp_platform *reality, double bytes, uint64_t call,
               double began_s, struct espi_report *out)
{
    struct espi_arrival *a = calloc((size_t)p->n_nodes, sizeof *a);
    double took_s;
    int n = plan->trees[0].n_edges;
    assert_non_null(a);
    assert_int_equal(espi_arrivals(p, plan, reality, bytes, a, &took_s, NULL), ESP_OK);
    for (int i = 0; i <= n; i++) {
        const struct esp_edge *e = i ? &plan->trees[0].edges[i - 1] : NULL;
        struct espi_report r = espi_arrivals_report(plan, call, bytes);
        r.total_s = took_s;
        if (e) {
            r.node = e->to;
            r.parent = e->from;
            r.receive_s = a[e->to].last_s - a[e->to].first_s;
            r.total_s = a[e->to].last_s;
        }
        r.at_s = began_s + r.total_s;
        espi_arrivals_of_children(&r, plan, a);
        out[i] = r;
    }
    free(a);
    return n + 1;
}
