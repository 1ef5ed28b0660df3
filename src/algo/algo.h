/* The registry of algorithms. An algorithm is one file with one `const struct espi_algo`
 * and one line in algo_list.def; the command line, the documentation, `compare` and the
 * sweep tests read the registry. */
#ifndef ESPI_ALGO_ALGO_H
#define ESPI_ALGO_ALGO_H

#include <espalier/algo.h>

#include "algo/memo.h"
#include "algo/tuning.h"
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

/* The option of those that solve programs for as long as it takes. */
#define ESPI_OPTION_WORK                                                                 \
    {                                                                                    \
        .name = "work", .standard = 0, .min = 0, .max = 1e15,                            \
        .meaning = "steps, of about a microsecond, after which what there is has to "    \
                   "do; 0: no limit"                                                     \
    }

/* What an algorithm gets to work with. */
struct espi_task {
    const struct esp_platform *p;
    const struct esp_request *request;
    const struct espi_view *view;         /* for the slice, or for the whole message */
    int root;                             /* a host of the view */
    struct espi_slices slices;            /* how the message is cut */
    double option[ESPI_ALGO_OPTIONS_MAX]; /* in the order of the table */
    struct espi_arena *arena;             /* scratch memory, freed by the caller */
    struct espi_algo_memo *memo;          /* for the same platform and root, or NULL */
    /* for the platform reversed and the same root, or NULL */
    struct espi_algo_memo *turned_memo;
    /* what may go into an optimum that is one of many candidates, as the option of
     * espi_packing_solve(); 0: no limit */
    double work_limit;
    /* a plan is there that is through by then: others are of no use that will hardly be;
     * 0 or infinity: none is */
    double limit_s;
    unsigned without_uses; /* ESPI_USE_...: whoever asks tries these himself */
    /* who weighs plans by what they will claim says here what that is; NULL: nobody asks
     */
    struct espi_played_claims *claims;
};

#define ESPI_MODEL_BIT(model) (1u << (model))
#define ESPI_ALL_MODELS       (ESPI_MODEL_BIT(ESP_MODEL_COUNT) - 1)

/* What an algorithm is. code: bits. */
enum {
    ESPI_ALGO_NEEDS_LP = 1 << 0,   /* solves linear programs: not inside MPI programs */
    ESPI_ALGO_SEARCHES = 1 << 1,   /* goes on for as long as it may */
    ESPI_ALGO_CHOOSES = 1 << 2,    /* weighs what others make */
    ESPI_ALGO_STANDARD = 1 << 3,   /* what `auto` means for its operation */
    ESPI_ALGO_MANY_TREES = 1 << 4, /* mixes trees that share out the message */
    ESPI_ALGO_REDUNDANT = 1 << 5,  /* sends things twice */
    ESPI_ALGO_BOTH_WAYS = 1 << 6,  /* plans what mirrors its operation itself, too */
    ESPI_ALGO_LONG = 1 << 7,       /* takes long without any of the above */
};

/* Where an algorithm is tried among others. code: bits. */
enum {
    ESPI_USE_WEIGHED = 1 << 0,        /* by `auto`, where not with standard options */
    ESPI_USE_IMPROVE = 1 << 1,        /* by `auto`: improves what others begin with */
    ESPI_USE_IMPROVE_FINISH = 1 << 2, /* and again when other slices turn out best */
    ESPI_USE_FEW_TREES = 1 << 3,      /* by `auto`: few trees fill sooner than many */
    ESPI_USE_USUAL_SLICES = 1 << 12,  /* and for the usual slices, which others name */
    ESPI_USE_LAST = 1 << 13, /* by `auto`: searches, against what won, for the same */
    /* by ranks, which plan while their program waits: 10 ms for 64 hosts */
    ESPI_USE_QUICK = 1 << 4,
    ESPI_USE_ADVISOR = 1 << 8,
    ESPI_USE_ADVISOR_LARGE = 1 << 9,   /* also where nothing else ends in time */
    ESPI_USE_ADVISOR_PLAIN = 1 << 10,  /* first, and kept: it has no risks of its own */
    ESPI_USE_ADVISOR_SEARCH = 1 << 11, /* last */
};

