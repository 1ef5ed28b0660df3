/* The parts of the shim. It stands between an MPI program and its MPI library and takes
 * the calls of which a plan of ours does more than the library.
 *
 * Three rules keep all ranks on the same way, without a message to agree on it:
 *   - what decides is equal on all ranks by the MPI standard (bytes, root, communicator)
 *     or was agreed when the communicator was made;
 *   - plans are pure functions of that, computed by each rank for itself;
 *   - whatever goes wrong before a communicator is ours ends in a vote, and a vote that
 * is lost in the library's own collective. */
#ifndef ESPI_MPI_SHIM_H
#define ESPI_MPI_SHIM_H

#include <mpi.h>
#include <stdint.h>

#include "base/clock.h"
#include "channel/report.h"
#include "exec/exec.h"
#include "mpi/counts.h"
#include "mpi/tuning.h"
#include "runtime/choice.h"
#include "runtime/knobs.h"
#include "runtime/learned.h"
#include "runtime/rank_platform.h"
#include "runtime/trials.h"

/* ---- the job: written once, by the attach; then read only ---- */
struct espi_job {
    int awake; /* is there anything to do in a collective at all? */
    int plans; /* may plans run? */
    struct espi_settings settings;
    struct esp_platform *net;        /* NULL: all ranks equally near */
    struct esp_plan *plan;           /* from outside, or NULL */
    struct espi_learned learned;     /* by jobs before */
    struct espi_native_table *table; /* NULL: nothing is known of the MPI library */
    struct espi_native_library library;
    int n, rank; /* of MPI_COMM_WORLD */
    int *node;   /* world rank -> node of net */
    MPI_Group world;
    int keyval;
    int is_wide;     /* are ranks so far apart that short messages count? */
    int nonblocking; /* may calls go on while the program does something else? */
    int orderly;     /* must twins be made where the program makes communicators? */
};

extern struct espi_job espi_job;

/* Called behind MPI_Init by whatever name; collective over MPI_COMM_WORLD. */
void espi_attach(void);
/* Called before MPI_Finalize. */
void espi_detach(void);

/* What is known of the MPI library, by rank 0: a text for espi_library_take, and how it
 * sends. */
esp_status espi_library_read(char **text, uint64_t *length,
                             struct espi_protocol *protocol, struct esp_err *err);
esp_status espi_library_take(const char *text, uint64_t length,
                             const struct espi_protocol *protocol, struct esp_err *err);
void espi_library_forget(void);
/* On rank 0: that the table is another version's; "": it is not. */
const char *espi_library_note(void);

/* Do all ranks say yes? Collective. */
int espi_vote(int yes);

/* Finds the nodes of all ranks, by the names of their hosts. Collective. */
esp_status espi_find_job_nodes(struct esp_err *err);
/* Makes the network that of the hosts with ranks, and takes the plan from outside (length
 * 0: there is none) for it. One that is right, but for all hosts, is no reason to do
 * without plans: others are made. */
esp_status espi_take_plan(const char *text, size_t length, const char *name,
                          struct esp_err *err);

/* From now on collectives come to us. */
void espi_hooks_wake(void);
void espi_hooks_wake_later(void);
void espi_hooks_wake_init(void);
/* From now on they go to the library; with the job before us, without a detour. */
void espi_hooks_sleep(int whole_job);
void espi_hooks_sleep_later(int whole_job);
void espi_hooks_sleep_init(int whole_job);
/* Calls of that name that would come to us go to the native function instead. */
void espi_bypass(const char *name, void *ours, void *native);
/* The function of a PMPI_ name behind this library, most likely the MPI library's; NULL:
 * nobody has it. */
void *espi_behind_us(const char *name, void *ours);
/* What the MPI library calls by such names itself while it does something else (parts of
 * MPICH make communicators and broadcast) is no call of the program, and does not come to
 * us from here on. */
