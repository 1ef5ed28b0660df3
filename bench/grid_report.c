/* Results of bench/grid as tables, as JSON and as a picture.
 *
 * usage: grid_report RESULTS GRID.json GRID.svg
 * RESULTS has a JSON object a line: what bench/mpi/grid.c prints, with the order of
 * ranks; bounds (label "bound"); and what was computed or simulated (kind, s). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define LABELS_MAX 40
#define SIZES_MAX  40

static json_t *results;

static const char *const orders[] = {"packed", "shuffled"};

/* ---- looking up ---- */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

/* The last such line counts: a contestant may have been run again. */
static const json_t *find(const char *order, const char *label, const char *kind,
                          double bytes)
{
    for (size_t i = json_array_size(results); i-- > 0;) {
        const json_t *row = json_array_get(results, i);
        if (strcmp(text_of(row, "order"), order) == 0 &&
            strcmp(text_of(row, "label"), label) == 0 &&
            strcmp(text_of(row, "kind"), kind) == 0 &&
            json_number_value(json_object_get(row, "bytes")) == bytes)
            return row;
    }
    return NULL;
}

/* Seconds, or NAN. */
static double seconds(const char *order, const char *label, const char *kind,
                      double bytes)
{
    const json_t *row = find(order, label, kind, bytes);

    return row ? json_number_value(json_object_get(row, *kind ? "s" : "median_s")) : NAN;
}

static int is_native(const char *label)
{
    return strncmp(label, "openmpi", 7) == 0 || strcmp(label, "mpich") == 0;
}

/* ---- what there is ---- */

struct scope {
    const char *labels[LABELS_MAX];
    int n_labels;
    double sizes[SIZES_MAX];
    int n_sizes;
};

