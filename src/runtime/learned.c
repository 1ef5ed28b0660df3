#include "runtime/learned.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_pull.h"
#include "base/json_text.h"

#define FORMAT "espalier-learned/1"

/* limit: lessons of a file; ranks; classes of sizes; calls whose number is believed */
enum { LESSONS_MAX = 4096, ROOT_MAX = 1 << 24, CLASS_MAX = 62, FAR_MAX = 1000 };

void espi_learned_done(struct espi_learned *l)
{
    espi_free(l->lessons);
    *l = (struct espi_learned){NULL, 0, 0};
}

/* ---- sums ---- */

#define SUM_START  UINT64_C(14695981039346656037) /* published: FNV-1a */
#define SUM_FACTOR UINT64_C(1099511628211)        /* published: FNV-1a */

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ at[i]) * SUM_FACTOR;
    return sum;
}

uint64_t espi_text_sum(uint64_t sum, const char *text)
{
    return add_bytes(sum ? sum : SUM_START, text, strlen(text) + 1);
}

/* What it does, not what is claimed of it. */
uint64_t espi_whole_plan_sum(const struct esp_plan *plan)
{
    uint64_t sum = espi_text_sum(0, plan->algo ? plan->algo : "");
    sum = add_bytes(sum, &plan->slice_bytes, sizeof plan->slice_bytes);
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        sum = add_bytes(sum, &tree->weight, sizeof tree->weight);
        for (int i = 0; i < tree->n_edges; i++) {
            int ends[2] = {tree->edges[i].from, tree->edges[i].to};
            sum = add_bytes(sum, ends, sizeof ends);
        }
    }
    return sum;
}

/* ---- lessons ---- */

static int is_same(const struct espi_lesson *l, uint64_t team, esp_op op, int root,
                   int size_class)
{
    return l->team == team && l->op == op && l->root == root &&
           l->size_class == size_class;
}

const struct espi_lesson *espi_learned_find(const struct espi_learned *l, uint64_t team,
                                            esp_op op, int root, int size_class)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_same(&l->lessons[i], team, op, root, size_class))
            return &l->lessons[i];
    return NULL;
}

esp_status espi_learned_keep(struct espi_learned *l, const struct espi_lesson *lesson,
                             struct esp_err *err)
{
    struct espi_lesson *known = (struct espi_lesson *)espi_learned_find(
        l, lesson->team, lesson->op, lesson->root, lesson->size_class);
    if (known) {
        *known = *lesson;
        return ESP_OK;
    }
    if (l->n == LESSONS_MAX)
        return ESP_OK;
    if (espi_grow((void **)&l->lessons, &l->cap, l->n + 1, sizeof *l->lessons))
        return espi_err_nomem(err);
    l->lessons[l->n++] = *lesson;
    return ESP_OK;
}

/* ---- reading ---- */

/* A whole number from 0 to most. */
static esp_status read_whole(struct espi_json *j, const char *name, double most,
                             double *out)
{
    double value;
    esp_status st = espi_json_number(j, &value);
    if (st)
        return st;
    if (!(value >= 0 && value <= most) || value != floor(value))
        return espi_json_fail(j, "\"%s\" is a whole number from 0 to %.0f", name, most);
    *out = value;
    return ESP_OK;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Sixteen digits of a number to the base sixteen. */
static esp_status read_sum(struct espi_json *j, const char *name, uint64_t *out)
{
    struct espi_json_text text;
    uint64_t sum = 0;
    esp_status st = espi_json_string(j, &text);
    if (st)
        return st;
    int good = text.length == 16;
    for (size_t i = 0; good && i < text.length; i++) {
        int digit = digit_of(text.at[i]);
        good = digit >= 0;
        sum = sum << 4 | (uint64_t)(digit & 15);
    }
    if (!good)
        return espi_json_fail(j, "\"%s\" is sixteen digits of 0-9 and a-f", name);
    *out = sum;
    return ESP_OK;
}

static esp_status read_op(struct espi_json *j, esp_op *out)
{
    struct espi_json_text text;
    esp_status st = espi_json_string(j, &text);
    for (int op = 0; !st && op < ESP_OP_COUNT; op++)
        if (espi_json_is(&text, esp_op_name((esp_op)op))) {
            *out = (esp_op)op;
            return ESP_OK;
        }
    return st ? st : espi_json_fail(j, "\"op\" is the name of a collective: bcast");
}

/* [low, high] */
static esp_status read_time(struct espi_json *j, struct espi_call_time *out)
{
    double value[2] = {0, 0};
    int n = 0;
    espi_json_open_array(j);
    while (espi_json_item(j)) {
        double number;
        if (!espi_json_number(j, &number) && n < 2)
            value[n] = number;
        n++;
    }
    if (j->status)
        return j->status;
    if (n != 2 || !(value[0] >= 0) || !(value[1] >= value[0]) || !isfinite(value[1]))
        return espi_json_fail(j, "a time is [low, high], in seconds");
    *out = (struct espi_call_time){value[0], value[1]};
    return ESP_OK;
}

static esp_status read_times(struct espi_json *j, struct espi_contender *out)
{
    espi_json_open_array(j);
    while (espi_json_item(j)) {
        if (out->n_times == ESPI_TRIAL_SAMPLES)
            return espi_json_fail(j, "there are at most %d times", ESPI_TRIAL_SAMPLES);
        if (!read_time(j, &out->time[out->n_times]))
            out->n_times++;
    }
    return j->status;
}

static esp_status read_contender(struct espi_json *j, struct espi_contender *out)
{
    struct espi_json_text key;
    double far = 0;
    *out = (struct espi_contender){0};
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "times_s"))
            read_times(j, out);
        else if (espi_json_is(&key, "far"))
            read_whole(j, "far", FAR_MAX, &far);
        else
            espi_json_skip(j);
    }
    out->n_far = (int)far;
    return j->status;
}

