/* Leaks, on purpose: the sanitizer build must notice (see support/leaks.c). */
#include <stdlib.h>

static void *volatile forgotten;

int main(void)
{
    forgotten = malloc(10);
    forgotten = NULL;
    return 0;
}
