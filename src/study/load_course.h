/* Broadcasts before, while and after one cable of a network is under load, by plans of
 * the advisor, without probes: how far they are from those of one who knows the load. */
#ifndef ESPI_STUDY_LOAD_COURSE_H
#define ESPI_STUDY_LOAD_COURSE_H

#include <stdint.h>

#include <espalier/platform.h>

enum { ESPI_LOADED_CALLS = 10 };

/* Which of the cables that the plan without load passes. */
enum espi_load_place {
    ESPI_LOAD_BETWEEN /* what most pairs of hosts share */,
    ESPI_LOAD_PORT
};

struct espi_load_course {
    int cable;            /* -1: the plan passes none of that kind, and nothing ran */
    double free_s;        /* a call without load */
    double static_s;      /* under load, by the plan without */
    double clairvoyant_s; /* by one for the network as it is */
    double took_s[ESPI_LOADED_CALLS];
};

/* From the platform's first host; loads leave the cable that part of its rate. */
esp_status espi_load_course_run(const struct esp_platform *p, enum espi_load_place place,
                                double left, double bytes, struct espi_load_course *out,
                                struct esp_err *err);

#endif
