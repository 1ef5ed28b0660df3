/* What libclang says about expressions, made handy. The text that is parsed has been
 * through the preprocessor, so that every operator stands in it where the tree says it
 * does. */
#ifndef ORDER_AST_H
#define ORDER_AST_H

#include <clang-c/Index.h>
#include <stdbool.h>

enum op { OP_VALUE, OP_ASSIGN, OP_SEQUENCED, OP_CHANGE, OP_ADDRESS, OP_DEREF };

struct kids {
    CXCursor *at;
    int n;
};

extern const char *source_text;

void *grow(void *old, int n, size_t size);
struct kids kids_of(CXCursor c);
void kids_free(struct kids *k);
CXCursor kid(CXCursor c, int i); /* -1: the last one */
CXCursor bare(CXCursor c);       /* without parentheses and casts */
enum op binary_op(CXCursor c);
enum op unary_op(CXCursor c);
enum CXTypeKind type_kind(CXCursor c);
bool is_array(CXCursor c);
bool is_pointer(CXCursor c); /* or an array, which becomes one */
bool points_to_const(CXType pointer);
bool text_starts(CXCursor c, const char *prefix);

#endif
