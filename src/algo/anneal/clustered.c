/* clusteredSA: pools of hosts that are near each other are annealed alone, then the roots
 * of their trees, again by pools, and the best of up to four ways to form pools is kept.
 *
 * Departures: the cost of a way is that of the whole tree, not a sum of parts; a way that
 * leaves more than half as many pools as hosts is passed over, since it hardly divides
 * anything and four such ways a level would take exponential time; where no way is left
 * or gives a tree (the platform is sparse), all hosts are annealed at once. The
 * budget is shared out evenly over the annealings that a dry run counts, in which the
 * first host stands for each pool. */
#include <math.h>
#include <string.h>

#include "algo/anneal/anneal.h"

/* limit: above this the matrix of bandwidths is no longer affordable. */
enum { MATRIX_MAX = 2000 };

struct ways {
    int count;
    int pools[ESPI_POOL_SETS]; /* how many each forms */
    int *pool[ESPI_POOL_SETS]; /* place in the set -> pool */
    int largest[ESPI_POOL_SETS];
};

struct job {
    const struct espi_clustered *c;
    double share; /* of the budget, for one annealing */
    uint64_t seed;
};

/* The best arc each way between the hosts of a set; the diagonal as good as the best. */
static void fill_matrix(const struct espi_anneal_net *whole, int n, const int *set,
                        int *place, double *bandwidth)
{
    const struct espi_view *v = whole->v;
    memset(bandwidth, 0, (size_t)n * (size_t)n * sizeof *bandwidth);
    memset(place, -1, (size_t)v->g.n * sizeof *place);
    for (int i = 0; i < n; i++)
        place[set[i]] = i;
    for (int i = 0; i < n; i++)
        for (int k = v->g.out.start[set[i]]; k < v->g.out.start[set[i] + 1]; k++) {
            int e = v->g.out.item[k], j = place[v->g.head[e]];
            if (j < 0)
                continue;
            double *entry = &bandwidth[(size_t)i * (size_t)n + (size_t)j];
            *entry = fmax(*entry, v->bandwidth_Bps[e]);
        }
}

static int same_pools(const int *a, const int *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Ways that make pools too large go, unless all do. */
static void drop_large(struct ways *w)
{
    int kept = 0;
    for (int i = 0; i < w->count; i++)
        kept += w->largest[i] <= ESPI_POOL_MAX;
    if (kept == 0)
        return;
    for (int i = w->count - 1; i >= 0; i--) {
        if (w->largest[i] <= ESPI_POOL_MAX)
            continue;
        w->count--;
        for (int k = i; k < w->count; k++) {
            w->pools[k] = w->pools[k + 1];
            w->pool[k] = w->pool[k + 1];
            w->largest[k] = w->largest[k + 1];
        }
    }
}

static int largest_of(const int *size, int pools)
{
    int most = 0;
    for (int k = 0; k < pools; k++)
        if (size[k] > most)
            most = size[k];
    return most;
}

/* The ways to form pools of a set. -1: out of memory. */
static int form_ways(const struct job *job, int n, const int *set, struct ways *w)
{
    /* published: with the method */
    static const double parts[ESPI_POOL_SETS] = {0.10, 0.25, 0.50, 0.75};
    const struct espi_clustered *c = job->c;
    w->count = 0;
    for (int i = 0; i < ESPI_POOL_SETS; i++)
        if (!(w->pool[i] = ESPI_ARENA_NEW(c->arena, int, n)))
            return -1;
    struct espi_arena_mark mark = espi_arena_mark(c->arena);
    double *bandwidth = ESPI_ARENA_NEW(c->arena, double, (size_t)n *(size_t)n);
    double *sum = ESPI_ARENA_NEW(c->arena, double, n);
    int *place = ESPI_ARENA_NEW(c->arena, int, c->whole->v->g.n);
    int *size = ESPI_ARENA_NEW(c->arena, int, n);
    if (!bandwidth || !sum || !place || !size)
        return -1;
    fill_matrix(c->whole, n, set, place, bandwidth);
    for (int i = 0; i < ESPI_POOL_SETS; i++) {
        int *pool = w->pool[w->count], known = 0;
        int pools = espi_form_pools(n, bandwidth, parts[i], c->rule, pool, size, sum);
        for (int k = 0; k < w->count; k++)
            known = known || same_pools(pool, w->pool[k], n);
        if (known || pools > n / 2)
            continue;
        w->pools[w->count] = pools;
        w->largest[w->count++] = largest_of(size, pools);
    }
    espi_arena_release(c->arena, mark);
    drop_large(w);
    return 0;
}

static int members(const int *pool, int n, int which, const int *set, int *out)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (pool[i] == which)
            out[count++] = set[i];
    return count;
}

static int is_leaf(int n)
{
    return n <= ESPI_POOL_MAX || n > MATRIX_MAX;
}

/* How many annealings it will take; -1: out of memory. */
static double count_annealings(const struct job *job, int n, const int *set)
{
    struct espi_arena *arena = job->c->arena;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct ways w;
    double total = 0;
    if (is_leaf(n))
        return 1;
    int *firsts = ESPI_ARENA_NEW(arena, int, n), *one = ESPI_ARENA_NEW(arena, int, n);
    if (!firsts || !one || form_ways(job, n, set, &w))
        return -1;
    for (int i = 0; i < w.count; i++) {
        total += w.pools[i];
        if (w.pools[i] == 1)
            continue;
        for (int k = 0; k < w.pools[i]; k++) {
            members(w.pool[i], n, k, set, one);
            firsts[k] = one[0];
        }
        double deeper = count_annealings(job, w.pools[i], firsts);
        if (deeper < 0)
            return -1;
        total += deeper;
    }
    espi_arena_release(arena, mark);
    return total > 0 ? total : 1;
}

