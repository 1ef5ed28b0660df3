#include "copy/learn.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "copy/job.h"
#include "copy/pings.h"
#include "copy/tuning.h"

/* ---- who is there ---- */

esp_status espi_copy_learn_names(struct espi_copy_job *job, struct esp_err *err)
{
    struct espi_known *k = job->options.known;
    if (!k)
        return ESP_OK;
    esp_status status = espi_known_add(k, job->options.root, &job->learning.root, err);
    for (int i = 0; !status && i < job->n_hosts; i++)
        status = espi_known_add(k, job->host[i].name, &job->host[i].known, err);
    return status ? status : espi_known_settle(k, NULL, err);
}

/* ---- how far they are ---- */

struct asking {
    struct espi_copy_job *job;
    int *alive; /* hosts */
    int n;
    struct espi_samples samples;
};

static int list_alive(struct asking *a)
{
    a->alive = ESPI_NEW(int, a->job->n_hosts + 1);
    for (int i = 0; a->alive && i < a->job->n_hosts; i++)
        if (espi_copy_is_alive(&a->job->host[i]))
            a->alive[a->n++] = i;
    return a->alive ? 0 : -1;
}

static void ask_hosts(struct asking *a)
{
    for (int i = 0; i < a->n; i++) {
        struct espi_copy_host *h = &a->job->host[a->alive[i]];
        struct espi_wire_out w = {0};
        int n = 0, other;
        while (espi_pings_whom(i, a->n, n) >= 0)
            n++;
        espi_put_32(&w, (uint32_t)n);
        for (int k = 0; (other = espi_pings_whom(i, a->n, k)) >= 0; k++) {
            espi_put_text(&w, a->job->host[a->alive[other]].address);
            espi_put_32(&w, a->job->host[a->alive[other]].port);
        }
        espi_copy_tell(a->job, h, ESPI_TO_PING, &w, ESPI_FROM_PINGED);
    }
}

/* from and to: 0 is the root, the others those that are alive. */
static esp_status add_latency(struct asking *a, int from, int to, uint32_t round_trip_us,
                              struct esp_err *err)
{
    if (round_trip_us == UINT32_MAX)
        return ESP_OK;
    struct espi_sample sample = {.kind = ESPI_SAMPLE_LATENCY,
                                 .from = from,
                                 .to = to,
                                 .value = 1e-6 * round_trip_us / 2};
    return espi_samples_add(&a->samples, &sample, err);
}

/* The root has no door of its own; so it asks. */
static esp_status ask_as_root(struct asking *a, struct esp_err *err)
{
    int n = a->n < ESPI_PINGS_MAX ? a->n : ESPI_PINGS_MAX;
    struct espi_ping *ping = espi_calloc((size_t)n + 1, sizeof *ping);
    esp_status status = ping ? ESP_OK : espi_err_nomem(err);
    for (int k = 0; ping && k < n; k++) {
        const struct espi_copy_host *h = &a->job->host[a->alive[k * a->n / n]];
        snprintf(ping[k].address, sizeof ping[k].address, "%s", h->address);
        ping[k].port = h->port;
    }
    if (!status)
        espi_pings(ping, n);
    for (int k = 0; !status && k < n; k++)
        status = add_latency(a, 0, 1 + k * a->n / n, ping[k].round_trip_us, err);
    espi_free(ping);
    return status;
}

void espi_copy_learn_pinged(struct espi_copy_host *h, struct espi_wire_in *r)
{
    uint32_t n = espi_take_count(r, 4);
    if (n > ESPI_PINGS_MAX)
        r->bad = 1;
    for (uint32_t k = 0; k < ESPI_PINGS_MAX; k++)
        h->round_trip_us[k] = k < n && !r->bad ? espi_take_32(r) : UINT32_MAX;
}

static esp_status gather_samples(struct asking *a, struct esp_err *err)
{
    esp_status status = espi_samples_add_host(&a->samples, a->job->options.root, 1, err);
    for (int i = 0; !status && i < a->n; i++)
        status =
            espi_samples_add_host(&a->samples, a->job->host[a->alive[i]].name, 1, err);
    for (int i = 0; !status && i < a->n; i++) {
        const struct espi_copy_host *h = &a->job->host[a->alive[i]];
        int other;
        for (int k = 0; !status && espi_copy_is_alive(h) &&
                        (other = espi_pings_whom(i, a->n, k)) >= 0;
             k++)
            status = add_latency(a, 1 + i, 1 + other, h->round_trip_us[k], err);
    }
    return status;
}

