/* The smallest user of the installed library: builds a platform of two nodes. */
#include <espalier/espalier.h>
#include <stdio.h>

int main(void)
{
    struct esp_err err;
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct esp_node_spec spec = {.send_s = ESP_UNSET, .recv_s = ESP_UNSET};
    esp_status status = esp_builder_create(&b, &err);
    for (int i = 0; !status && i < 2; i++) {
        spec.name = i ? "right" : "left";
        status = esp_builder_add_node(b, &spec, NULL, &err);
    }
    if (!status)
        status = esp_builder_add_link(b, 0, 1, 1e-3, 1e6, NULL, &err);
    if (!status)
        status = esp_builder_build(b, &p, &err);
    if (!status)
        printf("espalier %s: %d nodes\n", esp_version(), esp_platform_node_count(p));
    else
        fprintf(stderr, "%s\n", err.text);
    esp_platform_free(p);
    esp_builder_free(b);
    return status != ESP_OK;
}
