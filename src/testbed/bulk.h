/* Bulk transfers between hosts of a testbed, all at once: is it what it should be? */
#ifndef ESPI_TESTBED_BULK_H
#define ESPI_TESTBED_BULK_H

#include "testbed/testbed.h"

struct espi_bulk_flow {
    int from, to;    /* hosts */
    double rate_Bps; /* found: bytes that arrived, a second */
};

/* Lets every flow run for warm_s and then for seconds, in which it is measured. */
esp_status espi_bulk(const struct espi_testbed *testbed, struct espi_bulk_flow *flows,
                     int n, double warm_s, double seconds, struct esp_err *err);

#endif
