#include "report/chart.h"

#include <math.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "report/markup.h"
#include "report/network.h"

/* looks: pixels */
enum {
    WIDTH = 720,
    HEIGHT = 400,
    LEFT = 70,
    RIGHT = 16,
    TOP = 14,
    BOTTOM = 46,
    TICKS = 6
};
enum { COLOURS = 8, LEGEND_LINE = 18, LEGEND_COLUMNS = 3 }; /* looks: as above */

const char espi_chart_style[] =
    ".chart{width:100%;max-width:760px;height:auto}"
    ".chart text{fill:var(--ink);font:12px system-ui,sans-serif}"
    ".chart .axis{stroke:var(--soft);stroke-width:1}"
    ".chart .grid{stroke:var(--line);stroke-opacity:.3}"
    ".chart .curve{fill:none;stroke-width:2}"
    ".chart .theirs{stroke-dasharray:6 4;stroke-width:1.6}";

/* ---- scales ---- */

struct scale {
    double low, high; /* of the logarithm where it is one */
    bool log;
    double from, to; /* in the picture */
};

static double place(const struct scale *s, double value)
{
    double v = s->log ? espi_log10(value) : value;

    return s->from + (v - s->low) / (s->high - s->low) * (s->to - s->from);
}

static bool value_fits(const struct scale *s, double value)
{
    return isfinite(value) && (!s->log || value > 0);
}

/* Takes in the values of all series; a linear scale of what is not negative starts at
 * 0. */
static void stretch(struct scale *s, const struct espi_figure *figure, bool is_y)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (int k = 0; k < figure->n_series; k++)
        for (int i = 0; i < figure->series[k].n; i++) {
            double v = is_y ? figure->series[k].y[i] : figure->series[k].x[i];
            if (!value_fits(s, v))
                continue;
            s->low = fmin(s->low, s->log ? espi_log10(v) : v);
            s->high = fmax(s->high, s->log ? espi_log10(v) : v);
        }
    if (!(s->low <= s->high))
        s->low = s->high = 0;
    if (is_y && !s->log && !figure->close_y && s->low > 0)
        s->low = 0;
    if (s->high - s->low < 1e-12)
        s->high = s->low + 1;
    s->high += is_y ? 0.03 * (s->high - s->low) : 0;
}

