#include "report/picture.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "report/markup.h"
#include "report/overview.h"

enum { LINE = 24, HEAD = 70, TREES_MAX = 9, WIDTH_MIN = 900 }; /* looks: pixels */
enum { TITLE_LETTER = 11 };                                    /* looks: pixels */
enum { WIDTH_USUAL = 1200 }; /* looks: pixels; letters of wider pictures are larger */

const char *espi_plan_caption(const struct esp_plan *plan, char *out, size_t out_size)
{
    char rate[32], bound[32];
    int length = snprintf(out, out_size, "%s: %s", plan->algo,
                          espi_format_bandwidth(rate, sizeof rate, plan->throughput_Bps));

    if (plan->bound_Bps > 0 && length > 0 && (size_t)length < out_size)
        snprintf(out + length, out_size - (size_t)length, " of at most %s (%.1f%%)",
                 espi_format_bandwidth(bound, sizeof bound, plan->bound_Bps),
                 100 * plan->throughput_Bps / plan->bound_Bps);
    return out;
}

/* The first so many letters, with an ellipsis where there are more. */
static void cut_title(char *out, size_t out_size, const char *text, int letters)
{
    const char *at = text;
    uint32_t letter;
    size_t n = 0;

    for (int i = 0; *at && i < letters; i++) {
        size_t step = espi_utf8(at, strlen(at), &letter);
        at += step ? step : 1;
    }
    n = (size_t)(at - text);
    snprintf(out, out_size, "%.*s%s", (int)(n < out_size - 4 ? n : out_size - 4), text,
             *at ? "\xe2\x80\xa6" : "");
}

static int shown_trees(const struct esp_plan *plan)
{
    return plan->n_trees < TREES_MAX ? plan->n_trees : TREES_MAX;
}

static int legend_lines(const struct espi_picture *picture)
{
    const struct espi_network *net = &picture->net;

    if (espi_overview_suits(net))
        return 2 + (net->bound != NULL);
    int lines = 2 + (net->n_drawn < net->n_pairs) + (net->bound != NULL);

    return net->n_plans
               ? lines + 1 + (net->plans[0]->targets != NULL) + shown_trees(net->plans[0])
               : lines;
}

static void put_line(FILE *out, int x, int y, const char *text)
{
    fprintf(out, "<text class=\"legend\" x=\"%d\" y=\"%d\">", x, y);
    espi_markup_text(out, text);
    fputs("</text>\n", out);
}

/* ---- the legend ---- */

static int write_speeds(const struct espi_network *net, int y, FILE *out)
{
    char from[32], to[32], text[96];

    if (net->p->n_links == 0)
        return y;
    fprintf(out, "<line class=\"link s0\" x1=\"20\" y1=\"%d\" x2=\"60\" y2=\"%d\"/>",
            y - 5, y - 5);
    fprintf(out, "<line class=\"link s4\" x1=\"64\" y1=\"%d\" x2=\"104\" y2=\"%d\"/>",
            y - 5, y - 5);
    snprintf(text, sizeof text, "links from %s to %s",
             espi_format_bandwidth(from, sizeof from, net->slowest_Bps),
             espi_format_bandwidth(to, sizeof to, net->fastest_Bps));
    put_line(out, 116, y, text);
    if (net->n_drawn < net->n_pairs) {
        y += LINE;
        snprintf(text, sizeof text, "%d of %d joined pairs of nodes are drawn",
                 net->n_drawn, net->n_pairs);
        put_line(out, 116, y, text);
    }
    return y + LINE;
}

/* cut: it is drawn, too. */
static int write_bound(const struct espi_network *net, bool cut, int y, FILE *out)
{
    char rate[32], text[400];

    if (!net->bound)
        return y;
    if (cut)
        fprintf(out, "<line class=\"cross\" x1=\"20\" y1=\"%d\" x2=\"104\" y2=\"%d\"/>",
                y - 5, y - 5);
    int length =
        snprintf(text, sizeof text, "no plan exceeds %s",
                 espi_format_bandwidth(rate, sizeof rate, net->bound->throughput_Bps));
    if (net->bound->n_bottlenecks > 0)
        snprintf(text + length, sizeof text - (size_t)length, ": the %sbottleneck is %s",
                 net->bound->n_bottlenecks > 1 ? "main " : "",
                 net->bound->bottlenecks[0]->text);
    put_line(out, cut ? 116 : 20, y, text);
    return y + LINE;
}

