/* Communicators of every make, in use side by side and freed while others live. */
#include "check.h"

static int copies, deletes;

static int on_copy(MPI_Comm c, int k, void *e, void *in, void *out, int *flag)
{
    (void)c, (void)k, (void)e;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm c, int k, void *v, void *e)
{
    (void)c, (void)k, (void)v, (void)e;
    deletes++;
    return MPI_SUCCESS;
}

/* From every root of the communicator, a short and a long message. */
static void use(MPI_Comm comm)
{
    static const size_t sizes[] = {3, 5000, 150000};
    int rank, size;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++)
        for (int k = 0; k < 3; k++) {
            unsigned char *data = check_alloc(sizes[k]);
            unsigned seed = (unsigned)(root * 3 + k);
            if (rank == root)
                check_fill(data, sizes[k], seed);
            CHECK(MPI_Bcast(data, (int)sizes[k], MPI_BYTE, root, comm) == MPI_SUCCESS);
            CHECK(check_wrong(data, sizes[k], seed) == -1);
            free(data);
        }
}

static void free_comm(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
}

/* A communicator is copied with its attributes exactly once a dup. */
static void attributes(void)
{
    int key, found;
    void *value;
    MPI_Comm a, b, c;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_attr(a, key, &key);
    MPI_Comm_dup(a, &b);
    CHECK(copies == 1);
    MPI_Comm_get_attr(b, key, &value, &found);
    CHECK(found && value == &key);
    MPI_Comm_dup_with_info(b, MPI_INFO_NULL, &c);
    CHECK(copies == 2);
    use(a);
    MPI_Comm_free(&a);
    CHECK(deletes == 1);
    use(c);
    use(b);
    MPI_Comm_free(&c);
    use(b);
    MPI_Comm_free(&b);
    CHECK(deletes == 3);
    MPI_Comm_free_keyval(&key);
}

static void split(void)
{
    MPI_Comm half, shuffled, node, odd;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, (check_rank * 7 + 3) % check_size, &shuffled);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2 ? 1 : MPI_UNDEFINED, 0, &odd);
    use(half);
    use(shuffled);
    use(odd);
    free_comm(&half);
    use(node);
    use(shuffled);
    free_comm(&shuffled);
    free_comm(&odd);
    use(node);
    free_comm(&node);
}

static void groups(void)
{
    MPI_Group world, some;
    MPI_Comm all, few, few_too;
    int n = check_size > 2 ? check_size - 1 : check_size;
    int *ranks = check_alloc((size_t)n * sizeof *ranks);
    for (int i = 0; i < n; i++)
        ranks[i] = n - 1 - i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &some);
    MPI_Comm_create(MPI_COMM_WORLD, world, &all);
    MPI_Comm_create(MPI_COMM_WORLD, some, &few);
    use(few);
    if (check_rank < n) { /* the others are not asked */
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &few_too);
        use(few_too);
        MPI_Comm_free(&few_too);
    }
    use(all);
    free_comm(&all);
    free_comm(&few);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    free(ranks);
}

static void topologies(void)
{
    MPI_Comm ring, line, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
    int one = 1, next = (check_rank + 1) % check_size;
    int before = (check_rank + check_size - 1) % check_size;
    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &ring);
    MPI_Cart_sub(ring, remain, &line);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &one, 1, &next, &one,
                                   MPI_INFO_NULL, 0, &graph);
    use(ring);
    use(line);
    use(graph);
    int kind;
    MPI_Topo_test(ring, &kind);
    CHECK(kind == MPI_CART);
    free_comm(&ring);
    use(line);
    free_comm(&line);
    free_comm(&graph);
}

/* Broadcasts between two groups are the library's; the merged group may be ours. */
static void inter(void)
{
    MPI_Comm local, between, merged, again;
    int data = -1, color = check_rank % 2;
    if (check_size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, color, check_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - color, 99, &between);
    if (color == 0 && check_rank == 0)
        data = 4711;
    int root = color ? 0 : check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    CHECK(MPI_Bcast(&data, 1, MPI_INT, root, between) == MPI_SUCCESS);
    CHECK(color ? data == 4711 : 1);
    MPI_Comm_dup(between, &again);
    MPI_Intercomm_merge(between, color, &merged);
    use(merged);
    MPI_Comm_free(&again);
    MPI_Comm_free(&between);
    use(merged);
    MPI_Comm_free(&merged);
    use(local);
    MPI_Comm_free(&local);
}

/* Many at a time and one after the other: nothing runs out. */
static void many(void)
{
    MPI_Comm comms[15];
    for (int i = 0; i < 15; i++)
        MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 15; i += 7)
        use(comms[i]);
    for (int i = 0; i < 15; i++)
        MPI_Comm_free(&comms[(i * 7) % 15]);
    for (int i = 0; i < 60; i++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm left;
    check_begin(&argc, &argv);
    use(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    attributes();
    split();
    groups();
    topologies();
    inter();
    many();
    MPI_Comm_dup(MPI_COMM_WORLD, &left); /* never freed */
    use(left);
    return check_end();
}
