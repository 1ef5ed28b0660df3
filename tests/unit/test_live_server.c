/* The server of the live page: who may look, and that nobody can harm the advisor or keep
 * others out. Built where there is libmicrohttpd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <espalier/espalier.h>

#include "base/clock.h"
#include "base/rng.h"
#include "live/board.h"
#include "live/live_log.h"
#include "live/server.h"
#include "support/live_scene.h"
#include "support/seed.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct espi_server *start(struct scene *s)
{
    struct espi_address a;
    struct espi_token token = {TOKEN};
    struct espi_server *server = NULL;
    begin(s);
    struct espi_live_source source = espi_live_log_source(s->l);
    assert_int_equal(espi_address_parse("127.0.0.1:0", &a, NULL), ESP_OK);
    assert_int_equal(espi_server_start(&a, &token, &source, &server, NULL), ESP_OK);
    return server;
}

static void stop(struct scene *s, struct espi_server *server)
{
    espi_server_stop(server);
    end(s);
}

static int knock(const struct espi_server *server)
{
    struct espi_address a;
    char text[64];
    const struct timeval patience = {.tv_sec = 60};
    snprintf(text, sizeof text, "%.*s", (int)strcspn(espi_server_url(server) + 7, "/"),
             espi_server_url(server) + 7);
    assert_int_equal(espi_address_parse(text, &a, NULL), ESP_OK);
    int fd = socket(a.socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, &a.socket.any, a.length), 0);
    return fd;
}

static void say(int fd, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        ssize_t n = send(fd, text + at, length - at, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* cut off */
        at += (size_t)n;
    }
}

/* All that comes until the other side closes; static memory. */
static const char *hear(int fd)
{
    static char text[1 << 20];
    size_t at = 0;
    ssize_t n;
    while (at < sizeof text - 1 && (n = recv(fd, text + at, sizeof text - 1 - at, 0)) > 0)
        at += (size_t)n;
    text[at] = '\0';
    close(fd);
    return text;
}

/* The same of one that would wait for more: time passes, and it is cut off. */
static const char *hear_end(struct espi_server *server, int fd)
{
    const struct timeval soon = {.tv_usec = 20000}, patience = {.tv_sec = 60};
    char first;
    shutdown(fd, SHUT_WR);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    for (int i = 0; i < 1000 && recv(fd, &first, 1, MSG_PEEK) < 0; i++)
        espi_server_tend(server, espi_now_s() + 100);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return hear(fd);
}

static const char *ask(const struct espi_server *server, const char *request)
{
    int fd = knock(server);
    say(fd, request, strlen(request));
    return hear(fd);
}

static int code_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}

#define HOST  "Host: 127.0.0.1:80\r\n"
#define CLOSE "Connection: close\r\n\r\n"
#define KEY   "Authorization: Bearer " TOKEN "\r\n"

