/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_MPI_PROBE_TUNING_H
#define ESPI_MPI_PROBE_TUNING_H

/* The shortest chunk of a transfer that is timed.
 * unit: bytes
 * trades: larger, slow links are timed by few chunks; smaller, messages cost more
 * than bytes
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_CHUNK_MIN = 4096 };

/* The longest chunk.
 * unit: bytes
 * trades: larger, memory and what is left to drain; smaller, fast links wait for
 * acknowledgements
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_CHUNK_MAX = 1 << 18 };

/* A transfer goes on beyond its time until so many chunks are sent.
 * unit: chunks
 * trades: larger, slow links take long; smaller, their rate is that of a burst
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed, its slowest cable */
enum { ESPI_CHUNKS_MIN = 8 };

/* A chunk takes about so long.
 * unit: s
 * trades: larger, few arrivals tell the rate; smaller, the processor limits it
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed, 64 ranks on two processors */
#define ESPI_CHUNK_S 2e-3

/* The rate of a transfer of which nothing is known yet.
 * unit: B/s
 * trades: larger, slow links drain long; smaller, fast ones are not filled
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_UNKNOWN_Bps 5e6

/* What is under way to a far host whose rate is not known.
 * unit: bytes
 * trades: as ESPI_UNKNOWN_Bps
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_WINDOW_FAR (512 << 10)

/* So long a waiting rank sleeps between looks.
 * unit: s
 * trades: larger, latencies come out too long; smaller, waiting ranks take the
 * processors of the others
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed, 64 ranks on two processors */
#define ESPI_REST_S 100e-6

/* So long it looks without sleeping before.
 * unit: s
 * trades: as ESPI_REST_S
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed, 64 ranks on two processors */
#define ESPI_SPIN_S 3e-3

/* Messages there and back for a latency; the first is not counted.
 * unit: messages
 * trades: larger, meeting takes longer; smaller, one disturbance counts
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_PINGS = 8 };

/* The same between hosts whose messages take longer than ESPI_PING_LONG_S.
 * unit: messages
 * trades: as ESPI_PINGS
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_FAR_PINGS = 3 };

/* There and back: from here on ESPI_FAR_PINGS have to do.
 * unit: s
 * trades: larger, meeting far hosts takes longer; smaller, their latencies are noisy
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_PING_LONG_S 4e-3

/* Messages of a quick look at the rate.
 * unit: messages
 * trades: larger, meeting takes longer; smaller, the first ones, which nothing holds
 * up, count
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed */
enum { ESPI_CARS = 5 };

/* The length of these.
 * unit: bytes
 * trades: as ESPI_CARS
 * shown by: bench/grid, espalier measure
 * chosen on: the preset testbed */
enum { ESPI_CAR_BYTES = 16384 };

/* A message between ranks of one machine whose rate is that of its memory.
 * unit: bytes
 * trades: larger, it takes longer; smaller, it stays in the cache
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_BUS_BYTES = 1 << 20 };

/* The best of so many counts.
 * unit: messages
 * trades: larger, it takes longer; smaller, the first touch of memory counts
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
enum { ESPI_BUS_TIMES = 16 };

/* The first sleep of a rank that waits.
 * unit: s
 * trades: as ESPI_REST_S
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_REST_FIRST_S 20e-6

/* Each sleep is so many times as long as the one before, up to a limit.
 * unit: 1
 * trades: larger, what comes soon is seen late; smaller, waiting ranks take the
 * processors of the others
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_REST_GROWS 1.3

/* A steady rate above so many times the mean since the start is that of a receiver that
 * slept: the mean counts.
 * unit: 1
 * trades: larger, rates that no link has; smaller, slow starts count as slow links
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_STEADY_MOST 1.3

/* The longest sleep of a rank that has nothing to do.
 * unit: s
 * trades: larger, measuring takes longer; smaller, idle ranks take the processors of
 * those that measure
 * shown by: bench/grid, espalier measure
 * chosen on: not measured */
#define ESPI_REST_IDLE_S 3e-3

#endif
