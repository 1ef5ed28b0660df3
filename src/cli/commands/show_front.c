/* espalier show --front: the curve of price against time, as a picture, or as a page on
 * which the plan of each point is drawn over the network that it rents. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "cli/commands/priced.h"
#include "cli/printing/output.h"
#include "cli/printing/raster.h"
#include "cli/printing/term.h"
#include "platform/platform.h"
#include "platform/prices.h"
#include "report/chart.h"
#include "report/front.h"

struct drawing {
    const struct cli_question *q;
    const struct espi_priced_task *task;
    struct espi_arena *arena;
    struct espi_front front;
    struct espi_front_corner *corners;
    struct esp_platform **networks; /* of the corners */
    struct esp_plan **plans;
};

/* The plan over the network that it rents. */
static esp_status move_plan(const struct esp_plan *plan, const struct esp_platform *p,
                            const struct esp_platform *to, struct esp_plan **out,
                            struct esp_err *err)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    esp_status st =
        file ? esp_plan_write_stream(plan, p, file, err) : espi_err_nomem(err);

    if (file)
        fclose(file);
    if (!st)
        st = esp_plan_parse(text, length, "the plan", to, out, err);
    free(text);
    return st;
}

static esp_status list_lines(struct drawing *d, const struct espi_priced *is,
                             struct espi_front_corner *c, struct esp_err *err)
{
    const struct esp_platform *p = d->q->p;
    struct espi_front_line *lines =
        ESPI_ARENA_NEW(d->arena, struct espi_front_line, p->n_links + 1);

    if (!lines)
        return espi_err_nomem(err);
    for (int e = 0; e < p->n_links; e++) {
        double GB = is->usage[e] * d->task->size_bytes / ESPI_BYTES_PER_GB;
        if (GB > 0)
            lines[c->n_lines++] = (struct espi_front_line){
                espi_node_name(p, p->tail[e]), espi_node_name(p, p->head[e]), GB,
                GB * cli_priced_usd_per_GB(p, e)};
    }
    c->lines = lines;
    return ESP_OK;
}

static esp_status add_corner(struct drawing *d, const struct espi_priced *is,
                             struct esp_err *err)
{
    int at = d->front.n++;
    struct espi_front_corner *c = &d->corners[at];
    struct esp_plan *plan = NULL;

    *c = (struct espi_front_corner){.time_s = is->time_s,
                                    .usd = is->usd_bytes + is->usd_machines,
                                    .usd_machines = is->usd_machines,
                                    .bound_usd = is->bound,
                                    .relays = cli_priced_relays(d->task, is)};
    for (int v = 0; v < d->q->p->n_nodes; v++)
        c->machines += is->machines[v];
    esp_status st = list_lines(d, is, c, err);
    if (!st)
        st = espi_platform_rented(d->q->p, is->machines, &d->networks[at], err);
    if (!st)
        st =
            cli_priced_make_plan(d->task, is, ESP_OP_MULTICAST, "least-cost", &plan, err);
    if (!st)
        st = move_plan(plan, d->q->p, d->networks[at], &d->plans[at], err);
    esp_plan_free(plan);
    if (!st &&
        espi_network_init(&c->net, d->networks[at], d->plans[at]->root, NULL, d->arena))
        st = espi_err_nomem(err);
    if (st)
        return st;
    c->net.plans = (const struct esp_plan *const *)&d->plans[at];
    c->net.n_plans = 1;
    return ESP_OK;
}

static const char *front_title(struct drawing *d)
{
    char size[32];
    char *title = ESPI_ARENA_NEW(d->arena, char, 256);

    if (!title)
        return "Price against time";
    snprintf(title, 256, "%s from %s to %d regions: price against time",
             espi_format_bytes(size, sizeof size, d->task->size_bytes),
             espi_node_name(d->q->p, d->task->root), d->task->n_targets);
    return title;
}

static int write_front(struct drawing *d, const char *path)
{
    const char *end = strrchr(path, '.');
    struct espi_figure figure;
    char quoted[256];
    int code = CLI_OK;

    if (!end || strcmp(end, ".dot") == 0)
        return cli_error(CLI_BAD_USAGE,
                         "--front: a curve is no graph: ask for FILE.html, "
                         "FILE.svg, FILE.png or FILE.pdf");
    if (espi_front_figure(&d->front, 0, d->arena, &figure))
        return cli_error(CLI_FAILED, "out of memory");
    struct cli_raster raster = {espi_chart_file_write, &figure, strcmp(end, ".pdf") == 0};
    if (strcmp(end, ".html") == 0)
        code = cli_write(path, espi_front_write, &d->front);
    else if (strcmp(end, ".svg") == 0)
        code = cli_write(path, espi_chart_file_write, &figure);
    else
        code = cli_write(path, cli_raster_write, &raster);
    if (code != CLI_OK)
        return code;
    if (cli_has(d->q->args, "json"))
        return cli_print_json(
            json_pack("{s:s, s:i}", "output", path, "plans", d->front.n));
    printf("Written to %s.\n", espi_quote(quoted, sizeof quoted, path));
    return CLI_OK;
}

static int draw_front(struct drawing *d, const struct espi_priced_point *points, int n,
                      const char *path)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};
    esp_status st = ESP_OK;

    d->corners = ESPI_ARENA_ZNEW(d->arena, struct espi_front_corner, n);
    d->networks = ESPI_ARENA_ZNEW(d->arena, struct esp_platform *, n);
    d->plans = ESPI_ARENA_ZNEW(d->arena, struct esp_plan *, n);
    if (!d->corners || !d->networks || !d->plans)
        return cli_error(CLI_FAILED, "out of memory");
    d->front.corners = d->corners;
    d->front.title = front_title(d);
    for (int i = 0; i < n && !st; i++)
        if (!cli_priced_comes_again(points, i, n))
            st = add_corner(d, &points[i].is, &err);
    int code = st ? cli_fail(st, &err) : write_front(d, path);
    for (int i = 0; i < n; i++) {
        esp_plan_free(d->plans[i]);
        esp_platform_free(d->networks[i]);
    }
    return code;
}

int cli_show_price_front(const struct cli_question *q, const char *path)
{
    struct espi_arena arena;
    struct espi_priced_task task;
    struct espi_priced_point *points = NULL;
    struct drawing d = {.q = q, .task = &task, .arena = &arena};
    int n;

    espi_arena_init(&arena);
    int code = cli_priced_front(q, &task, &arena, &points, &n);
    if (code == CLI_OK)
        code = draw_front(&d, points, n, path);
    espi_arena_done(&arena);
    espi_free(points);
    return code;
}
