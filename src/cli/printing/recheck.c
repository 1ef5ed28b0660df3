#include "cli/printing/recheck.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/printing/certainty.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "measure/self_check.h"

enum { OFF_SHOWN = 20 }; /* looks: lines */

int cli_recheck_explains(const struct cli_recheck *c)
{
    const struct esp_measurement *m = esp_platform_measurement(c->right);
    const struct esp_measurement *old = esp_platform_measurement(c->found->p);

    return !m || m->rounds < ESPI_CHECK_SETS || espi_measurement_is_disturbed(m) ||
           !espi_measurement_is_bad(m) ||
           (old && old->transfers && m->off_median <= old->off_median + ESPI_SPREAD &&
            m->off_95 <= old->off_95 + ESPI_SURPRISE);
}

int cli_recheck_holds(const struct cli_recheck *c)
{
    return !espi_recheck_count_off(c->found) && cli_recheck_explains(c);
}

static const char *name_resource(const struct esp_platform *p, int resource, char *out,
                                 size_t size)
{
    if (resource < p->n_shared) {
        snprintf(out, size, "%s", espi_shared_name(p, resource));
        return out;
    }
    int link = resource - p->n_shared;
    snprintf(out, size, "%s > %s", espi_node_name(p, p->tail[link]),
             espi_node_name(p, p->head[link]));
    return out;
}

/* ---- for people ---- */

static int print_off(const struct espi_recheck *c)
{
    static const struct cli_column columns[] = {
        {"what", false}, {"in the file", true}, {"now", true}, {"change", true}};
    struct cli_table t;
    char text[640];
    int off = 0;

    cli_table_init(&t, columns, 4);
    for (int i = 0; i < c->n_targets; i++) {
        int r = c->target[i];
        if (!espi_recheck_is_off(c, r) || ++off > OFF_SHOWN)
            continue;
        double was = espi_recheck_was_Bps(c, r), is = c->seen_Bps[r];
        cli_table_add(&t, "%s", name_resource(c->p, r, text, sizeof text));
        cli_table_add(&t, "%s", espi_format_bandwidth(text, sizeof text, was));
        cli_table_add(&t, "%s", espi_format_bandwidth(text, sizeof text, is));
        cli_table_add(&t, "%+.0f%%", 100 * (is / was - 1));
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    if (off > OFF_SHOWN)
        printf("  and %d more ('--json' lists all)\n", off - OFF_SHOWN);
    return bad;
}

static void print_next_step(const struct cli_recheck *c, const char *file)
{
    char text[300];

    if (cli_measurement_warning(text, sizeof text, c->right) &&
        espi_measurement_is_disturbed(esp_platform_measurement(c->right)))
        printf("Warning: %s\n", text);
    if (!cli_recheck_explains(c))
        printf("That does not explain what transfers get together. Either the network "
               "is under load: check again when it is quiet. Or something is shared or "
               "slow that the file does not know of: measure it anew, 'espalier measure "
               "-o %s'.\n",
               file);
    if (c->written)
        printf("Written to %s.\n", espi_quote(text, sizeof text, c->written));
    else if (espi_recheck_count_off(c->found) && cli_recheck_explains(c))
        printf("'espalier measure --update %s' measures these anew.\n", file);
}

int cli_print_recheck(const struct cli_recheck *c)
{
    char file[256], text[300];
    int off = espi_recheck_count_off(c->found);
    int seen = espi_recheck_count_seen(c->found), all = c->found->n_targets;

    espi_quote(file, sizeof file, c->file);
    if (cli_recheck_holds(c))
        printf("%s still describes the network.\n", file);
    else
        printf("%s does not describe the network any more.\n", file);
    printf("%d of %d ports and cables were tried, %d %s off by more than %.0f%%.\n", seen,
           all, off, off == 1 ? "is" : "are", 100 * ESPI_SPREAD);
    if (off) {
        printf("\n");
        if (print_off(c->found))
            return cli_error(CLI_FAILED, "out of memory");
        printf("\n");
    }
    if (*cli_check_text(text, sizeof text, c->right))
        printf("%s, the file %s.\n", off ? "With that put right" : "As it is", text);
    print_next_step(c, file);
    return CLI_OK;
}

/* ---- for programs ---- */

int cli_print_recheck_json(const struct cli_recheck *c)
{
    const struct espi_recheck *f = c->found;
    json_t *json = json_object(), *off = json_array();
    char text[640];

    json_object_set_new(json, "file", json_string(c->file));
    json_object_set_new(json, "holds", json_boolean(cli_recheck_holds(c)));
    json_object_set_new(json, "explained", json_boolean(cli_recheck_explains(c)));
    json_object_set_new(json, "tried", json_integer(espi_recheck_count_seen(f)));
    json_object_set_new(json, "rates", json_integer(f->n_targets));
    for (int i = 0; i < f->n_targets; i++) {
        int r = f->target[i];
        if (!espi_recheck_is_off(f, r))
            continue;
        json_t *one = json_object();
        json_object_set_new(one, "name",
                            json_string(name_resource(f->p, r, text, sizeof text)));
        cli_json_real(one, "was_Bps", espi_recheck_was_Bps(f, r));
        cli_json_real(one, "is_Bps", f->seen_Bps[r]);
        json_array_append_new(off, one);
    }
    json_object_set_new(json, "off", off);
    json_object_set_new(json, "measured", cli_measurement_json(c->right));
    json_object_set_new(json, "output",
                        c->written ? json_string(c->written) : json_null());
    return cli_print_json(json);
}
