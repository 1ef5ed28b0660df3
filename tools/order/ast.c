#include "ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *source_text;

/* Room for one more than n. */
void *grow(void *old, int n, size_t size)
{
    if (n & (n - 1))
        return old;
    void *new = realloc(old, (size_t)(n ? 2 * n : 1) * size);
    if (!new) {
        fputs("check_order: out of memory\n", stderr);
        exit(2);
    }
    return new;
}

static enum CXChildVisitResult add_kid(CXCursor c, CXCursor parent, CXClientData data)
{
    struct kids *k = data;
    (void)parent;
    k->at = grow(k->at, k->n, sizeof *k->at);
    k->at[k->n++] = c;
    return CXChildVisit_Continue;
}

struct kids kids_of(CXCursor c)
{
    struct kids k = {NULL, 0};
    clang_visitChildren(c, add_kid, &k);
    return k;
}

void kids_free(struct kids *k)
{
    free(k->at);
}

CXCursor kid(CXCursor c, int i)
{
    struct kids k = kids_of(c);
    if (i < 0)
        i = k.n - 1;
    CXCursor found = i >= 0 && i < k.n ? k.at[i] : clang_getNullCursor();
    kids_free(&k);
    return found;
}

CXCursor bare(CXCursor c)
{
    while (c.kind == CXCursor_ParenExpr || c.kind == CXCursor_UnexposedExpr ||
           c.kind == CXCursor_CStyleCastExpr) {
        CXCursor inner = kid(c, -1);
        if (!clang_isExpression(inner.kind))
            break;
        c = inner;
    }
    return c;
}

static const char *text_of(CXSourceLocation l)
{
    unsigned offset;
    clang_getExpansionLocation(l, NULL, NULL, NULL, &offset);
    return source_text + offset;
}

static const char *start_of(CXCursor c)
{
    return text_of(clang_getRangeStart(clang_getCursorExtent(c)));
}

bool text_starts(CXCursor c, const char *prefix)
{
    return strncmp(start_of(c), prefix, strlen(prefix)) == 0;
}

/* libclang tells the operator only in later versions: it is what follows the left
 * operand, perhaps after marks of lines. */
enum op binary_op(CXCursor c)
{
    const char *t = text_of(clang_getRangeEnd(clang_getCursorExtent(kid(c, 0))));
    while (*t == ' ' || *t == '\n' || *t == '#')
        t = *t == '#' ? strchr(t, '\n') : t + 1;
    if (t[0] == ',' || strncmp(t, "&&", 2) == 0 || strncmp(t, "||", 2) == 0)
        return OP_SEQUENCED;
    return t[0] == '=' && t[1] != '=' ? OP_ASSIGN : OP_VALUE;
}

enum op unary_op(CXCursor c)
{
    const char *t = start_of(c);
    if (t == start_of(kid(c, 0)) || strncmp(t, "++", 2) == 0 || strncmp(t, "--", 2) == 0)
        return OP_CHANGE;
    return *t == '&' ? OP_ADDRESS : *t == '*' ? OP_DEREF : OP_VALUE;
}

enum CXTypeKind type_kind(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind;
}

bool is_array(CXCursor c)
{
    enum CXTypeKind k = type_kind(c);
    return k == CXType_ConstantArray || k == CXType_VariableArray ||
           k == CXType_IncompleteArray;
}

bool is_pointer(CXCursor c)
{
    return type_kind(c) == CXType_Pointer || is_array(c);
}

bool points_to_const(CXType pointer)
{
    CXType t = clang_getCanonicalType(pointer), inner;
    t = t.kind == CXType_Pointer ? clang_getPointeeType(t) : t;
    while ((inner = clang_getArrayElementType(t)).kind != CXType_Invalid)
        t = inner;
    return clang_isConstQualifiedType(t) || t.kind == CXType_FunctionProto ||
           t.kind == CXType_FunctionNoProto;
}
