/* Completion for zsh, from the tables: a list of commands, and _arguments of each. */
#include <string.h>

#include "cli/printing/completion.h"

/* A text in single quotes, where what stands before a ':' or in brackets would count. */
static void put_plain(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr(":[]\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_choices(FILE *out, const char *const *choices)
{
    fputs("(", out);
    for (int i = 0; choices[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", choices[i]);
    fputs(")", out);
}

static void put_option_spec(FILE *out, const struct cli_option *o, const char *dashes,
                            const char *name)
{
    fprintf(out, " \\\n            '%s%s%s[", dashes, name,
            o->kind == CLI_FLAG ? ""
            : dashes[1]         ? "="
                                : "+");
    put_plain(out, o->help);
    fputc(']', out);
    if (o->kind != CLI_FLAG) {
        fputc(':', out);
        put_plain(out, cli_value_word(o));
        fputc(':', out);
        if (o->kind == CLI_FILE)
            fputs("_files", out);
        else if (o->names == CLI_NAMES_HOST)
            fputs("_sequence _espalier_hosts", out);
        else if (cli_knows_values(o)) {
            fputs(o->kind == CLI_CHOICE ? "(" : "_sequence compadd - ", out);
            cli_put_values(out, o);
            fputs(o->kind == CLI_CHOICE ? ")" : "", out);
        }
    }
    fputc('\'', out);
}

/* "2" alone where there are commands of a second level, else what comes after. */
static void put_arguments(FILE *out, const struct command *c)
{
    const struct cli_option *o;

    fputs("        _arguments -s", out);
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        char letter[2] = {o->letter, '\0'};
        put_option_spec(out, o, "--", o->name);
        if (o->letter)
            put_option_spec(out, o, "-", letter);
    }
    const struct cli_positional *p = c->positionals;
    for (; p && p->name; p++) {
        fprintf(out, " \\\n            '%s:%s:", p->repeated ? "*" : "", p->name);
        if (p->choices)
            put_choices(out, p->choices);
        else if (p->kind == CLI_FILE)
            fputs("_files", out);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

static void put_list(FILE *out, const char *title, const struct command *const *list)
{
    fprintf(out, "    local -a %s\n    %s=(\n", title, title);
    for (; *list; list++) {
        if ((*list)->group == CLI_GROUP_HIDDEN)
            continue;
        fprintf(out, "        '%s:", (*list)->name);
        put_plain(out, (*list)->summary);
        fputs("'\n", out);
    }
    fputs("    )\n", out);
}

/* A function for each command that has a second level. */
static void put_family(FILE *out, const struct command *c)
{
    fprintf(out, "_espalier_%s() {\n", c->name);
    put_list(out, "kinds", c->children());
    fprintf(out,
            "    if ((CURRENT == 2)); then _describe %s kinds; return; fi\n"
            "    shift words; ((CURRENT--))\n"
            "    case $words[1] in\n",
            c->name);
    for (const struct command *const *k = c->children(); *k; k++) {
        fprintf(out, "    %s)\n", (*k)->name);
        put_arguments(out, *k);
    }
    fputs("    esac\n}\n\n", out);
}

void cli_write_completion_zsh(FILE *out)
{
    fputs(
        "#compdef espalier\n# zsh completion for espalier, made by 'espalier completion "
        "zsh'\n\n",
        out);
    fputs("# of the platform that is named in the line\n"
          "_espalier_hosts() {\n"
          "    local word; local -a hosts\n"
          "    for word in $words; do\n"
          "        [[ -f $word ]] || continue\n"
          "        hosts=(${(f)\"$(espalier info --hosts -- $word 2> /dev/null)\"})\n"
          "        ((#hosts)) && { compadd \"$@\" -a hosts; return }\n"
          "    done\n"
          "    return 1\n"
          "}\n\n",
          out);
    for (const struct command *const *c = cli_commands(); *c; c++)
        if ((*c)->group != CLI_GROUP_HIDDEN && (*c)->children)
            put_family(out, *c);
    fputs("_espalier() {\n", out);
    put_list(out, "names", cli_commands());
    fputs("    if ((CURRENT == 2)); then _describe command names; return; fi\n"
          "    shift words; ((CURRENT--))\n"
          "    case $words[1] in\n",
          out);
    for (const struct command *const *c = cli_commands(); *c; c++) {
        if ((*c)->group == CLI_GROUP_HIDDEN)
            continue;
        fprintf(out, "    %s)\n", (*c)->name);
        if ((*c)->children)
            fprintf(out, "        _espalier_%s ;;\n", (*c)->name);
        else
            put_arguments(out, *c);
    }
    fputs("    esac\n}\n\n"
          "if [[ $funcstack[1] == _espalier ]]; then _espalier \"$@\"; else compdef "
          "_espalier "
          "espalier; fi\n",
          out);
}
