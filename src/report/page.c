#include "report/page.h"

#include <stdbool.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "plan/tuning.h"
#include "report/load.h"
#include "report/markup.h"
#include "report/web.h"

#define string espi_markup_json_string
#define number espi_markup_json_number

int espi_page_exists(void)
{
    return &espi_web_page_end[0] != &espi_web_page[0];
}

/* ---- small parts ---- */

static void write_key(FILE *out, const char *name)
{
    fprintf(out, "\"%s\":", name);
}

static void put_numbers(FILE *out, const double *values, int n)
{
    putc('[', out);
    for (int i = 0; i < n; i++) {
        if (i)
            putc(',', out);
        number(out, values[i]);
    }
    putc(']', out);
}

static void put_field(FILE *out, const char *name, double value)
{
    write_key(out, name);
    number(out, value);
    putc(',', out);
}

/* ---- the platform ---- */

/* Slowest and fastest links of a node, as far as it has any. */
static void put_node(const struct esp_platform *p, int v, FILE *out)
{
    double most = 0, least = INFINITY;

    for (int k = p->out.start[v]; k < p->out.start[v + 1]; k++) {
        double rate = p->bandwidth_Bps[p->out.item[k]];
        most = fmax(most, rate);
        least = fmin(least, rate);
    }
    putc('[', out);
    string(out, espi_node_name(p, v));
    fprintf(out, ",%d,%d,%d,", p->node_site[v], espi_is_switch(p, v),
            p->out.start[v + 1] - p->out.start[v]);
    number(out, least);
    putc(',', out);
    number(out, most);
    putc(']', out);
}

void espi_page_put_platform(const struct esp_platform *p, FILE *out)
{
    putc('{', out);
    write_key(out, "name");
    string(out, p->name ? p->name : "");
    fprintf(out, ",\"model\":\"%s\",\"links\":%d,\"hosts\":%d,", esp_model_name(p->model),
            p->n_links, p->n_hosts);
    write_key(out, "sites");
    putc('[', out);
    for (int s = 0; s < p->n_sites; s++) {
        if (s)
            putc(',', out);
        string(out, espi_names_text(&p->sites, s));
    }
    fputs("],\n\"nodes\":[", out);
    for (int v = 0; v < p->n_nodes; v++) {
        if (v)
            fputs(",\n", out);
        put_node(p, v, out);
    }
    fputs("]}", out);
}

static void put_bound(const struct esp_bound *bound, FILE *out)
{
    write_key(out, "bound");
    if (!bound) {
        fputs("null", out);
        return;
    }
    putc('{', out);
    put_field(out, "throughput_Bps", bound->throughput_Bps);
    fprintf(out, "\"cut\":%d,\"bottlenecks\":[", bound->n_cut);
    for (int i = 0; i < bound->n_bottlenecks && i < 8; i++) {
        if (i)
            putc(',', out);
        putc('[', out);
        string(out, bound->bottlenecks[i]->text);
        putc(',', out);
        number(out, bound->bottlenecks[i]->price);
        putc(']', out);
    }
    fputs("],\"text\":", out);
    string(out, bound->text ? bound->text : "");
    putc('}', out);
}

/* ---- plans ---- */

static void put_resource(const struct espi_load *load, const struct esp_platform *p,
                         int resource, FILE *out)
{
    char text[300];

    putc('[', out);
    string(out, espi_resource_text(&load->resources, p, resource, text, sizeof text));
    putc(',', out);
    number(out, load->busy_s[resource] / load->most_s);
    putc(']', out);
}

/* The busiest resources, one after the other. */
static void put_busiest(struct espi_load *load, const struct esp_platform *p, FILE *out)
{
    double below = INFINITY;
    int shown = 0;

    fputs("\"busiest\":[", out);
    while (shown < 12) {
        double most = 0;
        for (int i = 0; i < load->resources.n; i++)
            if (load->busy_s[i] < below)
                most = fmax(most, load->busy_s[i]);
        if (!(most > 0))
            break;
        for (int i = 0; i < load->resources.n && shown < 12; i++)
            if (load->busy_s[i] == most) {
                if (shown++)
                    putc(',', out);
                put_resource(load, p, i, out);
            }
        below = most;
    }
    fputs("],", out);
}

static int put_load(const struct espi_page *page, const struct esp_plan *plan, FILE *out)
{
    const struct esp_platform *p = page->net.p;
    double slice = plan->slice_bytes > 0 ? plan->slice_bytes : plan->size_bytes;
    struct espi_arena arena;
    struct espi_load load;

    espi_arena_init(&arena);
    int failed =
        espi_load_init(&load, p, plan, slice > 0 ? slice : ESPI_SLICE_USUAL, &arena);
    if (!failed) {
        put_busiest(&load, p, out);
        fputs("\"load\":[", out);
        for (int v = 0; v < p->n_nodes; v++)
            fprintf(out, "%s%d", v ? "," : "",
                    (int)lround(1000 * espi_load_of_node(&load, v)));
        fputs("],", out);
    }
    espi_arena_done(&arena);
    return failed;
}

static void put_timeline(const struct espi_page_timeline *t, FILE *out)
{
    write_key(out, "timeline");
    putc('{', out);
    put_field(out, "size_bytes", t->size_bytes);
    put_field(out, "slice_bytes", t->slice_bytes);
    put_field(out, "makespan_s", t->makespan_s);
    fprintf(out, "\"whole\":%s,\"transfers\":[", t->whole ? "true" : "false");
    for (size_t i = 0; i < t->n_transfers; i++) {
        const struct espi_page_transfer *x = &t->transfers[i];
        fprintf(out, "%s%d,%d,%d,%d,%d,%d", i ? "," : "", x->from, x->to, x->tree,
                x->slice, x->start, x->end);
    }
    fputs("]}", out);
}

