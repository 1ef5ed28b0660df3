/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_COPY_TUNING_H
#define ESPI_COPY_TUNING_H

/* What a connection may have in the kernel that is not sent yet.
 * unit: bytes
 * trades: larger, streams that share a link run ahead of their turn; smaller, a link runs
 * dry while the process is busy elsewhere
 * shown by: bench/cp
 * chosen on: not measured */
enum { ESPI_COPY_UNSENT_BYTES = 256 << 10 };

/* What a connection moves before others have their turn.
 * unit: bytes
 * trades: larger, other connections wait; smaller, more looks for events
 * shown by: bench/cp
 * chosen on: not measured */
enum { ESPI_COPY_TURN_BYTES = 1 << 20 };

/* Memory for slices under way on a host.
 * unit: bytes
 * trades: larger, more slices are under way on each stream; smaller, less memory
 * shown by: bench/cp
 * chosen on: not measured */
#define ESPI_COPY_ROOM_BYTES 96e6

/* The largest piece that is checked by itself.
 * unit: bytes
 * trades: larger, a broken byte costs more to send again; smaller, more tags to compare
 * shown by: bench/cp
 * chosen on: not measured */
#define ESPI_COPY_BLOCK_BYTES 1048576.0

/* A caller that has not said who it is for so long loses its place to another.
 * unit: s
 * trades: larger, strangers can keep others out; smaller, far hosts come too late
 * shown by: build/release/tests/test_copy
 * chosen on: not measured */
#define ESPI_COPY_CALLER_S 10.0

/* How often an agent says how far it is.
 * unit: s
 * trades: larger, a host that is dead is noticed later; smaller, more messages
 * shown by: tests/copy/run
 * chosen on: not measured */
#define ESPI_COPY_REPORT_S 0.25

/* An agent that hears nothing for so many times the patience ends.
 * unit: times
 * trades: larger, agents whose root is cut off stay, and keep others from the folder;
 * smaller, a root that is stopped or busy for a while loses them
 * shown by: tests/copy/campaign
 * chosen on: not measured */
enum { ESPI_COPY_ORPHAN_TIMES = 8 };

/* How often agents are told that the job goes on.
 * unit: times the patience
 * trades: larger, fewer signs of life until they give the job up; smaller, more messages
 * shown by: tests/copy/campaign
 * chosen on: not measured */
#define ESPI_COPY_LIFE_SHARE 0.5

/* Up to so many files and folders the disk is waited for one by one.
 * unit: files
 * trades: larger, many waits for the disk; smaller, a copy waits for what others write
 * shown by: tests/copy/run
 * chosen on: not measured */
enum { ESPI_COPY_FEW_FILES = 64 };

/* Parts of a stream that are sent as one message.
 * unit: bytes
 * trades: larger, more memory and a later beginning; smaller, more pauses between them
 * shown by: bench/cp
 * chosen on: not measured */
enum { ESPI_COPY_SEGMENT_BYTES = 32 << 20 };

#endif
