/* What the libraries are told. Both formats say for whom a rule is by upper or lower
 * ends of ranges: communicators of fewer and of more ranks get ranges of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "native/tune.h"

/* ---- ranges of sizes ---- */

static int is_same_choice(const struct espi_tune_cell *a, const struct espi_tune_cell *b)
{
    if (a->is_rule != b->is_rule)
        return 0;
    return !a->is_rule || (a->chosen.algo == b->chosen.algo &&
                           a->chosen.segment_bytes == b->chosen.segment_bytes &&
                           a->chosen.fanout == b->chosen.fanout);
}

/* The cell from which on the choice is another than at cell i; n_sizes: none. */
static int next_choice(const struct espi_tune *t, const struct espi_tune_cell *cells,
                       int i)
{
    int next = i + 1;
    while (next < t->n_sizes && is_same_choice(&cells[i], &cells[next]))
        next++;
    return next;
}

static int has_rules(const struct espi_tune *t, const struct espi_tune_cell *cells)
{
    for (int i = 0; i < t->n_sizes; i++)
        if (cells[i].is_rule)
            return 1;
    return 0;
}

/* The cells of an operation; NULL: there are none. */
static const struct espi_tune_cell *cells_of(const struct espi_tune *t,
                                             const char *called,
                                             const struct espi_native_tuning *tuning)
{
    for (int i = 0; i < t->n_cells; i += t->n_sizes)
        if (strcmp(tuning->op_called[t->cells[i].op], called) == 0)
            return t->cells + i;
    return NULL;
}

/* ---- Open MPI's dynamic rules ---- */

/* Bytes, algorithm, fan-out, segment; algorithm 0 is what the library does by itself. */
static void write_rule(FILE *out, const struct espi_native_tuning *tuning,
                       const struct espi_tune_cell *cell)
{
    const struct espi_native_choice *c = &cell->chosen;
    if (!cell->is_rule) {
        fprintf(out, "%.0f 0 0 0 # as usual\n", ceil(cell->size_bytes));
        return;
    }
    fprintf(out, "%.0f %s %d %lld # %s\n", ceil(cell->size_bytes),
            espi_native_name_of(tuning, c->algo)->called, c->fanout,
            (long long)c->segment_bytes, c->algo->name);
}

static void write_collective(FILE *out, const struct espi_tune_file *f,
                             const struct espi_tune_cell *cells)
{
    const struct espi_native_tuning *tuning = &f->table->tuning;
    int n = f->tune->n_ranks, n_sizes = f->tune->n_sizes, n_rules = 1;
    for (int i = 0; i < n_sizes; i = next_choice(f->tune, cells, i))
        n_rules++;
    fprintf(out, "%s # %s\n", tuning->op_called[cells->op], esp_op_name(cells->op));
    fprintf(out, "3 # sizes of communicators\n");
    fprintf(out, "0 # fewer ranks\n1\n0 0 0 0 # as usual\n");
    fprintf(out, "%d # ranks\n%d\n0 0 0 0 # as usual\n", n, n_rules);
    for (int i = 0; i < n_sizes; i = next_choice(f->tune, cells, i))
        write_rule(out, tuning, &cells[i]);
    fprintf(out, "%d # more ranks\n1\n0 0 0 0 # as usual\n", n + 1);
}

esp_status espi_tune_write_rules(const void *file, FILE *out, struct esp_err *err)
{
    const struct espi_tune_file *f = file;
    const struct espi_tune *t = f->tune;
    int n = 0;
    (void)err;
    for (int i = 0; i < t->n_cells; i += t->n_sizes)
        n += has_rules(t, t->cells + i);
    fprintf(out,
            "# Dynamic rules of Open MPI's coll/tuned for %d ranks, by espalier tune\n",
            t->n_ranks);
    fprintf(out, "%d # collectives\n", n);
    for (int i = 0; i < t->n_cells; i += t->n_sizes)
        if (has_rules(t, t->cells + i))
            write_collective(out, f, t->cells + i);
    return ESP_OK;
}

/* ---- MPICH's selection ---- */

enum { NESTED = 16, WORD = 128, LINE = 800 }; /* limit: of lines of the selection */

/* Lines of conditions, nested: what a line has in common with the last is not repeated.
 */
struct nest {
    FILE *out;
    char open[NESTED][WORD];
    int depth;
    size_t written;
    int is_too_long;
};

