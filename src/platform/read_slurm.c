/* topology.conf of Slurm (topology/tree): which hosts hang on which switch, and which
 * switches on which.
 *
 *     SwitchName=leaf0 Nodes=tux[0-3,12] LinkSpeed=100Gbps
 *     SwitchName=top Switches=leaf[0-1]
 *
 * Words of a line in any order, keys in any case; a backslash at the end joins the next
 * line; what follows a '#' is a comment. Each switch becomes a node of kind switch, each
 * host gets the switch that names it first as its site, and every pair is joined by two
 * links. LinkSpeed is the speed of the links from this switch to what the line names.
 * Slurm makes no use of it, gives it no unit, and takes none: it is counted in that of
 * the source (--unit). Where there is no LinkSpeed, or no unit, links have the speed of
 * the source (--link-speed), without which the file is refused. Units in the file itself,
 * as here, are for files that are written for us. The default model is `capacity`. */
#include "platform/readers.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/host_list.h"

enum { HOSTS_MAX = 1 << 20 }; /* limit: names of one list */

enum word { WORD_NAME, WORD_NODES, WORD_SWITCHES, WORD_SPEED, WORD_COUNT };

static const char *const words[WORD_COUNT] = {"SwitchName", "Nodes", "Switches",
                                              "LinkSpeed"};

/* A line with those that it goes on in. */
struct entry {
    size_t line;
    struct espi_span value[WORD_COUNT]; /* text NULL: not given */
};

struct slurm {
    const struct espi_source *source;
    struct espi_lines lines;
    struct esp_builder *b;
    struct entry *entries;
    size_t n_entries, cap;
    int n_switches; /* nodes below are switches */

    double unit_Bps; /* of speeds without one; 0: not known */

    /* of the entry whose children are taken */
    int parent, child_kind;
    double Bps;
    char site[ESPI_NAME_MAX + 1];
};

/* ---- lines to entries ---- */

static esp_status take_word(struct slurm *s, struct entry *e, struct espi_span field,
                            struct esp_err *err)
{
    const char *equals = memchr(field.text, '=', field.length);
    char shown[64];
    if (!equals)
        return espi_lines_err(&s->lines, err, "'%s' is not KEY=VALUE",
                              espi_span_quote(shown, sizeof shown, field));
    size_t key = (size_t)(equals - field.text);
    for (int w = 0; w < WORD_COUNT; w++) {
        if (strlen(words[w]) != key || strncasecmp(words[w], field.text, key) != 0)
            continue;
        if (e->value[w].text)
            return espi_lines_err(&s->lines, err, "%s stands twice", words[w]);
        e->value[w] = (struct espi_span){equals + 1, field.length - key - 1};
        if (!e->value[w].length)
            return espi_lines_err(&s->lines, err, "%s is empty", words[w]);
        return ESP_OK;
    }
    field.length = key;
    return espi_lines_err(&s->lines, err,
                          "'%s' is none of SwitchName, Nodes, Switches and LinkSpeed "
                          "(trees of switches are read, blocks are not)",
                          espi_span_quote(shown, sizeof shown, field));
}

/* Takes the words of a line; *goes_on when the next line belongs to it. */
static esp_status take_words(struct slurm *s, struct entry *e, struct espi_span line,
                             int *goes_on, struct esp_err *err)
{
    struct espi_span field;
    const char *comment = memchr(line.text, '#', line.length);
    if (comment)
        line.length = (size_t)(comment - line.text);
    line = espi_trim(line);
    *goes_on = line.length && line.text[line.length - 1] == '\\';
    if (*goes_on)
        line.length--;
    while (espi_next_field(&line, &field)) {
        esp_status status = take_word(s, e, field, err);
        if (status)
            return status;
    }
    return ESP_OK;
}

static esp_status keep_entry(struct slurm *s, const struct entry *e, struct esp_err *err)
{
    int has_child = e->value[WORD_NODES].text || e->value[WORD_SWITCHES].text;
    if (!e->value[WORD_NAME].text)
        return espi_lines_err(&s->lines, err, "a line without SwitchName");
    if (!has_child)
        return espi_lines_err(&s->lines, err,
                              "a switch without Nodes and without Switches");
    if (espi_grow((void **)&s->entries, &s->cap, s->n_entries + 1, sizeof *e))
        return espi_err_nomem(err);
    s->entries[s->n_entries++] = *e;
    return ESP_OK;
}

static esp_status gather_entries(struct slurm *s, struct esp_err *err)
{
    struct entry e = {0};
    struct espi_span line;
    int got, goes_on = 0;
    while ((got = espi_lines_next(&s->lines, &line, err)) > 0) {
        line = espi_trim(line);
        if (!goes_on && (!line.length || line.text[0] == '#'))
            continue;
        if (!goes_on)
            e = (struct entry){.line = s->lines.number};
        esp_status status = take_words(s, &e, line, &goes_on, err);
        if (!status && !goes_on)
            status = keep_entry(s, &e, err);
        if (status)
            return status;
    }
    if (got < 0)
        return ESP_EINPUT;
    return goes_on ? espi_lines_err(&s->lines, err, "the last line goes on in none")
                   : ESP_OK;
}

