/* Making a testbed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "testbed/folder.h"
#include "testbed/space.h"

#define DELAY_LINE_PATIENCE_MS 10000

/* ---- lines for the tools ---- */

struct lines {
    char *text;
    size_t length;
    FILE *out;
};

static esp_status lines_open(struct lines *l, struct esp_err *err)
{
    *l = (struct lines){0};
    l->out = open_memstream(&l->text, &l->length);
    return l->out ? ESP_OK : espi_err_nomem(err);
}

static esp_status lines_close(struct lines *l, struct esp_err *err)
{
    int bad = fclose(l->out) || !l->text;

    return bad ? espi_err_nomem(err) : ESP_OK;
}

static void lines_done(struct lines *l)
{
    free(l->text); /* open_memstream's own */
}

/* ---- files ---- */

static void write_spaces(FILE *out, const void *what)
{
    const struct espi_bed *bed = what;

    for (int i = 0; i < bed->n_spaces; i++)
        fprintf(out, "%s\n", bed->spaces[i]);
}

static void write_hosts(FILE *out, const void *what)
{
    espi_script_hosts(out, &((const struct espi_bed *)what)->grid);
}

static void write_delays(FILE *out, const void *what)
{
    const struct espi_bed *bed = what;

    espi_script_delays(out, &bed->grid, bed->name);
}

/* As a word of the shell. */
static void write_word(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

struct script {
    const struct espi_bed *bed;
    const char *program, *command, *rest;
};

static void write_script(FILE *out, const void *what)
{
    const struct script *s = what;

    fputs("#!/bin/sh\nexec ", out);
    write_word(out, s->program);
    fprintf(out, " testbed %s --name %s %s -- \"$@\"\n", s->command, s->bed->name,
            s->rest);
}

static void write_nothing(FILE *out, const void *what)
{
    (void)out;
    (void)what;
}

static esp_status write_files(struct espi_bed *bed, const char *program,
                              struct esp_err *err)
{
    static const struct {
        const char *file, *command, *rest;
    } scripts[] = {{"agent", "exec", "--agent"},
                   {"mpirun.openmpi", "run", "--mpi openmpi"},
                   {"mpiexec.mpich", "run", "--mpi mpich"}};
    char path[160];
    esp_status status = esp_platform_write(
        bed->grid.p, espi_folder_path(bed, "platform.json", path), err);

    if (status == ESP_OK)
        status = espi_folder_write(bed, "hosts", 0644, write_hosts, bed, err);
    if (status == ESP_OK)
        status = espi_folder_write(bed, "delays", 0644, write_delays, bed, err);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts && status == ESP_OK; i++)
        status = espi_folder_write(
            bed, scripts[i].file, 0755, write_script,
            &(struct script){bed, program, scripts[i].command, scripts[i].rest}, err);
    return status;
}

/* ---- names ---- */

static esp_status name_spaces(struct espi_bed *bed, struct esp_err *err)
{
    const struct espi_grid *g = &bed->grid;

    bed->n_spaces = g->n_boxes + 1;
    bed->spaces = ESPI_ARENA_NEW(&bed->arena, char *, bed->n_spaces);
    for (int i = 0; bed->spaces && i < bed->n_spaces; i++) {
        bed->spaces[i] = ESPI_ARENA_NEW(&bed->arena, char, ESPI_NAMESPACE_MAX);
        if (!bed->spaces[i])
            return espi_err_nomem(err);
        espi_namespace(bed->spaces[i], bed->name, g, i - 1);
        if (espi_space_exists(bed->spaces[i]))
            return espi_err(err, ESP_EUSAGE,
                            "a namespace %s is there that no testbed made: remove it "
                            "with 'ip netns del', or give this one another --name",
                            bed->spaces[i]);
    }
    return bed->spaces ? ESP_OK : espi_err_nomem(err);
}

/* ---- the delay line ---- */

static int any_delay(const struct espi_grid *g)
{
    for (int i = 0; i < g->n_wires; i++)
        if (espi_wire_delayed(&g->wires[i]))
            return 1;
    return 0;
}

/* In the child. It stays in the control namespace, where it is found again. */
static void run_delay_line(const struct espi_bed *bed, const char *program, int ready)
{
    char delays[160], log[160];
    int null = open("/dev/null", O_RDWR);
    int out = open(espi_folder_path(bed, "delay.log", log), O_WRONLY | O_CREAT | O_APPEND,
                   0644);

    if (espi_space_enter(bed->spaces[0]) || null < 0 || out < 0 || dup2(null, 0) < 0 ||
        dup2(out, 2) < 0 || dup2(ready, 1) < 0)
        _exit(1);
    setsid();
    /* It lives on when the making is over, and must hold on to nothing of the caller's: a
     * pipe somebody reads to its end, a lock. */
    close_range(STDERR_FILENO + 1, ~0U, 0);
    espi_folder_path(bed, "delays", delays);
    execl(program, program, delays, (char *)NULL);
    _exit(1);
}