static void put_text(struct nest *n, const char *text)
{
    n->written += strlen(text);
    fputs(text, n->out);
}

static void close_to(struct nest *n, int depth)
{
    for (; n->depth > depth; n->depth--)
        put_text(n, "}");
}

static int split_line(const char *line, char words[NESTED][WORD])
{
    int n = 0;
    while (*line) {
        size_t length = strcspn(line, " ");
        if (n == NESTED || length >= WORD)
            return -1;
        memcpy(words[n], line, length);
        words[n++][length] = '\0';
        line += length + (line[length] == ' ');
    }
    return n;
}

static void put_line(struct nest *n, const char *line)
{
    char words[NESTED][WORD];
    int count = split_line(line, words), same = 0, is_first = n->written <= 1;
    n->is_too_long |= count < 0;
    while (same < count && same < n->depth && strcmp(words[same], n->open[same]) == 0)
        same++;
    close_to(n, same);
    for (; n->depth < count; n->depth++) {
        put_text(n, n->depth > same || is_first ? "\n" : ",\n");
        for (int i = 0; i <= n->depth; i++)
            put_text(n, " ");
        put_text(n, "\"");
        put_text(n, words[n->depth]);
        put_text(n, "\":{");
        memcpy(n->open[n->depth], words[n->depth], WORD);
    }
}

/* One collective between ranks of one communicator. */
struct selected {
    const struct espi_tune_file *f;
    const struct espi_tune_cell *cells;
    char start[WORD]; /* "collective=bcast comm_type=intra" */
};

static void put_usual_line(struct nest *n, const struct selected *s,
                           const char *condition, const char *rest)
{
    char line[LINE];
    if (snprintf(line, sizeof line, "%s %s%s", s->start, condition, rest) >= LINE)
        n->is_too_long = 1;
    put_line(n, line);
}

/* All that the library does by itself, under one more condition. */
static void put_usual(struct nest *n, const struct selected *s, const char *condition)
{
    const struct espi_native_tuning *t = &s->f->table->tuning;
    size_t length = strlen(s->start);
    for (size_t i = 0; i < t->n_selection; i++)
        if (strncmp(t->selection[i], s->start, length) == 0)
            put_usual_line(n, s, condition, t->selection[i] + length);
}

/* Does a condition on the number of ranks hold? */
static int holds_for(const char *condition, int n_ranks)
{
    if (strncmp(condition, "comm_size<=", 11) == 0)
        return n_ranks <= atoi(condition + 11);
    if (strncmp(condition, "comm_size<", 10) == 0)
        return n_ranks < atoi(condition + 10);
    if (strncmp(condition, "comm_size=pow2", 14) == 0)
        return (n_ranks & (n_ranks - 1)) == 0;
    return strncmp(condition, "comm_size=any", 13) == 0;
}

/* Does a line count for this number of ranks? Its condition on that must hold, and no
 * other at the same place in a line before. */
static int counts_for(const struct espi_native_tuning *t, size_t line, int n_ranks)
{
    const char *at = strstr(t->selection[line], " comm_size");
    if (!at)
        return 1;
    size_t before = (size_t)(at - t->selection[line]) + 1, word = strcspn(at + 1, " ");
    if (!holds_for(at + 1, n_ranks))
        return 0;
    for (size_t i = 0; i < line; i++)
        if (strncmp(t->selection[i], t->selection[line], before) == 0 &&
            strncmp(t->selection[i], t->selection[line], before + word + 1) != 0 &&
            holds_for(t->selection[i] + before, n_ranks))
            return 0;
    return 1;
}

/* What the library does by itself with this number of ranks. Conditions on that are left
 * out: below conditions on sizes of messages MPICH 4.0 takes `<` for `<=`. */
static void put_usual_here(struct nest *n, const struct selected *s,
                           const char *condition)
{
    const struct espi_native_tuning *t = &s->f->table->tuning;
    size_t length = strlen(s->start);
    char rest[LINE];
    for (size_t i = 0; i < t->n_selection; i++) {
        if (strncmp(t->selection[i], s->start, length) != 0 ||
            !counts_for(t, i, s->f->tune->n_ranks))
            continue;
        const char *from = t->selection[i] + length, *at = strstr(from, " comm_size");
        size_t before = at ? (size_t)(at - from) : 0;
        const char *behind = at ? at + 1 + strcspn(at + 1, " ") : from;
        if (snprintf(rest, sizeof rest, "%.*s%s", (int)before, from, behind) >= LINE)
            n->is_too_long = 1;
        put_usual_line(n, s, condition, rest);
    }
}

