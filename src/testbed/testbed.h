/* A testbed: a grid of network namespaces, and what is on disk about it.
 *
 * Its folder under /run holds the platform it was made from and, written before the first
 * of them is made, the names of its namespaces. So whenever the making stops, what there
 * is to take down is known; and only names that did not exist before are written there.
 * The folder's lock is held by the maker and by all that it starts: who finds it free
 * finds nothing half done by a process that is still alive. */
#ifndef ESPI_TESTBED_TESTBED_H
#define ESPI_TESTBED_TESTBED_H

#include "testbed/grid.h"
#include "testbed/script.h"

struct espi_testbed {
    char name[ESPI_TESTBED_NAME_MAX + 1];
    char dir[ESPI_TESTBED_NAME_MAX + 32];
    int lock; /* -1: not held */
    struct espi_arena arena;
    struct esp_platform *platform;
    struct espi_grid grid; /* when the platform is there */
    char **spaces;         /* the namespaces, control first */
    int n_spaces;
    int whole; /* the making came to its end */
};

struct espi_testbed_tools {
    const char *program;               /* espalier itself: launchers start hosts by it */
    const char *delay_line;            /* the program that delays; NULL: there is none */
    void (*step)(int done, int total); /* or NULL */
};

/* Whether this process may make namespaces; ESP_EUSAGE and what to do otherwise. */
esp_status espi_testbed_check_rights(struct esp_err *err);

/* Makes a testbed of the platform (which is copied). What was begun is taken down again
 * when something fails. */
esp_status espi_testbed_up(const char *name, const struct esp_platform *p,
                           const struct espi_testbed_tools *tools, struct esp_err *err);

/* Reads what there is of a testbed. ESP_EUSAGE when there is none; a testbed that was
 * left half made is read, too. Free with espi_testbed_done. */
esp_status espi_testbed_open(struct espi_testbed *testbed, const char *name,
                             struct esp_err *err);
void espi_testbed_done(struct espi_testbed *testbed);

/* Ends what runs in it and takes all away; *ended: how many processes. */
esp_status espi_testbed_down(const char *name, int *ended, struct esp_err *err);

/* Changes one direction of a wire; at 0 nothing gets through. */
esp_status espi_testbed_set_rate(const struct espi_testbed *testbed, int wire, int dir,
                                 double rate_Bps, struct esp_err *err);

/* Turns this process into one on the box (-1: where launchers run): its network, host
 * name and hosts file. */
esp_status espi_testbed_enter(const struct espi_testbed *testbed, int box,
                              struct esp_err *err);

/* The names of all testbeds: calls seen for each. */
void espi_testbed_each(void (*seen)(const char *name, void *data), void *data);

#endif
