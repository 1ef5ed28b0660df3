/* One copy, seen from the host that gives it: agents are started, each message is planned
 * for and sent, every host proves what it has, and what is missing goes again, by others,
 * until all have everything that can still be reached. */
#ifndef ESPI_COPY_JOB_H
#define ESPI_COPY_JOB_H

#include <signal.h>
#include <sys/types.h>

#include <espalier/algo.h>
#include <espalier/plan.h>

#include "copy/control.h"
#include "copy/learn.h"
#include "copy/network.h"
#include "copy/pings.h"
#include "copy/runner.h"
#include "copy/source.h"

enum espi_copy_state { /* code */
                       ESPI_COPY_STARTING = 0,
                       ESPI_COPY_UP,
                       ESPI_COPY_HAS_IT,
                       ESPI_COPY_OUT,
};

struct espi_copy_host {
    const char *name;    /* also of its node */
    const char *address; /* others reach it there */
    const char *folder;
    const char *stream_name; /* what a stream is called there; NULL: as in the list */
    int is_relay;            /* wants nothing itself */
    enum espi_copy_state state;
    char why[ESP_ERR_TEXT_MAX]; /* it is out */
    uint64_t received_bytes;    /* of data, proven */
    double has_bytes; /* with what of a message has come and is not proven yet */
    int had_before;
    /* for the job alone */
    int known; /* among the hosts that are known */
    uint32_t round_trip_us[ESPI_PINGS_MAX];
    pid_t pid;
    struct espi_control control;
    uint32_t port;
    int awaited; /* a message; 0: none */
    double heard_s;
    unsigned char *has, *fresh; /* blocks: proven, and to be proven */
    int is_aside;               /* it has them all, and no way leads to it any more */
    uint32_t n_landed;
    int was_whole, saw_trouble, blames, blamed_run;
    uint32_t broken; /* stream; UINT32_MAX: none */
    char broken_why[ESPI_TCP_WHY];
    char blame[ESP_ERR_TEXT_MAX]; /* the last, of what did not reach it */
    uint32_t *stuck;
    int n_stuck;
    unsigned char digest[ESPI_DIGEST_BYTES];
    unsigned char *tags;
    size_t tags_bytes;
};

struct espi_copy_progress {
    const char *phase; /* what is done now */
    int is_sending, is_over;
    double elapsed_s, done_bytes, total_bytes; /* over all hosts; total 0: not known */
    const char *slowest;
    double slowest_bytes;
};

struct espi_copy_options {
    const char *const *rsh; /* words before the host's name; ended by NULL */
    const char *agent;      /* the program on the hosts */
    const char *below;      /* NULL, or what agents are told never to leave */
    int encrypted, resume;
    double patience_s;
    const struct esp_platform *p; /* with a node for each host, and the root */
    /* Instead: what is known of a network that nobody has described. More is then. */
    struct espi_known *known;
    const char *root;
    const struct esp_plan *plan; /* for p; NULL: one is made */
    uint64_t seed;
    void (*progress)(void *arg, const struct espi_copy_progress *now);
    void *progress_arg;
    const volatile sig_atomic_t *interrupted;
};

struct espi_copy_job {
    struct espi_copy_options options;
    struct espi_copy_host *host;
    int n_hosts;
    struct espi_copy_source *source;
    int stream; /* a descriptor that is read to its end; -1: none */
    /* what came of it */
    double data_s;       /* from the first byte until all had proven the last */
    uint64_t data_bytes; /* of one copy */
    double planned_s;    /* makespan of the first plan */
    double planned_bytes, slice_bytes;
    int runs, changes; /* changes: of plans, for what was learned */
    /* for the job alone */
    unsigned char key[ESPI_SECRET_BYTES];
    struct espi_copy_message message;
    struct espi_copy_disk disk;
    struct espi_copy_ban *ban;
    int n_bans;
    size_t ban_room;
    struct espi_arena arena; /* of the plan and program of now */
    struct esp_platform *network;
    struct esp_plan *plan; /* on it; NULL: to be made anew */
    struct espi_copy_learning learning;
    struct espi_program prog;
    uint32_t *block; /* slice -> block */
    int *host_of_rank;
    struct espi_runner runner;
    int root_is_going, root_failed, awaits_stream, is_over;
    const char *phase;
    char *segment;
    size_t segment_bytes;
    double start_s, shown_s;
    /* when it last heard hosts out, by which their silence is measured, so that nothing
     * that keeps us from listening is theirs; and told them that it lives */
    double looked_s, said_s;
};

/* Does all of it. ESP_OK also when some hosts do not have it (their state says so). */
esp_status espi_copy_run(struct espi_copy_job *job, struct esp_err *err);

