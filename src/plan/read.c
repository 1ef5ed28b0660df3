/* Reads plans, format espalier-plan/1, against the platform they are for. Everything in
 * the file may be wrong: names are looked up, paths must be links, and the checker has
 * the last word. */
#include <string.h>

#include <espalier/plan.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "base/json_pull.h"
#include "plan/schedule.h"
#include "platform/platform.h"

struct reader {
    struct espi_json json;
    const struct esp_platform *p;
    struct esp_plan *plan;
    int *start, *hops; /* of the tree being read */
    size_t n_edges, start_cap, n_hops, hops_cap;
    int *nodes; /* of the list read last */
    size_t n_nodes, nodes_cap;
    int *steps; /* of the tree being read */
    size_t n_steps, steps_cap;
    struct esp_rent *rents;
    size_t n_rents, rents_cap;
    int has_format, has_root, has_trees;
    struct esp_schedule *schedule;
    int n_counts; /* trees that it has slices for */
};

static esp_status fail_nomem(struct reader *r)
{
    r->json.status = ESP_ENOMEM;
    return espi_err_nomem(r->json.err);
}

/* A node by its name, or -1 and an error. */
static int read_node(struct reader *r)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return -1;
    int node = espi_names_find_n(&r->p->nodes, t.at, t.length);
    if (node < 0) {
        char name[64], shown[64];
        snprintf(name, sizeof name, "%.*s", (int)(t.length > 60 ? 60 : t.length), t.at);
        espi_json_fail(&r->json, "the platform has no node named '%s'",
                       espi_quote(shown, sizeof shown, name));
    }
    return node;
}

static esp_status add_hop(struct reader *r, int from, int to)
{
    int link = esp_platform_find_link(r->p, from, to);
    char a[64], b[64];
    if (link < 0)
        return espi_json_fail(&r->json, "the platform has no link %s -> %s",
                              espi_quote(a, sizeof a, espi_node_name(r->p, from)),
                              espi_quote(b, sizeof b, espi_node_name(r->p, to)));
    if (espi_grow((void **)&r->hops, &r->hops_cap, r->n_hops + 1, sizeof(int)))
        return fail_nomem(r);
    r->hops[r->n_hops++] = link;
    return ESP_OK;
}

/* ["a", "b", ...]: a path, every step of it a link. */
static esp_status read_edge(struct reader *r)
{
    int last = -1, nodes = 0;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json)) {
        int node = read_node(r);
        if (node < 0 || (nodes++ > 0 && add_hop(r, last, node)))
            return r->json.status;
        last = node;
    }
    if (r->json.status)
        return r->json.status;
    if (nodes < 2)
        return espi_json_fail(&r->json, "an edge names at least two nodes");
    if (espi_grow((void **)&r->start, &r->start_cap, r->n_edges + 2, sizeof(int)))
        return fail_nomem(r);
    r->start[++r->n_edges] = (int)r->n_hops;
    return ESP_OK;
}

static esp_status read_edges(struct reader *r)
{
    if (espi_grow((void **)&r->start, &r->start_cap, 1, sizeof(int)))
        return fail_nomem(r);
    r->start[0] = 0;
    r->n_edges = r->n_hops = 0;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json)) {
        if (r->n_hops > (size_t)1 << 28)
            return espi_json_fail(&r->json, "the tree is too large");
        read_edge(r);
    }
    return r->json.status;
}

/* A list of nodes, each named once. */
static esp_status read_nodes(struct reader *r)
{
    r->n_nodes = 0;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json)) {
        int node = read_node(r);
        if (node < 0)
            break;
        if (r->n_nodes >= (size_t)r->p->n_nodes)
            return espi_json_fail(&r->json, "there are more targets than nodes");
        if (espi_grow((void **)&r->nodes, &r->nodes_cap, r->n_nodes + 1, sizeof(int)))
            return fail_nomem(r);
        r->nodes[r->n_nodes++] = node;
    }
    return r->json.status;
}

static esp_status read_steps(struct reader *r)
{
    r->n_steps = 0;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json)) {
        double step;
        if (espi_json_number(&r->json, &step))
            break;
        if (!(step >= 0 && step <= 1e9 && step == (int)step))
            return espi_json_fail(&r->json, "a step is a whole number from 0 to 1e9");
        if (espi_grow((void **)&r->steps, &r->steps_cap, r->n_steps + 1, sizeof(int)))
            return fail_nomem(r);
        r->steps[r->n_steps++] = (int)step;
    }
    return r->json.status;
}