esp_status espi_copy_learn_sites(struct espi_copy_job *job, struct esp_err *err)
{
    struct asking a = {.job = job};
    esp_status status = ESP_OK;
    if (!job->options.known || espi_known_has_all(job->options.known))
        return ESP_OK;
    if (list_alive(&a))
        status = espi_err_nomem(err);
    if (!status)
        ask_hosts(&a);
    if (!status)
        status = espi_copy_await(job, job->options.patience_s, err);
    if (!status)
        status = gather_samples(&a, err);
    if (!status && a.n > 0)
        status = ask_as_root(&a, err);
    if (!status)
        status = espi_known_settle(job->options.known, &a.samples, err);
    espi_samples_done(&a.samples);
    espi_free(a.alive);
    return status;
}

/* ---- what streams get ---- */

esp_status espi_copy_learn_begin(struct espi_copy_job *job, struct esp_err *err)
{
    struct espi_copy_learning *l = &job->learning;
    espi_free(l->seen);
    l->n_seen = 0;
    l->seen = NULL;
    if (!job->options.known)
        return ESP_OK;
    l->seen = espi_calloc((size_t)job->prog.n_streams + 1, sizeof *l->seen);
    if (!l->seen)
        return espi_err_nomem(err);
    l->n_seen = job->prog.n_streams;
    l->looked_s = espi_now_s();
    return ESP_OK;
}

static double share_of(uint64_t now, uint64_t before, double time_us)
{
    double share = now > before ? (double)(now - before) / time_us : 0;
    return share < 1 ? share : 1;
}

/* Over as long as a look, by the sender's clock. */
static void note_count(struct espi_stream_seen *s, const struct espi_flow_count *c,
                       uint64_t at_us)
{
    double time_us = at_us > s->at_us ? (double)(at_us - s->at_us) : 0;
    int is_first = s->at_us == 0 || c->bytes < s->last.bytes;
    if (!is_first && time_us < 1e6 * (ESPI_COPY_LOOK_S - ESPI_COPY_REPORT_S))
        return;
    if (!is_first) {
        s->Bps = (double)(c->bytes - s->last.bytes) / (1e-6 * time_us);
        s->busy = share_of(c->busy_us, s->last.busy_us, time_us);
        s->choked = share_of(c->choked_us, s->last.choked_us, time_us);
        s->times++;
    }
    s->last = *c;
    s->at_us = at_us;
    s->heard_s = espi_now_s();
}

void espi_copy_learn_told(struct espi_copy_job *job, const struct espi_copy_host *h,
                          struct espi_wire_in *r)
{
    uint64_t at_us;
    uint32_t n = espi_flows_take_head(r, &at_us);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct espi_flow_count c = espi_flows_take(r);
        if (c.stream < (uint32_t)job->learning.n_seen &&
            espi_copy_host_at(job, job->prog.streams[c.stream].from) == h)
            note_count(&job->learning.seen[c.stream], &c, at_us);
    }
}

static void look_at_own(struct espi_copy_job *job)
{
    uint64_t at_us;
    int n = 0;
    struct espi_flow_count *of =
        job->runner.is_on ? espi_flows_count(job->runner.tcp, &n, &at_us) : NULL;
    for (int i = 0; i < n; i++)
        note_count(&job->learning.seen[of[i].stream], &of[i], at_us);
    espi_free(of);
}

static int known_at(const struct espi_copy_job *job, int rank)
{
    const struct espi_copy_host *h = espi_copy_host_at(job, rank);
    return h ? h->known : job->learning.root;
}

static esp_status hear_streams(struct espi_copy_job *job, struct esp_err *err)
{
    struct espi_copy_learning *l = &job->learning;
    struct espi_known_flow *flow = ESPI_NEW(struct espi_known_flow, l->n_seen + 1);
    double now_s = espi_now_s();
    int n = 0;
    if (!flow)
        return espi_err_nomem(err);
    for (int i = 0; i < l->n_seen; i++) {
        const struct espi_stream_seen *s = &l->seen[i];
        if (s->times == 0 || now_s - s->heard_s > 2 * ESPI_COPY_LOOK_S || s->Bps <= 0)
            continue;
        flow[n++] = (struct espi_known_flow){
            .from = known_at(job, job->prog.streams[i].from),
            .to = known_at(job, job->prog.streams[i].to),
            .Bps = s->Bps,
            .is_held_up = s->times > 1 && s->busy >= ESPI_COPY_BUSY_SHARE,
            .is_choked = s->choked >= ESPI_COPY_CHOKED_SHARE};
    }
    esp_status status = espi_known_hear(job->options.known, flow, n, err);
    espi_free(flow);
    return status;
}