static void put_algorithm(struct nest *n, const struct selected *s, const char *condition,
                          const char *further, const struct espi_native_algo *algo)
{
    char line[LINE];
    if (snprintf(line, sizeof line, "%s %s%s algorithm=%s", s->start, condition, further,
                 espi_native_name_of(&s->f->table->tuning, algo)->called) >= LINE)
        n->is_too_long = 1;
    put_line(n, line);
}

static void put_chosen(struct nest *n, const struct selected *s, const char *condition,
                       const struct espi_tune_cell *cell)
{
    const struct espi_native_algo *algo = cell->chosen.algo;
    const struct espi_native_algo *instead =
        espi_native_name_of(&s->f->table->tuning, algo)->instead;
    if (!instead) {
        put_algorithm(n, s, condition, "", algo);
        return;
    }
    put_algorithm(n, s, condition, " is_op_built_in=no", instead);
    put_algorithm(n, s, condition, " is_op_built_in=yes count<pow2", instead);
    put_algorithm(n, s, condition, " is_op_built_in=yes count=any", algo);
}

/* What is for this number of ranks. */
static void put_ranges(struct nest *n, const struct selected *s)
{
    const struct espi_tune *t = s->f->tune;
    const char *measure = s->f->table->tuning.counts_whole[s->cells->op]
                              ? "total_msg_size"
                              : "avg_msg_size";
    char condition[WORD];
    snprintf(condition, sizeof condition, "comm_size<=%d %s<%.0f", t->n_ranks, measure,
             ceil(s->cells[0].size_bytes));
    put_usual_here(n, s, condition);
    for (int i = 0; i < t->n_sizes;) {
        int next = next_choice(t, s->cells, i);
        if (next < t->n_sizes)
            snprintf(condition, sizeof condition, "comm_size<=%d %s<%.0f", t->n_ranks,
                     measure, ceil(s->cells[next].size_bytes));
        else
            snprintf(condition, sizeof condition, "comm_size<=%d %s=any", t->n_ranks,
                     measure);
        if (s->cells[i].is_rule)
            put_chosen(n, s, condition, &s->cells[i]);
        else
            put_usual_here(n, s, condition);
        i = next;
    }
}

static void put_selected(struct nest *n, const struct selected *s)
{
    char condition[WORD];
    snprintf(condition, sizeof condition, "comm_size<%d", s->f->tune->n_ranks);
    put_usual(n, s, condition);
    put_ranges(n, s);
    put_usual(n, s, "comm_size=any");
}

/* The collective of a line, if choices are for it. */
static int begins_selected(const struct espi_tune_file *f, const char *line,
                           struct selected *s)
{
    char called[64];
    size_t length = strcspn(line, " ") - strlen("collective=");
    *s = (struct selected){.f = f};
    if (length >= sizeof called)
        return 0;
    memcpy(called, line + strlen("collective="), length);
    called[length] = '\0';
    s->cells = cells_of(f->tune, called, &f->table->tuning);
    snprintf(s->start, sizeof s->start, "collective=%s comm_type=intra", called);
    return s->cells && has_rules(f->tune, s->cells) &&
           strncmp(line, s->start, strlen(s->start)) == 0;
}

esp_status espi_tune_write_selection(const void *file, FILE *out, struct esp_err *err)
{
    const struct espi_tune_file *f = file;
    const struct espi_native_tuning *t = &f->table->tuning;
    struct nest n = {.out = out};
    struct selected s;
    char last[WORD] = "";
    put_text(&n, "{");
    for (size_t i = 0; i < t->n_selection; i++) {
        if (!begins_selected(f, t->selection[i], &s)) {
            put_line(&n, t->selection[i]);
        } else if (strcmp(s.start, last) != 0) {
            put_selected(&n, &s);
            memcpy(last, s.start, WORD);
        }
    }
    close_to(&n, 0);
    put_text(&n, "\n}\n");
    /* MPICH reads the file as memory that ends in a zero byte, which it does only where
     * the file ends within a page. */
    if (n.written % 4096 == 0)
        put_text(&n, "\n");
    return n.is_too_long
               ? espi_err(err, ESP_EINPUT, "a line of the selection is too long")
               : ESP_OK;
}
