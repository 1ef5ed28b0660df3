/* Broadcasts of a program while cables of a network come under load and are free again:
 * by plans of the advisor, with probes or without, by the plan that stays, by MPICH-G2's
 * tree, and by one who knows the load and plans each call for it. */
#ifndef ESPI_STUDY_LOAD_COURSE_H
#define ESPI_STUDY_LOAD_COURSE_H

#include <stdint.h>

#include <espalier/platform.h>

enum { ESPI_COURSE_CALLS = 60 };

/* What is left of one cable; -1: nothing is under load. */
struct espi_cable_load {
    int cable;
    double left;
};

enum espi_load_place {
    ESPI_LOAD_BETWEEN, /* cables that transfers of several hosts share */
    ESPI_LOAD_PORT     /* of one host, out or in */
};

enum espi_load_shape {
    ESPI_LOAD_STEP,  /* all at once, until it ends */
    ESPI_LOAD_RAMP,  /* grows to the middle, and shrinks */
    ESPI_LOAD_BURSTS /* comes and goes, one to three calls each */
};

/* Loads of each call, drawn: 10 to 20 calls under load, 5 to 10 without; cables and ports
 * in turns by chance, whichever there are, that lose half to nine tenths of their rate.
 */
void espi_load_draw(const struct esp_platform *p, uint64_t seed,
                    struct espi_cable_load load[ESPI_COURSE_CALLS]);

/* Where broadcasts begin: the platform's first host. */
int espi_load_root(const struct esp_platform *p);

/* What most pairs of hosts share, and the best plan for that size passes; -1: nothing. */
esp_status espi_load_busiest(const struct esp_platform *p, enum espi_load_place place,
                             double bytes, int *cable, struct esp_err *err);

enum espi_course_who {
    ESPI_COURSE_ADAPTIVE,
    ESPI_COURSE_STATIC,       /* the plan for the network without load */
    ESPI_COURSE_HIERARCHICAL, /* MPICH-G2's tree, in one piece */
    ESPI_COURSE_CLAIRVOYANT,  /* plans for the true rates, or keeps the static plan */
    ESPI_COURSE_MANY
};

struct espi_course {
    int calls;
    double bytes;
    int is_falling; /* by a line to nothing, as in the adaptive paper */
    int has_probes; /* while nobody calls */
    struct espi_cable_load load[ESPI_COURSE_CALLS];
    double took_s[ESPI_COURSE_CALLS][ESPI_COURSE_MANY]; /* filled in */
};

esp_status espi_load_course_run(const struct esp_platform *p, struct espi_course *course,
                                struct esp_err *err);

#endif