void espi_leave_library_alone(void);
/* That of an MPI_ name, where it is not the MPI library's, but that of a tool by the
 * profiling interface; NULL: there is none. */
void *espi_tool_behind_us(const char *name);

/* One line on standard error, from rank 0 only. */
void espi_say(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct espi_call;

/* ---- communicators ---- */

/* What one rank knows of a call that is timed, or all of them: its beginning and end by
 * the clock on the wall, how long it took, and how long the rank waited before it for the
 * times of the one before. */
struct espi_call_clock {
    double start_s, end_s, took_s, waited_s;
    double differs; /* 1: a rank found the call to be other than those it stands for */
};

/* The trials of an entry (trial_calls.c); all ranks have the same but for `own`. */
struct espi_entry_trials {
    int on;
    struct espi_trials record;
    int ranks;      /* of the communicator */
    uint64_t team;  /* it is known by, among what was learned; 0: that is not kept */
    uint64_t bytes; /* of the calls that are compared */
    int n_strange;  /* calls of other sizes in a row */
    /* calls whose times are not told yet: the first, and the last */
    int n_own, contender[2], is_new[2];
    struct espi_call_clock own[2], all[2];
    int under_way; /* the ranks agree on them */
    MPI_Request request;
    double waited_s; /* for the last agreement */
    /* of calls before which ranks tell each other sizes */
    int owed;           /* the next one is the library's, untold, and timed */
    int is_mixed;       /* they vary too much for that */
    uint64_t own_bytes; /* what this rank knows of such a call by itself */
};

/* A decision, and the program that carries it out for messages of one size. */
struct espi_entry {
    enum espi_collective which;
    esp_op op;
    enum espi_combining order;
    int root, size_class; /* size_class < 0: the entry is free; ESPI_BARRIER */
    int tells;            /* the ranks tell each other sizes for each call */
    double tell_s;        /* what that takes, predicted; it is in choice.ours_s */
    uint64_t used;        /* clock of the last use */
    struct espi_choice choice;
    uint64_t bytes; /* what the program is compiled for; 0: not yet */
    struct espi_program prog;
    int *channel;
    struct espi_arena arena; /* of prog */
    int agreed;              /* all ranks have the same, */
    int plan_agreed;         /* and the same program */
    int is_scheduled;        /* a plan that was kept beside the library's own */
    int is_near;             /* the plan is for another class, until there is one */
    struct espi_entry_trials trials;
    /* backup senders (backup.c) */
    int *backup;   /* whom each asks, or NULL: not found yet */
    int no_backup; /* it is not for this plan */
    double first_s, period_s;
};

/* Of barriers, which are allgathers of a byte: a class of their own. */
enum { ESPI_BARRIER = 0 }; /* derived: other classes begin later */

/* What calls of the entry are called. */
const char *espi_entry_name(const struct espi_entry *e);

/* A plan of the advisor's that all ranks of the communicator have. */
enum { ESPI_CLASSES = 50 }; /* derived: of sizes, by powers of two */

struct espi_advised {
    int root, size_class; /* node */
    struct esp_plan *plan;
};

/* Is a communicator ours? All its ranks know the same. */
enum espi_whose {
    ESPI_UNASKED, /* until a call needs to know */
    ESPI_OURS,
    ESPI_NATIVE,
};

/* Of calls before which ranks tell each other sizes of parts (sizes.h). */
struct espi_sizes_told {
    double in_vain; /* so often it was of no use, less what plans have won since */
    unsigned left;  /* calls since that was too much, told of or not */
};

struct espi_comm {
    enum espi_whose whose;
    int by_group; /* made by MPI_Comm_create_group */
    int at_once;  /* so many communicators made of it are asked when they are made */
    MPI_Comm user;
    int size, rank;
    /* of one that is ours */
    MPI_Comm twin;
    int *node;  /* rank -> node of the network, or NULL */
    int *world; /* rank -> rank of the job, or NULL */
    int has_rank_platform;
    int no_rank_platform; /* it cannot be made: all is native */
    struct espi_rank_platform rank_platform;
    double longest_way_s; /* over a link between its ranks; 0: not known yet */
    double agree_s; /* predicted: what it takes that the ranks agree; 0: not known yet */
    unsigned
        tried[2]; /* natively, by plans: operations of which a call was timed, bits */
    struct espi_sizes_told told[ESPI_CALL_KINDS];
    int next_tag;                    /* of non-blocking calls, from the first of theirs */
    uint64_t n_ended;                /* such calls */
    int next_init_tag, n_init;       /* of persistent calls; how many there are here */
    uint64_t n_agreed;               /* entries */
    int n_held;                      /* non-blocking calls and entries under way */
    int is_gone;                     /* the user has freed it */
    int is_stray;                    /* the twin goes when nothing is under way in it */
    struct espi_comm_backup *backup; /* or NULL: none yet */
    uint64_t clock;
    struct espi_entry *cache;
    /* advice that is new: broadcasts that it is about are to be decided anew; or NULL */
    const struct esp_plan *news;
    uint64_t epoch, calls; /* of the advice, and broadcasts by plans under it */
    double credit_bytes;   /* for reports (advice_relay.c) */
    struct espi_advised advised[ESPI_ADVISED];
    int n_advised;
    struct espi_advice_seen seen[ESPI_CLASSES]; /* by size class, where we are the root */
    struct espi_comm *next, **link;             /* list of all */
};

/* A communicator has been made of another, by all ranks of that: MPI_COMM_NULL where this
 * rank is not in it. The first few become ours at once, if they can be. */
void espi_comm_made(MPI_Comm parent, MPI_Comm fresh);
/* The same by MPI_Comm_create_group, which not all ranks of the other have called. */
void espi_comm_made_of_group(MPI_Comm fresh);
/* Calls of ours that make communicators by other calls of ours count once. */
extern _Thread_local int espi_making;

/* A call of the user's that makes a communicator, which is tried again when there are
 * none left and twins have been given back. */
struct espi_try {
    int active, n_tries;
    MPI_Comm comm;
    MPI_Group group; /* of the ranks that take part; MPI_GROUP_NULL: all of comm */
    MPI_Errhandler handler;
};

void espi_try_begin(struct espi_try *t, MPI_Comm comm, MPI_Group group);
/* Is it worth another trial? All ranks find the same. */
int espi_try_again(struct espi_try *t, int code);
/* Tells the user, if it failed at last; fresh: what was made, if it did not. */
void espi_try_end(const struct espi_try *t, int code, MPI_Comm fresh);
/* Gives the twins of communicators that are within the group back, MPI_COMM_WORLD's only
 * if asked to. Collective over the group, which is that of comm, if comm is given. */
void espi_comms_give_back(MPI_Comm comm, MPI_Group group, int world);

/* What we know of it; NULL: it cannot be ours. */
struct espi_comm *espi_comm_of(MPI_Comm comm);

/* Asks all ranks, if nobody has yet; collective then, over the communicator. Is it ours?
 */
int espi_comm_ask(struct espi_comm *c, MPI_Comm comm);

/* Calls under way keep it, also when the user frees it; its ranks are busy. */
void espi_comm_hold(struct espi_comm *c);
void espi_comm_release(struct espi_comm *c);
/* So do persistent calls, under way or not. */
void espi_comm_keep(struct espi_comm *c);
void espi_comm_unkeep(struct espi_comm *c);

/* The keyval and MPI_COMM_WORLD, and at the end all that hangs on it. */
int espi_comms_begin(void);
void espi_comms_take_world(void);
/* The end of all trials. Collective over the job. */
void espi_comms_end_trials(void);
void espi_comms_end(void);

/* ---- decisions ---- */

/* Who makes a call. */
struct espi_decision {
    struct espi_entry *entry;
    int ours;              /* the entry's program, compiled for this call */
    int able;              /* 0: there was no memory for that */
    struct espi_turn turn; /* where there are trials */
};

/* The decision for a call. bytes: of the message as plans count it; the program is
 * compiled for messages of program_bytes. */
struct espi_decision espi_decide(const struct espi_call *call, uint64_t bytes,
                                 uint64_t program_bytes);

/* The entry keeps to the library. */
void espi_make_native(struct espi_entry *e);

/* Compiles the plan of an entry into it for so many bytes. ESP_EUNSUPPORTED: alike on all
 * ranks. */
esp_status espi_compile(const struct espi_comm *c, struct espi_entry *e, uint64_t bytes);

/* A number that is equal on two ranks if what they run is; of an entry without a plan,
 * too. */
uint64_t espi_entry_sum(const struct espi_entry *e);
/* The same for a plan of the job, given or NULL; 0: out of memory. */
uint64_t espi_plan_sum(const struct espi_rank_platform *rank_platform,
                       const struct esp_plan *given, int root, uint64_t bytes);

/* Do all ranks have the same for this entry? At its first use, on all of them. able: does
 * this one have anything? Afterwards all have the same, if need be none; or the job ends.
 */
void espi_agree(struct espi_comm *c, struct espi_entry *e, int able);
/* The same for a call that must not wait. */
void espi_agree_later(struct espi_comm *c, struct espi_entry *e, int able);
/* Goes on with those. */
void espi_agree_progress(void);
/* All of them are over, or it takes too long. */
void espi_agree_end(void);

/* ---- trials ---- */

/* At the making of an entry: are there any, and what is expected of them? ESP_ENOMEM is
 * the only failure. */
esp_status espi_trials_begin(struct espi_comm *c, struct espi_entry *e,
                             struct esp_err *err);
/* The turn of a call of so many bytes; is it the plan's? Waits until all ranks have left
 * the last call whose time is to be told. */
int espi_trials_turn(struct espi_entry *e, const struct espi_call *call, uint64_t bytes,
                     struct espi_turn *turn);
/* Is the way of this turn another than what is the best so far? */
int espi_trials_is_other(const struct espi_entry *e, const struct espi_turn *turn);
/* By how much its plan is faster than the library, as far as is known. */
double espi_trials_gain_s(const struct espi_entry *e);
/* The entry of which such a call, of whatever size, is to be the library's and timed, and
 * nobody is to tell sizes before it; or NULL. Alike on all ranks. */
struct espi_entry *espi_trials_owed(const struct espi_call *call);
/* That call begins; differs: this rank knows that it is of another size. */
void espi_trials_pay(struct espi_call *call, struct espi_entry *e, int differs);
/* Does this rank know that it is of another size than the calls of the entry? */
int espi_trials_differs(const struct espi_entry *e, uint64_t own_bytes);
/* A call that was to be timed, but was none that counts. */
void espi_trials_void(struct espi_entry *e, const struct espi_turn *turn);
/* A call that is timed begins, and ends. */
void espi_trials_enter(struct espi_call *call);
void espi_trials_leave(struct espi_call *call);
/* There are no more: what is under way is over, and what was learned is noted. */
void espi_trials_end(struct espi_entry *e);
void espi_trials_end_all(struct espi_comm *c);
/* On rank 0, at the end of the job: writes what it and those before have learned. */
void espi_trials_keep(const char *path);

/* ---- data ---- */

/* Is an element of the type one piece, its bytes in the order of the type map, elements
 * without gaps between them? */
int espi_is_flat(MPI_Datatype type, MPI_Count size);

/* Between the user's data and one piece of bytes, in the order of the type map. These
 * give MPI_SUCCESS, or an error code. */
int espi_pack(const void *buffer, MPI_Count count, MPI_Datatype type, void *to,
              MPI_Comm twin);
int espi_unpack(const void *from, void *buffer, MPI_Count count, MPI_Datatype type,
                MPI_Comm twin);
int espi_copy(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
              MPI_Count to_count, MPI_Datatype to_type, MPI_Comm twin);

/* Elements with gaps, of which some bytes at a time are taken or put. */
struct espi_slicer {
    MPI_Datatype type;
    MPI_Count size, extent;
    MPI_Comm twin;
    char *piece; /* room for one */
    int error;   /* MPI_SUCCESS, or what went wrong first */
};

/* 0, or -1: the elements are too large for it, or there is no memory. */
int espi_slicer_init(struct espi_slicer *s, MPI_Datatype type, MPI_Comm twin);
void espi_slicer_done(struct espi_slicer *s);
/* Bytes from one on, as they travel, of elements from the buffer on. */
void espi_slicer_load(struct espi_slicer *s, const void *buffer, uint64_t at, void *to,
                      size_t bytes);
void espi_slicer_keep(struct espi_slicer *s, void *buffer, uint64_t at, const void *from,
                      size_t bytes);

struct espi_buffer_layout {
    void *data;   /* the message in one piece; NULL: it is sliced, or lost */
    void *buffer; /* the user's */
    MPI_Count count, size, extent;
    MPI_Datatype type;
    int packed;   /* data is ours, to be freed */
    int own_type; /* so is the type */
    int sliced;
    struct espi_slicer slicer;
};

/* MPI_SUCCESS, or an error code: the data are lost. whole: they must be in one piece. */
int espi_layout_init(struct espi_buffer_layout *l, void *buffer, MPI_Count count,
                     MPI_Datatype type, MPI_Count size, MPI_Comm twin, int whole);
/* Tells a run how to reach the data. */
void espi_layout_tell(struct espi_buffer_layout *l, struct espi_run_options *options);
int espi_layout_pack(struct espi_buffer_layout *l, MPI_Comm twin);
int espi_layout_unpack(struct espi_buffer_layout *l, MPI_Comm twin);
void espi_layout_done(struct espi_buffer_layout *l);

/* ---- messages ---- */

struct espi_piggyback;

struct espi_mpi_transport {
    MPI_Comm comm;
    MPI_Request *requests;
    MPI_Status *statuses;
    struct espi_piggyback *piggyback; /* NULL: nothing travels with the data */
    int in_step;  /* a send has ended when the receiver has the message */
    int any_size; /* messages may be shorter than what was to come */
    int error;    /* of a message that came, but wrong: the run goes on, for the others */
};

void espi_mpi_transport_init(struct espi_mpi_transport *wire, struct espi_transport *t,
                             MPI_Comm twin);
/* Room for that many messages under way; 0, or -1: out of memory. */
int espi_mpi_transport_reserve(struct espi_mpi_transport *wire, int n,
                               struct espi_arena *arena);
/* Gives up what is under way. */
void espi_mpi_transport_abandon(const struct espi_request *requests, int n);

/* MPI_Wait that leaves the processor to others meanwhile. */
int espi_mpi_wait(MPI_Request *request);

/* ---- backup senders ---- */

/* Are there any in this job? Every rank finds the same. */
int espi_backup_is_offered(void);
/* Is the entry's program to be run so? Every rank finds the same. */
int espi_comm_backup_applies(struct espi_comm *c, struct espi_entry *e);
/* Runs it; MPI_SUCCESS, or a code. data NULL: they are lost. */
int espi_comm_backup_run(struct espi_comm *c, const struct espi_entry *e, void *data);
/* The communicator goes, on all its ranks. */
void espi_comm_backup_end(struct espi_comm *c);
/* The job ends: what is left on the communicators of the list, one a rank, is cleared
 * away. Collective over the job, whose twin it is, or MPI_COMM_NULL: it has none. */
void espi_comm_backup_finish(struct espi_comm *all, MPI_Comm job);

/* ---- calls ---- */

/* One call of a collective: whose it is, and what is noted of it. */
struct espi_call {
    enum espi_collective which;
    esp_op op;
    enum espi_combining order; /* of reductions */
    int root;
    MPI_Comm comm;
    struct espi_comm *c;      /* NULL: the library's */
    int known, rank, size;    /* known: rank and size are */
    uint64_t bytes;           /* of the message as plans count it; 0: the library's */
    struct espi_entry *entry; /* with a plan, or NULL */
    int decided;              /* was it weighed whose it is? */
    int is_barrier;           /* the allgather is one */
    int later;                /* it must not wait for others */
    int is_init;              /* it is made to be started again and again: no trials */
    int is_fixed;             /* the same way each time: no trials */
    int is_inner;             /* part of a call of the program's, which alone is noted */
    double ours_s, native_s;  /* predicted; 0: not */
    /* of calls of which not all ranks know the sizes (sizes.h) */
    int tells;          /* they tell each other for each call */
    double told_s;      /* what that took this rank */
    uint64_t own_bytes; /* what this rank knows of them by itself; 0: nothing */
    int on_trial;       /* it goes another way than is known to be best */
    double start_s;
    struct espi_entry *timed; /* for its trials, or NULL */
    int contender;            /* in them */
    struct espi_call_clock clock;
};

/* Looks at communicator and root only. */
void espi_call_open(struct espi_call *call, esp_op op, int root, MPI_Comm comm);

/* Is there a plan for a message of so many bytes, of parts none larger than so many
 * (0: it has none)? Every rank finds the same. */
int espi_call_decide(struct espi_call *call, uint64_t bytes, uint64_t largest_part);
/* What the program is compiled for where the largest part has so many bytes; 0: too many.
 */
uint64_t espi_program_bytes(const struct espi_call *call, uint64_t largest_part);

/* Runs this rank's part of the plan's program, to its end; MPI_SUCCESS, or a code. lost:
 * why the rank has no data, or MPI_SUCCESS; it takes part all the same, since others wait
 * for it, with empty messages, of which they learn that something is wrong. */
int espi_call_run(const struct espi_call *call, void *data,
                  const struct espi_run_options *options, int lost);

/* Must the data be in one piece, since others may ask for any slice? */
int espi_call_needs_whole(const struct espi_call *call);

/* Options of a run of a rank that has lost its data. */
void espi_lose(struct espi_run_options *options);

/* This rank cannot go on with a collective in which others wait for it: the job ends. */
void espi_end_job(const char *collective, const char *why) __attribute__((noreturn));

/* Notes it; ours: what goes wrong goes to the communicator's error handler. The code. */
int espi_call_close(struct espi_call *call, int ours, int code);

/* Sizes from which on plans are looked for. */
double espi_least_bytes(void);

/* The bytes of so many elements; 0: none, or the arguments are wrong. */
uint64_t espi_bytes(MPI_Count count, MPI_Datatype type);

/* ---- arguments that the library refuses before it does anything ----
 * A call with such arguments is the library's, which tells the user of it; on this rank
 * alone, since the others would wait for it in the library, too. */

/* Is there no data: MPI_IN_PLACE, or no memory for elements without gaps? */
int espi_is_nowhere(const void *at, MPI_Count count, MPI_Datatype type);
/* Does the library see that the two, of so many elements, are the same? */
int espi_is_alias(const struct espi_call *call, const void *a, const void *b,
                  MPI_Count count);

/* Is so little the library's without a further look, and without a note? Every rank finds
 * the same. */
int espi_is_short(MPI_Count count, MPI_Datatype type);
int espi_is_short_bytes(double bytes);

/* The bytes of the parts of all ranks but the root, each of so many; 0: too many. */
uint64_t espi_parts(const struct espi_call *call, uint64_t part);

/* ---- piggyback: plans of the advisor that travel with broadcasts ---- */

struct espi_piggyback_head {
    uint32_t magic, length; /* of the text */
    uint64_t epoch;         /* of the plans in force after this call */
};

struct espi_piggyback_in {
    char *message;
    void *to; /* where the data belong */
    size_t bytes;
};

/* A stream on which a message has been sent or awaited. */
struct espi_piggyback_way {
    int sends, peer, channel;
    int carries; /* text: what one tree brings everywhere need not go by the others */
    int at;      /* of its peer */
};

/* All that went to another rank, or came from there. */
struct espi_piggyback_peer {
    int sends, rank;
    int open; /* messages under way */
    double since_s, under_way_s;
    uint32_t slices;
    double first_s, last_s; /* when they came */
};

/* Of one call. */
struct espi_piggyback {
    struct espi_arena *arena;
    const struct espi_entry *entry;
    int rank;
    struct espi_piggyback_head head;
    const char *text;
    int have; /* head and text are what the root says */
    struct espi_piggyback_in *in;
    int n_in;
    struct espi_piggyback_way *begun;
    struct espi_piggyback_peer *peer;
    int n_begun, n_peers;
    int window;                      /* slices under way at once on one way */
    double start_s, first_s, last_s; /* of the call; of slices that came */
};

/* Does a head travel with the data of this call? Every rank finds the same. */
int espi_piggyback_wanted(const struct espi_call *call);
int espi_piggyback_init(struct espi_piggyback *n, const struct espi_call *call,
                        struct espi_arena *arena);
/* At the root: looks for advice for messages of about that size. */
void espi_piggyback_ask(struct espi_piggyback *n, struct espi_comm *c, uint64_t bytes);
/* The message to send or receive into instead, and its bytes; NULL: out of memory.
 * which: the number of a message with a head, -1: it has none. */
const void *espi_piggyback_send(struct espi_piggyback *n, int peer, int channel,
                                const void *from, size_t *bytes);
void *espi_piggyback_recv(struct espi_piggyback *n, int peer, int channel, void *to,
                          size_t *bytes, int *which);
/* A message has come from there; one with a head of so many bytes: 0, or -1: it is wrong.
 */
void espi_piggyback_clock(struct espi_piggyback *n, int peer);
/* Messages on the way: one begins, one is sent. The number of the way, for the second. */
int espi_piggyback_begin(struct espi_piggyback *n, int peer, int channel);
void espi_piggyback_sent(struct espi_piggyback *n, int way);
int espi_piggyback_came(struct espi_piggyback *n, int which, size_t came);
/* At the end of the call, on every rank: what travelled is in force. */
int espi_piggyback_adopt(const struct espi_piggyback *n, struct espi_comm *c);
void espi_piggyback_report(const struct espi_piggyback *n, const struct espi_call *call);
/* Tells the advisor whose the call was and how long it took; calls that follow each other
 * fast are only counted. */
void espi_piggyback_outcome(const struct espi_call *call);

/* ---- relay between ranks on other machines and the advisor ---- */

/* Collective over the job, whose twin it is. */
void espi_relay_begin(MPI_Comm twin);
/* Tells the advisor, by the socket or by the relay. */
void espi_relay_news(const void *news, size_t length);
/* Shall the ranks report of this call? The root always does. To be asked once a call, of
 * which every rank finds the same. */
int espi_relay_affords(const struct espi_call *call);
/* At the end of a broadcast by a plan: takes what came by the relay, sends plans. */
void espi_relay_call(const struct espi_call *call);
/* At the root: the next plan that came by the relay (espi_free), and 1; 0: none. */
int espi_relay_plan(char **text, size_t *length);
/* While the library makes progress. */
void espi_relay_idle(void);
/* Collective. */
void espi_relay_end(void);
/* Is the twin of MPI_COMM_WORLD needed? Alike on all ranks. */
int espi_relay_is_active(void);

/* The plan in force for broadcasts from that rank, of that class of sizes or one so far
 * apart, or NULL. */
const struct esp_plan *espi_advised_plan(const struct espi_comm *c, int root,
                                         int size_class, int apart);

/* ---- collectives, by us or by the library ---- */

struct espi_manner; /* how the call is made (work.h) */

int espi_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               const struct espi_manner *how);
int espi_scatter(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 MPI_Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                 const struct espi_manner *how);
int espi_gather(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                MPI_Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                const struct espi_manner *how);
int espi_allgather(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                   void *to, MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm,
                   const struct espi_manner *how);

