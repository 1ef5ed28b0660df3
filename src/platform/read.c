/* Reads platforms: finds out which format a text has and hands it to the format's reader.
 * What the text says counts more than what the file is called. */
#include <float.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/input.h"
#include "base/options.h"
#include "base/scan.h"
#include "platform/part.h"
#include "platform/readers.h"

static const char *const format_names[ESP_FORMAT_COUNT] = {
    [ESP_FORMAT_AUTO] = "auto",       [ESP_FORMAT_JSON] = "json",
    [ESP_FORMAT_MATRIX] = "matrix",   [ESP_FORMAT_EDGES] = "edges",
    [ESP_FORMAT_TIERS] = "tiers",     [ESP_FORMAT_SIMGRID] = "simgrid",
    [ESP_FORMAT_GRAPHML] = "graphml", [ESP_FORMAT_LINKS] = "links",
    [ESP_FORMAT_SLURM] = "slurm",     [ESP_FORMAT_IBNET] = "ibnet",
    [ESP_FORMAT_NCCL] = "nccl",
};

const char *esp_format_name(esp_format format)
{
    return (unsigned)format < ESP_FORMAT_COUNT ? format_names[format] : "unknown";
}

int esp_format_parse(const char *text, esp_format *format)
{
    for (int i = 0; i < ESP_FORMAT_COUNT; i++)
        if (strcmp(text, format_names[i]) == 0) {
            *format = (esp_format)i;
            return 0;
        }
    return -1;
}

/* ---- which format is it? ---- */

#define LOOK_AT 65536 /* limit: bytes; comments may stand before what tells */

static int has_ending(const char *where, const char *ending)
{
    size_t n = strlen(where), m = strlen(ending);
    return n > m && strcasecmp(where + n - m, ending) == 0;
}

static esp_format detect_xml(const char *text, size_t length, const char *where)
{
    const char *graphml = memmem(text, length, "<graphml", 8);
    const char *platform = memmem(text, length, "<platform", 9);
    const char *system = memmem(text, length, "<system", 7);
    if (system && (!graphml || system < graphml) && (!platform || system < platform))
        return ESP_FORMAT_NCCL;
    if (graphml && (!platform || graphml < platform))
        return ESP_FORMAT_GRAPHML;
    if (platform)
        return ESP_FORMAT_SIMGRID;
    return has_ending(where, ".graphml") || memmem(text, length, "graphml", 7)
               ? ESP_FORMAT_GRAPHML
               : ESP_FORMAT_SIMGRID;
}

static int is_tiers_comment(struct espi_span line)
{
    static const char head[] = "Parameters for Network Model";
    struct espi_span s = espi_trim((struct espi_span){line.text + 1, line.length - 1});
    return espi_span_is(s, "NODES") ||
           (s.length >= sizeof head - 1 && memcmp(s.text, head, sizeof head - 1) == 0);
}

/* A format of lines: by the comments at the head or the first line of data. */
static esp_format detect_lines(const char *text, size_t length, const char *where)
{
    struct espi_lines lines;
    struct espi_span line;
    espi_lines_init(&lines, text, length, where, 0);
    while (espi_lines_next(&lines, &line, NULL) > 0) {
        line = espi_trim(line);
        if (line.length == 0)
            continue;
        if (line.text[0] == '#') {
            if (is_tiers_comment(line))
                return ESP_FORMAT_TIERS;
            continue;
        }
        if (espi_is_slurm_line(line))
            return ESP_FORMAT_SLURM;
        if (espi_is_ibnet_line(line))
            return ESP_FORMAT_IBNET;
        if (espi_is_links_header(line))
            return ESP_FORMAT_LINKS;
        if (memchr(line.text, ',', line.length) || memchr(line.text, ';', line.length))
            return ESP_FORMAT_MATRIX;
        break;
    }
    if (has_ending(where, ".csv") || has_ending(where, ".tsv"))
        return ESP_FORMAT_MATRIX;
    return has_ending(where, ".tiers") ? ESP_FORMAT_TIERS : ESP_FORMAT_EDGES;
}

