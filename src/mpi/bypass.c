/* When there is nothing for us to do in the whole job, calls go to the MPI library
 * without the detour: the slots through which the program and its libraries call a
 * function of ours are set to the library's own. A jump through us costs three
 * nanoseconds, and a broadcast of a byte on shared memory no more than a hundred.
 *
 * Slots of read-only tables are made writable for the moment. Where tables look otherwise
 * than expected, or another tool stands before us, all stays as it is. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/native_call.h"
#include "mpi/shim.h"

#if defined(__aarch64__)
enum { CALL_SLOT = R_AARCH64_JUMP_SLOT, DATA_SLOT = R_AARCH64_GLOB_DAT };
#elif defined(__x86_64__)
enum { CALL_SLOT = R_X86_64_JUMP_SLOT, DATA_SLOT = R_X86_64_GLOB_DAT };
#else
enum { CALL_SLOT = -1, DATA_SLOT = -2 }; /* none */
#endif

struct change {
    const char *name;
    uintptr_t ours, native;
};

struct changes {
    const struct change *list;
    int n;
    uintptr_t base; /* of the one object that is meant; 0: all */
};

/* The tables of one object. */
struct object {
    uintptr_t base, relro, relro_end;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * calls, *others;
    size_t n_calls, n_others;
};

/* The C library has made most of these addresses absolute, but not those of the vDSO. */
static const void *absolute_address(const struct object *o, ElfW(Addr) value)
{
    return (const void *)(value < o->base ? value + o->base : value);
}

static void read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
    int rela = 0;
    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            o->symbols = absolute_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            o->strings = absolute_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_JMPREL)
            o->calls = absolute_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELA)
            o->others = absolute_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            o->n_calls = d->d_un.d_val / sizeof *o->calls;
        else if (d->d_tag == DT_RELASZ)
            o->n_others = d->d_un.d_val / sizeof *o->others;
        else if (d->d_tag == DT_PLTREL)
            rela = d->d_un.d_val == DT_RELA;
    }
    if (!rela || !o->calls)
        o->n_calls = 0;
    if (!o->others)
        o->n_others = 0;
}

static int read_object(struct object *o, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dynamic = NULL;
    *o = (struct object){.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_DYNAMIC)
            dynamic = (const void *)(o->base + h->p_vaddr);
        if (h->p_type == PT_GNU_RELRO) {
            o->relro = o->base + h->p_vaddr;
            o->relro_end = o->relro + h->p_memsz;
        }
    }
    if (!dynamic)
        return -1;
    read_dynamic(o, dynamic);
    return o->symbols && o->strings ? 0 : -1;
}

static void write_slot(const struct object *o, uintptr_t *slot, uintptr_t value)
{
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_size - 1));
    int sealed = (uintptr_t)slot >= o->relro && (uintptr_t)slot < o->relro_end;
    if (*slot == value || (sealed && mprotect(page, page_size, PROT_READ | PROT_WRITE)))
        return;
    *slot = value;
    if (sealed)
        mprotect(page, page_size, PROT_READ);
}

/* Calls may not be bound yet; what else leads to us is. */
static void change_slot(const struct object *o, const ElfW(Rela) * at, int kind,
                        const struct changes *changes)
{
    const char *name = o->strings + o->symbols[ELF64_R_SYM(at->r_info)].st_name;
    uintptr_t *slot = (uintptr_t *)(o->base + at->r_offset);
    for (int i = 0; i < changes->n; i++) {
        const struct change *c = &changes->list[i];
        if (strcmp(name, c->name) == 0 && (kind == CALL_SLOT || *slot == c->ours))
            write_slot(o, slot, c->native);
    }
}

static void change_slots(const struct object *o, const ElfW(Rela) * list, size_t n,
                         const struct changes *changes)
{
    for (size_t i = 0; i < n; i++) {
        int kind = (int)ELF64_R_TYPE(list[i].r_info);
        if (kind == CALL_SLOT || kind == DATA_SLOT)
            change_slot(o, &list[i], kind, changes);
    }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct changes *changes = arg;
    struct object o;
    (void)size;
    if ((!changes->base || changes->base == info->dlpi_addr) &&
        read_object(&o, info) == 0) {
        change_slots(&o, o.calls, o.n_calls, changes);
        change_slots(&o, o.others, o.n_others, changes);
    }
    return 0;
}

void espi_bypass(const char *name, void *ours, void *native)
{
    struct change c = {name, (uintptr_t)ours, (uintptr_t)native};
    struct changes all = {&c, 1, 0};
    if (native && sizeof(void *) == 8 && dlsym(RTLD_DEFAULT, name) == ours)
        dl_iterate_phdr(visit_object, &all);
}

/* ---- who is behind us ---- */

enum { NAMES = 256 }; /* limit: more than there are PMPI_ names of ours */

static struct change found[NAMES];
static int n_found;

/* The object that is the MPI library: that of a function that nobody stands in for. */
static const void *library_base(void)
{
    static const void *base;
    Dl_info of;
    void *own = base ? NULL : dlsym(RTLD_NEXT, "PMPI_Get_library_version");
    if (own && dladdr(own, &of))
        base = of.dli_fbase;
    return base;
}

void *espi_behind_us(const char *name, void *ours)
{
    void *native = dlsym(RTLD_NEXT, name);
    if (native && n_found < NAMES)
        found[n_found++] = (struct change){name, (uintptr_t)ours, (uintptr_t)native};
    return native;
}

__attribute__((visibility("default"))) void *MPIX_Espalier_native(const char *name)
{
    for (int i = 0; i < n_found; i++)
        if (strcmp(found[i].name, name) == 0)
            return (void *)found[i].native;
    return NULL;
}

void espi_leave_library_alone(void)
{
    struct changes own = {found, n_found, (uintptr_t)library_base()};
    if (own.base && sizeof(void *) == 8)
        dl_iterate_phdr(visit_object, &own);
}

void *espi_tool_behind_us(const char *name)
{
    Dl_info of;
    void *next = dlsym(RTLD_NEXT, name);
    return next && dladdr(next, &of) && of.dli_fbase != library_base() ? next : NULL;
}
