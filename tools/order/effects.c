#include "effects.h"

#include <stdlib.h>

static void places(CXCursor c, struct effects *out);
static void pointees(CXCursor c, struct effects *out);
static void address_of(CXCursor c, struct effects *e);

void effects_add(struct effects *e, struct access a)
{
    e->all = grow(e->all, e->n, sizeof *e->all);
    e->all[e->n++] = a;
}

static void add_all(struct effects *e, const struct effects *more)
{
    for (int i = 0; i < more->n; i++)
        effects_add(e, more->all[i]);
}

void effects_free(struct effects *e)
{
    free(e->all);
}

/* ---- which memory ---- */

static void member_places(CXCursor c, struct effects *out)
{
    CXCursor base = kid(c, 0);
    int from = out->n;
    if (is_pointer(base))
        pointees(base, out);
    else
        places(base, out);
    for (int i = from; i < out->n; i++) {
        out->all[i].last = clang_getCursorReferenced(c);
        if (clang_Cursor_isNull(out->all[i].first))
            out->all[i].first = out->all[i].last;
    }
}

/* Where the object lies that an lvalue names. */
static void places(CXCursor c, struct effects *out)
{
    c = bare(c);
    if (c.kind == CXCursor_DeclRefExpr) {
        CXCursor root = clang_getCanonicalCursor(clang_getCursorReferenced(c));
        struct access a = {
            .root = root, .first = clang_getNullCursor(), .last = clang_getNullCursor()};
        if (root.kind == CXCursor_VarDecl || root.kind == CXCursor_ParmDecl)
            effects_add(out, a);
    } else if (c.kind == CXCursor_MemberRefExpr) {
        member_places(c, out);
    } else if (c.kind == CXCursor_ArraySubscriptExpr) {
        pointees(kid(c, is_pointer(kid(c, 0)) ? 0 : 1), out);
    } else if (c.kind == CXCursor_UnaryOperator && unary_op(c) == OP_DEREF) {
        pointees(kid(c, 0), out);
    }
}

static bool is_lvalue(CXCursor c)
{
    return c.kind == CXCursor_DeclRefExpr || c.kind == CXCursor_MemberRefExpr ||
           c.kind == CXCursor_ArraySubscriptExpr ||
           (c.kind == CXCursor_UnaryOperator && unary_op(c) == OP_DEREF);
}

/* Where a pointer points: one pointer further than where it lies, or where those point of
 * which it was computed, be it by a function. */
static void pointees(CXCursor c, struct effects *out)
{
    int from = out->n;
    c = bare(c);
    if (is_array(c)) {
        places(c, out);
    } else if (is_lvalue(c)) {
        places(c, out);
        for (int i = from; i < out->n; i++)
            out->all[i].level++;
    } else if (c.kind == CXCursor_UnaryOperator && unary_op(c) == OP_ADDRESS) {
        places(kid(c, 0), out);
    } else {
        struct kids k = kids_of(c);
        for (int i = c.kind == CXCursor_ConditionalOperator; i < k.n; i++)
            if (clang_isExpression(k.at[i].kind) && is_pointer(k.at[i]))
                pointees(k.at[i], out);
        kids_free(&k);
    }
}

static void touch(struct effects *e, struct effects *at, CXCursor by, bool reaches,
                  bool changes)
{
    for (int i = 0; i < at->n; i++) {
        struct access a = at->all[i];
        a.at = by;
        a.reaches = reaches;
        a.changes = changes;
        if (reaches || type_kind(by) == CXType_Record)
            a.last = clang_getNullCursor();
        effects_add(e, a);
    }
    effects_free(at);
}

static void touch_place(struct effects *e, CXCursor lvalue, bool changes)
{
    struct effects at = {NULL, 0};
    places(lvalue, &at);
    touch(e, &at, lvalue, false, changes);
}

/* ---- calls ---- */

static enum CXVisitorResult find_open(CXCursor field, CXClientData found)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(field));
    if (t.kind == CXType_Pointer && !points_to_const(t))
        *(bool *)found = true;
    return CXVisit_Continue;
}

