/* espalier compare --front: what an hour less costs. From the fastest plan to the
 * cheapest, deadlines between, and the cheapest plan within each. */
#include "base/alloc.h"
#include "base/units.h"
#include "cli/commands/priced.h"
#include "cli/printing/output.h"
#include "cli/printing/term.h"
#include "platform/platform.h"
#include "solve/priced/front.h"

static double point_usd(const struct espi_priced_point *point)
{
    return point->is.usd_bytes + point->is.usd_machines;
}

/* Plans that come again with a later deadline stand once. */
int cli_priced_comes_again(const struct espi_priced_point *front, int i, int n)
{
    return i + 1 < n && front[i + 1].is.time_s == front[i].is.time_s &&
           point_usd(&front[i + 1]) == point_usd(&front[i]);
}

static int print_front(const struct espi_priced_task *task,
                       const struct espi_priced_point *front, int n)
{
    static const struct cli_column columns[] = {
        {"time", true},    {"USD", true},  {"for bytes", true}, {"machines", true},
        {"at best", true}, {"more", true}, {"trees", true},     {"relays", true}};
    struct cli_table t;
    char time[32];

    cli_table_init(&t, columns, 8);
    for (int i = 0; i < n; i++) {
        const struct espi_priced *is = &front[i].is;
        if (cli_priced_comes_again(front, i, n))
            continue;
        cli_table_add(&t, "%s", espi_format_time(time, sizeof time, is->time_s));
        cli_table_add(&t, "%.4f", point_usd(&front[i]));
        cli_table_add(&t, "%.4f", is->usd_bytes);
        cli_table_add(&t, "%.4f", is->usd_machines);
        cli_table_add(&t, "%.4f", front[i].is.bound);
        cli_table_add(&t, "%.3f%%",
                      front[i].is.bound > 0
                          ? 100 * (point_usd(&front[i]) / front[i].is.bound - 1)
                          : 0);
        cli_table_add(&t, "%d", is->n_trees);
        cli_table_add(&t, "%d", cli_priced_relays(task, is));
    }
    int bad = cli_table_print(&t, stdout, 2);
    cli_table_done(&t);
    printf("\nNo plan takes less than %s.\nThe plan of a line: espalier plan ... "
           "--minimize cost --deadline TIME\nAs a picture, with all plans: espalier show "
           "... "
           "--front -o front.html\n",
           espi_format_time(time, sizeof time, front[0].is.fastest_s));
    return bad ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

static int print_front_json(const struct espi_priced_task *task,
                            const struct espi_priced_point *front, int n)
{
    json_t *all = json_array();

    for (int i = 0; i < n; i++) {
        const struct espi_priced *is = &front[i].is;
        json_t *point = json_object();
        if (cli_priced_comes_again(front, i, n)) {
            json_decref(point);
            continue;
        }
        cli_json_real(point, "deadline_s", front[i].deadline_s);
        cli_json_real(point, "time_s", is->time_s);
        cli_json_real(point, "usd", point_usd(&front[i]));
        cli_json_real(point, "usd_bytes", is->usd_bytes);
        cli_json_real(point, "usd_machines", is->usd_machines);
        cli_json_real(point, "bound_usd", front[i].is.bound);
        cli_json_real(point, "fastest_s", is->fastest_s);
        json_object_set_new(point, "trees", json_integer(is->n_trees));
        json_object_set_new(point, "relays", json_integer(cli_priced_relays(task, is)));
        json_array_append_new(all, point);
    }
    return cli_print_json(all);
}

int cli_priced_front(const struct cli_question *q, struct espi_priced_task *task,
                     struct espi_arena *arena, struct espi_priced_point **out, int *n)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    int code = cli_priced_task(q, task);

    *n = (int)cli_int(q->args, "points");
    if (code != CLI_OK)
        return code;
    if (!esp_platform_has_prices(q->p))
        return cli_error(CLI_BAD_INPUT,
                         "--front: the platform has no prices: give its links "
                         "usd_per_GB, or its nodes usd_per_hour (docs/formats.md)");
    struct espi_priced_point *front = espi_calloc((size_t)*n, sizeof *front);
    if (!front)
        return cli_error(CLI_FAILED, "out of memory");
    cli_progress_start(*n, "planning");
    esp_status status =
        espi_priced_front(task, *n, arena, front, cli_progress_update, &err);
    cli_progress_end();
    if (status) {
        espi_free(front);
        return cli_fail(status, &err);
    }
    *out = front;
    return CLI_OK;
}

int cli_price_front(struct cli_question *q)
{
    struct espi_arena arena;
    struct espi_priced_task task;
    struct espi_priced_point *front = NULL;
    int n;

    espi_arena_init(&arena);
    int code = cli_priced_front(q, &task, &arena, &front, &n);
    if (code == CLI_OK && front)
        code = cli_has(q->args, "json") ? print_front_json(&task, front, n)
                                        : print_front(&task, front, n);
    espi_arena_done(&arena);
    espi_free(front);
    return code;
}
