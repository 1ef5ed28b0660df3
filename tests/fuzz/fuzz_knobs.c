/* Settings from the environment, a line each: NAME=VALUE. What is taken must be within
 * what it may be, what is refused must be refused with one sentence; a plan that travels
 * with them must come whole or not at all. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/given_plan.h"
#include "runtime/knobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text;

/* Lines end in '\0' by now, and the last in two. */
static char *get(const char *name)
{
    size_t length = strlen(name);
    for (char *at = text; *at; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static void check_text(const char *value, size_t size)
{
    if (!memchr(value, '\0', size))
        abort();
}

static void check_slow(const char *slow)
{
    for (const char *at = slow; *at;) {
        struct espi_slow_setting one;
        size_t length = strcspn(at, ",");
        if (espi_slow_parse(at, length, &one) || !(one.bandwidth_Bps > 0) ||
            one.from < -1 || one.to < -1)
            abort();
        at += length + (at[length] == ',');
    }
}

static void check(const struct espi_settings *s)
{
    if (s->mode < 0 || s->mode > ESPI_MODE_OFF || s->log < 0 || s->log > ESPI_LOG_DEBUG ||
        s->window < 1 || s->window > 1024 || !(s->slice_bytes >= 0) ||
        !(s->min_bytes >= 0) || !isfinite(s->slice_bytes) || !isfinite(s->min_bytes) ||
        !(s->margin >= 0 && s->margin <= 1e6) || !(s->probe >= 0 && s->probe <= 0.5) ||
        !(s->patience >= 0 && s->patience <= 1e6))
        abort();
    check_text(s->algo, sizeof s->algo);
    check_text(s->platform, sizeof s->platform);
    check_text(s->plan, sizeof s->plan);
    check_text(s->stats, sizeof s->stats);
    check_text(s->advice, sizeof s->advice);
    check_text(s->prober, sizeof s->prober);
    check_text(s->hosts, sizeof s->hosts);
    check_text(s->slow, sizeof s->slow);
    check_slow(s->slow);
}

static void check_plan(const char *plan)
{
    struct espi_input in;
    struct esp_err err = {.text = ""};
    if (strncmp(plan, "env:", 4) != 0)
        return;
    esp_status st = espi_given_plan_read(&in, plan, get, &err);
    if (st ? !err.text[0] : in.length != strlen(in.text) || in.length == 0)
        abort();
    if (!st)
        espi_input_done(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct espi_settings s;
    struct esp_err err = {.text = ""};
    text = calloc(size + 2, 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    for (char *at = text; (at = strchr(at, '\n'));)
        *at++ = '\0';
    esp_status st = espi_settings_read(&s, get, &err);
    if (st && (!err.text[0] || strchr(err.text, '\n')))
        abort();
    if (!st) {
        check(&s);
        check_plan(s.plan);
    }
    free(text);
    return 0;
}
