/* The table of settings, and how each is read. */
#include "advise/knobs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"

enum knob_number {
    MODE,
    PLATFORM,
    PLAN,
    HOSTS,
    ALGO,
    SLICE,
    WINDOW,
    MIN,
    MARGIN,
    PATIENCE,
    SLOW,
    STATS,
    ADVICE,
    PROBE,
    PROBER,
    LOG,
    N_KNOBS
};

static const struct espi_knob knobs[N_KNOBS] = {
    [MODE] = {"ESPALIER_MODE", "auto|force|off", "auto",
              "auto: a plan runs where it is predicted to win; force: wherever there is "
              "one, on a network of equal links if no platform is given; off: the MPI "
              "library does all."},
    [PLATFORM] = {"ESPALIER_PLATFORM", "FILE", "",
                  "The network, in any format that espalier reads. Read by rank 0 only. "
                  "Ranks find their nodes by host name."},
    [PLAN] = {"ESPALIER_PLAN", "FILE", "",
              "A plan for that platform; used for what it is a plan for, with its root, "
              "on communicators that have a rank on each host."},
    [HOSTS] = {"ESPALIER_HOSTS", "NAME,...", "",
               "The nodes of the ranks, by rank, where they are not called in the "
               "platform as their hosts are."},
    [ALGO] = {"ESPALIER_ALGO", "NAME", "",
              "The algorithm that plans; without it, the best of several that are quick. "
              "Not one that solves linear programs: give its plan as ESPALIER_PLAN."},
    [SLICE] = {"ESPALIER_SLICE", "SIZE", "0",
               "Messages are cut into slices of at most this size; 0: chosen with the "
               "plan."},
    [WINDOW] = {"ESPALIER_WINDOW", "N", "4",
                "Slices that are under way at once, for each sender and receiver."},
    [MIN] = {"ESPALIER_MIN", "SIZE", "8KiB",
             "In auto mode, smaller messages are left to the MPI library."},
    [MARGIN] = {"ESPALIER_MARGIN", "FACTOR", "0.9",
                "In auto mode, a plan runs when it is predicted to take less than this "
                "part of the MPI library's time."},
    [PATIENCE] =
        {"ESPALIER_PATIENCE", "FACTOR", "3",
         "In a broadcast along one tree, a rank whose parent takes more than this "
         "many times what the platform promises asks a second rank for what is "
         "missing; 0: never."},
    [SLOW] = {"ESPALIER_SLOW", "FROM>TO=BANDWIDTH,...", "",
              "For trials: what one rank sends to another in broadcasts is held back as "
              "if their link had this bandwidth; '*' stands for all ranks, and what is "
              "named last counts."},
    [STATS] = {"ESPALIER_STATS", "FILE", "",
               "At the end rank 0 writes to this file what was done; '-' is standard "
               "error."},
    [ADVICE] = {"ESPALIER_ADVICE", "FOLDER", "",
                "Where the advisor of the job puts its plans and listens to the ranks; "
                "'espalier run --adapt' sets it."},
    [PROBE] = {"ESPALIER_PROBE", "SHARE", "0.05",
               "Under an advisor: the part of the time that any link or host may be busy "
               "with probes while the program makes no calls; 0: no probes."},
    [PROBER] = {"ESPALIER_PROBER", "FILE", "",
                "The program that sends probes, one on each machine; 'espalier run "
                "--adapt' sets it, if it is not. Without it there are none."},
    [LOG] = {"ESPALIER_LOG", "quiet|warn|info|debug", "warn",
             "How much rank 0 says on standard error."},
};

const struct espi_knob *espi_knobs(int *count)
{
    *count = N_KNOBS;
    return knobs;
}

static esp_status wrong(const struct espi_knob *knob, const char *text,
                        struct esp_err *err)
{
    char quoted[80];
    return espi_err(err, ESP_EUSAGE, "%s: '%s' is not one of %s", knob->name,
                    espi_quote(quoted, sizeof quoted, text), knob->values);
}

static esp_status read_choice(enum knob_number k, const char *text, int *out,
                              struct esp_err *err)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *at = knobs[k].values; *at; index++) {
        size_t word = strcspn(at, "|");
        if (word == length && memcmp(at, text, word) == 0) {
            *out = index;
            return ESP_OK;
        }
        at += word + (at[word] == '|');
    }
    return wrong(&knobs[k], text, err);
}

static esp_status read_size(enum knob_number k, const char *text, double *out,
                            struct esp_err *err)
{
    char why[256];
    if (espi_parse_size(text, out) == 0)
        return ESP_OK;
    espi_quantity_complaint(why, sizeof why, ESPI_SIZE, text, strlen(text));
    return espi_err(err, ESP_EUSAGE, "%s: %s", knobs[k].name, why);
}

