/* Every algorithm that may be told to the library is simulated for every size, with some
 * segments and fan-outs, until it is later than what the library does by itself. */
#include "native/tune.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/parallel.h"
#include "native/rank_order.h"
#include "native/tuning.h"

enum { CANDIDATES = 128, SEGMENT_STEPS = 3 }; /* limit: of an operation; looks: fewer */

/* The candidates of one operation in one order of hosts, and when each ends. */
struct field {
    const struct esp_platform *p;
    const struct espi_tune_ask *ask;
    const int *nodes;
    struct espi_tune_cell *cells; /* of this operation, by size */
    int n;
    struct espi_native_choice choice[CANDIDATES];
    double *end_s; /* candidate, size; infinite: not as early as usual */
    esp_status status;
    struct esp_err err;
};

/* ---- one simulation ---- */

static struct espi_native_run run_of(const struct espi_tune_ask *ask, const int *nodes,
                                     const struct espi_native_choice *c,
                                     double size_bytes)
{
    return (struct espi_native_run){.algo = c->algo,
                                    .root = nodes[0],
                                    .size_bytes = size_bytes,
                                    .segment_bytes = c->segment_bytes,
                                    .fanout = c->fanout,
                                    .protocol = ask->protocol,
                                    .nodes = nodes};
}

struct cell_jobs {
    const struct esp_platform *p;
    const struct espi_tune_ask *ask;
    const int *nodes;
    struct espi_tune_cell *cells;
    int is_given;
    esp_status *status;
    struct esp_err *err;
};

static void time_usual(void *jobs, size_t i)
{
    struct cell_jobs *j = jobs;
    struct espi_tune_cell *cell = &j->cells[i];
    struct espi_native_run run = run_of(j->ask, j->nodes, &cell->usual, cell->size_bytes);
    j->status[i] = espi_native_makespan(
        j->p, &run, j->is_given ? &cell->given_s : &cell->usual_s, &j->err[i]);
}

/* The first failure among those that were made side by side. */
static esp_status first_failure(const esp_status *status, const struct esp_err *errs,
                                int n, struct esp_err *err)
{
    for (int i = 0; i < n; i++)
        if (status[i]) {
            if (err)
                *err = errs[i];
            return status[i];
        }
    return ESP_OK;
}

static esp_status time_cells(const struct esp_platform *p,
                             const struct espi_tune_ask *ask, const struct espi_tune *t,
                             const int *nodes, int is_given, struct esp_err *err)
{
    esp_status *status = espi_calloc((size_t)t->n_cells + 1, sizeof *status);
    struct esp_err *errs = espi_calloc((size_t)t->n_cells + 1, sizeof *errs);
    struct cell_jobs jobs = {p, ask, nodes, t->cells, is_given, status, errs};
    esp_status st = status && errs ? ESP_OK : espi_err_nomem(err);
    if (!st) {
        espi_parallel(
            &(struct espi_jobs){(size_t)t->n_cells, time_usual, &jobs, NULL, NULL});
        st = first_failure(status, errs, t->n_cells, err);
    }
    espi_free(status);
    espi_free(errs);
    return st;
}

/* ---- candidates ---- */

static void add_candidate(struct field *f, const struct espi_native_algo *algo,
                          int64_t segment_bytes, int fanout)
{
    struct espi_native_task task = {
        .n_ranks = f->p->n_hosts, .segment_bytes = segment_bytes, .fanout = fanout};
    const struct espi_native_tuning *t = &f->ask->table->tuning;
    if (f->n < CANDIDATES && espi_native_name_of(t, algo) &&
        !espi_native_left_out(t, algo, &task, f->ask->promises))
        f->choice[f->n++] = (struct espi_native_choice){algo, segment_bytes, fanout};
}

/* Segments that leave without waiting for their receivers: the longest power of two, and
 * parts of it. */
static void add_segments(struct field *f, const struct espi_native_algo *algo, int fanout)
{
    double longest = 1;
    while (2 * longest <= f->ask->protocol.eager_bytes && longest < 0x1p30)
        longest *= 2;
    add_candidate(f, algo, 0, fanout);
    for (int i = 0; i < SEGMENT_STEPS && algo->takes_segments && longest >= 1024;
         i++, longest /= 4)
        add_candidate(f, algo, (int64_t)longest, fanout);
}

