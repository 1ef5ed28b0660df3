#include "copy/wire.h"

#include <string.h>

#include "base/alloc.h"

void espi_wire_done(struct espi_wire_out *w)
{
    espi_free(w->at);
    *w = (struct espi_wire_out){0};
}

void espi_put_raw(struct espi_wire_out *w, const void *data, size_t bytes)
{
    void *grown = w->at;
    if (w->failed || bytes == 0)
        return;
    if (espi_grow(&grown, &w->room, w->used + bytes, 1)) {
        w->failed = 1;
        return;
    }
    w->at = grown;
    memcpy(w->at + w->used, data, bytes);
    w->used += bytes;
}

void espi_put_8(struct espi_wire_out *w, unsigned value)
{
    unsigned char byte = (unsigned char)value;
    espi_put_raw(w, &byte, 1);
}

void espi_put_32(struct espi_wire_out *w, uint32_t value)
{
    unsigned char b[4];
    for (int i = 0; i < 4; i++)
        b[i] = (unsigned char)(value >> (24 - 8 * i));
    espi_put_raw(w, b, sizeof b);
}

void espi_put_64(struct espi_wire_out *w, uint64_t value)
{
    espi_put_32(w, (uint32_t)(value >> 32));
    espi_put_32(w, (uint32_t)value);
}

void espi_put_number(struct espi_wire_out *w, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        espi_put_8(w, 0x80 | (value & 0x7f));
    espi_put_8(w, (unsigned)value);
}

void espi_put_signed(struct espi_wire_out *w, int64_t value)
{
    uint64_t twice = (uint64_t)value << 1;
    espi_put_number(w, value < 0 ? ~twice : twice);
}

void espi_put_block(struct espi_wire_out *w, const void *data, size_t bytes)
{
    espi_put_32(w, (uint32_t)bytes);
    espi_put_raw(w, data, bytes);
}

void espi_put_text(struct espi_wire_out *w, const char *text)
{
    espi_put_block(w, text, strlen(text));
}

const unsigned char *espi_take_raw(struct espi_wire_in *r, size_t bytes)
{
    const unsigned char *from = r->at;
    if (r->bad || (size_t)(r->end - r->at) < bytes) {
        r->bad = 1;
        return NULL;
    }
    r->at += bytes;
    return from;
}

unsigned espi_take_8(struct espi_wire_in *r)
{
    const unsigned char *b = espi_take_raw(r, 1);
    return b ? *b : 0;
}

uint32_t espi_take_32(struct espi_wire_in *r)
{
    const unsigned char *b = espi_take_raw(r, 4);
    uint32_t value = 0;
    for (int i = 0; b && i < 4; i++)
        value = value << 8 | b[i];
    return value;
}

uint64_t espi_take_64(struct espi_wire_in *r)
{
    uint64_t high = espi_take_32(r);
    return high << 32 | espi_take_32(r);
}

uint64_t espi_take_number(struct espi_wire_in *r)
{
    uint64_t value = 0;
    for (int shift = 0; !r->bad; shift += 7) {
        uint64_t byte = espi_take_8(r), bits = byte & 0x7f;
        if (shift > 63 || bits << shift >> shift != bits)
            r->bad = 1;
        else
            value |= bits << shift;
        if (byte < 0x80)
            break;
    }
    return r->bad ? 0 : value;
}

int64_t espi_take_signed(struct espi_wire_in *r)
{
    uint64_t twice = espi_take_number(r);
    return (int64_t)(twice & 1 ? ~(twice >> 1) : twice >> 1);
}

const unsigned char *espi_take_block(struct espi_wire_in *r, size_t *bytes)
{
    *bytes = espi_take_32(r);
    const unsigned char *at = espi_take_raw(r, *bytes);
    if (!at)
        *bytes = 0;
    return at;
}

void espi_take_text(struct espi_wire_in *r, char *out, size_t size)
{
    size_t bytes;
    const unsigned char *at = espi_take_block(r, &bytes);
    out[0] = '\0';
    if (!at || bytes >= size || memchr(at, '\0', bytes)) {
        r->bad = 1;
        return;
    }
    memcpy(out, at, bytes);
    out[bytes] = '\0';
}

uint32_t espi_take_count(struct espi_wire_in *r, size_t each)
{
    uint32_t n = espi_take_32(r);
    if (!r->bad && n > (size_t)(r->end - r->at) / each)
        r->bad = 1;
    return r->bad ? 0 : n;
}

uint32_t espi_set_count(const unsigned char *set, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += (uint32_t)espi_set_has(set, i);
    return count;
}