static void only_those_with_the_token_may_look(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int code;
    } cases[] = {
        {"GET /?token=" TOKEN " HTTP/1.1\r\n" HOST CLOSE, 200},
        {"GET /api/state HTTP/1.1\r\n" HOST KEY CLOSE, 200},
        {"HEAD /api/state HTTP/1.1\r\n" HOST KEY CLOSE, 200},
        {"GET /api/network HTTP/1.1\r\n" HOST KEY CLOSE, 200},
        {"GET / HTTP/1.1\r\n" HOST CLOSE, 401},
        {"GET /api/state HTTP/1.1\r\n" HOST CLOSE, 401},
        {"GET /nowhere HTTP/1.1\r\n" HOST CLOSE, 401},
        {"GET /?token= HTTP/1.1\r\n" HOST CLOSE, 403},
        {"GET /?token=x" TOKEN " HTTP/1.1\r\n" HOST CLOSE, 403},
        {"GET /?token=0 HTTP/1.1\r\n" HOST CLOSE, 403},
        {"GET / HTTP/1.1\r\nAuthorization: Basic " TOKEN "\r\n" HOST CLOSE, 401},
        {"GET / HTTP/1.1\r\nAuthorization: Bearer x\r\n" HOST CLOSE, 403},
        {"GET /nowhere HTTP/1.1\r\n" HOST KEY CLOSE, 404},
        {"GET /../etc/passwd HTTP/1.1\r\n" HOST KEY CLOSE, 404},
        {"GET /api/plan?id=99 HTTP/1.1\r\n" HOST KEY CLOSE, 404},
        {"GET /api/plan?id=-1 HTTP/1.1\r\n" HOST KEY CLOSE, 404},
        {"GET /api/state?since=nonsense HTTP/1.1\r\n" HOST KEY CLOSE, 200},
        {"POST /api/state HTTP/1.1\r\n" HOST KEY "Content-Length: 0\r\n" CLOSE, 405},
        {"PUT / HTTP/1.1\r\n" HOST KEY "Content-Length: 3\r\n" CLOSE "abc", 405},
        {"DELETE / HTTP/1.1\r\n" HOST KEY CLOSE, 405},
        {"OPTIONS / HTTP/1.1\r\n" HOST KEY CLOSE, 405},
        {"GET /api/state HTTP/1.1\r\nHost: evil.example\r\n" KEY CLOSE, 403},
        {"GET /api/state HTTP/1.1\r\nHost: localhost.evil.example:80\r\n" KEY CLOSE, 403},
        {"GET /api/state HTTP/1.0\r\n" KEY CLOSE, 403},
    };
    struct scene s;
    struct espi_server *server = start(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *answer = ask(server, cases[i].request);
        if (code_of(answer) != cases[i].code)
            fail_msg("%d for %s", code_of(answer), cases[i].request);
        if (cases[i].code != 200)
            assert_null(strstr(answer, "espalier-live"));
        assert_non_null(strstr(answer, "Cache-Control: no-store"));
        assert_non_null(strstr(answer, "default-src 'none'"));
        assert_non_null(strstr(answer, "nosniff"));
        const char *body = strstr(answer, "\r\n\r\n");
        assert_non_null(body);
        assert_int_equal(!body[4], strncmp(cases[i].request, "HEAD", 4) == 0);
    }
    /* A script runs only with the nonce of its page, which is another each time. */
    const char *page = ask(server, cases[0].request);
    const char *nonce = strstr(page, "'nonce-");
    assert_non_null(nonce);
    char mark[64];
    snprintf(mark, sizeof mark, "<script nonce=\"%.32s\">", nonce + 7);
    assert_non_null(strstr(page, mark));
    assert_null(strstr(ask(server, cases[0].request), mark));
    stop(&s, server);
}

static void hostile_requests_are_cut_short(void **state)
{
    (void)state;
    struct scene s;
    struct espi_rng rng;
    static char large[1 << 18];
    struct espi_server *server = start(&s);
    memset(large, 'a', sizeof large - 1);
    static const char *const heads[] = {"GET /", "GET / HTTP/1.1\r\nX: ", "",
                                        "GET /?token="};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int fd = knock(server);
        say(fd, heads[i], strlen(heads[i]));
        say(fd, large, sizeof large - 1);
        int code = code_of(hear_end(server, fd));
        assert_true(code == 0 || (code >= 400 && code < 500));
    }
    int fd = knock(server); /* many headers */
    say(fd, "GET / HTTP/1.1\r\n" HOST KEY, strlen("GET / HTTP/1.1\r\n" HOST KEY));
    for (int i = 0; i < 20000; i++)
        say(fd, "X-Header: 1\r\n", 13);
    int code = code_of(hear_end(server, fd));
    assert_true(code == 0 || (code >= 400 && code < 500));
    espi_rng_seed(&rng, test_seed(3));
    for (int i = 0; i < 200; i++) { /* noise */
        char noise[300];
        size_t length = 1 + (size_t)espi_rng_below(&rng, 299);
        for (size_t k = 0; k < length; k++)
            noise[k] = (char)espi_rng_below(&rng, 256);
        if (i % 2)
            memcpy(noise, "GET /", length < 5 ? length : 5);
        fd = knock(server);
        say(fd, noise, length);
        assert_int_not_equal(code_of(hear_end(server, fd)), 200);
    }
    assert_int_equal(code_of(ask(server, "GET /api/state HTTP/1.1\r\n" HOST KEY CLOSE)),
                     200);
    stop(&s, server);
}

/* More than there is room for, who say nothing or only begin: they are cut off, and the
 * others get their turn. */
static void slow_ones_keep_nobody_out(void **state)
{
    (void)state;
    struct scene s;
    int idle[50];
    struct espi_server *server = start(&s);
    for (int i = 0; i < 50; i++) {
        idle[i] = knock(server);
        if (i % 2)
            say(idle[i], "GET /api/st", 11);
    }
    int fd = knock(server);
    static const char request[] = "GET /api/state HTTP/1.1\r\n" HOST KEY CLOSE;
    say(fd, request, strlen(request));
    const struct timeval soon = {.tv_usec = 20000};
    char first;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    for (int i = 0; i < 1000 && recv(fd, &first, 1, MSG_PEEK) <= 0; i++)
        espi_server_tend(server, espi_now_s() + 100); /* time passes */
    assert_int_equal(code_of(hear(fd)), 200);
    for (int i = 0; i < 50; i++)
        close(idle[i]);
    stop(&s, server);
}

