/* Matchings against all subsets of edges, found by trying every edge of each left vertex
 * in turn. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "graph/matching.h"
#include "support/seed.h"

enum { MAX_SIDE = 6, MAX_EDGES = 18 };

struct bipartite {
    int n_left, n_right, m;
    int left[MAX_EDGES], right[MAX_EDGES];
    unsigned char use[MAX_EDGES], need_left[MAX_SIDE], need_right[MAX_SIDE];
    int masked;
};

static void make(struct bipartite *b, struct espi_rng *r)
{
    b->n_left = 1 + (int)espi_rng_below(r, MAX_SIDE);
    b->n_right = 1 + (int)espi_rng_below(r, MAX_SIDE);
    b->m = (int)espi_rng_below(r, MAX_EDGES + 1);
    for (int e = 0; e < b->m; e++) {
        b->left[e] = (int)espi_rng_below(r, (uint32_t)b->n_left);
        b->right[e] = (int)espi_rng_below(r, (uint32_t)b->n_right);
    }
}

static void make_masks(struct bipartite *b, struct espi_rng *r)
{
    uint32_t rare = 2 + espi_rng_below(r, 4);
    b->masked = (int)espi_rng_below(r, 2);
    for (int e = 0; e < b->m; e++)
        b->use[e] = espi_rng_below(r, 4) != 0;
    for (int v = 0; v < MAX_SIDE; v++) {
        b->need_left[v] = espi_rng_below(r, rare) == 0;
        b->need_right[v] = espi_rng_below(r, rare) == 0;
    }
}

struct best {
    int size, can_cover;
};

static int all_covered(const unsigned char *need, int n, unsigned covered)
{
    for (int v = 0; v < n; v++)
        if (need[v] && !(covered >> v & 1))
            return 0;
    return 1;
}

static void enumerate(const struct bipartite *b, int e, unsigned left, unsigned right,
                      int size, struct best *best)
{
    if (e == b->m) {
        if (size > best->size)
            best->size = size;
        if (all_covered(b->need_left, b->n_left, left) &&
            all_covered(b->need_right, b->n_right, right))
            best->can_cover = 1;
        return;
    }
    enumerate(b, e + 1, left, right, size, best);
    unsigned l = 1u << b->left[e], r = 1u << b->right[e];
    if ((!b->masked || b->use[e]) && !(left & l) && !(right & r))
        enumerate(b, e + 1, left | l, right | r, size + 1, best);
}

static void check_matching(const struct bipartite *b, const struct espi_matching *w,
                           int size)
{
    int left = 0, right = 0;
    for (int v = 0; v < b->n_left; v++) {
        int e = w->left.mate[v];
        if (e < 0)
            continue;
        left++;
        assert_true(e < b->m && (!b->masked || b->use[e]));
        assert_int_equal(b->left[e], v);
        assert_int_equal(w->right.mate[b->right[e]], e);
    }
    for (int v = 0; v < b->n_right; v++)
        right += w->right.mate[v] >= 0;
    assert_int_equal(left, size);
    assert_int_equal(right, size);
}

static void check_covered(const struct bipartite *b, const struct espi_matching *w)
{
    for (int v = 0; v < b->n_left; v++)
        assert_true(!b->need_left[v] || w->left.mate[v] >= 0);
    for (int v = 0; v < b->n_right; v++)
        assert_true(!b->need_right[v] || w->right.mate[v] >= 0);
}

static void small_graphs_match_enumeration(void **state)
{
    (void)state;
    struct espi_rng r;
    int covered = 0, not_covered = 0;
    espi_rng_seed(&r, test_seed(1));
    for (int round = 0; round < 2500; round++) {
        struct bipartite b;
        struct espi_arena arena;
        struct espi_matching w;
        espi_arena_init(&arena);
        make(&b, &r);
        assert_int_equal(
            espi_matching_init(&w, b.n_left, b.n_right, b.m, b.left, b.right, &arena), 0);
        for (int again = 0; again < 3; again++) {
            make_masks(&b, &r);
            struct best best = {0, 0};
            const unsigned char *use = b.masked ? b.use : NULL;
            enumerate(&b, 0, 0, 0, 0, &best);
            assert_int_equal(espi_matching_max(&w, use), best.size);
            check_matching(&b, &w, best.size);
            int size = espi_matching_cover(&w, use, b.need_left, b.need_right);
            assert_int_equal(size >= 0, best.can_cover);
            covered += best.can_cover;
            not_covered += !best.can_cover;
            if (size < 0)
                continue;
            check_matching(&b, &w, size);
            check_covered(&b, &w);
            assert_int_equal(espi_matching_extend(&w, use), best.size);
            check_matching(&b, &w, best.size);
            check_covered(&b, &w);
        }
        espi_arena_done(&arena);
    }
    assert_true(covered > 1000 && not_covered > 1000);
}

/* Peeling a d-regular graph: each matching must cover everything, and d of them use up
 * all edges. Long alternating paths, and one work space for all. */
static void regular_graphs_fall_into_perfect_matchings(void **state)
{
    (void)state;
    enum { N = 300, D = 6 };
    static int left[N * D], right[N * D], order[N];
    static unsigned char use[N * D], all[N];
    struct espi_rng r;
    struct espi_arena arena;
    struct espi_matching w, fresh;
    espi_rng_seed(&r, test_seed(2));
    espi_arena_init(&arena);
    memset(all, 1, sizeof all);
    for (int d = 0; d < D; d++) {
        for (int v = 0; v < N; v++)
            order[v] = v;
        espi_rng_shuffle(&r, order, N);
        for (int v = 0; v < N; v++) {
            left[d * N + v] = v;
            right[d * N + v] = order[v];
        }
    }
    memset(use, 1, sizeof use);
    assert_int_equal(espi_matching_init(&w, N, N, N * D, left, right, &arena), 0);
    for (int d = 0; d < D; d++) {
        assert_int_equal(espi_matching_init(&fresh, N, N, N * D, left, right, &arena), 0);
        assert_int_equal(espi_matching_max(&w, use), N);
        assert_int_equal(espi_matching_cover(&w, use, all, all), N);
        assert_int_equal(espi_matching_cover(&fresh, use, all, all), N);
        assert_memory_equal(w.left.mate, fresh.left.mate, N * sizeof(int));
        for (int v = 0; v < N; v++)
            use[w.left.mate[v]] = 0;
    }
    assert_int_equal(espi_matching_max(&w, use), 0);
    espi_arena_done(&arena);
}

static int fail_all(void)
{
    return 1;
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct espi_arena empty;
    struct espi_matching w;
    espi_arena_init(&empty);
    espi_alloc_should_fail = fail_all;
    assert_int_equal(espi_matching_init(&w, 3, 3, 0, NULL, NULL, &empty), -1);
    espi_alloc_should_fail = NULL;
    espi_arena_done(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_match_enumeration),
        cmocka_unit_test(regular_graphs_fall_into_perfect_matchings),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
