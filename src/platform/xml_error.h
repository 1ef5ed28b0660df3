/* What is wrong with XML, in a sentence with its place: what the readers over expat
 * share. */
#ifndef ESPI_PLATFORM_XML_ERROR_H
#define ESPI_PLATFORM_XML_ERROR_H

#include <expat.h>

#include <espalier/status.h>

/* After XML_Parse() failed by itself. */
esp_status espi_xml_err(XML_Parser parser, const char *where, struct esp_err *err);

#endif
