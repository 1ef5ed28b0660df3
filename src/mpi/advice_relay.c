/* Relay between ranks on other machines and the advisor.
 *
 * The advisor's folder is on one machine. Ranks elsewhere hand what they have to tell to
 * the first rank that is there, which passes it on; and that rank sends to a root
 * elsewhere the plans that the root would have found itself. Letters are short messages
 * on the twin of MPI_COMM_WORLD that nobody ever waits for: one that cannot be sent at
 * once is lost, those that came are taken at the next broadcast or while the MPI library
 * makes progress, and what is still under way at the end is taken then, all ranks
 * together. What letters bring is believed no more than files and sockets are: plans
 * reach the others only with the data of a broadcast, through the checks there.
 *
 * Reports of all ranks pass one machine's port, so they are made of no more broadcasts
 * than that they are a fiftieth of what these carried. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "channel/report.h"
#include "mpi/shim.h"
#include "mpi/tags.h"
#include "mpi/tuning.h"

enum { LETTERS = 32, PLANS = 4 }; /* limit: under way; waiting for a broadcast */

#define LETTER_MAGIC UINT32_C(0x65736d31)

enum kind { NEWS, PLAN };

struct letter {
    uint32_t magic, kind;
};

struct text {
    char *bytes; /* of a letter that is sent: with its head */
    size_t length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    int active; /* alike on all ranks */
    int here;   /* is the folder on this machine? */
    int near;   /* the first rank where it is */
    MPI_Comm twin;
    unsigned char *is_here; /* by rank of the job */
    int *sent;              /* letters to each rank */
    int taken;
    struct text out[LETTERS];
    MPI_Request request[LETTERS];
    struct text plan[PLANS]; /* the oldest first */
    int n_plans;
    double looked_s;
    uint64_t last_call; /* that this rank took part in, and when it ended */
    double last_call_s;
    struct espi_reporter reporter;
    /* plans that were sent: of the last roots and each class */
    struct sent_to {
        int node;
        struct espi_advice_seen seen[ESPI_CLASSES];
    } seen[PLANS];
    int next_seen;
} relay = {.reporter = {.fd = -1}};

/* ---- sending ---- */

/* A free place for a letter; -1: all are under way. */
static int free_letter(void)
{
    for (int i = 0; i < LETTERS; i++) {
        int done = 1;
        if (relay.out[i].bytes &&
            (PMPI_Test(&relay.request[i], &done, MPI_STATUS_IGNORE) || !done))
            continue;
        espi_free(relay.out[i].bytes);
        relay.out[i].bytes = NULL;
        return i;
    }
    return -1;
}

/* With the lock held. Whether it is under way. */
static int send_letter(int to, enum kind kind, const void *data, size_t length)
{
    struct letter head = {LETTER_MAGIC, kind};
    int i = free_letter();
    char *bytes = i < 0 ? NULL : espi_malloc(sizeof head + length);
    if (!bytes)
        return 0;
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, data, length);
    if (PMPI_Isend(bytes, (int)(sizeof head + length), MPI_BYTE, to, ESPI_TAG_RELAY,
                   relay.twin, &relay.request[i])) {
        espi_free(bytes);
        return 0;
    }
    relay.out[i] = (struct text){bytes, length};
    relay.sent[to]++;
    return 1;
}

/* ---- what came ---- */

static void keep_plan(const char *data, size_t length)
{
    char *copy = length && length <= ESPI_ADVICE_MAX ? espi_malloc(length) : NULL;
    if (!copy)
        return;
    memcpy(copy, data, length);
    if (relay.n_plans == PLANS) {
        espi_free(relay.plan[0].bytes);
        memmove(relay.plan, relay.plan + 1, (PLANS - 1) * sizeof *relay.plan);
        relay.n_plans--;
    }
    relay.plan[relay.n_plans++] = (struct text){copy, length};
}

