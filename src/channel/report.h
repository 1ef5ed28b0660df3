/* The two ways between the ranks of a job and its advisor, both in one folder that only
 * their user can enter: a socket on which ranks tell what they saw, and files in which
 * the advisor puts plans. Neither side ever waits for the other, and neither trusts what
 * it reads. */
#ifndef ESPI_CHANNEL_REPORT_H
#define ESPI_CHANNEL_REPORT_H

#include "channel/prober.h"
#include "channel/rank_report.h"
#include "channel/tuning.h"

/* The longest plan that is published: what travels with a broadcast. */
enum { ESPI_ADVICE_MAX = 1 << 17 };

/* What the root's rank (without a root: rank 0) tells of any collective of which it was
 * decided whether a plan runs it or the MPI library. */
struct espi_outcome {
    uint32_t magic, version;
    int32_t op;       /* esp_op */
    int32_t root;     /* node; -1: not known */
    int32_t ranks;    /* of the communicator */
    int32_t ours;     /* by a plan? */
    uint64_t call;    /* its number in reports; 0: it has none */
    uint64_t bytes;   /* of the message as plans count it */
    uint64_t skipped; /* calls before it that nothing was told of */
    double total_s;   /* of the call at that rank */
    double at_s;      /* when it ended, on the clock of the machine */
    /* predicted when it was decided, for the largest message of the class; 0: not */
    double ours_s, native_s;
    char algo[48]; /* of the plan; ended by a 0 */
};

#define ESPI_OUTCOME_MAGIC   UINT32_C(0x6573706f)
#define ESPI_OUTCOME_VERSION 1

/* Could it be true of a program on this network? */
int espi_outcome_is_sane(const struct esp_platform *net, const struct espi_outcome *o);

/* ---- the ranks' side ---- */

struct espi_reporter {
    int fd;         /* -1: not connected */
    double tried_s; /* when a connection was tried last */
};

/* A connection to the advisor, if it is of our own user; -1: none. */
int espi_advice_connect(const char *folder);

/* Tells the advisor, a report or an outcome; what cannot be delivered at once is lost. */
void espi_news_send(struct espi_reporter *r, const char *folder, const void *news,
                    size_t size);
void espi_reporter_done(struct espi_reporter *r);

/* Is the folder one of our own user's, itself and no link to one, that nobody else can
 * write to? ESP_EINPUT: it is there and is not; ESP_EIO: it is not there. What is in
 * another is not looked at. */
esp_status espi_advice_check(const char *folder, struct esp_err *err);

/* Is the folder on this machine and ours, so that its socket leads to the advisor? */
int espi_advice_is_here(const char *folder);

/* What a file of the advisor looked like when it was read last. */
struct espi_advice_seen {
    long long inode, size, sec, nsec;
};

/* The text of the plan for a root and size class, if it is another than seen: 1, and
 * *text (espi_free) and *length; 0: nothing new. Only a file of our own user that nobody
 * else can write counts. */
int espi_advice_read(const char *folder, int root, int size_class,
                     struct espi_advice_seen *seen, char **text, size_t *length);

/* ---- the advisor's side ---- */

/* Notes in the folder which machine it is on. */
esp_status espi_advice_mark(const char *folder, struct esp_err *err);

/* Makes the folder (0700; a new one when path ends in XXXXXX) and listens on its socket
 * (0600). */
esp_status espi_advice_listen(char *folder, int *fd, struct esp_err *err);

/* A connection of a process of our own user; -1: none, others are turned away. */
int espi_advice_accept(int fd);

/* What a connection brings. */
enum espi_news {
    ESPI_NEWS_END = -1,
    ESPI_NEWS_NONE,
    ESPI_NEWS_REPORT,
    ESPI_NEWS_OUTCOME,
    ESPI_NEWS_PROBE
};

union espi_news_text {
    struct espi_report report;
    struct espi_outcome outcome;
    struct espi_probe_note probe;
};

/* Of which kind is a message of that length? ESPI_NEWS_END: of none. */
enum espi_news espi_news_kind(const union espi_news_text *text, size_t length);

/* The next message of a connection. ESPI_NEWS_NONE: none yet; ESPI_NEWS_END: it is closed
 * or nonsense came. */
enum espi_news espi_advice_receive(int fd, union espi_news_text *out);

/* Publishes a plan: the file appears whole or not at all. */
esp_status espi_advice_write(const char *folder, const struct esp_platform *net,
                             const struct espi_advice *advice, struct esp_err *err);

/* The file in the folder that says where the advisor's page is. */
#define ESPI_LIVE_NAME "live.url"

/* Removes what the advisor left in the folder, and the folder. */
void espi_advice_clean(const char *folder);

#endif
