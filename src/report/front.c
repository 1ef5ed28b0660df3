#include "report/front.h"

#include <math.h>

#include "base/err.h"
#include "base/units.h"
#include "report/chart.h"
#include "report/markup.h"

enum { LINK_LENGTH = 24 };        /* rounding: of "#plan-" and a number */
#define SECONDS_A_MINUTE    60.0  /* derived */
#define SECONDS_SHOWN_UP_TO 300.0 /* looks: longer times are shown in minutes */

static const char style[] =
    "body{margin:0 auto;max-width:900px;padding:16px;background:var(--paper);"
    "color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "section{border-top:1px solid var(--line);margin-top:32px}"
    "section:target h2{color:var(--c0)}svg{max-width:100%;height:auto}"
    "section svg{display:block;margin:16px auto;overflow:visible}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px}"
    "th,td{text-align:right;padding:2px 8px;border-bottom:1px solid var(--line);"
    "font-variant-numeric:tabular-nums}th:first-child,td.text{text-align:left}";

/* ---- the curve ---- */

static const char **make_links(int n, struct espi_arena *arena)
{
    const char **links = ESPI_ARENA_NEW(arena, const char *, n + 1);
    char *text = ESPI_ARENA_NEW(arena, char, (n + 1) * LINK_LENGTH);

    for (int i = 0; links && text && i < n; i++) {
        snprintf(text + (ptrdiff_t)i * LINK_LENGTH, LINK_LENGTH, "#plan-%d", i + 1);
        links[i] = text + (ptrdiff_t)i * LINK_LENGTH;
    }
    return text ? links : NULL;
}

int espi_front_figure(const struct espi_front *front, int linked,
                      struct espi_arena *arena, struct espi_figure *out)
{
    int n = front->n, long_times = front->corners[n - 1].time_s > SECONDS_SHOWN_UP_TO;
    double *x = ESPI_ARENA_NEW(arena, double, n + 1);
    double *usd = ESPI_ARENA_NEW(arena, double, n + 1);
    double *least = ESPI_ARENA_NEW(arena, double, n + 1);
    const char **links = linked ? make_links(n, arena) : NULL;

    if (!x || !usd || !least || (linked && !links))
        return -1;
    for (int i = 0; i < n; i++) {
        x[i] = front->corners[i].time_s / (long_times ? SECONDS_A_MINUTE : 1);
        usd[i] = front->corners[i].usd;
        least[i] = front->corners[i].bound_usd;
    }
    *out = (struct espi_figure){.name = "front",
                                .title = front->title,
                                .x_title = long_times ? "minutes" : "seconds",
                                .y_title = "USD",
                                .close_y = 1,
                                .n_series = 2};
    out->series[0] = (struct espi_chart_series){
        .name = "no plan costs less", .n = n, .x = x, .y = least};
    out->series[1] = (struct espi_chart_series){
        .name = "the cheapest plan found", .n = n, .x = x, .y = usd, .links = links};
    return 0;
}

/* ---- the page ---- */

static void write_contents(const struct espi_front *front, FILE *out)
{
    char time[32];

    fputs("<div class=\"scroll\"><table><tr><th scope=\"col\">time</th><th "
          "scope=\"col\">USD</th><th scope=\"col\">for machines</th><th "
          "scope=\"col\">at best</th><th scope=\"col\">machines</th><th "
          "scope=\"col\">relays</th></tr>\n",
          out);
    for (int i = 0; i < front->n; i++) {
        const struct espi_front_corner *c = &front->corners[i];
        fprintf(out,
                "<tr><th scope=\"row\"><a href=\"#plan-%d\">%s</a></th><td>%.4f</td>"
                "<td>%.4f</td><td>%.4f</td><td>%d</td><td>%d</td></tr>\n",
                i + 1, espi_format_time(time, sizeof time, c->time_s), c->usd,
                c->usd_machines, c->bound_usd, c->machines, c->relays);
    }
    fputs("</table></div>\n", out);
}

static void write_network(const struct espi_network *net, FILE *out)
{
    int width = (int)ceil(net->layout.width * ESPI_NETWORK_SCALE);
    int height = (int)ceil(net->layout.height * ESPI_NETWORK_SCALE);

    fprintf(out,
            "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"The "
            "plan\">\n",
            width, height, width);
    espi_network_write(net, out);
    fputs("</svg>\n", out);
}

static void write_bill(const struct espi_front_corner *c, FILE *out)
{
    fputs("<details><summary>The bill</summary><div class=\"scroll\"><table><tr><th "
          "scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\">GB</th><th "
          "scope=\"col\">USD</th></tr>\n",
          out);
    for (int i = 0; i < c->n_lines; i++) {
        fputs("<tr><td class=\"text\">", out);
        espi_markup_text(out, c->lines[i].from);
        fputs("</td><td class=\"text\">", out);
        espi_markup_text(out, c->lines[i].to);
        fprintf(out, "</td><td>%.6g</td><td>%.4f</td></tr>\n", c->lines[i].GB,
                c->lines[i].usd);
    }
    fputs("</table></div></details>\n", out);
}

static void write_corner(const struct espi_front_corner *c, int number, FILE *out)
{
    char time[32];

    fprintf(out,
            "<section id=\"plan-%d\"><h2>%s for %.4f USD</h2><p>%d %s along which it "
            "travels; %d machines, %d regions that only relay. <a href=\"#front\">The "
            "curve</a></p>\n",
            number, espi_format_time(time, sizeof time, c->time_s), c->usd,
            c->net.plans[0]->n_trees, c->net.plans[0]->n_trees == 1 ? "tree" : "trees",
            c->machines, c->relays);
    write_network(&c->net, out);
    write_bill(c, out);
    fputs("</section>\n", out);
}

esp_status espi_front_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_front *front = what;
    struct espi_arena arena;
    struct espi_figure figure;

    espi_arena_init(&arena);
    if (espi_front_figure(front, 1, &arena, &figure)) {
        espi_arena_done(&arena);
        return espi_err_nomem(err);
    }
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
          "<meta name=\"color-scheme\" content=\"light dark\">"
          "<link rel=\"icon\" href=\"data:,\"><title>",
          out);
    espi_markup_text(out, front->title);
    fprintf(out, "</title><style>%s%s%s</style></head><body><main>\n<h1 id=\"front\">",
            espi_network_style, espi_chart_style, style);
    espi_markup_text(out, front->title);
    fputs("</h1>\n<p>What time costs: each point leads to its plan.</p>\n", out);
    espi_chart_write(&figure, out);
    write_contents(front, out);
    for (int i = 0; i < front->n; i++)
        write_corner(&front->corners[i], i + 1, out);
    fputs("</main></body></html>\n", out);
    espi_arena_done(&arena);
    return ferror(out) ? espi_err(err, ESP_EIO, "cannot write the page") : ESP_OK;
}
