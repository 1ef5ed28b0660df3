#include "live/live_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "advisor/advice_reason.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "live/drawing.h"
#include "live/live_log_impl.h"
#include "live/tuning.h"
#include "platform/platform.h"
#include "report/page.h"

void espi_live_copy(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);

    /* No character is cut in two. */
    while (length && text[length] && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    memcpy(out, text, length);
    out[length] = '\0';
}

esp_status espi_live_log_create(struct espi_live_log **out, struct esp_err *err)
{
    struct espi_live_log *l = espi_calloc(1, sizeof *l);
    uint64_t id = 0;

    if (!l)
        return espi_err_nomem(err);
    pthread_mutex_init(&l->lock, NULL);
    espi_arena_init(&l->arena);
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        id = (uint64_t)getpid();
    snprintf(l->state.instance, sizeof l->state.instance, "%016llx",
             (unsigned long long)id);
    l->begun_s = l->state.begun_s = espi_now_s();
    l->state.outlook.root = -1;
    *out = l;
    return ESP_OK;
}

/* Texts made by the C library, which frees them. */
static void set_text(struct espi_live_log *l, struct espi_live_text *where, char *bytes,
                     size_t length)
{
    pthread_mutex_lock(&l->lock);
    char *old = where->bytes;
    *where = (struct espi_live_text){bytes, length};
    pthread_mutex_unlock(&l->lock);
    free(old);
}

static void drop_plan(struct espi_live_log *l, int slot)
{
    esp_plan_free(l->kept[slot].plan);
    espi_free(l->kept[slot].parent);
    l->kept[slot] = (struct espi_live_kept){NULL, NULL};
    pthread_mutex_lock(&l->lock);
    l->state.plan[slot] = (struct espi_live_plan){.id = 0};
    pthread_mutex_unlock(&l->lock);
    set_text(l, &l->drawn[slot], NULL, 0);
}

void espi_live_log_free(struct espi_live_log *l)
{
    if (!l)
        return;
    for (int i = 0; i < ESPI_LIVE_PLANS; i++)
        drop_plan(l, i);
    free(l->network.bytes);
    espi_arena_done(&l->arena);
    pthread_mutex_destroy(&l->lock);
    espi_free(l);
}

/* ---- the network ---- */

static void begin_again(struct espi_live_log *l)
{
    for (int i = 0; i < ESPI_LIVE_PLANS; i++)
        drop_plan(l, i);
    pthread_mutex_lock(&l->lock);
    l->state.network++;
    l->state.in_force = 0;
    l->state.n_rates = l->state.n_heard = 0;
    pthread_mutex_unlock(&l->lock);
    l->pending = (struct espi_live_pending){.open = 0};
    l->looked_s = 0;
}

esp_status espi_live_log_set_network(struct espi_live_log *l,
                                     const struct esp_platform *p, double now_s,
                                     struct esp_err *err)
{
    char *bytes = NULL;
    size_t length = 0;
    struct espi_arena arena;
    struct espi_network drawing;

    (void)now_s;
    espi_arena_init(&arena);
    int *parents = ESPI_ARENA_NEW(&arena, int, p->n_nodes + 1);
    if (!parents || espi_network_init(&drawing, p, -1, NULL, &arena) ||
        espi_live_write_drawing(&drawing, &bytes, &length)) {
        espi_arena_done(&arena);
        free(bytes);
        return espi_err_nomem(err);
    }
    begin_again(l);
    espi_arena_done(&l->arena);
    l->arena = arena;
    l->drawing = drawing;
    l->parents = parents;
    l->p = p;
    set_text(l, &l->network, bytes, length);
    return ESP_OK;
}

/* ---- plans ---- */

static int *find_parents(const struct espi_live_log *l, const struct esp_plan *plan)
{
    int *parent = ESPI_NEW(int, l->p->n_nodes + 1);

    for (int v = 0; parent && v < l->p->n_nodes; v++)
        parent[v] = -1;
    for (int i = 0; parent && i < plan->trees[0].n_edges; i++)
        parent[plan->trees[0].edges[i].to] = plan->trees[0].edges[i].from;
    return parent;
}

/* The slot for a new plan: the forerunner's, a free one, or the oldest's. */
static int make_room(struct espi_live_log *l, const struct espi_advice *advice,
                     long *changes)
{
    int room = -1, oldest = 0;

    *changes = 0;
    for (int i = 0; i < ESPI_LIVE_PLANS; i++) {
        struct espi_live_plan *m = &l->state.plan[i]; /* only this thread changes it */
        if (m->id && m->root == advice->root && m->size_class == advice->size_class) {
            *changes = m->superseded ? *changes : m->changes + 1;
            if (m->superseded)
                drop_plan(l, i);
        }
        if (!m->id && room < 0)
            room = i;
        if (m->id && m->id < l->state.plan[oldest].id)
            oldest = i;
    }
    if (room < 0)
        drop_plan(l, room = oldest);
    return room;
}

static void supersede(struct espi_live_log *l, const struct espi_advice *advice)
{
    for (int i = 0; i < ESPI_LIVE_PLANS; i++) {
        struct espi_live_plan *m = &l->state.plan[i];
        if (m->id && m->root == advice->root && m->size_class == advice->size_class)
            m->superseded = 1;
    }
}

