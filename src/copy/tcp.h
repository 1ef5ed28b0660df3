/* The transport of a copy: a TCP connection for each stream of the program, from its
 * sender to its receiver, authenticated and encrypted (secure.h). Messages of a stream
 * have sizes that both sides know, so that they follow one another without anything
 * between them. */
#ifndef ESPI_COPY_TCP_H
#define ESPI_COPY_TCP_H

#include "copy/slices.h"
#include "exec/transport.h"

/* Where connections arrive, for as long as the process lives. */
struct espi_listener {
    int fd;
    uint32_t port;
};

int espi_listener_open(struct espi_listener *l); /* 0, or -1 and errno */
void espi_listener_close(struct espi_listener *l);

struct espi_tcp;

/* For the streams of the slices' part; both are borrowed. NULL listener: nothing comes
 * in. NULL when out of memory or descriptors. */
struct espi_tcp *espi_tcp_create(struct espi_copy_slices *slices, int encrypted,
                                 const struct espi_listener *listener);
void espi_tcp_free(struct espi_tcp *t);
/* Everybody is ready: connects to all receivers. 0, or -1: one cannot be found. */
int espi_tcp_start(struct espi_tcp *t);

const struct espi_transport *espi_tcp_transport(struct espi_tcp *t);
/* Readable when there is something to do. */
int espi_tcp_fd(const struct espi_tcp *t);
/* From now on messages are done for so long; then whoever drives the run has a turn, even
 * where there is always more to do. */
void espi_tcp_turn(struct espi_tcp *t, double for_s);
/* Bytes that went in or out so far. */
uint64_t espi_tcp_moved(const struct espi_tcp *t);
/* The stream (number in the part) that broke; -1: none. why: nullable, what there was. */
enum { ESPI_TCP_WHY = 256 }; /* limit: bytes of it */
int espi_tcp_broken(const struct espi_tcp *t, const char **why);
/* Streams going out of which nothing got to the other end for so long, though there is
 * something to send, or to arrive: their numbers in the whole program, at most n of them;
 * gives how many. To be asked often, for it is then that it looks. */
int espi_tcp_stuck(struct espi_tcp *t, double for_s, uint32_t *numbers, int n);

#endif
