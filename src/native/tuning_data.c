#include "native/tuning_data.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

#define LINES_MAX 4096 /* limit: of each list, in a file that somebody wrote */

void espi_native_tuning_done(struct espi_native_tuning *t)
{
    for (size_t i = 0; i < t->n_selection; i++)
        espi_free(t->selection[i]);
    espi_free(t->selection);
    espi_free(t->names);
    espi_free(t->left_out);
    *t = (struct espi_native_tuning){.names = NULL};
}

/* ---- words ---- */

static const char *const promise_names[] = {"same-types", "commuting"};
static const char *const with_names[] = {"", "segments", "fanout", "other_ranks"};

int espi_promise_parse(const char *word)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(word, promise_names[i]) == 0)
            return 1 << i;
    return -1;
}

const char *espi_promise_name(int promise)
{
    return promise_names[promise == ESPI_PROMISE_COMMUTING];
}

esp_status espi_native_read_word(struct espi_json *j, char *out, size_t size)
{
    struct espi_json_text text;
    esp_status st = espi_json_string(j, &text);
    if (st)
        return st;
    if (text.length >= size || memchr(text.at, '\0', text.length))
        return espi_json_fail(j, "the word is too long");
    memcpy(out, text.at, text.length);
    out[text.length] = '\0';
    return ESP_OK;
}

esp_status espi_native_read_bytes_of(struct espi_json *j, unsigned char *counts_whole)
{
    char word[16];
    esp_status st = espi_native_read_word(j, word, sizeof word);
    if (!st && strcmp(word, "rank") != 0 && strcmp(word, "all") != 0)
        st = espi_json_fail(j, "expected \"rank\" or \"all\"");
    if (!st)
        *counts_whole = strcmp(word, "all") == 0;
    return st;
}

static esp_status parse_op(struct espi_json *j, const char *word, esp_op *op)
{
    return esp_op_parse(word, op) ? espi_json_fail(j, "there is no such operation")
                                  : ESP_OK;
}

esp_status espi_native_read_op(struct espi_json *j, const struct espi_json_text *key,
                               esp_op *op)
{
    char word[32] = "";
    if (key->length < sizeof word)
        memcpy(word, key->at, key->length);
    return parse_op(j, word, op);
}

static esp_status read_algorithm(struct espi_json *j, const char *library, esp_op op,
                                 const char *word, const struct espi_native_algo **out)
{
    *out = espi_native_find(library, op, word);
    return *out ? ESP_OK : espi_json_fail(j, "the library has no such algorithm");
}

static esp_status room_for(struct espi_json *j, void **list, size_t *room, size_t n,
                           size_t size)
{
    if (n >= LINES_MAX)
        return espi_json_fail(j, "there are more than %d", LINES_MAX);
    if (espi_grow(list, room, n + 1, size))
        return j->status = espi_err_nomem(j->err);
    return ESP_OK;
}

/* ---- operations ---- */

static struct espi_native_name *find_name(const struct espi_native_tuning *t,
                                          const struct espi_native_algo *algo)
{
    for (size_t i = 0; i < t->n_names; i++)
        if (t->names[i].algo == algo)
            return &t->names[i];
    return NULL;
}

/* A name in a file must not end what it stands in. */
static int is_plain(const char *word)
{
    for (const char *at = word; *at; at++)
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
            !(*at >= '0' && *at <= '9') && !strchr("_=<-", *at))
            return 0;
    return *word != '\0';
}

static esp_status read_plain(struct espi_json *j, char *out, size_t size)
{
    esp_status st = espi_native_read_word(j, out, size);
    return st || is_plain(out) ? st : espi_json_fail(j, "expected a plain word");
}