static int compare_sizes(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void look_round(struct scope *s)
{
    size_t i;
    json_t *row;

    json_array_foreach(results, i, row)
    {
        const char *label = text_of(row, "label");
        double bytes = json_number_value(json_object_get(row, "bytes"));
        int l = 0, k = 0;
        if (*text_of(row, "kind"))
            continue;
        while (l < s->n_labels && strcmp(s->labels[l], label) != 0)
            l++;
        if (l == s->n_labels && l < LABELS_MAX)
            s->labels[s->n_labels++] = label;
        while (k < s->n_sizes && s->sizes[k] != bytes)
            k++;
        if (k == s->n_sizes && k < SIZES_MAX)
            s->sizes[s->n_sizes++] = bytes;
    }
    qsort(s->sizes, (size_t)s->n_sizes, sizeof *s->sizes, compare_sizes);
}

static const char *size_text(double bytes, char out[24])
{
    if (bytes >= 1 << 20)
        snprintf(out, 24, "%g MB", bytes / (1 << 20));
    else
        snprintf(out, 24, "%g KB", bytes / 1024);
    return out;
}

/* ---- tables ---- */

static void print_times(const struct scope *s, const char *order)
{
    char text[24];

    printf("\nSeconds of a broadcast, ranks %s\n%-18s", order, "");
    for (int k = 0; k < s->n_sizes; k++)
        printf(" %8s", size_text(s->sizes[k], text));
    printf("  busy\n");
    for (int l = 0; l < s->n_labels; l++) {
        double busy = NAN;
        int any = 0;
        for (int k = 0; k < s->n_sizes; k++)
            any |= find(order, s->labels[l], "", s->sizes[k]) != NULL;
        if (!any)
            continue;
        printf("%-18s", s->labels[l]);
        for (int k = 0; k < s->n_sizes; k++) {
            double t = seconds(order, s->labels[l], "", s->sizes[k]);
            const json_t *row = find(order, s->labels[l], "", s->sizes[k]);
            if (row && json_object_get(row, "busy"))
                busy = json_number_value(json_object_get(row, "busy"));
            if (isnan(t))
                printf(" %8s", "-");
            else
                printf(" %8.*f", t < 10 ? 3 : 1, t);
        }
        if (isnan(busy))
            printf("  -\n");
        else
            printf("  %.2f\n", busy); /* processors, with the largest message */
    }
}

static double best_native(const struct scope *s, const char *order, double bytes)
{
    double best = INFINITY;

    for (int l = 0; l < s->n_labels; l++)
        if (is_native(s->labels[l]))
            best = fmin(best, seconds(order, s->labels[l], "", bytes));
    return isfinite(best) ? best : NAN;
}

static void print_ratio(double value)
{
    if (isfinite(value))
        printf(" %10.3f", value);
    else
        printf(" %10s", "-");
}

/* What the promises are about. */
static void print_ratios(const struct scope *s, const char *order)
{
    char text[24];

    printf("\nRatios, ranks %s\n%-9s %10s %10s %10s\n", order, "", "auto /", "auto /",
           "tree /");
    printf("%-9s %10s %10s %10s\n", "", "native", "bound", "computed");
    for (int k = 0; k < s->n_sizes; k++) {
        double bytes = s->sizes[k], ours = seconds(order, "auto", "", bytes);
        printf("%-9s", size_text(bytes, text));
        print_ratio(ours / best_native(s, order, bytes));
        print_ratio(ours / seconds(order, "bound", "", bytes));
        print_ratio(seconds(order, "tree", "", bytes) /
                    seconds(order, "tree", "computed", bytes));
        printf("\n");
    }
}

/* Measured times as parts of what the simulator says of the same plans. */
static void print_simulated(const struct scope *s, const char *order)
{
    char text[24];

    printf("\nMeasured / simulated, ranks %s\n%-18s", order, "");
    for (int k = 0; k < s->n_sizes; k++)
        printf(" %10s", size_text(s->sizes[k], text));
    printf("\n");
    for (int l = 0; l < s->n_labels; l++) {
        int any = 0;
        for (int k = 0; k < s->n_sizes; k++)
            any |= find(order, s->labels[l], "simulated", s->sizes[k]) != NULL;
        if (!any)
            continue;
        printf("%-18s", s->labels[l]);
        for (int k = 0; k < s->n_sizes; k++)
            print_ratio(seconds(order, s->labels[l], "", s->sizes[k]) /
                        seconds(order, s->labels[l], "simulated", s->sizes[k]));
        printf("\n");
    }
}

/* ---- picture ---- */

#define PANEL_WIDTH  460
#define PANEL_HEIGHT 420
#define MARGIN       60

struct axes {
    double left, log_min_x, log_max_x, log_min_y, log_max_y;
};

static double at_x(const struct axes *a, double bytes)
{
    return a->left + MARGIN +
           (PANEL_WIDTH - MARGIN - 20) * (log10(bytes) - a->log_min_x) /
               fmax(a->log_max_x - a->log_min_x, 1e-9);
}

static double at_y(const struct axes *a, double t)
{
    return PANEL_HEIGHT - MARGIN -
           (PANEL_HEIGHT - MARGIN - 40) * (log10(t) - a->log_min_y) /
               fmax(a->log_max_y - a->log_min_y, 1e-9);
}

static const char *colour(int l)
{
    static const char *const colours[] = {"#1b6ca8", "#c0392b", "#27864a", "#8e44ad",
                                          "#b9770e", "#117a65", "#7f8c8d", "#d35400",
                                          "#2c3e50", "#a93226"};
    return colours[l % 10];
}

static void draw_line(FILE *out, const struct scope *s, const struct axes *a,
                      const char *order, int l)
{
    int bound = strcmp(s->labels[l], "bound") == 0;

    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s points=\"",
            bound ? "#000" : colour(l), is_native(s->labels[l]) ? "1" : "2",
            bound                     ? " stroke-dasharray=\"6 3\""
            : is_native(s->labels[l]) ? " stroke-dasharray=\"2 2\""
                                      : "");
    for (int k = 0; k < s->n_sizes; k++) {
        double t = seconds(order, s->labels[l], "", s->sizes[k]);
        if (t > 0)
            fprintf(out, "%.1f,%.1f ", at_x(a, s->sizes[k]), at_y(a, t));
    }
    fprintf(out, "\"><title>%s</title></polyline>\n", s->labels[l]);
}

