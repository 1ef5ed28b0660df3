/* What a live page shows, for the server that shows it. */
#ifndef ESPI_LIVE_LIVE_SOURCE_H
#define ESPI_LIVE_LIVE_SOURCE_H

#include <stdint.h>
#include <stdio.h>

#include <espalier/status.h>

/* Asked from the server's thread, while it lives. */
struct espi_live_source {
    void *self;
    const char *who; /* wrote the page's address on standard error */
    /* The frame of the page; only a script that carries the nonce may run in it. */
    esp_status (*page)(const char *nonce, FILE *out, struct esp_err *err);
    /* JSON of what stands under a path; number: that of the query, or 0. ESP_EINPUT:
     * there is nothing. */
    esp_status (*answer)(void *self, const char *path, uint64_t number, FILE *out,
                         struct esp_err *err);
};

#endif
