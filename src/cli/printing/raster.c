#include "cli/printing/raster.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { SCALE = 2 }; /* looks: pixels of a PNG to a unit of the picture */

/* ---- the libraries: what of them is used ---- */

struct rectangle {
    double x, y, width, height;
};

typedef int (*write_fn)(void *closure, const unsigned char *data, unsigned length);

struct artist {
    void *rsvg, *cairo, *object;
    void *(*read)(const unsigned char *data, size_t length, void **error);
    int (*size_of)(void *handle, double *width, double *height);
    int (*render)(void *handle, void *context, const struct rectangle *at, void **error);
    void (*unref)(void *object);
    void *(*image)(int format, int width, int height);
    void *(*pdf)(write_fn write, void *closure, double width, double height);
    void *(*context)(void *surface);
    void (*scale)(void *context, double x, double y);
    int (*write_png)(void *surface, write_fn write, void *closure);
    void (*finish)(void *surface);
    int (*status)(void *surface);
    void (*drop_context)(void *context);
    void (*drop_surface)(void *surface);
};

static int find_functions(struct artist *a)
{
    const struct {
        void *library;
        const char *name;
        void *place;
    } wanted[] = {
        {a->rsvg, "rsvg_handle_new_from_data", &a->read},
        {a->rsvg, "rsvg_handle_get_intrinsic_size_in_pixels", &a->size_of},
        {a->rsvg, "rsvg_handle_render_document", &a->render},
        {a->object, "g_object_unref", &a->unref},
        {a->cairo, "cairo_image_surface_create", &a->image},
        {a->cairo, "cairo_pdf_surface_create_for_stream", &a->pdf},
        {a->cairo, "cairo_create", &a->context},
        {a->cairo, "cairo_scale", &a->scale},
        {a->cairo, "cairo_surface_write_to_png_stream", &a->write_png},
        {a->cairo, "cairo_surface_finish", &a->finish},
        {a->cairo, "cairo_surface_status", &a->status},
        {a->cairo, "cairo_destroy", &a->drop_context},
        {a->cairo, "cairo_surface_destroy", &a->drop_surface},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(wanted[i].library, wanted[i].name);
        if (!found)
            return -1;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return 0;
}

/* They stay loaded to the end, as libraries of GLib must. */
static esp_status load_libraries(struct artist *a, struct esp_err *err)
{
    a->rsvg = dlopen("librsvg-2.so.2", RTLD_NOW);
    a->cairo = dlopen("libcairo.so.2", RTLD_NOW);
    a->object = dlopen("libgobject-2.0.so.0", RTLD_NOW);
    if (a->rsvg && a->cairo && a->object && find_functions(a) == 0)
        return ESP_OK;
    return espi_err(
        err, ESP_EUNSUPPORTED,
        "PNG and PDF need librsvg 2.52 or later (Debian: librsvg2-2), which is "
        "not there: install it, or ask for FILE.svg");
}

/* ---- colours ---- */

/* The value of a custom property in the first :root, what the light colours are; its end
 * is at *end. NULL: there is none. */
static const char *find_value(const char *svg, const char *name, size_t length,
                              const char **end)
{
    const char *at = strstr(svg, ":root{"), *close = at ? strchr(at, '}') : NULL;

    while (at && (at = strstr(at, "--")) && at < close) {
        if (strncmp(at, name, length) == 0 && at[length] == ':') {
            *end = at + length + 1;
            *end += strcspn(*end, ";}");
            return at + length + 1;
        }
        at += 2;
    }
    return NULL;
}

/* librsvg knows no var(): puts the values in their place. */
static void put_plain_colours(const char *svg, FILE *out)
{
    const char *at = svg, *use;

    while ((use = strstr(at, "var(--"))) {
        const char *name = use + 4, *end = NULL;
        size_t length = strcspn(name, ")");
        const char *value = find_value(svg, name, length, &end);
        fwrite(at, 1, (size_t)(use - at), out);
        if (value)
            fwrite(value, 1, (size_t)(end - value), out);
        at = name + length + (name[length] == ')');
    }
    fputs(at, out);
}

/* The picture with plain colours; free(*text). */
static esp_status draw_plain(const struct cli_raster *r, char **text, size_t *length,
                             struct esp_err *err)
{
    char *svg = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&svg, &n);
    esp_status status = memory ? r->draw(r->what, memory, err) : ESP_ENOMEM;

    if (memory && fclose(memory) && !status)
        status = ESP_ENOMEM;
    memory = status ? NULL : open_memstream(text, length);
    if (memory)
        put_plain_colours(svg, memory);
    if (!status && (!memory || fclose(memory)))
        status = ESP_ENOMEM;
    free(svg);
    return status == ESP_ENOMEM ? espi_err_nomem(err) : status;
}

/* ---- drawing ---- */

static int write_piece(void *closure, const unsigned char *data, unsigned length)
{
    enum { WRITE_ERROR = 11 }; /* code: CAIRO_STATUS_WRITE_ERROR */
    return fwrite(data, 1, length, closure) == length ? 0 : WRITE_ERROR;
}

static int paint(const struct artist *a, void *handle, void *surface, double scale,
                 struct rectangle at)
{
    void *context = a->context(surface), *error = NULL;

    a->scale(context, scale, scale);
    int good = a->render(handle, context, &at, &error);
    a->drop_context(context);
    return good && !error;
}

static esp_status paint_handle(const struct artist *a, const struct cli_raster *r,
                               void *handle, FILE *out, struct esp_err *err)
{
    struct rectangle at = {0, 0, 0, 0};
    int bad = !a->size_of(handle, &at.width, &at.height);
    double scale = r->is_pdf ? 1 : SCALE;
    void *surface = r->is_pdf ? a->pdf(write_piece, out, at.width, at.height)
                              : a->image(0, (int)ceil(at.width * scale),
                                         (int)ceil(at.height * scale));

    bad = bad || a->status(surface) || !paint(a, handle, surface, scale, at);
    if (!bad && !r->is_pdf)
        bad = a->write_png(surface, write_piece, out);
    a->finish(surface);
    bad = bad || (r->is_pdf && a->status(surface));
    a->drop_surface(surface);
    return bad ? espi_err(err, ESP_EIO,
                          "librsvg cannot draw the picture; ask for FILE.svg")
               : ESP_OK;
}

esp_status cli_raster_write(const void *what, FILE *out, struct esp_err *err)
{
    const struct cli_raster *r = what;
    struct artist a = {.rsvg = NULL};
    char *text = NULL;
    size_t length = 0;
    void *error = NULL;
    esp_status status = load_libraries(&a, err);

    if (!status)
        status = draw_plain(r, &text, &length, err);
    if (status)
        return status;
    void *handle = a.read((const unsigned char *)text, length, &error);
    free(text);
    if (!handle)
        return espi_err(err, ESP_EINTERNAL, "librsvg does not read our picture");
    status = paint_handle(&a, r, handle, out, err);
    a.unref(handle);
    return status;
}
