/* A stranger's program that reads a platform: how many nodes it has, or why not. */
#include <espalier/espalier.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct esp_err err = {0};
    struct esp_platform *p = NULL;
    if (argc != 2 || esp_platform_read(argv[1], NULL, &p, &err)) {
        printf("%s\n", err.text);
        return 1;
    }
    printf("%d nodes\n", esp_platform_node_count(p));
    esp_platform_free(p);
    return 0;
}
