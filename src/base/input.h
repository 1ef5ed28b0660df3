/* Reading the whole of a file, of a pipe or of standard input. */
#ifndef ESPI_BASE_INPUT_H
#define ESPI_BASE_INPUT_H

#include <stddef.h>

#include <espalier/status.h>

/* No input is larger: about ten million links of native JSON. */
#define ESPI_INPUT_MAX ((size_t)1 << 30)

struct espi_input {
    char *text; /* a '\0' stands behind the last byte */
    size_t length;
    char where[160]; /* the path as it may stand in a message; its end when it is long */
};

/* Reads path, or standard input when it is "-". An empty input is an error. */
esp_status espi_input_read(struct espi_input *in, const char *path, struct esp_err *err);
void espi_input_done(struct espi_input *in);

/* How a path is called in messages: "standard input" for "-". Returns out. */
const char *espi_input_where(char *out, size_t out_size, const char *path);

/* Reads what fd has until its end; *text is to be freed with espi_free. */
esp_status espi_read_fd(int fd, const char *where, size_t expected, char **text,
                        size_t *length, struct esp_err *err);

#endif
