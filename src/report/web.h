/* What web/ was bundled into when the project was built (see web/CMakeLists.txt); empty
 * where npm was missing. */
#ifndef ESPI_REPORT_WEB_H
#define ESPI_REPORT_WEB_H

extern const char espi_web_page[], espi_web_page_end[]; /* of espalier show */
extern const char espi_web_live[], espi_web_live_end[]; /* of the advisor */
extern const char espi_web_copy[], espi_web_copy_end[]; /* of a copy */

#endif
