#include "copy/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "copy/tuning.h"

int espi_secure_random(void *out, size_t bytes)
{
    return RAND_bytes(out, (int)bytes) == 1 ? 0 : -1;
}

int espi_secure_derive(const unsigned char key[ESPI_SECRET_BYTES], const void *words,
                       size_t bytes, unsigned char out[ESPI_SECRET_BYTES])
{
    unsigned length = 0;
    return HMAC(EVP_sha256(), key, ESPI_SECRET_BYTES, words, bytes, out, &length) ? 0
                                                                                  : -1;
}

int espi_secure_digest(const void *data, size_t bytes,
                       unsigned char out[ESPI_DIGEST_BYTES])
{
    return EVP_Digest(data, bytes, out, NULL, EVP_sha256(), NULL) == 1 ? 0 : -1;
}

/* ---- tags ---- */

struct espi_tagger {
    EVP_CIPHER_CTX *ctx;
};

struct espi_tagger *espi_tagger_create(const unsigned char key[ESPI_SECRET_BYTES])
{
    struct espi_tagger *t = espi_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->ctx = EVP_CIPHER_CTX_new();
    if (!t->ctx || EVP_EncryptInit_ex(t->ctx, EVP_aes_128_gcm(), NULL, key, NULL) != 1) {
        espi_tagger_free(t);
        return NULL;
    }
    return t;
}

void espi_tagger_free(struct espi_tagger *t)
{
    if (t)
        EVP_CIPHER_CTX_free(t->ctx);
    espi_free(t);
}

int espi_tagger_begin(struct espi_tagger *t, uint64_t number)
{
    unsigned char nonce[12] = {0}; /* published: GCM's; each block has its own */
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (unsigned char)(number >> (56 - 8 * i));
    return EVP_EncryptInit_ex(t->ctx, NULL, NULL, NULL, nonce) == 1 ? 0 : -1;
}

int espi_tagger_add(struct espi_tagger *t, const void *data, size_t bytes)
{
    int n;
    return EVP_EncryptUpdate(t->ctx, NULL, &n, data, (int)bytes) == 1 ? 0 : -1;
}

int espi_tagger_end(struct espi_tagger *t, unsigned char tag[ESPI_TAG_BYTES])
{
    int n;
    return EVP_EncryptFinal_ex(t->ctx, tag, &n) == 1 &&
                   EVP_CIPHER_CTX_ctrl(t->ctx, EVP_CTRL_GCM_GET_TAG, ESPI_TAG_BYTES,
                                       tag) == 1
               ? 0
               : -1;
}

/* ---- connections ---- */

enum {
    NONCE_BYTES = 16, /* derived: none comes twice */
    PROOF_BYTES = NONCE_BYTES + ESPI_DIGEST_BYTES,
};

struct espi_secure {
    int fd, is_server, encrypted, is_open;
    unsigned char key[ESPI_SECRET_BYTES];
    SSL *ssl;
    /* without encryption: what each side has shown the other, nonce and proof */
    unsigned char mine[PROOF_BYTES], theirs[PROOF_BYTES];
    size_t sent, got;
};

static int index_of_secure(void)
{
    static int number = -1;
    if (number < 0)
        number = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return number;
}

static SSL_SESSION *session_of(SSL *ssl)
{
    const struct espi_secure *s = SSL_get_ex_data(ssl, index_of_secure());
    const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01}; /* published: RFC 8446 */
    SSL_SESSION *session = SSL_SESSION_new();
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    if (!session || !cipher ||
        SSL_SESSION_set1_master_key(session, s->key, sizeof s->key) != 1 ||
        SSL_SESSION_set_cipher(session, cipher) != 1 ||
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
        SSL_SESSION_free(session);
        return NULL;
    }
    return session;
}

/* Which key it is was said before the handshake; the name it goes by means nothing. */
static const unsigned char psk_name[] = "espalier";

static int use_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *bytes,
                   SSL_SESSION **session)
{
    (void)md;
    *session = session_of(ssl);
    *id = psk_name;
    *bytes = sizeof psk_name - 1;
    return *session != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *id, size_t bytes,
                    SSL_SESSION **session)
{
    *session = NULL;
    if (bytes == sizeof psk_name - 1 && memcmp(id, psk_name, bytes) == 0)
        *session = session_of(ssl);
    return 1;
}

/* One for all connections; it has no certificate, so that without the key nothing
 * works. */
static SSL_CTX *context(void)
{
    static SSL_CTX *ctx;
    if (ctx)
        return ctx;
    ctx = SSL_CTX_new(TLS_method());
    if (!ctx)
        return NULL;
    if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_set_num_tickets(ctx, 0) != 1) {
        SSL_CTX_free(ctx);
        return ctx = NULL;
    }
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_read_buffer_len(ctx, ESPI_COPY_WORK_BYTES);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_psk_use_session_callback(ctx, use_psk);
    SSL_CTX_set_psk_find_session_callback(ctx, find_psk);
    return ctx;
}