static void write_overview_legend(const struct espi_network *net, int y, FILE *out)
{
    char text[200];

    put_line(
        out, 20, y,
        "each circle is a site, with its number of hosts; the width of an arrow shows "
        "what it carries");
    y = write_bound(net, false, y + LINE, out);
    put_line(out, 20, y, espi_plan_caption(net->plans[0], text, sizeof text));
}

static void write_tree_line(const struct esp_plan *plan, int t, int y, FILE *out)
{
    char text[96];
    bool rest = t == TREES_MAX - 1 && plan->n_trees > TREES_MAX;
    double weight = 0;

    for (int k = t; k < (rest ? plan->n_trees : t + 1); k++)
        weight += plan->trees[k].weight;
    fprintf(out, "<line class=\"edge t%d\" x1=\"20\" y1=\"%d\" x2=\"104\" y2=\"%d\"/>", t,
            y - 5, y - 5);
    if (rest)
        snprintf(text, sizeof text, "%d more trees: %.1f%% of the message",
                 plan->n_trees - t, 100 * weight);
    else
        snprintf(text, sizeof text, "tree %d: %.1f%% of the message", t + 1,
                 100 * weight);
    put_line(out, 116, y, text);
}

static void write_legend(const struct espi_picture *picture, int y, FILE *out)
{
    const struct espi_network *net = &picture->net;
    char text[200];

    if (espi_overview_suits(net)) {
        write_overview_legend(net, y, out);
        return;
    }
    y = write_speeds(net, y, out);
    y = write_bound(net, true, y, out);
    if (net->n_plans == 0)
        return;
    put_line(out, 20, y, espi_plan_caption(net->plans[0], text, sizeof text));
    if (net->plans[0]->targets) {
        fprintf(out,
                "<g class=\"node\"><circle r=\"9\" cx=\"40\" cy=\"%d\"/></g>"
                "<g class=\"node relay\"><circle r=\"6\" cx=\"84\" cy=\"%d\"/></g>",
                y + LINE - 5, y + LINE - 5);
        put_line(out, 116, y += LINE, "targets, and hosts that are none");
    }
    for (int t = 0; t < shown_trees(net->plans[0]); t++)
        write_tree_line(net->plans[0], t, y += LINE, out);
}

/* ---- the file ---- */

static const char *const frame_style =
    "svg{background:var(--paper)}"
    ".title{fill:var(--ink);font:600 18px system-ui,sans-serif}"
    ".legend{fill:var(--ink);font:16px system-ui,sans-serif}";

/* Begins a group that is larger by so many hundredths; whole numbers are the same in
 * every locale. */
static void put_scaled(FILE *out, int y, int hundredths)
{
    fprintf(out, "<g transform=\"translate(0 %d) scale(%d.%02d)\">\n", y,
            hundredths / 100, hundredths % 100);
}

static void write_title(const char *text, double width, int hundredths, FILE *out)
{
    char title[512];

    cut_title(title, sizeof title, text, (int)(width - 40) / TITLE_LETTER);
    put_scaled(out, 0, hundredths);
    fputs("<text class=\"title\" x=\"20\" y=\"42\">", out);
    espi_markup_text(out, title);
    fputs("</text></g>\n", out);
}

esp_status espi_picture_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_picture *picture = what;
    const struct espi_picture_layout *l = &picture->net.layout;
    int width = (int)ceil(l->width * ESPI_NETWORK_SCALE);
    int inner = (int)ceil(l->height * ESPI_NETWORK_SCALE);
    int total = width < WIDTH_MIN ? WIDTH_MIN : width;
    double scale = fmax(1, (double)total / WIDTH_USUAL);
    int head = (int)lround(HEAD * scale);
    int foot = (int)lround((LINE * legend_lines(picture) + 20) * scale);
    int height = head + inner + foot;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title\">\n",
            total, height, total, height);
    fputs("<title id=\"title\">", out);
    espi_markup_text(out, picture->title);
    fprintf(out, "</title>\n<style>%s%s</style>\n", espi_network_style, frame_style);
    fputs("<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n", out);
    write_title(picture->title, total / scale, (int)lround(100 * scale), out);
    fprintf(out, "<g transform=\"translate(%d %d)\">\n", (total - width) / 2, head);
    if (!espi_overview_suits(&picture->net))
        espi_network_write(&picture->net, out);
    else if (espi_overview_write(&picture->net, out))
        return espi_err_nomem(err);
    fputs("</g>\n", out);
    put_scaled(out, head + inner, (int)lround(100 * scale));
    write_legend(picture, LINE, out);
    fputs("</g>\n</svg>\n", out);
    if (ferror(out))
        return espi_err(err, ESP_EIO, "cannot write the picture");
    return ESP_OK;
}