static int put_plan(const struct espi_page *page, int i, FILE *out)
{
    const struct esp_plan *plan = page->net.plans[i];

    fprintf(out, "{\"op\":\"%s\",\"root\":%d,\"redundant\":%s,", esp_op_name(plan->op),
            plan->root, plan->redundant ? "true" : "false");
    write_key(out, "algo");
    string(out, plan->algo);
    fprintf(out, ",\"by_auto\":%s,", page->by_auto ? "true" : "false");
    put_field(out, "throughput_Bps", plan->throughput_Bps);
    put_field(out, "makespan_s", plan->makespan_s);
    put_field(out, "bound_Bps", plan->bound_Bps);
    put_field(out, "size_bytes", plan->size_bytes);
    put_field(out, "slice_bytes", plan->slice_bytes);
    if (put_load(page, plan, out))
        return -1;
    fputs("\"trees\":[", out);
    for (int t = 0; t < plan->n_trees; t++) {
        if (t)
            putc(',', out);
        number(out, plan->trees[t].weight);
    }
    fputs("],", out);
    put_timeline(&page->timelines[i], out);
    putc('}', out);
    return 0;
}

static void put_comparison(const struct espi_page *page, FILE *out)
{
    fputs("\"compare\":{\"sizes_bytes\":", out);
    put_numbers(out, page->sizes_bytes, page->n_sizes);
    fputs(",\"bound_s\":", out);
    put_numbers(out, page->bound_s, page->n_sizes);
    fputs(",\"rows\":[", out);
    for (int i = 0; i < page->n_rows; i++) {
        fputs(i ? ",\n{\"algo\":" : "{\"algo\":", out);
        string(out, page->rows[i].algo);
        fputs(",\"family\":", out);
        string(out, page->rows[i].family);
        fputs(",\"makespan_s\":", out);
        put_numbers(out, page->rows[i].makespan_s, page->n_sizes);
        putc('}', out);
    }
    fputs("]}", out);
}

static int put_data(const struct espi_page *page, FILE *out)
{
    fputs("{\"title\":", out);
    string(out, page->title);
    fprintf(out, ",\"ticks\":%d,\"root\":%d,\n", ESPI_PAGE_TICKS, page->net.root);
    write_key(out, "platform");
    espi_page_put_platform(page->net.p, out);
    fputs(",\n", out);
    put_bound(page->net.bound, out);
    fputs(",\n\"plans\":[", out);
    for (int i = 0; i < page->net.n_plans; i++) {
        if (i)
            fputs(",\n", out);
        if (put_plan(page, i, out))
            return -1;
    }
    fputs("],\n", out);
    put_comparison(page, out);
    fputs("}\n", out);
    return 0;
}

/* ---- the frame ---- */

/* What of a frame is not written yet. */
struct frame {
    const char *at, *end;
};

/* Writes the frame up to a mark and steps behind it; false: there is no such mark. */
static bool copy_until(struct frame *f, const char *mark, FILE *out)
{
    const char *found = memmem(f->at, (size_t)(f->end - f->at), mark, strlen(mark));

    if (!found)
        return false;
    fwrite(f->at, 1, (size_t)(found - f->at), out);
    f->at = found + strlen(mark);
    return true;
}

static esp_status end_frame(const struct frame *f, FILE *out, struct esp_err *err)
{
    fwrite(f->at, 1, (size_t)(f->end - f->at), out);
    return ferror(out) ? espi_err(err, ESP_EIO, "cannot write the page") : ESP_OK;
}

static esp_status lacks_mark(struct esp_err *err)
{
    return espi_err(err, ESP_EINTERNAL, "the page's frame lacks a mark");
}

esp_status espi_page_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_page *page = what;
    struct frame f = {espi_web_page, espi_web_page_end};

    if (!espi_page_exists())
        return espi_err(err, ESP_EUNSUPPORTED,
                        "this espalier was built without pages, because npm was missing: "
                        "run tools/setup and build again, or ask for a .svg");
    if (!copy_until(&f, "<!--espalier:title-->", out))
        return lacks_mark(err);
    espi_markup_text(out, page->title);
    if (!copy_until(&f, "<!--espalier:network-->", out))
        return lacks_mark(err);
    espi_network_write_element(&page->net, out);
    if (!copy_until(&f, "\"espalier:data\"", out))
        return lacks_mark(err);
    if (put_data(page, out))
        return espi_err(err, ESP_ENOMEM, "out of memory");
    return end_frame(&f, out, err);
}

static esp_status write_asking(struct frame f, const char *nonce, FILE *out,
                               struct esp_err *err)
{
    if (!copy_until(&f, "/*espalier:colours*/", out))
        return lacks_mark(err);
    fputs(espi_network_style, out);
    if (!copy_until(&f, "espalier:nonce", out))
        return lacks_mark(err);
    fputs(nonce, out);
    return end_frame(&f, out, err);
}

esp_status espi_page_write_live(const char *nonce, FILE *out, struct esp_err *err)
{
    return write_asking((struct frame){espi_web_live, espi_web_live_end}, nonce, out,
                        err);
}

esp_status espi_page_write_copy(const char *nonce, FILE *out, struct esp_err *err)
{
    return write_asking((struct frame){espi_web_copy, espi_web_copy_end}, nonce, out,
                        err);
}
