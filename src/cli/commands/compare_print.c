/* espalier compare: its tables. */
#include <string.h>

#include "base/units.h"
#include "cli/commands/compare.h"
#include "cli/options/plans.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "select/slices.h"

static bool has_ratio(const struct comparison *c, const struct compare_entry *e)
{
    return c->bound_Bps > 0 && e->throughput_Bps > 0;
}

static const char *family_of(const struct compare_entry *e)
{
    return e->algo ? e->algo->family : "native";
}

/* ---- for programs ---- */

static int print_ranking_json(const struct comparison *c)
{
    json_t *all = json_array();

    for (size_t i = 0; i < c->n; i++) {
        const struct compare_entry *e = &c->entries[i];
        if (e->status != ESP_OK)
            continue;
        json_t *json = json_object();
        json_object_set_new(json, "algo", json_string(e->text));
        json_object_set_new(json, "family", json_string(family_of(e)));
        json_object_set_new(json, "trees", json_integer(e->n_trees));
        cli_json_real(json, "throughput_Bps", e->throughput_Bps);
        cli_json_real(json, "makespan_s", e->makespan_s);
        cli_json_real(json, "with_messages_s", e->judged_s);
        json_object_set_new(json, "ratio",
                            has_ratio(c, e) ? json_real(e->throughput_Bps / c->bound_Bps)
                                            : json_null());
        json_object_set_new(json, "makespan_ratio",
                            c->makespan_bound_s > 0
                                ? json_real(e->makespan_s / c->makespan_bound_s)
                                : json_null());
        cli_json_real(json, "plan_s", e->plan_s);
        json_array_append_new(all, json);
    }
    return cli_print_json(all);
}

/* A name with its options may hold commas. */
static int print_ranking_csv(const struct comparison *c)
{
    printf("algo,family,trees,throughput_Bps,makespan_s,ratio,makespan_ratio,plan_s\n");
    for (size_t i = 0; i < c->n; i++) {
        const struct compare_entry *e = &c->entries[i];
        if (e->status != ESP_OK)
            continue;
        printf("\"%s\",%s,%d,%.9g,%.9g,", e->text, family_of(e), e->n_trees,
               e->throughput_Bps, e->makespan_s);
        if (has_ratio(c, e))
            printf("%.9g", e->throughput_Bps / c->bound_Bps);
        printf(",");
        if (c->makespan_bound_s > 0)
            printf("%.9g", e->makespan_s / c->makespan_bound_s);
        printf(",%.9g\n", e->plan_s);
    }
    return cli_flush_stdout();
}

/* ---- for people ---- */

static void add_row(struct cli_table *t, const struct comparison *c,
                    const struct compare_entry *e)
{
    char text[32];

    cli_table_add(t, "%s", e->text);
    cli_table_add(t, "%s", family_of(e));
    if (e->algo)
        cli_table_add(t, "%d", e->n_trees);
    else
        cli_table_add(t, "-");
    cli_table_add(t, "%s",
                  e->throughput_Bps > 0
                      ? espi_format_bandwidth(text, sizeof text, e->throughput_Bps)
                      : "-");
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, e->makespan_s));
    if (c->makespan_bound_s > 0)
        cli_table_add(t, "%.2f", e->makespan_s / c->makespan_bound_s);
    else
        cli_table_add(t, "-");
    if (has_ratio(c, e))
        cli_table_add(t, "%.3f", e->throughput_Bps / c->bound_Bps);
    else
        cli_table_add(t, "-");
    cli_table_add(t, "%s", espi_format_time(text, sizeof text, e->plan_s));
}

static int print_table(const struct comparison *c)
{
    static const struct cli_column columns[] = {
        {"algorithm", false}, {"family", false}, {"trees", true},    {"throughput", true},
        {"completion", true}, {"of best", true}, {"of bound", true}, {"planning", true}};
    struct cli_table t;

    cli_table_init(&t, columns, 8);
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].status == ESP_OK)
            add_row(&t, c, &c->entries[i]);
    if (t.n_cells)
        printf("\n");
    int bad = t.failed || t.n_cells ? cli_table_print(&t, stdout, 2) : 0;
    cli_table_done(&t);
    return bad;
}

static void print_heading(const struct comparison *c)
{
    struct espi_slices slices =
        espi_slices(c->request.size_bytes, c->request.slice_bytes);
    char ends[160], size[32], text[32];

    cli_ends_text(ends, sizeof ends, c->p, c->request.op, c->request.root,
                  c->request.n_targets);
    espi_format_bytes(size, sizeof size, c->request.size_bytes);
    printf("%s%s of %s %s", cli_bold(stdout), esp_op_name(c->request.op), size, ends);
    if (slices.count > 1)
        printf(" in slices of %s", espi_format_bytes(text, sizeof text, slices.bytes));
    else
        printf(" in one piece");
    printf("%s\n", cli_plain(stdout));
}

/* Where one row is before another that has a shorter makespan. */
static void explain_order(const struct comparison *c)
{
    bool in_order = strcmp(cli_text(c->args, "sort"), "makespan") != 0;
    char text[32];

    for (size_t i = 1; i < c->n && c->entries[i].status == ESP_OK; i++)
        if (!in_order && c->entries[i].makespan_s < c->entries[i - 1].makespan_s) {
            if (c->p->model == ESP_MODEL_HNOW)
                printf("\nRows are in the order of simulated completion times.\n");
            else
                printf("\nRows are in the order of completion times with %s for each "
                       "message "
                       "that a host gets.\n",
                       espi_format_time(text, sizeof text, espi_message_s(c->p)));
            return;
        }
}

static int print_text(const struct comparison *c)
{
    const char *title = "\nThese could not be used:\n";
    char bound[32];

    print_heading(c);
    if (print_table(c))
        return cli_error(CLI_FAILED, "out of memory");
    explain_order(c);
    if (c->bound_Bps > 0)
        printf("\nNo plan has more than %s in the long run.\n",
               espi_format_bandwidth(bound, sizeof bound, c->bound_Bps));
    if (c->makespan_bound_s > 0)
        printf("%sNo plan ends before %s, in whatever slices.\n",
               c->bound_Bps > 0 ? "" : "\n",
               espi_format_time(bound, sizeof bound, c->makespan_bound_s));
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].status != ESP_OK) {
            printf("%s  ", title);
            cli_wrap(stdout, c->entries[i].err.text, 2, 4, cli_term_width());
            title = "";
        }
    return CLI_OK;
}

int cli_compare_print(const struct comparison *c)
{
    return cli_has(c->args, "json")  ? print_ranking_json(c)
           : cli_has(c->args, "csv") ? print_ranking_csv(c)
                                     : print_text(c);
}