/* A step of 1, 2 or 5 times a power of ten, so that there are about TICKS. */
static double step_of(const struct scale *s)
{
    double rough = (s->high - s->low) / TICKS, power = espi_power(10, espi_decade(rough));
    double part = rough / power;

    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void write_number(FILE *out, double value)
{
    char text[32];
    double size = fabs(value);

    if (size >= 1e6)
        snprintf(text, sizeof text, "%gM", value / 1e6);
    else if (size >= 1e4)
        snprintf(text, sizeof text, "%gk", value / 1e3);
    else
        snprintf(text, sizeof text, "%.4g", size < 1e-12 ? 0 : value);
    fputs(text, out);
}

static void write_tick(FILE *out, const struct scale *s, double at, bool is_y)
{
    double value = s->log ? espi_power(10, (int)at) : at;
    int p = (int)lround(place(s, value));

    if (is_y)
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                LEFT, WIDTH - RIGHT, p, p, LEFT - 6, p + 4);
    else
        fprintf(out,
                "<line class=\"grid\" y1=\"%d\" y2=\"%d\" x1=\"%d\" x2=\"%d\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                TOP, HEIGHT - BOTTOM, p, p, p, HEIGHT - BOTTOM + 16);
    write_number(out, value);
    fputs("</text>", out);
}

static void write_axis(FILE *out, const struct scale *s, bool is_y)
{
    double step = s->log ? fmax(1, step_of(s)) : step_of(s);
    double first = ceil(s->low / step - 1e-9);
    int n = (int)(floor(s->high / step + 1e-9) - first);

    for (int i = 0; i <= n; i++)
        write_tick(out, s, (first + i) * step, is_y);
}

/* ---- curves ---- */

static void write_curve(FILE *out, const struct espi_chart_series *series, int colour,
                        const struct scale *x, const struct scale *y)
{
    const char *theirs = series->published ? " theirs" : "";
    bool pen_down = false;

    fprintf(out, "<path class=\"curve%s\" style=\"stroke:var(--c%d)\" d=\"", theirs,
            colour);
    for (int i = 0; i < series->n; i++) {
        bool here = value_fits(x, series->x[i]) && value_fits(y, series->y[i]);
        if (here)
            fprintf(out, "%c%ld %ld", pen_down ? 'L' : 'M',
                    lround(place(x, series->x[i])), lround(place(y, series->y[i])));
        pen_down = pen_down || here;
    }
    fputs("\"/>", out);
    for (int i = 0; i < series->n; i++) {
        if (!value_fits(x, series->x[i]) || !value_fits(y, series->y[i]))
            continue;
        if (series->links) {
            fputs("<a href=\"", out);
            espi_markup_text(out, series->links[i]);
            fputs("\">", out);
        }
        fprintf(out,
                "<circle cx=\"%ld\" cy=\"%ld\" r=\"%d\" style=\"stroke:var(--c%d);"
                "fill:var(--%s)\"/>%s",
                lround(place(x, series->x[i])), lround(place(y, series->y[i])),
                series->links ? 6 : 3, colour, series->published ? "paper" : "c8",
                series->links ? "</a>" : "");
    }
}

static void write_legend(FILE *out, const struct espi_figure *figure)
{
    int wide = (WIDTH - LEFT) / LEGEND_COLUMNS;

    for (int k = 0; k < figure->n_series; k++) {
        int x = LEFT + k % LEGEND_COLUMNS * wide;
        int y = HEIGHT + 8 + k / LEGEND_COLUMNS * LEGEND_LINE;
        fprintf(out,
                "<line class=\"curve%s\" style=\"stroke:var(--c%d)\" x1=\"%d\" x2=\"%d\" "
                "y1=\"%d\" y2=\"%d\"/><text x=\"%d\" y=\"%d\">",
                figure->series[k].published ? " theirs" : "", k % COLOURS, x, x + 22,
                y - 4, y - 4, x + 28, y);
        espi_markup_text(out, figure->series[k].name);
        fputs(figure->series[k].published ? " (published)</text>" : "</text>", out);
    }
}

static void write_titles(FILE *out, const struct espi_figure *figure)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    espi_markup_text(out, figure->x_title);
    fprintf(out,
            "</text><text transform=\"translate(14 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + HEIGHT - BOTTOM) / 2);
    espi_markup_text(out, figure->y_title);
    fputs("</text>", out);
}

void espi_chart_write(const struct espi_figure *figure, FILE *out)
{
    struct scale x = {.log = figure->log_x, .from = LEFT + 8, .to = WIDTH - RIGHT - 8};
    struct scale y = {.log = figure->log_y, .from = HEIGHT - BOTTOM, .to = TOP};
    int lines = (figure->n_series + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;

    stretch(&x, figure, false);
    stretch(&y, figure, true);
    fprintf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
            WIDTH, HEIGHT + lines * LEGEND_LINE + 6);
    espi_markup_text(out, figure->title);
    fputs("\">", out);
    write_axis(out, &x, false);
    write_axis(out, &y, true);
    fprintf(out, "<path class=\"axis\" style=\"fill:none\" d=\"M%d %dV%dH%d\"/>", LEFT,
            TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
    for (int k = 0; k < figure->n_series; k++)
        write_curve(out, &figure->series[k], k % COLOURS, &x, &y);
    write_titles(out, figure);
    write_legend(out, figure);
    fputs("</svg>\n", out);
}

static const char file_style[] =
    "svg{background:var(--paper)}.title{fill:var(--ink);font:600 18px "
    "system-ui,sans-serif}";

enum { FILE_HEAD = 44 }; /* looks: above the chart */

esp_status espi_chart_file_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_figure *figure = what;
    int lines = (figure->n_series + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
    int height = HEIGHT + lines * LEGEND_LINE + 6;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\">\n<style>%s%s%s</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--paper)\"/>\n"
            "<text class=\"title\" x=\"20\" y=\"28\">",
            WIDTH, FILE_HEAD + height, WIDTH, FILE_HEAD + height, espi_network_style,
            espi_chart_style, file_style);
    espi_markup_text(out, figure->title);
    fprintf(out, "</text>\n<svg y=\"%d\" width=\"%d\" height=\"%d\">\n", FILE_HEAD, WIDTH,
            height);
    espi_chart_write(figure, out);
    fputs("</svg></svg>\n", out);
    return ferror(out) ? espi_err(err, ESP_EIO, "cannot write the picture") : ESP_OK;
}

/* ---- the numbers ---- */

static void write_row(FILE *out, const struct espi_chart_series *series,
                      const struct espi_chart_series *first)
{
    fputs("<tr><th scope=\"row\">", out);
    espi_markup_text(out, series->name);
    fputs(series->published ? " (published)</th>" : "</th>", out);
    for (int i = 0; i < first->n; i++) {
        int at = -1;
        for (int k = 0; k < series->n; k++)
            if (series->x[k] == first->x[i] && isfinite(series->y[k]))
                at = k;
        if (at >= 0)
            fprintf(out, "<td>%.4g</td>", series->y[at]);
        else
            fputs("<td></td>", out);
    }
    fputs("</tr>\n", out);
}

void espi_chart_table(const struct espi_figure *figure, FILE *out)
{
    const struct espi_chart_series *first = &figure->series[0];

    if (figure->n_series == 0)
        return;
    for (int k = 1; k < figure->n_series; k++)
        if (figure->series[k].n > first->n)
            first = &figure->series[k];
    fputs("<div class=\"scroll\"><table><tr><th scope=\"col\">", out);
    espi_markup_text(out, figure->x_title);
    fputs("</th>", out);
    for (int i = 0; i < first->n; i++) {
        fputs("<th scope=\"col\">", out);
        write_number(out, first->x[i]);
        fputs("</th>", out);
    }
    fputs("</tr>\n", out);
    for (int k = 0; k < figure->n_series; k++)
        write_row(out, &figure->series[k], first);
    fputs("</table></div>\n", out);
}
