/* Decisions of a communicator, kept: for each collective, root and size class one, with
 * the program of the last size. What has a name of its own has decisions of its own: a
 * scan and an exscan have the same plans, but the library makes other calls of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "mpi/shim.h"
#include "mpi/tags.h"
#include "plan/ops.h"
#include "runtime/agreement.h"
#include "runtime/tuning.h"

/* The power of two that holds the bytes. Plans are for classes, so that messages of about
 * the same size share them; the short ones, which take no time to speak of, all. */
static int class_of(uint64_t bytes)
{
    return bytes > 256 ? 64 - __builtin_clzll(bytes - 1) : 8;
}

const char *espi_entry_name(const struct espi_entry *e)
{
    return espi_collective_name(e->which);
}

static void clear_entry(struct espi_entry *e)
{
    espi_trials_end(e);
    espi_choice_done(&e->choice);
    espi_arena_done(&e->arena);
    espi_free(e->backup);
    e->backup = NULL;
    e->no_backup = 0;
    e->size_class = -1;
    e->bytes = 0;
    e->agreed = 0;
    e->plan_agreed = 0;
    e->is_scheduled = 0;
}

void espi_make_native(struct espi_entry *e)
{
    espi_choice_done(&e->choice);
    e->choice = (struct espi_choice){.plan = NULL};
    e->trials.on = 0;
}

/* Only those that new advice is about, or does for until there is some about them: what
 * is forgotten has to be planned again. */
static void forget_bcasts(struct espi_comm *c)
{
    int news = class_of((uint64_t)c->news->size_bytes);
    for (struct espi_entry *e = c->cache; e < c->cache + ESPI_CACHE; e++)
        if (e->size_class >= 0 && e->op == ESP_OP_BCAST &&
            c->node[e->root] == c->news->root &&
            (e->size_class == news ||
             (e->is_near && abs(e->size_class - news) <= ESPI_NEAR_CLASSES)))
            clear_entry(e);
    c->news = NULL;
}

/* The one that fits, else the one longest unused, cleared. */
static struct espi_entry *find_entry(struct espi_comm *c, const struct espi_call *call,
                                     int size_class)
{
    struct espi_entry *oldest = &c->cache[0];
    for (struct espi_entry *e = c->cache; e < c->cache + ESPI_CACHE; e++) {
        if (e->size_class == size_class && e->root == call->root &&
            e->which == call->which && e->order == call->order && e->tells == call->tells)
            return e;
        if (e->used < oldest->used)
            oldest = e;
    }
    clear_entry(oldest);
    return oldest;
}

static esp_status make_rank_platform(struct espi_comm *c, struct esp_err *err)
{
    esp_status st =
        espi_job.net ? espi_rank_platform_create(&c->rank_platform, espi_job.net, c->size,
                                                 c->node, err)
                     : espi_rank_platform_create_equal(&c->rank_platform, c->size, err);
    c->has_rank_platform = !st;
    if (st && st != ESP_ENOMEM) {
        c->no_rank_platform = 1; /* for the same reason on all ranks */
        espi_say(ESPI_LOG_WARN, "a communicator of %d ranks runs natively: %s", c->size,
                 err->text);
    }
    return st;
}

/* The plan from outside where it fits, the advisor's before the user's; else *out stays
 * NULL. */
static esp_status adapt_given(const struct espi_comm *c, esp_op op, int root,
                              const struct esp_plan *advised, struct esp_plan **out)
{
    struct esp_err why;
    const struct esp_plan *plan = advised ? advised : espi_job.plan;
    if (!plan || plan->op != op)
        return ESP_OK;
    esp_status st = espi_rank_platform_adapt(&c->rank_platform, espi_job.net, c->node,
                                             plan, root, out, &why);
    return st == ESP_ENOMEM ? st : ESP_OK;
}

/* The plan of the class of sizes nearest to one that there is none for, or NULL. Under an
 * advisor it does until advice for that class has come: planning takes time, on all ranks
 * and in the middle of a call. All ranks have the same entries. */
static const struct espi_choice *nearest_choice(const struct espi_comm *c, int root,
                                                int size_class)
{
    const struct espi_entry *best = NULL;
    for (const struct espi_entry *e = c->cache; e < c->cache + ESPI_CACHE; e++)
        if (e->size_class >= 0 && e->op == ESP_OP_BCAST && e->root == root &&
            e->choice.plan &&
            (!best ||
             abs(e->size_class - size_class) < abs(best->size_class - size_class)))
            best = e;
    return best ? &best->choice : NULL;
}

