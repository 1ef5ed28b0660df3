#include "cli/options/copy_hosts.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "cli/command.h"

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

static int add_host_line(struct cli_copy_hosts *hosts, char *line)
{
    char *at = NULL;

    line[strcspn(line, "#")] = '\0';
    const char *name = strtok_r(line, " \t\r", &at);
    const char *address = name ? strtok_r(NULL, " \t\r", &at) : NULL;
    return name ? add_copy_host(hosts, name, address) : CLI_OK;
}

static int add_host_file(struct cli_copy_hosts *hosts, const char *path)
{
    struct espi_input in;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char *at = NULL;
    esp_status status = espi_input_read(&in, path, &err);

    if (status)
        return cli_fail(status, &err);
    int code = CLI_OK;
    for (char *line = strtok_r(in.text, "\n", &at); line && code == CLI_OK;
         line = strtok_r(NULL, "\n", &at))
        code = add_host_line(hosts, line);
    espi_input_done(&in);
    return code;
}

int cli_copy_hosts_add(struct cli_copy_hosts *hosts, const char *list)
{
    char *at = NULL;
    int code = CLI_OK;

    if (*list == '@')
        return add_host_file(hosts, list + 1);
    if (!strchr(list, ',') && access(list, R_OK) == 0)
        return add_host_file(hosts, list);
    char *names = espi_strdup(list);
    if (!names)
        return cli_error(CLI_FAILED, "out of memory");
    for (const char *name = strtok_r(names, ",", &at); name && code == CLI_OK;
         name = strtok_r(NULL, ",", &at))
        code = add_copy_host(hosts, name, NULL);
    espi_free(names);
    return code;
}