/* Clocks of other machines are others. A call ends everywhere at about the same time. */
static void pass_on(const char *data, size_t length)
{
    union espi_news_text news;
    double now_s = espi_now_s();
    memcpy(&news, data, length < sizeof news ? length : sizeof news);
    enum espi_news kind = espi_news_kind(&news, length);
    if (kind == ESPI_NEWS_REPORT)
        news.report.at_s =
            news.report.call == relay.last_call ? relay.last_call_s : now_s;
    else if (kind == ESPI_NEWS_OUTCOME)
        news.outcome.at_s = now_s;
    else
        return;
    espi_news_send(&relay.reporter, espi_job.settings.advice, &news, length);
}

static void open_letter(const char *bytes, size_t length)
{
    struct letter head;
    if (length < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    if (head.magic != LETTER_MAGIC)
        return;
    if (head.kind == NEWS && relay.here)
        pass_on(bytes + sizeof head, length - sizeof head);
    else if (head.kind == PLAN)
        keep_plan(bytes + sizeof head, length - sizeof head);
}

/* With the lock held: one letter, if there is one. */
static int take_letter(void)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0, length = 0;
    if (PMPI_Improbe(MPI_ANY_SOURCE, ESPI_TAG_RELAY, relay.twin, &there, &message,
                     &status) ||
        !there)
        return 0;
    if (PMPI_Get_count(&status, MPI_BYTE, &length) || length < 0)
        length = 0;
    char *bytes = espi_malloc((size_t)length + 1);
    /* Without memory it is taken all the same, and cut off. */
    if (PMPI_Mrecv(bytes, bytes ? length : 0, MPI_BYTE, &message, &status) ==
            MPI_SUCCESS &&
        bytes)
        open_letter(bytes, (size_t)length);
    espi_free(bytes);
    relay.taken++;
    return 1;
}

static void take_letters(void)
{
    for (int i = 0; i < 2 * espi_job.n && take_letter(); i++)
        continue;
}

void espi_relay_idle(void)
{
    if (!relay.active)
        return;
    double now_s = espi_now_s();
    if (now_s - relay.looked_s < ESPI_NEWS_GAP_S || pthread_mutex_trylock(&lock))
        return; /* somebody is at it: we ourselves, perhaps */
    relay.looked_s = now_s;
    take_letters();
    pthread_mutex_unlock(&lock);
}

/* ---- what the calls need ---- */

int espi_relay_affords(const struct espi_call *call)
{
    double ways = 2 * (double)call->entry->prog.n_streams; /* each is told of twice */
    double cost_bytes = (double)espi_job.n * offsetof(struct espi_report, way) +
                        ways * sizeof(struct espi_report_way);
    double *credit_bytes = &call->c->credit_bytes;
    if (!relay.active)
        return 1;
    *credit_bytes += ESPI_REPORT_SHARE * (double)call->bytes;
    if (*credit_bytes < cost_bytes)
        return 0;
    *credit_bytes -= cost_bytes;
    if (*credit_bytes > cost_bytes)
        *credit_bytes = cost_bytes;
    return 1;
}

void espi_relay_news(const void *news, size_t length)
{
    pthread_mutex_lock(&lock);
    if (relay.active && !relay.here)
        send_letter(relay.near, NEWS, news, length);
    else
        espi_news_send(&relay.reporter, espi_job.settings.advice, news, length);
    pthread_mutex_unlock(&lock);
}

static struct sent_to *seen_of(int node)
{
    for (int i = 0; i < PLANS; i++)
        if (relay.seen[i].node == node)
            return &relay.seen[i];
    struct sent_to *s = &relay.seen[relay.next_seen++ % PLANS];
    *s = (struct sent_to){.node = node};
    return s;
}

/* Plans that are new, for a root that cannot look itself. */
static void send_plans(int root, int node, uint64_t bytes)
{
    struct sent_to *s = seen_of(node);
    int middle = espi_size_class(bytes);
    for (int k = middle - 1; k <= middle + 1; k++) {
        struct espi_advice_seen *seen, before;
        char *text = NULL;
        size_t length;
        if (k < 0 || k >= ESPI_CLASSES)
            continue;
        seen = &s->seen[k];
        before = *seen;
        if (!espi_advice_read(espi_job.settings.advice, node, k, seen, &text, &length))
            continue;
        if (!send_letter(root, PLAN, text, length))
            *seen = before; /* the next time, perhaps */
        espi_free(text);
    }
}

