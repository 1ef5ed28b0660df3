#include "live/server.h"

#include "base/err.h"

#ifdef ESPALIER_WITH_HTTP
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "live/tuning.h"
#include "report/page.h"

/* limit: of one who would take all */
enum {
    CONNECTIONS = 32,
    REQUEST_ROOM = 16384, /* of one connection: a longer request is refused */
    BACKLOG = 64,
};

struct visitor {
    int fd; /* -1: the place is free */
    double since_s;
};

struct espi_server {
    struct MHD_Daemon *daemon;
    struct espi_live_source source;
    struct espi_token token;
    char url[128 + ESPI_TOKEN_MAX];
    pthread_mutex_t lock; /* of the visitors */
    struct visitor visitor[CONNECTIONS + 1];
};

esp_status espi_server_exists(struct esp_err *err)
{
    if (espi_page_exists())
        return ESP_OK;
    return espi_err(err, ESP_EUNSUPPORTED,
                    "this espalier was built without pages, because npm was missing: run "
                    "tools/setup and build again");
}

/* ---- answers ---- */

struct answer {
    unsigned code;
    const char *type;
    char *bytes; /* malloc */
    size_t length;
    char nonce[33];
};

static void add_headers(struct MHD_Response *response, const struct answer *a)
{
    static const char *const fixed[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
    };
    char policy[320];

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
    snprintf(policy, sizeof policy,
             "default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; "
             "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'",
             *a->nonce ? a->nonce : "none");
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    if (a->code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (a->code == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
}

/* Hands the bytes over. For HEAD the library leaves the body out by itself. */
static enum MHD_Result reply(struct MHD_Connection *connection, struct answer *a)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        a->length, a->bytes ? a->bytes : (void *)"", MHD_RESPMEM_MUST_FREE);

    if (!response) {
        free(a->bytes);
        return MHD_NO; /* closes the connection */
    }
    add_headers(response, a);
    enum MHD_Result done = MHD_queue_response(connection, a->code, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result refuse_request(struct MHD_Connection *connection, unsigned code,
                                      const char *sentence)
{
    struct answer a = {.code = code, .type = "text/plain; charset=utf-8"};

    a.bytes = strdup(sentence);
    if (!a.bytes)
        return MHD_NO;
    a.length = strlen(sentence);
    return reply(connection, &a);
}

/* The number that an argument of the query is; 0: there is none, or it is none. */
static uint64_t number_of(struct MHD_Connection *connection, const char *name)
{
    const char *text =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);

    if (!text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
        return 0;
    return strtoull(text, NULL, 10);
}

static esp_status write_page(const struct espi_server *s, struct answer *a, FILE *out,
                             struct esp_err *err)
{
    struct espi_token nonce;
    esp_status st = espi_token_make(&nonce, err);

    if (st)
        return st;
    memcpy(a->nonce, nonce.text, sizeof a->nonce);
    a->type = "text/html; charset=utf-8";
    return s->source.page(a->nonce, out, err);
}

static esp_status write_answer(struct espi_server *s, struct MHD_Connection *connection,
                               const char *path, struct answer *a, FILE *out,
                               struct esp_err *err)
{
    uint64_t since = number_of(connection, "since");

    a->type = "application/json";
    if (strcmp(path, "/") == 0)
        return write_page(s, a, out, err);
    return s->source.answer(s->source.self, path,
                            since ? since : number_of(connection, "id"), out, err);
}

static enum MHD_Result answer_request(struct espi_server *s,
                                      struct MHD_Connection *connection, const char *path)
{
    struct answer a = {.code = MHD_HTTP_OK};
    struct esp_err err = {.status = ESP_OK, .text = ""};
    FILE *out = open_memstream(&a.bytes, &a.length);

    if (!out)
        return MHD_NO;
    esp_status st = write_answer(s, connection, path, &a, out, &err);
    if (fclose(out) || st) {
        free(a.bytes);
        return refuse_request(connection,
                              st == ESP_EINPUT ? MHD_HTTP_NOT_FOUND
                                               : MHD_HTTP_INTERNAL_SERVER_ERROR,
                              st ? err.text : "out of memory");
    }
    return reply(connection, &a);
}

/* ---- who may ---- */

static const char *token_of(struct MHD_Connection *connection)
{
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_AUTHORIZATION);

    if (header && strncmp(header, "Bearer ", 7) == 0)
        return header + 7;
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
}

static enum MHD_Result refuse_token(const struct espi_server *s,
                                    struct MHD_Connection *connection, unsigned code,
                                    const char *what)
{
    char text[160];

    snprintf(text, sizeof text,
             "%s: open the address that %s wrote on its standard error\n", what,
             s->source.who);
    return refuse_request(connection, code, text);
}

/* The answer is given before a body is read, which none of ours would have. */
static enum MHD_Result on_request(void *server, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
    struct espi_server *s = server;
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const char *given = token_of(connection);

    (void)version, (void)upload, (void)upload_size, (void)request;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse_request(
            connection, MHD_HTTP_METHOD_NOT_ALLOWED,
            "this page can be looked at, and nothing else: GET or HEAD\n");
    if (!espi_host_is_safe(host))
        return refuse_request(
            connection, MHD_HTTP_FORBIDDEN,
            "the Host header names neither an address nor localhost: open the "
            "page by its address\n");
    if (!given)
        return refuse_token(s, connection, MHD_HTTP_UNAUTHORIZED,
                            "this page needs its token");
    if (!espi_token_matches(&s->token, given))
        return refuse_token(s, connection, MHD_HTTP_FORBIDDEN,
                            "this is not the token of this page");
    return answer_request(s, connection, path);
}

/* ---- visitors ---- */

static struct visitor *find_visitor(struct espi_server *s, int fd)
{
    for (int i = 0; i <= CONNECTIONS; i++)
        if (s->visitor[i].fd == fd)
            return &s->visitor[i];
    return NULL;
}

static int fd_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static void on_connection(void *server, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct espi_server *s = server;
    int fd = fd_of(connection);

    (void)context;
    pthread_mutex_lock(&s->lock);
    struct visitor *v = find_visitor(s, what == MHD_CONNECTION_NOTIFY_STARTED ? -1 : fd);
    if (v && what == MHD_CONNECTION_NOTIFY_STARTED)
        *v = (struct visitor){fd, espi_now_s()};
    else if (v)
        v->fd = -1;
    pthread_mutex_unlock(&s->lock);
}

static void on_completed(void *server, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode how)
{
    struct espi_server *s = server;

    (void)request, (void)how;
    pthread_mutex_lock(&s->lock);
    struct visitor *v = find_visitor(s, fd_of(connection));
    if (v)
        v->since_s = espi_now_s();
    pthread_mutex_unlock(&s->lock);
}

void espi_server_tend(struct espi_server *s, double now_s)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i <= CONNECTIONS; i++)
        if (s->visitor[i].fd >= 0 && now_s - s->visitor[i].since_s > ESPI_LIVE_REQUEST_S)
            shutdown(s->visitor[i].fd, SHUT_RDWR); /* the library sees its end */
    pthread_mutex_unlock(&s->lock);
}

