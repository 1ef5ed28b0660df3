#include "live/http_access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "channel/report.h"

/* ---- addresses ---- */

/* The port at the end of the text; -1: it is none. */
static int parse_port(const char *text)
{
    size_t length = strlen(text);

    if (length < 1 || length > 5 || strspn(text, "0123456789") != length)
        return -1;
    long port = strtol(text, NULL, 10);
    return port <= 65535 ? (int)port : -1;
}

static int is_loopback_v6(const struct in6_addr *a)
{
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

/* host: without brackets. 0, or -1: it is no address. */
static int set_address(struct espi_address *out, const char *host, int port)
{
    struct espi_address a = {.port = port};

    if (strcmp(host, "localhost") == 0 || *host == '\0')
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &a.socket.v4.sin_addr) == 1) {
        a.socket.v4.sin_family = AF_INET;
        a.socket.v4.sin_port = htons((uint16_t)port);
        a.length = sizeof a.socket.v4;
        a.is_loopback = ntohl(a.socket.v4.sin_addr.s_addr) >> 24 == 127;
    } else {
        a = (struct espi_address){.port = port};
        if (inet_pton(AF_INET6, host, &a.socket.v6.sin6_addr) != 1)
            return -1;
        a.socket.v6.sin6_family = AF_INET6;
        a.socket.v6.sin6_port = htons((uint16_t)port);
        a.length = sizeof a.socket.v6;
        a.is_loopback = is_loopback_v6(&a.socket.v6.sin6_addr);
    }
    *out = a;
    return 0;
}

/* Cuts "[::1]:80", "1.2.3.4:80" or "80" into host, without brackets, and port text. */
static int split_address(const char *text, char *host, size_t size, const char **port)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;

    *port = colon ? colon + 1 : text;
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return -1; /* an address of IPv6 needs its brackets */
    }
    if (length >= size)
        return -1;
    memcpy(host, text, length);
    host[length] = '\0';
    return 0;
}

esp_status espi_address_parse(const char *text, struct espi_address *out,
                              struct esp_err *err)
{
    char host[64], quoted[80];
    const char *port_text;
    int port = -1;

    if (!split_address(text, host, sizeof host, &port_text))
        port = parse_port(port_text);
    if (port < 0 || set_address(out, host, port))
        return espi_err(err, ESP_EUSAGE,
                        "'%s' is not an address with a port, as 127.0.0.1:8080, "
                        "[::1]:8080, or 8080 alone",
                        espi_quote(quoted, sizeof quoted, text));
    return ESP_OK;
}

int espi_host_is_safe(const char *host)
{
    char name[64];
    const char *port;
    struct espi_address a;

    if (!host || !*host || strlen(host) > 80)
        return 0;
    size_t length = strlen(host);
    if (host[length - 1] != ']' && strchr(host, ':')) {
        if (split_address(host, name, sizeof name, &port) || parse_port(port) < 0)
            return 0;
    } else { /* without a port */
        int brackets = host[0] == '[' && host[length - 1] == ']';
        length -= brackets ? 2 : 0;
        if (length >= sizeof name)
            return 0;
        memcpy(name, host + brackets, length);
        name[length] = '\0';
    }
    return *name && set_address(&a, name, 0) == 0;
}

/* ---- tokens ---- */

int espi_token_is_good(const char *text)
{
    size_t length = strlen(text);

    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return 0;
    return length >= ESPI_TOKEN_MIN && length <= ESPI_TOKEN_MAX;
}

esp_status espi_token_make(struct espi_token *out, struct esp_err *err)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return espi_err(err, ESP_EIO, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out->text + 2 * i, 3, "%02x", bytes[i]);
    return ESP_OK;
}

/* The first line of a file of our own that others cannot read; -1: it is no such. */
static int read_private(const char *path, char *out, size_t size)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = -1;

    if (fd < 0)
        return -1;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        !(s.st_mode & 077))
        n = read(fd, out, size - 1);
    close(fd);
    if (n < 0)
        return -1;
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return 0;
}

esp_status espi_token_read(const char *path, struct espi_token *out, struct esp_err *err)
{
    char line[ESPI_TOKEN_MAX + 3], quoted[160];

    espi_quote(quoted, sizeof quoted, path);
    if (read_private(path, line, sizeof line))
        return espi_err(err, ESP_EINPUT,
                        "%s must be a file of your own that others cannot read: chmod "
                        "600",
                        quoted);
    if (!espi_token_is_good(line))
        return espi_err(err, ESP_EINPUT,
                        "%s: a token is %d to %d letters, digits, '-' and '_'", quoted,
                        ESPI_TOKEN_MIN, ESPI_TOKEN_MAX);
    memcpy(out->text, line, strlen(line) + 1);
    return ESP_OK;
}

int espi_token_matches(const struct espi_token *token, const char *given)
{
    size_t length = strlen(token->text), other = given ? strlen(given) : 0;
    volatile unsigned char differs = length != other;

    for (size_t i = 0; i < length && other; i++)
        differs |= (unsigned char)(token->text[i] ^ given[i % other]);
    return other > 0 && !differs;
}

/* ---- the advisor before this one ---- */

enum { URL_ROOM = 320 };

int espi_http_access_recall(const char *folder, int *port, struct espi_token *token)
{
    char path[1200], url[URL_ROOM];
    int n = snprintf(path, sizeof path, "%s/" ESPI_LIVE_NAME, folder);

    if (n < 0 || (size_t)n >= sizeof path || read_private(path, url, sizeof url))
        return -1;
    char *slash = strstr(url, "/?token="), *colon;
    if (!slash || !espi_token_is_good(slash + 8))
        return -1;
    *slash = '\0';
    colon = strrchr(url, ':');
    if (!colon || parse_port(colon + 1) < 1)
        return -1;
    *port = parse_port(colon + 1);
    memcpy(token->text, slash + 8, strlen(slash + 8) + 1);
    return 0;
}

esp_status espi_http_access_remember(const char *folder, const char *url,
                                     struct esp_err *err)
{
    char path[1200], quoted[160];
    int n = snprintf(path, sizeof path, "%s/" ESPI_LIVE_NAME, folder);

    if (n < 0 || (size_t)n >= sizeof path)
        return espi_err(err, ESP_EUSAGE, "the name of the folder is too long");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int bad = fd < 0 || dprintf(fd, "%s\n", url) < 0;
    if (fd >= 0)
        bad = close(fd) || bad;
    return bad ? espi_err(err, ESP_EIO, "cannot write %s: %s",
                          espi_quote(quoted, sizeof quoted, path), strerror(errno))
               : ESP_OK;
}
