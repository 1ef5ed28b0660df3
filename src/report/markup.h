/* Writing SVG and HTML: everything that comes from outside is escaped. */
#ifndef ESPI_REPORT_MARKUP_H
#define ESPI_REPORT_MARKUP_H

#include <stdio.h>

/* Text between tags or inside a quoted attribute. Control characters, which XML cannot
 * hold, become question marks. */
void espi_markup_text(FILE *out, const char *text);

/* JSON that may stand inside a <script> element: "<" never appears in it. */
void espi_markup_json_string(FILE *out, const char *text);
void espi_markup_json_number(FILE *out, double value); /* null when not finite */

#endif
