#include "support/initiation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

const struct initiation initiation_a1 = {
    6,
    {1, 1, 1, 1, 1, 1},
    {{0, 2, 3, 8, 9, 9},
     {2, 0, 2, 6, 7, 9},
     {3, 2, 0, 5, 2, 6},
     {8, 6, 5, 0, 4, 3},
     {9, 7, 2, 4, 0, 2},
     {9, 9, 6, 3, 2, 0}},
};
const struct initiation initiation_a2 = {
    5,
    {1, 1, 2, 1, 1},
    {{0, 1, 2, 0, 0}, {0}, {0, 0, 0, 1, 1}},
};

struct esp_platform *initiation_platform(const struct initiation *x)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_MULTI_PORT);
    for (int i = 0; i < x->n; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, x->c[i], ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++)
            if (x->w[i][j] > 0)
                assert_int_equal(
                    esp_builder_add_link(b, i, j, x->w[i][j], 1e300, NULL, NULL), ESP_OK);
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}