/* ---- plans ---- */

static int known_node(const struct espi_copy_job *job, const struct esp_platform *network,
                      int node)
{
    const struct espi_copy_host *h =
        espi_copy_find(job, esp_platform_node_name(network, node));
    return h ? h->known : job->learning.root;
}

static int count_hops(const struct esp_plan *plan)
{
    int n = 0;
    for (int t = 0; t < plan->n_trees; t++)
        n += plan->trees[t].n_hops;
    return n;
}

double espi_copy_learned_load_s(const struct espi_copy_job *job,
                                const struct esp_platform *network,
                                const struct esp_plan *plan)
{
    if (!network || !plan)
        return 0;
    int nodes = esp_platform_node_count(network), n = 0;
    struct espi_known_flow *flow =
        ESPI_NEW(struct espi_known_flow, (size_t)count_hops(plan) + 1);
    int *known = ESPI_NEW(int, nodes + 1);
    double all = 0, load_s = 0;
    for (int v = 0; known && v < nodes; v++)
        known[v] = known_node(job, network, v);
    for (int t = 0; t < plan->n_trees; t++)
        all += plan->trees[t].weight;
    for (int t = 0; flow && known && t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        for (int h = 0; h < tree->n_hops; h++)
            flow[n++] = (struct espi_known_flow){
                .from = known[esp_platform_link_from(network, tree->hops[h])],
                .to = known[esp_platform_link_to(network, tree->hops[h])],
                .Bps = tree->weight / all};
    }
    if (flow && known)
        load_s = espi_known_load_s(job->options.known, flow, n);
    espi_free(flow);
    espi_free(known);
    return load_s;
}

int espi_copy_is_outdated(const struct espi_copy_job *job)
{
    return job->options.known && !job->options.plan && job->plan &&
           espi_copy_learned_load_s(job, job->network, job->plan) >
               ESPI_COPY_SURPRISE * job->learning.load_s;
}

/* What the host that has least still lacks. */
static double count_left(const struct espi_copy_job *job)
{
    double n = (double)job->prog.n_slices, least = n;
    for (int r = 0; r < job->prog.n_ranks; r++) {
        const struct espi_copy_host *h = espi_copy_host_at(job, r);
        if (h && !h->is_relay && h->awaited && h->n_landed < least)
            least = h->n_landed;
    }
    return (n - least) * job->message.block_bytes;
}

static void drop_next(struct espi_copy_job *job)
{
    esp_plan_free(job->learning.next_plan);
    esp_platform_free(job->learning.next_network);
    job->learning.next_plan = NULL;
    job->learning.next_network = NULL;
}

/* 1: it is worth it. */
static int plan_anew(struct espi_copy_job *job, double left_bytes)
{
    struct espi_copy_learning *l = &job->learning;
    double begin_s = espi_now_s();
    drop_next(job);
    if (espi_copy_make_network(job, &l->next_network, NULL) ||
        espi_copy_make_plan(job, l->next_network, left_bytes, &l->next_plan, NULL)) {
        drop_next(job);
        return 0;
    }
    l->planning_s = espi_now_s() - begin_s;
    double now_s = espi_copy_learned_load_s(job, job->network, job->plan);
    double next_s = espi_copy_learned_load_s(job, l->next_network, l->next_plan);
    if (now_s > ESPI_COPY_SURPRISE * next_s &&
        left_bytes * (now_s - next_s) > ESPI_COPY_CHANGE_S)
        return 1;
    l->load_s = now_s; /* as good as any: until it gets worse */
    drop_next(job);
    return 0;
}

int espi_copy_learn(struct espi_copy_job *job)
{
    struct espi_copy_learning *l = &job->learning;
    if (l->n_seen == 0 || espi_now_s() - l->looked_s < ESPI_COPY_LOOK_S)
        return 0;
    l->looked_s = espi_now_s();
    look_at_own(job);
    if (hear_streams(job, NULL) || l->changes >= ESPI_COPY_CHANGES ||
        !espi_copy_is_outdated(job))
        return 0;
    double left_bytes = count_left(job);
    double left_s = left_bytes * espi_copy_learned_load_s(job, job->network, job->plan);
    if (left_s < ESPI_COPY_CHANGE_S + l->planning_s || !plan_anew(job, left_bytes))
        return 0;
    l->changes++;
    job->changes++;
    return 1;
}

void espi_copy_learn_done(struct espi_copy_job *job)
{
    drop_next(job);
    espi_free(job->learning.seen);
    job->learning.seen = NULL;
    job->learning.n_seen = 0;
}
