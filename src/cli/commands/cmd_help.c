/* espalier help, version, completion, man: what the tables say. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <errno.h>

#include "cli/command.h"
#include "cli/printing/output.h"

/* ---- help ---- */

static json_t *option_json(const struct cli_option *o)
{
    json_t *json = json_object();

    json_object_set_new(json, "name", json_string(o->name));
    if (o->letter)
        json_object_set_new(json, "letter", json_stringn(&o->letter, 1));
    if (cli_value_word(o))
        json_object_set_new(json, "value", json_string(cli_value_word(o)));
    if (o->fallback)
        json_object_set_new(json, "default", json_string(o->fallback));
    if (o->kind == CLI_CHOICE) {
        json_t *choices = json_array();
        for (int i = 0; o->choices[i]; i++)
            json_array_append_new(choices, json_string(o->choices[i]));
        json_object_set_new(json, "choices", choices);
    }
    json_object_set_new(json, "help", json_string(o->help));
    return json;
}

static json_t *command_json(const struct command *c)
{
    json_t *json = json_object(), *options = json_array(), *children = json_array();
    const struct cli_option *o;
    char name[128];

    json_object_set_new(json, "command",
                        json_string(cli_full_name(c, name, sizeof name)));
    json_object_set_new(json, "summary", json_string(c->summary));
    for (int i = 0; (o = cli_option_at(c, i)); i++)
        json_array_append_new(options, option_json(o));
    json_object_set_new(json, "options", options);
    if (c->children)
        for (const struct command *const *k = c->children(); *k; k++)
            json_array_append_new(children, command_json(*k));
    json_object_set_new(json, "commands", children);
    return json;
}

static int help_all_json(void)
{
    json_t *all = json_array();

    for (const struct command *const *c = cli_commands(); *c; c++)
        if ((*c)->group != CLI_GROUP_HIDDEN)
            json_array_append_new(all, command_json(*c));
    return cli_print_json(all);
}

static int run_help(const struct cli_args *args)
{
    int used;

    if (args->n_words == 0) {
        if (cli_has(args, "json"))
            return help_all_json();
        cli_print_overview();
        return CLI_OK;
    }
    const struct command *c =
        cli_resolve(args->n_words, (char *const *)args->words, &used);
    if (!c)
        return CLI_BAD_USAGE;
    if (cli_has(args, "json"))
        return cli_print_json(command_json(c));
    cli_print_help(c);
    return CLI_OK;
}

const struct command cli_command_help = {
    .name = "help",
    .group = CLI_GROUP_ABOUT,
    .summary = "explain espalier or one of its commands",
    .about = (const char *const[]){"Without an argument, lists the commands. With the "
                                   "name of a command, prints what its --help prints.",
                                   NULL},
    .positionals = (const struct cli_positional[]){{.name = "COMMAND",
                                                    .kind = CLI_COMMAND,
                                                    .optional = true,
                                                    .repeated = true,
                                                    .help = "A command, for example info "
                                                            "or generate tiers."},
                                                   {0}},
    .examples = (const struct cli_example[]){{"What can a tiers network be made of?",
                                              "espalier help generate tiers"},
                                             {0}},
    .run = run_help,
};

/* ---- version ---- */

static int run_version(const struct cli_args *args)
{
    if (cli_has(args, "json")) {
        json_t *json = json_object();
        json_object_set_new(json, "version", json_string(esp_version()));
        return cli_print_json(json);
    }
    printf("espalier %s\n", esp_version());
    return CLI_OK;
}

const struct command cli_command_version = {
    .name = "version",
    .group = CLI_GROUP_ABOUT,
    .summary = "print the version",
    .about = (const char *const[]){"The same as espalier --version.", NULL},
    .examples =
        (const struct cli_example[]){{"For a script:", "espalier version --json"}, {0}},
    .run = run_version,
};

/* ---- completion ---- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static esp_status write_completion(const void *shell, FILE *out, struct esp_err *err)
{
    (void)err;
    if (strcmp(shell, "zsh") == 0)
        cli_write_completion_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        cli_write_completion_fish(out);
    else
        cli_write_completion_bash(out);
    return ESP_OK;
}

static int run_completion(const struct cli_args *args)
{
    return cli_write(cli_text(args, "output"), write_completion, args->words[0]);
}

const struct command cli_command_completion = {
    .name = "completion",
    .group = CLI_GROUP_ABOUT,
    .summary = "print a completion script for the shell",
    .about = (const char *const[]){"Prints a script that teaches the shell to complete "
                                   "espalier's commands, options and values. Installed "
                                   "packages bring it along already.",
                                   NULL},
    .positionals = (const struct cli_positional[]){{.name = "SHELL",
                                                    .kind = CLI_CHOICE,
                                                    .choices = shells,
                                                    .help = "bash, zsh or fish."},
                                                   {0}},
    .options = (const struct cli_option[]){CLI_OUTPUT_OPTION, {0}},
    .examples =
        (const struct cli_example[]){{"Enable completion in the current bash session:",
                                      "source <(espalier completion bash)"},
                                     {"Enable completion in fish permanently:",
                                      "espalier completion fish > "
                                      "~/.config/fish/completions/espalier.fish"},
                                     {0}},
    .no_json = true,
    .run = run_completion,
};

/* ---- man ---- */

static esp_status write_man(const void *command, FILE *out, struct esp_err *err)
{
    (void)err;
    cli_write_man(out, command);
    return ESP_OK;
}

static int write_page(const char *directory, const struct command *c)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/espalier%s%s.1", directory, c ? "-" : "",
             c ? c->name : "");
    return cli_write(path, write_man, c);
}

static int write_all_pages(const char *directory)
{
    if (mkdir(directory, 0777) && errno != EEXIST)
        return cli_error(CLI_FAILED, "cannot make the folder: %s", strerror(errno));
    int code = write_page(directory, NULL);
    for (const struct command *const *c = cli_commands(); *c && code == CLI_OK; c++)
        if ((*c)->group != CLI_GROUP_HIDDEN)
            code = write_page(directory, *c);
    return code;
}

static int run_man(const struct cli_args *args)
{
    const struct command *c = NULL;

    if (cli_text(args, "all"))
        return write_all_pages(cli_text(args, "all"));
    if (args->n_words) {
        c = cli_find_command(cli_commands(), args->words[0]);
        if (!c)
            return cli_error(CLI_BAD_USAGE, "there is no such command");
    }
    return cli_write(NULL, write_man, c);
}

const struct command cli_command_man = {
    .name = "man",
    .group = CLI_GROUP_HIDDEN,
    .summary = "print a man page",
    .about =
        (const char *const[]){"For the build: the man page of a command, in roff.", NULL},
    .positionals = (const struct cli_positional[]){{.name = "COMMAND",
                                                    .kind = CLI_COMMAND,
                                                    .optional = true,
                                                    .help = "A command; none: espalier."},
                                                   {0}},
    .options =
        (const struct cli_option[]){
            {.name = "all",
             .kind = CLI_FILE,
             .value = "FOLDER",
             .help = "Write the pages of all commands into this folder."},
            {0}},
    .no_json = true,
    .run = run_man,
};
