/* What a broadcast that ran tells of the network: who was late, and which link held it
 * up.
 */
#ifndef ESPI_ADVISOR_SLOW_LINK_DIAGNOSIS_H
#define ESPI_ADVISOR_SLOW_LINK_DIAGNOSIS_H

#include "advisor/advisor.h"
#include "advisor/belief.h"
#include "advisor/told_call.h"

/* limit: those that are remembered, and the resources of a way. */
enum { ESPI_BLAMES = 16, ESPI_BLAME_SUSPECTS = 16 };

/* Late arcs of the last calls: what may have held them up, and what was believed to have.
 */
struct espi_blames {
    struct espi_blame {
        int suspect[ESPI_BLAME_SUSPECTS], n, blamed; /* resources; n is 0: none */
        double Bps[ESPI_BLAME_SUSPECTS];             /* that passed them */
        double at_s;
    } past[ESPI_BLAMES];
    int next;
    struct espi_finding last; /* that something is slow */
    double message_s;         /* that the call before this one would be explained by */
};

/* Tells the belief what the call shows of it. ESP_ENOMEM is the only failure. */
esp_status espi_diagnose_slow_links(struct espi_belief *belief,
                                    struct espi_blames *blames,
                                    const struct espi_told_call *call, double now_s,
                                    struct esp_err *err);

#endif
