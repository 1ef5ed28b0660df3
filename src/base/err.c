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

void espi_err_fill(struct esp_err *err, esp_status status, const char *fmt, ...)
{
    if (err) {
        char raw[sizeof err->text];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(raw, sizeof raw, fmt, ap);
        va_end(ap);
        /* Callers quote names, to cut long ones; none that they forget gets through. */
        espi_quote(err->text, sizeof err->text, raw);
        err->status = status;
    }
}

void espi_err_prepend(struct esp_err *err, esp_status status, const char *prefix)
{
    if (err) {
        /* Move the text, dropping what no longer fits at its end. */
        size_t head = strlen(prefix) + 2, room = sizeof err->text - 1;
        if (head > room / 2)
            return;
        size_t tail = strlen(err->text);
        if (tail > room - head)
            tail = room - head;
        memmove(err->text + head, err->text, tail);
        memcpy(err->text, prefix, head - 2);
        memcpy(err->text + head - 2, ": ", 2);
        err->text[head + tail] = '\0';
        err->status = status;
    }
}
