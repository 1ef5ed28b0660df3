#include "cli/printing/host_names.h"

#include <stdio.h>

#include "base/err.h"
#include "cli/printing/output.h"
#include "platform/platform.h"

static json_t *hosts_json(const struct esp_platform *p)
{
    json_t *list = json_array();

    for (int v = 0; v < p->n_nodes; v++) {
        const char *site = esp_platform_node_site(p, v);
        if (espi_is_switch(p, v))
            continue;
        json_t *host = json_object();
        json_object_set_new(host, "name", json_string(espi_node_name(p, v)));
        json_object_set_new(host, "site", site ? json_string(site) : json_null());
        json_array_append_new(list, host);
    }
    return list;
}

int cli_print_hosts(const struct cli_args *args, const struct esp_platform *p)
{
    char name[1024];

    if (cli_has(args, "json"))
        return cli_print_json(hosts_json(p));
    for (int v = 0; v < p->n_nodes; v++)
        if (!espi_is_switch(p, v))
            printf("%s\n", espi_quote(name, sizeof name, espi_node_name(p, v)));
    return CLI_OK;
}

const char *cli_host_names(char *out, size_t size, const struct esp_platform *p)
{
    enum { FIRST = 3, FEW = 6 }; /* looks: how many are named */
    char name[48];
    size_t used = 0;
    int seen = 0;

    out[0] = '\0';
    for (int v = 0; v < p->n_nodes && used < size; v++) {
        if (espi_is_switch(p, v))
            continue;
        seen++;
        if (p->n_hosts > FEW && seen > FIRST && seen < p->n_hosts)
            continue;
        const char *before = seen == 1                                ? ""
                             : p->n_hosts > FEW && seen == p->n_hosts ? ", ... "
                                                                      : ", ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", before,
                                 espi_quote(name, sizeof name, espi_node_name(p, v)));
    }
    return out;
}