static esp_status failed(struct reader *r, esp_status st)
{
    if (st)
        r->json.status = st;
    return st;
}

/* The tree at hand, whole. A root that is not given is the plan's, which may not have
 * been read yet: -1 until then. */
static esp_status add_tree(struct reader *r, double weight, int root, int has_targets,
                           int has_steps)
{
    esp_status st = esp_plan_add_tree(r->plan, r->p, weight, (int)r->n_edges, r->start,
                                      r->hops, r->json.err);
    if (!st)
        st = esp_plan_set_tree_ends(r->plan, root, has_targets ? (int)r->n_nodes : 0,
                                    has_targets ? r->nodes : NULL, r->json.err);
    if (!st && has_steps)
        st = esp_plan_set_tree_steps(r->plan, r->steps, r->json.err);
    return failed(r, st);
}

static esp_status read_tree(struct reader *r)
{
    struct espi_json_text key;
    double weight = 0;
    int has_edges = 0, has_weight = 0, has_targets = 0, has_steps = 0, root = -1;
    espi_json_open_object(&r->json);
    while (espi_json_key(&r->json, &key)) {
        if (espi_json_is(&key, "weight"))
            has_weight = !espi_json_number(&r->json, &weight);
        else if (espi_json_is(&key, "edges"))
            has_edges = !read_edges(r);
        else if (espi_json_is(&key, "root"))
            root = read_node(r);
        else if (espi_json_is(&key, "targets"))
            has_targets = !read_nodes(r);
        else if (espi_json_is(&key, "steps"))
            has_steps = !read_steps(r);
        else
            espi_json_skip(&r->json);
    }
    if (r->json.status)
        return r->json.status;
    if (has_steps && r->n_steps != r->n_edges)
        return espi_json_fail(&r->json, "this tree has %zu steps for %zu edges",
                              r->n_steps, r->n_edges);
    if (!has_edges || !has_weight)
        return espi_json_fail(&r->json, "this tree has no \"%s\"",
                              has_edges ? "weight" : "edges");
    if (has_targets && !r->n_nodes)
        return espi_json_fail(&r->json, "the list of targets is empty");
    return add_tree(r, weight, root, has_targets, has_steps);
}

static esp_status read_targets(struct reader *r)
{
    if (read_nodes(r))
        return r->json.status;
    if (!r->n_nodes)
        return espi_json_fail(&r->json, "the list of targets is empty");
    return failed(r,
                  esp_plan_set_targets(r->plan, (int)r->n_nodes, r->nodes, r->json.err));
}

/* {"aws:eu-west-1": 2, ...} */
static esp_status read_rents(struct reader *r)
{
    struct espi_json_text key;
    r->n_rents = 0;
    espi_json_open_object(&r->json);
    while (espi_json_key(&r->json, &key)) {
        int node = espi_names_find_n(&r->p->nodes, key.at, key.length);
        double count;
        if (node < 0)
            return espi_json_fail(&r->json, "machines are counted at a node that the "
                                            "platform does not have");
        if (espi_json_number(&r->json, &count))
            break;
        if (!(count >= 1 && count <= 1e9 && count == (int)count))
            return espi_json_fail(&r->json, "machines are counted from 1 to 1e9");
        if (r->n_rents >= (size_t)r->p->n_nodes)
            return espi_json_fail(&r->json, "machines of a node are counted twice");
        if (espi_grow((void **)&r->rents, &r->rents_cap, r->n_rents + 1,
                      sizeof *r->rents))
            return fail_nomem(r);
        r->rents[r->n_rents++] = (struct esp_rent){node, (int)count};
    }
    if (r->json.status)
        return r->json.status;
    return failed(r, esp_plan_set_rents(r->plan, (int)r->n_rents, r->rents, r->json.err));
}

static esp_status read_trees(struct reader *r)
{
    if (r->has_trees++)
        return espi_json_fail(&r->json, "\"trees\" is there twice");
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json))
        read_tree(r);
    return r->json.status;
}

static esp_status read_algo(struct reader *r)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return r->json.status;
    char *name = espi_malloc(t.length + 1);
    if (!name)
        return fail_nomem(r);
    memcpy(name, t.at, t.length);
    name[t.length] = '\0';
    espi_free(r->plan->algo);
    r->plan->algo = name;
    return ESP_OK;
}

static esp_status read_op(struct reader *r)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return r->json.status;
    for (int op = 0; op < ESP_OP_COUNT; op++)
        if (espi_json_is(&t, esp_op_name((esp_op)op))) {
            r->plan->op = (esp_op)op;
            return ESP_OK;
        }
    return espi_json_fail(&r->json, "this \"op\" is not known");
}

