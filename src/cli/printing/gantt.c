#include "cli/printing/gantt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/printing/term.h"
#include "platform/platform.h"

enum { LABEL_MAX = 16, TIME_WIDTH = 9, MARGIN = 2 }; /* looks: columns */

/* ---- which hosts ---- */

struct host {
    int node;
    double at_s; /* when it had everything; the root comes first of all */
};

static int by_delivery(const void *a, const void *b)
{
    const struct host *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static struct host *sorted_hosts(const struct cli_gantt *g, int root,
                                 struct espi_arena *arena)
{
    struct host *hosts = ESPI_ARENA_NEW(arena, struct host, g->n_hosts);
    int n = 0;

    for (int u = 0; hosts && u < g->p->n_nodes; u++)
        if (!espi_is_switch(g->p, u)) {
            double at_s = u == root ? -1 : g->result->delivered_s[u];
            hosts[n++] = (struct host){u, at_s};
        }
    if (hosts)
        qsort(hosts, (size_t)n, sizeof *hosts, by_delivery);
    return hosts;
}

static void choose_rows(struct cli_gantt *g, const struct host *hosts)
{
    int left_out = g->n_hosts - g->n_rows;

    for (int u = 0; u < g->p->n_nodes; u++)
        g->row[u] = -1;
    for (int i = 0; i < g->n_rows; i++) {
        char name[64];
        g->node[i] = hosts[i == 0 ? 0 : i + left_out].node;
        g->row[g->node[i]] = i;
        espi_quote(name, sizeof name, espi_node_name(g->p, g->node[i]));
        int width = cli_text_width(name);
        g->label_width = width > g->label_width ? width : g->label_width;
    }
    g->label_width = g->label_width > LABEL_MAX ? LABEL_MAX : g->label_width;
}

int cli_gantt_init(struct cli_gantt *g, const struct esp_platform *p, int root,
                   const struct esp_sim_result *result, double end_s, int max_rows,
                   struct espi_arena *arena)
{
    *g = (struct cli_gantt){.p = p, .result = result, .end_s = end_s};
    g->n_hosts = p->n_hosts;
    g->n_rows = p->n_hosts < max_rows ? p->n_hosts : max_rows;
    const struct host *hosts = sorted_hosts(g, root, arena);
    g->node = ESPI_ARENA_NEW(arena, int, g->n_rows);
    g->row = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    if (!hosts || !g->node || !g->row)
        return -1;
    choose_rows(g, hosts);
    g->n_columns = cli_term_width() - g->label_width - TIME_WIDTH - 3 * MARGIN;
    size_t cells = (size_t)g->n_rows * (size_t)g->n_columns;
    g->recv = ESPI_ARENA_ZNEW(arena, double, cells);
    g->send = ESPI_ARENA_ZNEW(arena, double, cells);
    return g->recv && g->send ? 0 : -1;
}

/* ---- what they do ---- */

/* from and to in columns */
static void mark_cells(double *cells, int n, double from, double to)
{
    to = to < n ? to : n;
    for (int c = (int)from; c < n && c < to; c++) {
        double begin = from > c ? from : c, end = to < c + 1 ? to : c + 1;
        cells[c] += end > begin ? end - begin : 0;
    }
}

void cli_gantt_add(void *gantt, const struct esp_sim_transfer *transfer)
{
    struct cli_gantt *g = gantt;
    double scale = g->n_columns / g->end_s;
    double from = transfer->start_s * scale, to = transfer->end_s * scale;
    int sender = g->row[transfer->from], receiver = g->row[transfer->to];

    if (!(from < g->n_columns))
        return;
    if (sender >= 0)
        mark_cells(g->send + (size_t)sender * (size_t)g->n_columns, g->n_columns, from,
                   to);
    if (receiver >= 0 && !transfer->lost)
        mark_cells(g->recv + (size_t)receiver * (size_t)g->n_columns, g->n_columns, from,
                   to);
}

/* ---- the picture ---- */

enum { NOTHING, SOME, RECEIVES, SENDS, BOTH, SIGNS };

static const char *const *signs(void)
{
    static const char *const ascii[SIGNS] = {" ", ".", "r", "s", "#"};
    static const char *const blocks[SIGNS] = {" ", "\xe2\x96\x91", "\xe2\x96\x80",
                                              "\xe2\x96\x84", "\xe2\x96\x88"};

    return cli_term_utf8() ? blocks : ascii;
}

static int sign_of(double recv, double send)
{
    if (recv >= 0.5 || send >= 0.5)
        return recv < 0.5 ? SENDS : send < 0.5 ? RECEIVES : BOTH;
    return recv > 0 || send > 0 ? SOME : NOTHING;
}

/* The name cut or filled to the width of the labels. */
static void print_label(const struct cli_gantt *g, int node)
{
    char name[64];

    espi_quote(name, sizeof name, espi_node_name(g->p, node));
    while (cli_text_width(name) > g->label_width) {
        size_t n = strlen(name) - 1; /* of a character all bytes go */
        while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
            n--;
        name[n] = '\0';
    }
    printf("%*s%s%*s%*s", MARGIN, "", name, g->label_width - cli_text_width(name), "",
           MARGIN, "");
}

static void print_row(const struct cli_gantt *g, int row)
{
    size_t first = (size_t)row * (size_t)g->n_columns;
    double at_s = g->result->delivered_s[g->node[row]];
    bool waits = row == 0 || g->result->is_for[g->node[row]]; /* the root has it */
    char text[32];

    print_label(g, g->node[row]);
    for (int c = 0; c < g->n_columns; c++)
        fputs(signs()[sign_of(g->recv[first + (size_t)c], g->send[first + (size_t)c])],
              stdout);
    if (isfinite(at_s))
        espi_format_time(text, sizeof text, at_s);
    if (waits)
        printf("%*s%*s", MARGIN, "", TIME_WIDTH, isfinite(at_s) ? text : "never");
    putchar('\n');
}

static void print_axis(const struct cli_gantt *g)
{
    int left = MARGIN + g->label_width + MARGIN, half = g->n_columns / 2;
    char middle[32], end[32];

    espi_format_time(middle, sizeof middle, g->end_s / 2);
    espi_format_time(end, sizeof end, g->end_s);
    printf("%*s0%*s%*s\n", left, "", half, middle, g->n_columns - half - 1, end);
}

void cli_gantt_print(const struct cli_gantt *g)
{
    int left_out = g->n_hosts - g->n_rows;
    const char *const *s = signs();

    printf("\n%sTimeline%s\n", cli_bold(stdout), cli_plain(stdout));
    for (int row = 0; row < g->n_rows; row++)
        print_row(g, row);
    print_axis(g);
    printf("  %s receives, %s sends, %s both, %s less than half of the time; at the "
           "right, when\n  the host had everything\n",
           s[RECEIVES], s[SENDS], s[BOTH], s[SOME]);
    if (left_out > 0)
        printf("  %d host%s served earlier %s left out ('--rows N' shows more)\n",
               left_out, left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
}
