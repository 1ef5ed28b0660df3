/* Files that appear only when they are whole, and standard output that is checked. */
#include "cli/printing/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/number.h"

/* One sentence about standard output is enough, and a reader that has seen enough is no
 * news at all. */
static int stdout_failed(int number)
{
    static bool said;

    if (!said && number != EPIPE)
        cli_error(CLI_FAILED, "cannot write to standard output: %s",
                  strerror(number ? number : EIO));
    said = true;
    return CLI_FAILED;
}

int cli_flush_stdout(void)
{
    static int first; /* errno of the first failure; later calls may not repeat it */

    errno = 0;
    if (fflush(stdout) && !first)
        first = errno;
    return first || ferror(stdout) ? stdout_failed(first) : CLI_OK;
}

int cli_write(const char *path,
              esp_status (*write)(const void *what, FILE *out, struct esp_err *err),
              const void *what)
{
    struct esp_err err = {.status = ESP_OK, .text = ""};

    if (!path || strcmp(path, "-") == 0) {
        errno = 0;
        if (write(what, stdout, &err) == ESP_EIO)
            return stdout_failed(errno);
        return cli_flush_stdout();
    }
    /* Through a symbolic link, the file it points to is replaced, not the link. */
    char *real = realpath(path, NULL);
    esp_status status = espi_write_file(real ? real : path, write, what, &err);
    free(real);
    if (status == ESP_OK)
        return CLI_OK;
    if (strstr(err.text, path))
        return cli_error(CLI_FAILED, "%s", err.text);
    char quoted[256];
    return cli_error(CLI_FAILED, "%s: %s", espi_quote(quoted, sizeof quoted, path),
                     err.text);
}

/* ---- JSON ---- */

/* jansson prints 0.1 as 0.10000000000000001; this prints the shortest exact text. */
static void put_json(FILE *out, const json_t *json, int indent);

static void put_real(FILE *out, double value)
{
    char text[ESPI_NUMBER_MAX];

    espi_number_print(text, value);
    fputs(text, out);
    /* A whole number stays one of the kind that reads back as a real. */
    if (!strpbrk(text, ".eE"))
        fputs(".0", out);
}

static void put_object(FILE *out, json_t *object, int indent)
{
    const char *key;
    json_t *value;
    bool first = true;

    json_object_foreach(object, key, value)
    {
        fprintf(out, "%s\n%*s", first ? "" : ",", indent + 2, "");
        espi_json_put_string(out, key);
        fputs(": ", out);
        put_json(out, value, indent + 2);
        first = false;
    }
    if (!first)
        fprintf(out, "\n%*s", indent, "");
}

static void put_array(FILE *out, const json_t *array, int indent)
{
    size_t n = json_array_size(array);
    bool flat = n > 0 && !json_is_object(json_array_get(array, 0));

    for (size_t i = 0; i < n; i++) {
        if (flat)
            fputs(i ? ", " : "", out);
        else
            fprintf(out, "%s\n%*s", i ? "," : "", indent + 2, "");
        put_json(out, json_array_get(array, i), indent + 2);
    }
    if (n && !flat)
        fprintf(out, "\n%*s", indent, "");
}

static void put_json(FILE *out, const json_t *json, int indent)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        fputc('{', out);
        put_object(out, (json_t *)json, indent);
        fputc('}', out);
        break;
    case JSON_ARRAY:
        fputc('[', out);
        put_array(out, json, indent);
        fputc(']', out);
        break;
    case JSON_STRING:
        espi_json_put_string(out, json_string_value(json));
        break;
    case JSON_INTEGER:
        fprintf(out, "%lld", (long long)json_integer_value(json));
        break;
    case JSON_REAL:
        put_real(out, json_real_value(json));
        break;
    default:
        fputs(json_is_true(json) ? "true" : json_is_false(json) ? "false" : "null", out);
    }
}

int cli_print_json(json_t *json)
{
    if (!json)
        return cli_error(CLI_FAILED, "out of memory");
    put_json(stdout, json, 0);
    putchar('\n');
    json_decref(json);
    return cli_flush_stdout();
}

void cli_json_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}
