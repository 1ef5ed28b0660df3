/* Every host proves what it has: the job says a key that nobody knew while the blocks
 * were under way, and each host answers with the digest of its blocks' tags. Where that
 * is not the digest of ours, its list of tags says which blocks are wrong. */
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/job.h"

struct checking {
    struct espi_copy_job *job;
    unsigned char key[ESPI_SECRET_BYTES];
    unsigned char *set;  /* blocks of ours that somebody is to prove */
    unsigned char *tags; /* of these, one behind the other */
    struct espi_wire_out picked;
};

static int has_fresh(const struct espi_copy_job *job, const struct espi_copy_host *h)
{
    return espi_copy_is_alive(h) && !h->is_relay &&
           espi_set_count(h->fresh, job->message.n_blocks) > 0;
}

static void ask_for_digests(struct checking *c)
{
    struct espi_copy_job *job = c->job;
    size_t bytes = espi_set_bytes(job->message.n_blocks);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        struct espi_wire_out w = {0};
        if (!has_fresh(job, h))
            continue;
        espi_message_put(&w, &job->message);
        espi_put_raw(&w, c->key, sizeof c->key);
        espi_put_block(&w, h->fresh, bytes);
        for (size_t k = 0; k < bytes; k++)
            c->set[k] |= h->fresh[k];
        espi_copy_tell(job, h, ESPI_TO_CHECK, &w, ESPI_FROM_CHECKED);
    }
}

static esp_status load_and_show_life(void *self, const struct espi_copy_message *m,
                                     int keeps, uint64_t at, void *data, size_t bytes,
                                     struct esp_err *err)
{
    struct espi_copy_job *job = self;
    espi_copy_show_life(job);
    return job->disk.move(job->disk.self, m, keeps, at, data, bytes, err);
}

/* Done while the hosts make theirs. */
static esp_status make_own_tags(struct checking *c, struct esp_err *err)
{
    const struct espi_copy_disk disk = {c->job, load_and_show_life, NULL};
    return espi_runner_tags(&disk, &c->job->message, c->key, c->set, 0, c->tags, err);
}

/* Our tags of the blocks that the host says it has, one behind the other. */
static const unsigned char *pick_tags(struct checking *c, const struct espi_copy_host *h,
                                      size_t *bytes)
{
    const unsigned char *own = c->tags;
    c->picked.used = 0;
    for (uint32_t b = 0; b < c->job->message.n_blocks; b++) {
        if (espi_set_has(h->fresh, b))
            espi_put_raw(&c->picked, own, ESPI_TAG_BYTES);
        if (espi_set_has(c->set, b))
            own += ESPI_TAG_BYTES;
    }
    *bytes = c->picked.used;
    return c->picked.at;
}

static int is_digest_right(struct checking *c, const struct espi_copy_host *h)
{
    unsigned char digest[ESPI_DIGEST_BYTES];
    size_t bytes;
    const unsigned char *tags = pick_tags(c, h, &bytes);
    return !c->picked.failed && espi_secure_digest(tags, bytes, digest) == 0 &&
           memcmp(digest, h->digest, sizeof digest) == 0;
}

/* fresh becomes what is wrong, and has gets the rest. */
static void take_right_ones(struct checking *c, struct espi_copy_host *h)
{
    size_t bytes, at = 0;
    const unsigned char *own = pick_tags(c, h, &bytes);
    for (uint32_t b = 0; !c->picked.failed && b < c->job->message.n_blocks; b++) {
        if (!espi_set_has(h->fresh, b))
            continue;
        if (h->tags && at + ESPI_TAG_BYTES <= h->tags_bytes &&
            memcmp(h->tags + at, own + at, ESPI_TAG_BYTES) == 0) {
            espi_set_add(h->has, b);
            espi_set_drop(h->fresh, b);
        }
        at += ESPI_TAG_BYTES;
    }
}

static esp_status compare_all(struct checking *c, double limit_s, struct esp_err *err)
{
    struct espi_copy_job *job = c->job;
    size_t bytes = espi_set_bytes(job->message.n_blocks);
    for (int i = 0; i < job->n_hosts; i++) {
        struct espi_copy_host *h = &job->host[i];
        if (!has_fresh(job, h))
            continue;
        if (!is_digest_right(c, h)) {
            espi_copy_tell(job, h, ESPI_TO_TAGS, NULL, ESPI_FROM_TAG_LIST);
            continue;
        }
        for (size_t k = 0; k < bytes; k++)
            h->has[k] |= h->fresh[k];
        memset(h->fresh, 0, bytes);
    }
    esp_status status = espi_copy_await(job, limit_s, err);
    for (int i = 0; !status && i < job->n_hosts; i++)
        if (has_fresh(job, &job->host[i]))
            take_right_ones(c, &job->host[i]);
    return status;
}

esp_status espi_copy_check(struct espi_copy_job *job, struct esp_err *err)
{
    uint32_t n = job->message.n_blocks;
    size_t bytes = espi_set_bytes(n);
    struct checking c = {.job = job,
                         .set = espi_calloc(1, bytes),
                         .tags = espi_malloc((size_t)n * ESPI_TAG_BYTES)};
    double limit_s = espi_copy_disk_s(job, job->message.size);
    esp_status status = c.set && c.tags ? ESP_OK : espi_err_nomem(err);
    if (!status && espi_secure_random(c.key, sizeof c.key))
        status = espi_err(err, ESP_EIO, "the system has no random numbers");
    const char *phase = job->phase;
    job->phase = "hosts prove what they have";
    if (!status) {
        ask_for_digests(&c);
        status = make_own_tags(&c, err);
    }
    if (!status)
        status = espi_copy_await(job, limit_s, err);
    if (!status)
        status = compare_all(&c, limit_s, err);
    if (!status && job->prog.n_ranks > 0)
        espi_copy_blame_wrong(job);
    for (int i = 0; !status && i < job->n_hosts; i++)
        memset(job->host[i].fresh, 0, bytes);
    job->phase = phase;
    espi_free(c.set);
    espi_free(c.tags);
    espi_wire_done(&c.picked);
    return status;
}
