#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

/* Length of the sequence that c begins, 0 when it begins none. */
static size_t sequence_length(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        return 2;
    if (c >= 0xe0 && c <= 0xef)
        return 3;
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte. */
static int second_ok(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second <= 0x9f;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second <= 0x8f;
    default:
        return 1;
    }
}

size_t espi_utf8(const char *text, size_t length, uint32_t *character)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *s = (const unsigned char *)text;
    size_t n = length ? sequence_length(s[0]) : 0;
    if (n == 0 || n > length || (n > 1 && !second_ok(s[0], s[1])))
        return 0;
    uint32_t c = s[0] & first_bits[n];
    for (size_t k = 1; k < n; k++) {
        if ((s[k] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[k] & 0x3f);
    }
    *character = c;
    return n;
}

/* ---- what is harmless ---- */

/* From the general categories Cc, Cf, Zl and Zp, and fillers that show nothing. */
static const struct {
    uint32_t first, last;
} harmful[] = {
    {0x0000, 0x001f},   /* control characters of ASCII */
    {0x007f, 0x009f},   /* DEL, and those of C1 */
    {0x00ad, 0x00ad},   /* soft hyphen */
    {0x034f, 0x034f},   /* joins and shows nothing */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x115f, 0x1160},   /* fillers */
    {0x17b4, 0x17b5},   /* vowels that are not shown */
    {0x180b, 0x180e},   /* Mongolian selectors and separator */
    {0x200b, 0x200f},   /* of no width; left-to-right and right-to-left marks */
    {0x2028, 0x202e},   /* ends of lines and paragraphs; embeddings, overrides */
    {0x2060, 0x206f},   /* of no width; isolates; out of use */
    {0x3164, 0x3164},   /* filler */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xffa0, 0xffa0},   /* filler */
    {0xfff0, 0xfffb},   /* annotations */
    {0x1bca0, 0x1bca3}, /* shorthand */
    {0x1d173, 0x1d17a}, /* music */
    {0xe0000, 0xe0fff}, /* tags, selectors */
};

int espi_is_harmless(uint32_t character)
{
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        if (character <= harmful[i].last)
            return character < harmful[i].first;
    return 1;
}

static int is_no_control(uint32_t c)
{
    return c >= 0x20 && c != 0x7f;
}

static int all(const char *text, size_t length, int (*good)(uint32_t))
{
    for (size_t i = 0; i < length;) {
        uint32_t c = 0;
        size_t n = espi_utf8(text + i, length - i, &c);
        if (n == 0 || !good(c))
            return 0;
        i += n;
    }
    return 1;
}

int espi_is_harmless_text(const char *text, size_t length)
{
    return all(text, length, espi_is_harmless);
}

int espi_is_printable(const char *text, size_t length)
{
    return all(text, length, is_no_control);
}

/* ---- showing ---- */

#define PIECE_MAX 12

/* The first character of text as it is shown, and how many bytes it was. */
static size_t show_one(char piece[PIECE_MAX], const char *text)
{
    uint32_t c = 0;
    size_t n = espi_utf8(text, strnlen(text, 4), &c);
    if (n == 0)
        snprintf(piece, PIECE_MAX, "\\x%02x", (unsigned)(unsigned char)text[0]);
    else if (!espi_is_harmless(c))
        snprintf(piece, PIECE_MAX, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
    else {
        memcpy(piece, text, n);
        piece[n] = '\0';
    }
    return n ? n : 1;
}

const char *espi_quote(char *out, size_t out_size, const char *text)
{
    size_t used = 0;
    while (*text) {
        char piece[PIECE_MAX];
        size_t taken = show_one(piece, text), n = strlen(piece);
        if (used + n + 4 > out_size) { /* there must be room for what ends long text */
            if (used + 4 <= out_size)
                memcpy(out + used, "...", 3), used += 3;
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
        text += taken;
    }
    if (out_size)
        out[used] = '\0';
    return out;
}

const char *espi_quote_print(char *out, size_t out_size, const char *fmt, va_list ap)
{
    char raw[1024];
    vsnprintf(raw, sizeof raw, fmt, ap);
    return espi_quote(out, out_size, raw);
}

const char *espi_quote_end(char *out, size_t out_size, const char *text)
{
    char piece[PIECE_MAX];
    size_t whole = 0;
    for (const char *at = text; *at; whole += strlen(piece))
        at += show_one(piece, at);
    if (whole + 4 <= out_size || out_size < 8)
        return espi_quote(out, out_size, text);
    memcpy(out, "...", 3);
    while (whole + 7 > out_size) {
        text += show_one(piece, text);
        whole -= strlen(piece);
    }
    espi_quote(out + 3, out_size - 3, text);
    return out;
}

const char *espi_article(const char *word)
{
    return *word && strchr("aeio", *word) ? "an" : "a";
}
