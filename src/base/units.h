/* Numbers with units, at the edges of the program: "100Mbps", "5ms", "64KiB". Inside
 * everything is SI. Nothing here depends on the locale. */
#ifndef ESPI_BASE_UNITS_H
#define ESPI_BASE_UNITS_H

#include <stddef.h>

enum espi_quantity {
    ESPI_BANDWIDTH, /* bytes a second; a bare number is bytes a second */
    ESPI_TIME,      /* seconds; a bare number is seconds */
    ESPI_SIZE,      /* bytes; a bare number is bytes */
    ESPI_QUANTITY_COUNT
};

/* The plain decimal number (digits, point, exponent; no sign, no hex, no inf or NaN) at
 * the start of text: its length, or 0 when there is none or when it is out of range. */
size_t espi_scan_number(const char *text, size_t length, double *value);

/* The whole of text is one such number: 0, or -1. A leading '-' gives -1. */
int espi_parse_number(const char *text, size_t length, double *value);

/* The whole of text is a number and perhaps a unit: 0, or -1 and *value untouched. */
int espi_parse_quantity(enum espi_quantity what, const char *text, size_t length,
                        double *value);
/* The whole of text is a unit, as "Gbps": 0 and what one of it is, or -1. */
int espi_parse_unit(enum espi_quantity what, const char *text, size_t length,
                    double *one);
int espi_parse_bandwidth(const char *text, double *Bps);
int espi_parse_time(const char *text, double *seconds);
int espi_parse_size(const char *text, double *bytes);

/* "a bandwidth", and the units one may write, for messages. */
const char *espi_quantity_name(enum espi_quantity what);
const char *espi_quantity_units(enum espi_quantity what);

/* Fills out with why text was refused: "'3 Mups' is not a bandwidth (a number, alone for
 * bytes a second or with one of bps kbps ...)". Returns out. */
const char *espi_quantity_complaint(char *out, size_t out_size, enum espi_quantity what,
                                    const char *text, size_t length);

/* For people: four digits and a fitting unit ("12.5 MB/s", "1.25 ms", "64 MB"). Each
 * returns out; 32 bytes are enough. */
const char *espi_format_bandwidth(char *out, size_t out_size, double Bps);
const char *espi_format_time(char *out, size_t out_size, double seconds);
const char *espi_format_bytes(char *out, size_t out_size, double bytes);

#endif
