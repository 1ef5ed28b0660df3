#include "native/table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "base/json_pull.h"
#include "base/parts.h"

/* The tables that there are, older ones of a library first. */
static const char *const table_names[] = {"mpich-4.0", "openmpi-4.1"};

enum { TABLES = sizeof table_names / sizeof *table_names };

#define RULES_MAX   4096 /* limit: of an operation */
#define VERSION_MAX 999  /* limit: of a number in a version */

void espi_native_table_free(struct espi_native_table *table)
{
    if (!table)
        return;
    for (int op = 0; op < ESP_OP_COUNT; op++)
        espi_free(table->rules[op]);
    espi_native_tuning_done(&table->tuning);
    espi_free(table);
}

/* ---- versions ---- */

esp_status espi_native_version_parse(const char *text, struct espi_native_version *out,
                                     struct esp_err *err)
{
    struct espi_native_version v = {{0, 0, 0}};
    const char *at = text;
    char shown[64];
    for (int i = 0; i < 3; i++) {
        char *end;
        long number = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (number < 0 || number > VERSION_MAX)
            break;
        v.part[i] = (int)number;
        at = end;
        if (*at == '\0') {
            *out = v;
            return ESP_OK;
        }
        if (*at++ != '.')
            break;
    }
    return espi_err(err, ESP_EUSAGE, "'%s' is no version such as 4.1.4",
                    espi_quote(shown, sizeof shown, text));
}

static int compare_versions(const struct espi_native_version *a,
                            const struct espi_native_version *b)
{
    for (int i = 0; i < 3; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

/* How far a version is outside a table's: 0 inside, else more the earlier the number is
 * that differs. */
static long version_distance(const struct espi_native_table *table,
                             const struct espi_native_version *v)
{
    const struct espi_native_version *near =
        compare_versions(v, &table->from) < 0 ? &table->from : &table->to;
    long distance = 0;
    if (compare_versions(v, &table->from) >= 0 && compare_versions(v, &table->to) <= 0)
        return 0;
    for (int i = 0; i < 3; i++)
        distance = distance * (VERSION_MAX + 1) + labs((long)v->part[i] - near->part[i]);
    return distance;
}

/* ---- reading ---- */

static esp_status read_count(struct espi_json *j, double most, double *out)
{
    double number;
    esp_status st = espi_json_number(j, &number);
    if (!st && !(number >= 0 && number <= most && number == floor(number)))
        st = espi_json_fail(j, "expected a whole number from 0 to %.0f", most);
    if (!st)
        *out = number;
    return st;
}

static esp_status read_versions(struct espi_json *j, struct espi_native_table *table)
{
    struct espi_native_version *ends[2] = {&table->from, &table->to};
    char word[32];
    int n = 0;
    esp_status st = espi_json_open_array(j);
    while (!st && espi_json_item(j)) {
        if (n == 2)
            return espi_json_fail(j, "expected the first and the last version");
        st = espi_native_read_word(j, word, sizeof word);
        if (!st && espi_native_version_parse(word, ends[n], NULL))
            st = espi_json_fail(j, "this is no version such as \"4.1.4\"");
        n++;
    }
    if (j->status)
        return j->status;
    if (n != 2 || compare_versions(&table->from, &table->to) > 0)
        return espi_json_fail(j, "expected the first and the last version");
    return ESP_OK;
}

static esp_status read_rule_value(struct espi_json *j, struct espi_native_rule *rule,
                                  const struct espi_json_text *key, char *name,
                                  size_t name_size)
{
    double number = 0;
    esp_status st;
    if (espi_json_is(key, "ranks_below"))
        return read_count(j, INT_MAX, &rule->ranks_below);
    if (espi_json_is(key, "bytes_below"))
        return read_count(j, 0x1p52, &rule->bytes_below);
    if (espi_json_is(key, "power_of_two"))
        return espi_json_bool(j, &rule->power_of_two);
    if (espi_json_is(key, "algorithm"))
        return espi_native_read_word(j, name, name_size);
    if (espi_json_is(key, "segment_bytes")) {
        st = read_count(j, 0x1p52, &number);
        rule->segment_bytes = (int64_t)number;
        return st;
    }
    if (!espi_json_is(key, "fanout"))
        return espi_json_fail(j, "a rule has no such member");
    st = read_count(j, INT_MAX, &number);
    rule->fanout = (int)number;
    return st;
}

static esp_status read_rule(struct espi_json *j, struct espi_native_table *table,
                            esp_op op)
{
    struct espi_native_rule rule = {.ranks_below = INFINITY, .bytes_below = INFINITY};
    struct espi_json_text key;
    char name[64] = "";
    size_t n = table->n_rules[op];
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key))
        st = read_rule_value(j, &rule, &key, name, sizeof name);
    if (j->status)
        return j->status;
    rule.algo = espi_native_find(table->library, op, name);
    if (!rule.algo)
        return espi_json_fail(j, "the library has no such algorithm");
    if (n >= RULES_MAX)
        return espi_json_fail(j, "there are more than %d rules", RULES_MAX);
    if (espi_grow((void **)&table->rules[op], &table->room[op], n + 1, sizeof rule))
        return j->status = espi_err_nomem(j->err);
    table->rules[op][table->n_rules[op]++] = rule;
    return ESP_OK;
}

