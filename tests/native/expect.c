/* Compares which messages ranks started (calls.c) with what the generators say, message
 * by message, in the order in which each rank started them.
 * usage: expect OUT LIBRARY OPERATION ALGORITHM RANKS SEGMENT FANOUT SIZE...
 * ALGORITHM `default`: the one that the library's table has for the size; `unequal`: the
 * one that it has for OPERATION, which ends in a v; `@FILE`: the
 * file has lines of SIZE ALGORITHM SEGMENT FANOUT, one for each size, in their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"
#include "native/table.h"

struct question {
    const char *out, *library, *algorithm;
    esp_op op;
    struct espi_native_task t;
};

static _Noreturn void give_up(const struct question *q, int rank, const char *found,
                              const char *expected)
{
    fprintf(stderr,
            "%s:%s:%s, %d ranks, root %d, %lld bytes in segments of %lld, fan-out %d: "
            "rank %d: the library has '%s', we have '%s'\n",
            q->library, esp_op_name(q->op), q->algorithm, q->t.n_ranks, q->t.root,
            (long long)q->t.bytes, (long long)q->t.segment_bytes, q->t.fanout, rank,
            found, expected);
    exit(1);
}

/* What a rank sends itself passes no network, and is in no script. */
static int is_to_itself(const char *line, int rank)
{
    int other;
    return (sscanf(line, "send %d", &other) == 1 ||
            sscanf(line, "recv %d", &other) == 1) &&
           other == rank;
}

static const char *next_line(FILE *file, int rank, char *line, int size)
{
    do {
        if (!fgets(line, size, file))
            return "the end";
    } while (is_to_itself(line, rank));
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* Where the library's data have gaps, how long messages are cannot be seen. */
static int is_same(const char *found, const char *expected)
{
    size_t n = strlen(found);
    if (n > 3 && strcmp(found + n - 3, " -1") == 0)
        return strncmp(found, expected, n - 2) == 0;
    return strcmp(found, expected) == 0;
}

static void expect_line(const struct question *q, int rank, FILE *file,
                        const char *expected)
{
    char line[100];
    const char *found = next_line(file, rank, line, sizeof line);
    if (!is_same(found, expected))
        give_up(q, rank, found, expected);
}

static void expect_calls(const struct question *q, const struct espi_script *s, int rank,
                         FILE *file)
{
    char line[100];
    snprintf(line, sizeof line, "size %lld root %d", (long long)q->t.bytes, q->t.root);
    expect_line(q, rank, file, line);
    for (int c = s->start[rank]; c < s->start[rank + 1]; c++) {
        const struct espi_script_call *call = &s->call[c];
        if (call->kind == ESPI_WAIT)
            continue;
        if (call->kind == ESPI_ISEND)
            snprintf(line, sizeof line, "send %d %lld", call->other,
                     (long long)call->bytes);
        else
            snprintf(line, sizeof line, "recv %d", call->other);
        expect_line(q, rank, file, line);
    }
}

static const struct espi_native_algo *
find_algorithm(struct question *q, const struct espi_native_table *table)
{
    if (strcmp(q->algorithm, "unequal") == 0)
        return espi_native_unequal(q->library, q->op);
    if (strcmp(q->algorithm, "default") != 0)
        return espi_native_find(q->library, q->op, q->algorithm);
    const struct espi_native_rule *rule =
        espi_native_rule_for(table, q->op, q->t.n_ranks, q->t.bytes);
    if (!rule)
        return NULL;
    q->t.segment_bytes = rule->segment_bytes;
    q->t.fanout = rule->fanout;
    return rule->algo;
}

static void compare_call(struct question *q, const struct espi_native_table *table,
                         FILE **files)
{
    const struct espi_native_algo *algo = find_algorithm(q, table);
    struct espi_script s;
    if (!algo || espi_native_write(algo, &q->t, &s, NULL))
        give_up(q, -1, "an algorithm", "none");
    for (int r = 0; r < q->t.n_ranks; r++)
        expect_calls(q, &s, r, files[r]);
    espi_script_done(&s);
}

/* The next line of the file that says what is expected. */
static void read_expected(struct question *q, FILE *file)
{
    static char name[100];
    char line[200];
    long long bytes, segment_bytes;
    int fanout;
    if (!fgets(line, sizeof line, file) ||
        sscanf(line, "%lld %99s %lld %d", &bytes, name, &segment_bytes, &fanout) != 4 ||
        bytes != q->t.bytes)
        give_up(q, -1, "a line for the size", "none");
    q->algorithm = name;
    q->t.segment_bytes = segment_bytes;
    q->t.fanout = fanout;
}

int main(int argc, char **argv)
{
    struct espi_native_table *table;
    int is_other;
    if (argc < 9)
        return 2;
    struct question q = {.out = argv[1], .library = argv[2], .algorithm = argv[4]};
    q.t.n_ranks = atoi(argv[5]);
    q.t.segment_bytes = atoi(argv[6]);
    q.t.fanout = atoi(argv[7]);
    if (strcmp(q.algorithm, "unequal") == 0)
        argv[3][strlen(argv[3]) - 1] = '\0';
    if (esp_op_parse(argv[3], &q.op) ||
        espi_native_table_load(q.library, NULL, &table, &is_other, NULL))
        return 2;
    FILE **files = calloc((size_t)q.t.n_ranks, sizeof(FILE *));
    for (int r = 0; files && r < q.t.n_ranks; r++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", q.out, r);
        files[r] = fopen(path, "r");
        if (!files[r])
            give_up(&q, r, "nothing", path);
    }
    FILE *expected = argv[4][0] == '@' ? fopen(argv[4] + 1, "r") : NULL;
    if (argv[4][0] == '@' && !expected)
        give_up(&q, -1, "nothing", argv[4]);
    for (int i = 8; i < argc; i++)
        for (int k = 0; k < 2; k++) {
            q.t.bytes = atoi(argv[i]);
            if (expected && k == 0)
                read_expected(&q, expected);
            q.t.root = k ? q.t.n_ranks - 2 : 0;
            compare_call(&q, table, files);
        }
    for (int r = 0; r < q.t.n_ranks; r++) {
        char line[100];
        const char *found = next_line(files[r], r, line, sizeof line);
        if (strcmp(found, "the end") != 0)
            give_up(&q, r, found, "the end");
        fclose(files[r]);
    }
    if (expected)
        fclose(expected);
    free(files);
    espi_native_table_free(table);
    return 0;
}
