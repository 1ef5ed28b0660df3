/* Shortest paths with initiation costs, and children in post-order.
 *
 * Dijkstra's algorithm where a host that has sent k times can start its next send only
 * k initiation costs after the message came: the pair with the smallest
 * d(u) + (k(u) + 1) c(u) + w(u, v) is next. Then each host serves first the child behind
 * which most remains to be done (the post-order labels).
 * Reference: G. Mateescu, A method for MPI broadcast in computational grids, 2005; the
 * details after R. Gupta, S. Vadhiyar, Application-oriented adaptive MPI_Bcast for grids.
 * Model: multi-port, c(u) the send overhead, w the time of the link. In the one-port
 * models a host is busy for the whole send, c depends on the link, and the tree is that
 * of ECEF; what the post-order changes is left.
 * Ties: the lower sender, then the lower receiver.
 * Guarantee: the order is the best for the tree; none for the tree.
 * Complexity: O(m log n), where the reference has O(n^2 log n). */
#include "algo/atomic/greedy.h"
#include "base/err.h"

static esp_status run_mateescu(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    struct espi_greedy g;
    int *parent_arc = ESPI_ARENA_NEW(task->arena, int, task->view->g.n);
    if (!parent_arc || espi_greedy_init(&g, task))
        return espi_err_nomem(err);
    espi_greedy_run(&g, espi_offer_earliest, NULL);
    for (int h = 0; h < g.v->g.n; h++)
        parent_arc[h] = -1;
    for (int i = 0; i < g.n_chosen; i++)
        parent_arc[g.v->g.head[g.chosen[i]]] = g.chosen[i];
    return espi_plan_add_parents(plan, g.v, g.root, 1, parent_arc, task->arena, err);
}

const struct espi_algo espi_algo_mateescu = {
    .name = "mateescu",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "Mateescu 2005; Gupta, Vadhiyar 2006",
    .complexity = "O(m log n)",
    .summary = "shortest paths with initiation costs, the longest rest served first",
    .run = run_mateescu,
};