static esp_format detect(const char *text, size_t length, const char *where)
{
    length = length < LOOK_AT ? length : LOOK_AT;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        text += 3, length -= 3;
    while (length && strchr(" \t\r\n", *text) && *text)
        text++, length--;
    if (length && (*text == '{' || *text == '['))
        return ESP_FORMAT_JSON;
    if (length && *text == '<')
        return detect_xml(text, length, where);
    return detect_lines(text, length, where);
}

static esp_format choose_format(const char *text, size_t length, const char *where,
                                const struct esp_read_options *options)
{
    if (options && options->format != ESP_FORMAT_AUTO)
        return options->format;
    if (options && options->bandwidth_path)
        return ESP_FORMAT_MATRIX;
    return detect(text, length, where);
}

/* ---- reading ---- */

static esp_status read_matrix_pair(const struct espi_source *latency,
                                   const char *bandwidth_path, struct esp_platform **out,
                                   struct esp_err *err)
{
    if (!bandwidth_path)
        return espi_err(err, ESP_EUSAGE,
                        "%s: a matrix of latencies needs a second file, with the "
                        "bandwidths (--bandwidth FILE)",
                        latency->where);
    struct espi_input in;
    esp_status status = espi_input_read(&in, bandwidth_path, err);
    if (status)
        return status;
    struct espi_source bandwidth = {
        .text = in.text, .length = in.length, .where = in.where, .model = latency->model};
    status = espi_read_matrix(latency, &bandwidth, out, err);
    espi_input_done(&in);
    return status;
}

static esp_status read_text(esp_format format, const struct espi_source *source,
                            const struct esp_read_options *options,
                            struct esp_platform **out, struct esp_err *err)
{
    switch (format) {
    case ESP_FORMAT_JSON:
        return espi_read_json(source->text, source->length, source->where, out, err);
    case ESP_FORMAT_MATRIX:
        return read_matrix_pair(source, options ? options->bandwidth_path : NULL, out,
                                err);
    case ESP_FORMAT_EDGES:
        return espi_read_edges(source, out, err);
    case ESP_FORMAT_LINKS:
        return espi_read_links(source, out, err);
    case ESP_FORMAT_TIERS:
        return espi_read_tiers(source, out, err);
    case ESP_FORMAT_GRAPHML:
        return espi_read_graphml(source, out, err);
    case ESP_FORMAT_SLURM:
        return espi_read_slurm(source, out, err);
    case ESP_FORMAT_IBNET:
        return espi_read_ibnet(source, out, err);
    case ESP_FORMAT_NCCL:
        return espi_read_nccl(source, out, err);
    case ESP_FORMAT_SIMGRID:
        return espi_read_simgrid(source, out, err);
    default:
        return espi_err(err, ESP_EUSAGE, "%s: there is no format %d", source->where,
                        (int)format);
    }
}

void esp_read_options_defaults_sized(struct esp_read_options *options, size_t size)
{
    struct esp_read_options standard = {
        .size = size, .format = ESP_FORMAT_AUTO, .model = ESP_MODEL_DEFAULT};
    espi_options_give(options, size, &standard, sizeof standard);
}

/* All formats are texts. Nobody has to name one for what is none. */
static int is_text(const char *text, size_t length)
{
    length = length < LOOK_AT ? length : LOOK_AT;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' && !strchr("\t\n\v\f\r\033", text[i]))
            return 0;
    return !memchr(text, 0, length);
}

/* A text of that format, and what the options say beside it. */
static esp_status read_whole(esp_format format, const char *text, size_t length,
                             const char *where, const struct esp_read_options *options,
                             struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *p = NULL, *changed = NULL;
    struct espi_source source = {text,
                                 length,
                                 where,
                                 options->model,
                                 options->rate_unit,
                                 options->undirected,
                                 options->link_Bps};
    if (options->format == ESP_FORMAT_AUTO && !is_text(text, length))
        return espi_err(err, ESP_EINPUT,
                        "%s: is not a text file, as all formats are that can be read",
                        where);
    if ((options->rate_unit || options->undirected) && format != ESP_FORMAT_EDGES)
        return espi_err(err, ESP_EUSAGE,
                        "%s: --unit and --undirected are for edge lists, and this is %s",
                        where, esp_format_name(format));
    if (options->link_Bps > 0 && format != ESP_FORMAT_SLURM)
        return espi_err(
            err, ESP_EUSAGE,
            "%s: --link-speed is for a topology.conf of Slurm, and this is %s", where,
            esp_format_name(format));
    esp_status st = read_text(format, &source, options, &p, err);
    if (st || !options->switches) {
        if (!st)
            *out = p;
        return st;
    }
    st = espi_platform_with_switches(p, options->switches, &changed, err);
    if (st == ESP_EINPUT)
        espi_err_prefix(err, st, where);
    esp_platform_free(p);
    if (!st)
        *out = changed;
    return st;
}

