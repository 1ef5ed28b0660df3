#include "cli/options/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"

int cli_live_address(const struct cli_args *args, struct espi_address *address,
                     bool *wanted)
{
    const char *text = cli_text(args, "http");
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char quoted[80];

    *wanted = text != NULL;
    if (!text) {
        if (cli_has(args, "http-token") || cli_has(args, "http-open"))
            return cli_error(CLI_BAD_USAGE, "--http-token and --http-open need --http");
        return CLI_OK;
    }
    if (espi_address_parse(text, address, &err))
        return cli_error(CLI_BAD_USAGE, "--http: %s", err.text);
    if (!address->is_loopback && !cli_has(args, "http-open"))
        return cli_error(CLI_BAD_USAGE,
                         "--http: other machines reach %s, and the page and its token "
                         "would cross the network unencrypted: listen on 127.0.0.1 and "
                         "use a tunnel (ssh -L), or say --http-open if that is meant",
                         espi_quote(quoted, sizeof quoted, text));
    return CLI_OK;
}

/* ---- the token ---- */

/* Given by the user: 1; by nobody: 0; wrongly: -1. */
static int given_token(const struct cli_args *args, struct espi_token *token,
                       struct esp_err *err)
{
    const char *path = cli_text(args, "http-token"),
               *text = getenv("ESPALIER_HTTP_TOKEN");

    if (path)
        return espi_token_read(path, token, err) ? -1 : 1;
    if (!text || !*text)
        return 0;
    if (!espi_token_is_good(text)) {
        espi_err_fill(err, ESP_EUSAGE,
                      "ESPALIER_HTTP_TOKEN: a token is %d to %d letters, digits, '-' and "
                      "'_'",
                      ESPI_TOKEN_MIN, ESPI_TOKEN_MAX);
        return -1;
    }
    memcpy(token->text, text, strlen(text) + 1);
    return 1;
}

esp_status cli_live_token(const struct cli_args *args, struct espi_token *token,
                          struct esp_err *err)
{
    int given = given_token(args, token, err);

    return given < 0 ? ESP_EUSAGE : given ? ESP_OK : espi_token_make(token, err);
}

/* An advisor that is started anew keeps token and port, so that the page that is open
 * finds it again. */
static esp_status find_token(const struct cli_args *args, const char *folder,
                             struct espi_address *address, struct espi_token *token,
                             struct esp_err *err)
{
    struct espi_token old;
    int port, given = given_token(args, token, err);
    int known = espi_http_access_recall(folder, &port, &old) == 0;

    if (given < 0)
        return ESP_EUSAGE;
    if (known && address->port == 0) {
        in_port_t raw = htons((uint16_t)port);
        address->port = port;
        if (address->socket.any.sa_family == AF_INET6)
            address->socket.v6.sin6_port = raw;
        else
            address->socket.v4.sin_port = raw;
    }
    if (!given && known)
        *token = old;
    return given || known ? ESP_OK : espi_token_make(token, err);
}

/* ---- the page ---- */

static esp_status open_page(const struct cli_args *args, const char *folder,
                            const struct esp_platform *p, struct espi_address *address,
                            struct cli_live *live, struct esp_err *err)
{
    struct espi_token token;
    esp_status st = espi_server_exists(err);

    if (!st)
        st = find_token(args, folder, address, &token, err);
    if (!st)
        st = espi_live_log_create(&live->log, err);
    if (!st)
        st = espi_live_log_set_network(live->log, p, espi_now_s(), err);
    if (!st) {
        struct espi_live_source source = espi_live_log_source(live->log);
        st = espi_server_start(address, &token, &source, &live->server, err);
    }
    return st ? st
              : espi_http_access_remember(folder, espi_server_url(live->server), err);
}

void cli_live_open(const struct cli_args *args, const char *folder,
                   const struct esp_platform *p, struct cli_live *out)
{
    struct cli_live live = {NULL, NULL};
    struct espi_address address;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    bool wanted = false;

    *out = live;
    if (cli_live_address(args, &address, &wanted) != CLI_OK || !wanted)
        return;
    if (open_page(args, folder, p, &address, &live, &err)) {
        cli_live_close(&live);
        cli_error(CLI_FAILED, "no page: %s; the advisor runs without", err.text);
        return;
    }
    fprintf(stderr, "espalier: the advisor's page is %s\n", espi_server_url(live.server));
    *out = live;
}

void cli_live_close(struct cli_live *live)
{
    espi_server_stop(live->server);
    espi_live_log_free(live->log);
    *live = (struct cli_live){NULL, NULL};
}
