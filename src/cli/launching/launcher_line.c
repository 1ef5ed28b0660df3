/* Command lines of launchers with what their ranks are to have. The launcher itself runs
 * without the shim, which so is not put into its environment. */
#include <string.h>

#include "cli/launching/launcher.h"

struct line {
    const struct cli_launch *l;
    const struct cli_handover *h;
    cli_get get;
    struct espi_arena *arena;
    const char **words;
    int n;
    bool failed;
};

static void add_word(struct line *line, const char *word)
{
    line->words[line->n++] = word;
}

/* The first bytes of a text behind two others, in the arena. */
static const char *join_texts(struct line *line, const char *a, const char *b,
                              const char *c, size_t length)
{
    size_t first = strlen(a), second = strlen(b);
    char *out = espi_arena_alloc(line->arena, first + second + length + 1, 1);

    if (!out) {
        line->failed = true;
        return "";
    }
    memcpy(out, a, first);
    memcpy(out + first, b, second);
    memcpy(out + first + second, c, length);
    out[first + second + length] = '\0';
    return out;
}

static const char *text(struct line *line, const char *a, const char *b, const char *c)
{
    return join_texts(line, a, b, c, strlen(c));
}

/* The end of the program whose words begin there: a colon, or that of the line. */
static int program_end(const struct cli_launch *l, int at)
{
    while (at < l->n && strcmp(l->words[at], ":") != 0)
        at++;
    return at;
}

/* What stands behind "NAME=", or NULL. */
static const char *value_in(const char *word, const char *name)
{
    size_t length = strlen(name);

    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1
                                                                   : NULL;
}

/* A library that the user wants preloaded stays; ours comes first. */
static const char *behind_ours(struct line *line, const char *theirs)
{
    return *theirs ? text(line, line->h->shim, ":", theirs) : line->h->shim;
}

/* NAME where the launcher surely has our environment, else NAME=VALUE. */
static const char *named(struct line *line, const struct cli_variable *v)
{
    return line->l->at == 0 ? v->name : text(line, v->name, "=", v->value);
}

/* ---- Open MPI ---- */

static void add_x(struct line *line)
{
    add_word(line, "-x");
    add_word(line, text(line, "LD_PRELOAD=", line->h->preload, ""));
    for (int i = 0; i < line->h->n; i++) {
        add_word(line, "-x");
        add_word(line, named(line, &line->h->variables[i]));
    }
}

static void copy_x(struct line *line, int at, int end)
{
    const char *const *words = line->l->words;

    for (; at < end; at++) {
        const char *theirs = value_in(words[at], "LD_PRELOAD");
        bool is_x = cli_is_option(words[at - 1], "x");
        if (is_x && theirs)
            add_word(line, text(line, "LD_PRELOAD=", behind_ours(line, theirs), ""));
        else if (is_x && strcmp(words[at], "LD_PRELOAD") == 0)
            add_word(line, text(line, "LD_PRELOAD=", line->h->preload, ""));
        else
            add_word(line, words[at]);
    }
}

static const char *list_with(struct line *line, const char *theirs)
{
    const char *list =
        text(line, theirs, *theirs ? ";LD_PRELOAD=" : "LD_PRELOAD=", line->h->preload);

    for (int i = 0; i < line->h->n; i++)
        list = text(line, list, ";", named(line, &line->h->variables[i]));
    return list;
}

/* What the line says itself counts more than the environment. */
static void add_list(struct line *line)
{
    const struct cli_launch *l = line->l;
    const char *set = cli_launch_value(l, "OMPI_MCA_mca_base_env_list", line->get);
    bool found = false;

    for (int i = l->at + 1; i < l->n; i++)
        found |= cli_is_env_list(l, i);
    if (!found) {
        add_word(line, "-mca");
        add_word(line, "mca_base_env_list");
        add_word(line, list_with(line, set ? set : ""));
    }
    for (int i = l->at + 1; i < l->n; i++)
        add_word(line,
                 cli_is_env_list(l, i) ? list_with(line, l->words[i]) : l->words[i]);
}

/* ---- MPICH ---- */

static void add_genv(struct line *line)
{
    add_word(line, "-genv");
    add_word(line, "LD_PRELOAD");
    add_word(line, line->h->preload);
    for (int i = 0; i < line->h->n; i++) {
        add_word(line, "-genv");
        add_word(line, line->h->variables[i].name);
        add_word(line, line->h->variables[i].value);
    }
}

static bool sets(const char *option)
{
    return cli_is_option(option, "genv") || cli_is_option(option, "env");
}

static void copy_genv(struct line *line, int at, int end)
{
    const char *const *words = line->l->words;

    for (; at < end; at++) {
        const char *theirs = value_in(words[at], "LD_PRELOAD");
        if (theirs && sets(words[at - 1]))
            add_word(line, text(line, "LD_PRELOAD=", behind_ours(line, theirs), ""));
        else if (strcmp(words[at - 1], "LD_PRELOAD") == 0 && sets(words[at - 2]))
            add_word(line, behind_ours(line, words[at]));
        else
            add_word(line, words[at]);
    }
}

