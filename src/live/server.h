/* A live page over HTTP: a thread of its own, that reads what the page shows and nothing
 * else. Only GET and HEAD, only with the token, nothing can be changed through it. */
#ifndef ESPI_LIVE_SERVER_H
#define ESPI_LIVE_SERVER_H

#include "live/http_access.h"
#include "live/live_source.h"

struct espi_server;

/* Was it built with libmicrohttpd, and has it a page to show? If not: why. */
esp_status espi_server_exists(struct esp_err *err);

/* Listens on the address; what is shown outlives the server. */
esp_status espi_server_start(const struct espi_address *address,
                             const struct espi_token *token,
                             const struct espi_live_source *source,
                             struct espi_server **out, struct esp_err *err);
void espi_server_stop(struct espi_server *s);

/* The URL to open, with the token in it. */
const char *espi_server_url(const struct espi_server *s);

/* To be called now and then: cuts off those who have kept a connection for long without
 * ending a request, so that slow ones cannot keep others out. */
void espi_server_tend(struct espi_server *s, double now_s);

#endif
