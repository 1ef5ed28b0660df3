/* Status codes and error text. Every fallible call returns an esp_status and takes,
 * last, a nullable struct esp_err that is filled once, by whoever decides. */
#ifndef ESPALIER_STATUS_H
#define ESPALIER_STATUS_H

#include <stddef.h>

/* How this library stays compatible. Types that are only named here (struct
 * esp_platform) are the library's own, and looked at by functions. A struct of options
 * begins with its size, which the inline function sets that fills in its defaults; call
 * that first. It may get more members at its end: a program that was compiled with an
 * older header then gets their defaults. Structs that the library makes (struct
 * esp_bound) may get more members at their end, too, so that they must not be copied;
 * where they hold lists of such structs, these are of pointers. Other structs stay as
 * they are. */

#ifdef __cplusplus
extern "C" {
#endif

#define ESP_API __attribute__((visibility("default")))

typedef enum esp_status {
    ESP_OK = 0,
    ESP_ENOMEM,       /* out of memory */
    ESP_EUSAGE,       /* the caller asked for something that makes no sense */
    ESP_EINPUT,       /* a file or a value from outside is wrong */
    ESP_EIO,          /* reading or writing failed */
    ESP_EUNSUPPORTED, /* not built in, or not defined for this model */
    ESP_EINTERNAL,    /* a check of our own failed: please report */
    ESP_STATUS_COUNT
} esp_status;

#define ESP_ERR_TEXT_MAX 512

struct esp_err {
    esp_status status;
    char text[ESP_ERR_TEXT_MAX]; /* one sentence a user can act on */
};

/* A fixed word for a status ("out of memory"); never NULL. */
ESP_API const char *esp_status_text(esp_status status);

/* The library's version, "MAJOR.MINOR.PATCH". */
ESP_API const char *esp_version(void);

#ifdef __cplusplus
}
#endif
#endif