static esp_status read_operation(struct espi_json *j, struct espi_native_table *table,
                                 esp_op op)
{
    struct espi_json_text key;
    if (table->n_rules[op])
        return espi_json_fail(j, "the operation was there before");
    esp_status st = espi_json_open_object(j);
    while (!st && espi_json_key(j, &key)) {
        if (espi_json_is(&key, "bytes_of")) {
            st = espi_native_read_bytes_of(j, &table->counts_whole[op]);
        } else if (espi_json_is(&key, "rules")) {
            st = espi_json_open_array(j);
            while (!st && espi_json_item(j))
                st = read_rule(j, table, op);
        } else {
            st = espi_json_fail(j, "an operation has no such member");
        }
    }
    return j->status;
}

static esp_status read_operations(struct espi_json *j, struct espi_native_table *table)
{
    struct espi_json_text key;
    esp_status st = espi_json_open_object(j);
    if (!st && !espi_native_is_library(table->library))
        return espi_json_fail(j, "the name of a library that is known must come before");
    while (!st && espi_json_key(j, &key)) {
        esp_op op;
        st = espi_native_read_op(j, &key, &op);
        if (!st)
            st = read_operation(j, table, op);
    }
    return j->status;
}

static esp_status read_message_s(struct espi_json *j, double *out)
{
    double number;
    esp_status st = espi_json_number(j, &number);
    if (!st && !(number >= 0 && number <= 1))
        st = espi_json_fail(j, "expected seconds from 0 to 1");
    if (!st)
        *out = number;
    return st;
}

static esp_status read_member(struct espi_json *j, struct espi_native_table *table,
                              const struct espi_json_text *key)
{
    char word[32];
    if (espi_json_is(key, "format")) {
        esp_status st = espi_native_read_word(j, word, sizeof word);
        if (!st && strcmp(word, "espalier-native/1") != 0)
            st = espi_json_fail(j, "the format is not \"espalier-native/1\"");
        return st;
    }
    if (espi_json_is(key, "library"))
        return espi_native_read_word(j, table->library, sizeof table->library);
    if (espi_json_is(key, "versions"))
        return read_versions(j, table);
    if (espi_json_is(key, "eager_bytes"))
        return read_count(j, 0x1p52, &table->protocol.eager_bytes);
    if (espi_json_is(key, "first_bytes"))
        return read_count(j, 0x1p52, &table->protocol.first_bytes);
    if (espi_json_is(key, "message_s"))
        return read_message_s(j, &table->protocol.message_s);
    if (espi_json_is(key, "operations"))
        return read_operations(j, table);
    if (espi_json_is(key, "tune"))
        return espi_native_tuning_read(j, table->library, &table->tuning);
    return espi_json_fail(j, "there is no such member");
}

