/* Reads the schedule of a plan. The checker has the last word on what it says; here only
 * its form is looked at. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/schedule.h"

struct reader {
    struct espi_json *json;
    struct esp_schedule *s;
    size_t n_counts, counts_cap, slots_cap, transfers_cap;
    int has_slots, has_slice, has_period, has_count;
};

static esp_status fail_nomem(struct reader *r)
{
    r->json->status = ESP_ENOMEM;
    return espi_err_nomem(r->json->err);
}

/* A whole number from 0 to 2^30. */
static esp_status read_whole(struct reader *r, int *out)
{
    double x;
    if (espi_json_number(r->json, &x))
        return r->json->status;
    if (!(x >= 0 && x <= 1 << 30) || x != floor(x))
        return espi_json_fail(r->json,
                              "a whole number that is not negative was expected");
    *out = (int)x;
    return ESP_OK;
}

static void read_counts(struct reader *r)
{
    if (r->n_counts) {
        espi_json_fail(r->json, "\"tree_slices\" is there twice");
        return;
    }
    espi_json_open_array(r->json);
    while (espi_json_item(r->json)) {
        if (espi_grow((void **)&r->s->tree_slices, &r->counts_cap, r->n_counts + 1,
                      sizeof(int)) ||
            r->n_counts == 1 << 30) {
            fail_nomem(r);
            return;
        }
        read_whole(r, &r->s->tree_slices[r->n_counts++]);
    }
}

/* [tree, edge], [tree, edge, duration] or [tree, edge, duration, part]; no duration: that
 * of the slot, which may not be known yet. */
static void read_transfer(struct reader *r)
{
    struct esp_transfer t = {.duration_s = NAN};
    int n = 0;
    espi_json_open_array(r->json);
    for (; espi_json_item(r->json); n++) {
        if (n == 0)
            read_whole(r, &t.tree);
        else if (n == 1)
            read_whole(r, &t.edge);
        else if (n == 2)
            espi_json_number(r->json, &t.duration_s);
        else if (n == 3)
            read_whole(r, &t.part);
        else
            espi_json_fail(r->json, "a transfer has at most four numbers");
    }
    if (r->json->status)
        return;
    if (n < 2) {
        espi_json_fail(r->json, "a transfer names a tree and an edge");
        return;
    }
    size_t at = (size_t)r->s->n_transfers;
    if (at == 1 << 30 || espi_grow((void **)&r->s->transfers, &r->transfers_cap, at + 1,
                                   sizeof *r->s->transfers)) {
        fail_nomem(r);
        return;
    }
    r->s->transfers[r->s->n_transfers++] = t;
}

static void read_slot(struct reader *r)
{
    struct espi_json_text key;
    struct esp_slot slot = {.duration_s = -1, .first_transfer = r->s->n_transfers};
    espi_json_open_object(r->json);
    while (espi_json_key(r->json, &key)) {
        if (espi_json_is(&key, "duration_s")) {
            espi_json_number(r->json, &slot.duration_s);
        } else if (espi_json_is(&key, "transfers")) {
            espi_json_open_array(r->json);
            while (espi_json_item(r->json))
                read_transfer(r);
        } else {
            espi_json_skip(r->json);
        }
    }
    if (r->json->status)
        return;
    slot.n_transfers = r->s->n_transfers - slot.first_transfer;
    for (int i = slot.first_transfer; i < r->s->n_transfers; i++)
        if (isnan(r->s->transfers[i].duration_s))
            r->s->transfers[i].duration_s = slot.duration_s;
    size_t at = (size_t)r->s->n_slots;
    if (at == 1 << 30 ||
        espi_grow((void **)&r->s->slots, &r->slots_cap, at + 1, sizeof *r->s->slots)) {
        fail_nomem(r);
        return;
    }
    r->s->slots[r->s->n_slots++] = slot;
}

static void read_slots(struct reader *r)
{
    if (r->has_slots++) {
        espi_json_fail(r->json, "\"slots\" is there twice");
        return;
    }
    espi_json_open_array(r->json);
    while (espi_json_item(r->json))
        read_slot(r);
}

static esp_status read_members(struct reader *r)
{
    struct espi_json_text key;
    espi_json_open_object(r->json);
    while (espi_json_key(r->json, &key)) {
        if (espi_json_is(&key, "period_s"))
            r->has_period = !espi_json_number(r->json, &r->s->period_s);
        else if (espi_json_is(&key, "slice_bytes"))
            r->has_slice = !espi_json_number(r->json, &r->s->slice_bytes);
        else if (espi_json_is(&key, "slices_per_period"))
            r->has_count = !read_whole(r, &r->s->slices_per_period);
        else if (espi_json_is(&key, "tree_slices"))
            read_counts(r);
        else if (espi_json_is(&key, "slots"))
            read_slots(r);
        else
            espi_json_skip(r->json);
    }
    if (r->json->status)
        return r->json->status;
    if (!r->has_period || !r->has_slice || !r->has_count || !r->n_counts || !r->has_slots)
        return espi_json_fail(r->json, "the schedule has no \"%s\"",
                              !r->has_period  ? "period_s"
                              : !r->has_slice ? "slice_bytes"
                              : !r->has_count ? "slices_per_period"
                              : !r->n_counts  ? "tree_slices"
                                              : "slots");
    return ESP_OK;
}

esp_status espi_schedule_read(struct espi_json *json, struct esp_schedule **out,
                              int *n_trees)
{
    struct reader r = {.json = json, .s = espi_calloc(1, sizeof *r.s)};
    if (!r.s)
        return fail_nomem(&r);
    esp_status st = read_members(&r);
    if (st) {
        espi_schedule_free(r.s);
        return st;
    }
    *out = r.s;
    *n_trees = (int)r.n_counts;
    return ESP_OK;
}
