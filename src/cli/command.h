/* Subcommands as data. Help, man pages, bash completion and the parser all read the
 * same tables, so that they never disagree. A new subcommand is one file with one
 * `const struct command` and one line in command_list.def. */
#ifndef ESPI_CLI_COMMAND_H
#define ESPI_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <espalier/status.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_BAD_USAGE = 2,
    CLI_BAD_INPUT = 3,
    CLI_NOT_SO = 4, /* what was to be checked is not so */
};

/* What an option or positional argument takes. */
enum cli_kind {
    CLI_FLAG, /* nothing */
    CLI_INT,
    CLI_SEED, /* any 64 bits, from 0 up */
    CLI_DOUBLE,
    CLI_BANDWIDTH, /* bytes a second; "100Mbps" */
    CLI_TIME,      /* seconds; "5ms" */
    CLI_SIZE,      /* bytes; "64KB" */
    CLI_BUDGET,    /* seconds, "5min", or US dollars: "40usd" */
    CLI_STRING,
    CLI_FILE,
    CLI_CHOICE,
    CLI_COMMAND, /* the name of a command */
};

/* What a text names, for completion. */
enum cli_names { CLI_NAMES_OTHER, CLI_NAMES_ALGO, CLI_NAMES_HOST };

struct cli_option {
    const char *name; /* "root" for --root */
    char letter;      /* 'r' for -r, 0 for none */
    enum cli_kind kind;
    const char *value;          /* its word in the help ("FILE"); NULL: by kind */
    const char *const *choices; /* CLI_CHOICE: ended by NULL */
    enum cli_names names;       /* CLI_STRING */
    bool explained;             /* the help names the choices by itself */
    const char *fallback;       /* the default, as one would type it; NULL: none */
    bool limited;               /* numbers: min <= value <= max */
    double min, max;
    const char *help;
};

/* Every command that writes a file calls the option so. */
#define CLI_OUTPUT_OPTION                                                                \
    {                                                                                    \
        .name = "output", .letter = 'o', .kind = CLI_FILE,                               \
        .help = "Write to this file instead of standard output. It is written "          \
                "atomically."                                                            \
    }

/* The words behind '--' where a program of ours runs under an MPI launcher. */
#define CLI_LAUNCHER_HELP(ours)                                                          \
    "After '--': the MPI launcher with its options, without a program. " ours            \
    " is put at the end, or in the place of '{}'."

struct cli_positional {
    const char *name; /* "FILE" */
    enum cli_kind kind;
    const char *const *choices;
    bool optional;
    bool repeated; /* the last one only */
    const char *help;
};

struct cli_example {
    const char *what;
    const char *line;
};

enum cli_group {
    CLI_GROUP_NETWORK,
    CLI_GROUP_PLAN,
    CLI_GROUP_RUN,
    CLI_GROUP_ABOUT,
    CLI_GROUP_HIDDEN,
    CLI_GROUP_COUNT
};

struct cli_args;

struct command {
    const char *name;
    enum cli_group group;
    const char *summary;      /* one line, no full stop */
    const char *const *about; /* paragraphs, ended by NULL; one that starts with a space
                                 is printed as it stands */
    const struct cli_positional *positionals; /* ended by a NULL name */
    const struct cli_option *options;         /* ended by a NULL name */
    const struct cli_example *examples;       /* ended by a NULL line */
    const char *const *see;                   /* other commands, ended by NULL */
    bool no_json;                             /* has no --json */
    int (*run)(const struct cli_args *args);
    /* Commands of the second level (`espalier generate tiers`), ended by NULL. */
    const struct command *const *(*children)(void);
    const char *children_title; /* "Generators" */
    const struct command *parent;
    const void *data; /* for run */
};

/* ---- the commands ---- */

#define COMMAND(name) extern const struct command cli_command_##name;
#include "cli/command_list.def"
#undef COMMAND

/* All of the first level, ended by NULL. */
const struct command *const *cli_commands(void);
const struct command *cli_find_command(const struct command *const *list,
                                       const char *name);
/* Finds the command that words[0..n) name; a sentence on stderr and NULL when there is
 * none. *used: how many words were part of the name. */
const struct command *cli_resolve(int n, char *const *words, int *used);
/* "espalier generate tiers" */
const char *cli_full_name(const struct command *c, char *out, size_t size);
/* The option number i: the command's own, then those that all commands have. */
const struct cli_option *cli_option_at(const struct command *c, int i);

/* ---- parsed arguments ---- */

struct cli_given {
    const struct cli_option *option;
    const char *text;
    double number;
    long long integer; /* CLI_INT; CLI_CHOICE: which */
};

struct cli_args {
    const struct command *command;
    struct cli_given *given; /* in the order given */
    int n_given;
    const char **words; /* positional */
    int n_words;
    double start_s; /* of the program, as espi_now_s() has it */
};

/* Parses argv[0..argc), the arguments after the command's name. CLI_OK, or a sentence on
 * stderr and CLI_BAD_USAGE. Free with cli_args_done. */
int cli_parse(const struct command *c, int argc, char **argv, struct cli_args *args);
void cli_args_done(struct cli_args *args);

/* By the option's name; they fall back on its default. */
bool cli_has(const struct cli_args *args, const char *name); /* given by the user */
const char *cli_text(const struct cli_args *args, const char *name); /* or NULL */
double cli_number(const struct cli_args *args, const char *name);    /* or NAN */
long long cli_int(const struct cli_args *args, const char *name);    /* or -1 */
uint64_t cli_seed(const struct cli_args *args, const char *name);
int cli_choice(const struct cli_args *args, const char *name); /* or -1 */
/* CLI_BUDGET: is it money? */
bool cli_is_usd(const struct cli_args *args, const char *name);
/* The value that a repeated option got the i-th time, or NULL. */
const char *cli_nth(const struct cli_args *args, const char *name, int i);

/* The candidate nearest to the text, or NULL when none is near. */
const char *cli_nearest(const char *text, const char *const *candidates, int n);

/* ---- renderings of the tables ---- */
void cli_print_overview(void);
void cli_print_help(const struct command *c);
void cli_write_completion_bash(FILE *out);
void cli_write_completion_zsh(FILE *out);
void cli_write_completion_fish(FILE *out);
/* The man page of a command of the first level; NULL: of espalier itself. */
void cli_write_man(FILE *out, const struct command *c);
/* "[OPTION]... FILE" */
void cli_synopsis(const struct command *c, char *out, size_t size);
/* "FILE", "N": the word for the value; NULL for a flag. */
const char *cli_value_word(const struct cli_option *o);
/* The help of an option with its choices and default. */
void cli_option_text(const struct cli_option *o, char *out, size_t size);
/* Calls title for each group of commands that is not empty, and entry for each command
 * in it; the hidden ones are left out. */
void cli_each_group(FILE *out, void (*title)(FILE *, const char *),
                    void (*entry)(FILE *, const struct command *));
extern const char *const cli_exit_text[]; /* of 0, 1, 2, 3, 4 */

/* ---- messages ---- */

/* "espalier: <sentence>" on stderr, one line; returns code. */
int cli_error(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a failed call of the library; the code follows from the status, where a
 * failure to read or write is one of the input. */
int cli_fail(esp_status status, const struct esp_err *err);

#endif
