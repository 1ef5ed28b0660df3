/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_EXEC_TUNING_H
#define ESPI_EXEC_TUNING_H

/* How far patience doubles: by then a broadcast is over before anybody asks for help.
 * unit: 1
 * trades: larger, a rank whose calls for help were of no use asks later and later;
 * smaller, it goes on asking
 * shown by: build/release/tests/test_backup; tests/mpi, the runs "late"
 * chosen on: not measured */
#define ESPI_PATIENCE_MAX 64.0

/* Calls for help of a rank in one broadcast.
 * unit: calls
 * trades: larger, a rank whose own link is slow keeps others from their work; smaller, a
 * rank whose sender stops again waits
 * shown by: build/release/tests/test_backup
 * chosen on: not measured */
enum { ESPI_ASKS = 8 };

/* While slices go on arriving, notes of other ranks are looked for once in so many looks.
 * unit: looks
 * trades: larger, help comes late; smaller, looking takes time from passing on, on
 * testbeds up to 10 ms a hop
 * shown by: tests/mpi, the runs "late"
 * chosen on: not measured */
enum { ESPI_NOTES_WAIT = 16 };

#endif
