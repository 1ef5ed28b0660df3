#include "copy/runner.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tuning.h"

enum { WINDOW_MAX = 16 }; /* limit: more are of no use to TCP */

/* ---- setting up ---- */

/* As many messages on each stream as fit into memory; what is kept needs none. */
static int choose_window(const struct espi_copy_part *part)
{
    double in_memory = 0;
    for (int s = 0; s < part->prog.n_streams - part->prog.n_trees; s++)
        in_memory += !part->peer[s].is_out && !part->prog.streams[s].keeps;
    double window = ESPI_COPY_ROOM_BYTES / ((in_memory + 1) * part->message.block_bytes);
    return window < 1 ? 1 : window > WINDOW_MAX ? WINDOW_MAX : (int)window;
}

static int set_up(struct espi_runner *r, int encrypted,
                  const struct espi_listener *listener)
{
    const struct espi_program *prog = &r->part.prog;
    struct espi_run_options options = {.window = choose_window(&r->part)};
    int *channel = ESPI_ARENA_NEW(&r->arena, int, prog->n_streams);
    r->tcp = espi_tcp_create(&r->slices, encrypted, listener);
    if (!channel || !r->tcp)
        return -1;
    for (int s = 0; s < prog->n_streams; s++)
        channel[s] = s;
    return espi_run_init(&r->run, prog, r->part.rank, channel, espi_tcp_transport(r->tcp),
                         NULL, &options, &r->arena);
}

esp_status espi_runner_start(struct espi_runner *r, struct espi_wire_in *part, int mine,
                             int encrypted, const struct espi_listener *listener,
                             const struct espi_copy_disk *disk, struct esp_err *err)
{
    size_t bytes = (size_t)(part->end - part->at);
    *r = (struct espi_runner){.is_on = 1};
    espi_arena_init(&r->arena);
    r->bytes = espi_malloc(bytes + 1);
    if (!r->bytes) {
        espi_runner_done(r);
        return espi_err_nomem(err);
    }
    memcpy(r->bytes, part->at, bytes);
    struct espi_wire_in own = espi_wire_in(r->bytes, bytes);
    esp_status status = espi_part_read(&r->part, &own, &r->arena, err);
    if (!status && (espi_slices_init(&r->slices, &r->part, disk, mine, &r->arena) ||
                    set_up(r, encrypted, listener)))
        status = espi_err_nomem(err);
    if (status)
        espi_runner_done(r);
    return status;
}

void espi_runner_done(struct espi_runner *r)
{
    if (!r->is_on)
        return;
    espi_tcp_free(r->tcp);
    espi_arena_done(&r->arena);
    espi_free(r->bytes);
    r->tcp = NULL;
    r->bytes = NULL;
    r->is_on = 0;
}

/* ---- running ---- */

int espi_runner_go(struct espi_runner *r)
{
    return espi_tcp_start(r->tcp);
}

int espi_runner_step(struct espi_runner *r)
{
    uint64_t before = espi_tcp_moved(r->tcp);
    espi_tcp_turn(r->tcp, 0.5 * ESPI_COPY_REPORT_S);
    int done = espi_run_progress(&r->run, 0);
    r->is_busy = espi_tcp_moved(r->tcp) > before;
    return r->slices.err.status ? -1 : done;
}

/* ---- tags ---- */

struct tagging {
    const struct espi_copy_disk *disk;
    const struct espi_copy_message *m;
    struct espi_tagger *tagger;
    char *piece; /* of a block, that stays in the processor's cache */
};

/* 0: done; 1: it cannot be read; -1: OpenSSL fails. */
static int tag_block(const struct tagging *t, uint32_t block, unsigned char *tag,
                     struct esp_err *err)
{
    size_t bytes;
    uint64_t at = espi_block_at(t->m, block, &bytes);
    if (espi_tagger_begin(t->tagger, block))
        return -1;
    for (size_t done = 0, now; done < bytes; done += now) {
        now = bytes - done < ESPI_COPY_WORK_BYTES ? bytes - done : ESPI_COPY_WORK_BYTES;
        if (t->disk->move(t->disk->self, t->m, 0, at + done, t->piece, now, err))
            return 1;
        if (espi_tagger_add(t->tagger, t->piece, now))
            return -1;
    }
    return espi_tagger_end(t->tagger, tag);
}

esp_status espi_runner_tags(const struct espi_copy_disk *disk,
                            const struct espi_copy_message *m,
                            const unsigned char key[ESPI_SECRET_BYTES],
                            unsigned char *set, int drops, unsigned char *tags,
                            struct esp_err *err)
{
    struct tagging t = {disk, m, espi_tagger_create(key),
                        espi_malloc(ESPI_COPY_WORK_BYTES)};
    esp_status status = t.tagger && t.piece ? ESP_OK : espi_err_nomem(err);
    for (uint32_t b = 0; !status && b < m->n_blocks; b++) {
        struct esp_err why = {0};
        if (!espi_set_has(set, b))
            continue;
        int failed = tag_block(&t, b, tags, &why);
        if (failed < 0)
            status = espi_err(err, ESP_EINTERNAL, "OpenSSL makes no tags");
        else if (failed && drops)
            espi_set_drop(set, b);
        else if (failed)
            status = espi_err(err, why.status, "%s", why.text);
        else
            tags += ESPI_TAG_BYTES;
    }
    espi_free(t.piece);
    espi_tagger_free(t.tagger);
    return status;
}
