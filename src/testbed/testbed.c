#include "testbed/testbed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/input.h"
#include "testbed/folder.h"
#include "testbed/netns.h"

esp_status espi_testbed_check_rights(struct esp_err *err)
{
    if (geteuid() != 0)
        return espi_err(err, ESP_EUSAGE,
                        "a testbed is made of network namespaces, which only root may "
                        "make: run it as root, for example with sudo");
    return ESP_OK;
}

/* ---- reading ---- */

/* One name a line. */
static esp_status read_spaces(struct espi_testbed *testbed, struct esp_err *err)
{
    struct espi_input in;
    char path[160], prefix[64];

    if (!espi_folder_has(testbed, "namespaces"))
        return ESP_OK; /* stopped before the first one was made */
    esp_status status =
        espi_input_read(&in, espi_folder_path(testbed, "namespaces", path), err);
    if (status)
        return status;
    size_t prefix_length =
        (size_t)snprintf(prefix, sizeof prefix, "esp-%s-", testbed->name);
    testbed->spaces = ESPI_ARENA_NEW(&testbed->arena, char *, in.length + 1);
    char *text = ESPI_ARENA_NEW(&testbed->arena, char, in.length + 1);
    if (!testbed->spaces || !text) {
        espi_input_done(&in);
        return espi_err_nomem(err);
    }
    memcpy(text, in.text, in.length + 1);
    espi_input_done(&in);
    for (char *line, *rest = text; (line = strsep(&rest, "\n"));)
        /* No other line can be ours, whoever wrote it. */
        if (strncmp(line, prefix, prefix_length) == 0 && !strchr(line, '/') &&
            strlen(line) < ESPI_NAMESPACE_MAX)
            testbed->spaces[testbed->n_spaces++] = line;
    return ESP_OK;
}

static esp_status read_platform(struct espi_testbed *testbed, struct esp_err *err)
{
    char path[160];
    struct esp_read_options json = {
        .size = sizeof json, .format = ESP_FORMAT_JSON, .model = ESP_MODEL_DEFAULT};

    if (!espi_folder_has(testbed, "platform.json"))
        return ESP_OK;
    esp_status status = esp_platform_read(
        espi_folder_path(testbed, "platform.json", path), &json, &testbed->platform, err);
    return status
               ? status
               : espi_grid_make(&testbed->grid, testbed->platform, &testbed->arena, err);
}

static esp_status no_such_bed(const char *name, struct esp_err *err)
{
    char quoted[80];

    return espi_err(err, ESP_EUSAGE,
                    "there is no testbed '%s': 'espalier testbed up PLATFORM' makes one",
                    espi_quote(quoted, sizeof quoted, name));
}

esp_status espi_testbed_open(struct espi_testbed *testbed, const char *name,
                             struct esp_err *err)
{
    esp_status status = espi_folder_init(testbed, name, err);

    if (status)
        return status;
    if (!espi_folder_exists(testbed))
        return no_such_bed(name, err);
    espi_arena_init(&testbed->arena);
    testbed->whole = espi_folder_has(testbed, "whole");
    status = read_spaces(testbed, err);
    if (status == ESP_OK && testbed->whole)
        status = read_platform(testbed, err);
    if (status)
        espi_testbed_done(testbed);
    return status;
}

void espi_testbed_done(struct espi_testbed *testbed)
{
    esp_platform_free(testbed->platform);
    testbed->platform = NULL;
    espi_arena_done(&testbed->arena);
    if (testbed->lock >= 0)
        close(testbed->lock);
    testbed->lock = -1;
}

void espi_testbed_each(void (*seen)(const char *name, void *data), void *data)
{
    struct dirent **names = NULL;
    int n = scandir(ESPI_TESTBEDS, &names, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        if (espi_testbed_name_ok(names[i]->d_name))
            seen(names[i]->d_name, data);
        free(names[i]); /* scandir's own */
    }
    free(names);
}

/* ---- taking down ---- */

esp_status espi_testbed_down(const char *name, int *ended, struct esp_err *err)
{
    struct espi_testbed testbed;
    esp_status status = espi_folder_init(&testbed, name, err);

    *ended = 0;
    if (status)
        return status;
    if (!espi_folder_exists(&testbed))
        return no_such_bed(name, err);
    espi_arena_init(&testbed.arena);
    status = espi_folder_lock(&testbed, err);
    if (status == ESP_OK)
        status = read_spaces(&testbed, err);
    if (status == ESP_OK) {
        *ended = espi_netns_clear(testbed.spaces, testbed.n_spaces);
        if (*ended < 0)
            status = espi_err(err, ESP_EIO,
                              "processes in testbed %s cannot be ended: 'ip netns pids' "
                              "names them; try again when they are gone",
                              name);
    }
    for (int i = 0; i < testbed.n_spaces && status == ESP_OK; i++)
        if (espi_netns_remove(testbed.spaces[i]))
            status = espi_err(err, ESP_EIO, "cannot remove namespace %s: %s",
                              testbed.spaces[i], strerror(errno));
    if (status == ESP_OK)
        status = espi_folder_remove(&testbed, err);
    espi_testbed_done(&testbed);
    return status;
}

/* ---- what is done with one that is up ---- */

static esp_status try_rate(const struct espi_testbed *testbed, enum espi_rate_verb verb,
                           int wire, int dir, double rate_Bps, struct esp_err *err)
{
    char *lines = NULL, space[ESPI_NAMESPACE_MAX];
    size_t length;
    FILE *out = open_memstream(&lines, &length);

    if (!out)
        return espi_err_nomem(err);
    espi_script_rate(out, &testbed->grid, verb, wire, dir, rate_Bps);
    if (fclose(out) || !lines) {
        free(lines); /* open_memstream's own */
        return espi_err_nomem(err);
    }
    espi_namespace(space, testbed->name, &testbed->grid,
                   testbed->grid.wires[wire].box[dir]);
    esp_status status =
        espi_netns_do(&(struct espi_netns_job){.space = space, .tc = lines}, err);
    free(lines);
    return status;
}

/* A shaper that is there keeps its queue; where there is none, one is made. */
esp_status espi_testbed_set_rate(const struct espi_testbed *testbed, int wire, int dir,
                                 double rate_Bps, struct esp_err *err)
{
    if (try_rate(testbed, ESPI_RATE_CHANGE, wire, dir, rate_Bps, NULL) == ESP_OK)
        return ESP_OK;
    return try_rate(testbed, ESPI_RATE_REPLACE, wire, dir, rate_Bps, err);
}

esp_status espi_testbed_enter(const struct espi_testbed *testbed, int box,
                              struct esp_err *err)
{
    char space[ESPI_NAMESPACE_MAX], hosts[160];
    const char *host = box < 0 ? "espalier-launcher" : testbed->grid.boxes[box].name;

    espi_namespace(space, testbed->name, &testbed->grid, box);
    if (espi_netns_enter(space) || unshare(CLONE_NEWUTS | CLONE_NEWNS) ||
        sethostname(host, strlen(host)) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return espi_err(err, ESP_EIO, "cannot enter namespace %s: %s", space,
                        strerror(errno));
    /* So that names are found without asking anybody. */
    espi_folder_path(testbed, "hosts", hosts);
    if (mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL) && errno != ENOENT)
        return espi_err(err, ESP_EIO, "cannot put %s over /etc/hosts: %s", hosts,
                        strerror(errno));
    return ESP_OK;
}