static esp_status borrow(const struct espi_choice *near, struct espi_choice *out,
                         struct esp_err *err)
{
    struct espi_choice choice = *near;
    esp_status st = esp_plan_copy(near->plan, &choice.plan, err);
    if (!st)
        *out = choice;
    return st;
}

static const struct espi_native_library *known_library(void)
{
    return espi_job.table ? &espi_job.library : NULL;
}

/* Is the user's plan one from that rank? What the advisor says of other sizes is not
 * better than that, unless it says something about this one, too. */
static int is_given(const struct espi_comm *c, int root)
{
    return espi_job.plan && espi_job.plan->op == ESP_OP_BCAST && c->node &&
           espi_job.plan->root == c->node[root];
}

/* Among ranks that are near each other short messages are the library's, unless the user
 * says otherwise. */
static esp_status look_for_short(struct espi_comm *c, double bytes, int *is_left,
                                 struct esp_err *err)
{
    const struct espi_settings *s = &espi_job.settings;
    esp_status st = ESP_OK;
    if (!(c->longest_way_s > 0))
        st = espi_longest_way(c->rank_platform.p, &c->longest_way_s, err);
    *is_left = s->mode != ESPI_MODE_FORCE && !(s->min_bytes > 0) &&
               bytes <= ESPI_SHORT_LIMIT_BYTES && c->longest_way_s < ESPI_WIDE_S;
    return st;
}

static int is_unequal(enum espi_collective which)
{
    return which == ESPI_CALL_SCATTERV || which == ESPI_CALL_GATHERV ||
           which == ESPI_CALL_ALLTOALLV;
}

/* What it takes that the ranks tell each other sizes before a call: a broadcast, or an
 * allgather, of a few bytes a rank. Plans for those cross the longest ways once. */
static esp_status predict_telling(const struct espi_comm *c, const struct espi_call *call,
                                  double *out_s, struct esp_err *err)
{
    double bytes = sizeof(uint64_t) * (double)c->size;
    if (!call->tells)
        return ESP_OK;
    if (c->longest_way_s >= ESPI_WIDE_S && bytes >= espi_least_bytes()) {
        *out_s = c->longest_way_s;
        return ESP_OK;
    }
    return espi_predict_telling(c->rank_platform.p, known_library(),
                                espi_op_has_pairs(call->op), call->root, out_s, err);
}

/* *is_near: what was chosen is for another class of sizes; *tell_s: what telling sizes
 * takes. */
static esp_status choose_plan(struct espi_comm *c, const struct espi_call *call,
                              int size_class, struct espi_choice *choice, int *is_near,
                              double *tell_s, struct esp_err *err)
{
    esp_op op = call->op;
    int root = call->root;
    double bytes = size_class == ESPI_BARRIER ? c->size : ldexp(1, size_class);
    const struct espi_settings *s = &espi_job.settings;
    struct esp_plan *given = NULL;
    int adaptive = s->advice[0] && op == ESP_OP_BCAST && c->size == espi_job.n;
    int apart = is_given(c, root) ? 0 : ESPI_NEAR_CLASSES;
    int is_left = 0;
    esp_status st = look_for_short(c, bytes, &is_left, err);
    if (st || is_left)
        return st;
    const struct esp_plan *advised =
        adaptive && c->node ? espi_advised_plan(c, root, size_class, apart) : NULL;
    const struct espi_choice *near = adaptive && !advised && !is_given(c, root)
                                         ? nearest_choice(c, root, size_class)
                                         : NULL;
    *is_near = near || (advised && class_of((uint64_t)advised->size_bytes) != size_class);
    if (near)
        return borrow(near, choice, err);
    st = predict_telling(c, call, tell_s, err);
    if (!st)
        st = adapt_given(c, op, root, advised, &given);
    /* Advice travels with our broadcasts, so that these have to be ours. */
    struct espi_choice_options options = {.force = adaptive || s->mode == ESPI_MODE_FORCE,
                                          .order = call->order,
                                          .keep = s->trials != ESPI_TRIALS_OFF,
                                          .margin = s->margin,
                                          .slice_bytes = s->slice_bytes,
                                          .algo = s->algo,
                                          .given = given,
                                          .library = known_library(),
                                          .unequal = is_unequal(call->which),
                                          .before_s = *tell_s,
                                          .wide = c->longest_way_s >= ESPI_WIDE_S,
                                          .barrier = size_class == ESPI_BARRIER};
    if (advised && given && !(options.slice_bytes > 0))
        options.slice_bytes = advised->slice_bytes;
    if (advised && given)
        options.algo = NULL; /* it is the advisor's to choose */
    if (!st)
        st = espi_choose(c->rank_platform.p, op, root, bytes, &options, choice, err);
    esp_plan_free(given);
    return st;
}