static char *draw_plan(const struct espi_live_log *l, const struct esp_plan *plan,
                       uint64_t id, size_t *length)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, length);

    if (!out)
        return NULL;
    espi_network_write_plan(&l->drawing, plan, (int)(id & 0x7fffffff), out);
    if (!fclose(out))
        return bytes;
    free(bytes);
    return NULL;
}

void espi_live_log_publish(struct espi_live_log *l, const struct espi_advisor *a,
                           struct espi_advice *advice, double now_s)
{
    const struct esp_plan *plan = advice->plan;
    uint64_t id = l->last_plan + 1;
    size_t length = 0;
    long changes;
    int *parent = find_parents(l, plan);
    char *bytes = parent ? draw_plan(l, plan, id, &length) : NULL;

    if (!bytes) {
        espi_free(parent);
        return;
    }
    int slot = make_room(l, advice, &changes);
    struct espi_live_plan m = {.id = id,
                               .root = advice->root,
                               .size_class = advice->size_class,
                               .n_trees = plan->n_trees,
                               .changes = changes,
                               .size_bytes = plan->size_bytes,
                               .slice_bytes = plan->slice_bytes,
                               .makespan_s = plan->makespan_s,
                               .published_s = now_s};
    espi_live_copy(m.algo, sizeof m.algo, plan->algo);
    char why[ESPI_REASON_TEXT];
    espi_advice_explain(a, advice, why, sizeof why);
    espi_live_copy(m.why, sizeof m.why, why);
    set_text(l, &l->drawn[slot], bytes, length);
    pthread_mutex_lock(&l->lock);
    supersede(l, advice);
    l->state.plan[slot] = m;
    pthread_mutex_unlock(&l->lock);
    l->kept[slot] = (struct espi_live_kept){advice->plan, parent};
    l->last_plan = id;
    advice->plan = NULL;
}

/* ---- rates ---- */

static void name_resource(const struct esp_platform *p,
                          const struct espi_believed_rate *rate, char *out, size_t size)
{
    char text[8 * ESPI_LIVE_TEXT];
    espi_resource_name(p, rate->resource, rate->first_link, text, sizeof text);
    espi_live_copy(out, size, text);
}

static void begin_rate(const struct espi_live_log *l, struct espi_live_rate *r,
                       const struct espi_believed_rate *seen)
{
    const struct esp_platform *p = l->p;
    int link = seen->first_link;

    *r = (struct espi_live_rate){.resource = seen->resource,
                                 .n_links = seen->n_links,
                                 .from = p->tail[link],
                                 .to = p->head[link],
                                 .nominal_Bps = seen->full_Bps};
    name_resource(p, seen, r->name, sizeof r->name);
}

static void update_rate(struct espi_live_rate *r, const struct espi_believed_rate *seen)
{
    r->factor = seen->factor;
    r->error = seen->error;
    r->low = seen->low;
    r->high = seen->high;
    r->calls = seen->calls;
    r->probes = seen->probes;
    r->heard_s = seen->heard_s;
    espi_live_copy(r->method, sizeof r->method, seen->method ? seen->method : "");
    if (r->samples == seen->samples)
        return;
    r->samples = seen->samples;
    if (r->n_past == ESPI_LIVE_PAST)
        memmove(r->past, r->past + 1, --r->n_past * sizeof *r->past);
    r->past[r->n_past++] = (float)seen->factor;
}

/* Resources come in the order of their numbers, as those of the last look stand. */
static int merge_rates(const struct espi_live_log *l,
                       const struct espi_believed_rate *seen, int n,
                       struct espi_live_rate *out)
{
    const struct espi_live_rate *old = l->state.rate, *end = old + l->state.n_rates;

    for (int i = 0; i < n; i++) {
        while (old < end && old->resource < seen[i].resource)
            old++;
        if (old < end && old->resource == seen[i].resource)
            out[i] = *old;
        else
            begin_rate(l, &out[i], &seen[i]);
        update_rate(&out[i], &seen[i]);
    }
    return n;
}

void espi_live_log_look(struct espi_live_log *l, const struct espi_advisor *a,
                        double now_s)
{
    struct espi_believed_rate seen[ESPI_LIVE_RATES];
    struct espi_outlook outlook;

    if (!l->p || (l->looked_s > 0 && now_s - l->looked_s < ESPI_LIVE_LOOK_S))
        return;
    l->looked_s = now_s;
    struct espi_live_rate *fresh = ESPI_NEW(struct espi_live_rate, ESPI_LIVE_RATES);
    if (!fresh)
        return;
    espi_advisor_outlook(a, now_s, &outlook);
    int heard = espi_advisor_rates(a, now_s, seen, ESPI_LIVE_RATES);
    int n =
        merge_rates(l, seen, heard < ESPI_LIVE_RATES ? heard : ESPI_LIVE_RATES, fresh);
    pthread_mutex_lock(&l->lock);
    l->state.outlook = outlook;
    l->state.has_probes = espi_advisor_probes(a, &l->state.probes);
    l->state.n_heard = heard;
    l->state.n_rates = n;
    memcpy(l->state.rate, fresh, (size_t)n * sizeof *fresh);
    pthread_mutex_unlock(&l->lock);
    espi_free(fresh);
}