/* Counts and places of parts: of the plain call or of its large variant. */
struct espi_counts {
    const int *count, *at;
    const MPI_Count *large_count;
    const MPI_Aint *large_at;
    int is_large; /* also where the arrays mean nothing on this rank */
};

static inline MPI_Count espi_part_count(const struct espi_counts *parts, int rank)
{
    return parts->count ? parts->count[rank] : parts->large_count[rank];
}

static inline MPI_Count espi_part_place(const struct espi_counts *parts, int rank)
{
    return parts->at ? parts->at[rank] : parts->large_at[rank];
}

int espi_scatterv(const void *from, const struct espi_counts *parts,
                  MPI_Datatype from_type, void *to, MPI_Count to_count,
                  MPI_Datatype to_type, int root, MPI_Comm comm,
                  const struct espi_manner *how);
int espi_gatherv(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 const struct espi_counts *parts, MPI_Datatype to_type, int root,
                 MPI_Comm comm, const struct espi_manner *how);
int espi_alltoallv(const void *from, const struct espi_counts *sent,
                   MPI_Datatype from_type, void *to, const struct espi_counts *got,
                   MPI_Datatype to_type, MPI_Comm comm, const struct espi_manner *how);

int espi_allgatherv(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                    void *to, const struct espi_counts *parts, MPI_Datatype to_type,
                    MPI_Comm comm, const struct espi_manner *how);
