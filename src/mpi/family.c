/* The shim of one MPI in a program of the other. The two have other handles (numbers
 * here, pointers there), so that none of our functions could even pass its arguments on:
 * what the program calls must not come to us at all. This is found when the shim is
 * loaded, and the slots through which the program and its libraries would call us are set
 * to the functions of their MPI library. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/shim.h"

/* Of the MPI that we are for there is something that the other has not. */
#ifdef OPEN_MPI
#define FAMILY   "Open MPI"
#define OTHER    "MPICH"
#define OWN_MARK "ompi_mpi_comm_world"
#else
#define FAMILY   "MPICH"
#define OTHER    "Open MPI"
#define OWN_MARK "PMPIX_Grequest_start"
#endif

/* Looked for behind us: what the program itself has may be a copy. */
static int is_foreign(void)
{
    Dl_info called, own;
    void *init = dlsym(RTLD_NEXT, "PMPI_Init"), *mark = dlsym(RTLD_NEXT, OWN_MARK);
    return init && mark && dladdr(init, &called) && dladdr(mark, &own) &&
           called.dli_fbase != own.dli_fbase;
}

static int is_first_rank(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return 1;
}

/* ---- all that we show ---- */

struct self {
    uintptr_t base;
    const ElfW(Dyn) * dynamic;
};

static int find_self(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct self *self = arg;
    (void)size;
    if (info->dlpi_addr != self->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            self->dynamic = (const void *)(self->base + info->dlpi_phdr[i].p_vaddr);
    return 1;
}

static const void *dynamic_entry(const struct self *self, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = self->dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return (const void *)(d->d_un.d_ptr < self->base ? d->d_un.d_ptr + self->base
                                                             : d->d_un.d_ptr);
    return NULL;
}

/* How many symbols there are: behind the last of all chains. */
static size_t count_symbols(const struct self *self)
{
    const uint32_t *head = dynamic_entry(self, DT_GNU_HASH);
    if (!head)
        return 0;
    const uint32_t *buckets = head + 4 + head[2] * sizeof(ElfW(Addr)) / sizeof(uint32_t);
    const uint32_t *chain = buckets + head[0];
    uint32_t last = 0;
    for (uint32_t i = 0; i < head[0]; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < head[1])
        return 0;
    while (!(chain[last - head[1]] & 1))
        last++;
    return (size_t)last + 1;
}

static void step_aside(const struct self *self)
{
    const ElfW(Sym) *symbols = dynamic_entry(self, DT_SYMTAB);
    const char *strings = dynamic_entry(self, DT_STRTAB);
    size_t n = symbols && strings ? count_symbols(self) : 0;
    for (const ElfW(Sym) *s = symbols; s < symbols + n; s++) {
        const char *name = strings + s->st_name;
        if (s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
            espi_bypass(name, (void *)(self->base + s->st_value), dlsym(RTLD_NEXT, name));
    }
}

static void say_family(const char *what)
{
    const char *mode = getenv("ESPALIER_MODE"), *log = getenv("ESPALIER_LOG");
    if (is_first_rank() && !(mode && strcmp(mode, "off") == 0) &&
        !(log && strcmp(log, "quiet") == 0))
        fprintf(stderr,
                "espalier: %s: this is the library for " FAMILY
                ", and the program has " OTHER "\n",
                what);
}

__attribute__((constructor)) static void look_round(void)
{
    Dl_info here;
    struct self self = {0, NULL};
    if (!is_foreign() || !dladdr((void *)look_round, &here))
        return;
    self.base = (uintptr_t)here.dli_fbase;
    dl_iterate_phdr(find_self, &self);
    if (self.dynamic)
        step_aside(&self);
    say_family("all runs natively");
}
