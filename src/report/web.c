/* The bundles are taken in by the assembler: turning them into C would cost the compiler
 * seconds. One byte follows each, so that an empty bundle has an address too. */
#include "report/web.h"

#define BUNDLE(name, file)                                                               \
    __asm__(".section .rodata\n"                                                         \
            ".global " #name ", " #name "_end\n"                                         \
            ".hidden " #name ", " #name "_end\n" #name ": .incbin \"" file "\"\n" #name  \
            "_end: .byte 0\n"                                                            \
            ".previous\n")

BUNDLE(espi_web_page, ESPALIER_WEB "/page.html");
BUNDLE(espi_web_live, ESPALIER_WEB "/live.html");
BUNDLE(espi_web_copy, ESPALIER_WEB "/copy.html");
