#include "support/reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "platform/platform.h"
#include "study/arrivals.h"

int reports_of(const struct esp_platform *p, const struct esp_plan *plan,
               const struct esp_platform *reality, double bytes, uint64_t call,
               double began_s, struct espi_report *out)
{
    struct espi_arrivals a;
    int n = plan->trees[0].n_edges;
    assert_int_equal(espi_arrivals_run(p, plan, reality, bytes, &a, NULL), ESP_OK);
    for (int i = 0; i <= n; i++) {
        int node = i ? plan->trees[0].edges[i - 1].to : plan->root;
        espi_arrivals_report(&a, plan, node, call, bytes, &out[i]);
        out[i].total_s = i ? a.last_s[node] : a.took_s;
        out[i].at_s = began_s + out[i].total_s;
    }
    espi_arrivals_done(&a);
    return n + 1;
}