static int net_of(const struct job *job, int n, const int *set,
                  struct espi_anneal_net *net)
{
    const struct espi_anneal_net *whole = job->c->whole;
    if (espi_anneal_net_init(net, whole->v, n, set, whole->host[whole->root],
                             job->c->arena))
        return -1;
    net->objective = whole->objective;
    net->count = whole->count;
    net->judge = whole->judge;
    net->judge_arg = whole->judge_arg;
    return 0;
}

/* Anneals a set at once; its arcs go to parent_arc and its root to *root. */
static int anneal_set(struct job *job, int n, const int *set, int *parent_arc, int *root)
{
    const struct espi_clustered *c = job->c;
    struct espi_arena_mark mark = espi_arena_mark(c->arena);
    struct espi_anneal_budget budget;
    struct espi_anneal_net net;
    struct espi_annealer a;
    espi_anneal_budget_start(&budget, c->budget->timed ? 0 : job->share,
                             c->budget->timed ? job->share : 0);
    if (net_of(job, n, set, &net))
        return -1;
    /* A part of a tree cannot be judged as a whole one is. */
    if (net.objective == ESPI_ANNEAL_JUDGED && n < c->whole->n)
        net.objective = ESPI_ANNEAL_FILL;
    if (espi_annealer_init(&a, &net, &c->cooling, job->seed++, &budget, c->arena))
        return -1;
    int bad = espi_anneal_driver(&a, NULL, c->arena);
    c->budget->evaluations += budget.evaluations;
    if (!bad) {
        *root = set[a.root];
        for (int x = 0; x < n; x++)
            if (x != a.root)
                parent_arc[set[x]] = net.arc[a.best[x]];
    }
    espi_arena_release(c->arena, mark);
    return bad;
}

/* What the tree over the set is worth; NaN: out of memory. */
static double value_of(const struct job *job, int n, const int *set,
                       const int *parent_arc, int root)
{
    struct espi_arena_mark mark = espi_arena_mark(job->c->arena);
    struct espi_anneal_net net;
    struct espi_anneal_tree t;
    int *up = ESPI_ARENA_NEW(job->c->arena, int, n);
    if (!up || net_of(job, n, set, &net))
        return NAN;
    if (net.objective == ESPI_ANNEAL_JUDGED && n < job->c->whole->n)
        net.objective = ESPI_ANNEAL_FILL;
    if (espi_anneal_tree_init(&t, &net, job->c->arena))
        return NAN;
    for (int x = 0; x < n; x++) {
        up[x] = -1;
        for (int k = net.start[x]; k < net.start[x + 1]; k++)
            if (set[x] != root && net.arc[k] == parent_arc[set[x]])
                up[x] = k;
    }
    espi_anneal_tree_set(&t, net.number[root], up);
    double value_s = t.value_s;
    espi_arena_release(job->c->arena, mark);
    return value_s;
}

static int solve_set(struct job *job, int n, const int *set, int *parent_arc, int *root);

/* One way to form pools: each its tree, and a tree of their roots above. */
static int try_way(struct job *job, int n, const int *set, const int *pool, int pools,
                   int *parent_arc, int *root)
{
    struct espi_arena *arena = job->c->arena;
    int *one = ESPI_ARENA_NEW(arena, int, n), *roots = ESPI_ARENA_NEW(arena, int, pools);
    int bad = 0;
    if (!one || !roots)
        return -1;
    for (int k = 0; k < pools && !bad; k++) {
        int count = members(pool, n, k, set, one);
        bad = anneal_set(job, count, one, parent_arc, &roots[k]);
    }
    *root = roots[0];
    if (bad || pools == 1)
        return bad;
    return solve_set(job, pools, roots, parent_arc, root);
}

/* The tree of a set, by pools if it is large. 1: there is none. */
static int solve_set(struct job *job, int n, const int *set, int *parent_arc, int *root)
{
    struct espi_arena *arena = job->c->arena;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct ways w = {.count = 0};
    size_t hosts = (size_t)job->c->whole->v->g.n;
    double best_s = INFINITY;
    if (is_leaf(n))
        return anneal_set(job, n, set, parent_arc, root);
    int *own = ESPI_ARENA_NEW(arena, int, hosts), own_root = -1;
    if (!own || form_ways(job, n, set, &w))
        return -1;
    for (int i = 0; i < w.count; i++) {
        int bad = try_way(job, n, set, w.pool[i], w.pools[i], own, &own_root);
        double value_s = bad ? INFINITY : value_of(job, n, set, own, own_root);
        if (bad < 0 || isnan(value_s))
            return -1;
        if (!(value_s < best_s))
            continue;
        best_s = value_s;
        *root = own_root;
        for (int x = 0; x < n; x++)
            parent_arc[set[x]] = set[x] == own_root ? -1 : own[set[x]];
    }
    espi_arena_release(arena, mark);
    return isfinite(best_s) ? 0 : anneal_set(job, n, set, parent_arc, root);
}

int espi_anneal_clustered(const struct espi_clustered *c, int *parent_arc)
{
    struct job job = {.c = c, .seed = c->seed};
    const struct espi_anneal_net *whole = c->whole;
    double annealings = count_annealings(&job, whole->n, whole->host);
    int root = whole->host[whole->root];
    if (annealings < 0)
        return -1;
    double rest = c->budget->limit - espi_anneal_budget_used(c->budget);
    if (c->budget->limit > 0)
        job.share = fmax(rest / annealings, c->budget->timed ? 1e-6 : 1);
    int bad = solve_set(&job, whole->n, whole->host, parent_arc, &root);
    if (!bad)
        parent_arc[root] = -1;
    return bad;
}
