#include "algo/anneal/tree.h"

#include <math.h>
#include <string.h>

/* Children that come and go at one host, as seen while a change is weighed. */
struct kid {
    int number;
    double key_s, hold_s;
};

struct swap {
    int out[2], n_in; /* out: -1: none */
    struct kid in[2];
};

static int has_labels(const struct espi_anneal_net *net)
{
    return net->objective != ESPI_ANNEAL_THROUGHPUT;
}

static int has_loads(const struct espi_anneal_net *net)
{
    return net->objective == ESPI_ANNEAL_THROUGHPUT ||
           net->objective == ESPI_ANNEAL_FINISH;
}

/* ---- hashes ---- */

static uint64_t hash_of(int x, int k)
{
    uint64_t z = (uint64_t)(unsigned)x << 32 | (unsigned)k;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t espi_anneal_tree_next_hash(const struct espi_anneal_tree *t)
{
    int x = t->change.x;
    return t->hash ^ hash_of(x, t->up[x]) ^ hash_of(x, t->change.k);
}

/* ---- maxima of loads ---- */

static void peak_set(struct espi_anneal_tree *t, int resource)
{
    int i = t->leaves + resource;
    t->peak[i] = t->loads.load[resource];
    for (i /= 2; i > 0; i /= 2) {
        double most = fmax(t->peak[2 * i], t->peak[2 * i + 1]);
        if (most == t->peak[i])
            return;
        t->peak[i] = most;
    }
}

static void peaks_set_all(struct espi_anneal_tree *t)
{
    for (int r = 0; r < t->leaves; r++)
        t->peak[t->leaves + r] = r < t->net->v->links.n ? t->loads.load[r] : 0;
    for (int i = t->leaves - 1; i > 0; i--)
        t->peak[i] = fmax(t->peak[2 * i], t->peak[2 * i + 1]);
}

static int busiest(const struct espi_anneal_tree *t)
{
    int i = 1;
    while (i < t->leaves)
        i = t->peak[2 * i] == t->peak[i] ? 2 * i : 2 * i + 1;
    return i - t->leaves;
}

static void exchange_arcs(struct espi_anneal_tree *t, int out, int in)
{
    const struct espi_view *v = t->net->v;
    espi_tree_state_remove(&t->loads, out);
    espi_tree_state_add(&t->loads, in);
    for (int i = v->use_start[out]; i < v->use_start[out + 1]; i++)
        peak_set(t, v->use_resource[i]);
    for (int i = v->use_start[in]; i < v->use_start[in + 1]; i++)
        peak_set(t, v->use_resource[i]);
}

/* ---- labels ---- */

static int goes_before(double key_s, int number, double than_s, int other)
{
    return key_s > than_s || (key_s == than_s && number < other);
}

static void serve_kid(double *busy_s, double *most_s, double hold_s, double key_s)
{
    *busy_s += hold_s;
    *most_s = fmax(*most_s, *busy_s + key_s);
}

/* The label of u with some children exchanged. */
static double label_with(const struct espi_anneal_tree *t, int u, const struct swap *swap)
{
    double busy_s = 0, most_s = 0;
    int i = 0;
    for (int c = t->first[u]; c >= 0; c = t->next[c]) {
        if (c == swap->out[0] || c == swap->out[1])
            continue;
        for (; i < swap->n_in &&
               goes_before(swap->in[i].key_s, swap->in[i].number, t->key_s[c], c);
             i++)
            serve_kid(&busy_s, &most_s, swap->in[i].hold_s, swap->in[i].key_s);
        serve_kid(&busy_s, &most_s, t->hold_s[c], t->key_s[c]);
    }
    for (; i < swap->n_in; i++)
        serve_kid(&busy_s, &most_s, swap->in[i].hold_s, swap->in[i].key_s);
    return most_s;
}

static void swap_in(struct swap *swap, struct kid kid)
{
    int at = swap->n_in++;
    if (at && goes_before(kid.key_s, kid.number, swap->in[0].key_s, swap->in[0].number)) {
        swap->in[1] = swap->in[0];
        at = 0;
    }
    swap->in[at] = kid;
}

static double key_of(const struct espi_anneal_net *net, int k, double label_s)
{
    return net->lag_s[k] - net->hold_s[k] + label_s;
}

static int parent_of(const struct espi_anneal_tree *t, int x)
{
    return t->up[x] < 0 ? -1 : t->net->tail[t->up[x]];
}

/* Goes from u towards the root with what changes below it, up to the host `stop` (not
 * into it; -1: beyond the root). The swap that remains for that host is left in *swap;
 * nothing remains when a label came out as it was. */
static void climb(struct espi_anneal_tree *t, int u, int stop, struct swap *swap)
{
    for (; u != stop; u = parent_of(t, u)) {
        double label_s = label_with(t, u, swap);
        if (label_s == t->label_s[u]) {
            *swap = (struct swap){.out = {-1, -1}};
            return;
        }
        t->change.node[t->change.n] = u;
        t->change.label_s[t->change.n++] = label_s;
        *swap = (struct swap){.out = {u, -1}};
        if (t->up[u] >= 0)
            swap_in(swap, (struct kid){u, key_of(t->net, t->up[u], label_s),
                                       t->net->hold_s[t->up[u]]});
    }
}

/* The first host on both ways to the root. */
static int meeting(struct espi_anneal_tree *t, int a, int b)
{
    t->now++;
    for (; a >= 0; a = parent_of(t, a))
        t->stamp[a] = t->now;
    while (t->stamp[b] != t->now)
        b = parent_of(t, b);
    return b;
}

/* The label of the root after the change. */
static double weigh_labels(struct espi_anneal_tree *t, int x, int k)
{
    const struct espi_anneal_net *net = t->net;
    int from = parent_of(t, x), to = net->tail[k], meet = meeting(t, to, from);
    struct swap left = {.out = {x, -1}}, right = {.out = {-1, -1}};
    swap_in(&right, (struct kid){x, key_of(net, k, t->label_s[x]), net->hold_s[k]});
    climb(t, from, meet, &left);
    climb(t, to, meet, &right);
    right.out[1] = left.out[0];
    if (left.n_in)
        swap_in(&right, left.in[0]);
    climb(t, meet, -1, &right);
    int n = t->change.n;
    return n && t->change.node[n - 1] == t->root ? t->change.label_s[n - 1]
                                                 : t->label_s[t->root];
}

/* ---- the value ---- */

static double value_of(const struct espi_anneal_tree *t, double label_s)
{
    const struct espi_anneal_net *net = t->net;
    double enter_s = net->enter_s[t->root];
    if (net->objective == ESPI_ANNEAL_FILL)
        return enter_s + label_s;
    if (net->objective == ESPI_ANNEAL_THROUGHPUT)
        return t->peak[1];
    /* Where much meets on a cable, the first slice alone says too little. */
    return enter_s +
           fmax(label_s + (net->count - 1) * t->peak[1], net->count * t->peak[1]);
}

static double judged(struct espi_anneal_tree *t, int x, int k)
{
    const struct espi_anneal_net *net = t->net;
    int *parent_arc = t->scratch;
    memset(parent_arc, -1, (size_t)net->v->g.n * sizeof *parent_arc);
    for (int i = 0; i < net->n; i++)
        if (t->up[i] >= 0)
            parent_arc[net->host[i]] = net->arc[t->up[i]];
    if (x >= 0)
        parent_arc[net->host[x]] = net->arc[k];
    return net->enter_s[t->root] + net->judge(net->judge_arg, parent_arc);
}

double espi_anneal_tree_weigh(struct espi_anneal_tree *t, int x, int k)
{
    const struct espi_anneal_net *net = t->net;
    double label_s = 0;
    t->change.x = x;
    t->change.k = k;
    t->change.n = 0;
    if (has_labels(net))
        label_s = weigh_labels(t, x, k);
    if (net->objective == ESPI_ANNEAL_JUDGED)
        return t->change.value_s = judged(t, x, k);
    if (has_loads(net))
        exchange_arcs(t, net->arc[t->up[x]], net->arc[k]);
    return t->change.value_s = value_of(t, label_s);
}

/* ---- changing ---- */

static void unhang(struct espi_anneal_tree *t, int x, int from)
{
    int next = t->next[x], prev = t->prev[x];
    if (next >= 0)
        t->prev[next] = prev;
    if (prev >= 0)
        t->next[prev] = next;
    else
        t->first[from] = next;
}

static void hang(struct espi_anneal_tree *t, int x, int on)
{
    int before = -1, after = t->first[on];
    while (after >= 0 && goes_before(t->key_s[after], after, t->key_s[x], x)) {
        before = after;
        after = t->next[after];
    }
    t->next[x] = after;
    t->prev[x] = before;
    if (after >= 0)
        t->prev[after] = x;
    if (before >= 0)
        t->next[before] = x;
    else
        t->first[on] = x;
}

static void set_key(struct espi_anneal_tree *t, int x)
{
    t->hold_s[x] = t->net->hold_s[t->up[x]];
    t->key_s[x] = key_of(t->net, t->up[x], t->label_s[x]);
}

void espi_anneal_tree_take(struct espi_anneal_tree *t)
{
    int x = t->change.x;
    t->hash = espi_anneal_tree_next_hash(t);
    unhang(t, x, parent_of(t, x));
    t->up[x] = t->change.k;
    set_key(t, x);
    hang(t, x, parent_of(t, x));
    for (int i = 0; i < t->change.n; i++) {
        int u = t->change.node[i], on = parent_of(t, u);
        t->label_s[u] = t->change.label_s[i];
        if (on < 0)
            continue;
        unhang(t, u, on);
        set_key(t, u);
        hang(t, u, on);
    }
    t->value_s = t->change.value_s;
}

void espi_anneal_tree_leave(struct espi_anneal_tree *t)
{
    const struct espi_anneal_net *net = t->net;
    if (has_loads(net))
        exchange_arcs(t, net->arc[t->change.k], net->arc[t->up[t->change.x]]);
}

/* ---- whole trees ---- */

int espi_anneal_tree_init(struct espi_anneal_tree *t, const struct espi_anneal_net *net,
                          struct espi_arena *arena)
{
    int n = net->n, hosts = net->v->g.n;
    *t = (struct espi_anneal_tree){.net = net};
    t->up = ESPI_ARENA_NEW(arena, int, n);
    t->first = ESPI_ARENA_NEW(arena, int, n);
    t->next = ESPI_ARENA_NEW(arena, int, n);
    t->prev = ESPI_ARENA_NEW(arena, int, n);
    t->key_s = ESPI_ARENA_NEW(arena, double, n);
    t->hold_s = ESPI_ARENA_NEW(arena, double, n);
    t->label_s = ESPI_ARENA_ZNEW(arena, double, n);
    t->change.node = ESPI_ARENA_NEW(arena, int, 2 * n);
    t->change.label_s = ESPI_ARENA_NEW(arena, double, 2 * n);
    t->stamp = ESPI_ARENA_ZNEW(arena, long, n);
    t->scratch = ESPI_ARENA_NEW(arena, int, hosts > 2 * n ? hosts : 2 * n);
    if (!t->up || !t->first || !t->next || !t->prev || !t->key_s || !t->hold_s ||
        !t->label_s || !t->change.node || !t->change.label_s || !t->stamp || !t->scratch)
        return -1;
    if (!has_loads(net))
        return 0;
    for (t->leaves = 1; t->leaves < net->v->links.n;)
        t->leaves *= 2;
    t->peak = ESPI_ARENA_NEW(arena, double, 2 * t->leaves);
    int root = net->host[net->root < 0 ? 0 : net->root];
    return t->peak ? espi_tree_state_init(&t->loads, net->v, root, arena) : -1;
}

static void set_loads(struct espi_anneal_tree *t)
{
    const struct espi_anneal_net *net = t->net;
    int *parent_arc = t->scratch;
    memset(parent_arc, -1, (size_t)net->v->g.n * sizeof *parent_arc);
    for (int x = 0; x < net->n; x++)
        if (t->up[x] >= 0)
            parent_arc[net->host[x]] = net->arc[t->up[x]];
    espi_tree_state_set(&t->loads, parent_arc);
    peaks_set_all(t);
}

/* Labels from the leaves up. The children are linked in any order first, to find the
 * hosts from the root down. */
static void set_labels(struct espi_anneal_tree *t)
{
    int n = t->net->n, size = 0, *order = t->scratch;
    memset(t->first, -1, (size_t)n * sizeof *t->first);
    for (int x = 0; x < n; x++)
        if (t->up[x] >= 0) {
            t->next[x] = t->first[parent_of(t, x)];
            t->first[parent_of(t, x)] = x;
        }
    order[size++] = t->root;
    for (int i = 0; i < size; i++)
        for (int c = t->first[order[i]]; c >= 0; c = t->next[c])
            order[size++] = c;
    memset(t->first, -1, (size_t)n * sizeof *t->first);
    while (size-- > 0) {
        static const struct swap none = {.out = {-1, -1}};
        int x = order[size];
        t->label_s[x] = label_with(t, x, &none);
        if (t->up[x] < 0)
            continue;
        set_key(t, x);
        hang(t, x, parent_of(t, x));
    }
}

void espi_anneal_tree_set(struct espi_anneal_tree *t, int root, const int *up)
{
    const struct espi_anneal_net *net = t->net;
    t->root = root;
    t->hash = 0;
    if (up != t->up)
        memcpy(t->up, up, (size_t)net->n * sizeof *up);
    for (int x = 0; x < net->n; x++)
        t->hash ^= hash_of(x, t->up[x]);
    set_labels(t);
    if (has_loads(net))
        set_loads(t);
    t->value_s = net->objective == ESPI_ANNEAL_JUDGED ? judged(t, -1, -1)
                                                      : value_of(t, t->label_s[root]);
}

static int leaves_tree(const struct espi_anneal_tree *t, int k)
{
    return t->stamp[t->net->tail[k]] == t->now && t->stamp[t->net->head[k]] != t->now;
}

/* An arc from the hosts that are marked to one that is not; -1: there is none. Draws from
 * all arcs a few times; where that hits none, the arcs are counted. */
static int draw_arc(const struct espi_anneal_tree *t, struct espi_rng *rng)
{
    const struct espi_anneal_net *net = t->net;
    int arcs = net->start[net->n], found = 0, k = 0;
    for (int tries = 0; tries < 64 && arcs > 0; tries++) {
        k = (int)espi_rng_below(rng, (uint32_t)arcs);
        if (leaves_tree(t, k))
            return k;
    }
    for (k = 0; k < arcs; k++)
        found += leaves_tree(t, k);
    if (found == 0)
        return -1;
    found = (int)espi_rng_below(rng, (uint32_t)found);
    for (k = 0; found > 0 || !leaves_tree(t, k); k++)
        found -= leaves_tree(t, k);
    return k;
}

int espi_anneal_tree_draw(struct espi_anneal_tree *t, int root, struct espi_rng *rng)
{
    const struct espi_anneal_net *net = t->net;
    if (root < 0)
        root = (int)espi_rng_below(rng, (uint32_t)net->n);
    t->stamp[root] = ++t->now;
    t->up[root] = -1;
    for (int i = 1; i < net->n; i++) {
        int k = draw_arc(t, rng);
        if (k < 0)
            return -1;
        t->up[net->head[k]] = k;
        t->stamp[net->head[k]] = t->now;
    }
    espi_anneal_tree_set(t, root, t->up);
    return 0;
}

int espi_anneal_tree_holds(const struct espi_anneal_tree *t, int x, int y)
{
    while (y >= 0 && y != x)
        y = parent_of(t, y);
    return y == x;
}

/* The child that is late: the one behind which the label of u comes from. */
static int late_child(const struct espi_anneal_tree *t, int u)
{
    double busy_s = 0, most_s = -INFINITY;
    int late = -1;
    for (int c = t->first[u]; c >= 0; c = t->next[c]) {
        busy_s += t->hold_s[c];
        if (busy_s + t->key_s[c] > most_s) {
            most_s = busy_s + t->key_s[c];
            late = c;
        }
    }
    return late;
}

static int critical_on_path(struct espi_anneal_tree *t, struct espi_rng *rng)
{
    int n = 0, *path = t->scratch;
    for (int u = late_child(t, t->root); u >= 0; u = late_child(t, u))
        path[n++] = u;
    return n ? path[espi_rng_below(rng, (uint32_t)n)] : -1;
}

/* One of those that x's parent serves before x, or x itself. */
static int served_before(const struct espi_anneal_tree *t, int x, struct espi_rng *rng)
{
    int n = 1;
    for (int c = t->prev[x]; c >= 0; c = t->prev[c])
        n++;
    for (uint32_t i = espi_rng_below(rng, (uint32_t)n); i > 0; i--)
        x = t->prev[x];
    return x;
}

static int critical_by_load(struct espi_anneal_tree *t, struct espi_rng *rng)
{
    const struct espi_tree_state *s = &t->loads;
    int n = 0, use = s->first_use[busiest(t)];
    for (int u = use; u >= 0; u = s->next_use[u])
        n++;
    if (n == 0)
        return -1;
    for (uint32_t i = espi_rng_below(rng, (uint32_t)n); i > 0; i--)
        use = s->next_use[use];
    return t->net->number[t->net->v->g.head[s->use_arc[use]]];
}

int espi_anneal_tree_critical(struct espi_anneal_tree *t, int wide, struct espi_rng *rng)
{
    uint32_t lot = wide ? espi_rng_below(rng, 16) : 15;
    int by_load = t->net->objective == ESPI_ANNEAL_THROUGHPUT ||
                  (t->net->objective == ESPI_ANNEAL_FINISH && espi_rng_below(rng, 2));
    if (lot == 0) {
        int x = (int)espi_rng_below(rng, (uint32_t)t->net->n);
        return x == t->root ? -1 : x;
    }
    if (by_load)
        return critical_by_load(t, rng);
    int x = critical_on_path(t, rng);
    return x >= 0 && lot < 8 ? served_before(t, x, rng) : x;
}
