#include "measure/samples.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/input.h"
#include "base/number.h"
#include "base/scan.h"

static const struct {
    const char *word;
    double min, max;
} kinds[ESPI_SAMPLE_KINDS] = {
    [ESPI_SAMPLE_LATENCY] = {"latency", 0, 1e6}, [ESPI_SAMPLE_SEND] = {"send", 0, 1e6},
    [ESPI_SAMPLE_RECV] = {"recv", 0, 1e6},       [ESPI_SAMPLE_QUICK] = {"quick", 1, 1e15},
    [ESPI_SAMPLE_RATE] = {"rate", 1, 1e15},      [ESPI_SAMPLE_BUS] = {"bus", 1, 1e15},
    [ESPI_SAMPLE_CHECK] = {"check", 1, 1e15},
};

void espi_samples_done(struct espi_samples *s)
{
    espi_names_done(&s->hosts);
    espi_free(s->ranks);
    espi_free(s->at);
    memset(s, 0, sizeof *s);
}

/* ---- adding ---- */

esp_status espi_samples_add_host(struct espi_samples *s, const char *name, int ranks,
                                 struct esp_err *err)
{
    char quoted[80];
    espi_quote(quoted, sizeof quoted, name);
    if (!*name || strlen(name) > ESPI_NAME_MAX || strpbrk(name, " \t#") ||
        !espi_is_printable(name, strlen(name)))
        return espi_err(err, ESP_EINPUT,
                        "host '%s': a name has 1 to %d bytes of printable UTF-8 and "
                        "neither blanks nor '#'",
                        quoted, ESPI_NAME_MAX);
    if (espi_names_find(&s->hosts, name) >= 0)
        return espi_err(err, ESP_EINPUT, "host '%s' is there twice", quoted);
    if (s->hosts.n >= ESPI_SAMPLES_HOSTS_MAX)
        return espi_err(err, ESP_EINPUT, "there are more than %d hosts",
                        ESPI_SAMPLES_HOSTS_MAX);
    if (ranks < 1)
        return espi_err(err, ESP_EINPUT, "host '%s' has no ranks", quoted);
    size_t n = s->hosts.n;
    if (espi_grow((void **)&s->ranks, &s->ranks_room, n + 1, sizeof *s->ranks) ||
        espi_names_intern(&s->hosts, name) < 0)
        return espi_err_nomem(err);
    s->ranks[n] = ranks;
    return ESP_OK;
}

esp_status espi_samples_add(struct espi_samples *s, const struct espi_sample *sample,
                            struct esp_err *err)
{
    int n = espi_samples_hosts(s), same = sample->kind == ESPI_SAMPLE_BUS;
    if (sample->from < 0 || sample->from >= n || sample->to < 0 || sample->to >= n)
        return espi_err(err, ESP_EINPUT, "there is no host number %d (of %d)",
                        sample->from < 0 || sample->from >= n ? sample->from : sample->to,
                        n);
    if ((sample->from == sample->to) != same)
        return espi_err(err, ESP_EINPUT, "a %s sample is of %s", kinds[sample->kind].word,
                        same ? "one host" : "two hosts");
    if (!(sample->value >= kinds[sample->kind].min &&
          sample->value <= kinds[sample->kind].max))
        return espi_err(err, ESP_EINPUT, "a %s of %g is not between %g and %g",
                        kinds[sample->kind].word, sample->value, kinds[sample->kind].min,
                        kinds[sample->kind].max);
    if (espi_grow((void **)&s->at, &s->room, s->n + 1, sizeof *s->at))
        return espi_err_nomem(err);
    s->at[s->n++] = *sample;
    return ESP_OK;
}

int espi_samples_last_round(const struct espi_samples *s)
{
    int last = -1;
    for (size_t i = 0; i < s->n; i++)
        last = s->at[i].round > last ? s->at[i].round : last;
    return last;
}

/* ---- reading ---- */

static esp_status whole_number(const struct espi_lines *lines, struct espi_span field,
                               const char *label, int *out, struct esp_err *err)
{
    double value;
    char quoted[80];
    if (espi_parse_number(field.text, field.length, &value) || value != floor(value) ||
        value > INT32_MAX / 2)
        return espi_lines_err(lines, err, "%s '%s' is not a whole number from 0 to %d",
                              label, espi_span_quote(quoted, sizeof quoted, field),
                              INT32_MAX / 2);
    *out = (int)value;
    return ESP_OK;
}

/* Our own complaint, with the place in front. */
static esp_status placed(const struct espi_lines *lines, esp_status status,
                         const struct esp_err *why, struct esp_err *err)
{
    if (status == ESP_OK)
        return status;
    if (status == ESP_ENOMEM)
        return espi_err_nomem(err);
    return espi_lines_err(lines, err, "%s", why->text);
}

