/* A redundant plan that costs nothing while the measurements are right.
 *
 * In two-tree every receiver pauses to compare its senders, whether anything is wrong or
 * not, and two senders are too few when many measurements are wrong. Here there are up to
 * four trees; receivers never pause, and change their sender only when they expect to
 * gain (src/sim/patience.c).
 * Reference: none; made to beat two-tree's trade.
 * Measured (the two-tree experiment, docs/two-tree.md): without errors as ECEF; with
 * errors, from 30 nodes on, slower to degrade than two-tree even where comparing two
 * senders costs nothing. The exceptions stand in the document. Model: as two-tree.
 * Guarantee: none on the time; no arc is in two trees.
 * Complexity: O(m log n) a tree. */
#include "algo/redundant/redundant.h"
#include "algo/tuning.h"

enum { OPTION_BASE, OPTION_TREES, OPTION_PATIENCE };

static const struct espi_algo_option options[] = {
    [OPTION_BASE] = {.name = "base",
                     .choices = ESPI_REDUNDANT_BASES,
                     .meaning = "the algorithm of the first tree"},
    [OPTION_TREES] = {.name = "trees",
                      .standard = 4,
                      .min = 1,
                      .max = 4,
                      .meaning = "how many trees there are at most"},
    [OPTION_PATIENCE] = {.name = "patience",
                         .standard = ESPI_PATIENCE_STANDARD,
                         .min = 1,
                         .max = 1000,
                         .meaning =
                             "a transfer is late when it takes this many times the "
                             "expected time"},
    {0},
};

static esp_status run_patient(const struct espi_task *task, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct espi_redundant o = {
        .base = (int)task->option[OPTION_BASE],
        .trees = (int)task->option[OPTION_TREES],
        .patience = task->option[OPTION_PATIENCE],
    };
    return espi_redundant_plan(task, &o, plan, err);
}

const struct espi_algo espi_algo_patient = {
    .name = "patient",
    .family = "redundant",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_REDUNDANT,
    .whole_message = 1,
    .paper = "this project, after Cha et al. 2002",
    .complexity = "O(m log n) a tree",
    .summary = "more senders beside ecef's, called on when it is late",
    .options = options,
    .run = run_patient,
};