static int open_tls(struct espi_secure *s)
{
    SSL_CTX *ctx = context();
    s->ssl = ctx ? SSL_new(ctx) : NULL;
    if (!s->ssl || SSL_set_ex_data(s->ssl, index_of_secure(), s) != 1 ||
        SSL_set_fd(s->ssl, s->fd) != 1)
        return -1;
    if (s->is_server)
        SSL_set_accept_state(s->ssl);
    else
        SSL_set_connect_state(s->ssl);
    return 0;
}

struct espi_secure *espi_secure_create(int fd, int is_server, int encrypted,
                                       const unsigned char key[ESPI_SECRET_BYTES])
{
    struct espi_secure *s = espi_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = fd;
    s->is_server = is_server;
    s->encrypted = encrypted;
    memcpy(s->key, key, sizeof s->key);
    if (encrypted ? open_tls(s) : espi_secure_random(s->mine, NONCE_BYTES)) {
        espi_secure_free(s);
        return NULL;
    }
    return s;
}

void espi_secure_free(struct espi_secure *s)
{
    if (!s)
        return;
    SSL_free(s->ssl);
    OPENSSL_cleanse(s->key, sizeof s->key);
    espi_free(s);
}

static long move_bytes(long n)
{
    if (n > 0)
        return n;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    return -1;
}

/* 0: the connection is in order and has to wait. */
static int tls_trouble(const struct espi_secure *s, int result)
{
    int why = SSL_get_error(s->ssl, result);
    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

/* A proof is over both nonces, and says which side made it. */
static int make_proof(const struct espi_secure *s, int of_server,
                      unsigned char out[ESPI_DIGEST_BYTES])
{
    unsigned char words[1 + 2 * NONCE_BYTES];
    words[0] = of_server ? 's' : 'c';
    memcpy(words + 1, s->is_server ? s->theirs : s->mine, NONCE_BYTES);
    memcpy(words + 1 + NONCE_BYTES, s->is_server ? s->mine : s->theirs, NONCE_BYTES);
    return espi_secure_derive(s->key, words, sizeof words, out);
}

/* Nonces cross, then proofs. */
static int shake_plain(struct espi_secure *s)
{
    unsigned char wanted[ESPI_DIGEST_BYTES];
    for (;;) {
        int has_nonce = s->got >= NONCE_BYTES;
        size_t may_send = has_nonce ? PROOF_BYTES : NONCE_BYTES;
        if (has_nonce && s->sent <= NONCE_BYTES &&
            make_proof(s, s->is_server, s->mine + NONCE_BYTES))
            return -1;
        if (s->sent < may_send) {
            long n = move_bytes(
                send(s->fd, s->mine + s->sent, may_send - s->sent, MSG_NOSIGNAL));
            if (n <= 0)
                return (int)n;
            s->sent += (size_t)n;
        } else if (s->got < PROOF_BYTES) {
            long n = move_bytes(recv(s->fd, s->theirs + s->got, PROOF_BYTES - s->got, 0));
            if (n <= 0)
                return (int)n;
            s->got += (size_t)n;
        } else {
            break;
        }
    }
    if (make_proof(s, !s->is_server, wanted) ||
        CRYPTO_memcmp(wanted, s->theirs + NONCE_BYTES, sizeof wanted) != 0)
        return -1;
    return 1;
}

int espi_secure_shake(struct espi_secure *s)
{
    if (s->is_open)
        return 1;
    if (s->encrypted) {
        int result = SSL_do_handshake(s->ssl);
        if (result != 1)
            return tls_trouble(s, result);
        if (!SSL_session_reused(s->ssl))
            return -1; /* the key was not used */
    } else {
        int done = shake_plain(s);
        if (done != 1)
            return done;
    }
    s->is_open = 1;
    return 1;
}

long espi_secure_read(struct espi_secure *s, void *to, size_t bytes)
{
    size_t n = 0;
    if (!s->encrypted)
        return move_bytes(recv(s->fd, to, bytes, 0));
    int result = SSL_read_ex(s->ssl, to, bytes, &n);
    return result == 1 ? (long)n : tls_trouble(s, result);
}

long espi_secure_write(struct espi_secure *s, const void *from, size_t bytes)
{
    size_t n = 0;
    if (!s->encrypted)
        return move_bytes(send(s->fd, from, bytes, MSG_NOSIGNAL));
    int result = SSL_write_ex(s->ssl, from, bytes, &n);
    return result == 1 ? (long)n : tls_trouble(s, result);
}

/* Is it the file or the way that the kernel does not like, not the connection? */
static int is_unable(void)
{
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EIO ||
           errno == ENOMEM || errno == EOVERFLOW;
}

long espi_secure_send_file(struct espi_secure *s, int fd, uint64_t at, size_t bytes)
{
    off_t from = (off_t)at;
    if (s->encrypted)
        return ESPI_SECURE_CANNOT;
    ssize_t n = sendfile(s->fd, fd, &from, bytes);
    return n == 0 || (n < 0 && is_unable()) ? ESPI_SECURE_CANNOT : move_bytes(n);
}

long espi_secure_read_pipe(struct espi_secure *s, int pipe, size_t bytes)
{
    if (s->encrypted)
        return ESPI_SECURE_CANNOT;
    ssize_t n = splice(s->fd, NULL, pipe, NULL, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    return n < 0 && is_unable() ? ESPI_SECURE_CANNOT : move_bytes(n);
}
