/* The lines that ip(8) and tc(8) are given to build a grid. Pure text: nothing is done
 * here. */
#ifndef ESPI_TESTBED_SCRIPT_H
#define ESPI_TESTBED_SCRIPT_H

#include <stdio.h>

#include "testbed/grid.h"

#define ESPI_NAMESPACE_MAX    160
#define ESPI_TESTBED_NAME_MAX 32
#define ESPI_ADDRESS_MAX      40

/* A bed's name: 1 to 32 letters, digits or '_', so that no name starts another's. */
int espi_testbed_name_ok(const char *name);

/* The namespace of a box; box -1: the control network, where launchers run. */
const char *espi_namespace(char out[ESPI_NAMESPACE_MAX], const char *testbed,
                           const struct espi_grid *g, int box);

/* "eth0" at a host, "w3" at a box that forwards. */
const char *espi_port_name(char out[16], const struct espi_grid *g, int wire, int side);

/* The address of a host in the data network and in the control network; host -1: of the
 * launcher. */
const char *espi_host_address(char out[ESPI_ADDRESS_MAX], int host);
const char *espi_control_address(char out[ESPI_ADDRESS_MAX], int host);

/* ip, outside: the namespaces, and the veth wires between them. */
void espi_script_make(FILE *out, const struct espi_grid *g, const char *testbed);
/* ip, in the namespace of a box (-1: control): addresses, routes, all up. */
void espi_script_box(FILE *out, const struct espi_grid *g, int box);
/* tc, in the namespace of a box: the rates. */
void espi_script_rates(FILE *out, const struct espi_grid *g, int box);
/* tc, for one direction of a wire: makes its shaper with the queues in front of it,
 * changes the rate of one that is there, or makes one in the place of whatever is there.
 * Nothing gets through at a rate of 0. */
enum espi_rate_verb { ESPI_RATE_ADD, ESPI_RATE_CHANGE, ESPI_RATE_REPLACE };
void espi_script_rate(FILE *out, const struct espi_grid *g, enum espi_rate_verb verb,
                      int wire, int dir, double rate_Bps);
/* "name value" lines: files below /proc/sys/net and what is to be written there. */
void espi_script_settings(FILE *out, const struct espi_grid *g, int box);
/* /etc/hosts as all programs in the testbed see it. */
void espi_script_hosts(FILE *out, const struct espi_grid *g);
/* "namespace port namespace port seconds seconds": what the delay line joins. */
void espi_script_delays(FILE *out, const struct espi_grid *g, const char *testbed);

#endif
