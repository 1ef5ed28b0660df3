/* espalier compare: what MPI libraries do, by themselves or by an algorithm that is asked
 * for. */
#include "cli/commands/compare.h"

#include <string.h>

#include "base/watch.h"
#include "cli/options/native.h"

/* A call of a library: the entry, by its name; no algorithm: why not. */
static int add_call(struct comparison *c, const char *library,
                    const struct espi_native_run *run, const char *why)
{
    char name[96];

    snprintf(name, sizeof name, "%s:%s", library, run->algo ? run->algo->name : "-");
    int code = cli_compare_add(c, name, strlen(name));
    if (code == CLI_OK) {
        struct compare_entry *e = &c->entries[c->n - 1];
        e->native = *run;
        if (!run->algo)
            e->status = espi_err(&e->err, ESP_EUNSUPPORTED, "%s", why);
    }
    return code;
}

/* One that does not serve the operation stands below with the reason. */
static int add_default(struct comparison *c, const struct cli_library *library,
                       struct espi_native_run *run)
{
    char why[120] = "";

    if (c->request.targets)
        snprintf(why, sizeof why, "%s: its operations are for all hosts", library->name);
    else
        cli_library_choose(library, c->args, c->p, c->request.op, run, why, sizeof why);
    return add_call(c, library->name, run, why);
}

/* Who asks for an algorithm says how long its segments are, too, or there are none. */
static int add_asked(struct comparison *c, const char *library,
                     const struct espi_native_algo *algo, struct espi_native_run *run)
{
    int in_segments = algo->takes_segments && cli_has(c->args, "slice");

    run->algo = algo;
    run->segment_bytes = in_segments ? (int64_t)cli_number(c->args, "slice") : 0;
    return add_call(c, library, run, "");
}

/* All that the library has for the operation, in the order of the registry. */
static int add_all_of(struct comparison *c, const struct cli_library *library,
                      struct espi_native_run *run)
{
    int n, found = 0, code = CLI_OK;
    const struct espi_native_algo *all = espi_native_algos(&n);

    for (int i = 0; i < n && code == CLI_OK && !c->request.targets; i++)
        if (strcmp(all[i].library, library->name) == 0 && all[i].op == c->request.op) {
            code = add_asked(c, library->name, &all[i], run);
            found++;
        }
    return found ? code : add_default(c, library, run);
}

static int add_named(struct comparison *c, const struct cli_library *library,
                     const char *name, struct espi_native_run *run)
{
    if (c->request.targets)
        return add_default(c, library, run);
    const struct espi_native_algo *algo =
        espi_native_find(library->name, c->request.op, name);
    return algo ? add_asked(c, library->name, algo, run)
                : cli_no_such_native(library, c->request.op, name);
}

/* LIBRARY[@VERSION][:ALGORITHM], or :all of them. */
static int add_library(struct comparison *c, const char *text, size_t length)
{
    struct cli_library library;
    struct espi_native_run run = {.root = c->request.root,
                                  .size_bytes = c->request.size_bytes};
    const char *colon = memchr(text, ':', length);
    char name[64] = "";
    int code = cli_library_read(text, colon ? (size_t)(colon - text) : length, &library);

    if (code != CLI_OK)
        return code;
    if (colon)
        snprintf(name, sizeof name, "%.*s", (int)(length - 1 - (size_t)(colon - text)),
                 colon + 1);
    run.protocol = cli_library_protocol(&library, c->args);
    if (!colon)
        code = add_default(c, &library, &run);
    else if (strcmp(name, "all") == 0)
        code = add_all_of(c, &library, &run);
    else
        code = add_named(c, &library, name, &run);
    cli_library_done(&library);
    return code;
}

/* Recursive doubling, by which all hosts combine all of a message, is no plan of trees;
 * it is played as the libraries have it. Not where they cannot be played. */
static int add_field(struct comparison *c)
{
    static const char doubling[] = "mpich:recursive_doubling";
    bool asked = cli_has(c->args, "algo") || cli_has(c->args, "native");

    if (c->request.op != ESP_OP_ALLREDUCE || asked || c->p->model == ESP_MODEL_HNOW ||
        c->request.size_bytes < 1 || c->request.size_bytes >= ESPI_NATIVE_BYTES)
        return CLI_OK;
    return add_library(c, doubling, strlen(doubling));
}

int cli_compare_add_libraries(struct comparison *c)
{
    const char *list;
    int code = CLI_OK;

    for (int i = 0; (list = cli_nth(c->args, "native", i)); i++)
        while (*list && code == CLI_OK) {
            size_t length = strcspn(list, ",");
            code = add_library(c, list, length);
            list += length + (list[length] == ',');
        }
    return code == CLI_OK ? add_field(c) : code;
}

/* Of one call: a library does not know of the next. */
void cli_compare_run_native(struct comparison *c, struct compare_entry *e, double share_s)
{
    struct espi_watch watch;

    if (e->status != ESP_OK)
        return;
    espi_watch_begin(&watch, share_s, NULL, NULL);
    e->status = espi_native_makespan(c->p, &e->native, &e->makespan_s, &e->err);
    espi_watch_end(&watch);
    e->judged_s = e->makespan_s; /* there it is in what is simulated */
    if (e->status == ESP_OK && e->makespan_s > 0)
        e->throughput_Bps = c->request.size_bytes / e->makespan_s;
}
