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
#include "testbed/netns.h"
#include "testbed/tuning.h"

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
    const struct espi_testbed *testbed = what;

    for (int i = 0; i < testbed->n_spaces; i++)
        fprintf(out, "%s\n", testbed->spaces[i]);
}

static void write_hosts(FILE *out, const void *what)
{
    espi_script_hosts(out, &((const struct espi_testbed *)what)->grid);
}

static void write_delays(FILE *out, const void *what)
{
    const struct espi_testbed *testbed = what;

    espi_script_delays(out, &testbed->grid, testbed->name);
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
    const struct espi_testbed *testbed;
    const char *program, *command, *rest;
};

static void write_script(FILE *out, const void *what)
{
    const struct script *s = what;

    fputs("#!/bin/sh\nexec ", out);
    write_word(out, s->program);
    fprintf(out, " testbed %s --name %s %s -- \"$@\"\n", s->command, s->testbed->name,
            s->rest);
}

static void write_nothing(FILE *out, const void *what)
{
    (void)out;
    (void)what;
}

static esp_status write_files(struct espi_testbed *testbed, const char *program,
                              struct esp_err *err)
{
    static const struct {
        const char *file, *command, *rest;
    } scripts[] = {{"agent", "exec", "--agent"},
                   {"mpirun.openmpi", "run", "--mpi openmpi"},
                   {"mpiexec.mpich", "run", "--mpi mpich"}};
    char path[160];
    esp_status status = esp_platform_write(
        testbed->grid.p, espi_folder_path(testbed, "platform.json", path), err);

    if (status == ESP_OK)
        status = espi_folder_write(testbed, "hosts", 0644, write_hosts, testbed, err);
    if (status == ESP_OK)
        status = espi_folder_write(testbed, "delays", 0644, write_delays, testbed, err);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts && status == ESP_OK; i++)
        status = espi_folder_write(
            testbed, scripts[i].file, 0755, write_script,
            &(struct script){testbed, program, scripts[i].command, scripts[i].rest}, err);
    return status;
}

/* ---- names ---- */

