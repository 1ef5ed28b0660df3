/* Finds expressions whose outcome hangs on an order of evaluation that C leaves open:
 * what one operand, argument or initial value changes, another one uses. Compilers choose
 * that order, and choose differently on different machines. usage: check_order
 * <PREPROCESSED    prints a line a finding; exit 1 when there are any
 *
 * A call may change what it gets a pointer to, unless that points to something const or
 * the function is declared pure. What it does to global variables is known of functions
 * that the same file defines. Different variables, and different fields of one, are taken
 * to lead to different memory. An assignment of a variable to itself, as in i = i++, is
 * left to the compilers, which warn of it. */
#include "effects.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct function {
    CXCursor decl, definition;
    struct effects global;
};

static struct function *functions;
static int function_count, findings;
static bool aloud;
static char root_folder[4096];

const struct effects *effects_of_function(CXCursor f)
{
    for (int i = 0; i < function_count; i++)
        if (clang_equalCursors(functions[i].decl, f))
            return &functions[i].global;
    return NULL;
}

/* File and line as the preprocessor's marks have them, within the project. */
static unsigned line_of(CXSourceLocation at, char *file, size_t size)
{
    CXString name;
    unsigned line;
    clang_getPresumedLocation(at, &name, &line, NULL);
    const char *text = clang_getCString(name);
    size_t n = strlen(root_folder);
    if (strncmp(text, root_folder, n) == 0 && text[n] == '/')
        text += n + 1;
    snprintf(file, size, "%s", text);
    clang_disposeString(name);
    return line;
}

void clash(const struct access *changed, const struct access *used)
{
    char file[4096];
    if (!aloud)
        return;
    findings++;
    unsigned other = line_of(clang_getCursorLocation(used->at), file, sizeof file);
    unsigned line = line_of(clang_getCursorLocation(changed->at), file, sizeof file);
    CXString name = clang_getCursorSpelling(changed->root);
    printf("%s:%u: \"%s\" is changed here and %s on line %u, in no order that C knows\n",
           file, line, clang_getCString(name), used->changes ? "changed" : "used", other);
    clang_disposeString(name);
}

static bool is_global(CXCursor var)
{
    enum CXLinkageKind linkage = clang_getCursorLinkage(var);
    return linkage == CXLinkage_Internal || linkage == CXLinkage_External ||
           clang_Cursor_getStorageClass(var) == CX_SC_Static;
}

static bool known(const struct effects *e, const struct access *a)
{
    for (int i = 0; i < e->n; i++) {
        const struct access *b = &e->all[i];
        if (clang_equalCursors(a->root, b->root) && a->level == b->level &&
            a->reaches == b->reaches && a->changes == b->changes &&
            clang_equalCursors(a->first, b->first) &&
            clang_equalCursors(a->last, b->last))
            return true;
    }
    return false;
}

/* Looks at a function; true when more is known of it than before. */
static bool look_at(struct function *f)
{
    struct effects e = {NULL, 0};
    int before = f->global.n;
    effects_of(f->definition, &e);
    for (int i = 0; i < e.n; i++)
        if (is_global(e.all[i].root) && !known(&f->global, &e.all[i]))
            effects_add(&f->global, e.all[i]);
    effects_free(&e);
    return f->global.n > before;
}

static enum CXChildVisitResult add_function(CXCursor c, CXCursor parent,
                                            CXClientData data)
{
    (void)parent;
    (void)data;
    if (c.kind == CXCursor_FunctionDecl && clang_isCursorDefinition(c) &&
        !clang_Location_isInSystemHeader(clang_getCursorLocation(c))) {
        functions = grow(functions, function_count, sizeof *functions);
        functions[function_count++] = (struct function){
            .decl = clang_getCanonicalCursor(c), .definition = c, .global = {NULL, 0}};
    }
    return CXChildVisit_Continue;
}

/* What functions do to global variables through one another must be known before a call
 * of one can be judged. */
static void check(CXTranslationUnit unit)
{
    bool more = true;
    clang_visitChildren(clang_getTranslationUnitCursor(unit), add_function, NULL);
    while (more) {
        more = false;
        for (int i = 0; i < function_count; i++)
            more |= look_at(&functions[i]);
    }
    aloud = true;
    for (int i = 0; i < function_count; i++)
        look_at(&functions[i]);
}

static bool has_errors(CXTranslationUnit unit)
{
    char file[4096];
    bool bad = false;
    for (unsigned i = 0; i < clang_getNumDiagnostics(unit); i++) {
        CXDiagnostic d = clang_getDiagnostic(unit, i);
        CXString s = clang_getDiagnosticSpelling(d);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            unsigned line = line_of(clang_getDiagnosticLocation(d), file, sizeof file);
            fprintf(stderr, "%s:%u: %s\n", file, line, clang_getCString(s));
            bad = true;
        }
        clang_disposeString(s);
        clang_disposeDiagnostic(d);
    }
    return bad;
}

int main(void)
{
    static const char *const flags[] = {"-x", "cpp-output", "-std=gnu11", "-w"};
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', stdin);
    if (length <= 0 || !getcwd(root_folder, sizeof root_folder)) {
        fputs("check_order: there is nothing to read\n", stderr);
        return 2;
    }
    source_text = text;
    struct CXUnsavedFile file = {"stdin.i", text, (unsigned long)length};
    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit unit = NULL;
    clang_parseTranslationUnit2(index, file.Filename, flags, 4, &file, 1, 0, &unit);
    if (!unit || has_errors(unit)) {
        fputs("check_order: this cannot be parsed\n", stderr);
        return 2;
    }
    check(unit);
    return findings > 0;
}
