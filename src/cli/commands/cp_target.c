/* Where a copy goes: the hosts of --to and --relay, the folder on each, and the name of
 * the file that a stream becomes. */
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/commands/cp.h"
#include "copy/manifest.h"

static const char host_mark[] = "{host}";

/* ---- hosts and folder ---- */

/* The first colon behind which a folder begins for sure: no name of a host goes on so. */
static const char *find_sure_colon(const char *to)
{
    const char *colon = to;

    while ((colon = strchr(colon, ':')) && !strchr("/.{", colon[1]))
        colon++;
    return colon && colon[1] ? colon : NULL;
}

/* "LIST:FOLDER"; names may have colons, too, but no '/'. */
static int find_colon(const char *to, const char **colon)
{
    const char *first = strchr(to, ':'), *sure = find_sure_colon(to);
    int several = first && strchr(first + 1, ':');

    *colon = sure ? sure : first;
    if (!first || *colon == to || !(*colon)[1])
        return cli_error(CLI_BAD_USAGE,
                         "--to: '%s' is not HOSTS:FOLDER, as in n1,n2:/tmp", to);
    if (sure ? !memchr(first, '/', (size_t)(sure - first)) : !several)
        return CLI_OK;
    return cli_error(CLI_BAD_USAGE,
                     "--to: the hosts of '%s' may end at any of its colons: begin the "
                     "folder with / or ./",
                     to);
}

static int split_target(struct cli_copy *c)
{
    const char *to = cli_text(c->args, "to"), *colon = NULL;

    if (!to)
        return cli_error(CLI_BAD_USAGE,
                         "say where to: --to HOSTS:FOLDER, as in n1,n2:/tmp");
    int code = find_colon(to, &colon);
    if (code != CLI_OK)
        return code;
    c->list = espi_strdup(to);
    if (!c->list)
        return cli_error(CLI_FAILED, "out of memory");
    c->list[colon - to] = '\0';
    c->folder = c->list + (colon - to) + 1;
    return CLI_OK;
}

/* Of a stream the last part is the name of the file. */
static int split_stream(struct cli_copy *c)
{
    char *slash = strrchr(c->folder, '/');

    for (int i = 0; i < c->args->n_words && c->args->n_words > 1; i++)
        if (strcmp(c->args->words[i], "-") == 0)
            return cli_error(CLI_BAD_USAGE, "standard input (-) is copied alone, without "
                                            "files beside it");
    c->is_stream = c->args->n_words == 1 && strcmp(c->args->words[0], "-") == 0;
    if (!c->is_stream)
        return CLI_OK;
    if (!slash || !slash[1] || slash == c->folder)
        return cli_error(CLI_BAD_USAGE,
                         "a stream needs a file to become: --to HOSTS:FOLDER/NAME");
    *slash = '\0';
    c->stream_name = slash + 1;
    return CLI_OK;
}

/* ---- what they are on each host ---- */

/* The text with the host's name wherever it says {host}; espi_free. */
static char *text_for_host(const char *text, const char *host)
{
    size_t mark = strlen(host_mark), room = strlen(text) + 1;

    for (const char *at = text; (at = strstr(at, host_mark)); at += mark)
        room += strlen(host);
    char *out = espi_malloc(room), *end = out;
    for (const char *at; out && (at = strstr(text, host_mark)); text = at + mark)
        end += snprintf(end, room - (size_t)(end - out), "%.*s%s", (int)(at - text), text,
                        host);
    if (out)
        snprintf(end, room - (size_t)(end - out), "%s", text);
    return out;
}

static int place_on_host(const struct cli_copy *c, struct espi_copy_host *h)
{
    char quoted[160];

    h->folder = text_for_host(c->folder, h->name);
    h->stream_name = c->is_stream ? text_for_host(c->stream_name, h->name) : NULL;
    if (!h->folder || (c->is_stream && !h->stream_name))
        return cli_error(CLI_FAILED, "out of memory");
    if (c->is_stream &&
        (!espi_copy_path_is_sound(h->stream_name) || strchr(h->stream_name, '/')))
        return cli_error(CLI_BAD_USAGE, "--to: '%s' cannot be the name of a file",
                         espi_quote(quoted, sizeof quoted, h->stream_name));
    return CLI_OK;
}

static int list_hosts(struct cli_copy *c)
{
    int code = cli_copy_hosts_add(&c->hosts, "--to", c->list);
    int n_targets = c->hosts.n;

    for (int i = 0; code == CLI_OK && cli_nth(c->args, "relay", i); i++)
        code = cli_copy_hosts_add(&c->hosts, "--relay", cli_nth(c->args, "relay", i));
    if (code != CLI_OK)
        return code;
    if (n_targets == 0)
        return cli_error(CLI_BAD_INPUT, "there is no host to copy to");
    c->job.host = espi_calloc((size_t)c->hosts.n, sizeof *c->job.host);
    if (!c->job.host)
        return cli_error(CLI_FAILED, "out of memory");
    c->job.n_hosts = c->hosts.n;
    for (int i = 0; code == CLI_OK && i < c->hosts.n; i++) {
        struct espi_copy_host *h = &c->job.host[i];
        h->name = c->hosts.host[i].name;
        h->address = c->hosts.host[i].address;
        h->is_relay = i >= n_targets;
        code = place_on_host(c, h);
    }
    return code;
}

int cli_copy_read_target(struct cli_copy *c)
{
    int code = split_target(c);

    if (code == CLI_OK)
        code = split_stream(c);
    return code == CLI_OK ? list_hosts(c) : code;
}

void cli_copy_forget_target(struct cli_copy *c)
{
    for (int i = 0; i < c->job.n_hosts; i++) {
        espi_free((void *)(uintptr_t)c->job.host[i].folder);
        espi_free((void *)(uintptr_t)c->job.host[i].stream_name);
    }
    espi_free(c->job.host);
    cli_copy_hosts_done(&c->hosts);
    espi_free(c->list);
}
