/* What ranks tell the advisor of a broadcast, and what it answers with. */
#ifndef ESPI_CHANNEL_RANK_REPORT_H
#define ESPI_CHANNEL_RANK_REPORT_H

#include <stdint.h>

#include <espalier/plan.h>
#include <espalier/platform.h>

/* What one rank tells of its part in one broadcast. */
enum { ESPI_REPORT_CHILDREN = 8 }; /* limit: others are not told of */

struct espi_report {
    uint32_t magic, version;
    int32_t node;   /* of the platform, on which the rank runs */
    int32_t root;   /* node of the root */
    int32_t parent; /* node that sent to it; -1: it is the root */
    int32_t n;      /* ranks that take part */
    uint64_t call;  /* number of the broadcast on its communicator */
    uint64_t bytes;
    double slices;    /* that the message was cut into */
    double receive_s; /* from its first slice to its last */
    double total_s;   /* of the call */
    double at_s;      /* when it ended, on the clock of the machine */
    /* Those it sent to, the slowest first: how long messages to them were under way.
     * Since a sender serves its children in turns, all of them receive as slowly as the
     * slowest can; this tells which one that is. */
    int32_t child[ESPI_REPORT_CHILDREN]; /* nodes; -1: no more */
    float child_s[ESPI_REPORT_CHILDREN];
};

#define ESPI_REPORT_MAGIC   UINT32_C(0x65737061)
#define ESPI_REPORT_VERSION 1

/* A plan that the advisor publishes. */
struct espi_advice {
    int root, size_class;  /* of the message: bytes <= 2^size_class */
    struct esp_plan *plan; /* the caller's */
    int is_new;            /* not what the advisor said of the same root and class last */
};

/* Could a rank of a program on this network have seen that? */
int espi_report_is_sane(const struct esp_platform *net, const struct espi_report *r);

/* The power of two that holds the bytes. */
static inline int espi_size_class(uint64_t bytes)
{
    return bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;
}

#endif