/* The options with which an algorithm is tried somewhere. */
struct espi_algo_use {
    unsigned use; /* ESPI_USE_...; 0 ends the table */
    struct {
        int option; /* its index */
        double value;
    } set[3]; /* those that are not at their standard */
    int n_set;
    int work;      /* 1 + the option that whoever tries it sets to the work there is; 0 */
    int max_hosts; /* of more it is not tried; 0: any number */
    int max_slices; /* nor for messages in more; 0: any number */
};

struct espi_algo {
    const char *name;   /* as after --algo */
    const char *family; /* the folder: atomic, pipelined, search, ... */
    esp_op op;
    unsigned models;   /* ESPI_MODEL_BIT of those it is meant for */
    unsigned flags;    /* ESPI_ALGO_... */
    int whole_message; /* it looks at the time of the whole message, not of a slice */
    int by_slice;      /* its trees are the same for however many slices of a size */
    int max_hosts;     /* 0: any number */
    const char *paper; /* where it comes from */
    const char *complexity;
    const char *summary;                    /* one line */
    const struct espi_algo_option *options; /* ends with a NULL name; or NULL */
    const struct espi_algo_use *uses;       /* or NULL */
    /* Adds the trees to the plan. ESP_EUNSUPPORTED with a sentence when the platform is
     * not one it can work on. */
    esp_status (*run)(const struct espi_task *task, struct esp_plan *plan,
                      struct esp_err *err);
};

const struct espi_algo *const *espi_algos(int *count);

/* By name (without options); NULL: none. */
const struct espi_algo *espi_algo_find(const char *name, size_t length);

/* Splits "name:option=value,option=value"; values has room for ESPI_ALGO_OPTIONS_MAX. */
esp_status espi_algo_parse(const char *text, const struct espi_algo **algo,
                           double *values, struct esp_err *err);

/* The options of an algorithm, each at its standard. */
void espi_algo_standard(const struct espi_algo *algo, double *values);

/* Those of one use of it, and how that is written: "name:option=value". */
void espi_algo_use_options(const struct espi_algo *algo, const struct espi_algo_use *use,
                           double work, double *values);
void espi_algo_format(const struct espi_algo *algo, const double *values, char *text,
                      size_t size);

/* A request as rooms below the simulator make it: as esp_request_init does, but without a
 * judge. */
void espi_request_init(struct esp_request *request, int root);

/* Copies a caller's request, which may be of another version, to ours. */
esp_status espi_request_take(struct esp_request *ours, const struct esp_request *given,
                             struct esp_err *err);

/* The slices that algorithms are run with which do not choose them: what the request
 * says, or ESPI_SLICE_USUAL where that is left open. */
double espi_request_slice_bytes(const struct esp_request *request);

/* Runs an algorithm on a fresh view for slices of at most that many bytes; platform,
 * request, options and arena are those of `base`. The plan gets its trees, and the sizes
 * they are for. */
esp_status espi_algo_run(const struct espi_algo *algo, const struct espi_task *base,
                         double slice_bytes, struct esp_plan *plan, struct esp_err *err);

/* A plan by the algorithm, checked, but without finish and throughput: directly, or for
 * operations that it makes no plans for itself from those that it does. Platform,
 * request, options and what else is set are those of `with`; the plan is named as the
 * request says. */
esp_status espi_plan_make_by(const struct espi_algo *algo, const struct espi_task *with,
                             struct esp_plan **out, struct esp_err *err);

/* Gives a plan its schedule, if it has none, its makespan and its throughput. claims:
 * what was found before of its trees, or NULL. */
esp_status espi_plan_evaluate(struct esp_plan *plan, const struct esp_platform *p,
                              const struct espi_played_claims *claims,
                              struct esp_err *err);

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
