/* The two ways between the ranks of a job and its advisor, both in one folder that only
 * their user can enter: a socket on which ranks tell what they saw, and files in which
 * the advisor puts plans. Neither side ever waits for the other, and neither trusts what
 * it reads. */
#ifndef ESPI_ADVISE_REPORT_H
#define ESPI_ADVISE_REPORT_H

#include "advise/advisor.h"

/* The longest plan that is published: what travels with a broadcast. */
enum { ESPI_ADVICE_MAX = 32768 };

/* ---- the ranks' side ---- */

struct espi_reporter {
    int fd;         /* -1: not connected */
    double tried_s; /* when a connection was tried last */
};

/* Tells the advisor; a report that cannot be delivered at once is lost. */
void espi_report_send(struct espi_reporter *r, const char *folder,
                      const struct espi_report *report);
void espi_reporter_done(struct espi_reporter *r);

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

/* Makes the folder (0700; a new one when path ends in XXXXXX) and listens on its socket
 * (0600). */
esp_status espi_advice_listen(char *folder, int *fd, struct esp_err *err);

/* A connection of a process of our own user; -1: none, others are turned away. */
int espi_advice_accept(int fd);

/* The next report of a connection: 1; 0: none yet; -1: it is closed or nonsense came. */
int espi_advice_receive(int fd, struct espi_report *report);

/* Publishes a plan: the file appears whole or not at all. */
esp_status espi_advice_write(const char *folder, const struct esp_platform *net,
                             const struct espi_advice *advice, struct esp_err *err);

/* Removes what the advisor left in the folder, and the folder. */
void espi_advice_clean(const char *folder);

#endif
