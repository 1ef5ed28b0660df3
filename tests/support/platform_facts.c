#include "support/platform_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t platform_hash(const struct esp_platform *p)
{
    char *text = NULL;
    size_t length = 0;
    uint64_t hash = 0xcbf29ce484222325u;
    FILE *out = open_memstream(&text, &length);
    if (!out || esp_platform_write_stream(p, out, NULL) != ESP_OK || fclose(out))
        abort();
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    free(text);
    return hash;
}

int platform_same_links(const struct esp_platform *a, const struct esp_platform *b)
{
    int m = esp_platform_link_count(a);
    if (m != esp_platform_link_count(b))
        return 0;
    for (int e = 0; e < m; e++)
        if (esp_platform_link_from(a, e) != esp_platform_link_from(b, e) ||
            esp_platform_link_to(a, e) != esp_platform_link_to(b, e) ||
            esp_platform_link_latency_s(a, e) != esp_platform_link_latency_s(b, e) ||
            esp_platform_link_bandwidth_Bps(a, e) !=
                esp_platform_link_bandwidth_Bps(b, e))
            return 0;
    return 1;
}

int platform_out_degree(const struct esp_platform *p, int node)
{
    int degree = 0;
    for (int e = 0; e < esp_platform_link_count(p); e++)
        degree += esp_platform_link_from(p, e) == node;
    return degree;
}

void platform_bandwidths(const struct esp_platform *p, double *mean, double *deviation)
{
    int m = esp_platform_link_count(p);
    double sum = 0, squares = 0;
    for (int e = 0; e < m; e++)
        sum += esp_platform_link_bandwidth_Bps(p, e);
    *mean = sum / m;
    for (int e = 0; e < m; e++)
        squares += pow(esp_platform_link_bandwidth_Bps(p, e) - *mean, 2);
    *deviation = sqrt(squares / m);
}
