/* Two-tree collective communication (TTCC): a redundant tree beside the first.
 *
 * The first tree is that of ECEF; the second is grown by ECEF over the arcs that are
 * neither in the first nor the reverse of one that is. A host sends to its children in
 * the first tree and then to those in the second; a receiver takes the message from the
 * faster of its two senders (src/sim/race.c).
 * Reference: K. Cha, D. Han, C. Yu, O. Byeon, Two-tree collective communication in
 * distributed heterogeneous systems, 2002.
 * Model: one-port; with the holding times of the view in the other models.
 * Guarantee: none on the time. No arc is in two trees. While the second tree is one, a
 * single failing link leaves every host a sender.
 * Complexity: O(m log n) a tree.
 * Departures: the printed second loop runs over an empty set and with the first tree's
 * informed set; here it starts anew from the root. Where the first tree leaves no way on
 * (a star does), reverse arcs are let in, and hosts that are still not reached get their
 * fastest free arc from anybody, which makes a second sender but no tree; hosts with no
 * other way in have one sender only. Any number of trees up to four, other base
 * algorithms for the first, and, with aware=1, a second tree that knows when hosts are
 * through with the first. */
#include "algo/redundant/redundant.h"

enum { OPTION_BASE, OPTION_TREES, OPTION_AWARE };

static const struct espi_algo_option options[] = {
    [OPTION_BASE] = {.name = "base",
                     .choices = ESPI_REDUNDANT_BASES,
                     .meaning = "the algorithm of the first tree"},
    [OPTION_TREES] = {.name = "trees",
                      .standard = 2,
                      .min = 1,
                      .max = 4,
                      .meaning = "how many trees there are at most"},
    [OPTION_AWARE] = {.name = "aware",
                      .choices = "0|1",
                      .meaning = "hosts send in a tree once they are through with those "
                                 "before it"},
    {0},
};

static esp_status run_two_tree(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    struct espi_redundant o = {
        .base = (int)task->option[OPTION_BASE],
        .trees = (int)task->option[OPTION_TREES],
        .aware = (int)task->option[OPTION_AWARE],
    };
    return espi_redundant_plan(task, &o, plan, err);
}

const struct espi_algo espi_algo_two_tree = {
    .name = "two-tree",
    .family = "redundant",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_REDUNDANT,
    .whole_message = 1,
    .paper = "Cha, Han, Yu, Byeon 2002",
    .complexity = "O(m log n) a tree",
    .summary = "a second tree beside ecef's; receivers take the faster sender",
    .options = options,
    .run = run_two_tree,
};
