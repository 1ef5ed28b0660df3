/* What evaluating an expression reads and changes, and where C leaves the order open in
 * which that happens. */
#ifndef ORDER_EFFECTS_H
#define ORDER_EFFECTS_H

#include "ast.h"

/* Memory is known by the variable through which it is reached and by how many pointers
 * are followed from there: 0 for x, x.a and x[1] of an array; 1 for *x, x->a; 2 for
 * *x->a. A function that gets a pointer may follow it further: it reaches all levels from
 * there. */
struct access {
    CXCursor root;
    CXCursor first, last; /* fields named on the way; null: all of them */
    CXCursor at;
    int level;
    bool reaches, changes;
};

struct effects {
    struct access *all;
    int n;
};

void effects_add(struct effects *e, struct access a);
void effects_free(struct effects *e);

/* Adds to *e what the value of c takes; calls clash() for what has no order. */
void effects_of(CXCursor c, struct effects *e);

/* Given by the user of this file. */
void clash(const struct access *changed, const struct access *used);
const struct effects *effects_of_function(CXCursor f); /* on global variables; or NULL */

#endif
