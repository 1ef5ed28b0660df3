#include "cli/options/copy_hosts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/host_list.h"
#include "base/input.h"
#include "cli/command.h"

enum { HOSTS_MAX = 100000 }; /* limit: of one copy */

void cli_copy_hosts_done(struct cli_copy_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++) {
        espi_free(hosts->host[i].name);
        espi_free(hosts->host[i].address);
    }
    espi_free(hosts->host);
    *hosts = (struct cli_copy_hosts){0};
}

/* The part of NAME or USER@NAME by which others find it. */
static char *address_of(const char *name)
{
    const char *at = strrchr(name, '@');
    return espi_strdup(at ? at + 1 : name);
}

/* A launcher must not take a name for one of its options. */
static int add_copy_host(struct cli_copy_hosts *hosts, const char *name,
                         const char *address)
{
    void *grown = hosts->host;
    char quoted[128];

    if (!*name || *name == '-' || !espi_is_printable(name, strlen(name)))
        return cli_error(CLI_BAD_INPUT, "'%s' is not the name of a host",
                         espi_quote(quoted, sizeof quoted, name));
    for (int i = 0; i < hosts->n; i++)
        if (strcmp(hosts->host[i].name, name) == 0)
            return cli_error(CLI_BAD_INPUT, "host %s is named twice",
                             espi_quote(quoted, sizeof quoted, name));
    if (espi_grow(&grown, &hosts->room, (size_t)hosts->n + 1, sizeof *hosts->host))
        return cli_error(CLI_FAILED, "out of memory");
    hosts->host = grown;
    struct cli_copy_host *h = &hosts->host[hosts->n++];
    h->name = espi_strdup(name);
    h->address = address ? espi_strdup(address) : address_of(name);
    return h->name && h->address ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

/* ---- lists ---- */

struct listing {
    struct cli_copy_hosts *hosts;
    const char *address;
    int code;
};

static esp_status take_copy_host(void *self, const char *name, struct esp_err *err)
{
    struct listing *l = self;

    l->code = add_copy_host(l->hosts, name, l->address);
    return l->code == CLI_OK ? ESP_OK : espi_err(err, ESP_EINTERNAL, "said already");
}

/* Names with commas between them, and brackets; where begins what is said of them. An
 * address is that of one host. */
static int add_names(struct cli_copy_hosts *hosts, const char *where, const char *names,
                     const char *address)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct listing l = {hosts, address, CLI_OK};
    struct espi_span list = {names, strlen(names)};
    int before = hosts->n;
    esp_status status = espi_host_list_each(list, HOSTS_MAX, take_copy_host, &l, &err);

    if (l.code != CLI_OK)
        return l.code;
    if (status)
        return cli_error(CLI_BAD_INPUT, "%s: %s", where, err.text);
    if (address && hosts->n > before + 1)
        return cli_error(CLI_BAD_INPUT, "%s: one address for several hosts", where);
    return CLI_OK;
}

static int add_host_line(struct cli_copy_hosts *hosts, const char *path, int number,
                         char *line)
{
    char *at = NULL, quoted[160], where[192];

    line[strcspn(line, "#")] = '\0';
    const char *names = strtok_r(line, " \t\r", &at);
    const char *address = names ? strtok_r(NULL, " \t\r", &at) : NULL;
    snprintf(where, sizeof where, "%s:%d", espi_quote(quoted, sizeof quoted, path),
             number);
    return names ? add_names(hosts, where, names, address) : CLI_OK;
}

static int add_host_file(struct cli_copy_hosts *hosts, const char *path)
{
    struct espi_input in;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    esp_status status = espi_input_read(&in, path, &err);
    int code = CLI_OK, number = 0;

    if (status)
        return cli_fail(status, &err);
    for (char *line = in.text; line && code == CLI_OK;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        code = add_host_line(hosts, path, ++number, line);
        line = end ? end + 1 : NULL;
    }
    espi_input_done(&in);
    return code;
}

int cli_copy_hosts_add(struct cli_copy_hosts *hosts, const char *option, const char *list)
{
    if (*list == '@')
        return add_host_file(hosts, list + 1);
    return access(list, R_OK) == 0 ? add_host_file(hosts, list)
                                   : add_names(hosts, option, list, NULL);
}
