/* Bash completion from the tables. The script stands on its own: it needs neither the
 * bash-completion package nor, but for the hosts of a platform that is named before, the
 * program at completion time. Names out of a file may hold what a shell would run: only
 * those are offered that are plain words. */
#include "cli/printing/completion.h"

/* A command in the script: "info", or "generate tiers". */
static void print_path(FILE *out, const struct command *c)
{
    if (c->parent)
        fprintf(out, "'%s %s'", c->parent->name, c->name);
    else
        fprintf(out, "'%s'", c->name);
}

static void print_names(FILE *out, const struct command *const *list)
{
    bool first = true;

    for (; *list; list++)
        if ((*list)->group != CLI_GROUP_HIDDEN) {
            fprintf(out, "%s%s", first ? "" : " ", (*list)->name);
            first = false;
        }
}

static void print_options(FILE *out, const struct command *c)
{
    const struct cli_option *o;

    for (int i = 0; (o = cli_option_at(c, i)); i++)
        fprintf(out, "%s--%s", i ? " " : "", o->name);
}

/* What may stand at the place of a positional argument. */
static void print_words(FILE *out, const struct command *c)
{
    const struct cli_positional *p = c->positionals;

    fputs(" words='", out);
    if (c->children)
        print_names(out, c->children());
    else if (p && p->kind == CLI_COMMAND)
        print_names(out, cli_commands());
    else if (p && p->name && p->choices)
        for (int i = 0; p->choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", p->choices[i]);
    fputc('\'', out);
    for (; p && p->name; p++)
        if (p->kind == CLI_FILE) {
            fputs(" files=1", out);
            return;
        }
}

static void print_value_cases(FILE *out, const struct command *c)
{
    const struct cli_option *o;

    for (int i = 0; (o = cli_option_at(c, i)); i++) {
        if (o->kind == CLI_FLAG)
            continue;
        fputs("    ", out);
        print_path(out, c);
        fprintf(out, "' --%s'", o->name);
        if (o->letter) {
            fputs(" | ", out);
            print_path(out, c);
            fprintf(out, "' -%c'", o->letter);
        }
        fputs(") value=1", out);
        if (o->kind == CLI_FILE)
            fputs(" files=1", out);
        if (o->names == CLI_NAMES_HOST)
            fputs(" hosts=1", out);
        if (cli_knows_values(o)) {
            fputs(" words='", out);
            cli_put_values(out, o);
            fputc('\'', out);
        }
        fputs(" ;;\n", out);
    }
}

static void each_command(FILE *out, void (*print)(FILE *, const struct command *))
{
    for (const struct command *const *c = cli_commands(); *c; c++) {
        if ((*c)->group == CLI_GROUP_HIDDEN)
            continue;
        print(out, *c);
        if (!(*c)->children)
            continue;
        for (const struct command *const *k = (*c)->children(); *k; k++)
            print(out, *k);
    }
}

static void print_name_case(FILE *out, const struct command *c)
{
    fputs("        ", out);
    if (c->parent)
        print_path(out, c);
    else
        fprintf(out, "' %s'", c->name);
    fputs(") cmd=", out);
    print_path(out, c);
    fputs(" ;;\n", out);
}

static void print_word_case(FILE *out, const struct command *c)
{
    fputs("    ", out);
    print_path(out, c);
    fputs(") options='", out);
    print_options(out, c);
    fputc('\'', out);
    print_words(out, c);
    fputs(" ;;\n", out);
}

void cli_write_completion_bash(FILE *out)
{
    fputs("# bash completion for espalier, made by 'espalier completion bash'\n"
          "# of the platform that is named in the line\n"
          "_espalier_hosts() {\n"
          "    local word\n"
          "    for word in \"${COMP_WORDS[@]:2}\"; do\n"
          "        [[ -f $word ]] || continue\n"
          "        espalier info --hosts -- \"$word\" 2> /dev/null && return\n"
          "    done\n"
          "}\n"
          "_espalier() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local cmd= i words= options= files= value= hosts= before=\n"
          "    # '=' is a word of its own in --name=value, unless the user's settings\n"
          "    # make it a part of one\n"
          "    if [[ $cur == = ]]; then cur=\n"
          "    elif [[ $cur == --*=* ]]; then\n"
          "        prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}\n"
          "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case \"$cmd ${COMP_WORDS[i]}\" in\n",
          out);
    each_command(out, print_name_case);
    fputs("        esac\n"
          "    done\n"
          "    case \"$cmd $prev\" in\n",
          out);
    each_command(out, print_value_cases);
    fputs("    esac\n"
          "    if [[ -z $value ]]; then\n"
          "    case \"$cmd\" in\n"
          "    '') options='--help --version' words='",
          out);
    print_names(out, cli_commands());
    fputs("' ;;\n", out);
    each_command(out, print_word_case);
    fputs("    esac\n"
          "    fi\n"
          "    COMPREPLY=()\n"
          "    if [[ $cur == -* && -z $value ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    if [[ -n $value && $cur == *,* && -n $words$hosts ]]; then\n"
          "        before=$before${cur%,*}, cur=${cur##*,}\n"
          "    fi\n"
          "    [[ -n $words ]] &&\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "    if [[ -n $hosts ]]; then\n"
          "        while IFS= read -r i; do\n"
          "            [[ $i == \"$cur\"* && ! $i =~ [^A-Za-z0-9._:/-] ]] &&\n"
          "                COMPREPLY+=(\"$i\")\n"
          "        done < <(_espalier_hosts)\n"
          "    fi\n"
          "    if [[ -n $files ]]; then\n"
          "        compopt -o filenames 2> /dev/null\n"
          "        local found\n"
          "        mapfile -t found < <(compgen -f -- \"$cur\")\n"
          "        COMPREPLY+=(\"${found[@]}\")\n"
          "    fi\n"
          "    [[ -n $before ]] && COMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
          "}\n"
          "complete -F _espalier espalier\n",
          out);
}