static esp_status read_number(enum knob_number k, const char *text, double min,
                              double max, double *out, struct esp_err *err)
{
    double value;
    char quoted[80];
    if (espi_parse_number(text, strlen(text), &value) || value < min || value > max)
        return espi_err(err, ESP_EUSAGE, "%s: '%s' is not a number from %g to %g",
                        knobs[k].name, espi_quote(quoted, sizeof quoted, text), min, max);
    *out = value;
    return ESP_OK;
}

static esp_status read_text(enum knob_number k, const char *text, char *out, size_t size,
                            struct esp_err *err)
{
    if (strlen(text) >= size)
        return espi_err(err, ESP_EUSAGE, "%s is longer than %zu bytes", knobs[k].name,
                        size - 1);
    memset(out, 0, size);
    memcpy(out, text, strlen(text));
    return ESP_OK;
}

/* "12>": the number (of "*": -1), and what stands behind the mark; NULL: it is not so. */
static const char *parse_rank(const char *text, const char *end, char mark, int *out)
{
    double value;
    const char *at = memchr(text, mark, (size_t)(end - text));
    if (at == text + 1 && *text == '*') {
        *out = -1;
        return at + 1;
    }
    if (!at || espi_parse_number(text, (size_t)(at - text), &value) || value < 0 ||
        value > INT_MAX || value != (int)value)
        return NULL;
    *out = (int)value;
    return at + 1;
}

int espi_slow_parse(const char *text, size_t length, struct espi_slow_setting *out)
{
    struct espi_slow_setting s;
    const char *end = text + length;
    text = parse_rank(text, end, '>', &s.from);
    text = text ? parse_rank(text, end, '=', &s.to) : NULL;
    if (!text ||
        espi_parse_quantity(ESPI_BANDWIDTH, text, (size_t)(end - text),
                            &s.bandwidth_Bps) ||
        s.bandwidth_Bps <= 0)
        return -1;
    *out = s;
    return 0;
}

static esp_status read_slow(enum knob_number k, const char *text, char *out, size_t size,
                            struct esp_err *err)
{
    struct espi_slow_setting ignored;
    char quoted[80];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        if (espi_slow_parse(at, length, &ignored))
            return espi_err(err, ESP_EUSAGE, "%s: '%s' is not of the form %s",
                            knobs[k].name, espi_quote(quoted, sizeof quoted, at),
                            knobs[k].values);
        at += length + (at[length] == ',');
    }
    return read_text(k, text, out, size, err);
}

static esp_status read_one(struct espi_settings *s, enum knob_number k, const char *text,
                           struct esp_err *err)
{
    double number;
    esp_status st;
    switch (k) {
    case MODE:
        return read_choice(k, text, &s->mode, err);
    case LOG:
        return read_choice(k, text, &s->log, err);
    case PLATFORM:
        return read_text(k, text, s->platform, sizeof s->platform, err);
    case PLAN:
        return read_text(k, text, s->plan, sizeof s->plan, err);
    case STATS:
        return read_text(k, text, s->stats, sizeof s->stats, err);
    case ADVICE:
        return read_text(k, text, s->advice, sizeof s->advice, err);
    case PROBE:
        return read_number(k, text, 0, 0.5, &s->probe, err);
    case PROBER:
        return read_text(k, text, s->prober, sizeof s->prober, err);
    case HOSTS:
        return read_text(k, text, s->hosts, sizeof s->hosts, err);
    case ALGO:
        return read_text(k, text, s->algo, sizeof s->algo, err);
    case SLICE:
        return read_size(k, text, &s->slice_bytes, err);
    case MIN:
        return read_size(k, text, &s->min_bytes, err);
    case MARGIN:
        return read_number(k, text, 0, 1e6, &s->margin, err);
    case PATIENCE:
        return read_number(k, text, 0, 1e6, &s->patience, err);
    case SLOW:
        return read_slow(k, text, s->slow, sizeof s->slow, err);
    case WINDOW:
        st = read_number(k, text, 1, 1024, &number, err);
        if (!st)
            s->window = (int)number;
        return st;
    default:
        return ESP_OK;
    }
}

esp_status espi_settings_read(struct espi_settings *out, char *(*get)(const char *name),
                              struct esp_err *err)
{
    struct espi_settings s;
    memset(&s, 0, sizeof s);
    for (enum knob_number k = 0; k < N_KNOBS; k++) {
        const char *text = get(knobs[k].name);
        esp_status st = read_one(&s, k, text && *text ? text : knobs[k].standard, err);
        if (st)
            return st;
    }
    *out = s;
    return ESP_OK;
}
