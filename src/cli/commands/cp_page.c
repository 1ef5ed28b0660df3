/* The page of a copy: how far each host is. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/commands/cp.h"
#include "cli/options/live.h"
#include "cli/printing/output.h"

enum { LINKS_MAX = 20000 }; /* looks: a drawing of more shows nothing, and takes long */

static const double every_s = 0.5; /* looks: the page asks every second */

static const char *phase_of(const struct espi_copy_host *h)
{
    static const char *const words[] = {[ESPI_COPY_STARTING] = "starting",
                                        [ESPI_COPY_UP] = "copying",
                                        [ESPI_COPY_HAS_IT] = "has it",
                                        [ESPI_COPY_OUT] = "failed"};

    return h->is_relay && h->state == ESPI_COPY_HAS_IT ? "passed on" : words[h->state];
}

static json_t *list_states(const struct cli_copy *c)
{
    json_t *hosts = json_array();

    for (int i = 0; i < c->job.n_hosts; i++) {
        const struct espi_copy_host *h = &c->job.host[i];
        json_t *host = json_object();
        json_object_set_new(host, "name", json_string(h->name));
        json_object_set_new(host, "state", json_string(phase_of(h)));
        json_object_set_new(host, "relay", json_boolean(h->is_relay));
        cli_json_real(host, "bytes", h->has_bytes);
        json_object_set_new(host, "why", json_string(h->why));
        json_array_append_new(hosts, host);
    }
    return hosts;
}

static void put_state(struct cli_copy *c, const struct espi_copy_progress *now)
{
    json_t *json = json_object();
    json_object_set_new(json, "format", json_string("espalier-copy/1"));
    json_object_set_new(json, "phase", json_string(now->phase));
    cli_json_real(json, "elapsed_s", now->elapsed_s);
    cli_json_real(json, "bytes", c->is_stream ? NAN : (double)c->source.m.data_bytes);
    cli_json_real(json, "done_bytes", now->done_bytes);
    cli_json_real(json, "total_bytes", now->total_bytes > 0 ? now->total_bytes : NAN);
    cli_json_real(json, "planned_s",
                  cli_text(c->args, "platform") && c->job.planned_s > 0 ? c->job.planned_s
                                                                        : NAN);
    double bound_s = cli_copy_bound_s(c);
    cli_json_real(json, "bound_s", bound_s > 0 ? bound_s : NAN);
    json_object_set_new(json, "drawn", json_boolean(c->page.is_drawn));
    json_object_set_new(json, "hosts", list_states(c));
    espi_board_put(c->page.board, json_dumps(json, JSON_COMPACT));
    json_decref(json);
}

static esp_status open_board(struct cli_copy *c, const struct espi_address *address,
                             struct esp_err *err)
{
    struct cli_copy_page *page = &c->page;
    struct espi_token token;
    esp_status status = espi_server_exists(err);

    if (!status)
        status = cli_live_token(c->args, &token, err);
    if (!status)
        status = espi_board_create(&page->board, err);
    page->is_drawn =
        cli_text(c->args, "platform") && esp_platform_link_count(c->p) <= LINKS_MAX;
    if (!status && page->is_drawn)
        status = espi_board_draw(page->board, c->p, err);
    if (!status) { /* whoever asks before anything has begun gets that */
        put_state(c, &(struct espi_copy_progress){.phase = "agents are started"});
        struct espi_live_source source = espi_board_of_copy(page->board);
        status = espi_server_start(address, &token, &source, &page->server, err);
    }
    return status;
}

int cli_copy_page_open(struct cli_copy *c)
{
    struct espi_address address;
    struct esp_err err = {.status = ESP_OK, .text = ""};
    bool wanted = false;
    int code = cli_live_address(c->args, &address, &wanted);

    if (code != CLI_OK || !wanted)
        return code;
    esp_status status = open_board(c, &address, &err);
    if (status) {
        cli_copy_page_close(c);
        return cli_fail(status, &err);
    }
    fprintf(stderr, "espalier: the copy's page is %s\n", espi_server_url(c->page.server));
    return CLI_OK;
}

void cli_copy_page_show(struct cli_copy *c, const struct espi_copy_progress *now)
{
    if (!c->page.board || (espi_now_s() - c->page.shown_s < every_s && !now->is_over))
        return;
    c->page.shown_s = espi_now_s();
    espi_server_tend(c->page.server, c->page.shown_s);
    put_state(c, now);
    if (now->is_over)
        espi_board_wait(c->page.board);
}

void cli_copy_page_close(struct cli_copy *c)
{
    espi_server_stop(c->page.server);
    espi_board_free(c->page.board);
    c->page = (struct cli_copy_page){0};
}
