#include "report/findings.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct espi_figure *espi_findings_figure(struct espi_findings *f, const char *name,
                                         const char *title, const char *x_title,
                                         const char *y_title)
{
    if (f->n_figures == ESPI_FIGURES_MAX) {
        f->failed = 1;
        return NULL;
    }
    struct espi_figure *figure = &f->figures[f->n_figures++];
    *figure = (struct espi_figure){
        .name = name, .title = title, .x_title = x_title, .y_title = y_title};
    return figure;
}

static double *copy_values(struct espi_findings *f, const double *values, int n)
{
    double *kept = ESPI_ARENA_NEW(f->arena, double, n + 1);

    if (kept)
        memcpy(kept, values, (size_t)n * sizeof *kept);
    return kept;
}

void espi_findings_series(struct espi_findings *f, struct espi_figure *figure,
                          const char *name, int n, const double *x, const double *y)
{
    if (!figure || figure->n_series == ESPI_SERIES_MAX) {
        f->failed = 1;
        return;
    }
    struct espi_chart_series *s = &figure->series[figure->n_series];
    *s = (struct espi_chart_series){.name = name, .n = n};
    s->x = copy_values(f, x, n);
    s->y = copy_values(f, y, n);
    if (s->x && s->y)
        figure->n_series++;
    else
        f->failed = 1;
}

void espi_findings_published(struct espi_findings *f, struct espi_figure *figure,
                             const char *name, int n, const double *x, const double *y)
{
    int before = figure ? figure->n_series : 0;

    espi_findings_series(f, figure, name, n, x, y);
    if (figure && figure->n_series > before)
        figure->series[before].published = 1;
}

void espi_findings_claim(struct espi_findings *f, const struct espi_claim *claim)
{
    if (f->n_claims == ESPI_CLAIMS_MAX)
        f->failed = 1;
    else
        f->claims[f->n_claims++] = *claim;
}

const char *espi_findings_text(struct espi_findings *f, const char *fmt, ...)
{
    char text[400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char *kept = ESPI_ARENA_NEW(f->arena, char, strlen(text) + 1);
    if (!kept) {
        f->failed = 1;
        return "";
    }
    return strcpy(kept, text);
}

const char espi_claim_rule[] = "Agrees: ours is within a tenth of what was published (of "
                               "\"x% later\", of 100% + x), "
                               "and a number of agents is the same.";

/* rounding: means of few draws differ by some hundredths from one set of draws to the
 * next, and what is read off a figure is no better; --seed shows the first */
static const double AGREEMENT = 0.1;

double espi_claim_tolerance(const struct espi_claim *claim)
{
    return claim->is_number ? 0 : AGREEMENT * fabs(claim->base + claim->published);
}

int espi_claim_agrees(const struct espi_claim *claim)
{
    return fabs(claim->ours - claim->published) <= espi_claim_tolerance(claim);
}