static void tell_choice(const struct espi_comm *c, const struct espi_call *call,
                        double bytes, const struct espi_choice *choice)
{
    if (espi_job.settings.log < ESPI_LOG_DEBUG)
        return;
    espi_say(ESPI_LOG_DEBUG,
             "%s of up to %.0f bytes, root %d of %d ranks: %s (predicted %.3g s, native "
             "%.3g s), slices of %.0f bytes",
             espi_collective_name(call->which), bytes, call->root, c->size,
             choice->plan && !choice->is_native ? choice->plan->algo : "native",
             choice->ours_s, choice->native_s,
             choice->plan ? choice->plan->slice_bytes : 0);
}

static void name_entry(struct espi_entry *e, const struct espi_call *call, int size_class)
{
    e->which = call->which;
    e->op = call->op;
    e->order = call->order;
    e->root = call->root;
    e->size_class = size_class;
    e->tells = call->tells;
}

static esp_status fill_entry(struct espi_comm *c, struct espi_entry *e,
                             const struct espi_call *call, int size_class,
                             struct esp_err *err)
{
    struct espi_choice choice = {0};
    esp_status st =
        c->has_rank_platform || c->no_rank_platform ? ESP_OK : make_rank_platform(c, err);
    if (st && !c->no_rank_platform)
        return st;
    e->tell_s = 0;
    if (!c->no_rank_platform) {
        st = choose_plan(c, call, size_class, &choice, &e->is_near, &e->tell_s, err);
        if (st)
            return st;
        tell_choice(c, call, ldexp(1, size_class), &choice);
    }
    e->choice = choice;
    e->is_scheduled = !choice.is_native;
    name_entry(e, call, size_class);
    st = espi_trials_begin(c, e, err);
    if (st) {
        espi_make_native(e);
        e->size_class = -1;
    }
    return st;
}

/* Slices stay below what an int counts. */
esp_status espi_compile(const struct espi_comm *c, struct espi_entry *e, uint64_t bytes)
{
    struct esp_err err;

    const double slice_max = 1 << 29; /* derived: with heads, what an int counts */
    double slice = e->choice.plan->slice_bytes;
    if (!(slice > 0 && slice < slice_max))
        slice = slice_max;
    struct espi_compile_options options = {.size_bytes = (double)bytes,
                                           .slice_bytes = slice};
    espi_arena_done(&e->arena);
    e->bytes = 0;
    esp_status st = espi_program_compile(c->rank_platform.p, e->choice.plan, &options,
                                         &e->arena, &e->prog, &err);
    if (st)
        return st;
    e->channel = espi_program_channels(&e->prog, &e->arena);
    if (!e->channel)
        return espi_err_nomem(&err);
    for (int i = 0; i < e->prog.n_streams; i++)
        if (e->channel[i] >= ESPI_CHANNELS)
            return espi_err(&err, ESP_EUNSUPPORTED, "too many streams between two ranks");
    e->bytes = bytes;
    return ESP_OK;
}

/* A plan that was kept beside the library's own gets its schedule when it first runs. */
static esp_status schedule_entry(const struct espi_comm *c, struct espi_entry *e)
{
    struct esp_err err;
    if (e->is_scheduled)
        return ESP_OK;
    esp_status st = espi_choice_schedule(&e->choice, c->rank_platform.p, &err);
    e->is_scheduled = !st;
    return st;
}

/* The program of an entry that runs it, for messages of so many bytes. */
static esp_status complete_program(const struct espi_comm *c, struct espi_entry *e,
                                   uint64_t program_bytes)
{
    if (e->choice.gathers)
        program_bytes *= (uint64_t)(c->size - (e->op == ESP_OP_REDUCE));
    if (e->bytes == program_bytes)
        return ESP_OK;
    esp_status st = schedule_entry(c, e);
    return st ? st : espi_compile(c, e, program_bytes);
}