static void list_candidates(struct field *f, esp_op op)
{
    int n;
    const struct espi_native_algo *all = espi_native_algos(&n);
    for (int i = 0; i < n; i++) {
        if (all[i].op != op || strcmp(all[i].library, f->ask->table->library) != 0)
            continue;
        add_segments(f, &all[i], 0);
        for (int fanout = 2; fanout <= 8 && all[i].takes_fanout; fanout *= 2)
            add_segments(f, &all[i], fanout);
    }
}

static int is_worth_a_try(const struct espi_native_choice *c, double size_bytes)
{
    return c->segment_bytes == 0 ||
           (c->segment_bytes < size_bytes &&
            size_bytes / (double)c->segment_bytes <= ESPI_TUNE_SEGMENTS);
}

static void time_candidates(struct field *f)
{
    int n = f->ask->n_sizes;
    for (int i = 0; i < f->n * n && !f->status; i++) {
        const struct espi_tune_cell *cell = &f->cells[i % n];
        struct espi_native_run run =
            run_of(f->ask, f->nodes, &f->choice[i / n], cell->size_bytes);
        run.until_s = cell->usual_s;
        f->end_s[i] = INFINITY;
        if (is_worth_a_try(&f->choice[i / n], cell->size_bytes))
            f->status = espi_native_makespan(f->p, &run, &f->end_s[i], &f->err);
    }
}

/* ---- choices ---- */

/* From a size to the next: what is clearly earlier at the first, not later at the second,
 * and earliest at both together. */
static int choose_from(const struct field *f, int size)
{
    int n = f->ask->n_sizes, next = size + 1 < n ? size + 1 : size, best = -1;
    double best_parts = INFINITY;
    for (int i = 0; i < f->n; i++) {
        double part = f->end_s[i * n + size] / f->cells[size].usual_s;
        double parts = part + f->end_s[i * n + next] / f->cells[next].usual_s;
        if (part * ESPI_TUNE_GAIN <= 1 && parts < best_parts) {
            best = i;
            best_parts = parts;
        }
    }
    return best;
}

static void choose_all(struct field *f)
{
    int n = f->ask->n_sizes;
    for (int size = 0; size < n; size++) {
        struct espi_tune_cell *cell = &f->cells[size];
        int best = choose_from(f, size);
        cell->is_rule = best >= 0;
        cell->chosen = best >= 0 ? f->choice[best] : cell->usual;
        cell->chosen_s = best >= 0 ? f->end_s[best * n + size] : cell->usual_s;
    }
}

static void tune_field(void *fields, size_t i)
{
    struct field *f = &((struct field *)fields)[i];
    list_candidates(f, f->cells[0].op);
    f->end_s = ESPI_NEW(double, (size_t)f->n *(size_t)f->ask->n_sizes + 1);
    if (!f->end_s)
        f->status = espi_err_nomem(&f->err);
    else
        time_candidates(f);
    if (!f->status)
        choose_all(f);
    espi_free(f->end_s);
}

static esp_status choose_cells(const struct esp_platform *p,
                               const struct espi_tune_ask *ask, const struct espi_tune *t,
                               const int *nodes, struct esp_err *err)
{
    int n = t->n_cells / ask->n_sizes;
    struct field *fields = espi_calloc((size_t)n + 1, sizeof *fields);
    if (!fields)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++)
        fields[i] = (struct field){.p = p,
                                   .ask = ask,
                                   .nodes = nodes,
                                   .cells = t->cells + (size_t)i * (size_t)ask->n_sizes};
    espi_parallel(&(struct espi_jobs){(size_t)n, tune_field, fields, NULL, NULL});
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++)
        st = first_failure(&fields[i].status, &fields[i].err, 1, err);
    espi_free(fields);
    return st;
}

/* ---- the order of hosts ---- */

enum { IMPROVED = ESPI_FIRST_ORDERS, ATTEMPTS };