int espi_reduce(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm, const struct espi_manner *how);
int espi_allreduce(const void *from, void *to, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, const struct espi_manner *how);
int espi_scan(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm, const struct espi_manner *how);
int espi_exscan(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, const struct espi_manner *how);

/* parts: without places. */
int espi_reduce_scatter(const void *from, void *to, const struct espi_counts *parts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        const struct espi_manner *how);
int espi_reduce_scatter_block(const void *from, void *to, MPI_Count count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              const struct espi_manner *how);

int espi_alltoall(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                  void *to, MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm,
                  const struct espi_manner *how);
int espi_barrier(MPI_Comm comm, const struct espi_manner *how);

/* ---- non-blocking calls ---- */

/* MPI_Start and MPI_Request_free, of persistent calls of ours and all others. */
int espi_start(MPI_Request *request);
int espi_start_all(int n, MPI_Request requests[]);
int espi_request_free(MPI_Request *request);

/* MPI_Op_free: of one that calls under way have need of, the handle only. */
int espi_op_free(MPI_Op *op);

/* From now on the library calls us whenever it makes progress; -1: it does not. */
int espi_progress_begin(void);
void espi_progress_end(void);
/* There are none in this job: it need not. */
void espi_progress_sleep(void);
/* Goes on with all that is under way; gives how many calls have ended. */
int espi_progress(void);

/* ---- the prober beside the ranks of a machine ---- */

/* Collective over the job. */
void espi_prober_begin(void);
void espi_prober_end(void);
/* A collective begins (1) or ends (-1): while the first rank of a machine is in one that
 * machine sends no probes. */
void espi_prober_busy(int change);

/* ---- statistics ---- */

/* call: its name, which stays. */
void espi_stats_note(const char *call, int comm_size, uint64_t bytes, const char *algo,
                     double time_s, double native_s);
/* What trials came to: how often each was tried, whose the calls are now, and by how much
 * that is faster (0: not known). */
struct espi_stats_trials {
    const char *name; /* of the collective; it stays */
    int ranks, size_class, root;
    char plan[40];
    int n_native, n_plan, ours;
    double margin;
};
void espi_stats_note_trials(const struct espi_stats_trials *trials);
void espi_stats_write(const char *path);

#endif