/* Is it the plan's turn? Non-blocking calls, which must not wait for what others have
 * seen, and persistent ones go by the prediction; so do calls whose result would change
 * with the way. */
static int is_ours(struct espi_decision *d, const struct espi_call *call, uint64_t bytes)
{
    struct espi_entry *e = d->entry;
    if (!e->choice.plan)
        return 0;
    if (e->trials.on && !call->later && !call->is_init && !call->is_fixed)
        return espi_trials_turn(e, call, bytes, &d->turn);
    return !e->choice.is_native;
}

struct espi_decision espi_decide(const struct espi_call *call, uint64_t bytes,
                                 uint64_t program_bytes)
{
    struct espi_comm *c = call->c;
    struct esp_err err;
    int size_class = call->is_barrier ? ESPI_BARRIER : class_of(bytes);
    if (c->news)
        forget_bcasts(c);
    struct espi_entry *e = find_entry(c, call, size_class);
    struct espi_decision d = {.entry = e};
    esp_status st = ESP_OK;
    e->used = ++c->clock;
    if (e->size_class < 0)
        st = fill_entry(c, e, call, size_class, &err);
    d.ours = !st && is_ours(&d, call, bytes);
    if (d.ours)
        st = complete_program(c, e, program_bytes);
    if (st && st != ESP_ENOMEM) { /* alike on all ranks */
        espi_make_native(e);
        st = ESP_OK;
    }
    d.able = st == ESP_OK;
    if (!d.able && !(d.ours ? e->plan_agreed : e->agreed)) {
        espi_make_native(e); /* it keeps its place, as elsewhere */
        name_entry(e, call, size_class);
    }
    return d;
}

/* ---- do all ranks plan alike? ---- */

static uint64_t mix_hash(uint64_t sum, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        sum = (sum ^ (value & 255)) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t mix_steps(uint64_t sum, const struct espi_step *steps, int n)
{
    for (int i = 0; i < n; i++)
        sum = mix_hash(
            mix_hash(mix_hash(sum, (uint64_t)steps[i].stream), (uint64_t)steps[i].slot),
            (uint64_t)steps[i].lag);
    return sum;
}

/* Who sends what to whom, in which order. */
static uint64_t sum_program(const struct espi_program *prog)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    sum = mix_hash(mix_hash(sum, (uint64_t)prog->n_slices), (uint64_t)prog->slots);
    for (int i = 0; i < prog->n_streams; i++) {
        const struct espi_stream *s = &prog->streams[i];
        sum = mix_hash(mix_hash(sum, (uint64_t)s->from), (uint64_t)s->to);
        sum = mix_hash(mix_hash(sum, (uint64_t)s->tree), (uint64_t)s->source);
    }
    for (int i = 0; prog->pieces && i < prog->piece_start[prog->n_streams]; i++)
        sum = mix_hash(sum, (uint64_t)prog->pieces[i]);
    sum = mix_steps(sum, prog->sends, prog->send_start[prog->n_ranks]);
    return mix_steps(sum, prog->recvs, prog->recv_start[prog->n_ranks]);
}

uint64_t espi_entry_sum(const struct espi_entry *e)
{
    return e->choice.plan && e->bytes ? sum_program(&e->prog) : 1;
}

uint64_t espi_plan_sum(const struct espi_rank_platform *rank_platform,
                       const struct esp_plan *given, int root, uint64_t bytes)
{
    struct espi_choice_options options = {.force = 1,
                                          .algo = espi_job.settings.algo,
                                          .given = given,
                                          .library = known_library()};
    struct espi_comm c = {.rank_platform = *rank_platform};
    struct espi_entry e = {.op = given ? given->op : ESP_OP_BCAST};
    struct esp_err err;
    uint64_t sum = 0, bits;
    espi_arena_init(&e.arena);
    esp_status st = espi_choose(rank_platform->p, e.op, root, (double)bytes, &options,
                                &e.choice, &err);
    if (!st && e.choice.plan)
        st = espi_compile(&c, &e, bytes);
    if (st != ESP_ENOMEM) {
        memcpy(&bits, &e.choice.native_s, sizeof bits);
        sum = mix_hash(st ? 1 : espi_entry_sum(&e), bits) | 1;
    }
    clear_entry(&e);
    return sum;
}