/* All cells in one order. */
struct attempt {
    int is_tried; /* no order before it was the same */
    int *nodes;
    struct espi_tune_cell *cells;
};

struct attempts {
    const struct esp_platform *p;
    const struct espi_tune_ask *ask;
    struct espi_tune *tune; /* cells as they are in the given order */
    struct attempt at[ATTEMPTS];
};

static double sum_of_parts(const struct attempts *a, int i)
{
    double sum = 0;
    for (int k = 0; k < a->tune->n_cells; k++)
        sum += a->at[i].cells[k].chosen_s / a->at[i].cells[k].given_s;
    return sum;
}

static double cost_of(const struct attempts *a, int i)
{
    double sum = 0;
    for (int k = 0; k < a->tune->n_cells; k++)
        sum += espi_order_cost(a->at[i].cells[k].chosen_s / a->at[i].cells[k].given_s);
    return sum;
}

static int is_any_later(const struct attempts *a, int i)
{
    for (int k = 0; k < a->tune->n_cells; k++)
        if (a->at[i].cells[k].chosen_s > ESPI_ORDER_LATER * a->at[i].cells[k].given_s)
            return 1;
    return 0;
}

static int is_same_order(const struct attempts *a, int i, int k)
{
    return a->at[k].is_tried && memcmp(a->at[i].nodes, a->at[k].nodes,
                                       (size_t)a->tune->n_ranks * sizeof(int)) == 0;
}

/* Tunes in the order of the attempt, if none before had the same. */
static esp_status make_attempt(struct attempts *a, int i, struct esp_err *err)
{
    struct espi_tune t = *a->tune;
    for (int k = 0; k < i; k++)
        if (is_same_order(a, i, k))
            return ESP_OK;
    a->at[i].is_tried = 1;
    memcpy(a->at[i].cells, a->tune->cells, (size_t)t.n_cells * sizeof *t.cells);
    t.cells = a->at[i].cells;
    esp_status st = time_cells(a->p, a->ask, &t, a->at[i].nodes, 0, err);
    return st ? st : choose_cells(a->p, a->ask, &t, a->at[i].nodes, err);
}

/* Searches from the best order so far, with what was chosen there. */
static esp_status improve_order(struct attempts *a, int *nodes, struct esp_err *err)
{
    int n = a->tune->n_cells, best = 0;
    struct espi_order_call *calls = espi_calloc((size_t)n + 1, sizeof *calls);
    if (!calls)
        return espi_err_nomem(err);
    for (int i = 1; i < IMPROVED; i++)
        if (a->at[i].is_tried && cost_of(a, i) < cost_of(a, best))
            best = i;
    memcpy(nodes, a->at[best].nodes, (size_t)a->tune->n_ranks * sizeof *nodes);
    for (int i = 0; i < n; i++) {
        const struct espi_tune_cell *c = &a->at[best].cells[i];
        calls[i].run = run_of(a->ask, nodes, &c->chosen, c->size_bytes);
        calls[i].base_s = c->given_s;
    }
    struct espi_order_search search = {a->p, calls, n, a->ask->first, a->ask->n_orders};
    esp_status st = espi_rank_order_improve(&search, nodes, err);
    espi_free(calls);
    return st;
}

static esp_status make_attempts(struct attempts *a, struct esp_err *err)
{
    int n = a->ask->n_orders > 0 ? ATTEMPTS : 1;
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++) {
        st = i == IMPROVED
                 ? improve_order(a, a->at[i].nodes, err)
                 : espi_rank_order_first(a->p, a->ask->first, (espi_first_order)i,
                                         a->at[i].nodes, err);
        if (!st)
            st = make_attempt(a, i, err);
    }
    return st;
}

/* The given order stays, unless another is clearly earlier and nothing later in it. */
static int best_attempt(const struct attempts *a)
{
    int best = 0;
    for (int i = 1; i < ATTEMPTS; i++)
        if (a->at[i].is_tried && !is_any_later(a, i) &&
            sum_of_parts(a, i) * ESPI_TUNE_GAIN <= sum_of_parts(a, 0) &&
            sum_of_parts(a, i) < sum_of_parts(a, best))
            best = i;
    return best;
}