esp_status espi_native_table_parse(const char *text, size_t length, const char *where,
                                   struct espi_native_table **out, struct esp_err *err)
{
    struct espi_native_table *table = espi_calloc(1, sizeof *table);
    struct espi_json_text key;
    struct espi_json j;
    if (!table)
        return espi_err_nomem(err);
    espi_json_init(&j, text, length, where, err);
    esp_status st = espi_json_open_object(&j);
    while (!st && espi_json_key(&j, &key))
        st = read_member(&j, table, &key);
    if (!j.status)
        espi_json_end(&j);
    if (!j.status && !espi_native_is_library(table->library))
        espi_json_fail(&j, "no library that is known is named");
    st = j.status;
    espi_json_done(&j);
    if (st)
        espi_native_table_free(table);
    else
        *out = table;
    return st;
}

/* ---- finding ---- */

static esp_status read_table(const char *name, struct espi_input *in, struct esp_err *err)
{
    char path[PATH_MAX];
    if (espi_find_part(ESPI_PART_NATIVE, name, path))
        return espi_err(
            err, ESP_EIO,
            "the decision table %s.json of espalier is not where it should be", name);
    return espi_input_read(in, path, err);
}

/* A table with the text that it was read from. */
struct table_text {
    struct espi_native_table *table;
    struct espi_input in;
};

static void table_text_done(struct table_text *t)
{
    if (t->table)
        espi_input_done(&t->in);
    espi_native_table_free(t->table);
    t->table = NULL;
}

static esp_status load_table(const char *name, struct table_text *t, struct esp_err *err)
{
    esp_status st = read_table(name, &t->in, err);
    if (st)
        return st;
    st = espi_native_table_parse(t->in.text, t->in.length, t->in.where, &t->table, err);
    if (st)
        espi_input_done(&t->in);
    return st;
}

static int is_table_of(const char *name, const char *library)
{
    size_t n = strlen(library);
    return strncmp(name, library, n) == 0 && name[n] == '-';
}

static esp_status find_table(const char *library,
                             const struct espi_native_version *version,
                             struct table_text *out, struct esp_err *err)
{
    struct table_text best = {.table = NULL};
    esp_status st = ESP_OK;
    for (int i = 0; i < TABLES && !st; i++) {
        struct table_text t = {.table = NULL};
        if (!is_table_of(table_names[i], library))
            continue;
        st = load_table(table_names[i], &t, err);
        if (st)
            break;
        int is_nearer =
            !best.table || !version ||
            version_distance(t.table, version) < version_distance(best.table, version);
        table_text_done(is_nearer ? &best : &t);
        best = is_nearer ? t : best;
    }
    if (!st && !best.table)
        st = espi_err(err, ESP_EUSAGE, "there is no decision table of %s", library);
    if (st)
        table_text_done(&best);
    else
        *out = best;
    return st;
}

esp_status espi_native_table_load(const char *library,
                                  const struct espi_native_version *version,
                                  struct espi_native_table **out, int *is_other,
                                  struct esp_err *err)
{
    struct table_text found;
    esp_status st = find_table(library, version, &found, err);
    if (st)
        return st;
    *is_other = version && version_distance(found.table, version) > 0;
    *out = found.table;
    espi_input_done(&found.in);
    return ESP_OK;
}

esp_status espi_native_table_read(const char *library,
                                  const struct espi_native_version *version,
                                  struct espi_input *out, int *is_other,
                                  struct esp_err *err)
{
    struct table_text found;
    esp_status st = find_table(library, version, &found, err);
    if (st)
        return st;
    *is_other = version && version_distance(found.table, version) > 0;
    *out = found.in;
    espi_native_table_free(found.table);
    return ESP_OK;
}

/* ---- deciding ---- */

const struct espi_native_rule *espi_native_rule_for(const struct espi_native_table *table,
                                                    esp_op op, int n_ranks, int64_t bytes)
{
    double counted = (double)bytes * (table->counts_whole[op] ? (double)n_ranks : 1);
    int is_power = n_ranks > 0 && (n_ranks & (n_ranks - 1)) == 0;
    for (size_t i = 0; i < table->n_rules[op]; i++) {
        const struct espi_native_rule *rule = &table->rules[op][i];
        if (n_ranks < rule->ranks_below && counted < rule->bytes_below &&
            (is_power || !rule->power_of_two))
            return rule;
    }
    return NULL;
}
