/* Live pages: the options by which they are asked for, and the making of the advisor's.
 */
#ifndef ESPI_CLI_OPTIONS_LIVE_H
#define ESPI_CLI_OPTIONS_LIVE_H

#include "cli/command.h"
#include "live/live_log.h"
#include "live/server.h"

/* Who may see a page. */
#define CLI_HTTP_ACCESS_OPTIONS                                                          \
    {.name = "http-token",                                                               \
     .kind = CLI_FILE,                                                                   \
     .help = "The token of the page is the first line of this file, which nobody "       \
             "else may be able to read; without it that of ESPALIER_HTTP_TOKEN, or "     \
             "a random one."},                                                           \
    {                                                                                    \
        .name = "http-open",                                                             \
        .help = "Let --http listen on an address that other machines reach. What is "    \
                "shown, and the token, then cross the network readable by whoever is "   \
                "on the way; a tunnel (ssh -L 8080:127.0.0.1:8080 HOST) is safer."       \
    }

#define CLI_LIVE_OPTIONS                                                                 \
    {.name = "http",                                                                     \
     .kind = CLI_STRING,                                                                 \
     .value = "ADDRESS:PORT",                                                            \
     .help =                                                                             \
         "Show a page of what the advisor knows and does: the network with its "         \
         "measured rates, the plan in force, the calls, forecast against measured, "     \
         "what is native and what is ours. The address to open, with its token, "        \
         "is printed on standard error. A port alone is one of 127.0.0.1, port 0 any "   \
         "that is free."},                                                               \
        CLI_HTTP_ACCESS_OPTIONS

/* Reads --http; *wanted: is a page asked for? CLI_OK, or a sentence on stderr and
 * CLI_BAD_USAGE. */
int cli_live_address(const struct cli_args *args, struct espi_address *address,
                     bool *wanted);

/* The token that the user gave, or a new one. */
esp_status cli_live_token(const struct cli_args *args, struct espi_token *token,
                          struct esp_err *err);

struct cli_live {
    struct espi_live_log *log; /* NULL: there is no page */
    struct espi_server *server;
};

/* Opens the page, if one is asked for, and says on stderr where it is. When that cannot
 * be, a sentence says why, and there is no page; the advisor does without. */
void cli_live_open(const struct cli_args *args, const char *folder,
                   const struct esp_platform *p, struct cli_live *out);
void cli_live_close(struct cli_live *live);

#endif
