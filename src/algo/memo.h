/* What algorithms that run one after the other for the same platform and root need alike,
 * kept by who runs them. */
#ifndef ESPI_ALGO_MEMO_H
#define ESPI_ALGO_MEMO_H

#include "base/arena.h"
#include "base/rng.h"
#include "platform/view.h"
#include "solve/packing.h"

/* derived: views of the slice and of the whole message are asked for in turn. */
enum { ESPI_MEMO_VIEWS = 2 };

struct espi_algo_memo {
    struct espi_memo_view {
        struct espi_view view; /* view.p is NULL: nothing is kept */
        struct espi_arena arena;
    } views[ESPI_MEMO_VIEWS];
    int oldest; /* of the views: the one that was asked for longest ago */
    struct {
        double slice_bytes, work_limit; /* of the view; of the options */
        struct espi_packing packing;    /* n_hosts is 0: nothing is kept */
        struct espi_arena arena;
    } packed;
    /* The search for few trees, as far as it has come: more trees go on from there. */
    struct {
        double slice_bytes, work_limit; /* of the view; of its packing */
        int shakes, n;                  /* of the search; trees, 0: nothing is kept */
        int **tree;                     /* parent arcs */
        double *weight, period_s;
        struct espi_rng rng;
        struct espi_arena arena;
    } few;
    int equal_trees; /* so many of one weight were best for other slices; 0: not known */
    /* When plans of the synthesizer end with two numbers of chunks, the last ones that it
     * was asked for; 0: not known. */
    struct {
        double chunks[2], finish_s[2];
    } synthesis;
    /* What the optimal steady state sends over each arc of a view. */
    struct {
        double slice_bytes; /* of the view */
        int n;              /* arcs; 0: nothing is kept */
        long *share;        /* espi_free() */
        double bound_Bps;
    } shares;
};

/* Frees what is kept. A memo of zeros keeps nothing. */
void espi_algo_memo_done(struct espi_algo_memo *memo);

/* The view of the platform, valid until two others have been asked for. */
esp_status espi_memo_view(struct espi_algo_memo *memo, const struct esp_platform *p,
                          double slice_bytes, const struct espi_view **out,
                          struct esp_err *err);

#endif
