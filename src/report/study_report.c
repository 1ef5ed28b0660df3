#include "report/study_report.h"

#include <math.h>

#include "base/err.h"
#include "report/chart.h"
#include "report/markup.h"
#include "report/network.h"

static const char *const style =
    "body{margin:0 auto;max-width:900px;padding:16px;background:var(--paper);"
    "color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "h2{margin-top:40px;border-top:1px solid var(--line);padding-top:16px}"
    "figure{margin:16px 0}figcaption{font-weight:600}.scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:13px}"
    "th,td{text-align:right;padding:2px 8px;border-bottom:1px solid var(--line);"
    "font-variant-numeric:tabular-nums}th:first-child,td.text{text-align:left}"
    ".agrees{color:var(--c2)}.differs{color:var(--c1)}p,li{overflow-wrap:anywhere}"
    "summary{cursor:pointer}";

static void put_element(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    espi_markup_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

/* ---- claims ---- */

static void write_claim(const struct espi_claim *claim, FILE *out)
{
    int agrees = espi_claim_agrees(claim);

    fputs("<tr><th scope=\"row\">", out);
    espi_markup_text(out, claim->what);
    fprintf(out, "</th><td>%.4g%s</td><td>%.4g%s</td><td class=\"%s\">%s</td>",
            claim->published, claim->unit, claim->ours, claim->unit,
            agrees ? "agrees" : "differs", agrees ? "agrees" : "differs");
    fputs("<td class=\"text\">", out);
    if (!agrees && claim->why)
        espi_markup_text(out, claim->why);
    fputs("</td></tr>\n", out);
}

static void write_claims(const struct espi_findings *f, FILE *out)
{
    if (f->n_claims == 0) {
        fputs("<p>The paper gives no numbers for this, only curves.</p>\n", out);
        return;
    }
    put_element(out, "p", espi_claim_rule);
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">claim</th><th "
          "scope=\"col\">published</th><th scope=\"col\">reproduced</th><th "
          "scope=\"col\">verdict</th><th scope=\"col\" class=\"text\">about the "
          "difference</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < f->n_claims; i++)
        write_claim(&f->claims[i], out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- an experiment ---- */

static void write_figure(const struct espi_figure *figure, FILE *out)
{
    fputs("<figure id=\"", out);
    espi_markup_text(out, figure->name);
    fputs("\"><figcaption>", out);
    espi_markup_text(out, figure->name);
    fputs(": ", out);
    espi_markup_text(out, figure->title);
    fputs("</figcaption>\n", out);
    espi_chart_write(figure, out);
    fputs("<details><summary>The numbers</summary>\n", out);
    espi_chart_table(figure, out);
    fputs("</details></figure>\n", out);
}

static void write_entry(const struct espi_study_report_entry *e, FILE *out)
{
    fputs("<section id=\"", out);
    espi_markup_text(out, e->name);
    fputs("\">", out);
    put_element(out, "h2", e->title);
    put_element(out, "p", e->paper);
    fprintf(out, "<p>%s%sTook %.1f s.</p>\n",
            e->findings->setting ? e->findings->setting : "",
            e->findings->setting ? ". " : "", e->took_s);
    fputs("<h3>Published, and here</h3>\n", out);
    write_claims(e->findings, out);
    for (int i = 0; i < e->findings->n_figures; i++)
        write_figure(&e->findings->figures[i], out);
    fputs("<h3>What was assumed</h3><ul>\n", out);
    for (int i = 0; e->assumed[i]; i++)
        put_element(out, "li", e->assumed[i]);
    fputs("</ul></section>\n", out);
}

static void write_contents(const struct espi_study_report *a, FILE *out)
{
    fputs("<nav><ul>\n", out);
    for (int i = 0; i < a->n; i++) {
        const struct espi_findings *f = a->entries[i].findings;
        int agree = 0;
        for (int k = 0; k < f->n_claims; k++)
            agree += espi_claim_agrees(&f->claims[k]);
        fputs("<li><a href=\"#", out);
        espi_markup_text(out, a->entries[i].name);
        fputs("\">", out);
        espi_markup_text(out, a->entries[i].title);
        fputs("</a>", out);
        if (f->n_claims > 0)
            fprintf(out, ": %d of %d published numbers agree", agree, f->n_claims);
        fputs("</li>\n", out);
    }
    fputs("</ul></nav>\n", out);
}

esp_status espi_study_report_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct espi_study_report *a = what;

    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
          "<meta name=\"color-scheme\" content=\"light dark\">"
          "<link rel=\"icon\" href=\"data:,\"><title>",
          out);
    espi_markup_text(out, a->title);
    fprintf(out, "</title><style>%s%s%s</style></head><body>\n", espi_network_style,
            espi_chart_style, style);
    put_element(out, "h1", a->title);
    if (a->setting)
        put_element(out, "p", a->setting);
    write_contents(a, out);
    fputs("<main>\n", out);
    for (int i = 0; i < a->n; i++)
        write_entry(&a->entries[i], out);
    fputs("</main></body></html>\n", out);
    if (ferror(out))
        return espi_err(err, ESP_EIO, "cannot write the report");
    return ESP_OK;
}
