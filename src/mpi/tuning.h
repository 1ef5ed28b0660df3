/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_MPI_TUNING_H
#define ESPI_MPI_TUNING_H

/* Late by less is not worth a call for help: so long may an operating system let a rank
 * wait for its turn.
 * unit: s
 * trades: larger, help comes late; smaller, ranks ask for help because a processor was
 * busy
 * shown by: tests/mpi, the runs "late" and "slow"
 * chosen on: not measured */
#define ESPI_GRACE_S 5e-3

/* Nor is late by this part of the whole broadcast.
 * unit: 1
 * trades: as ESPI_GRACE_S
 * shown by: tests/mpi, the runs "late" and "slow"
 * chosen on: not measured */
#define ESPI_GRACE_PART 0.1

/* In MPI_Finalize sums of programs may be late by so much, and what backup senders have
 * under way must be cleared away by then; who is not done is broken.
 * unit: s
 * trades: larger, jobs whose end hangs hang longer; smaller, jobs on slow links are given
 * up in their last moment
 * shown by: tests/mpi, the runs "left"
 * chosen on: not measured */
#define ESPI_FINALIZE_S 10.0

/* Looks, at most, at what is under way between ranks at the end of a job.
 * unit: looks
 * trades: larger, the time decides alone; smaller, given up before the time is over
 * shown by: tests/mpi, the runs "left"
 * chosen on: not measured */
enum { ESPI_SWEEP_ROUNDS = 1 << 16 };

/* The longest pause between two of them.
 * unit: microseconds
 * trades: larger, jobs end later; smaller, processor time that others need to send
 * shown by: tests/mpi, the runs "left"
 * chosen on: not measured */
enum { ESPI_SWEEP_PAUSE_US = 1000 };

/* With several trees, in step with the receivers, so many times as many slices are under
 * way.
 * unit: 1
 * trades: larger, slices in the wrong proportion again; smaller, waits for receivers
 * shown by: bench/grid
 * chosen on: not measured; with it 64 hosts in four sites take 1.16 times the bound for
 * 16 MB instead of 1.31 */
enum { ESPI_IN_STEP_WINDOW = 4 };

/* Longer messages do not go in step: they lose little by disorder, and something by every
 * wait.
 * unit: bytes
 * trades: larger, waits of long messages; smaller, disorder of short ones
 * shown by: bench/grid
 * chosen on: 64 hosts in four sites: 16 MB is better in step (1.16 times the bound
 * instead of 1.31), 64 MB is not (1.23 instead of 1.10) */
enum { ESPI_IN_STEP_BYTES = 32 << 20 };

/* A rank that ends the job waits so long: launchers may end it faster than they pass on
 * what it said.
 * unit: microseconds
 * trades: larger, a broken job ends later; smaller, nobody learns why
 * shown by: tests/mpi, the runs "errors"
 * chosen on: not measured */
enum { ESPI_LAST_WORDS_US = 200000 };

/* An answer of a launcher that speaks PMI-1 may take so long.
 * unit: s
 * trades: larger, programs whose launcher is broken start late; smaller, ranks of a busy
 * machine run without plans
 * shown by: tests/mpi, the runs "loose"
 * chosen on: not measured */
#define ESPI_PMI_ANSWER_S 10.0

/* A PMIx server waits so long for the word of a rank that may have none.
 * unit: s
 * trades: larger, jobs of which a rank has no espalier start late; smaller, ranks that
 * start late are taken for such
 * shown by: tests/mpi, the runs "loose"
 * chosen on: not measured */
enum { ESPI_PMIX_WAIT_S = 3 };

/* The advisor hears of calls, and ranks look for its letters while they are idle, no more
 * often.
 * unit: s
 * trades: larger, advice and news come late; smaller, short calls cost more
 * shown by: bench/overhead
 * chosen on: not measured */
#define ESPI_NEWS_GAP_S 1e-3

/* So much of what broadcasts carry may be reports of ranks without a way of their own to
 * the advisor.
 * unit: 1
 * trades: larger, broadcasts are slower; smaller, the advisor learns late
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
#define ESPI_REPORT_SHARE 0.02

/* What was started as a prober has to become nobody's child in this time: a setting may
 * name any program.
 * unit: s
 * trades: larger, a program with a wrong setting starts late; smaller, no probers on a
 * busy machine
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
#define ESPI_CHILD_S 2.0

/* A rank that has greeted may take so long until it answers.
 * unit: s
 * trades: larger, a job with a broken rank hangs longer before all do without plans;
 * smaller, ranks that load long are left out
 * shown by: tests/mpi, the runs "loose"
 * chosen on: not measured */