static esp_status name_spaces(struct espi_testbed *testbed, struct esp_err *err)
{
    const struct espi_grid *g = &testbed->grid;

    testbed->n_spaces = g->n_boxes + 1;
    testbed->spaces = ESPI_ARENA_NEW(&testbed->arena, char *, testbed->n_spaces);
    for (int i = 0; testbed->spaces && i < testbed->n_spaces; i++) {
        testbed->spaces[i] = ESPI_ARENA_NEW(&testbed->arena, char, ESPI_NAMESPACE_MAX);
        if (!testbed->spaces[i])
            return espi_err_nomem(err);
        espi_namespace(testbed->spaces[i], testbed->name, g, i - 1);
        if (espi_netns_exists(testbed->spaces[i]))
            return espi_err(err, ESP_EUSAGE,
                            "a namespace %s is there that no testbed made: remove it "
                            "with 'ip netns del', or give this one another --name",
                            testbed->spaces[i]);
    }
    return testbed->spaces ? ESP_OK : espi_err_nomem(err);
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
static void run_delay_line(const struct espi_testbed *testbed, const char *program,
                           int ready)
{
    char delays[160], log[160];
    int null = open("/dev/null", O_RDWR);
    int out = open(espi_folder_path(testbed, "delay.log", log),
                   O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (espi_netns_enter(testbed->spaces[0]) || null < 0 || out < 0 ||
        dup2(null, 0) < 0 || dup2(out, 2) < 0 || dup2(ready, 1) < 0)
        _exit(1);
    setsid();
    /* It lives on when the making is over, and must hold on to nothing of the caller's: a
     * pipe somebody reads to its end, a lock. */
    close_range(STDERR_FILENO + 1, ~0U, 0);
    espi_folder_path(testbed, "delays", delays);
    execl(program, program, delays, (char *)NULL);
    _exit(1);
}

/* What it said, for its log goes with the testbed that is not made. */
static esp_status tell_delay_line(const struct espi_testbed *testbed, struct esp_err *err)
{
    char path[160], said[200] = "it said nothing";
    FILE *log = fopen(espi_folder_path(testbed, "delay.log", path), "re");

    if (log) {
        if (fgets(said, sizeof said, log))
            said[strcspn(said, "\n")] = '\0';
        fclose(log);
    }
    return espi_err(err, ESP_EIO, "the delay line does not start: %s", said);
}

static esp_status start_delay_line(const struct espi_testbed *testbed,
                                   const char *program, struct esp_err *err)
{
    int ends[2];
    char word[8] = "";

    if (!any_delay(&testbed->grid))
        return ESP_OK;
    if (!program)
        return espi_err(err, ESP_EIO,
                        "espalier-delay is not there, which long links need: it is "
                        "built and installed with espalier");
    if (pipe2(ends, O_CLOEXEC))
        return espi_err(err, ESP_EIO, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        run_delay_line(testbed, program, ends[1]);
    close(ends[1]);
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    int ready = child > 0 && poll(&p, 1, (1000 * ESPI_TESTBED_PATIENCE_S)) == 1 &&
                read(ends[0], word, sizeof word) > 0;
    close(ends[0]);
    if (ready)
        return ESP_OK;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return tell_delay_line(testbed, err);
}

/* ---- boxes ---- */

static esp_status make_spaces(const struct espi_testbed *testbed, struct esp_err *err)
{
    struct lines l;
    esp_status status = lines_open(&l, err);

    if (status)
        return status;
    espi_script_make(l.out, &testbed->grid, testbed->name);
    status = lines_close(&l, err);
    if (status == ESP_OK)
        status = espi_netns_do(&(struct espi_netns_job){.ip = l.text}, err);
    lines_done(&l);
    return status;
}

static esp_status make_box(const struct espi_testbed *testbed, int box,
                           struct esp_err *err)
{
    static void (*const write[])(FILE *, const struct espi_grid *, int) = {
        espi_script_settings, espi_script_box, espi_script_rates};
    struct lines l[3] = {{0}};
    esp_status status = ESP_OK;

    for (int i = 0; i < 3 && status == ESP_OK; i++) {
        status = lines_open(&l[i], err);
        if (status == ESP_OK) {
            write[i](l[i].out, &testbed->grid, box);
            status = lines_close(&l[i], err);
        }
    }
    if (status == ESP_OK)
        status = espi_netns_do(&(struct espi_netns_job){.space = testbed->spaces[box + 1],
                                                        .settings = l[0].text,
                                                        .ip = l[1].text,
                                                        .tc = l[2].text},
                               err);
    for (int i = 0; i < 3; i++)
        lines_done(&l[i]);
    return status;
}

static esp_status make_testbed(struct espi_testbed *testbed,
                               const struct espi_testbed_tools *tools,
                               struct esp_err *err)
{
    int total = testbed->grid.n_boxes + 2;
    esp_status status = name_spaces(testbed, err);

    if (status == ESP_OK)
        status = write_files(testbed, tools->program, err);
    /* From here on they are ours. */
    if (status == ESP_OK)
        status =
            espi_folder_write(testbed, "namespaces", 0644, write_spaces, testbed, err);
    if (status == ESP_OK)
        status = make_spaces(testbed, err);
    if (status == ESP_OK)
        status = start_delay_line(testbed, tools->delay_line, err);
    for (int box = -1; box < testbed->grid.n_boxes && status == ESP_OK; box++) {
        if (tools->step)
            tools->step(box + 2, total);
        status = make_box(testbed, box, err);
    }
    if (status == ESP_OK)
        status = espi_folder_write(testbed, "whole", 0644, write_nothing, NULL, err);
    return status;
}

esp_status espi_testbed_up(const char *name, const struct esp_platform *p,
                           const struct espi_testbed_tools *tools, struct esp_err *err)
{
    struct espi_testbed testbed;
    int ended;
    esp_status status = espi_testbed_check_rights(err);

    if (status == ESP_OK)
        status = espi_folder_init(&testbed, name, err);
    if (status)
        return status;
    espi_arena_init(&testbed.arena);
    status = espi_grid_make(&testbed.grid, p, &testbed.arena, err);
    if (status == ESP_OK)
        status = espi_folder_make(&testbed, err);
    if (status) {
        espi_testbed_done(&testbed);
        return status;
    }
    status = espi_folder_lock(&testbed, err);
    if (status == ESP_OK)
        status = make_testbed(&testbed, tools, err);
    espi_testbed_done(&testbed); /* and with it the lock */
    if (status)
        espi_testbed_down(name, &ended, NULL);
    return status;
}
