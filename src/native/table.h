/* Decision tables: which of its algorithms a version of an MPI library takes for how many
 * ranks and bytes when nobody tells it, and how it sends. They are data, files that are
 * installed (share/espalier/native), and read as any input is. */
#ifndef ESPI_NATIVE_TABLE_H
#define ESPI_NATIVE_TABLE_H

#include <stddef.h>

#include "base/input.h"
#include "native/native.h"
#include "native/play.h"
#include "native/tuning_data.h"

struct espi_native_rule {
    double ranks_below, bytes_below; /* infinity: any number */
    int power_of_two;                /* for such numbers of ranks only */
    const struct espi_native_algo *algo;
    int64_t segment_bytes;
    int fanout;
};

struct espi_native_version {
    int part[3]; /* 4.1.4 */
};

struct espi_native_table {
    char library[16];
    struct espi_native_version from, to; /* the first and last that it is for */
    struct espi_protocol protocol;
    struct espi_native_rule *rules[ESP_OP_COUNT]; /* the first that fits counts */
    size_t n_rules[ESP_OP_COUNT], room[ESP_OP_COUNT];
    /* Is what rules call bytes all of the message, where each rank has its part? */
    unsigned char counts_whole[ESP_OP_COUNT];
    struct espi_native_tuning tuning;
};

/* `where` names the text in messages. Free with espi_native_table_free. */
esp_status espi_native_table_parse(const char *text, size_t length, const char *where,
                                   struct espi_native_table **out, struct esp_err *err);
void espi_native_table_free(struct espi_native_table *table);

/* "4", "4.1" or "4.1.4"; what is not said is 0. ESP_EUSAGE when it is none of these. */
esp_status espi_native_version_parse(const char *text, struct espi_native_version *out,
                                     struct esp_err *err);

/* Reads the installed table of a library for a version, else for the nearest one: then
 * *is_other is set. version NULL: that of the newest table. */
esp_status espi_native_table_load(const char *library,
                                  const struct espi_native_version *version,
                                  struct espi_native_table **out, int *is_other,
                                  struct esp_err *err);

/* The text of that table, for others to parse. Done with espi_input_done. */
esp_status espi_native_table_read(const char *library,
                                  const struct espi_native_version *version,
                                  struct espi_input *out, int *is_other,
                                  struct esp_err *err);

/* The rule for a call; NULL: the table has none. bytes: as in struct espi_native_task. */
const struct espi_native_rule *espi_native_rule_for(const struct espi_native_table *table,
                                                    esp_op op, int n_ranks,
                                                    int64_t bytes);

#endif
