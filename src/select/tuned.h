/* What was tuned for the choice of plans: unit, what it trades, what shows it. */
#ifndef ESPI_SELECT_TUNED_H
#define ESPI_SELECT_TUNED_H

/* Seconds that a message takes of a host beside its bytes, where nothing was measured.
 * Less lets deep trees fill sooner by more slices, more keeps messages whole.
 * `espalier measure` finds 1 to 10 microseconds for a send and a receive over TCP; with
 * 5, 64 MB over a chain of 8 hosts at 100 MB/s are cut into some 950 slices. */
#define ESPI_MESSAGE_S 5e-6

/* Bytes: the smallest slice, and the usual one. MPI libraries wait for the receiver from
 * a power of two on, their headers counted: slices stay below by a part of 128. */
#define ESPI_SLICE_LEAST 1024.0
#define ESPI_SLICE_USUAL 65536.0
#define ESPI_SLICE_BELOW (127.0 / 128)

/* So many sizes of slices of a plan of many trees are timed by the best order of sends,
 * which takes ten times as long as one order: more find better ones now and then. */
enum { ESPI_CLOSER_LOOKS = 3 };

/* Hosts up to which `auto` packs trees to the optimum and looks for few trees. */
enum { ESPI_CONTEST_FEW_HOSTS = 200 };

/* On more, so much work goes into a packing (solve/patience.h), and the best so far has
 * to do. With 6e5, 256 hosts on switches lose the plan that is best there; with 3e6,
 * 1,000 random hosts take four times as long and gain nothing. */
#define ESPI_CONTEST_PACKING_WORK 1e6

#endif
