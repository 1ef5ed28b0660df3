/* The greeting: before anything of ours is sent by MPI, the ranks find out whether all of
 * them have this shim. A rank may lack it (another program of the job, a host on which it
 * could not be loaded), or have another version; what we sent would then meet what the
 * program itself sends.
 *
 * No message of MPI can ask such a rank. Collectives would meet its own, messages between
 * two ranks could be taken by a receive of its program that takes any tag, and whatever
 * makes a communicator waits for it. So the question is not put to the rank: each shim
 * leaves a line in the launcher's store before MPI_Init, in which the library of each
 * rank, with or without us, leaves its address, waits until all have, and only then
 * reads. The line of a rank is there before its address is: after MPI_Init, a rank
 * without a line has no shim that would answer, and all find the same, without a clock.
 *
 * Two ranks that have found each other's lines are both in MPI_Init, and may talk by
 * messages that each takes there before its program has posted a receive. They talk along
 * a binomial tree: each looks for the lines of its children and its parent only. What is
 * wrong below goes up, and what the top finds goes down; where a rank is missing each of
 * its children is the top of what is below. Nobody is served then. A launcher that has no
 * store leaves ranks unchecked, and so unserved, too. */
#include "mpi/greet.h"

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mpi/store.h"
#include "mpi/tags.h"
#include "mpi/tuning.h"
#include "runtime/knobs.h"

#ifdef OPEN_MPI
#define FAMILY "openmpi"
#else
#define FAMILY "mpich"
#endif

enum state { HERE, ABSENT, OTHER, SETTINGS, NO_STORE };

/* What ranks tell each other. */
struct finding {
    int32_t state, rank; /* the worst, and whose */
    /* the settings of some rank that has some, and which; 0: nobody has */
    uint64_t settings;
    int32_t settings_rank, unused;
};

static int greeted;
static char own[ESPI_STORE_TEXT];

int espi_is_off(void)
{
    const char *mode = getenv("ESPALIER_MODE");
    return mode && strcmp(mode, "off") == 0;
}

void espi_greet(void)
{
    static int begun;
    if (begun || espi_is_off())
        return;
    begun = 1;
    snprintf(own, sizeof own, "espalier/1/%s/%s", FAMILY, espi_shim_version());
    greeted = espi_store_put(own) == 0;
}

/* ---- settings ---- */

static uint64_t mix_text(uint64_t sum, const char *text)
{
    do
        sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
    while (*text++);
    return sum;
}

/* Of all that the environment says; 0: it says nothing, and rank 0 decides. */
static uint64_t sum_settings(void)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    int n, any = 0;
    const struct espi_knob *knobs = espi_knobs(&n);
    for (int i = 0; i < n; i++) {
        const char *text = getenv(knobs[i].name);
        any |= text && *text;
        sum = mix_text(sum, text && *text ? text : knobs[i].standard);
    }
    return any ? sum | 1 : 0;
}

/* ---- talk ---- */

static void say_to(int rank, const struct finding *f)
{
    PMPI_Send(f, (int)sizeof *f, MPI_BYTE, rank, ESPI_TAG_GREETING, MPI_COMM_WORLD);
}

/* From a rank that has greeted: it answers, or is broken. */
static void hear_from(int rank, struct finding *f)
{
    MPI_Request request;
    int there = 0;
    double end_s = espi_now_s() + ESPI_GREETED_S;
    PMPI_Irecv(f, (int)sizeof *f, MPI_BYTE, rank, ESPI_TAG_GREETING, MPI_COMM_WORLD,
               &request);
    while (!PMPI_Test(&request, &there, MPI_STATUS_IGNORE) && !there) {
        if (espi_now_s() > end_s) {
            fprintf(stderr,
                    "espalier: rank %d has greeted, but does not answer: start the job "
                    "with ESPALIER_MODE=off\n",
                    rank);
            PMPI_Abort(MPI_COMM_WORLD, 1);
        }
        sched_yield();
    }
}

static int look_at(int rank)
{
    char text[ESPI_STORE_TEXT];
    if (!espi_store_get(rank, 1, text))
        return ABSENT;
    return strcmp(text, own) == 0 ? HERE : OTHER;
}