/* Where the pointers of a struct point that is given as a value: one pointer further. */
static void struct_pointees(CXCursor arg, CXType t, struct effects *out)
{
    bool open = false;
    clang_Type_visitFields(clang_getCanonicalType(t), find_open, &open);
    if (open)
        places(arg, out);
    for (int i = 0; i < out->n; i++)
        out->all[i].level++;
}

/* The initial values of (struct s){...} or &(struct s){...}. */
static struct kids parts_of_literal(CXCursor arg)
{
    CXCursor c = bare(arg);
    if (c.kind == CXCursor_UnaryOperator && unary_op(c) == OP_ADDRESS)
        c = bare(kid(c, 0));
    if (c.kind == CXCursor_CompoundLiteralExpr)
        c = kid(c, -1);
    return c.kind == CXCursor_InitListExpr ? kids_of(c) : (struct kids){NULL, 0};
}

/* An argument of type t goes to a call. */
static void hand_over(struct effects *e, CXCursor arg, CXType t, bool changes,
                      CXCursor call)
{
    enum CXTypeKind kind = clang_getCanonicalType(t).kind;
    struct effects at = {NULL, 0};
    if (kind == CXType_Record) {
        struct_pointees(arg, t, &at);
        touch(e, &at, call, true, changes);
    } else if (kind == CXType_Pointer || is_array(arg)) {
        pointees(arg, &at);
        touch(e, &at, call, true, changes && !points_to_const(t));
    }
    struct kids k = parts_of_literal(arg);
    for (int i = 0; i < k.n; i++) {
        CXCursor part = k.at[i];
        if (kid(part, 0).kind == CXCursor_MemberRef)
            part = kid(part, -1);
        hand_over(e, part, clang_getCursorType(part), changes, call);
    }
    kids_free(&k);
}

static CXType type_of_callee(CXCursor callee)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(callee));
    return t.kind == CXType_Pointer ? clang_getPointeeType(t) : t;
}

/* Beyond its parameters a function prints or the like, but may change what is given to it
 * as &x. */
static bool may_change_extra(CXCursor arg)
{
    CXCursor c = bare(arg);
    return c.kind == CXCursor_UnaryOperator && unary_op(c) == OP_ADDRESS;
}

static bool is_pure(CXCursor function)
{
    struct kids k = kids_of(function);
    bool pure = false;
    for (int i = 0; i < k.n; i++)
        pure |= k.at[i].kind == CXCursor_PureAttr || k.at[i].kind == CXCursor_ConstAttr;
    kids_free(&k);
    return pure;
}

static void call_itself(CXCursor c, const struct kids *k, struct effects *e)
{
    CXCursor f = clang_getCursorReferenced(c);
    CXType type = type_of_callee(k->at[0]);
    int n = clang_getNumArgTypes(type);
    bool variadic = clang_isFunctionTypeVariadic(type), pure = is_pure(f);
    for (int i = 1; i < k->n; i++) {
        bool extra = i > n && variadic;
        CXType t = i > n ? clang_getCursorType(k->at[i]) : clang_getArgType(type, i - 1);
        hand_over(e, k->at[i], t, !pure && (!extra || may_change_extra(k->at[i])), c);
    }
    const struct effects *global = effects_of_function(clang_getCanonicalCursor(f));
    for (int i = 0; global && i < global->n; i++) {
        struct access a = global->all[i];
        a.at = c;
        effects_add(e, a);
    }
}

/* ---- what has no order ---- */

static bool differ(CXCursor field, CXCursor other)
{
    return !clang_Cursor_isNull(field) && !clang_Cursor_isNull(other) &&
           !clang_equalCursors(field, other);
}

static bool lie_apart(const struct access *a, const struct access *b)
{
    if (!clang_equalCursors(a->root, b->root) || differ(a->first, b->first))
        return true;
    if (a->reaches || b->reaches)
        return (!a->reaches && a->level < b->level) ||
               (!b->reaches && b->level < a->level);
    return a->level != b->level || differ(a->last, b->last);
}

