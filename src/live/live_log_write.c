/* The ledger as JSON: a copy is taken under the lock, and written without it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "live/live_log_impl.h"
#include "report/markup.h"
#include "report/page.h"

static void put_key(FILE *out, const char *name)
{
    fprintf(out, ",\"%s\":", name);
}

static void put_number(FILE *out, const char *name, double value)
{
    put_key(out, name);
    espi_markup_json_number(out, value);
}

/* What is not known is null. */
static void put_known(FILE *out, const char *name, double value)
{
    put_number(out, name, value > 0 ? value : NAN);
}

static void put_count(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void put_string(FILE *out, const char *name, const char *text)
{
    put_key(out, name);
    espi_markup_json_string(out, text);
}

static double ago(double now_s, double then_s)
{
    return fmax(now_s - then_s, 0);
}

/* ---- parts of the state ---- */

static void put_outlook(const struct espi_outlook *o, double now_s, FILE *out)
{
    fprintf(out, ",\"outlook\":{\"busy\":%s,\"root\":%d,\"calls\":%ld,\"slow\":%d",
            o->busy ? "true" : "false", o->root, o->calls, o->slow);
    put_known(out, "size_bytes", o->size_bytes);
    put_known(out, "gap_s", o->gap_s);
    put_number(out, "last_ago_s", o->calls ? ago(now_s, o->last_s) : NAN);
    putc('}', out);
}

static void put_probes(const struct espi_live_state *s, FILE *out)
{
    const struct espi_probe_tally *t = &s->probes;

    put_key(out, "probes");
    if (!s->has_probes) {
        fputs("null", out);
        return;
    }
    fprintf(out,
            "{\"hosts\":%d,\"sent\":%ld,\"answered\":%ld,\"refused\":%ld,\"lost\":%ld,"
            "\"changed\":%ld,\"doubted\":%ld",
            t->hosts, t->sent, t->heard, t->refused, t->lost, t->changed, t->doubted);
    put_number(out, "bytes", t->bytes);
    putc('}', out);
}

static void put_plans(const struct espi_live_state *s, double now_s, FILE *out)
{
    int n = 0;

    fputs(",\"plans\":[", out);
    for (int i = 0; i < ESPI_LIVE_PLANS; i++) {
        const struct espi_live_plan *m = &s->plan[i];
        if (!m->id || (m->superseded && m->id != s->in_force))
            continue;
        fprintf(out, "%s{\"id\":%llu,\"root\":%d,\"superseded\":%s,\"trees\":%d",
                n++ ? ",\n" : "", (unsigned long long)m->id, m->root,
                m->superseded ? "true" : "false", m->n_trees);
        put_string(out, "algo", m->algo);
        put_number(out, "up_to_bytes", ldexp(1, m->size_class));
        put_number(out, "size_bytes", m->size_bytes);
        put_known(out, "slice_bytes", m->slice_bytes);
        put_known(out, "makespan_s", m->makespan_s);
        put_number(out, "age_s", ago(now_s, m->published_s));
        put_count(out, "changes", (uint64_t)m->changes);
        put_count(out, "calls", (uint64_t)m->calls);
        put_string(out, "why", m->why);
        putc('}', out);
    }
    putc(']', out);
    put_key(out, "in_force");
    if (s->in_force)
        fprintf(out, "%llu", (unsigned long long)s->in_force);
    else
        fputs("null", out);
}

static void put_rate(const struct espi_live_rate *r, double now_s, FILE *out)
{
    fprintf(out, "{\"from\":%d,\"to\":%d,\"links\":%d", r->from, r->to, r->n_links);
    put_string(out, "name", r->name);
    put_number(out, "nominal_Bps", r->nominal_Bps);
    put_number(out, "factor", r->factor);
    put_number(out, "error", r->error);
    put_number(out, "low", r->low);
    put_number(out, "high", r->high);
    put_count(out, "calls", (uint64_t)r->calls);
    put_count(out, "probes", (uint64_t)r->probes);
    put_number(out, "age_s", ago(now_s, r->heard_s));
    put_count(out, "samples", (uint64_t)r->samples);
    put_string(out, "method", r->method);
    put_key(out, "past");
    putc('[', out);
    for (int i = 0; i < r->n_past; i++)
        fprintf(out, "%s%d", i ? "," : "", (int)lround(1000 * (double)r->past[i]));
    fputs("]}", out);
}

static void put_rates(const struct espi_live_state *s, double now_s, FILE *out)
{
    put_count(out, "heard", (uint64_t)s->n_heard);
    fputs(",\"rates\":[", out);
    for (int i = 0; i < s->n_rates; i++) {
        fputs(i ? ",\n" : "", out);
        put_rate(&s->rate[i], now_s, out);
    }
    putc(']', out);
}

static void put_call(const struct espi_live_call *c, double now_s, FILE *out)
{
    fprintf(out, "{\"n\":%llu,\"op\":\"%s\",\"root\":%d,\"ranks\":%d,\"ours\":%s",
            (unsigned long long)c->number, esp_op_name((esp_op)c->op), c->root, c->ranks,
            c->ours ? "true" : "false");
    put_string(out, "algo", c->algo);
    put_key(out, "plan");
    if (c->plan)
        fprintf(out, "%llu", (unsigned long long)c->plan);
    else
        fputs("null", out);
    put_number(out, "bytes", c->bytes);
    put_known(out, "predicted_bytes", c->predicted_bytes);
    put_number(out, "ago_s", ago(now_s, c->ended_s));
    put_number(out, "took_s", c->took_s);
    put_known(out, "forecast_s", c->forecast_s);
    put_known(out, "ours_s", c->ours_s);
    put_known(out, "native_s", c->native_s);
    fprintf(out, ",\"expected\":%d,\"heard\":%d", c->expected, c->heard);
    put_count(out, "skipped", c->skipped);
    putc('}', out);
}

static void put_calls(const struct espi_live_state *s, uint64_t since, double now_s,
                      FILE *out)
{
    uint64_t first = s->n_calls > ESPI_LIVE_CALLS ? s->n_calls - ESPI_LIVE_CALLS : 0;
    int n = 0;

    put_count(out, "skipped", s->skipped);
    put_count(out, "last", s->n_calls);
    fputs(",\"calls\":[", out);
    for (uint64_t i = first < since ? since : first; i < s->n_calls; i++) {
        fputs(n++ ? ",\n" : "", out);
        put_call(&s->call[(i + 1) % ESPI_LIVE_CALLS], now_s, out);
    }
    putc(']', out);
}

static void put_decisions(const struct espi_live_state *s, FILE *out)
{
    fputs(",\"decisions\":[", out);
    for (int i = 0; i < s->n_decisions; i++) {
        const struct espi_live_decision *d = &s->decision[i];
        fprintf(out, "%s{\"op\":\"%s\",\"ranks\":%d", i ? ",\n" : "",
                esp_op_name((esp_op)d->op), d->ranks);
        put_number(out, "up_to_bytes", ldexp(1, d->size_class));
        put_string(out, "algo", d->algo);
        put_count(out, "ours", d->ours);
        put_count(out, "native", d->native);
        put_known(out, "ours_s", d->ours_s);
        put_known(out, "native_s", d->native_s);
        put_known(out, "ours_took_s", d->ours ? d->ours_took_s / (double)d->ours : 0);
        put_known(out, "native_took_s",
                  d->native ? d->native_took_s / (double)d->native : 0);
        putc('}', out);
    }
    putc(']', out);
}

static void put_state(const struct espi_live_state *s, uint64_t since, double now_s,
                      FILE *out)
{
    fputs("{\"format\":\"espalier-live/1\"", out);
    put_string(out, "instance", s->instance);
    put_number(out, "up_s", ago(now_s, s->begun_s));
    put_count(out, "network", s->network);
    put_outlook(&s->outlook, now_s, out);
    put_probes(s, out);
    put_plans(s, now_s, out);
    put_rates(s, now_s, out);
    put_decisions(s, out);
    put_calls(s, since, now_s, out);
    fputs("}\n", out);
}

/* ---- answers ---- */

esp_status espi_live_log_write_state(struct espi_live_log *l, uint64_t since,
                                     double now_s, FILE *out, struct esp_err *err)
{
    struct espi_live_state *copy = ESPI_NEW(struct espi_live_state, 1);

    if (!copy)
        return espi_err_nomem(err);
    pthread_mutex_lock(&l->lock);
    *copy = l->state;
    pthread_mutex_unlock(&l->lock);
    put_state(copy, since, now_s, out);
    espi_free(copy);
    return ferror(out) ? espi_err_nomem(err) : ESP_OK;
}

/* A copy of the text, or NULL. */
static char *copy_text(const struct espi_live_text *text)
{
    char *copy = text->bytes ? espi_malloc(text->length + 1) : NULL;

    if (copy)
        memcpy(copy, text->bytes, text->length + 1);
    return copy;
}

esp_status espi_live_log_write_network(struct espi_live_log *l, FILE *out,
                                       struct esp_err *err)
{
    pthread_mutex_lock(&l->lock);
    char *text = copy_text(&l->network);
    uint64_t id = l->state.network;
    pthread_mutex_unlock(&l->lock);
    if (!text)
        return espi_err_nomem(err);
    fprintf(out, "{\"network\":%llu,%s", (unsigned long long)id, text + 1);
    espi_free(text);
    return ESP_OK;
}

esp_status espi_live_log_write_plan(struct espi_live_log *l, uint64_t id, FILE *out,
                                    struct esp_err *err)
{
    char *text = NULL;
    int found = 0;

    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < ESPI_LIVE_PLANS && id && !found; i++)
        if (l->state.plan[i].id == id) {
            found = 1;
            text = copy_text(&l->drawn[i]);
        }
    pthread_mutex_unlock(&l->lock);
    if (!found)
        return espi_err(err, ESP_EINPUT, "there is no such plan, or no more");
    if (!text)
        return espi_err_nomem(err);
    fprintf(out, "{\"id\":%llu,\"svg\":", (unsigned long long)id);
    espi_markup_json_string(out, text);
    fputs("}\n", out);
    espi_free(text);
    return ESP_OK;
}

/* ---- the page ---- */

static esp_status answer_log(void *self, const char *path, uint64_t number, FILE *out,
                             struct esp_err *err)
{
    struct espi_live_log *l = self;

    if (strcmp(path, "/api/state") == 0)
        return espi_live_log_write_state(l, number, espi_now_s(), out, err);
    if (strcmp(path, "/api/network") == 0)
        return espi_live_log_write_network(l, out, err);
    if (strcmp(path, "/api/plan") == 0)
        return espi_live_log_write_plan(l, number, out, err);
    return espi_err(err, ESP_EINPUT, "there is no such page");
}

struct espi_live_source espi_live_log_source(struct espi_live_log *l)
{
    return (struct espi_live_source){l, "the advisor", espi_page_write_live, answer_log};
}
