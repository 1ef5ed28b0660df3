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

/* The buffer of a connection whose bytes the kernel does not move by itself, and of the
 * proof.
 * unit: bytes
 * trades: larger, bytes leave the processor's cache before they are used again; smaller,
 * more system calls
 * shown by: bench/cp
 * chosen on: not measured; a fraction of an L2 cache, four records of TLS */
enum { ESPI_COPY_WORK_BYTES = 64 << 10 };

/* Of many small files so much of what came last stays in memory until it is passed on.
 * unit: bytes
 * trades: larger, more memory; smaller, files are opened again for hosts that are behind
 * shown by: bench/cp --files
 * chosen on: 5,000 files of 100 bytes to 4 hosts: none is opened to be passed on */
enum { ESPI_COPY_RECENT_BYTES = 8 << 20 };

/* Shorter stretches of a file are copied through the buffer, several of them at once.
 * unit: bytes
 * trades: larger, more is copied; smaller, more system calls
 * shown by: bench/cp --no-encrypt
 * chosen on: not measured */
enum { ESPI_COPY_BY_KERNEL_BYTES = 64 << 10 };

/* Memory for slices under way on a host that keeps none of them.
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

/* Work of hosts at their disks (making folders, proving blocks, the last step of each
 * file) may take so much longer than the patience and a slow disk's time for the bytes.
 * unit: times
 * trades: larger, a host whose disk hangs holds up the end of a copy; smaller, hosts with
 * many files are given up
 * shown by: tests/copy/campaign
 * chosen on: not measured */
enum { ESPI_COPY_DISK_TIMES = 8 };

/* A slower disk may be given up.
 * unit: bytes a second
 * trades: larger, hosts with slow disks are given up; smaller, one whose disk hangs holds
 * up the end of a long copy
 * shown by: tests/copy/campaign
 * chosen on: not measured */
#define ESPI_COPY_SLOW_DISK_BPS 20e6

/* Launchers may take so long to start agents.
 * unit: times the patience
 * trades: larger, a host that cannot be reached holds up the beginning; smaller, far and
 * busy hosts are given up
 * shown by: tests/copy/run
 * chosen on: not measured */
enum { ESPI_COPY_LAUNCH_TIMES = 4 };

/* Agents may take so long to connect to those that their program names.
 * unit: times the patience
 * trades: larger, a host that cannot be reached holds up each run; smaller, busy ones are
 * given up
 * shown by: tests/copy/campaign
 * chosen on: not measured */
enum { ESPI_COPY_CONNECT_TIMES = 2 };

/* Agents have the patience to clean up, but no less than this.
 * unit: s
 * trades: larger, Ctrl-C is answered later where an agent hangs; smaller, a busy one
 * leaves files behind
 * shown by: tests/copy/campaign
 * chosen on: not measured */
#define ESPI_COPY_FAREWELL_LEAST_S 2.0

/* A launcher whose output has ended has so long to end itself, which says why.
 * unit: s
 * trades: larger, one that stays holds up the beginning; smaller, a busy one is killed,
 * and the cause is not known
 * shown by: build/release/tests/test_copy_job
 * chosen on: not measured */
#define ESPI_COPY_LAST_WORD_S 0.5

/* Nor more than this.
 * unit: s
 * trades: larger, a copy with a host that is gone ends later; smaller, an agent that
 * removes very many files leaves some behind
 * shown by: tests/copy/campaign
 * chosen on: not measured */
#define ESPI_COPY_FAREWELL_MOST_S 10.0

/* The rate of every link where no network is given: with the latency it says how many
 * slices and how deep trees are worth it.
 * unit: bytes a second
 * trades: larger, shallower trees and longer slices; smaller, deeper ones
 * shown by: espalier cp --plan-only
 * chosen on: not measured; a wire of 1 Gbit/s */
#define ESPI_COPY_UNIFORM_BPS 1.25e8

/* The latency of these links.
 * unit: s
 * trades: larger, shallower trees and longer slices; smaller, deeper ones
 * shown by: espalier cp --plan-only
 * chosen on: not measured; one switch */
#define ESPI_COPY_UNIFORM_LATENCY_S 1e-4

/* Of a broadcast along more trees than so many, of which each takes a connection to each
 * host, there is one along a single tree instead.
 * unit: trees
 * trades: larger, short messages wait for connections; smaller, long ones for ports that
 * a tree does not fill
 * shown by: espalier cp --plan-only
 * chosen on: not measured; messages of 256 MB are sent along 1 to 16 trees */
enum { ESPI_COPY_TREES_MOST = 32 };

/* An answer to the first packet of a connection is awaited for so long.
 * unit: s
 * trades: larger, a copy to hosts that do not answer begins later; smaller, latencies of
 * far hosts are not known
 * shown by: tests/copy/learns
 * chosen on: not measured; farther than twice round the world by fibre */
#define ESPI_COPY_PING_S 0.5

/* What transfers got is looked at over such a while.
 * unit: s
 * trades: larger, a better plan comes later; smaller, bursts are taken for rates
 * shown by: tests/copy/learns
 * chosen on: not measured; some reports of each host, many round trips */
#define ESPI_COPY_LOOK_S 1.0

/* A transfer is held up by the network when something was under way for so much of the
 * time.
 * unit: 1
 * trades: larger, cables that are full are not told; smaller, hosts that have little to
 * send are taken for full cables
 * shown by: tests/copy/learns
 * chosen on: not measured */
#define ESPI_COPY_BUSY_SHARE 0.8

/* It is held up by its receiver when that took no more for so much of the time.
 * unit: 1
 * trades: larger, hosts that are busy are taken for full cables; smaller, full cables for
 * busy hosts
 * shown by: tests/copy/learns
 * chosen on: not measured */
#define ESPI_COPY_CHOKED_SHARE 0.5

/* A rate that is so many times another is not the same; and a plan is made anew when the
 * one of now takes so many times as long as it was thought to.
 * unit: times
 * trades: larger, what has changed is noticed later; smaller, chance is taken for it
 * shown by: tests/copy/learns
 * chosen on: not measured; rates of one cable differ by some tenths from second to second
 */
#define ESPI_COPY_SURPRISE 1.25

/* A mean goes over so many looks.
 * unit: looks
 * trades: larger, what has changed is learned later; smaller, chance counts more
 * shown by: tests/copy/learns
 * chosen on: not measured */
enum { ESPI_COPY_MEMORY = 16 };

/* To stop, to prove what has come and to begin with another plan costs so much beside the
 * planning: what it gains must be more.
 * unit: s
 * trades: larger, a bad plan is kept; smaller, copies are stopped for little
 * shown by: tests/copy/learns
 * chosen on: not measured; a look, a proof of some 100 MB, new connections */
#define ESPI_COPY_CHANGE_S 2.0

/* So often a message is planned anew for what was learned.
 * unit: times
 * trades: larger, copies may be stopped again and again; smaller, one plan too few
 * shown by: tests/copy/learns
 * chosen on: not measured */
enum { ESPI_COPY_CHANGES = 4 };

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