/* ---- Slurm ---- */

static bool is_word(const char *list, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(list, word, length) == 0;
}

/* Everything, or what is named: then we name ours, too. */
static const char *export_with(struct line *line, const char *theirs)
{
    const char *out = "", *preload = line->h->preload;
    bool all = false;

    while (*theirs) {
        size_t length = strcspn(theirs, ",");
        const char *own = value_in(theirs, "LD_PRELOAD");
        all |= is_word(theirs, length, "ALL");
        if (own)
            preload = behind_ours(
                line, join_texts(line, "", "", own, (size_t)(theirs + length - own)));
        else if (!is_word(theirs, length, "NONE") && !is_word(theirs, length, "NIL"))
            out = text(line, join_texts(line, out, "", theirs, length), ",", "");
        theirs += length + (theirs[length] == ',');
    }
    out = text(line, out, "LD_PRELOAD=", preload);
    for (int i = 0; i < line->h->n && !all; i++)
        out = text(line, out, ",", line->h->variables[i].name);
    return out;
}

static void copy_export(struct line *line, int at, int end)
{
    const char *const *words = line->l->words;

    for (; at < end; at++) {
        const char *theirs = value_in(words[at], "--export");
        if (theirs)
            add_word(line, text(line, "--export=", export_with(line, theirs), ""));
        else if (strcmp(words[at - 1], "--export") == 0)
            add_word(line, export_with(line, words[at]));
        else
            add_word(line, words[at]);
    }
}

static void add_export(struct line *line, int at, int end)
{
    const char *set = cli_launch_value(line->l, "SLURM_EXPORT_ENV", line->get);

    for (; at < end; at++)
        if (value_in(line->l->words[at], "--export") ||
            (strcmp(line->l->words[at], "--export") == 0 && at + 1 < end))
            return;
    add_word(line,
             text(line, "--export=", export_with(line, set && *set ? set : "ALL"), ""));
}

/* ---- the line ---- */

/* One program of it. */
static void add_program(struct line *line, int at, int end)
{
    enum cli_way way = line->l->way;
    int options = cli_skip_options(&cli_way_syntax[way], at, end, line->l->words);

    if (at < end && way == CLI_WAY_X)
        add_x(line);
    if (at < end && way == CLI_WAY_EXPORT)
        add_export(line, at, options);
    if (way == CLI_WAY_X)
        copy_x(line, at, options);
    else if (way == CLI_WAY_EXPORT)
        copy_export(line, at, options);
    else
        copy_genv(line, at, options);
    for (int i = options; i < end; i++)
        add_word(line, line->l->words[i]);
}

static void add_programs(struct line *line)
{
    const struct cli_launch *l = line->l;

    if (l->way == CLI_WAY_GENV && l->at + 1 < l->n)
        add_genv(line);
    for (int at = l->at + 1; at <= l->n;) {
        int end = program_end(l, at);
        add_program(line, at, end);
        if (end < l->n)
            add_word(line, ":");
        at = end + 1;
    }
}

/* With everything srun hands on what its own environment says, whatever --export gives
 * the same name: so it has no library to be preloaded there. */
static void add_launcher(struct line *line)
{
    const struct cli_launch *l = line->l;
    const char *preloaded = cli_launch_value(l, "LD_PRELOAD", line->get);

    for (int i = 0; i < l->at; i++)
        add_word(line, l->words[i]);
    if (l->way == CLI_WAY_EXPORT && preloaded && *preloaded) {
        add_word(line, "env");
        add_word(line, "-u");
        add_word(line, "LD_PRELOAD");
    }
    add_word(line, l->words[l->at]);
}

const char **cli_launch_line(const struct cli_launch *l, const struct cli_handover *h,
                             cli_get get, struct espi_arena *arena)
{
    struct line line = {.l = l, .h = h, .get = get, .arena = arena};
    size_t programs = 2, least = (size_t)l->n + 7;

    for (int i = 0; i < l->n; i++)
        programs += strcmp(l->words[i], ":") == 0;
    line.words =
        ESPI_ARENA_NEW(arena, const char *, least + programs * 3 * ((size_t)h->n + 1));
    if (!line.words)
        return NULL;
    if (l->way != CLI_WAY_INHERIT)
        add_launcher(&line);
    if (l->way == CLI_WAY_LIST)
        add_list(&line);
    else if (l->way != CLI_WAY_INHERIT)
        add_programs(&line);
    else
        for (int i = 0; i < l->n; i++)
            add_word(&line, l->words[i]);
    add_word(&line, NULL);
    return line.failed ? NULL : line.words;
}