#define ESPI_GREETED_S 600.0

/* Messages of larger elements are copied as a whole: they would be packed again and again
 * for the pieces of them.
 * unit: bytes
 * trades: larger, time to pack; smaller, memory
 * shown by: tests/mpi, the runs "types"
 * chosen on: not measured */
enum { ESPI_SLICED_ELEMENT_BYTES = 4096 };

/* From so many bytes on messages with gaps are not copied as a whole, if they need not
 * be.
 * unit: bytes
 * trades: larger, memory, and a copy before the first slice; smaller, time for the
 * bookkeeping of short ones
 * shown by: tests/mpi, the runs "types"
 * chosen on: not measured */
enum { ESPI_SLICED_BYTES = 1 << 18 };

/* Communicators of the user that get a twin for plans: MPI libraries run out of
 * communicators at about two thousand, and most are left to the user.
 * unit: communicators
 * trades: larger, programs with many communicators run out of them; smaller, some of them
 * run without plans
 * shown by: tests/mpi, the runs "comms"
 * chosen on: not measured */
enum { ESPI_TWINS_MAX = 64 };

/* So many communicators made of one with a twin are asked for theirs when they are made;
 * others when they are first used.
 * unit: communicators
 * trades: larger, programs that make many wait for twins they do not use; smaller, first
 * calls that wait
 * shown by: tests/mpi, the runs "comms"
 * chosen on: not measured */
enum { ESPI_TWINS_AT_ONCE = 16 };

/* Decisions, with their programs, that are kept a communicator.
 * unit: decisions
 * trades: larger, memory; smaller, programs that change between many roots and sizes plan
 * again and again
 * shown by: bench/overhead
 * chosen on: not measured */
enum { ESPI_CACHE = 48 };

/* Calls whose sizes differ by less than this part are compared in trials.
 * unit: parts
 * trades: larger, programs whose sizes vary get no verdict; smaller, verdicts are about
 * the sizes
 * shown by: tests/mpi, the runs "trials"
 * chosen on: not measured; below what tells contenders apart after three rounds */
enum { ESPI_COMPARED_PART = 8 };

/* After so many calls in a row of another size, trials are of that one.
 * unit: calls
 * trades: larger, programs that go over to another size get no verdict for long;
 * smaller, those that change between sizes get none
 * shown by: tests/mpi, the runs "trials"
 * chosen on: not measured */
enum { ESPI_STRANGE_CALLS = 4 };

/* Plans of the advisor that are kept a communicator.
 * unit: plans
 * trades: larger, memory; smaller, advice that is forgotten
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
enum { ESPI_ADVISED = 24 };

/* A plan of the advisor is good for sizes that differ by so many classes, too.
 * unit: powers of two
 * trades: larger, plans for the wrong size; smaller, sizes between two calls that get
 * none
 * shown by: tests/mpi/advisor
 * chosen on: not measured */
enum { ESPI_NEAR_CLASSES = 1 };

/* When ranks have told each other sizes in vain, before calls that the library made all
 * the same, so many times more than plans have won back, they do so ever more rarely.
 * unit: calls
 * trades: larger, a short message more in calls that are the library's; smaller, programs
 * whose first calls are short are given up
 * shown by: tests/mpi, the runs "vectors"
 * chosen on: not measured */
enum { ESPI_SIZES_IN_VAIN = 4 };

/* Non-blocking calls whose sizes are not yet known run by one of two plans: for messages
 * of about so many bytes in all, or of as many as the next constant says.
 * unit: bytes
 * trades: larger, plans for short messages that save bytes, not crossings; smaller,
 * messages of middling size by plans for long ones
 * shown by: tests/mpi, the runs "vectors"
 * chosen on: not measured */
enum { ESPI_UNTOLD_SHORT_BYTES = 16 << 10 };

/* The longer ones. Which of the two a call runs by is a matter of the sizes' product.
 * unit: bytes
 * trades: larger, plans for messages that are rare; smaller, plans that are no better
 * than those for short ones
 * shown by: tests/mpi, the runs "vectors"
 * chosen on: not measured */
enum { ESPI_UNTOLD_LONG_BYTES = 1 << 20 };

#endif
