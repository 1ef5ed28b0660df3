/* Help from the tables: text that teaches, with examples, wrapped to the terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/printing/term.h"

const char *const cli_exit_text[] = {
    "All went well.",
    "It failed for a reason outside of the input, such as a full disk.",
    "Bad usage: an unknown option, or a value that makes no sense.",
    "Bad input: a file that is missing or wrong; the message says where.",
    "What was to be checked is not so (measure --check, doctor).",
};

static const char *const group_titles[CLI_GROUP_COUNT] = {
    [CLI_GROUP_NETWORK] = "Describe a network",
    [CLI_GROUP_PLAN] = "Plan for it",
    [CLI_GROUP_RUN] = "Run and look",
    [CLI_GROUP_ABOUT] = "About espalier",
};

const char *cli_value_word(const struct cli_option *o)
{
    static const char *const words[] = {
        [CLI_INT] = "N",         [CLI_SEED] = "N",
        [CLI_DOUBLE] = "X",      [CLI_BANDWIDTH] = "BANDWIDTH",
        [CLI_TIME] = "TIME",     [CLI_SIZE] = "SIZE",
        [CLI_BUDGET] = "BUDGET", [CLI_STRING] = "TEXT",
        [CLI_FILE] = "FILE",     [CLI_CHOICE] = "WORD",
    };

    if (o->kind == CLI_FLAG)
        return NULL;
    return o->value ? o->value : words[o->kind];
}

const char *cli_full_name(const struct command *c, char *out, size_t size)
{
    if (c->parent)
        snprintf(out, size, "espalier %s %s", c->parent->name, c->name);
    else
        snprintf(out, size, "espalier %s", c->name);
    return out;
}

void cli_synopsis(const struct command *c, char *out, size_t size)
{
    const struct cli_positional *p = c->positionals;
    size_t at = (size_t)snprintf(out, size, "[OPTION]...");

    for (; p && p->name && at < size; p++)
        at += (size_t)snprintf(out + at, size - at, " %s%s%s%s", p->optional ? "[" : "",
                               p->name, p->optional ? "]" : "", p->repeated ? "..." : "");
}

static void print_heading(const char *title)
{
    printf("\n%s%s%s\n", cli_bold(stdout), title, cli_plain(stdout));
}

/* A term at column 2 and its text at column indent. */
static void print_entry(const char *term, const char *text, int indent)
{
    int column = 2 + cli_text_width(term);

    printf("  %s", term);
    if (column + 2 > indent)
        printf("\n%*s", indent, "");
    else
        printf("%*s", indent - column, "");
    cli_wrap(stdout, text, indent, indent, cli_term_width());
}

static void print_paragraphs(const char *const *about)
{
    for (; about && *about; about++) {
        putchar('\n');
        if (**about == ' ')
            printf("%s\n", *about);
        else
            cli_wrap(stdout, *about, 0, 0, cli_term_width());
    }
}

static void print_positionals(const struct command *c, int indent)
{
    const struct cli_positional *p = c->positionals;

    if (!p || !p->name)
        return;
    print_heading("Arguments");
    for (; p->name; p++)
        print_entry(p->name, p->help, indent);
}

void cli_option_text(const struct cli_option *o, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%s", o->help);

    if (o->kind == CLI_CHOICE && !o->explained && at < size) {
        at += (size_t)snprintf(out + at, size - at, " Allowed values:");
        for (int i = 0; o->choices[i] && at < size; i++)
            at += (size_t)snprintf(out + at, size - at, "%s %s", i ? "," : "",
                                   o->choices[i]);
        if (at < size)
            at += (size_t)snprintf(out + at, size - at, ".");
    }
    if (o->fallback && at < size)
        snprintf(out + at, size - at, " (default: %s)", o->fallback);
}

/* "-o, --output FILE" */
static void option_term(const struct cli_option *o, char *out, size_t size)
{
    const char *word = cli_value_word(o);
    char letter[8] = "    ";

    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(out, size, "%s--%s%s%s", letter, o->name, word ? " " : "", word ? word : "");
}

/* The column of the texts: right of the longest term that is not very long. */
static int text_column(const struct command *c)
{
    const struct cli_option *o;
    char term[80];
    int column = 14;

    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        option_term(o, term, sizeof term);
        int w = (int)strlen(term) + 4;
        column = w > column && w <= 30 ? w : column;
    }
    return column;
}

static void print_options(const struct command *c, int indent)
{
    const struct cli_option *o;
    char term[80], text[1024];

    print_heading("Options");
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        option_term(o, term, sizeof term);
        cli_option_text(o, text, sizeof text);
        print_entry(term, text, indent);
    }
}

static void print_children(const struct command *c)
{
    if (!c->children)
        return;
    print_heading(c->children_title);
    for (const struct command *const *child = c->children(); *child; child++)
        print_entry((*child)->name, (*child)->summary, 14);
}

static void print_examples(const struct command *c)
{
    if (!c->examples)
        return;
    print_heading("Examples");
    for (const struct cli_example *e = c->examples; e->line; e++) {
        printf("  ");
        cli_wrap(stdout, e->what, 2, 2, cli_term_width());
        printf("    %s%s%s\n", cli_bold(stdout), e->line, cli_plain(stdout));
    }
}

void cli_print_help(const struct command *c)
{
    char name[128], synopsis[256];

    cli_full_name(c, name, sizeof name);
    cli_synopsis(c, synopsis, sizeof synopsis);
    printf("%s%s%s - %s\n\n", cli_bold(stdout), name, cli_plain(stdout), c->summary);
    if (c->children)
        printf("Usage: %s [NAME] %s\n", name, synopsis);
    else
        printf("Usage: %s %s\n", name, synopsis);
    print_paragraphs(c->about);
    print_children(c);
    print_positionals(c, text_column(c));
    print_options(c, text_column(c));
    print_examples(c);
    if (c->children)
        printf("\n'%s NAME --help' tells more about one of them.\n", name);
}

void cli_each_group(FILE *out, void (*title)(FILE *, const char *),
                    void (*entry_of)(FILE *, const struct command *))
{
    for (int g = 0; g < CLI_GROUP_HIDDEN; g++) {
        bool first = true;
        for (const struct command *const *c = cli_commands(); *c; c++) {
            if ((int)(*c)->group != g)
                continue;
            if (first)
                title(out, group_titles[g]);
            first = false;
            entry_of(out, *c);
        }
    }
}

static void overview_title(FILE *out, const char *title)
{
    (void)out;
    print_heading(title);
}

static void overview_entry(FILE *out, const struct command *c)
{
    (void)out;
    print_entry(c->name, c->summary, 14);
}

void cli_print_overview(void)
{
    printf("espalier plans collective communication for networks whose machines are not "
           "equal.\n\nUsage: espalier COMMAND [OPTION]... [ARGUMENT]...\n");
    cli_each_group(stdout, overview_title, overview_entry);
    printf("\nA first walk:\n"
           "    espalier generate tiers --preset 30 -o p.json\n"
           "    espalier info p.json\n"
           "\n'espalier COMMAND --help' tells more about a command.\n");
}
