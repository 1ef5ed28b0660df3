#include "cli/options/platforms.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/input.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"

const char *const cli_model_names[] = {"one-port", "half-duplex", "multi-port",
                                       "capacity", NULL};

const struct cli_positional cli_platform_file[] = {
    {.name = "FILE", .kind = CLI_FILE, .help = "The platform; - is standard input."},
    {0}};

int cli_apply_model(const struct cli_args *args, struct esp_platform **p)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct esp_platform *changed = NULL;
    esp_model model;

    if (!cli_text(args, "model") || esp_model_parse(cli_text(args, "model"), &model))
        return CLI_OK;
    esp_status status = esp_platform_with_model(*p, model, &changed, &err);
    esp_platform_free(*p);
    *p = changed;
    return cli_fail(status, &err);
}

int cli_read_platform(const struct cli_args *args, const char *path,
                      const struct esp_read_options *options, struct esp_platform **out)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char label[80];

    snprintf(label, sizeof label, "reading %s",
             strcmp(path, "-") == 0 ? "standard input" : path);
    cli_progress_start(0, label);
    esp_status status = esp_platform_read(path, options, out, &err);
    cli_progress_end();
    return status == ESP_OK ? cli_apply_model(args, out) : cli_fail(status, &err);
}

static esp_status write_stream(const void *platform, FILE *out, struct esp_err *err)
{
    return esp_platform_write_stream(platform, out, err);
}

static int say_written(const struct cli_args *args, const struct esp_platform *p,
                       const char *path)
{
    int nodes = esp_platform_node_count(p), hosts = esp_platform_host_count(p);
    int links = esp_platform_link_count(p);
    char quoted[256];

    if (cli_has(args, "json")) {
        json_t *json = json_object();
        json_object_set_new(json, "output", json_string(path));
        json_object_set_new(json, "name", json_string(esp_platform_name(p)));
        json_object_set_new(json, "hosts", json_integer(hosts));
        json_object_set_new(json, "switches", json_integer(nodes - hosts));
        json_object_set_new(json, "links", json_integer(links));
        return cli_print_json(json);
    }
    espi_quote(quoted, sizeof quoted, path);
    printf("%s: %d host%s, ", quoted, hosts, hosts == 1 ? "" : "s");
    if (nodes > hosts)
        printf("%d switch%s, ", nodes - hosts, nodes - hosts == 1 ? "" : "es");
    printf("%d link%s. Next: espalier info %s\n", links, links == 1 ? "" : "s", quoted);
    return CLI_OK;
}

int cli_write_platform(const struct cli_args *args, const struct esp_platform *p)
{
    const char *path = cli_text(args, "output");
    bool to_file = path && strcmp(path, "-") != 0;

    if (to_file)
        cli_progress_start(0, "writing");
    int code = cli_write(path, write_stream, p);
    cli_progress_end();

    if (code != CLI_OK || !to_file)
        return code;
    return say_written(args, p, path);
}

int cli_find_node(const struct esp_platform *p, const char *text)
{
    int found = esp_platform_find_node(p, text);
    char *end;

    if (found >= 0 || !*text)
        return found;
    long number = strtol(text, &end, 10);
    if (*end != '\0' || number < 0 || number >= esp_platform_node_count(p))
        return -1;
    return (int)number;
}

int cli_find_root(const struct esp_platform *p, const char *path, const char *text,
                  int *root)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char where[160], quoted[64];
    int node = cli_find_node(p, text);

    espi_input_where(where, sizeof where, path);
    if (node < 0)
        return cli_error(CLI_BAD_INPUT,
                         "%s: there is no node with the name or number '%s'", where,
                         espi_quote(quoted, sizeof quoted, text));
    esp_status status = esp_platform_check_root(p, node, &err);
    if (status != ESP_OK) {
        espi_err_prefix(&err, status, where);
        return cli_fail(status, &err);
    }
    *root = node;
    return CLI_OK;
}
