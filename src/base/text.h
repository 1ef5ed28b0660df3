/* Text from outside (names, words of files and of other programs), and what of it may
 * reach a message or a terminal. This is the one place where that is decided. */
#ifndef ESPI_BASE_TEXT_H
#define ESPI_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that text begins with, 0 when that is no UTF-8. */
size_t espi_utf8(const char *text, size_t length, uint32_t *character);

/* May a terminal get it as it is? Not those that steer it (control characters, C1 too),
 * turn the direction of writing round, break lines, or show nothing. */
int espi_is_harmless(uint32_t character);

/* Is it UTF-8 that only has such characters? */
int espi_is_harmless_text(const char *text, size_t length);

/* Is it UTF-8 without the control characters of ASCII? What names must be. */
int espi_is_printable(const char *text, size_t length);

/* Copies text from outside into out so that it may stand in a message or on a terminal:
 * other characters become \uXXXX, bytes that are no UTF-8 \xXX, and long text ends in
 * "...". Returns out. */
const char *espi_quote(char *out, size_t out_size, const char *text);

/* The same of what printf would make of a format and its arguments, cut to 1,023 bytes.
 */
const char *espi_quote_print(char *out, size_t out_size, const char *fmt, va_list ap);

/* "a" or "an", as the word is spelled. */
const char *espi_article(const char *word);

/* The same as espi_quote; of long text the end is kept, and "..." stands before it. */
const char *espi_quote_end(char *out, size_t out_size, const char *text);

#endif
