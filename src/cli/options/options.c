/* The one parser of arguments: --name value, --name=value, -x value, -xvalue, -xyz for
 * flags, -- to end the options; options and positional arguments may mix. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/command.h"

#define MAX_OPTIONS 64 /* limit: of a command */
#define REASON_MAX  400

static const struct cli_option help_option = {
    .name = "help", .letter = 'h', .help = "Show this help and stop."};
static const struct cli_option json_option = {
    .name = "json", .help = "Answer in JSON with stable keys, for programs."};

const struct cli_option *cli_option_at(const struct command *c, int i)
{
    int own = 0;

    while (c->options && c->options[own].name)
        own++;
    if (i < own)
        return &c->options[i];
    if (i == own && !c->no_json)
        return &json_option;
    return i == own + !c->no_json ? &help_option : NULL;
}

static const struct cli_option *find_long(const struct command *c, const char *name,
                                          size_t length)
{
    const struct cli_option *o;

    for (int i = 0; (o = cli_option_at(c, i)); i++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const struct cli_option *find_letter(const struct command *c, char letter)
{
    const struct cli_option *o;

    for (int i = 0; (o = cli_option_at(c, i)); i++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* ---- messages ---- */

static int bad_usage(const struct command *c, const char *sentence)
{
    char name[128];

    return cli_error(CLI_BAD_USAGE, "%s (see '%s --help')", sentence,
                     cli_full_name(c, name, sizeof name));
}

static int unknown_option(const struct command *c, const char *name, size_t length)
{
    const char *names[MAX_OPTIONS];
    const struct cli_option *o;
    char typed[64], quoted[64], sentence[256];
    int n = 0;

    snprintf(typed, sizeof typed, "%.*s", (int)(length > 60 ? 60 : length), name);
    for (int i = 0; n < MAX_OPTIONS && (o = cli_option_at(c, i)); i++)
        names[n++] = o->name;
    const char *near = cli_nearest(typed, names, n);
    espi_quote(quoted, sizeof quoted, typed);
    if (near)
        snprintf(sentence, sizeof sentence, "unknown option --%s, did you mean --%s?",
                 quoted, near);
    else
        snprintf(sentence, sizeof sentence, "unknown option --%s", quoted);
    return bad_usage(c, sentence);
}

static int bad_value(const struct command *c, const struct cli_option *o, const char *why)
{
    char sentence[512];

    snprintf(sentence, sizeof sentence, "--%s: %s", o->name, why);
    return bad_usage(c, sentence);
}

/* ---- values ---- */

/* Fills out with "'text' reason" and returns -1. */
static int refuse_value(char *out, size_t size, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int refuse_value(char *out, size_t size, const char *text, const char *fmt, ...)
{
    char quoted[80], reason[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    snprintf(out, size, "'%s' %s", espi_quote(quoted, sizeof quoted, text), reason);
    return -1;
}

/* Which of the choices text is; -1 and the reason when it is none. */
static int parse_choice(const char *const *choices, const char *text, char *why,
                        size_t size)
{
    char list[200] = "";
    size_t at = 0;
    int n = 0;

    for (; choices[n]; n++)
        if (strcmp(choices[n], text) == 0)
            return n;
    for (int i = 0; i < n && at < sizeof list; i++) {
        const char *between = i == 0 ? "" : i == n - 1 ? " or " : ", ";
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", between, choices[i]);
    }
    return refuse_value(why, size, text, "must be %s", list);
}

static int check_limits(const struct cli_option *o, const struct cli_given *g, char *why,
                        size_t size)
{
    if (!o->limited || (g->number >= o->min && g->number <= o->max))
        return 0;
    if (isinf(o->max))
        return refuse_value(why, size, g->text, "must be at least %.15g", o->min);
    return refuse_value(why, size, g->text, "must lie between %.15g and %.15g", o->min,
                        o->max);
}

static int parse_int(struct cli_given *g, char *why, size_t size)
{
    char *end;

    errno = 0;
    g->integer = strtoll(g->text, &end, 10);
    g->number = (double)g->integer;
    if (end == g->text || *end != '\0')
        return refuse_value(why, size, g->text, "is not a whole number");
    return errno ? refuse_value(why, size, g->text, "is too large a number") : 0;
}

static int parse_seed(struct cli_given *g, char *why, size_t size)
{
    char *end;

    errno = 0;
    g->integer = (long long)strtoull(g->text, &end, 10);
    if (strchr(g->text, '-') || end == g->text || *end != '\0')
        return refuse_value(why, size, g->text, "is not a whole number from 0 up");
    return errno ? refuse_value(why, size, g->text, "is too large a number") : 0;
}

static int parse_double(struct cli_given *g, char *why, size_t size)
{
    char *end;

    g->number = strtod(g->text, &end);
    if (end == g->text || *end != '\0' || !isfinite(g->number))
        return refuse_value(why, size, g->text, "is not a number");
    return 0;
}

static int parse_unit(enum espi_quantity what, struct cli_given *g, char *why,
                      size_t size)
{
    size_t length = strlen(g->text);

    if (espi_parse_quantity(what, g->text, length, &g->number) == 0)
        return 0;
    espi_quantity_complaint(why, size, what, g->text, length);
    return -1;
}

/* The length of the number in "40usd", or 0 when it is no money. */
static size_t usd_length(const char *text)
{
    size_t length = strlen(text), unit = strlen("usd");

    if (length <= unit || strcasecmp(text + length - unit, "usd"))
        return 0;
    length -= unit;
    return text[length - 1] == ' ' ? length - 1 : length;
}

static int parse_budget(struct cli_given *g, char *why, size_t size)
{
    size_t length = usd_length(g->text);

    if (length == 0)
        return parse_unit(ESPI_TIME, g, why, size);
    if (espi_parse_number(g->text, length, &g->number) || g->number < 0)
        return refuse_value(why, size, g->text, "is not an amount of money");
    return 0;
}

/* Fills number and integer from text; -1 and the reason when it is not one. */
static int parse_value(const struct cli_option *o, struct cli_given *g, char *why,
                       size_t size)
{
    int bad = 0;

    switch (o->kind) {
    case CLI_INT:
        bad = parse_int(g, why, size);
        break;
    case CLI_SEED:
        return parse_seed(g, why, size);
    case CLI_DOUBLE:
        bad = parse_double(g, why, size);
        break;
    case CLI_BANDWIDTH:
        bad = parse_unit(ESPI_BANDWIDTH, g, why, size);
        break;
    case CLI_TIME:
        bad = parse_unit(ESPI_TIME, g, why, size);
        break;
    case CLI_SIZE:
        bad = parse_unit(ESPI_SIZE, g, why, size);
        break;
    case CLI_BUDGET:
        return parse_budget(g, why, size);
    case CLI_CHOICE:
        g->integer = parse_choice(o->choices, g->text, why, size);
        return g->integer < 0 ? -1 : 0;
    default:
        return 0;
    }
    return bad ? bad : check_limits(o, g, why, size);
}

static int add_given(struct cli_args *args, const struct cli_option *o, const char *text)
{
    struct cli_given *g = &args->given[args->n_given++];
    char why[REASON_MAX];

    *g = (struct cli_given){.option = o, .text = text};
    if (parse_value(o, g, why, sizeof why))
        return bad_value(args->command, o, why);
    return CLI_OK;
}

/* ---- the walk over argv ---- */

struct walk {
    int argc, at;
    char **argv;
};

/* Is the word an option of the command, and nothing else: what comes next where a
 * variable that was to be the value is empty? */
static bool is_option_word(const struct command *c, const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '-' && !word[2] &&
           find_letter(c, word[1]);
}

/* An option that takes a value, which is inline (after = or the letter) or next. */
static int take_value(struct walk *w, struct cli_args *args, const struct cli_option *o,
                      const char *inline_value)
{
    char sentence[128];

    if (inline_value)
        return add_given(args, o, inline_value);
    if (w->at < w->argc && !is_option_word(args->command, w->argv[w->at]))
        return add_given(args, o, w->argv[w->at++]);
    snprintf(sentence, sizeof sentence, "--%s needs a value, %s", o->name,
             cli_value_word(o));
    return bad_usage(args->command, sentence);
}

static int parse_long(struct walk *w, struct cli_args *args, const char *body)
{
    const char *equals = strchr(body, '=');
    size_t length = equals ? (size_t)(equals - body) : strlen(body);
    const struct cli_option *o = find_long(args->command, body, length);
    char sentence[128];

    if (!o)
        return unknown_option(args->command, body, length);
    if (o->kind != CLI_FLAG)
        return take_value(w, args, o, equals ? equals + 1 : NULL);
    if (!equals)
        return add_given(args, o, "");
    snprintf(sentence, sizeof sentence, "--%s takes no value", o->name);
    return bad_usage(args->command, sentence);
}

static int parse_letters(struct walk *w, struct cli_args *args, const char *letters)
{
    char sentence[128], quoted[8];

    for (; *letters; letters++) {
        const struct cli_option *o = find_letter(args->command, *letters);
        if (!o) {
            espi_quote(quoted, sizeof quoted, (const char[]){*letters, '\0'});
            snprintf(sentence, sizeof sentence, "unknown option -%s", quoted);
            return bad_usage(args->command, sentence);
        }
        if (o->kind != CLI_FLAG)
            return take_value(w, args, o, letters[1] ? letters + 1 : NULL);
        add_given(args, o, "");
    }
    return CLI_OK;
}

static int parse_word(struct walk *w, struct cli_args *args)
{
    const char *word = w->argv[w->at++];

    if (strcmp(word, "--") == 0) {
        while (w->at < w->argc)
            args->words[args->n_words++] = w->argv[w->at++];
        return CLI_OK;
    }
    if (word[0] == '-' && word[1] == '-')
        return parse_long(w, args, word + 2);
    if (word[0] == '-' && word[1])
        return parse_letters(w, args, word + 1);
    args->words[args->n_words++] = word;
    return CLI_OK;
}

static int check_word(const struct command *c, const struct cli_positional *p,
                      const char *word)
{
    char why[REASON_MAX], sentence[512];

    if (p->kind != CLI_CHOICE || parse_choice(p->choices, word, why, sizeof why) >= 0)
        return CLI_OK;
    snprintf(sentence, sizeof sentence, "%s: %s", p->name, why);
    return bad_usage(c, sentence);
}

static int check_words(const struct cli_args *args)
{
    const struct cli_positional *p = args->command->positionals;
    char quoted[80], sentence[256];
    int i = 0, code = CLI_OK;

    for (; p && p->name && code == CLI_OK; p++) {
        if (i >= args->n_words && !p->optional) {
            snprintf(sentence, sizeof sentence, "%s is missing", p->name);
            return bad_usage(args->command, sentence);
        }
        if (i < args->n_words)
            code = check_word(args->command, p, args->words[i]);
        i = p->repeated || i >= args->n_words ? args->n_words : i + 1;
    }
    if (code == CLI_OK && i < args->n_words) {
        espi_quote(quoted, sizeof quoted, args->words[i]);
        snprintf(sentence, sizeof sentence, "one argument too many: '%s'", quoted);
        return bad_usage(args->command, sentence);
    }
    return code;
}

int cli_parse(const struct command *c, int argc, char **argv, struct cli_args *args)
{
    struct walk w = {.argc = argc, .argv = argv};
    size_t letters = 0;
    int code = CLI_OK;

    for (int i = 0; i < argc; i++)
        letters += strlen(argv[i]) + 1; /* a word of flags may hold many */
    *args = (struct cli_args){.command = c, .start_s = espi_now_s()};
    args->given = ESPI_NEW(struct cli_given, letters + 1);
    args->words = ESPI_NEW(const char *, argc + 1);
    if (!args->given || !args->words)
        code = cli_error(CLI_FAILED, "out of memory");
    while (code == CLI_OK && w.at < argc)
        code = parse_word(&w, args);
    if (code == CLI_OK && !cli_has(args, "help"))
        code = check_words(args);
    if (code != CLI_OK)
        cli_args_done(args);
    return code;
}

void cli_args_done(struct cli_args *args)
{
    espi_free(args->given);
    espi_free(args->words);
    *args = (struct cli_args){0};
}

/* ---- what was given ---- */

static const struct cli_given *last_given(const struct cli_args *args, const char *name)
{
    for (int i = args->n_given - 1; i >= 0; i--)
        if (strcmp(args->given[i].option->name, name) == 0)
            return &args->given[i];
    return NULL;
}

/* The value given, or else that of the default. */
static struct cli_given value_of(const struct cli_args *args, const char *name)
{
    struct cli_given none = {.text = NULL, .number = NAN, .integer = -1};
    const struct cli_given *given = last_given(args, name);
    const struct cli_option *o = find_long(args->command, name, strlen(name));
    char why[REASON_MAX];

    if (given)
        return *given;
    if (!o || !o->fallback)
        return none;
    struct cli_given g = {.option = o, .text = o->fallback};
    return parse_value(o, &g, why, sizeof why) ? none : g;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    return last_given(args, name) != NULL;
}

const char *cli_text(const struct cli_args *args, const char *name)
{
    return value_of(args, name).text;
}

double cli_number(const struct cli_args *args, const char *name)
{
    return value_of(args, name).number;
}

long long cli_int(const struct cli_args *args, const char *name)
{
    return value_of(args, name).integer;
}

uint64_t cli_seed(const struct cli_args *args, const char *name)
{
    return (uint64_t)value_of(args, name).integer;
}

int cli_choice(const struct cli_args *args, const char *name)
{
    return (int)value_of(args, name).integer;
}

const char *cli_nth(const struct cli_args *args, const char *name, int i)
{
    for (int k = 0; k < args->n_given; k++)
        if (strcmp(args->given[k].option->name, name) == 0 && i-- == 0)
            return args->given[k].text;
    return NULL;
}

bool cli_is_usd(const struct cli_args *args, const char *name)
{
    const char *text = cli_text(args, name);

    return text && usd_length(text) > 0;
}
