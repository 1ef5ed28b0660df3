/* The bundle is taken in by the assembler: turning it into C would cost the compiler
 * seconds. One byte follows, so that an empty bundle has an address too. */
#include "report/web.h"

__asm__(".section .rodata\n"
        ".global espi_web_page, espi_web_page_end\n"
        ".hidden espi_web_page, espi_web_page_end\n"
        "espi_web_page: .incbin \"" ESPALIER_WEB_PAGE "\"\n"
        "espi_web_page_end: .byte 0\n"
        ".previous\n");
