/* What the parts of the search for cables share; used by cables*.c only. */
#ifndef ESPI_MEASURE_CABLES_IMPL_H
#define ESPI_MEASURE_CABLES_IMPL_H

#include "measure/measured.h"

/* Transfers of a round over one cable. */
struct espi_crossing {
    int key; /* from site * n_sites + to site */
    int n;   /* transfers */
    int round;
    double sum, could;
};

enum espi_pattern { ESPI_THERE_AND_BACK, ESPI_OUT_OF, ESPI_INTO, ESPI_SEVERAL };

/* A round that is about several cables. */
struct espi_about {
    enum espi_pattern pattern;
    unsigned key; /* which cable there and back, which site, or a hash of the cables */
    int cables, round;
};

/* Rounds over the same cables, some of which were held up. */
struct espi_suspect {
    const struct espi_about *about;
    int n, accusing; /* rounds; those in which several were held up */
    double Bps;      /* of all together; -1: of some of them */
};

struct espi_cabling {
    struct espi_measured *net;
    struct espi_arena *arena;
    struct espi_crossing *crossings; /* by key; of rounds, one after the other */
    struct espi_crossing *sorted;    /* of all rounds, by key */
    int *start;                      /* round -> its crossings */
    struct espi_about *about;
    int n_about, n_cores;
    size_t *whole; /* what was found in the middle that held up all cables of a round */
    int n_whole;
    struct espi_suspect *suspects;
    int n_suspects;
    double *values;
};

/* Marks the rounds that should be run again before what they say is believed; -1 when out
 * of memory. */
int espi_cables_doubt(struct espi_cabling *c);

#endif
