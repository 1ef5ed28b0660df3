/* The registry of algorithms. An algorithm is one file with one `const struct espi_algo`
 * and one line in algo_list.def; the command line, the documentation, `compare` and the
 * sweep tests read the registry. */
#ifndef ESPI_ALGO_ALGO_H
#define ESPI_ALGO_ALGO_H

#include <espalier/algo.h>

#include "base/arena.h"
#include "cost/cost.h"
#include "platform/view.h"

enum { ESPI_ALGO_OPTIONS_MAX = 8 };

/* An option of an algorithm: a number, or one of some words. */
struct espi_algo_option {
    const char *name;
    const char *choices; /* "min|avg|set": the value is the index; NULL: a number */
    double standard;
    double min, max; /* of a number */
    const char *meaning;
};

/* What the optimal steady state sends over each arc of a view, kept by who runs several
 * algorithms that follow it. */
struct espi_shares_memo {
    double slice_bytes; /* of the view */
    int n;              /* arcs; 0: nothing is kept */
    long *share;        /* espi_free() */
    double bound_Bps;
};

/* What an algorithm gets to work with. */
struct espi_task {
    const struct esp_platform *p;
    const struct esp_request *request;
    const struct espi_view *view;         /* for the slice, or for the whole message */
    int root;                             /* a host of the view */
    struct espi_slices slices;            /* how the message is cut */
    double option[ESPI_ALGO_OPTIONS_MAX]; /* in the order of the table */
    struct espi_arena *arena;             /* scratch memory, freed by the caller */
    struct espi_shares_memo *shares;      /* for the same platform and root, or NULL */
    /* what may go into an optimum that is one of many candidates, as the option of
     * espi_packing_solve(); 0: no limit */
    double work_limit;
};

#define ESPI_MODEL_BIT(model) (1u << (model))
#define ESPI_ALL_MODELS       (ESPI_MODEL_BIT(ESP_MODEL_COUNT) - 1)

struct espi_algo {
    const char *name;   /* as after --algo */
    const char *family; /* the folder: atomic, pipelined, search, ... */
    esp_op op;
    unsigned models;   /* ESPI_MODEL_BIT of those it is meant for */
    int whole_message; /* it looks at the time of the whole message, not of a slice */
    int by_slice;      /* its trees are the same for however many slices of a size */
    int max_hosts;     /* 0: any number */
    const char *paper; /* where it comes from */
    const char *complexity;
    const char *summary;                    /* one line */
    const struct espi_algo_option *options; /* ends with a NULL name; or NULL */
    /* Adds the trees to the plan. ESP_EUNSUPPORTED with a sentence when the platform is
     * not one it can work on. */
    esp_status (*run)(const struct espi_task *task, struct esp_plan *plan,
                      struct esp_err *err);
};

const struct espi_algo *const *espi_algos(int *count);

/* By name (without options); NULL: none. */
const struct espi_algo *espi_algo_find(const char *name, size_t length);

/* Does it solve linear programs? Then it is not in the libraries that go into MPI
 * programs. */
int espi_algo_needs_lp(const struct espi_algo *algo);

/* Splits "name:option=value,option=value"; values has room for ESPI_ALGO_OPTIONS_MAX. */
esp_status espi_algo_parse(const char *text, const struct espi_algo **algo,
                           double *values, struct esp_err *err);

/* The options of an algorithm, each at its standard. */
void espi_algo_standard(const struct espi_algo *algo, double *values);

/* The slices that algorithms are run with which do not choose them: what the request
 * says, or 64 KiB where that is left open. */
double espi_request_slice_bytes(const struct esp_request *request);

/* Runs an algorithm on a fresh view for slices of at most that many bytes; platform,
 * request, options and arena are those of `base`. The plan gets its trees, and the sizes
 * they are for. */
esp_status espi_algo_run(const struct espi_algo *algo, const struct espi_task *base,
                         double slice_bytes, struct esp_plan *plan, struct esp_err *err);

/* The plan as esp_plan_make makes it, checked, but without finish and throughput: for who
 * weighs plans by a cost of their own and cannot wait for the best order of sends. */
esp_status espi_plan_make_uncosted(const struct esp_platform *p,
                                   const struct esp_request *request,
                                   struct esp_plan **out, struct esp_err *err);

/* Are root and targets hosts, and does the operation's data get from where they are to
 * where they are wanted? */
esp_status espi_check_ends(const struct esp_platform *p,
                           const struct esp_request *request, struct esp_err *err);

/* Does it make plans for this operation: directly, by way of the platform reversed, as a
 * broadcast where all hosts are targets, or as broadcasts reversed for a reduce-scatter?
 */
int espi_algo_serves(const struct espi_algo *algo, esp_op op, int has_targets);

/* Can the algorithm be tried on this platform at all? */
int espi_algo_applies(const struct espi_algo *algo, const struct esp_platform *p);

#endif