static void blame_rank(struct finding *f, int state, int rank)
{
    if (f->state == HERE) {
        f->state = state;
        f->rank = rank;
    }
}

static void merge_findings(struct finding *f, const struct finding *below)
{
    if (below->state != HERE)
        blame_rank(f, below->state, below->rank);
    if (!f->settings) {
        f->settings = below->settings;
        f->settings_rank = below->settings_rank;
    } else if (below->settings && below->settings != f->settings) {
        blame_rank(f, SETTINGS, below->settings_rank);
    }
}

/* ---- the tree ---- */

/* The next child of a rank, after that one (0: the first); 0: there is none. */
static int next_child(int rank, int child, int n)
{
    int bit = child ? (child - rank) * 2 : 1;
    return (rank == 0 || bit < (rank & -rank)) && rank + bit < n ? rank + bit : 0;
}

/* What the ranks below find, and which of the children are here, by bits. */
static unsigned listen(struct finding *f, int rank, int n)
{
    unsigned here = 0;
    int number = 0;
    for (int c = next_child(rank, 0, n); c; c = next_child(rank, c, n), number++) {
        struct finding below;
        int state = look_at(c);
        if (state == HERE) {
            hear_from(c, &below);
            merge_findings(f, &below);
            here |= 1u << number;
        } else {
            blame_rank(f, state, c);
        }
    }
    return here;
}

/* The others of the job, by way of the parent; 1: there is none that is here. */
static int ask_parent(struct finding *f, int rank)
{
    int parent = rank & (rank - 1);
    int state = rank ? look_at(parent) : HERE;
    if (rank == 0 && f->settings && f->settings != sum_settings())
        blame_rank(f, SETTINGS, f->settings_rank);
    if (rank == 0)
        return 1;
    if (state != HERE) {
        *f = (struct finding){.state = state, .rank = parent};
        return 1;
    }
    say_to(parent, f);
    hear_from(parent, f);
    return 0;
}

static void pass_down(const struct finding *f, int rank, int n, unsigned here)
{
    int number = 0;
    for (int c = next_child(rank, 0, n); c; c = next_child(rank, c, n), number++)
        if (here >> number & 1)
            say_to(c, f);
}

/* ---- what is said ---- */

static int may_speak(int rank)
{
    struct espi_settings s;
    char text[ESPI_STORE_TEXT];
    if (!espi_settings_read(&s, getenv, NULL) && s.log < ESPI_LOG_WARN)
        return 0;
    for (int r = 0; r < rank; r++)
        if (greeted && espi_store_get(r, 0, text))
            return 0; /* one that is here speaks */
    return greeted || rank == 0;
}

static void explain(const struct finding *f)
{
    char text[ESPI_STORE_TEXT] = "";
    if (f->state == ABSENT)
        fprintf(
            stderr,
            "espalier: all runs natively: rank %d runs without espalier; start all "
            "programs of the job with LD_PRELOAD and ESPALIER_MODE as they are here\n",
            (int)f->rank);
    if (f->state == OTHER && espi_store_get(f->rank, 0, text))
        fprintf(stderr,
                "espalier: all runs natively: rank %d has %s and another rank %s; "
                "install one version on all hosts\n",
                (int)f->rank, text, own);
    if (f->state == SETTINGS)
        fprintf(stderr,
                "espalier: all runs natively: rank %d has other ESPALIER_ settings than "
                "another; give the same to all ranks\n",
                (int)f->rank);
    if (f->state == NO_STORE)
        fprintf(stderr,
                "espalier: all runs natively: the launcher has no store (%s) in which "
                "ranks could find each other\n",
                strcmp(FAMILY, "mpich") == 0 ? "PMI 1" : "PMIx");
}

int espi_meet(int rank, int n)
{
    struct finding f = {.settings = sum_settings(), .settings_rank = rank};
    int top = 1;
    if (n == 1) {
        /* nobody to meet */
    } else if (greeted) {
        unsigned here = listen(&f, rank, n);
        top = ask_parent(&f, rank);
        pass_down(&f, rank, n, here);
    } else {
        blame_rank(&f, NO_STORE, rank);
    }
    if (f.state != HERE && top && may_speak(rank))
        explain(&f);
    espi_store_done();
    return f.state == HERE;
}
