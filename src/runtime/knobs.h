/* The settings of a run under MPI: one table that the shim, `espalier run` and `espalier
 * knobs` read, so that they never disagree. All come from the environment. */
#ifndef ESPI_RUNTIME_KNOBS_H
#define ESPI_RUNTIME_KNOBS_H

#include <espalier/status.h>
#include <stddef.h>

typedef enum espi_mode {
    ESPI_MODE_AUTO,  /* our plan where it is predicted to win */
    ESPI_MODE_FORCE, /* our plan wherever there is one */
    ESPI_MODE_OFF,   /* always the MPI library's own */
} espi_mode;

typedef enum espi_trials_setting {
    ESPI_TRIALS_ON,  /* where results are the same, bit by bit, whoever makes the call */
    ESPI_TRIALS_ALL, /* also of sums that are rounded */
    ESPI_TRIALS_OFF,
} espi_trials_setting;

typedef enum espi_log {
    ESPI_LOG_QUIET,
    ESPI_LOG_WARN,
    ESPI_LOG_INFO,
    ESPI_LOG_DEBUG,
} espi_log;

enum {
    ESPI_PATH_MAX = 1024,
    ESPI_ALGO_TEXT_MAX = 128,
    ESPI_HOSTS_MAX = 8192,
    ESPI_SLOW_MAX = 512
};

/* Plain data without pointers, so that one rank can read it and send it to the others. */
struct espi_settings {
    int mode, trials, log, window;
    double slice_bytes; /* 0: chosen with the plan */
    double min_bytes;   /* smaller messages are left to the MPI library, unless forced */
    double margin;      /* ours must take less than this part of the native time */
    char algo[ESPI_ALGO_TEXT_MAX]; /* "" : the best of some */
    char platform[ESPI_PATH_MAX], plan[ESPI_PATH_MAX], stats[ESPI_PATH_MAX];
    char learned[ESPI_PATH_MAX]; /* what trials have shown; "": it is not kept */
    char advice[ESPI_PATH_MAX];  /* folder of the advisor; "": none */
    double probe;                /* share of the time for probes; 0: none */
    char prober[ESPI_PATH_MAX];  /* the program that sends them; "": none */
    char hosts[ESPI_HOSTS_MAX];  /* names of the ranks' hosts: "p0,p1,..." */
    double
        patience; /* late is a parent that takes so many times the forecast; 0: never */
    char slow[ESPI_SLOW_MAX]; /* links to slow down, for trials: "0>1=1MBps,..." */
};

/* One link of `slow`: ranks of a communicator; -1: all. */
struct espi_slow_setting {
    int from, to;
    double bandwidth_Bps;
};

/* Reads one; 0, or -1: it is none. */
int espi_slow_parse(const char *text, size_t length, struct espi_slow_setting *out);

struct espi_knob {
    const char *name;     /* of the variable: "ESPALIER_MODE" */
    const char *values;   /* "auto|force|off", or the kind of value: "FILE" */
    const char *standard; /* as one would write it; "": none */
    const char *help;
};

const struct espi_knob *espi_knobs(int *count);

/* Reads all of them; get() gives the text of a variable or NULL (as getenv does). */
esp_status espi_settings_read(struct espi_settings *out, char *(*get)(const char *name),
                              struct esp_err *err);

#endif
