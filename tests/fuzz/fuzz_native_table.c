/* Decision tables of MPI libraries: whatever is taken answers every question. */
#include <stdint.h>
#include <stdlib.h>

#include "native/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct espi_native_table *table;
    struct esp_err err;
    if (espi_native_table_parse((const char *)data, size, "table", &table, &err))
        return 0;
    for (int op = 0; op < ESP_OP_COUNT; op++)
        for (int n = 1; n < 5000; n *= 3) {
            const struct espi_native_rule *rule =
                espi_native_rule_for(table, (esp_op)op, n, 1000 * n);
            if (rule && rule->algo->op != (esp_op)op)
                abort();
        }
    espi_native_table_free(table);
    return 0;
}
