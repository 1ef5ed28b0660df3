/* "Did you mean": the nearest word by edit distance, where swapping two neighbours
 * counts as one edit. */
#include <string.h>

#include "cli/command.h"

#define WORD_MAX 40

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; too long a word is far from everything. */
static int distance(const char *a, const char *b)
{
    int n = (int)strnlen(a, WORD_MAX + 1), m = (int)strnlen(b, WORD_MAX + 1);
    int d[WORD_MAX + 1][WORD_MAX + 1];

    if (n > WORD_MAX || m > WORD_MAX)
        return WORD_MAX;
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = min_of(change, min_of(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = min_of(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

const char *cli_nearest(const char *text, const char *const *candidates, int n)
{
    const char *best = NULL;
    size_t length = strlen(text);
    int best_distance = length > 5 ? 4 : length > 2 ? 3 : 2; /* first too far */

    for (int i = 0; i < n; i++) {
        /* The beginning of a word is as good as one wrong letter. */
        bool begins = length > 1 && strncmp(text, candidates[i], length) == 0;
        int d = begins ? 1 : distance(text, candidates[i]);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best;
}