static void draw_axes(FILE *out, const struct scope *s, const struct axes *a,
                      const char *order)
{
    char text[24];

    fprintf(out,
            "<text x=\"%.0f\" y=\"24\" font-size=\"15\">ranks %s: seconds of a "
            "broadcast</text>\n",
            a->left + MARGIN, order);
    for (double y = ceil(a->log_min_y); y <= a->log_max_y; y++)
        fprintf(out,
                "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                a->left + MARGIN, a->left + PANEL_WIDTH - 20, at_y(a, pow(10, y)),
                at_y(a, pow(10, y)), a->left + MARGIN - 6, at_y(a, pow(10, y)) + 4,
                pow(10, y));
    for (int k = 0; k < s->n_sizes; k++)
        fprintf(out,
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\" transform=\"rotate(-45 "
                "%.1f %d)\">%s</text>\n",
                at_x(a, s->sizes[k]), PANEL_HEIGHT - MARGIN + 16, at_x(a, s->sizes[k]),
                PANEL_HEIGHT - MARGIN + 16, size_text(s->sizes[k], text));
}

static void set_axes(struct axes *a, const struct scope *s)
{
    *a = (struct axes){0, INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int k = 0; k < s->n_sizes; k++) {
        a->log_min_x = fmin(a->log_min_x, log10(s->sizes[k]));
        a->log_max_x = fmax(a->log_max_x, log10(s->sizes[k]));
        for (int l = 0; l < s->n_labels; l++)
            for (int o = 0; o < 2; o++) {
                double t = seconds(orders[o], s->labels[l], "", s->sizes[k]);
                if (t > 0) {
                    a->log_min_y = fmin(a->log_min_y, log10(t));
                    a->log_max_y = fmax(a->log_max_y, log10(t));
                }
            }
    }
}

static int write_picture(const struct scope *s, const char *path)
{
    struct axes a;
    FILE *out = fopen(path, "w");

    if (!out)
        return -1;
    set_axes(&a, s);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#fff\"/>\n",
            2 * PANEL_WIDTH + 170, PANEL_HEIGHT);
    for (int o = 0; o < 2; o++) {
        a.left = o * PANEL_WIDTH;
        draw_axes(out, s, &a, orders[o]);
        for (int l = 0; l < s->n_labels; l++)
            draw_line(out, s, &a, orders[o], l);
    }
    for (int l = 0; l < s->n_labels; l++)
        fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n",
                2 * PANEL_WIDTH + 10, 40 + 18 * l,
                strcmp(s->labels[l], "bound") == 0 ? "#000" : colour(l), s->labels[l]);
    fprintf(out, "</svg>\n");
    return fclose(out);
}

/* ---- the whole ---- */

static int read_results(const char *path)
{
    static char line[4096];
    FILE *in = fopen(path, "r");

    results = json_array();
    while (in && fgets(line, sizeof line, in)) {
        json_t *row = json_loads(line, 0, NULL);
        if (row && json_is_object(row))
            json_array_append_new(results, row);
        else
            json_decref(row);
    }
    if (in)
        fclose(in);
    return in && json_array_size(results) ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct scope scope = {.n_labels = 0};

    if (argc != 4) {
        fprintf(stderr, "usage: grid_report RESULTS GRID.json GRID.svg\n");
        return 2;
    }
    if (read_results(argv[1])) {
        fprintf(stderr, "%s: no results there\n", argv[1]);
        return 1;
    }
    look_round(&scope);
    for (int o = 0; o < 2; o++)
        print_times(&scope, orders[o]);
    for (int o = 0; o < 2; o++)
        print_ratios(&scope, orders[o]);
    for (int o = 0; o < 2; o++)
        print_simulated(&scope, orders[o]);
    int bad = json_dump_file(results, argv[2], JSON_INDENT(1) | JSON_COMPACT);
    bad |= write_picture(&scope, argv[3]);
    json_decref(results);
    if (bad)
        fprintf(stderr, "%s, %s: cannot be written\n", argv[2], argv[3]);
    return bad ? 1 : 0;
}