static void a_taken_port_is_said(void **state)
{
    (void)state;
    struct scene s;
    struct espi_address a;
    struct espi_token token = {TOKEN};
    struct espi_server *second = NULL;
    struct esp_err err;
    char text[64];
    struct espi_server *server = start(&s);
    struct espi_live_source source = espi_live_log_source(s.l);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(espi_server_url(server) + 7, "/"),
             espi_server_url(server) + 7);
    assert_int_equal(espi_address_parse(text, &a, NULL), ESP_OK);
    assert_int_equal(espi_server_start(&a, &token, &source, &second, &err), ESP_EIO);
    assert_non_null(strstr(err.text, text));
    stop(&s, server);
}

static const char *ask_for(const struct espi_server *server, const char *path)
{
    char request[256];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST KEY CLOSE, path);
    return ask(server, request);
}

/* Who writes on a board shows a page of it; what is not there is not made up. */
static void boards_show_what_stands_there(void **state)
{
    (void)state;
    struct espi_address a;
    struct espi_token token = {TOKEN};
    struct espi_board *board;
    struct espi_server *server;
    assert_int_equal(espi_board_create(&board, NULL), ESP_OK);
    struct espi_live_source source = espi_board_of_copy(board);
    assert_int_equal(espi_address_parse("127.0.0.1:0", &a, NULL), ESP_OK);
    assert_int_equal(espi_server_start(&a, &token, &source, &server, NULL), ESP_OK);
    assert_int_equal(code_of(ask_for(server, "/api/state")), 404);
    espi_board_put(board, strdup("{\"n\":1}"));
    espi_board_put(board, NULL); /* there was no memory: what was there stays */
    assert_non_null(strstr(ask_for(server, "/api/state"), "{\"n\":1}"));
    espi_board_put(board, strdup("{\"n\":2}"));
    assert_non_null(strstr(ask_for(server, "/api/state"), "{\"n\":2}"));
    assert_int_equal(code_of(ask_for(server, "/api/network")), 404);
    struct esp_platform *p = small_grid();
    assert_int_equal(espi_board_draw(board, p, NULL), ESP_OK);
    const char *drawn = ask_for(server, "/api/network");
    assert_true(strstr(drawn, "\"platform\"") && strstr(drawn, "viewBox"));
    assert_int_equal(code_of(ask_for(server, "/api/plan?id=1")), 404);
    assert_int_equal(code_of(ask(server, "GET /api/state HTTP/1.1\r\n" HOST CLOSE)), 401);
    assert_non_null(strstr(ask_for(server, "/"), "A copy</h1>"));
    espi_server_stop(server);
    espi_board_free(board);
    esp_platform_free(p);
}

/* The page is asked for while the advisor writes. */
static void it_is_read_while_it_is_written(void **state)
{
    (void)state;
    struct scene s;
    struct espi_server *server = start(&s);
    int fd[8];
    for (int i = 0; i < 400; i++) {
        struct espi_outcome o = outcome_of(0, 1000 + i);
        static const char request[] = "GET /api/state HTTP/1.1\r\n" HOST KEY CLOSE;
        if (i % 50 == 0) {
            fd[i / 50] = knock(server);
            say(fd[i / 50], request, strlen(request));
        }
        espi_live_log_outcome(s.l, &o, i);
        if (i % 40 == 0)
            publish(&s, 1000 + 5000 * i, i);
    }
    for (int i = 0; i < 8; i++) {
        const char *answer = hear(fd[i]);
        assert_int_equal(code_of(answer), 200);
        json_t *json = json_loads(strstr(answer, "\r\n\r\n") + 4, 0, NULL);
        assert_non_null(json);
        json_decref(json);
    }
    stop(&s, server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_those_with_the_token_may_look),
        cmocka_unit_test(hostile_requests_are_cut_short),
        cmocka_unit_test(slow_ones_keep_nobody_out),
        cmocka_unit_test(a_taken_port_is_said),
        cmocka_unit_test(boards_show_what_stands_there),
        cmocka_unit_test(it_is_read_while_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