static esp_status read_name(struct espi_json *j, const char *library, esp_op op,
                            const struct espi_json_text *key,
                            struct espi_native_tuning *t)
{
    struct espi_native_name name = {.instead = NULL};
    char word[64] = "";
    if (key->length < sizeof word)
        memcpy(word, key->at, key->length);
    esp_status st = read_algorithm(j, library, op, word, &name.algo);
    if (!st && find_name(t, name.algo))
        st = espi_json_fail(j, "the algorithm was there before");
    if (!st)
        st = read_plain(j, name.called, sizeof name.called);
    if (!st)
        st = room_for(j, (void **)&t->names, &t->names_room, t->n_names, sizeof name);
    if (!st)
        t->names[t->n_names++] = name;
    return st;
}

static esp_status read_instead(struct espi_json *j, const char *library, esp_op op,
                               const struct espi_json_text *key,
                               struct espi_native_tuning *t)
{
    const struct espi_native_algo *algo = NULL, *instead = NULL;
    char word[64] = "";
    if (key->length < sizeof word)
        memcpy(word, key->at, key->length);
    esp_status st = read_algorithm(j, library, op, word, &algo);
    if (!st)
        st = espi_native_read_word(j, word, sizeof word);
    if (!st)
        st = read_algorithm(j, library, op, word, &instead);
    if (!st && (!find_name(t, algo) || !find_name(t, instead)))
        st = espi_json_fail(j, "both algorithms must have been named before");
    if (!st)
        find_name(t, algo)->instead = instead;
    return st;
}

static esp_status read_tuned_op(struct espi_json *j, const char *library, esp_op op,
                                struct espi_native_tuning *t)
{
    struct espi_json_text key, name;
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key)) {
        int is_instead = espi_json_is(&key, "instead");
        if (espi_json_is(&key, "called")) {
            st = read_plain(j, t->op_called[op], sizeof t->op_called[op]);
        } else if (espi_json_is(&key, "bytes_of")) {
            st = espi_native_read_bytes_of(j, &t->counts_whole[op]);
        } else if (is_instead || espi_json_is(&key, "algorithms")) {
            st = espi_json_open_object(j);
            while (!st && espi_json_key(j, &name))
                st = is_instead ? read_instead(j, library, op, &name, t)
                                : read_name(j, library, op, &name, t);
        } else {
            st = espi_json_fail(j, "an operation has no such member");
        }
    }
    return j->status;
}

static esp_status read_tuned_ops(struct espi_json *j, const char *library,
                                 struct espi_native_tuning *t)
{
    struct espi_json_text key;
    esp_op op;
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key)) {
        st = espi_native_read_op(j, &key, &op);
        if (!st && t->op_called[op][0])
            st = espi_json_fail(j, "the operation was there before");
        if (!st)
            st = read_tuned_op(j, library, op, t);
    }
    return j->status;
}

/* ---- what is left out ---- */

struct left_out_words {
    char op[32], algo[64], with[16], unless[16];
};

static esp_status read_left_out_words(struct espi_json *j, struct left_out_words *w,
                                      char *why, size_t why_size)
{
    struct espi_json_text key;
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key)) {
        if (espi_json_is(&key, "operation"))
            st = espi_native_read_word(j, w->op, sizeof w->op);
        else if (espi_json_is(&key, "algorithm"))
            st = espi_native_read_word(j, w->algo, sizeof w->algo);
        else if (espi_json_is(&key, "with"))
            st = espi_native_read_word(j, w->with, sizeof w->with);
        else if (espi_json_is(&key, "unless"))
            st = espi_native_read_word(j, w->unless, sizeof w->unless);
        else if (espi_json_is(&key, "why"))
            st = espi_native_read_word(j, why, why_size);
        else
            st = espi_json_fail(j, "what is left out has no such member");
    }
    return j->status;
}

static int find_with(const char *word)
{
    for (int i = 0; i < (int)(sizeof with_names / sizeof *with_names); i++)
        if (strcmp(word, with_names[i]) == 0)
            return i;
    return -1;
}

