/* Man pages from the tables. */
#include <ctype.h>
#include <string.h>

#include "cli/command.h"

/* Text for roff: a hyphen stays a hyphen, a backslash a backslash, and a line never
 * starts with what would be a request. */
static void roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\n' && (text[1] == '.' || text[1] == '\''))
            fputs("\n\\&", out);
        else
            fputc(*text, out);
    }
}

static void roff_line(FILE *out, const char *text)
{
    roff(out, text);
    fputc('\n', out);
}

static void upper(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

static void preformatted(FILE *out, const char *text)
{
    fputs(".PP\n.RS 4\n.nf\n", out);
    roff_line(out, text);
    fputs(".fi\n.RE\n", out);
}

static void paragraphs(FILE *out, const char *const *about)
{
    for (; about && *about; about++) {
        if (**about == ' ') {
            preformatted(out, *about);
            continue;
        }
        fputs(".PP\n", out);
        roff_line(out, *about);
    }
}

static void title(FILE *out, const char *name, const char *summary)
{
    fputs(".TH ESPALIER", out);
    if (*name)
        fputc('-', out);
    upper(out, name);
    fprintf(out, " 1 \"\" \"espalier %s\" \"espalier manual\"\n", esp_version());
    /* No hyphenation and no stretched lines: there are many literal words. */
    fputs(".nh\n.ad l\n.SH NAME\n", out);
    fprintf(out, "espalier%s%s \\- ", *name ? "\\-" : "", name);
    roff_line(out, summary);
}

static void synopsis(FILE *out, const struct command *c)
{
    char name[128], arguments[256];

    cli_synopsis(c, arguments, sizeof arguments);
    fputs(".PP\n\\fB", out);
    roff(out, cli_full_name(c, name, sizeof name));
    fputs("\\fR ", out);
    roff_line(out, arguments);
}

static void options(FILE *out, const struct command *c)
{
    const struct cli_option *o;
    char text[1024];

    for (const struct cli_positional *p = c->positionals; p && p->name; p++) {
        fprintf(out, ".TP\n\\fI%s\\fR\n", p->name);
        roff_line(out, p->help);
    }
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        const char *word = cli_value_word(o);
        fputs(".TP\n", out);
        if (o->letter)
            fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
        fputs("\\fB\\-\\-", out);
        roff(out, o->name);
        fprintf(out, "\\fR%s%s%s\n", word ? " \\fI" : "", word ? word : "",
                word ? "\\fR" : "");
        cli_option_text(o, text, sizeof text);
        roff_line(out, text);
    }
}

static void examples(FILE *out, const struct command *c)
{
    for (const struct cli_example *e = c->examples; e && e->line; e++) {
        fputs(".PP\n", out);
        roff_line(out, e->what);
        preformatted(out, e->line);
    }
}

static void exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i <= CLI_NOT_SO; i++) {
        fprintf(out, ".TP\n%d\n", i);
        roff_line(out, cli_exit_text[i]);
    }
}

static void write_children(FILE *out, const struct command *c)
{
    for (const struct command *const *k = c->children(); *k; k++) {
        fputs(".SS ", out);
        roff_line(out, (*k)->name);
        paragraphs(out, (const char *const[]){(*k)->summary, NULL});
        paragraphs(out, (*k)->about);
        synopsis(out, *k);
        options(out, *k);
        examples(out, *k);
    }
}

/* Does a page name a document, docs/NAME.md? */
static bool names_documents(const struct command *c)
{
    bool found = false;

    for (const char *const *a = c->about; a && *a; a++)
        found |= strstr(*a, "docs/") != NULL;
    for (const struct cli_option *o = c->options; o && o->name; o++)
        found |= strstr(o->help, "docs/") != NULL;
    if (c->children)
        for (const struct command *const *k = c->children(); *k; k++)
            found |= names_documents(*k);
    return found;
}

static void command_page(FILE *out, const struct command *c)
{
    title(out, c->name, c->summary);
    fputs(".SH SYNOPSIS\n", out);
    synopsis(out, c);
    if (c->children)
        for (const struct command *const *k = c->children(); *k; k++)
            synopsis(out, *k);
    fputs(".SH DESCRIPTION\n", out);
    paragraphs(out, c->about);
    fputs(".SH OPTIONS\n", out);
    options(out, c);
    if (c->children) {
        fputs(".SH ", out);
        upper(out, c->children_title);
        fputc('\n', out);
        write_children(out, c);
    }
    if (c->examples) {
        fputs(".SH EXAMPLES\n", out);
        examples(out, c);
    }
    exit_status(out);
    if (names_documents(c))
        fputs(".SH FILES\nWhat is called docs here is share/doc/espalier in the folder "
              "of the installation, such as /usr or /usr/local.\n",
              out);
    fputs(".SH SEE ALSO\n.BR espalier (1)", out);
    for (const char *const *s = c->see; s && *s; s++)
        fprintf(out, ",\n.BR espalier\\-%s (1)", *s);
    fputc('\n', out);
}

static void group_title(FILE *out, const char *text)
{
    fprintf(out, ".SS %s\n", text);
}

static void group_entry(FILE *out, const struct command *c)
{
    fprintf(out, ".TP\n.BR espalier\\-%s (1)\n", c->name);
    roff_line(out, c->summary);
}

static void main_page(FILE *out)
{
    static const char *const about[] = {
        "espalier measures networks whose machines and links are not equal, plans "
        "collective communication for them (broadcast and its relatives), proves how far "
        "a plan is from the best there can be, simulates it and runs it.",
        "Every command answers in tables for people, and in JSON with --json. Files are "
        "written whole or not at all; nothing is written when the input is bad.",
        NULL};

    title(out, "", "plans collective communication for unequal networks");
    fputs(".SH SYNOPSIS\n\\fBespalier\\fR \\fICOMMAND\\fR [OPTION]... [ARGUMENT]...\n"
          ".SH DESCRIPTION\n",
          out);
    paragraphs(out, about);
    fputs(".SH COMMANDS\n", out);
    cli_each_group(out, group_title, group_entry);
    fputs(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nList the commands, or "
          "after a command tell more about it.\n"
          ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrint the version.\n"
          ".SH ENVIRONMENT\n.TP\nNO_COLOR\nWhen set and not empty, no colours.\n"
          ".TP\nCOLUMNS\nThe width that help is wrapped to.\n"
          ".SH EXAMPLES\n.PP\nMake a network and look at it:\n",
          out);
    preformatted(out, "espalier generate tiers --preset 30 -o p.json\n"
                      "espalier info p.json");
    exit_status(out);
    fputs(".SH SEE ALSO\n", out);
    for (const struct command *const *c = cli_commands(); *c; c++)
        if ((*c)->group < CLI_GROUP_HIDDEN)
            fprintf(out, "%s.BR espalier\\-%s (1)", c == cli_commands() ? "" : ",\n",
                    (*c)->name);
    fputc('\n', out);
}

void cli_write_man(FILE *out, const struct command *c)
{
    if (c)
        command_page(out, c);
    else
        main_page(out);
}