/* ---- entries to nodes and links ---- */

static esp_status add_switch(struct slurm *s, const struct entry *e, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1], shown[64];
    s->lines.number = e->line;
    if (espi_lines_name(&s->lines, e->value[WORD_NAME], name, err))
        return ESP_EINPUT;
    espi_quote(shown, sizeof shown, name);
    if (strpbrk(name, "[],"))
        return espi_lines_err(&s->lines, err, "'%s' names more than one switch", shown);
    if (esp_builder_find_node(s->b, name) >= 0)
        return espi_lines_err(&s->lines, err, "switch '%s' stands twice", shown);
    struct esp_node_spec spec = {name, NULL, ESP_NODE_SWITCH, ESP_UNSET, ESP_UNSET};
    return esp_builder_add_node(s->b, &spec, NULL, err);
}

/* The node of a name in Nodes or Switches; hosts come to be here. */
static esp_status find_child(struct slurm *s, const char *name, int *node,
                             struct esp_err *err)
{
    char shown[64];
    espi_quote(shown, sizeof shown, name);
    *node = esp_builder_find_node(s->b, name);
    if (s->child_kind == ESP_NODE_SWITCH && (*node < 0 || *node >= s->n_switches))
        return espi_err(err, ESP_EINPUT, "there is no line for the switch '%s'", shown);
    if (s->child_kind == ESP_NODE_HOST && *node >= 0 && *node < s->n_switches)
        return espi_err(err, ESP_EINPUT, "'%s' is a switch and stands in Nodes", shown);
    if (*node >= 0)
        return ESP_OK;
    struct esp_node_spec spec = {name, s->site, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    return esp_builder_add_node(s->b, &spec, node, err);
}

static esp_status take_child(void *self, const char *name, struct esp_err *err)
{
    struct slurm *s = self;
    int node;
    esp_status status = find_child(s, name, &node, err);
    if (!status && node == s->parent)
        return espi_err(err, ESP_EINPUT, "a switch that hangs on itself");
    if (!status)
        status = esp_builder_add_link(s->b, node, s->parent, 0, s->Bps, NULL, err);
    if (!status)
        status = esp_builder_add_link(s->b, s->parent, node, 0, s->Bps, NULL, err);
    return status;
}

static esp_status find_speed(struct slurm *s, const struct entry *e, struct esp_err *err)
{
    struct espi_span speed = e->value[WORD_SPEED];
    double bare = 0;
    s->Bps = s->source->link_Bps;
    int has_unit = speed.text && espi_parse_number(speed.text, speed.length, &bare);
    if (!has_unit && bare * s->unit_Bps > 0)
        s->Bps = bare * s->unit_Bps;
    if (has_unit) {
        esp_status status = espi_lines_quantity(&s->lines, ESPI_BANDWIDTH, speed,
                                                "LinkSpeed", &s->Bps, err);
        if (status)
            return status;
    }
    if (s->Bps > 0)
        return ESP_OK;
    return espi_lines_err(&s->lines, err,
                          "nothing says what the links of '%s' carry: a LinkSpeed and "
                          "its unit (--unit Gbps), or --link-speed 100Gbps for all",
                          s->site);
}

static esp_status add_children(struct slurm *s, const struct entry *e,
                               struct esp_err *err)
{
    struct esp_err why = {0};
    s->lines.number = e->line;
    esp_status status = espi_lines_name(&s->lines, e->value[WORD_NAME], s->site, err)
                            ? ESP_EINPUT
                            : find_speed(s, e, err);
    if (status)
        return status;
    s->parent = esp_builder_find_node(s->b, s->site);
    for (int w = WORD_NODES; w <= WORD_SWITCHES && !status; w++) {
        s->child_kind = w == WORD_NODES ? ESP_NODE_HOST : ESP_NODE_SWITCH;
        if (e->value[w].text)
            status = espi_host_list_each(e->value[w], HOSTS_MAX, take_child, s, &why);
    }
    if (status == ESP_ENOMEM)
        return espi_err_nomem(err);
    return status ? espi_lines_err(&s->lines, err, "%s", why.text) : ESP_OK;
}

int espi_is_slurm_line(struct espi_span line)
{
    static const char head[] = "SwitchName=";
    return line.length >= sizeof head - 1 &&
           strncasecmp(line.text, head, sizeof head - 1) == 0;
}

esp_status espi_read_slurm(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct slurm s = {.source = source};
    esp_status status = espi_source_unit(source, &s.unit_Bps, err);
    if (!status)
        status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &s.b, err);
    if (status)
        return status;
    espi_lines_init(&s.lines, source->text, source->length, source->where, ESPI_LINE_MAX);
    status = gather_entries(&s, err);
    for (size_t i = 0; i < s.n_entries && !status; i++)
        status = add_switch(&s, &s.entries[i], err);
    s.n_switches = (int)s.n_entries;
    for (size_t i = 0; i < s.n_entries && !status; i++)
        status = add_children(&s, &s.entries[i], err);
    espi_free(s.entries);
    return espi_reader_end(source, s.b, status, out, err);
}
