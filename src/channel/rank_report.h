/* What ranks tell the advisor of a broadcast, and what it answers with. */
#ifndef ESPI_CHANNEL_RANK_REPORT_H
#define ESPI_CHANNEL_RANK_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <espalier/plan.h>
#include <espalier/platform.h>

/* What a rank says of its messages with another. */
enum espi_way_kind {
    ESPI_WAY_FROM, /* those that came from there: from the first to the last */
    ESPI_WAY_TO,   /* those that went there: how long at least one was under way */
    ESPI_WAY_TREE, /* where plans have several trees: what came of one of them */
};

struct espi_report_way {
    int32_t peer; /* node */
    uint8_t kind;
    uint8_t is_new; /* the two had never met; said by who hears the report */
    uint16_t tree;
    uint32_t slices;
    float seconds;
};

/* limit: of a call with more nothing is learned; derived: trees are fewer */
enum { ESPI_REPORT_WAYS = 512, ESPI_REPORT_TREES = 4096 };

/* What one rank tells of its part in one broadcast. As many ways are sent as there are.
 */
struct espi_report {
    uint32_t magic, version;
    int32_t node;   /* of the platform, on which the rank runs */
    int32_t root;   /* node of the root */
    int32_t parent; /* node that sent to it, by several trees the first; -1: it is the
                       root */
    int32_t n;      /* ranks that take part */
    uint64_t call;  /* number of the broadcast on its communicator */
    uint64_t bytes;
    double slices;    /* that the message was cut into */
    double receive_s; /* from its first slice to its last */
    double total_s;   /* of the call */
    double at_s;      /* when it ended, on the clock of the machine */
    int32_t window;   /* slices under way at once on one way; 0: not told */
    int32_t n_ways;   /* -1: they are too many to be told */
    struct espi_report_way way[ESPI_REPORT_WAYS];
};

/* The bytes of a report that are sent. */
size_t espi_report_bytes(const struct espi_report *r);

/* Notes one more way, or that they are too many. */
void espi_report_add(struct espi_report *r, const struct espi_report_way *way);

/* What it says of a peer; NULL: nothing. */
const struct espi_report_way *espi_report_find(const struct espi_report *r,
                                               enum espi_way_kind kind, int peer);

#define ESPI_REPORT_MAGIC   UINT32_C(0x65737061)
#define ESPI_REPORT_VERSION 2

/* Why it is another than the last one for such messages. */
struct espi_advice_reason {
    int is_first;         /* there was none */
    int resource;         /* whose rate has moved most since, -1: none has */
    double factor;        /* of it that is believed now, */
    double before;        /* and was then */
    double last_s, now_s; /* what the last plan would take now, and this one does */
};

/* A plan that the advisor publishes. */
struct espi_advice {
    int root, size_class;  /* of the message: bytes <= 2^size_class */
    struct esp_plan *plan; /* the caller's */
    int is_new;            /* not what the advisor said of the same root and class last */
    struct espi_advice_reason why; /* where it is new */
};

/* Could a rank of a program on this network have seen that? */
int espi_report_is_sane(const struct esp_platform *net, const struct espi_report *r);

/* The power of two that holds the bytes. */
static inline int espi_size_class(uint64_t bytes)
{
    return bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;
}

#endif