static esp_status read_lesson(struct espi_json *j, struct espi_lesson *out)
{
    struct espi_json_text key;
    double root = -1, size_class = -1, bytes = -1;
    int has_op = 0;
    *out = (struct espi_lesson){.team = 0};
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "team"))
            read_sum(j, "team", &out->team);
        else if (espi_json_is(&key, "plan"))
            read_sum(j, "plan", &out->plan);
        else if (espi_json_is(&key, "op"))
            has_op = !read_op(j, &out->op);
        else if (espi_json_is(&key, "root"))
            read_whole(j, "root", ROOT_MAX, &root);
        else if (espi_json_is(&key, "class"))
            read_whole(j, "class", CLASS_MAX, &size_class);
        else if (espi_json_is(&key, "bytes"))
            read_whole(j, "bytes", ldexp(1, CLASS_MAX), &bytes);
        else if (espi_json_is(&key, "native"))
            read_contender(j, &out->native);
        else if (espi_json_is(&key, "planned"))
            read_contender(j, &out->planned);
        else
            espi_json_skip(j);
    }
    if (j->status)
        return j->status;
    if (!has_op || root < 0 || size_class < 0 || bytes < 0)
        return espi_json_fail(j,
                              "a lesson has \"op\", \"root\", \"class\" and \"bytes\"");
    out->root = (int)root;
    out->size_class = (int)size_class;
    out->bytes = (uint64_t)bytes;
    return ESP_OK;
}

static esp_status read_lessons(struct espi_json *j, struct espi_learned *l)
{
    struct espi_lesson lesson;
    espi_json_open_array(j);
    while (espi_json_item(j)) {
        if (l->n == LESSONS_MAX)
            return espi_json_fail(j, "there are at most %d lessons", LESSONS_MAX);
        if (read_lesson(j, &lesson))
            break;
        esp_status st = espi_learned_keep(l, &lesson, j->err);
        if (st)
            return j->status = st;
    }
    return j->status;
}

static esp_status read_all(struct espi_json *j, struct espi_learned *l)
{
    struct espi_json_text key, text;
    int has_format = 0;
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "format"))
            has_format = !espi_json_string(j, &text) && espi_json_is(&text, FORMAT);
        else if (espi_json_is(&key, "lessons"))
            read_lessons(j, l);
        else
            espi_json_skip(j);
    }
    if (!j->status && !has_format)
        return espi_json_fail(j, "\"format\" is not \"" FORMAT
                                 "\"; take the file away, and it is written anew");
    return j->status ? j->status : espi_json_end(j);
}

esp_status espi_learned_parse(const char *text, size_t length, const char *where,
                              struct espi_learned *out, struct esp_err *err)
{
    struct espi_json j;
    struct espi_learned l = {NULL, 0, 0};
    espi_json_init(&j, text, length, where, err);
    esp_status st = read_all(&j, &l);
    espi_json_done(&j);
    if (st) {
        espi_learned_done(&l);
        return st;
    }
    *out = l;
    return ESP_OK;
}

/* ---- writing ---- */

static void put_contender(FILE *out, const char *name, const struct espi_contender *c)
{
    int n = c->n_times < ESPI_TRIAL_SAMPLES ? c->n_times : ESPI_TRIAL_SAMPLES;
    fprintf(out, ",\n      \"%s\": {\"times_s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(out, "%s[%.17g, %.17g]", i ? ", " : "", c->time[i].low_s,
                c->time[i].high_s);
    fprintf(out, "], \"far\": %d}", c->n_far < FAR_MAX ? c->n_far : FAR_MAX);
}

static esp_status put_learned(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_learned *l = what;
    (void)err;
    fprintf(out, "{ \"format\": \"" FORMAT "\",\n  \"lessons\": [");
    for (size_t i = 0; i < l->n; i++) {
        const struct espi_lesson *s = &l->lessons[i];
        fprintf(out,
                "%s\n    { \"team\": \"%016" PRIx64 "\", \"plan\": \"%016" PRIx64
                "\", \"op\": \"%s\", \"root\": %d, \"class\": %d, \"bytes\": %" PRIu64,
                i ? "," : "", s->team, s->plan, esp_op_name(s->op), s->root,
                s->size_class, s->bytes);
        put_contender(out, "native", &s->native);
        put_contender(out, "planned", &s->planned);
        fprintf(out, " }");
    }
    fprintf(out, " ] }\n");
    return ESP_OK;
}

esp_status espi_learned_write(const struct espi_learned *l, const char *path,
                              struct esp_err *err)
{
    return espi_write_file(path, put_learned, l, err);
}
