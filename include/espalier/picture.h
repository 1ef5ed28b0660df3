/* Pictures (SVG) of a network and of a plan over it. */
#ifndef ESPALIER_PICTURE_H
#define ESPALIER_PICTURE_H

#include <espalier/plan.h>
#include <espalier/platform.h>
#include <espalier/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Draws the network, and the plan over it where there is one (NULL: none), into a file,
 * which appears only when it is whole. title: NULL: the platform's name. */
ESP_API esp_status esp_picture_write(const struct esp_platform *p,
                                     const struct esp_plan *plan, const char *title,
                                     const char *path, struct esp_err *err);

#ifdef __cplusplus
}
#endif
#endif
