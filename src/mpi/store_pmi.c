/* The store of MPICH's launchers, Hydra and Slurm's srun --mpi=pmi2 among them: lines to
 * and fro on a file that the rank is born with (PMI 1). MPICH begins there with the same
 * words as we, which not every launcher takes twice (store_relay.h). */
#include <mpi.h>

#ifndef OPEN_MPI

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "mpi/store.h"
#include "mpi/store_relay.h"
#include "mpi/tuning.h"

enum { LINE = 2048, NAME = 256 }; /* limit: of PMI-1 */

static int fd = -1;        /* leads to the launcher */
static int born_with = -1; /* MPICH's, which leads to a relay until MPI_Init is over */
static char space[NAME];

static int number(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : -1;
    return text && end != text && !*end && value >= 0 && value < 1 << 24 ? (int)value
                                                                         : -1;
}

static int say_line(const char *line)
{
    size_t length = strlen(line);
    for (size_t at = 0; at < length;) {
        ssize_t n = write(fd, line + at, length - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* One byte at a time: what follows the line is not ours. */
static int hear_line(char line[LINE])
{
    double end_s = espi_now_s() + ESPI_PMI_ANSWER_S;
    for (int at = 0; at < LINE - 1;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        double left_s = end_s - espi_now_s();
        int ready = left_s > 0 ? poll(&p, 1, (int)(left_s * 1e3) + 1) : 0;
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return -1;
        ssize_t n = ready > 0 ? read(fd, &line[at], 1) : -1;
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return -1;
        if (n > 0 && line[at++] == '\n') {
            line[at - 1] = '\0';
            return 0;
        }
    }
    return -1;
}

/* The word behind " name=" in a line; 0: it is not there, or too long. */
static int word(const char *line, const char *name, char *out, size_t size)
{
    const char *at = strstr(line, name);
    size_t length = at ? strcspn(at + strlen(name), " ") : 0;
    if (!at || length == 0 || length >= size)
        return 0;
    memcpy(out, at + strlen(name), length);
    out[length] = '\0';
    return 1;
}

/* Asks; is the answer what it has to be? */
static int ask_pmi(const char *line, const char *wanted, char answer[LINE])
{
    return !say_line(line) && !hear_line(answer) &&
           strncmp(answer, wanted, strlen(wanted)) == 0;
}

/* The first words, whose answer is kept for MPICH. */
static int say_init(void)
{
    char answer[LINE];
    if (!ask_pmi("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init",
                 answer) ||
        !strstr(answer, " rc=0"))
        return -1;
    espi_store_relay_answer(answer);
    return 0;
}

int espi_store_put(const char *text)
{
    char line[LINE], answer[LINE];
    int rank = number("PMI_RANK");
    born_with = number("PMI_FD");
    fd = born_with < 0 || rank < 0 ? -1 : espi_store_relay_begin(born_with);
    if (fd < 0)
        return -1;
    if (say_init()) {
        espi_store_done();
        return -1;
    }
    if (!ask_pmi("cmd=get_my_kvsname\n", "cmd=my_kvsname", answer) ||
        !word(answer, " kvsname=", space, sizeof space))
        return -1;
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=espalier-%d value=%s\n", space,
             rank, text);
    return ask_pmi(line, "cmd=put_result rc=0", answer) ? 0 : -1;
}

/* What was put before MPI_Init every part of the launcher has after it. */
int espi_store_get(int rank, int patient, char out[ESPI_STORE_TEXT])
{
    char line[LINE], answer[LINE];
    (void)patient;
    espi_store_relay_end();
    fd = born_with;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=espalier-%d\n", space, rank);
    return ask_pmi(line, "cmd=get_result rc=0", answer) &&
           word(answer, " value=", out, ESPI_STORE_TEXT);
}

void espi_store_done(void)
{
    espi_store_relay_end();
    fd = -1;
}

#endif
