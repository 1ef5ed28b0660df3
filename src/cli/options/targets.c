/* The list of hosts that --targets gives: names, a file of names, or a share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "base/rng.h"
#include "cli/options/plans.h"
#include "cli/options/platforms.h"
#include "platform/platform.h"

struct list {
    const struct esp_platform *p;
    int *node;
    size_t n, capacity;
};

static int add_target(struct list *list, int node)
{
    if (espi_grow((void **)&list->node, &list->capacity, list->n + 1, sizeof *list->node))
        return cli_error(CLI_FAILED, "out of memory");
    list->node[list->n++] = node;
    return CLI_OK;
}

/* Names or numbers with any of the separators between them. */
static int add_names(struct list *list, const char *text, const char *separators,
                     const char *where, int bad)
{
    char name[256], quoted[64];
    int code = CLI_OK;

    text += strspn(text, separators);
    while (*text && code == CLI_OK) {
        size_t length = strcspn(text, separators);
        size_t room = length < sizeof name ? length : sizeof name - 1;
        memcpy(name, text, room);
        name[room] = '\0';
        int node = length < sizeof name ? cli_find_node(list->p, name) : -1;
        if (node < 0)
            return cli_error(bad, "%s: there is no node with the name or number '%s'",
                             where, espi_quote(quoted, sizeof quoted, name));
        code = add_target(list, node);
        text += length;
        text += strspn(text, separators);
    }
    return code;
}

static int add_file(struct list *list, const char *path)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    struct espi_input in;
    esp_status status = espi_input_read(&in, path, &err);

    if (status != ESP_OK)
        return cli_fail(status, &err);
    int code = strlen(in.text) == in.length
                   ? add_names(list, in.text, ", \t\r\n", in.where, CLI_BAD_INPUT)
                   : cli_error(CLI_BAD_INPUT, "%s: a list of nodes is text", in.where);
    espi_input_done(&in);
    return code;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* So many in a hundred of the hosts but the root, at least one, in their order. What a
 * seed draws for a smaller share is among what it draws for a larger one. */
static int add_share(struct list *list, double percent, int root, uint64_t seed)
{
    struct espi_rng rng;
    int code = CLI_OK;

    for (int v = 0; v < list->p->n_nodes && code == CLI_OK; v++)
        if (v != root && !espi_is_switch(list->p, v))
            code = add_target(list, v);
    if (code != CLI_OK || list->n == 0)
        return code;
    size_t wanted = (size_t)floor((double)list->n * percent / 100 + 0.5);
    wanted = wanted > 0 ? wanted : 1;
    espi_rng_seed(&rng, seed);
    espi_rng_shuffle(&rng, list->node, (int)list->n);
    if (wanted < list->n)
        list->n = wanted;
    qsort(list->node, list->n, sizeof *list->node, by_number);
    return CLI_OK;
}

int cli_parse_targets(const struct esp_platform *p, const char *text, int root,
                      uint64_t seed, int **targets, int *n_targets)
{
    struct list list = {.p = p};
    char *end;
    double percent = strtod(text, &end);
    int code;

    if (end != text && strcmp(end, "%") == 0)
        code = percent > 0 && percent <= 100
                   ? add_share(&list, percent, root, seed)
                   : cli_error(CLI_BAD_USAGE,
                               "--targets: a share lies above 0%% and up to 100%%");
    else if (text[0] == '@')
        code = add_file(&list, text + 1);
    else
        code = add_names(&list, text, ",", "--targets", CLI_BAD_INPUT);
    if (code == CLI_OK && list.n == 0)
        code = cli_error(CLI_BAD_USAGE, "--targets: the list is empty");
    if (code != CLI_OK) {
        espi_free(list.node);
        return code;
    }
    *targets = list.node;
    *n_targets = (int)list.n;
    return CLI_OK;
}
