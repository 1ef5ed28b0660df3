#include "cli/printing/completion.h"

#include <string.h>

#include "algo/algo.h"

bool cli_knows_values(const struct cli_option *o)
{
    return o->kind == CLI_CHOICE || o->names == CLI_NAMES_ALGO ||
           (o->kind == CLI_STRING && o->value && strchr(o->value, '|'));
}

static void put_algos(FILE *out)
{
    int n;
    const struct espi_algo *const *algos = espi_algos(&n);

    for (int i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? " " : "", algos[i]->name);
}

void cli_put_values(FILE *out, const struct cli_option *o)
{
    if (o->kind == CLI_CHOICE)
        for (int i = 0; o->choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
    else if (o->names == CLI_NAMES_ALGO)
        put_algos(out);
    else if (cli_knows_values(o))
        for (const char *at = o->value; *at; at++)
            fputc(*at == '|' ? ' ' : *at, out);
}
