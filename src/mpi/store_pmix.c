/* The store of Open MPI's launchers: PMIx. Its library is the one that Open MPI loads, a
 * moment later; it counts who uses it. */
#include <mpi.h>

#ifdef OPEN_MPI

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/store.h"
#include "mpi/tuning.h"

/* What we use of the interface, which all versions since 2 share. */
/* published: PMIx */
enum { SCOPE_GLOBAL = 3, TYPE_BOOL = 1, TYPE_STRING = 3, TYPE_INT = 6 };

struct process {
    char space[256];
    uint32_t rank;
};

struct value {
    uint16_t type;
    union {
        bool flag;
        int integer;
        char *string;
        char room[64]; /* no version has more */
    } data;
};

struct info {
    char key[512];
    uint32_t flags;
    struct value value;
};

static struct {
    int (*init)(struct process *, struct info *, size_t);
    int (*put)(uint8_t, const char *, struct value *);
    int (*commit)(void);
    int (*get)(const struct process *, const char *, const struct info *, size_t,
               struct value **);
    int (*finalize)(const struct info *, size_t);
} pmix;

static struct process self;
static int is_open;

static const char key[] = "espalier.greeting";

static int find_pmix(void)
{
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return -1;
    *(void **)&pmix.init = dlsym(library, "PMIx_Init");
    *(void **)&pmix.put = dlsym(library, "PMIx_Put");
    *(void **)&pmix.commit = dlsym(library, "PMIx_Commit");
    *(void **)&pmix.get = dlsym(library, "PMIx_Get");
    *(void **)&pmix.finalize = dlsym(library, "PMIx_Finalize");
    return pmix.init && pmix.put && pmix.commit && pmix.get && pmix.finalize ? 0 : -1;
}

int espi_store_put(const char *text)
{
    struct value value = {.type = TYPE_STRING, .data.string = (char *)text};
    /* A program without a launcher would become its own here. */
    if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK") || find_pmix() ||
        pmix.init(&self, NULL, 0))
        return -1;
    is_open = 1;
    if (pmix.put(SCOPE_GLOBAL, key, &value) == 0 && pmix.commit() == 0)
        return 0;
    espi_store_done();
    return -1;
}

static int get(int rank, const struct info *how, char out[ESPI_STORE_TEXT])
{
    struct process who = self;
    struct value *value = NULL;
    who.rank = (uint32_t)rank;
    if (pmix.get(&who, key, how, 1, &value) || !value)
        return 0;
    char *text = value->type == TYPE_STRING ? value->data.string : NULL;
    int fits = text && strlen(text) < ESPI_STORE_TEXT;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    free(text); /* it is the C library's */
    free(value);
    return fits;
}

/* Where the addresses of all were sent to all the text came with them; else the host of
 * the rank is asked. One that has none it waits for, hence the limit. */
int espi_store_get(int rank, int patient, char out[ESPI_STORE_TEXT])
{
    struct info now = {.key = "pmix.immediate",
                       .value = {.type = TYPE_BOOL, .data.flag = true}};
    struct info later = {.key = "pmix.timeout",
                         .value = {.type = TYPE_INT, .data.integer = ESPI_PMIX_WAIT_S}};
    return get(rank, &now, out) || (patient && get(rank, &later, out));
}

void espi_store_done(void)
{
    if (is_open)
        pmix.finalize(NULL, 0);
    is_open = 0;
}

#endif
