#include "copy/runner.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tuning.h"

enum { WINDOW_MAX = 16 }; /* limit: more are of no use to TCP */

/* ---- slices on disk ---- */

static uint32_t slice_at(const struct espi_runner *r, uint64_t at)
{
    return (uint32_t)(at / r->part.message.block_bytes);
}

/* Slices are as long as blocks; behind the end of a short one are zeros, as in all of one
 * that cannot be read: what was in memory before is nobody's business. */
static void load_slice(void *arg, int part, uint64_t at, void *to, size_t bytes)
{
    struct espi_runner *r = arg;
    size_t length;
    uint64_t from =
        espi_block_at(&r->part.message, r->part.block[slice_at(r, at)], &length);
    (void)part;
    if (length > bytes)
        length = bytes;
    if (r->err.status ||
        r->disk.move(r->disk.self, &r->part.message, 0, from, to, length, &r->err))
        length = 0;
    memset((char *)to + length, 0, bytes - length);
}

static void keep_slice(void *arg, int part, uint64_t at, const void *from, size_t bytes)
{
    struct espi_runner *r = arg;
    size_t length;
    uint32_t slice = slice_at(r, at);
    uint64_t to = espi_block_at(&r->part.message, r->part.block[slice], &length);
    (void)part;
    if (length > bytes || espi_set_has(r->landed, slice) || r->err.status)
        return;
    if (r->disk.move(r->disk.self, &r->part.message, 1, to, (char *)(uintptr_t)from,
                     length, &r->err))
        return;
    espi_set_add(r->landed, slice);
    r->n_landed++;
}

/* ---- setting up ---- */

/* Slices that are here from the start: all streams in say the same. */
static int find_landed(struct espi_runner *r, int mine)
{
    uint32_t n = r->part.n_slices;
    size_t bytes = espi_set_bytes(n);
    r->landed = ESPI_ARENA_ZNEW(&r->arena, unsigned char, bytes + 1);
    if (!r->landed)
        return -1;
    if (mine)
        memset(r->landed, 0xff, bytes);
    for (int s = 0; s < r->part.prog.n_streams - r->part.prog.n_trees; s++)
        if (!r->part.peer[s].is_out && r->part.peer[s].has)
            memcpy(r->landed, r->part.peer[s].has, bytes);
    r->n_landed = espi_set_count(r->landed, n);
    return 0;
}

/* As many messages on each stream as fit into memory. */
static int choose_window(const struct espi_copy_part *part)
{
    double streams = part->prog.n_streams - part->prog.n_trees + 1;
    double window = ESPI_COPY_ROOM_BYTES / (streams * part->message.block_bytes);
    return window < 1 ? 1 : window > WINDOW_MAX ? WINDOW_MAX : (int)window;
}

static int set_up(struct espi_runner *r, int encrypted,
                  const struct espi_listener *listener)
{
    const struct espi_program *prog = &r->part.prog;
    struct espi_run_options options = {.window = choose_window(&r->part),
                                       .load = load_slice,
                                       .keep = keep_slice,
                                       .arg = r};
    int *channel = ESPI_ARENA_NEW(&r->arena, int, prog->n_streams);
    r->tcp = espi_tcp_create(&r->part, encrypted, listener);
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
    *r = (struct espi_runner){.disk = *disk, .is_on = 1};
    espi_arena_init(&r->arena);
    r->bytes = espi_malloc(bytes + 1);
    if (!r->bytes) {
        espi_runner_done(r);
        return espi_err_nomem(err);
    }
    memcpy(r->bytes, part->at, bytes);
    struct espi_wire_in own = espi_wire_in(r->bytes, bytes);
    esp_status status = espi_part_read(&r->part, &own, &r->arena, err);
    if (!status && (find_landed(r, mine) || set_up(r, encrypted, listener)))
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
    r->landed = NULL;
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
    return r->err.status ? -1 : done;
}

/* ---- tags ---- */

esp_status espi_runner_tags(const struct espi_copy_disk *disk,
                            const struct espi_copy_message *m,
                            const unsigned char key[ESPI_SECRET_BYTES],
                            unsigned char *set, int drops, unsigned char *tags,
                            struct esp_err *err)
{
    struct espi_tagger *tagger = espi_tagger_create(key);
    char *block = espi_malloc(m->block_bytes);
    esp_status status = tagger && block ? ESP_OK : espi_err_nomem(err);
    for (uint32_t b = 0; !status && b < m->n_blocks; b++) {
        size_t bytes;
        if (!espi_set_has(set, b))
            continue;
        uint64_t at = espi_block_at(m, b, &bytes);
        status = disk->move(disk->self, m, 0, at, block, bytes, drops ? NULL : err);
        if (status && drops) {
            espi_set_drop(set, b);
            status = ESP_OK;
            continue;
        }
        if (!status && espi_tagger_tag(tagger, b, block, bytes, tags))
            status = espi_err(err, ESP_EINTERNAL, "OpenSSL makes no tags");
        tags += ESPI_TAG_BYTES;
    }
    espi_free(block);
    espi_tagger_free(tagger);
    return status;
}
