/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_SIM_TUNING_H
#define ESPI_SIM_TUNING_H

/* Senders of further trees must promise to be so many times as fast: promises that look
 * best are wrong most often.
 * unit: 1
 * trades: larger, late receivers wait; smaller, they change to senders that are no faster
 * shown by: espalier reproduce two-tree
 * chosen on: not measured */
#define ESPI_RACE_MARGIN 1.5

#endif
