/* For one collective of a team: the plan to run, or none when the MPI library's own is
 * predicted to be about as good. A pure function of its arguments: every rank computes
 * the same, and no message is needed to agree. */
#ifndef ESPI_RUNTIME_CHOICE_H
#define ESPI_RUNTIME_CHOICE_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "native/predict.h"

/* In which order is what the ranks have combined? */
enum espi_combining {
    ESPI_ANY_ORDER,
    ESPI_IN_ORDER, /* in that of the ranks */
    ESPI_PREFIXES, /* so, and each rank gets what comes of those up to it: no operation of
                      plans, but an allreduce of which all get something else */
};

struct espi_choice_options {
    enum espi_combining order; /* of reduce and allreduce */
    int force;                 /* take ours whatever is predicted */
    int keep;           /* give the plan also where the library's is predicted better */
    double margin;      /* else ours must take less than this part of the native time */
    double slice_bytes; /* 0: the best of some */
    const char *algo;   /* "", "auto" or NULL: the best of some */
    /* A plan for the team from outside, or NULL. Nothing else is tried, unless algo is
     * "auto": then it is weighed with all others. */
    const struct esp_plan *given;
    /* What the MPI library does; NULL: as good as ours, as far as is known. */
    const struct espi_native_library *library;
    int unequal;     /* parts are of different sizes: the library has other ways then */
    double before_s; /* what ours takes beside, before the plan begins */
    int wide;    /* ranks are far apart: what short messages take is the ways' length */
    int barrier; /* the call is a barrier, for which the plan is an allgather */
};

struct espi_choice {
    struct esp_plan
        *plan;     /* NULL: the MPI library's own; else with its slice_bytes set */
    int is_native; /* the MPI library's own is predicted better than the plan */
    /* The plan is an allgather, or for a reduce a gather, of all that is to be combined,
     * which each rank, or the root, does for itself, in the order of ranks. */
    int gathers;
    double ours_s; /* predicted; 0: no plan was found */
    double native_s;
};

/* size_bytes: of the message as plans count it (esp_op): of a scatter, without the root's
 * own part. ESP_OK with no plan when none can be made for this team; ESP_ENOMEM is the
 * only failure. */
esp_status espi_choose(const struct esp_platform *team, esp_op op, int root,
                       double size_bytes, const struct espi_choice_options *options,
                       struct espi_choice *out, struct esp_err *err);

/* The schedule of a plan that was kept beside the library's own, which is made when it
 * is first wanted. ESP_EUNSUPPORTED and the like: it has none, on all ranks alike. */
esp_status espi_choice_schedule(struct espi_choice *choice,
                                const struct esp_platform *team, struct esp_err *err);

void espi_choice_done(struct espi_choice *choice);

#endif
