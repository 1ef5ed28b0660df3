/* What OpenSSL does for us: random keys, keys made of keys, tags of blocks, and
 * connections that are authenticated and, unless told not to be, encrypted.
 *
 * A tag of a block is a GMAC (NIST SP 800-38D) under a key that nobody has before the
 * block has arrived. So whoever passed on something else could not know what to change
 * to go unseen: it is found but for one time in about 2^100. */
#ifndef ESPI_COPY_SECURE_H
#define ESPI_COPY_SECURE_H

#include <stddef.h>
#include <stdint.h>

/* published: sizes of AES-128-GCM's tag, SHA-256 and TLS_AES_128_GCM_SHA256's secrets */
enum { ESPI_SECRET_BYTES = 32, ESPI_TAG_BYTES = 16, ESPI_DIGEST_BYTES = 32 };

/* 0, or -1: there is no randomness. */
int espi_secure_random(void *out, size_t bytes);
/* A key of a key, for what the words say. */
int espi_secure_derive(const unsigned char key[ESPI_SECRET_BYTES], const void *words,
                       size_t bytes, unsigned char out[ESPI_SECRET_BYTES]);
int espi_secure_digest(const void *data, size_t bytes,
                       unsigned char out[ESPI_DIGEST_BYTES]);

struct espi_tagger;
struct espi_tagger *espi_tagger_create(const unsigned char key[ESPI_SECRET_BYTES]);
void espi_tagger_free(struct espi_tagger *t);
/* A block, and its bytes in pieces. */
int espi_tagger_begin(struct espi_tagger *t, uint64_t number);
int espi_tagger_add(struct espi_tagger *t, const void *data, size_t bytes);
int espi_tagger_end(struct espi_tagger *t, unsigned char tag[ESPI_TAG_BYTES]);

/* ---- connections ---- */

/* Over a connected, non-blocking socket, which stays the caller's. */
struct espi_secure;

struct espi_secure *espi_secure_create(int fd, int is_server, int encrypted,
                                       const unsigned char key[ESPI_SECRET_BYTES]);
void espi_secure_free(struct espi_secure *s);
/* 1: both sides know the key; 0: not yet; -1: they do not, or the connection is gone. */
int espi_secure_shake(struct espi_secure *s);
/* Bytes read or written, 0: none now, -1: gone. */
long espi_secure_read(struct espi_secure *s, void *to, size_t bytes);
long espi_secure_write(struct espi_secure *s, const void *from, size_t bytes);
/* An encrypted connection that has none now may hold back less than so many: the
 * beginning of a record of TLS. */
enum { ESPI_SECURE_RECORD_BYTES = 16384 }; /* published: RFC 8446 */
/* The same from a file, and to a pipe, moved by the kernel; what it cannot do, for one
 * where bytes are to be encrypted, has a code of its own. */
enum { ESPI_SECURE_CANNOT = -2 }; /* code */
long espi_secure_send_file(struct espi_secure *s, int fd, uint64_t at, size_t bytes);
long espi_secure_read_pipe(struct espi_secure *s, int pipe, size_t bytes);

#endif
