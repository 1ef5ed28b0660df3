/* The drawing that pictures and pages share: the network by site, links by speed, the
 * trees of plans over it, the bottleneck cut. Parts are SVG groups with classes, so that
 * a page can show, hide and move them. */
#ifndef ESPI_REPORT_NETWORK_H
#define ESPI_REPORT_NETWORK_H

#include <stdio.h>

#include <espalier/bound.h>
#include <espalier/plan.h>

#include "report/labels.h"
#include "report/layout.h"

/* looks: of all pictures */
enum {
    ESPI_NETWORK_SCALE = 10,  /* units of SVG a unit of the layout */
    ESPI_NETWORK_COLOURS = 8, /* trees beyond these share one */
    ESPI_NETWORK_SPEEDS = 5,  /* classes of links, 0 is slowest */
};

struct espi_network {
    const struct esp_platform *p;
    struct espi_picture_layout layout;
    const struct esp_plan *const *plans;
    int n_plans;
    int root;                        /* -1: none */
    const struct esp_bound *bound;   /* or NULL */
    unsigned char *near;             /* node -> on the root's side of the bound's cut */
    double slowest_Bps, fastest_Bps; /* of the links */
    int n_pairs, n_drawn;            /* pairs of nodes that are joined, and shown */
    struct espi_labels labels;
    int *bundle; /* pairs of groups, n_groups a row -> links that cross from the one to
                    the other; NULL: too many groups */
};

/* Lays out the platform and counts; plans are the caller's to add. root: -1: none. -1
 * when out of memory. */
int espi_network_init(struct espi_network *net, const struct esp_platform *p, int root,
                      const struct esp_bound *bound, struct espi_arena *arena);

/* 0 (slowest) .. ESPI_NETWORK_SPEEDS - 1, on a scale of logarithms. */
int espi_network_speed(const struct espi_network *net, double bandwidth_Bps);
/* What the class of speed begins and ends at. */
double espi_network_speed_from(const struct espi_network *net, int speed);

/* The groups of SVG, without an <svg> round them. */
void espi_network_write(const struct espi_network *net, FILE *out);

/* The same as the <svg> element of a page, with its style and a place for what moves. */
void espi_network_write_element(const struct espi_network *net, FILE *out);

/* The group of one more plan, under that number. */
void espi_network_write_plan(const struct espi_network *net, const struct esp_plan *plan,
                             int number, FILE *out);

/* The style sheet of the groups, for light and dark. */
extern const char espi_network_style[];

#endif
