/* Where what copies learn of a network is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/commands/cp.h"

enum {
    PATH_BYTES = 4096,                /* limit: the system's */
    FILE_BYTES_MAX = 64 * 1024 * 1024 /* limit: none of ours is nearly as large */
};

/* In the user's folder for what programs keep; 0: there is none. */
static int find_own_file(char *path, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;

    if (state && state[0] == '/')
        n = snprintf(path, size, "%s/espalier/network.json", state);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.local/state/espalier/network.json", home);
    return n > 0 && (size_t)n < size;
}

static int is_readable(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size <= FILE_BYTES_MAX;
}

static esp_status read_file(struct cli_copy *c, struct esp_err *err)
{
    struct esp_read_options options;
    struct esp_platform *p = NULL;

    esp_read_options_defaults(&options);
    options.format = ESP_FORMAT_JSON;
    esp_status status = esp_platform_read(c->learned_path, &options, &p, err);
    if (!status)
        status = espi_known_take(&c->known, p, err);
    esp_platform_free(p);
    return status;
}

int cli_copy_recall(struct cli_copy *c)
{
    const char *named = cli_text(c->args, "learned");
    struct esp_err err = {.status = ESP_OK, .text = ""};
    char own[PATH_BYTES];

    if (named && cli_has(c->args, "no-learned"))
        return cli_error(CLI_BAD_USAGE, "--learned and --no-learned exclude each other");
    if (cli_has(c->args, "no-learned") || (!named && !find_own_file(own, sizeof own)))
        return CLI_OK;
    c->learned_path = espi_strdup(named ? named : own);
    if (!c->learned_path)
        return cli_error(CLI_FAILED, "out of memory");
    if (access(c->learned_path, F_OK) != 0)
        return CLI_OK;
    if (!is_readable(c->learned_path))
        espi_err_fill(&err, ESP_EINPUT, "%s: no file that copies have written",
                      c->learned_path);
    else
        read_file(c, &err);
    if (err.status && named)
        return cli_fail(err.status, &err);
    if (err.status) {
        cli_error(CLI_OK, "what was learned of the network is not used: %s", err.text);
        espi_free(c->learned_path);
        c->learned_path = NULL;
    }
    return CLI_OK;
}

int cli_copy_count_learned(const struct cli_copy *c)
{
    int n = 0;

    for (int i = 0; i < c->known.n_hosts; i++)
        n += c->known.host[i].is_here && !c->known.host[i].is_new;
    return n;
}

/* The folders of the file, but for the first, which is the user's. */
static void make_folders(const char *path)
{
    char folder[PATH_BYTES];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
}

void cli_copy_keep_learned(const struct cli_copy *c)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    if (!c->learned_path || cli_text(c->args, "platform") || c->job.data_s <= 0)
        return;
    if (!cli_text(c->args, "learned"))
        make_folders(c->learned_path);
    if (espi_known_write(&c->known, c->learned_path, &err))
        cli_error(CLI_OK, "what was learned of the network is not kept: %s", err.text);
}