static esp_status take_options(struct esp_read_options *ours,
                               const struct esp_read_options *given, struct esp_err *err)
{
    esp_read_options_defaults(ours);
    if (!given)
        return ESP_OK;
    esp_status status = espi_options_take(ours, sizeof *ours, given,
                                          ESPI_SIZE_UP_TO(struct esp_read_options, model),
                                          "esp_read_options", err);
    if (!status && ours->model != ESP_MODEL_DEFAULT &&
        (unsigned)ours->model >= ESP_MODEL_COUNT)
        return espi_err(err, ESP_EUSAGE, "there is no model number %d", (int)ours->model);
    if (!status && !(ours->link_Bps >= 0 && ours->link_Bps <= DBL_MAX))
        return espi_err(err, ESP_EUSAGE, "link_Bps is not a number from 0 up");
    return status;
}

esp_status esp_platform_parse(const char *text, size_t length, const char *where,
                              const struct esp_read_options *options,
                              struct esp_platform **out, struct esp_err *err)
{
    struct esp_read_options ours;
    char shown[160];
    espi_input_where(shown, sizeof shown, where);
    esp_status status = take_options(&ours, options, err);
    if (status)
        return status;
    if (length == 0)
        return espi_err(err, ESP_EINPUT, "%s: is empty", shown);
    return read_whole(choose_format(text, length, shown, &ours), text, length, shown,
                      &ours, out, err);
}

esp_status esp_platform_read(const char *path, const struct esp_read_options *options,
                             struct esp_platform **out, struct esp_err *err)
{
    return espi_platform_read_as(path, options, NULL, out, err);
}

esp_status espi_platform_read_as(const char *path, const struct esp_read_options *options,
                                 esp_format *found, struct esp_platform **out,
                                 struct esp_err *err)
{
    struct esp_read_options ours;
    struct espi_input in;
    esp_status status = take_options(&ours, options, err);
    if (!status)
        status = espi_input_read(&in, path, err);
    if (status)
        return status;
    esp_format format = choose_format(in.text, in.length, in.where, &ours);
    if (found)
        *found = format;
    status = read_whole(format, in.text, in.length, in.where, &ours, out, err);
    espi_input_done(&in);
    return status;
}

/* ---- what the readers share ---- */

/* "grid" for "data/grid.tiers". */
static void base_name(const char *where, char *out, size_t out_size)
{
    const char *slash = strrchr(where, '/');
    espi_quote(out, out_size, slash ? slash + 1 : where);
    char *dot = strrchr(out, '.');
    if (dot && dot != out)
        *dot = '\0';
    if (!espi_is_printable(out, strlen(out)))
        out[0] = '\0';
}

esp_status espi_reader_begin(const struct espi_source *source, esp_model default_model,
                             struct esp_builder **b, struct esp_err *err)
{
    struct esp_builder *builder;
    esp_status status = esp_builder_create(&builder, err);
    if (status)
        return status;
    char name[160];
    base_name(source->where, name, sizeof name);
    status = esp_builder_set_name(builder, name, err);
    if (status) {
        esp_builder_free(builder);
        return status;
    }
    esp_builder_set_model(builder, source->model != ESP_MODEL_DEFAULT ? source->model
                                                                      : default_model);
    *b = builder;
    return ESP_OK;
}

esp_status espi_reader_end(const struct espi_source *source, struct esp_builder *b,
                           esp_status status, struct esp_platform **out,
                           struct esp_err *err)
{
    if (!status) {
        status = esp_builder_build(b, out, err);
        if (status && status != ESP_ENOMEM)
            espi_err_prefix(err, status, source->where);
    }
    esp_builder_free(b);
    return status;
}

esp_status espi_reader_add_host(struct esp_builder *b, const char *name, int *node,
                                struct esp_err *err)
{
    struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    return esp_builder_add_node(b, &spec, node, err);
}
