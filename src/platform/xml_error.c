#include "platform/xml_error.h"

#include "base/err.h"

/* Most files that are wrong are cut short, which expat has other words for. */
static const char *sentence_of(enum XML_Error code)
{
    if (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN)
        return "the text ends here, before all its elements are closed";
    return XML_ErrorString(code);
}

esp_status espi_xml_err(XML_Parser parser, const char *where, struct esp_err *err)
{
    enum XML_Error code = XML_GetErrorCode(parser);
    unsigned long line = (unsigned long)XML_GetCurrentLineNumber(parser);
    unsigned long column = (unsigned long)XML_GetCurrentColumnNumber(parser) + 1;
    if (code == XML_ERROR_NO_MEMORY)
        return espi_err_nomem(err);
    return espi_err(err, ESP_EINPUT, "%s:%lu:%lu: %s", where, line, column,
                    sentence_of(code));
}
