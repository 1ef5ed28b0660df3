#include "runtime/given_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

#define MARK "env:"

void espi_plan_piece_name(int piece, char out[ESPI_PLAN_NAME_MAX])
{
    snprintf(out, ESPI_PLAN_NAME_MAX, "ESPALIER_PLAN_%d", piece);
}

size_t espi_plan_squeeze(char *text, size_t length)
{
    size_t n = 0;
    int inside = 0;
    for (size_t i = 0; i < length; i++) {
        if (inside && text[i] == '\\' && i + 1 < length)
            text[n++] = text[i++];
        else if (text[i] == '"')
            inside = !inside;
        else if (!inside && strchr(" \t\r\n", text[i]) && text[i])
            continue;
        text[n++] = text[i];
    }
    text[n] = '\0';
    return n;
}

int espi_plan_pieces(size_t length, char value[ESPI_PLAN_NAME_MAX])
{
    const size_t most = (size_t)ESPI_PLAN_PIECE_BYTES * ESPI_PLAN_PIECES;
    if (length == 0 || length > most)
        return 0;
    size_t pieces = (length + ESPI_PLAN_PIECE_BYTES - 1) / ESPI_PLAN_PIECE_BYTES;
    snprintf(value, ESPI_PLAN_NAME_MAX, MARK "%d:%zu", (int)pieces, length);
    return (int)pieces;
}

/* "env:2:100000"; 0: it is not so. */
static int parse_pieces(const char *plan, size_t *length)
{
    char expected[ESPI_PLAN_NAME_MAX], *end;
    const char *colon = strchr(plan + strlen(MARK), ':');
    if (!colon)
        return 0;
    unsigned long bytes = strtoul(colon + 1, &end, 10);
    int pieces = espi_plan_pieces((size_t)bytes, expected);
    *length = (size_t)bytes;
    return pieces && strcmp(plan, expected) == 0 ? pieces : 0;
}

static esp_status lost(const char *name, struct esp_err *err)
{
    return espi_err(
        err, ESP_EINPUT,
        "the plan did not get here in the environment (%s is not whole): give "
        "'espalier run' a folder that all hosts see (--shared)",
        name);
}

static esp_status take_pieces(struct espi_input *in, int pieces, size_t length,
                              char *(*get)(const char *name), struct esp_err *err)
{
    size_t at = 0;
    for (int i = 1; i <= pieces; i++) {
        char name[ESPI_PLAN_NAME_MAX];
        espi_plan_piece_name(i, name);
        const char *piece = get(name);
        size_t due =
            length - at < ESPI_PLAN_PIECE_BYTES ? length - at : ESPI_PLAN_PIECE_BYTES;
        if (!piece || strlen(piece) != due)
            return lost(name, err);
        memcpy(in->text + at, piece, due);
        at += due;
    }
    in->text[at] = '\0';
    in->length = at;
    return ESP_OK;
}

esp_status espi_given_plan_read(struct espi_input *in, const char *plan,
                                char *(*get)(const char *name), struct esp_err *err)
{
    size_t length;
    char quoted[80];
    if (strncmp(plan, MARK, strlen(MARK)) != 0)
        return espi_input_read(in, plan, err);
    int pieces = parse_pieces(plan, &length);
    if (!pieces)
        return espi_err(err, ESP_EUSAGE, "ESPALIER_PLAN: '%s' is no file and no plan",
                        espi_quote(quoted, sizeof quoted, plan));
    *in = (struct espi_input){.where = "the plan of espalier run"};
    in->text = espi_malloc(length + 1);
    if (!in->text)
        return espi_err_nomem(err);
    esp_status st = take_pieces(in, pieces, length, get, err);
    if (st)
        espi_input_done(in);
    return st;
}