static void compare(const struct effects *x, const struct effects *y)
{
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < y->n; j++) {
            const struct access *a = &x->all[i], *b = &y->all[j];
            if (!(a->changes || b->changes) || lie_apart(a, b))
                continue;
            clash(a->changes ? a : b, a->changes ? b : a);
            return; /* one is enough */
        }
}

/* ---- evaluation ---- */

/* Evaluates operands between which C knows no order. The left side of an assignment is
 * not read, only found. */
static void operands(const struct kids *k, bool assign, struct effects *e)
{
    struct effects sum = {NULL, 0};
    for (int i = 0; i < k->n; i++) {
        struct effects one = {NULL, 0};
        if (i == 0 && assign)
            address_of(k->at[i], &one);
        else
            effects_of(k->at[i], &one);
        compare(&sum, &one);
        add_all(&sum, &one);
        effects_free(&one);
    }
    add_all(e, &sum);
    effects_free(&sum);
}

static void in_order(const struct kids *k, struct effects *e)
{
    for (int i = 0; i < k->n; i++)
        effects_of(k->at[i], e);
}

/* What it takes to find an object; the object itself is left alone. */
static void address_of(CXCursor c, struct effects *e)
{
    CXCursor b = bare(c);
    struct kids k = kids_of(b);
    if (b.kind == CXCursor_MemberRefExpr && k.n > 0 && !is_pointer(k.at[0]))
        address_of(k.at[0], e);
    else if (b.kind == CXCursor_ArraySubscriptExpr)
        operands(&k, false, e);
    else if (is_lvalue(b))
        in_order(&k, e);
    else
        effects_of(b, e);
    kids_free(&k);
}

static void read_object(CXCursor c, struct effects *e)
{
    address_of(c, e);
    if (!is_array(c))
        touch_place(e, c, false);
}

static void unary(CXCursor c, const struct kids *k, struct effects *e)
{
    enum op op = unary_op(c);
    if (op == OP_DEREF)
        read_object(c, e);
    else if (op == OP_ADDRESS || op == OP_CHANGE)
        address_of(k->at[0], e);
    else
        in_order(k, e);
    if (op == OP_CHANGE)
        touch_place(e, k->at[0], true);
}

static void binary(CXCursor c, const struct kids *k, struct effects *e)
{
    enum op op = c.kind == CXCursor_CompoundAssignOperator ? OP_CHANGE : binary_op(c);
    if (op == OP_SEQUENCED)
        in_order(k, e);
    else
        operands(k, op == OP_ASSIGN, e);
    if (op == OP_ASSIGN || op == OP_CHANGE)
        touch_place(e, k->at[0], true);
}

/* va_arg and atomic operations look like calls, but libclang has no name for them. */
static void unnamed(CXCursor c, const struct kids *k, struct effects *e)
{
    bool atomic = text_starts(c, "__c11_atomic_") || text_starts(c, "__atomic_");
    bool load = text_starts(c, "__c11_atomic_load") || text_starts(c, "__atomic_load");
    struct effects at = {NULL, 0};
    in_order(k, e);
    if (k->n > 0 && text_starts(c, "__builtin_va_arg"))
        touch_place(e, k->at[0], true);
    if (k->n > 1 && atomic) {
        pointees(k->at[0], &at);
        touch(e, &at, c, true, !load);
    }
}

void effects_of(CXCursor c, struct effects *e)
{
    struct kids k = kids_of(c);
    if (c.kind == CXCursor_UnaryOperator)
        unary(c, &k, e);
    else if (is_lvalue(c))
        read_object(c, e);
    else if (c.kind == CXCursor_BinaryOperator ||
             c.kind == CXCursor_CompoundAssignOperator)
        binary(c, &k, e);
    else if (c.kind == CXCursor_CallExpr || c.kind == CXCursor_InitListExpr)
        operands(&k, false, e);
    else if (c.kind == CXCursor_UnexposedExpr)
        unnamed(c, &k, e);
    else if (c.kind != CXCursor_UnaryExpr) /* sizeof: nothing is evaluated */
        in_order(&k, e);
    if (c.kind == CXCursor_CallExpr && k.n > 0)
        call_itself(c, &k, e);
    kids_free(&k);
}
