/* SimGrid platforms (XML), through libsimgrid.
 *
 * Only SimGrid knows what its zones, clusters and routings amount to, so SimGrid reads
 * the file: the program espalier-simgrid, a process of its own because libsimgrid has one
 * engine a process, aborts on bad input, obeys what it reads, and must not be loaded into
 * other people's programs. scan_simgrid.c lets through what it may see; this file finds
 * and runs it; read_simgrid_dump.c reads what it prints.
 *
 * The program is looked for in the directory that the environment variable
 * ESPALIER_LIBEXEC names, then where `make install` puts it, then beside the running
 * program (which is where the build puts it). */
#include "platform/readers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/err.h"

#define PROGRAM   "espalier-simgrid"
#define TIMEOUT_S 300
#define PATH_SIZE 4096

static int usable(char *path, const char *dir, int dir_length)
{
    int n = snprintf(path, PATH_SIZE, "%.*s/" PROGRAM, dir_length, dir);
    return n > 0 && n < PATH_SIZE && access(path, X_OK) == 0;
}

static int find_program(char *path)
{
    const char *dir = secure_getenv("ESPALIER_LIBEXEC");
    if (dir && dir[0])
        return usable(path, dir, (int)strnlen(dir, PATH_SIZE)) ? 0 : -1;
    if (usable(path, ESPALIER_LIBEXECDIR, (int)strlen(ESPALIER_LIBEXECDIR)))
        return 0;
    char self[PATH_SIZE];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    while (n > 0 && self[n - 1] != '/')
        n--;
    return n > 1 && usable(path, self, (int)n - 1) ? 0 : -1;
}

static esp_status how_it_ended(const struct espi_child *child, const char *where,
                               struct esp_err *err)
{
    if (child->timed_out)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid has not read it after %d s", where,
                        TIMEOUT_S);
    const char *words = child->last_words[0] ? child->last_words : "it gives no reason";
    if (child->signal)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid refuses it (%s): %s", where,
                        strsignal(child->signal), words);
    if (child->exit_code)
        return espi_err(err, ESP_EINPUT, "%s: SimGrid refuses it: %s", where, words);
    return ESP_OK;
}

static esp_status run(const char *where, const char *text, size_t length,
                      struct espi_child *child, struct esp_err *err)
{
    char program[PATH_SIZE];
    if (find_program(program))
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
    esp_status status = espi_child_run(argv, fd, TIMEOUT_S, child, err);
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
    status = run(source->where, text, length, &child, err);
    espi_free(text);
    if (status)
        return status;
    status = how_it_ended(&child, source->where, err);
    if (!status) {
        struct espi_source dump = {child.out, child.out_length, source->where,
                                   source->model};
        status = espi_read_simgrid_dump(&dump, out, err);
    }
    espi_child_done(&child);
    return status;
}
