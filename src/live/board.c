#include "live/board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "live/drawing.h"
#include "report/page.h"

enum { NAP_US = 20000 };           /* limit: of waiting */
static const double watched_s = 2; /* looks: pages ask every second */

enum board_text { BOARD_STATE, BOARD_NETWORK, BOARD_TEXTS };

static const char *const paths[BOARD_TEXTS] = {"/api/state", "/api/network"};

struct espi_board {
    pthread_mutex_t lock;
    /* under the lock */
    char *text[BOARD_TEXTS]; /* of the C library */
    double asked_s;          /* when the state was asked for last; 0: never */
};

esp_status espi_board_create(struct espi_board **out, struct esp_err *err)
{
    struct espi_board *b = espi_calloc(1, sizeof *b);

    if (!b)
        return espi_err_nomem(err);
    pthread_mutex_init(&b->lock, NULL);
    *out = b;
    return ESP_OK;
}

void espi_board_free(struct espi_board *b)
{
    if (!b)
        return;
    for (int i = 0; i < BOARD_TEXTS; i++)
        free(b->text[i]);
    pthread_mutex_destroy(&b->lock);
    espi_free(b);
}

static void pin_text(struct espi_board *b, enum board_text which, char *text)
{
    pthread_mutex_lock(&b->lock);
    char *old = b->text[which];
    b->text[which] = text;
    pthread_mutex_unlock(&b->lock);
    free(old);
}

void espi_board_put(struct espi_board *b, char *json)
{
    if (json)
        pin_text(b, BOARD_STATE, json);
}

esp_status espi_board_draw(struct espi_board *b, const struct esp_platform *p,
                           struct esp_err *err)
{
    char *text = NULL;
    size_t length;
    struct espi_network net;
    struct espi_arena arena;

    espi_arena_init(&arena);
    int failed = espi_network_init(&net, p, -1, NULL, &arena) ||
                 espi_live_write_drawing(&net, &text, &length);
    espi_arena_done(&arena);
    if (failed) {
        free(text);
        return espi_err_nomem(err);
    }
    pin_text(b, BOARD_NETWORK, text);
    return ESP_OK;
}

/* What is read is copied under the lock, and sent without it. */
static esp_status answer_board(void *self, const char *path, uint64_t number, FILE *out,
                               struct esp_err *err)
{
    struct espi_board *b = self;
    int which = 0;

    (void)number;
    while (which < BOARD_TEXTS && strcmp(paths[which], path) != 0)
        which++;
    if (which == BOARD_TEXTS)
        return espi_err(err, ESP_EINPUT, "there is no such page");
    pthread_mutex_lock(&b->lock);
    int is_there = b->text[which] != NULL;
    char *text = is_there ? espi_strdup(b->text[which]) : NULL;
    if (which == BOARD_STATE)
        b->asked_s = espi_now_s();
    pthread_mutex_unlock(&b->lock);
    if (!is_there)
        return espi_err(err, ESP_EINPUT, "nothing is known of that yet");
    if (!text)
        return espi_err_nomem(err);
    fputs(text, out);
    espi_free(text);
    return ESP_OK;
}

static double last_asked_s(struct espi_board *b)
{
    pthread_mutex_lock(&b->lock);
    double asked_s = b->asked_s;
    pthread_mutex_unlock(&b->lock);
    return asked_s;
}

void espi_board_wait(struct espi_board *b)
{
    double begun_s = espi_now_s(), asked_s = last_asked_s(b);

    while (asked_s > 0 && begun_s - asked_s < watched_s && last_asked_s(b) <= begun_s &&
           espi_now_s() - begun_s < watched_s)
        usleep(NAP_US);
}

struct espi_live_source espi_board_of_copy(struct espi_board *b)
{
    return (struct espi_live_source){b, "espalier cp", espi_page_write_copy,
                                     answer_board};
}
