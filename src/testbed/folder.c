#include "testbed/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "testbed/tuning.h"

esp_status espi_folder_init(struct espi_testbed *testbed, const char *name,
                            struct esp_err *err)
{
    char quoted[80];

    *testbed = (struct espi_testbed){.lock = -1};
    if (!espi_testbed_name_ok(name))
        return espi_err(err, ESP_EUSAGE,
                        "'%s' cannot be the name of a testbed: 1 to %d letters, digits "
                        "or '_'",
                        espi_quote(quoted, sizeof quoted, name), ESPI_TESTBED_NAME_MAX);
    snprintf(testbed->name, sizeof testbed->name, "%s", name);
    snprintf(testbed->dir, sizeof testbed->dir, ESPI_TESTBEDS "/%s", testbed->name);
    return ESP_OK;
}

int espi_folder_exists(const struct espi_testbed *testbed)
{
    struct stat st;

    return lstat(testbed->dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == 0;
}

const char *espi_folder_path(const struct espi_testbed *testbed, const char *file,
                             char out[160])
{
    snprintf(out, 160, "%s/%s", testbed->dir, file);
    return out;
}

int espi_folder_has(const struct espi_testbed *testbed, const char *file)
{
    char path[160];

    return access(espi_folder_path(testbed, file, path), F_OK) == 0;
}

esp_status espi_folder_make(struct espi_testbed *testbed, struct esp_err *err)
{
    if (mkdir(ESPI_TESTBEDS, 0755) && errno != EEXIST)
        return espi_err(err, ESP_EIO, ESPI_TESTBEDS ": %s", strerror(errno));
    if (mkdir(testbed->dir, 0755) == 0)
        return ESP_OK;
    if (errno == EEXIST)
        return espi_err(err, ESP_EUSAGE,
                        "testbed %s is there already: 'espalier testbed down --name %s' "
                        "takes it away, --name gives another one its name",
                        testbed->name, testbed->name);
    return espi_err(err, ESP_EIO, "%s: %s", testbed->dir, strerror(errno));
}

esp_status espi_folder_lock(struct espi_testbed *testbed, struct esp_err *err)
{
    char path[160];
    double end_s = espi_now_s() + ESPI_TESTBED_LOCK_S;

    /* Not closed in programs that are run: they hold it, too. */
    testbed->lock = open(espi_folder_path(testbed, "lock", path), O_RDWR | O_CREAT, 0600);
    if (testbed->lock < 0)
        return espi_err(err, ESP_EIO, "%s: %s", path, strerror(errno));
    while (flock(testbed->lock, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return espi_err(err, ESP_EIO, "%s: %s", path, strerror(errno));
        if (espi_now_s() > end_s)
            return espi_err(err, ESP_EIO,
                            "testbed %s is being made or taken down by another process; "
                            "try again when that has ended",
                            testbed->name);
        usleep(20000);
    }
    return ESP_OK;
}

esp_status espi_folder_write(const struct espi_testbed *testbed, const char *file,
                             int mode, void (*write)(FILE *out, const void *what),
                             const void *what, struct esp_err *err)
{
    char path[160], early[168];

    espi_folder_path(testbed, file, path);
    snprintf(early, sizeof early, "%s.new", path);
    FILE *out = fopen(early, "we");
    if (out)
        write(out, what);
    int bad = !out || ferror(out) || fchmod(fileno(out), (mode_t)mode);
    if (out && fclose(out))
        bad = 1;
    if (bad || rename(early, path))
        return espi_err(err, ESP_EIO, "%s: %s", path, strerror(errno));
    return ESP_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

esp_status espi_folder_remove(struct espi_testbed *testbed, struct esp_err *err)
{
    if (nftw(testbed->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        return espi_err(err, ESP_EIO, "cannot remove %s: %s", testbed->dir,
                        strerror(errno));
    rmdir(ESPI_TESTBEDS); /* stays while there are others */
    return ESP_OK;
}
