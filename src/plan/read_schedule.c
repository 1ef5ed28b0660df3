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
    size_t n_counts, counts_cap, sends_cap;
    int has_sends, has_slice, has_slots;
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

/* [tree, edge], and as many as differ from 0 of slice, lag and part. */
static void read_send(struct reader *r)
{
    struct esp_send x = {0};
    int *const member[] = {&x.tree, &x.edge, &x.slice, &x.lag, &x.part};
    int n = 0;
    espi_json_open_array(r->json);
    for (; espi_json_item(r->json); n++) {
        if (n < 5)
            read_whole(r, member[n]);
        else
            espi_json_fail(r->json, "a send has at most five numbers");
    }
    if (r->json->status)
        return;
    if (n < 2) {
        espi_json_fail(r->json, "a send names a tree and an edge");
        return;
    }
    size_t at = (size_t)r->s->n_sends;
    if (at == ESPI_MAX_SENDS) {
        espi_json_fail(r->json, "the schedule has too many sends");
        return;
    }
    if (espi_grow((void **)&r->s->sends, &r->sends_cap, at + 1, sizeof *r->s->sends)) {
        fail_nomem(r);
        return;
    }
    r->s->sends[r->s->n_sends++] = x;
}

static void read_sends(struct reader *r)
{
    if (r->has_sends++) {
        espi_json_fail(r->json, "\"sends\" is there twice");
        return;
    }
    espi_json_open_array(r->json);
    while (espi_json_item(r->json))
        read_send(r);
}

static esp_status read_members(struct reader *r)
{
    struct espi_json_text key;
    espi_json_open_object(r->json);
    while (espi_json_key(r->json, &key)) {
        if (espi_json_is(&key, "slice_bytes"))
            r->has_slice = !espi_json_number(r->json, &r->s->slice_bytes);
        else if (espi_json_is(&key, "slots"))
            r->has_slots = !read_whole(r, &r->s->slots);
        else if (espi_json_is(&key, "tree_slices"))
            read_counts(r);
        else if (espi_json_is(&key, "sends"))
            read_sends(r);
        else
            espi_json_skip(r->json);
    }
    if (r->json->status)
        return r->json->status;
    if (!r->has_slice || !r->has_slots || !r->n_counts || !r->has_sends)
        return espi_json_fail(r->json, "the schedule has no \"%s\"",
                              !r->has_slice   ? "slice_bytes"
                              : !r->has_slots ? "slots"
                              : !r->n_counts  ? "tree_slices"
                                              : "sends");
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