void espi_relay_call(const struct espi_call *call)
{
    const struct espi_comm *c = call->c;
    if (!relay.active)
        return;
    pthread_mutex_lock(&lock);
    relay.last_call = c->calls;
    relay.last_call_s = espi_now_s();
    take_letters();
    int root = c->world[call->root];
    if (espi_job.rank == relay.near && !relay.is_here[root])
        send_plans(root, c->node[call->root], call->bytes);
    pthread_mutex_unlock(&lock);
}

int espi_relay_plan(char **text, size_t *length)
{
    if (!relay.active || relay.here)
        return 0;
    pthread_mutex_lock(&lock);
    take_letters();
    int there = relay.n_plans > 0;
    if (there) {
        *text = relay.plan[0].bytes;
        *length = relay.plan[0].length;
        memmove(relay.plan, relay.plan + 1, (PLANS - 1) * sizeof *relay.plan);
        relay.n_plans--;
    }
    pthread_mutex_unlock(&lock);
    return there;
}

/* ---- the beginning and the end ---- */

void espi_relay_begin(MPI_Comm twin)
{
    int n = espi_job.n, ready = 1, all_ready = 0, n_here = 0;
    if (!espi_job.settings.advice[0] || !espi_job.node)
        return; /* alike on all ranks */
    struct esp_err why;
    if (espi_advice_check(espi_job.settings.advice, &why) == ESP_EINPUT)
        espi_say(ESPI_LOG_WARN, "%s", why.text);
    unsigned char here = (unsigned char)espi_advice_is_here(espi_job.settings.advice);
    relay.is_here = espi_calloc((size_t)n, 1);
    relay.sent = espi_calloc((size_t)n, sizeof *relay.sent);
    ready = relay.is_here && relay.sent;
    PMPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, twin);
    if (all_ready)
        PMPI_Allgather(&here, 1, MPI_BYTE, relay.is_here, 1, MPI_BYTE, twin);
    relay.near = n;
    const unsigned char *is_here = all_ready ? relay.is_here : NULL;
    for (int r = n - 1; r >= 0 && is_here; r--)
        if (is_here[r]) {
            relay.near = r;
            n_here++;
        }
    for (int i = 0; i < PLANS; i++)
        relay.seen[i].node = -1;
    relay.twin = twin;
    relay.here = here;
    relay.active = n_here > 0 && n_here < n;
    if (n_here == 0)
        espi_say(ESPI_LOG_INFO, "no rank is on the machine of the advisor");
    else if (relay.active)
        espi_say(ESPI_LOG_INFO,
                 "%d of %d ranks are on the machine of the advisor; rank "
                 "%d speaks for the others",
                 n_here, n, relay.near);
}

int espi_relay_is_active(void)
{
    return relay.active;
}

/* Nothing may be left on the twin. Collective. */
static void drain_relay(void)
{
    int to_come = 0;
    if (PMPI_Reduce_scatter_block(relay.sent, &to_come, 1, MPI_INT, MPI_SUM, relay.twin))
        return;
    while (relay.taken < to_come)
        take_letter();
    for (int i = 0; i < LETTERS; i++)
        if (relay.out[i].bytes)
            espi_mpi_wait(&relay.request[i]);
}

void espi_relay_end(void)
{
    pthread_mutex_lock(&lock);
    if (relay.active)
        drain_relay();
    relay.active = 0;
    for (int i = 0; i < LETTERS; i++) {
        espi_free(relay.out[i].bytes);
        relay.out[i].bytes = NULL;
    }
    while (relay.n_plans > 0)
        espi_free(relay.plan[--relay.n_plans].bytes);
    espi_free(relay.is_here);
    espi_free(relay.sent);
    relay.is_here = NULL;
    relay.sent = NULL;
    espi_reporter_done(&relay.reporter);
    pthread_mutex_unlock(&lock);
}
