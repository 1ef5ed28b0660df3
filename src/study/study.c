#include "study/study.h"

#include <stdatomic.h>

#include "base/err.h"
#include "base/parallel.h"

#define STUDY(name) extern const struct espi_study espi_study_##name;
#include "study/study_list.def"
#undef STUDY

static const struct espi_study *const studies[] = {
#define STUDY(name) &espi_study_##name,
#include "study/study_list.def"
#undef STUDY
};

const struct espi_study *const *espi_studies(int *count)
{
    *count = sizeof studies / sizeof *studies;
    return studies;
}

struct work {
    const struct espi_study_run *run;
    size_t n;
    esp_status (*job)(void *arg, size_t i, struct esp_err *err);
    void *arg;
    atomic_int failed;
    esp_status status;
    struct esp_err err;
};

static void run_job(void *work, size_t i)
{
    struct work *w = work;
    struct esp_err err = {.status = ESP_OK, .text = ""};

    if (atomic_load(&w->failed))
        return;
    esp_status status = w->job(w->arg, i, &err);
    if (status != ESP_OK && atomic_exchange(&w->failed, 1) == 0) {
        w->status = status;
        w->err = err;
    }
}

static void tell_progress(void *work, size_t done)
{
    struct work *w = work;

    if (w->run->progress)
        w->run->progress(w->run->progress_arg, done, w->n);
}

esp_status espi_study_jobs(const struct espi_study_run *run, size_t n,
                           esp_status (*job)(void *arg, size_t i, struct esp_err *err),
                           void *arg, struct esp_err *err)
{
    struct work w = {.run = run, .n = n, .job = job, .arg = arg, .status = ESP_OK};

    espi_parallel(&(struct espi_jobs){.n = n,
                                      .job = run_job,
                                      .arg = &w,
                                      .progress = tell_progress,
                                      .progress_arg = &w});
    if (w.status != ESP_OK && err)
        *err = w.err;
    return w.status;
}

/* ---- tables ---- */

struct filling {
    const struct espi_study_table *table;
    esp_status (*fill_row)(const struct espi_study_table *table, size_t row,
                           double *cells, struct esp_err *err);
};

static esp_status fill_one(void *filling, size_t i, struct esp_err *err)
{
    const struct filling *f = filling;

    return f->fill_row(f->table, i, f->table->cells + i * f->table->width, err);
}

esp_status
espi_study_fill(const struct espi_study_run *run, struct espi_study_table *table,
                esp_status (*fill_row)(const struct espi_study_table *table, size_t row,
                                       double *cells, struct esp_err *err),
                struct esp_err *err)
{
    struct filling filling = {table, fill_row};

    table->seed = run->seed;
    table->cells =
        ESPI_ARENA_ZNEW(run->findings->arena, double, table->rows * table->width + 1);
    if (!table->cells)
        return espi_err(err, ESP_ENOMEM, "out of memory");
    return espi_study_jobs(run, table->rows, fill_one, &filling, err);
}
