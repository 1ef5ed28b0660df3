/* A page whose texts are written by somebody else now and then, and read by the server's
 * thread: the state of what is shown, and the network, which stays as it is. */
#ifndef ESPI_LIVE_BOARD_H
#define ESPI_LIVE_BOARD_H

#include <espalier/platform.h>

#include "live/live_source.h"

struct espi_board;

esp_status espi_board_create(struct espi_board **out, struct esp_err *err);
void espi_board_free(struct espi_board *b);

/* Under /api/network: the platform and its drawing, once. */
esp_status espi_board_draw(struct espi_board *b, const struct esp_platform *p,
                           struct esp_err *err);
/* Under /api/state: a text of the C library, which is taken over; NULL is passed over. */
void espi_board_put(struct espi_board *b, char *json);
/* Where somebody has looked at the state lately, waits for a while until it is looked at
 * again: what was put there last is seen. */
void espi_board_wait(struct espi_board *b);
/* The page of a copy, with what stands on the board. */
struct espi_live_source espi_board_of_copy(struct espi_board *b);

#endif
