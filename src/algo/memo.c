#include "algo/memo.h"

#include "base/alloc.h"

void espi_algo_memo_done(struct espi_algo_memo *memo)
{
    for (int i = 0; i < ESPI_MEMO_VIEWS; i++)
        espi_arena_done(&memo->views[i].arena);
    espi_arena_done(&memo->packed.arena);
    espi_arena_done(&memo->few.arena);
    espi_free(memo->shares.share);
    *memo = (struct espi_algo_memo){0};
}

esp_status espi_memo_view(struct espi_algo_memo *memo, const struct esp_platform *p,
                          double slice_bytes, const struct espi_view **out,
                          struct esp_err *err)
{
    for (int i = 0; i < ESPI_MEMO_VIEWS; i++)
        if (memo->views[i].view.p == p &&
            memo->views[i].view.slice_bytes == slice_bytes) {
            memo->oldest = ESPI_MEMO_VIEWS - 1 - i;
            *out = &memo->views[i].view;
            return ESP_OK;
        }
    struct espi_memo_view *slot = &memo->views[memo->oldest];
    espi_arena_done(&slot->arena);
    slot->view.p = NULL;
    struct espi_view view;
    esp_status st = espi_view_init(&view, p, slice_bytes, &slot->arena, err);
    if (st)
        return st;
    slot->view = view;
    memo->oldest = ESPI_MEMO_VIEWS - 1 - memo->oldest;
    *out = &slot->view;
    return ESP_OK;
}
