/* Who may come in to the advisor's page: the address it listens on, the token that a
 * request must bring, and the Host header by which a browser says whom it means to talk
 * to. */
#ifndef ESPI_LIVE_HTTP_ACCESS_H
#define ESPI_LIVE_HTTP_ACCESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include <espalier/status.h>

struct espi_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } socket;
    socklen_t length;
    int port;        /* 0: any that is free */
    int is_loopback; /* reached from this machine only */
};

/* "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or a port alone, which is one of
 * 127.0.0.1. Names are not looked up. */
esp_status espi_address_parse(const char *text, struct espi_address *out,
                              struct esp_err *err);

enum { ESPI_TOKEN_MIN = 16, ESPI_TOKEN_MAX = 128 }; /* limit: shorter ones are refused */

struct espi_token {
    char text[ESPI_TOKEN_MAX + 1];
};

/* ESPI_TOKEN_MIN to ESPI_TOKEN_MAX letters, digits, '-' and '_'. */
int espi_token_is_good(const char *text);
/* 128 random bits. */
esp_status espi_token_make(struct espi_token *out, struct esp_err *err);
/* From the first line of a file that nobody else can read. */
esp_status espi_token_read(const char *path, struct espi_token *out, struct esp_err *err);
/* Compares in a time that does not depend on where they differ; given may be NULL. */
int espi_token_matches(const struct espi_token *token, const char *given);

/* Is the Host header that of a page which its user has asked for? A page from elsewhere
 * whose name was made to lead here (DNS rebinding) has a name; what is an address, or
 * localhost, has been typed or followed by its user. The port may be that of a tunnel. */
int espi_host_is_safe(const char *host);

/* Where the page of the advisor before this one was: port and token from the folder's
 * file; -1: there is none, or it is not ours alone. */
int espi_http_access_recall(const char *folder, int *port, struct espi_token *token);
esp_status espi_http_access_remember(const char *folder, const char *url,
                                     struct esp_err *err);

#endif