static esp_status read_host(struct espi_samples *s, const struct espi_lines *lines,
                            const struct espi_span *field, int n, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1];
    int ranks;
    struct esp_err why;
    if (n != 3)
        return espi_lines_err(lines, err, "a host is 'host NAME RANKS'");
    if (espi_lines_name(lines, field[1], name, err))
        return ESP_EINPUT;
    esp_status status = whole_number(lines, field[2], "the number of ranks", &ranks, err);
    if (status)
        return status;
    return placed(lines, espi_samples_add_host(s, name, ranks, &why), &why, err);
}

static esp_status read_sample(struct espi_samples *s, const struct espi_lines *lines,
                              const struct espi_span *field, int n, struct esp_err *err)
{
    struct espi_sample sample = {.kind = 0};
    char quoted[80];
    struct esp_err why;
    while (sample.kind < ESPI_SAMPLE_KINDS &&
           !espi_span_is(field[0], kinds[sample.kind].word))
        sample.kind++;
    if (sample.kind == ESPI_SAMPLE_KINDS)
        return espi_lines_err(lines, err,
                              "no kind of sample '%s' (there are host, latency, send, "
                              "recv, quick, rate and bus)",
                              espi_span_quote(quoted, sizeof quoted, field[0]));
    if (n != 5)
        return espi_lines_err(lines, err, "a sample is '%s ROUND FROM TO VALUE'",
                              kinds[sample.kind].word);
    esp_status status = whole_number(lines, field[1], "round", &sample.round, err);
    if (!status)
        status = whole_number(lines, field[2], "host", &sample.from, err);
    if (!status)
        status = whole_number(lines, field[3], "host", &sample.to, err);
    if (status)
        return status;
    if (espi_parse_number(field[4].text, field[4].length, &sample.value))
        return espi_lines_err(lines, err, "'%s' is not a number",
                              espi_span_quote(quoted, sizeof quoted, field[4]));
    return placed(lines, espi_samples_add(s, &sample, &why), &why, err);
}

static esp_status read_lines(struct espi_samples *s, struct espi_lines *lines,
                             struct esp_err *err)
{
    struct espi_span line, field[6];
    int more = espi_lines_next_data(lines, &line, err);
    if (more > 0 && !espi_span_is(line, ESPI_SAMPLES_FORMAT))
        return espi_lines_err(lines, err,
                              "this is no file of samples, which begins "
                              "with '" ESPI_SAMPLES_FORMAT "'");
    if (more == 0)
        return espi_err(err, ESP_EINPUT, "%s: there is nothing in it", lines->where);
    while (more > 0 && (more = espi_lines_next_data(lines, &line, err)) > 0) {
        int n = espi_split(line, field, 6);
        esp_status status = espi_span_is(field[0], "host")
                                ? read_host(s, lines, field, n, err)
                                : read_sample(s, lines, field, n, err);
        if (status)
            return status;
    }
    return more < 0 ? ESP_EINPUT : ESP_OK;
}

esp_status espi_samples_parse(struct espi_samples *s, const char *text, size_t length,
                              const char *where, struct esp_err *err)
{
    struct espi_lines lines;
    espi_lines_init(&lines, text, length, where, ESPI_LINE_MAX);
    esp_status status = read_lines(s, &lines, err);
    if (status)
        espi_samples_done(s);
    return status;
}

esp_status espi_samples_read(struct espi_samples *s, const char *path,
                             struct esp_err *err)
{
    struct espi_input in;
    esp_status status = espi_input_read(&in, path, err);
    if (status)
        return status;
    status = espi_samples_parse(s, in.text, in.length, in.where, err);
    espi_input_done(&in);
    return status;
}

/* ---- writing ---- */

esp_status espi_samples_write_stream(const void *samples, FILE *out, struct esp_err *err)
{
    const struct espi_samples *s = samples;
    fputs(ESPI_SAMPLES_FORMAT "\n", out);
    for (int i = 0; i < espi_samples_hosts(s); i++)
        fprintf(out, "host %s %d\n", espi_names_text(&s->hosts, i), s->ranks[i]);
    for (size_t i = 0; i < s->n; i++) {
        char value[ESPI_NUMBER_MAX];
        espi_number_print(value, s->at[i].value);
        fprintf(out, "%s %d %d %d %s\n", kinds[s->at[i].kind].word, s->at[i].round,
                s->at[i].from, s->at[i].to, value);
    }
    if (fflush(out) || ferror(out))
        return espi_err(err, ESP_EIO, "cannot write the samples: %s", strerror(errno));
    return ESP_OK;
}
