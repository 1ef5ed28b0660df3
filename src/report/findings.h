/* What an experiment found: figures, and claims of others beside what came out here. */
#ifndef ESPI_REPORT_FINDINGS_H
#define ESPI_REPORT_FINDINGS_H

#include <stdio.h>

#include <espalier/status.h>

#include "base/arena.h"

enum { ESPI_SERIES_MAX = 24, ESPI_FIGURES_MAX = 16, ESPI_CLAIMS_MAX = 64 };

/* A curve. NAN: no value there. */
struct espi_chart_series {
    const char *name;
    int published; /* read off the paper, not computed here */
    int n;
    double *x, *y;
    const char *const *links; /* where each point leads; NULL: nowhere */
};

struct espi_figure {
    const char *name;  /* as one asks for it: "fig4a" */
    const char *title; /* what it shows */
    const char *x_title, *y_title;
    int log_x, log_y;
    int close_y; /* the axis begins where the values do, and not at 0 */
    int n_series;
    struct espi_chart_series series[ESPI_SERIES_MAX];
};

/* A number that was published, and ours. One rule says for all whether they agree: ours
 * is within a tenth of what was published, numbers of things are equal. */
struct espi_claim {
    const char *what;
    double published, ours;
    double base;      /* of "x% more than": 100, so that the whole is compared; else 0 */
    const char *unit; /* "%", "s", "" */
    const char *why;  /* what is known of the difference; or NULL */
    int is_number;    /* of things */
};

/* The rule in words. */
extern const char espi_claim_rule[];

struct espi_findings {
    struct espi_arena *arena;
    int n_figures, n_claims;
    struct espi_figure figures[ESPI_FIGURES_MAX];
    struct espi_claim claims[ESPI_CLAIMS_MAX];
    const char *setting; /* "100 platforms of each size"; or NULL */
    int failed;          /* something did not fit or memory was out */
};

/* Texts are borrowed, values copied into the arena. NULL when there is no room or memory
 * left, which findings->failed remembers; the other functions take a NULL figure. */
struct espi_figure *espi_findings_figure(struct espi_findings *f, const char *name,
                                         const char *title, const char *x_title,
                                         const char *y_title);
void espi_findings_series(struct espi_findings *f, struct espi_figure *figure,
                          const char *name, int n, const double *x, const double *y);
/* Points that were published, as one series. */
void espi_findings_published(struct espi_findings *f, struct espi_figure *figure,
                             const char *name, int n, const double *x, const double *y);
void espi_findings_claim(struct espi_findings *f, const struct espi_claim *claim);
/* A formatted text that lives as long as the findings; "" when out of memory. */
const char *espi_findings_text(struct espi_findings *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int espi_claim_agrees(const struct espi_claim *claim);
/* How far ours may be from what was published. */
double espi_claim_tolerance(const struct espi_claim *claim);

#endif
