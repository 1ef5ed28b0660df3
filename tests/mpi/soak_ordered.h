/* Of the soak: scans, and reductions by an operation that does not commute. */
#ifndef TESTS_MPI_SOAK_ORDERED_H
#define TESTS_MPI_SOAK_ORDERED_H

static MPI_Op composed;

static struct line line_of(const struct call *c, int rank, long i)
{
    unsigned x = (unsigned)value(c->seed, rank, i);
    return (struct line){2 * x + 1, x};
}

/* What comes of the ranks up to one. */
static struct line composed_up_to(const struct call *c, int last, long i)
{
    struct line all = line_of(c, 0, i);
    for (int r = 1; r <= last; r++)
        all = after(all, line_of(c, r, i));
    return all;
}

/* Those that commute are drawn by reduce(); exclusive scans in place leave rank 0 alone.
 */
static long in_order(struct soaker *s, const struct call *c)
{
    long what = below(&s->lots, 4), n = c->n / 8, bad = 0;
    int in_place =
        (int)below(&s->lots, 2) && (what > 0 || (c->root == 0 && c->rank == 0));
    int last = what == 0   ? (c->rank == c->root ? c->size - 1 : -1)
               : what == 1 ? c->size - 1
               : what == 2 ? c->rank
                           : c->rank - 1;
    struct line *from = check_alloc((size_t)n * sizeof *from);
    struct line *to = check_alloc((size_t)n * sizeof *to);
    for (long i = 0; i < n; i++)
        (in_place ? to : from)[i] = line_of(c, c->rank, i);
    const void *sent = in_place ? MPI_IN_PLACE : (const void *)from;
    if (what == 0)
        bad = MAKE(s, c, Reduce, Ireduce, sent, to, (int)n, MPI_2INT, composed, c->root,
                   c->comm);
    else if (what == 1)
        bad = MAKE(s, c, Allreduce, Iallreduce, sent, to, (int)n, MPI_2INT, composed,
                   c->comm);
    else if (what == 2)
        bad = MAKE(s, c, Scan, Iscan, sent, to, (int)n, MPI_2INT, composed, c->comm);
    else
        bad = MAKE(s, c, Exscan, Iexscan, sent, to, (int)n, MPI_2INT, composed, c->comm);
    for (long i = 0; last >= 0 && i < n; i++) {
        struct line want = composed_up_to(c, last, i);
        bad += memcmp(&to[i], &want, sizeof want) != 0;
    }
    free(from);
    free(to);
    return bad;
}

#endif