static esp_status tune_orders(const struct esp_platform *p,
                              const struct espi_tune_ask *ask, struct espi_tune *t,
                              struct esp_err *err)
{
    struct attempts a = {.p = p, .ask = ask, .tune = t};
    esp_status st = ESP_OK;
    for (int i = 0; i < ATTEMPTS; i++) {
        a.at[i].nodes = ESPI_NEW(int, (size_t)t->n_ranks + 1);
        a.at[i].cells = ESPI_NEW(struct espi_tune_cell, (size_t)t->n_cells + 1);
        if (!a.at[i].nodes || !a.at[i].cells)
            st = espi_err_nomem(err);
    }
    if (!st)
        st = make_attempts(&a, err);
    if (!st) {
        int best = best_attempt(&a);
        memcpy(t->nodes, a.at[best].nodes, (size_t)t->n_ranks * sizeof *t->nodes);
        memcpy(t->cells, a.at[best].cells, (size_t)t->n_cells * sizeof *t->cells);
        t->is_ordered = best > 0;
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        espi_free(a.at[i].nodes);
        espi_free(a.at[i].cells);
    }
    return st;
}

/* ---- all of it ---- */

void espi_tune_free(struct espi_tune *t)
{
    if (!t)
        return;
    espi_free(t->nodes);
    espi_free(t->cells);
    espi_free(t);
}

static const struct espi_native_rule *usual_rule(const struct esp_platform *p,
                                                 const struct espi_tune_ask *ask,
                                                 esp_op op, double size_bytes)
{
    return espi_native_rule_for(ask->table, op, p->n_hosts,
                                espi_native_bytes(p, op, size_bytes));
}

static void list_cells(const struct esp_platform *p, const struct espi_tune_ask *ask,
                       struct espi_tune *t)
{
    for (int i = 0; i < ask->n_ops; i++) {
        int known = 0;
        for (int k = 0; k < ask->n_sizes; k++)
            known += usual_rule(p, ask, ask->ops[i], ask->sizes[k]) != NULL;
        for (int k = 0; k < ask->n_sizes && known == ask->n_sizes; k++) {
            const struct espi_native_rule *rule =
                usual_rule(p, ask, ask->ops[i], ask->sizes[k]);
            t->cells[t->n_cells++] = (struct espi_tune_cell){
                .op = ask->ops[i],
                .size_bytes = ask->sizes[k],
                .usual = {rule->algo, rule->segment_bytes, rule->fanout}};
        }
    }
}

static esp_status fill_tune(const struct esp_platform *p, const struct espi_tune_ask *ask,
                            struct espi_tune *t, struct esp_err *err)
{
    size_t most = (size_t)ask->n_ops * (size_t)ask->n_sizes + 1;
    t->nodes = ESPI_NEW(int, (size_t)p->n_hosts + 1);
    t->cells = espi_calloc(most, sizeof *t->cells);
    if (!t->nodes || !t->cells)
        return espi_err_nomem(err);
    list_cells(p, ask, t);
    esp_status st = espi_rank_order_first(p, ask->first, ESPI_ORDER_GIVEN, t->nodes, err);
    if (!st)
        st = time_cells(p, ask, t, t->nodes, 1, err);
    return st ? st : tune_orders(p, ask, t, err);
}

esp_status espi_tune(const struct esp_platform *p, const struct espi_tune_ask *ask,
                     struct espi_tune **out, struct esp_err *err)
{
    struct espi_tune *t = espi_calloc(1, sizeof *t);
    if (!t)
        return espi_err_nomem(err);
    t->n_ranks = p->n_hosts;
    t->n_sizes = ask->n_sizes;
    esp_status st = p->n_hosts < 2
                        ? espi_err(err, ESP_EUNSUPPORTED,
                                   "there is nothing to tune with fewer than two hosts")
                        : fill_tune(p, ask, t, err);
    if (st)
        espi_tune_free(t);
    else
        *out = t;
    return st;
}
