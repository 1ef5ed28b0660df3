#include "base/json_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

/* Beyond U+FFFF, JSON has two halves. */
static void put_code(FILE *out, uint32_t c)
{
    if (c > 0xffff) {
        fprintf(out, "\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)));
        c = 0xdc00 + ((c - 0x10000) & 0x3ff);
    }
    fprintf(out, "\\u%04x", (unsigned)c);
}

/* One character that is not plain; how many bytes it was. */
static size_t put_special(FILE *out, const char *text, const char *also)
{
    uint32_t c = 0;
    size_t n = espi_utf8(text, strnlen(text, 4), &c);
    if (n && (!espi_is_harmless(c) || strchr(also, *text))) {
        put_code(out, c);
        return n;
    }
    n = n ? n : 1;
    if (*text == '"' || *text == '\\')
        putc('\\', out);
    fwrite(text, 1, n, out);
    return n;
}

static int is_plain(char c, const char *also)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && !strchr(also, c);
}

void espi_json_put_string_but(FILE *out, const char *text, const char *also)
{
    putc('"', out);
    while (*text) {
        size_t n = 0;
        while (is_plain(text[n], also))
            n++;
        fwrite(text, 1, n, out);
        text += n;
        if (*text)
            text += put_special(out, text, also);
    }
    putc('"', out);
}

void espi_json_put_string(FILE *out, const char *text)
{
    espi_json_put_string_but(out, text, "");
}

static esp_status io_error(struct esp_err *err, const char *path, int code)
{
    char shown[200];
    return espi_err(err, ESP_EIO, "cannot write %s: %s",
                    espi_quote(shown, sizeof shown, path), strerror(code));
}

/* Opens path.XXXXXX; *temp is the name, to be freed. */
static esp_status open_temp(const char *path, char **temp, FILE **out,
                            struct esp_err *err)
{
    size_t n = strlen(path);
    char *name = espi_malloc(n + 8);
    if (!name)
        return espi_err_nomem(err);
    memcpy(name, path, n);
    memcpy(name + n, ".XXXXXX", 8);
    int fd = mkstemp(name);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        int code = errno;
        if (fd >= 0)
            close(fd), unlink(name);
        espi_free(name);
        return io_error(err, path, code);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    __fsetlocking(f, FSETLOCKING_BYCALLER); /* nobody else has it, and plans are long */
    *temp = name;
    *out = f;
    return ESP_OK;
}

esp_status espi_write_file(const char *path,
                           esp_status (*write)(const void *what, FILE *out,
                                               struct esp_err *err),
                           const void *what, struct esp_err *err)
{
    struct stat info;
    if (!strcmp(path, "-"))
        return write(what, stdout, err);
    /* Devices and pipes cannot be renamed over: write to them as they are. */
    if (!stat(path, &info) && !S_ISREG(info.st_mode)) {
        FILE *f = fopen(path, "w");
        if (!f)
            return io_error(err, path, errno);
        esp_status st = write(what, f, err);
        if (fclose(f) && !st)
            st = io_error(err, path, errno);
        return st;
    }
    char *temp = NULL;
    FILE *f = NULL;
    esp_status st = open_temp(path, &temp, &f, err);
    if (st)
        return st;
    st = write(what, f, err);
    if (fclose(f) && !st)
        st = io_error(err, path, errno);
    if (!st && rename(temp, path))
        st = io_error(err, path, errno);
    if (st)
        unlink(temp);
    espi_free(temp);
    return st;
}