/* ---- between its parts ---- */

static inline int espi_copy_is_alive(const struct espi_copy_host *h)
{
    return h->state == ESPI_COPY_UP;
}
/* The host is out, unless it is so already. */
void espi_copy_lose(struct espi_copy_job *job, struct espi_copy_host *h, const char *fmt,
                    ...) __attribute__((format(printf, 3, 4)));
/* So is one whose launcher ends before an agent has said anything; how it ended says why.
 */
void espi_copy_lose_unstarted(struct espi_copy_job *job, struct espi_copy_host *h);
int espi_copy_alive(const struct espi_copy_job *job);

/* Starts the agents' launchers, and waits for their ends. */
esp_status espi_copy_launch(struct espi_copy_job *job, struct esp_err *err);
void espi_copy_end_agents(struct espi_copy_job *job);

/* Sends the message to the host, and may await an answer; who cannot be reached is out.
 */
void espi_copy_tell(struct espi_copy_job *job, struct espi_copy_host *h,
                    enum espi_control_type type, struct espi_wire_out *body, int awaited);
/* Where it takes long until the next look: tells agents that the job goes on. */
void espi_copy_show_life(struct espi_copy_job *job);
/* Tells whoever wants to know how far it is. */
void espi_copy_show_progress(struct espi_copy_job *job);
/* Takes in what comes, and lets the root's run go on; returns after a while at most. -1:
 * interrupted. */
int espi_copy_look(struct espi_copy_job *job);
/* How long hosts may work at so many bytes on their disks. */
double espi_copy_disk_s(const struct espi_copy_job *job, uint64_t bytes);
/* How long they may make ready for the list of files: when it is resumed, they go through
 * all bytes that they have. */
double espi_copy_open_s(const struct espi_copy_job *job);
/* Waits until nobody is awaited any longer; who takes longer is out. */
esp_status espi_copy_await(struct espi_copy_job *job, double limit_s,
                           struct esp_err *err);

/* The host of that name; NULL: the root. */
struct espi_copy_host *espi_copy_find(const struct espi_copy_job *job, const char *name);
/* The plan of before is not used again. */
void espi_copy_drop_plan(struct espi_copy_job *job);
/* A plan for the message to all hosts that are left, or that of before; none where nobody
 * is left to whom a way leads. */
esp_status espi_copy_plan(struct espi_copy_job *job, double bytes, struct esp_err *err);
/* The network of those who are left, over links that are trusted. */
esp_status espi_copy_make_network(const struct espi_copy_job *job,
                                  struct esp_platform **out, struct esp_err *err);
/* A plan whose slices are worth sending. */
esp_status espi_copy_ask(const struct esp_platform *network, struct esp_request *request,
                         struct esp_plan **out, struct esp_err *err);
/* So long are the slices of a message that goes by the plan; NULL: by any. */
uint32_t espi_copy_block_bytes(const struct esp_plan *plan, uint64_t size);
/* A plan that was given for p, as one for so many bytes on a network with its names, and
 * how long it takes there. */
esp_status espi_copy_adopt(const struct esp_plan *given, const struct esp_platform *p,
                           const struct esp_platform *network, double bytes,
                           struct esp_plan **out, struct esp_err *err);
/* A plan on it for a message of that size. */
esp_status espi_copy_make_plan(const struct espi_copy_job *job,
                               const struct esp_platform *network, double bytes,
                               struct esp_plan **out, struct esp_err *err);
/* Sends blocks of the message as the set says, once; what landed is in fresh. */
esp_status espi_copy_send_blocks(struct espi_copy_job *job, const unsigned char *set,
                                 struct esp_err *err);
/* All that is fresh is proven, or known to be wrong. */
esp_status espi_copy_check(struct espi_copy_job *job, struct esp_err *err);
/* The host that is this rank of the program of now; NULL: the root. */
struct espi_copy_host *espi_copy_host_at(const struct espi_copy_job *job, int rank);
/* The link between these ranks is not used any more, and where bytes were changed the
 * sender sends nothing more, for one of the two did it; a receiver that is blamed in
 * several runs, or for what the root sent it, is out. */
void espi_copy_blame(struct espi_copy_job *job, int from, int to, int lies,
                     const char *what);
/* For blocks of the last run that hosts have and that are wrong (fresh). */
void espi_copy_blame_wrong(struct espi_copy_job *job);
/* For streams of which nothing arrives any longer. 1: somebody is blamed. */
int espi_copy_blame_stuck(struct espi_copy_job *job);
/* For connections that broke, that of the root (UINT32_MAX: none) and those that hosts
 * told of before they were stopped. */
void espi_copy_blame_broken(struct espi_copy_job *job, uint32_t own, const char *why);

#endif
