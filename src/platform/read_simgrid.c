/* SimGrid platforms (XML), through libsimgrid.
 *
 * Only SimGrid knows what its zones, clusters and routings amount to, so SimGrid reads
 * the file: the program espalier-simgrid, a process of its own because libsimgrid has one
 * engine a process, aborts on bad input, obeys what it reads, and must not be loaded into
 * other people's programs. scan_simgrid.c lets through what it may see; this file finds
 * and runs it; read_simgrid_dump.c reads what it prints. */
#include "platform/readers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/err.h"
#include "base/parts.h"
#include "platform/tuning.h"

#define PROGRAM "espalier-simgrid"

/* The name of the signal is none, nor is the last line of a backtrace. */
static int has_reason(const struct espi_child *child)
{
    const char *words = child->last_words + strspn(child->last_words, " \t");
    const char *signal = strsignal(child->signal);
    return *words && strncmp(words, signal, strlen(signal)) != 0 &&
           strncmp(words, "->", 2) != 0;
}

static esp_status how_it_ended(const struct espi_child *child, const char *where,
                               struct esp_err *err)
{
    if (child->timed_out)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid has not read it after %d s", where,
                        ESPI_SIMGRID_S);
    const char *words = child->last_words[0] ? child->last_words : "it gives no reason";
    if (child->signal && !has_reason(child))
        return espi_err(
            err, ESP_EINPUT,
            "%s: SimGrid crashes on it (%s) and gives no reason. It may help to "
            "write routing=\"Full\" in place of \"Dijkstra\", and a route "
            "(<zoneRoute>) between any two zones whose hosts communicate",
            where, strsignal(child->signal));
    if (child->signal)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid refuses it (%s): %s", where,
                        strsignal(child->signal), words);
    if (child->exit_code)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid refuses it: %s", where, words);
    return ESP_OK;
}

static esp_status run_reader(const char *where, const char *text, size_t length,
                             struct espi_child *child, struct esp_err *err)
{
    char program[PATH_MAX];
    if (espi_find_part(ESPI_PART_SIMGRID, NULL, program))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "%s: SimGrid platforms are read by the program " PROGRAM
                        ", which is not there: install libsimgrid-dev and build espalier "
                        "again, or say where it is in ESPALIER_LIBEXEC",
                        where);
    const char *argv[] = {program, NULL};
    int fd = espi_child_text(text, length);
    if (fd < 0)
        return espi_err(err, ESP_EIO, "%s: cannot keep a copy of it: %s", where,
                        strerror(errno));
    esp_status status = espi_child_run(argv, fd, ESPI_SIMGRID_S, child, err);
    close(fd);
    if (status && status != ESP_ENOMEM)
        espi_err_prefix(err, status, where);
    return status;
}

/* The program is given a copy that nobody else can change, not the file: what it reads is
 * what was scanned. */
esp_status espi_read_simgrid(const struct espi_source *source, struct esp_platform **out,
                             struct esp_err *err)
{
    char *text = NULL;
    size_t length = 0;
    struct espi_child child;
    esp_status status = espi_scan_simgrid(source, &text, &length, err);
    if (status)
        return status;
    status = run_reader(source->where, text, length, &child, err);
    espi_free(text);
    if (status)
        return status;
    status = how_it_ended(&child, source->where, err);
    if (!status) {
        struct espi_source dump = {.text = child.out,
                                   .length = child.out_length,
                                   .where = source->where,
                                   .model = source->model};
        status = espi_read_simgrid_dump(&dump, out, err);
    }
    espi_child_done(&child);
    return status;
}