/* ---- the service ---- */

/* Without a word on standard error, which is the program's. */
static void on_log(void *server, const char *fmt, va_list args)
{
    (void)server, (void)fmt, (void)args;
}

static const char *text_of(const struct espi_address *a, char *out, size_t size)
{
    char host[INET6_ADDRSTRLEN];
    int v6 = a->socket.any.sa_family == AF_INET6;

    inet_ntop(a->socket.any.sa_family,
              v6 ? (const void *)&a->socket.v6.sin6_addr
                 : (const void *)&a->socket.v4.sin_addr,
              host, sizeof host);
    snprintf(out, size, v6 ? "[%s]:%d" : "%s:%d", host, a->port);
    return out;
}

static esp_status listen_on(struct espi_address *a, int *out, struct esp_err *err)
{
    const int on = 1;
    char text[80];
    int fd =
        socket(a->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) /* one before us may have connections that linger */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, &a->socket.any, a->length) || listen(fd, BACKLOG) ||
        getsockname(fd, &a->socket.any, &a->length)) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return espi_err(err, ESP_EIO, "cannot listen on %s: %s",
                        text_of(a, text, sizeof text), strerror(why));
    }
    a->port = ntohs(a->socket.any.sa_family == AF_INET6 ? a->socket.v6.sin6_port
                                                        : a->socket.v4.sin_port);
    *out = fd;
    return ESP_OK;
}

static struct MHD_Daemon *start_daemon(struct espi_server *s, int fd)
{
    return MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_ROOM,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)ESPI_LIVE_IDLE_S,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, s, MHD_OPTION_END);
}

esp_status espi_server_start(const struct espi_address *address,
                             const struct espi_token *token,
                             const struct espi_live_source *source,
                             struct espi_server **out, struct esp_err *err)
{
    struct espi_address bound = *address;
    char text[80];
    int fd;
    esp_status st = espi_server_exists(err);

    if (!st)
        st = listen_on(&bound, &fd, err);
    if (st)
        return st;
    struct espi_server *s = espi_calloc(1, sizeof *s);
    if (!s) {
        close(fd);
        return espi_err_nomem(err);
    }
    s->source = *source;
    s->token = *token;
    snprintf(s->url, sizeof s->url, "http://%s/?token=%s",
             text_of(&bound, text, sizeof text), token->text);
    for (int i = 0; i <= CONNECTIONS; i++)
        s->visitor[i].fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    s->daemon = start_daemon(s, fd);
    if (!s->daemon) {
        close(fd);
        espi_server_stop(s);
        return espi_err(err, ESP_EIO, "libmicrohttpd cannot start on %s", text);
    }
    *out = s;
    return ESP_OK;
}

void espi_server_stop(struct espi_server *s)
{
    if (!s)
        return;
    if (s->daemon)
        MHD_stop_daemon(s->daemon); /* closes the socket too */
    pthread_mutex_destroy(&s->lock);
    espi_free(s);
}

const char *espi_server_url(const struct espi_server *s)
{
    return s->url;
}

#else /* without libmicrohttpd */

esp_status espi_server_exists(struct esp_err *err)
{
    return espi_err(err, ESP_EUNSUPPORTED,
                    "this espalier was built without libmicrohttpd: run tools/setup and "
                    "build again");
}

esp_status espi_server_start(const struct espi_address *address,
                             const struct espi_token *token,
                             const struct espi_live_source *source,
                             struct espi_server **out, struct esp_err *err)
{
    (void)address, (void)token, (void)source, (void)out;
    return espi_server_exists(err);
}

void espi_server_stop(struct espi_server *s)
{
    (void)s;
}

const char *espi_server_url(const struct espi_server *s)
{
    (void)s;
    return "";
}

void espi_server_tend(struct espi_server *s, double now_s)
{
    (void)s, (void)now_s;
}

#endif
