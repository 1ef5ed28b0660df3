#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_texts[ESP_STATUS_COUNT] = {
    [ESP_OK] = "ok",
    [ESP_ENOMEM] = "out of memory",
    [ESP_EUSAGE] = "bad usage",
    [ESP_EINPUT] = "bad input",
    [ESP_EIO] = "input/output error",
    [ESP_EUNSUPPORTED] = "not supported",
    [ESP_EINTERNAL] = "internal error",
};

const char *esp_status_text(esp_status status)
{
    if ((unsigned)status >= ESP_STATUS_COUNT)
        return "unknown status";
    return status_texts[status];
}

const char *esp_version(void)
{
    return ESPALIER_VERSION;
}

esp_status espi_err(struct esp_err *err, esp_status status, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        err->status = status;
    }
    return status;
}

esp_status espi_err_prefix(struct esp_err *err, esp_status status, const char *prefix)
{
    if (err) {
        char old[ESP_ERR_TEXT_MAX];
        memcpy(old, err->text, sizeof old);
        old[sizeof old - 1] = '\0';
        int n = snprintf(err->text, sizeof err->text, "%s: ", prefix);
        if (n > 0 && (size_t)n < sizeof err->text)
            snprintf(err->text + n, sizeof err->text - (size_t)n, "%s", old);
        err->status = status;
    }
    return status;
}

esp_status espi_err_nomem(struct esp_err *err)
{
    return espi_err(err, ESP_ENOMEM, "out of memory");
}

const char *espi_quote(char *out, unsigned long out_size, const char *text)
{
    unsigned long i = 0;
    for (; text[i] && i + 4 < out_size; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = (c < 0x20 || c == 0x7f) ? '?' : (char)c;
    }
    if (text[i])
        memcpy(out + i, "...", 3), i += 3;
    out[i] = '\0';
    return out;
}
