#include "cli/options/hosts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/host_list.h"
#include "base/input.h"
#include "cli/command.h"
#include "runtime/rank_platform.h"

enum { HOSTS_MAX = 1000000 }; /* limit: of one list */

/* A list that is being read. */
struct reading {
    struct cli_hosts *hosts;
    const char *where; /* NULL: nothing is said */
    int bad;           /* the exit code for what is wrong with it */
};

static int out_of_memory(void)
{
    return cli_error(CLI_FAILED, "out of memory");
}

static int add_host(struct reading *r, const char *name, size_t length)
{
    struct cli_hosts *h = r->hosts;

    if (h->n >= HOSTS_MAX && !r->where)
        return r->bad;
    if (h->n >= HOSTS_MAX)
        return cli_error(r->bad, "%s: more than %d hosts", r->where, HOSTS_MAX);
    if (espi_grow((void **)&h->text, &h->text_room, h->used + length + 1, 1) ||
        espi_grow((void **)&h->start, &h->start_room, (size_t)h->n + 1, sizeof *h->start))
        return out_of_memory();
    memcpy(h->text + h->used, name, length);
    h->text[h->used + length] = '\0';
    h->start[h->n++] = h->used;
    h->used += length + 1;
    return CLI_OK;
}

/* ---- brackets ---- */

static esp_status take_host(void *self, const char *name, struct esp_err *err)
{
    if (add_host(self, name, strlen(name)) == CLI_OK)
        return ESP_OK;
    return espi_err(err, ESP_EINTERNAL, "said already");
}

/* A word that may have brackets, with all that they spell out. */
static int add_word(struct reading *r, const char *word, size_t length)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_span list = {word, length};
    esp_status st = espi_host_list_each(list, HOSTS_MAX, take_host, r, &err);

    if (st == ESP_OK || !r->where || st == ESP_EINTERNAL)
        return st == ESP_OK ? CLI_OK : r->bad;
    return cli_error(r->bad, "%s: %s", r->where, err.text);
}

/* ---- lists ---- */

/* The length of the next word: commas within brackets do not end it. */
static size_t word_length(const char *text, const char *separators)
{
    size_t n = 0;
    int inside = 0;

    for (; text[n] && (inside || !strchr(separators, text[n])); n++) {
        if (text[n] == '\n')
            break;
        inside += (text[n] == '[') - (text[n] == ']');
        inside = inside < 0 ? 0 : inside;
    }
    return n;
}

static int read_words(struct reading *r, const char *text, const char *separators)
{
    int code = CLI_OK;

    for (text += strspn(text, separators); *text && code == CLI_OK;) {
        size_t length =
            *text == '#' ? strcspn(text, "\n") : word_length(text, separators);
        if (*text != '#')
            code = add_word(r, text, length);
        text += length;
        text += strspn(text, separators);
    }
    return code;
}

static int read_file(struct cli_hosts *hosts, const char *path)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_input in;
    esp_status status = espi_input_read(&in, path, &err);

    if (status != ESP_OK)
        return cli_fail(status, &err);
    struct reading r = {hosts, in.where, CLI_BAD_INPUT};
    int code = strlen(in.text) == in.length
                   ? read_words(&r, in.text, ", \t\r\n")
                   : cli_error(CLI_BAD_INPUT, "%s: a list of hosts is text", in.where);
    espi_input_done(&in);
    return code;
}

int cli_read_hosts(struct cli_hosts *hosts, const char *list, const char *where)
{
    struct reading r = {hosts, where, CLI_BAD_USAGE};

    int code =
        list[0] == '@' ? read_file(hosts, list + 1) : read_words(&r, list, ", \t\n");
    if (code == CLI_OK && hosts->n == 0)
        code = cli_error(CLI_BAD_USAGE, "%s: the list is empty", where);
    return code;
}

int cli_try_hosts(struct cli_hosts *hosts, const char *list)
{
    struct reading r = {hosts, NULL, CLI_BAD_USAGE};

    return read_words(&r, list, ", \t\n") == CLI_OK ? 0 : -1;
}

int cli_try_hostfile(struct cli_hosts *hosts, const char *path)
{
    struct reading r = {hosts, NULL, CLI_BAD_INPUT};
    struct espi_input in;
    int code = CLI_OK;

    if (espi_input_read(&in, path, NULL))
        return -1;
    for (const char *at = in.text; *at && code == CLI_OK;) {
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        if (length && *at != '#')
            code = add_host(&r, at, length);
        at += strcspn(at, "\n");
    }
    espi_input_done(&in);
    return code == CLI_OK ? 0 : -1;
}

const char *cli_host(const struct cli_hosts *hosts, int i)
{
    return hosts->text + hosts->start[i];
}

void cli_hosts_done(struct cli_hosts *hosts)
{
    espi_free(hosts->text);
    espi_free(hosts->start);
    *hosts = (struct cli_hosts){0};
}

/* ---- hosts of a platform ---- */

static int find_each(const struct esp_platform *p, const struct cli_hosts *hosts,
                     const char *where, int *nodes, int *n, unsigned char *seen)
{
    char quoted[64];

    *n = 0;
    for (int i = 0; i < hosts->n; i++) {
        int several, node = espi_find_host(p, cli_host(hosts, i), &several);
        if (node < 0)
            return cli_error(CLI_BAD_INPUT, "%s: %s of the platform is named '%s'%s",
                             where, several ? "more than one host" : "no host",
                             espi_quote(quoted, sizeof quoted, cli_host(hosts, i)),
                             several ? " up to a dot"
                                     : " ('espalier info --hosts' lists them)");
        if (!seen[node])
            nodes[(*n)++] = node;
        seen[node] = 1;
    }
    return CLI_OK;
}

int cli_find_hosts(const struct esp_platform *p, const char *list, const char *where,
                   int **nodes, int *n)
{
    struct cli_hosts hosts = {0};
    int code = cli_read_hosts(&hosts, list, where);
    int *found = ESPI_NEW(int, hosts.n + 1);
    unsigned char *seen = espi_calloc((size_t)esp_platform_node_count(p), 1);

    if (!found || !seen)
        code = out_of_memory();
    if (code == CLI_OK)
        code = find_each(p, &hosts, where, found, n, seen);
    espi_free(seen);
    cli_hosts_done(&hosts);
    if (code != CLI_OK)
        espi_free(found);
    else
        *nodes = found;
    return code;
}
