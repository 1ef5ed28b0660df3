/* Completion for fish, from the tables, as lines of `complete`. */
#include "cli/printing/completion.h"

/* In single quotes of the shell. */
static void put_single(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* When this command is what is typed: its name, and for the second level its parent's. */
static void put_condition(FILE *out, const struct command *c)
{
    if (c->parent)
        fprintf(out,
                " -n '__fish_seen_subcommand_from %s; and "
                "__fish_seen_subcommand_from %s'",
                c->parent->name, c->name);
    else
        fprintf(out, " -n '__fish_seen_subcommand_from %s'", c->name);
}

static void put_option(FILE *out, const struct command *c, const struct cli_option *o)
{
    fputs("complete -c espalier", out);
    put_condition(out, c);
    fprintf(out, " -l %s", o->name);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (o->kind == CLI_FILE)
        fputs(" -r -F", out);
    else if (o->kind != CLI_FLAG)
        fputs(" -x", out);
    if (o->names == CLI_NAMES_HOST)
        fputs(" -a '(__espalier_list (__espalier_hosts))'", out);
    else if (cli_knows_values(o)) {
        bool one = o->kind == CLI_CHOICE;
        fputs(one ? " -a '" : " -a '(__espalier_list ", out);
        cli_put_values(out, o);
        fputs(one ? "'" : ")'", out);
    }
    fputs(" -d ", out);
    put_single(out, o->help);
    fputc('\n', out);
}

static int takes_files(const struct command *c)
{
    for (const struct cli_positional *p = c->positionals; p && p->name; p++)
        if (p->kind == CLI_FILE)
            return 1;
    return 0;
}

static void put_words(FILE *out, const struct command *c)
{
    const struct cli_positional *p = c->positionals;

    if (takes_files(c)) {
        fputs("complete -c espalier", out);
        put_condition(out, c);
        fputs(" -F\n", out);
    }
    if (!p || !p->name || !p->choices)
        return;
    fputs("complete -c espalier", out);
    put_condition(out, c);
    fputs(" -a '", out);
    for (int i = 0; p->choices[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", p->choices[i]);
    fputs("'\n", out);
}

static void put_command(FILE *out, const struct command *c)
{
    const struct cli_option *o;

    fputs("complete -c espalier -n ", out);
    if (c->parent)
        fprintf(out, "'__fish_seen_subcommand_from %s'", c->parent->name);
    else
        fputs("__fish_use_subcommand", out);
    fprintf(out, " -a %s -d ", c->name);
    put_single(out, c->summary);
    fputc('\n', out);
    for (int i = 0; (o = cli_option_at(c, i)); i++)
        put_option(out, c, o);
    put_words(out, c);
}

void cli_write_completion_fish(FILE *out)
{
    fputs("# fish completion for espalier, made by 'espalier completion fish'\n"
          "# of the platform that is named in the line\n"
          "function __espalier_hosts\n"
          "    for word in (commandline -opc)[3..-1]\n"
          "        test -f $word; or continue\n"
          "        espalier info --hosts -- $word 2> /dev/null; and return\n"
          "    end\n"
          "end\n"
          "# each with what stands before it in a list with commas\n"
          "function __espalier_list\n"
          "    set -l token (commandline -ct | string replace -r '^--[a-z-]+=' '')\n"
          "    set -l before (string match -r '^.*,' -- $token)\n"
          "    for word in $argv\n"
          "        echo \"$before$word\"\n"
          "    end\n"
          "end\n"
          "complete -c espalier -f\n",
          out);
    for (const struct command *const *c = cli_commands(); *c; c++) {
        if ((*c)->group == CLI_GROUP_HIDDEN)
            continue;
        put_command(out, *c);
        if ((*c)->children)
            for (const struct command *const *k = (*c)->children(); *k; k++)
                put_command(out, *k);
    }
}
