/* What may be told to a version of an MPI library, and how: part of its table. */
#ifndef ESPI_NATIVE_TUNING_DATA_H
#define ESPI_NATIVE_TUNING_DATA_H

#include "base/json_pull.h"
#include "native/native.h"

/* An algorithm as files for the library call it. */
struct espi_native_name {
    const struct espi_native_algo *algo;
    char called[80];
    /* For operations on data that are not built in, and vectors that are shorter than the
     * number of ranks; NULL: the same. */
    const struct espi_native_algo *instead;
};

typedef enum espi_leave_out_with {
    ESPI_LEAVE_OUT_ALWAYS,
    ESPI_LEAVE_OUT_SEGMENTS,   /* with segments */
    ESPI_LEAVE_OUT_FANOUT,     /* with a fan-out other than the library's own */
    ESPI_LEAVE_OUT_OTHER_RANKS /* when ranks are no power of two */
} espi_leave_out_with;

/* What programs can promise; then some algorithms are right that else are not.
 * code: bits */
enum {
    ESPI_PROMISE_SAME_TYPES = 1, /* all ranks describe a message by the same type */
    ESPI_PROMISE_COMMUTING = 2   /* operations on data commute */
};

/* What is never chosen, because it is wrong in this version, or cannot be told. */
struct espi_leave_out {
    esp_op op;
    const struct espi_native_algo *algo; /* NULL: nothing is chosen for the operation */
    espi_leave_out_with with;
    int unless; /* ESPI_PROMISE_*, 0: never */
    char why[200];
};

struct espi_native_tuning {
    char op_called[ESP_OP_COUNT][24];         /* "": no choice can be told */
    unsigned char counts_whole[ESP_OP_COUNT]; /* as in the table, of the files */
    struct espi_native_name *names;
    size_t n_names, names_room;
    struct espi_leave_out *left_out;
    size_t n_left_out, left_out_room;
    /* The library's own selection, one a line: conditions, then an algorithm, parted by
     * blanks. A file takes the place of all of it. */
    char **selection;
    size_t n_selection, selection_room;
};

/* Reads the member "tune" of a table. */
esp_status espi_native_tuning_read(struct espi_json *j, const char *library,
                                   struct espi_native_tuning *out);
void espi_native_tuning_done(struct espi_native_tuning *t);

/* NULL: it cannot be told. */
const struct espi_native_name *espi_native_name_of(const struct espi_native_tuning *t,
                                                   const struct espi_native_algo *algo);

/* Why the choice must not be made; NULL: it may. promises: ESPI_PROMISE_*. */
const struct espi_leave_out *espi_native_left_out(const struct espi_native_tuning *t,
                                                  const struct espi_native_algo *algo,
                                                  const struct espi_native_task *task,
                                                  int promises);

/* Words of the table: for a promise, else -1; for what is left out. */
int espi_promise_parse(const char *word);
const char *espi_promise_name(int promise);

/* Shared with the rest of the table. */
esp_status espi_native_read_word(struct espi_json *j, char *out, size_t size);
esp_status espi_native_read_bytes_of(struct espi_json *j, unsigned char *counts_whole);
/* Reads the next key, into op: ESP_EINPUT when it names none. */
esp_status espi_native_read_op(struct espi_json *j, const struct espi_json_text *key,
                               esp_op *op);

#endif