static esp_status read_left_out(struct espi_json *j, const char *library,
                                struct espi_native_tuning *t)
{
    struct left_out_words w = {.op = ""};
    struct espi_leave_out x = {.algo = NULL};
    esp_status st = read_left_out_words(j, &w, x.why, sizeof x.why);
    if (!st)
        st = parse_op(j, w.op, &x.op);
    if (!st && w.algo[0])
        st = read_algorithm(j, library, x.op, w.algo, &x.algo);
    int with = find_with(w.with);
    if (!st && with < 0)
        st = espi_json_fail(j, "expected \"segments\", \"fanout\" or \"other_ranks\"");
    x.with = with > 0 ? (espi_leave_out_with)with : ESPI_LEAVE_OUT_ALWAYS;
    x.unless = w.unless[0] ? espi_promise_parse(w.unless) : 0;
    if (!st && x.unless < 0)
        st = espi_json_fail(j, "expected \"same-types\" or \"commuting\"");
    if (!st)
        st = room_for(j, (void **)&t->left_out, &t->left_out_room, t->n_left_out,
                      sizeof x);
    if (!st)
        t->left_out[t->n_left_out++] = x;
    return st;
}

/* ---- the library's own selection ---- */

static esp_status read_selection_line(struct espi_json *j, struct espi_native_tuning *t)
{
    char line[400] = "", word[400];
    esp_status st = espi_native_read_word(j, line, sizeof line);
    size_t length = 0;
    for (const char *at = line; !st && *at; at += length + (at[length] == ' ')) {
        length = strcspn(at, " ");
        memcpy(word, at, length);
        word[length] = '\0';
        if (!is_plain(word))
            st = espi_json_fail(j, "expected plain words, parted by single blanks");
    }
    if (!st && strncmp(line, "collective=", strlen("collective=")) != 0)
        st = espi_json_fail(j, "expected a line that begins with collective=");
    if (!st)
        st = room_for(j, (void **)&t->selection, &t->selection_room, t->n_selection,
                      sizeof *t->selection);
    if (st)
        return st;
    char *copy = espi_strdup(line);
    if (!copy)
        return j->status = espi_err_nomem(j->err);
    t->selection[t->n_selection++] = copy;
    return ESP_OK;
}

esp_status espi_native_tuning_read(struct espi_json *j, const char *library,
                                   struct espi_native_tuning *out)
{
    struct espi_json_text key;
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key)) {
        int is_left_out = espi_json_is(&key, "leave_out");
        if (espi_json_is(&key, "operations")) {
            st = read_tuned_ops(j, library, out);
        } else if (is_left_out || espi_json_is(&key, "selection")) {
            st = espi_json_open_array(j);
            while (!st && espi_json_item(j))
                st = is_left_out ? read_left_out(j, library, out)
                                 : read_selection_line(j, out);
        } else {
            st = espi_json_fail(j, "there is no such member");
        }
    }
    return j->status;
}

/* ---- asking ---- */

const struct espi_native_name *espi_native_name_of(const struct espi_native_tuning *t,
                                                   const struct espi_native_algo *algo)
{
    return find_name(t, algo);
}

static int goes_with(const struct espi_leave_out *x, const struct espi_native_task *task)
{
    switch (x->with) {
    case ESPI_LEAVE_OUT_SEGMENTS:
        return task->segment_bytes > 0;
    case ESPI_LEAVE_OUT_FANOUT:
        return task->fanout > 0;
    case ESPI_LEAVE_OUT_OTHER_RANKS:
        return (task->n_ranks & (task->n_ranks - 1)) != 0;
    default:
        return 1;
    }
}

const struct espi_leave_out *espi_native_left_out(const struct espi_native_tuning *t,
                                                  const struct espi_native_algo *algo,
                                                  const struct espi_native_task *task,
                                                  int promises)
{
    for (size_t i = 0; i < t->n_left_out; i++) {
        const struct espi_leave_out *x = &t->left_out[i];
        if (x->op == algo->op && (!x->algo || x->algo == algo) && goes_with(x, task) &&
            !(x->unless & promises))
            return x;
    }
    return NULL;
}
