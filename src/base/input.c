#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

const char *espi_input_where(char *out, size_t out_size, const char *path)
{
    if (strcmp(path, "-") == 0)
        return espi_quote(out, out_size, "standard input");
    /* The end of a long path tells more than its beginning. */
    return espi_quote_end(out, out_size, path);
}

static esp_status too_large(const char *where, struct esp_err *err)
{
    return espi_err(err, ESP_EINPUT, "%s: larger than %zu MiB, the most that is read",
                    where, ESPI_INPUT_MAX >> 20);
}

esp_status espi_read_fd(int fd, const char *where, size_t expected, char **text,
                        size_t *length, struct esp_err *err)
{
    if (expected > ESPI_INPUT_MAX)
        return too_large(where, err);
    /* Room for one more byte than expected: the end of the file is then seen without
     * growing. Read, not mapped: a file that shrinks under a map ends in a signal. */
    size_t capacity = expected + 2, used = 0;
    char *buffer = espi_malloc(capacity);
    esp_status status = buffer ? ESP_OK : espi_err_nomem(err);
    while (!status) {
        if (espi_grow((void **)&buffer, &capacity, used + 2, 1)) {
            status = espi_err_nomem(err);
            break;
        }
        ssize_t got = read(fd, buffer + used, capacity - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status =
                espi_err(err, ESP_EIO, "%s: cannot read: %s", where, strerror(errno));
        if (got <= 0)
            break;
        used += (size_t)got;
        if (used > ESPI_INPUT_MAX)
            status = too_large(where, err);
    }
    if (status) {
        espi_free(buffer);
        return status;
    }
    buffer[used] = '\0';
    *text = buffer;
    *length = used;
    return ESP_OK;
}

esp_status espi_input_read(struct espi_input *in, const char *path, struct esp_err *err)
{
    espi_input_where(in->where, sizeof in->where, path);
    in->text = NULL;
    in->length = 0;
    int from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return espi_err(err, ESP_EIO, "%s: cannot open: %s", in->where, strerror(errno));
    struct stat st;
    esp_status status;
    if (fstat(fd, &st) < 0)
        status =
            espi_err(err, ESP_EIO, "%s: cannot read: %s", in->where, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        status = espi_err(err, ESP_EIO, "%s: is a directory, not a file", in->where);
    else
        status = espi_read_fd(fd, in->where, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0,
                              &in->text, &in->length, err);
    if (!from_stdin)
        close(fd);
    if (!status && in->length == 0) {
        espi_input_done(in);
        status = espi_err(err, ESP_EINPUT, "%s: is empty", in->where);
    }
    return status;
}

void espi_input_done(struct espi_input *in)
{
    espi_free(in->text);
    in->text = NULL;
    in->length = 0;
}
