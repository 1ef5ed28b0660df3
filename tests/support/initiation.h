/* Platforms in the model of Mateescu: hosts with initiation costs, links with times. */
#ifndef TESTS_SUPPORT_INITIATION_H
#define TESTS_SUPPORT_INITIATION_H

#include <espalier/espalier.h>

enum { INITIATION_MAX = 8 };

/* Initiation costs and, row by row, the times of the links; 0: none. */
struct initiation {
    int n;
    double c[INITIATION_MAX], w[INITIATION_MAX][INITIATION_MAX];
};

/* Six hosts: 11 by extended shortest paths, 10 at best. Five hosts with one tree only: 9
 * in the order of the hosts, 8 with the longer rest first. */
extern const struct initiation initiation_a1, initiation_a2;

/* Multi-port, one byte on a link takes its time to the last bit. */
struct esp_platform *initiation_platform(const struct initiation *x);

#endif