static esp_status read_format(struct reader *r)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return r->json.status;
    if (!espi_json_is(&t, "espalier-plan/1"))
        return espi_json_fail(&r->json, "\"format\" is not \"espalier-plan/1\": this is "
                                        "no plan, or one of a newer espalier");
    r->has_format = 1;
    return ESP_OK;
}

static double *figure(struct esp_plan *plan, const struct espi_json_text *key)
{
    const struct {
        const char *key;
        double *value;
    } figures[] = {
        {"size_bytes", &plan->size_bytes},
        {"slice_bytes", &plan->slice_bytes},
        {"throughput_Bps", &plan->throughput_Bps},
        {"makespan_s", &plan->makespan_s},
        {"bound_Bps", &plan->bound_Bps},
        {"makespan_bound_s", &plan->makespan_bound_s},
        {"plan_s", &plan->plan_s},
        {"patience", &plan->patience},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (espi_json_is(key, figures[i].key))
            return figures[i].value;
    return NULL;
}

static void read_member(struct reader *r, const struct espi_json_text *key)
{
    double *number = figure(r->plan, key);
    if (number) {
        espi_json_number(&r->json, number);
    } else if (espi_json_is(key, "format")) {
        read_format(r);
    } else if (espi_json_is(key, "op")) {
        read_op(r);
    } else if (espi_json_is(key, "root")) {
        int root = read_node(r);
        r->plan->root = root;
        r->has_root = 1;
    } else if (espi_json_is(key, "targets")) {
        read_targets(r);
    } else if (espi_json_is(key, "algo")) {
        read_algo(r);
    } else if (espi_json_is(key, "redundant")) {
        espi_json_bool(&r->json, &r->plan->redundant);
    } else if (espi_json_is(key, "trees")) {
        read_trees(r);
    } else if (espi_json_is(key, "machines")) {
        read_rents(r);
    } else if (espi_json_is(key, "schedule")) {
        if (r->schedule)
            espi_json_fail(&r->json, "\"schedule\" is there twice");
        else
            espi_schedule_read(&r->json, &r->schedule, &r->n_counts);
    } else {
        espi_json_skip(&r->json);
    }
}

static esp_status read_plan(struct reader *r)
{
    struct espi_json_text key;
    espi_json_open_object(&r->json);
    while (espi_json_key(&r->json, &key))
        read_member(r, &key);
    if (espi_json_end(&r->json))
        return r->json.status;
    if (!r->has_format || !r->has_root || !r->has_trees)
        return espi_json_fail(&r->json, "there is no \"%s\"",
                              !r->has_format ? "format"
                              : !r->has_root ? "root"
                                             : "trees");
    for (int t = 0; t < r->plan->n_trees; t++)
        if (r->plan->trees[t].root < 0)
            r->plan->trees[t].root = r->plan->root;
    if (r->schedule && r->n_counts != r->plan->n_trees)
        return espi_json_fail(&r->json, "the schedule is for %d trees, the plan has %d",
                              r->n_counts, r->plan->n_trees);
    r->plan->schedule = r->schedule;
    r->schedule = NULL;
    return ESP_OK;
}

esp_status esp_plan_parse(const char *text, size_t length, const char *where,
                          const struct esp_platform *p, struct esp_plan **out,
                          struct esp_err *err)
{
    struct reader r = {.p = p};
    esp_status st = esp_plan_create(ESP_OP_BCAST, 0, "", &r.plan, err);
    if (st)
        return st;
    espi_json_init(&r.json, text, length, where, err);
    st = read_plan(&r);
    if (!st) {
        st = esp_plan_check(r.plan, p, err);
        if (st)
            espi_err_prefix(err, st, where);
    }
    espi_json_done(&r.json);
    espi_free(r.start);
    espi_free(r.hops);
    espi_free(r.nodes);
    espi_free(r.steps);
    espi_free(r.rents);
    espi_schedule_free(r.schedule);
    if (st)
        esp_plan_free(r.plan);
    else
        *out = r.plan;
    return st;
}

esp_status esp_plan_read(const char *path, const struct esp_platform *p,
                         struct esp_plan **out, struct esp_err *err)
{
    struct espi_input in;
    esp_status st = espi_input_read(&in, path, err);
    if (st)
        return st;
    st = esp_plan_parse(in.text, in.length, in.where, p, out, err);
    espi_input_done(&in);
    return st;
}