static esp_status start_delay_line(const struct espi_bed *bed, const char *program,
                                   struct esp_err *err)
{
    int ends[2];
    char word[8] = "";

    if (!any_delay(&bed->grid))
        return ESP_OK;
    if (!program)
        return espi_err(err, ESP_EIO,
                        "espalier-delay is not there, which long links need: it is "
                        "built and installed with espalier");
    if (pipe2(ends, O_CLOEXEC))
        return espi_err(err, ESP_EIO, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        run_delay_line(bed, program, ends[1]);
    close(ends[1]);
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    int ready = child > 0 && poll(&p, 1, DELAY_LINE_PATIENCE_MS) == 1 &&
                read(ends[0], word, sizeof word) > 0;
    close(ends[0]);
    if (ready)
        return ESP_OK;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return espi_err(err, ESP_EIO, "the delay line does not start: see %s/delay.log",
                    bed->dir);
}

/* ---- boxes ---- */

static esp_status make_spaces(const struct espi_bed *bed, struct esp_err *err)
{
    struct lines l;
    esp_status status = lines_open(&l, err);

    if (status)
        return status;
    espi_script_make(l.out, &bed->grid, bed->name);
    status = lines_close(&l, err);
    if (status == ESP_OK)
        status = espi_space_do(&(struct espi_space_job){.ip = l.text}, err);
    lines_done(&l);
    return status;
}

static esp_status make_box(const struct espi_bed *bed, int box, struct esp_err *err)
{
    static void (*const write[])(FILE *, const struct espi_grid *, int) = {
        espi_script_settings, espi_script_box, espi_script_rates};
    struct lines l[3] = {{0}};
    esp_status status = ESP_OK;

    for (int i = 0; i < 3 && status == ESP_OK; i++) {
        status = lines_open(&l[i], err);
        if (status == ESP_OK) {
            write[i](l[i].out, &bed->grid, box);
            status = lines_close(&l[i], err);
        }
    }
    if (status == ESP_OK)
        status = espi_space_do(&(struct espi_space_job){.space = bed->spaces[box + 1],
                                                        .settings = l[0].text,
                                                        .ip = l[1].text,
                                                        .tc = l[2].text},
                               err);
    for (int i = 0; i < 3; i++)
        lines_done(&l[i]);
    return status;
}

static esp_status make(struct espi_bed *bed, const struct espi_bed_tools *tools,
                       struct esp_err *err)
{
    int total = bed->grid.n_boxes + 2;
    esp_status status = name_spaces(bed, err);

    if (status == ESP_OK)
        status = write_files(bed, tools->program, err);
    /* From here on they are ours. */
    if (status == ESP_OK)
        status = espi_folder_write(bed, "namespaces", 0644, write_spaces, bed, err);
    if (status == ESP_OK)
        status = make_spaces(bed, err);
    if (status == ESP_OK)
        status = start_delay_line(bed, tools->delay_line, err);
    for (int box = -1; box < bed->grid.n_boxes && status == ESP_OK; box++) {
        if (tools->step)
            tools->step(box + 2, total);
        status = make_box(bed, box, err);
    }
    if (status == ESP_OK)
        status = espi_folder_write(bed, "whole", 0644, write_nothing, NULL, err);
    return status;
}

esp_status espi_bed_up(const char *name, const struct esp_platform *p,
                       const struct espi_bed_tools *tools, struct esp_err *err)
{
    struct espi_bed bed;
    int ended;
    esp_status status = espi_bed_check_rights(err);

    if (status == ESP_OK)
        status = espi_folder_init(&bed, name, err);
    if (status)
        return status;
    espi_arena_init(&bed.arena);
    status = espi_grid_make(&bed.grid, p, &bed.arena, err);
    if (status == ESP_OK)
        status = espi_folder_make(&bed, err);
    if (status) {
        espi_bed_done(&bed);
        return status;
    }
    status = espi_folder_lock(&bed, err);
    if (status == ESP_OK)
        status = make(&bed, tools, err);
    espi_bed_done(&bed); /* and with it the lock */
    if (status)
        espi_bed_down(name, &ended, NULL);
    return status;
}
