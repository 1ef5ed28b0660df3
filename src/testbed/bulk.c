#include "testbed/bulk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "testbed/netns.h"
#include "testbed/tuning.h"

#define PORT 41000 /* code: of the testbed's own network */

struct transfer {
    const struct espi_testbed *testbed;
    struct espi_bulk_flow *flow;
    int number;
    double begin_s, end_s; /* of what is measured */
};

static int enter_host(const struct transfer *t, int host)
{
    char space[ESPI_NAMESPACE_MAX];
    const struct espi_grid *g = &t->testbed->grid;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return espi_netns_enter(
        espi_namespace(space, t->testbed->name, g, g->host_box[host]));
}

static int make_socket(const struct transfer *t, struct sockaddr_in *at)
{
    char text[ESPI_ADDRESS_MAX];

    *at = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)(PORT + t->number))};
    inet_pton(AF_INET, espi_host_address(text, t->flow->to), &at->sin_addr);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* ---- the two ends, each a process ---- */

static _Noreturn void send_all(const struct transfer *t)
{
    static char bytes[1 << 16];
    struct sockaddr_in at;
    int connected = 0, fd = enter_host(t, t->flow->from) ? -1 : make_socket(t, &at);

    while (fd >= 0 && !connected && espi_now_s() < t->begin_s) {
        connected = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
        if (connected)
            break;
        close(fd); /* the other end is not there yet */
        usleep(20000);
        fd = make_socket(t, &at);
    }
    /* Somewhat longer than is measured: ends are not. */
    while (connected && espi_now_s() < t->end_s + ESPI_BULK_TAIL_S)
        if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) < 0)
            break;
    _exit(0);
}

/* Bytes a second within the time measured. */
static double receive_all(const struct transfer *t, int fd)
{
    static char bytes[1 << 16];
    double sum = 0;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        double now_s = espi_now_s();
        if (now_s >= t->end_s)
            break;
        if (poll(&p, 1, (int)((t->end_s - now_s) * 1e3) + 1) <= 0)
            continue;
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        now_s = espi_now_s();
        if (n <= 0 || now_s >= t->end_s)
            break;
        if (now_s >= t->begin_s)
            sum += (double)n;
    }
    return sum / (t->end_s - t->begin_s);
}

static _Noreturn void receive_one(const struct transfer *t, int answer)
{
    struct sockaddr_in at;
    int yes = 1, fd = enter_host(t, t->flow->to) ? -1 : make_socket(t, &at);
    double rate = 0;

    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, ESPI_TESTBED_PATIENCE_S * 1000) == 1)
            rate = receive_all(t, accept(fd, NULL, NULL));
    }
    _exit(write(answer, &rate, sizeof rate) == sizeof rate ? 0 : 1);
}

/* ---- all of them ---- */

static pid_t start_transfer(const struct transfer *t, int answer)
{
    pid_t child = fork();

    if (child == 0) {
        if (answer >= 0)
            receive_one(t, answer);
        send_all(t);
    }
    return child;
}

static esp_status collect_rates(const struct espi_testbed *testbed,
                                struct espi_bulk_flow *flow, int fd, struct esp_err *err)
{
    const struct espi_grid *g = &testbed->grid;

    if (read(fd, &flow->rate_Bps, sizeof flow->rate_Bps) == sizeof flow->rate_Bps &&
        flow->rate_Bps > 0)
        return ESP_OK;
    return espi_err(err, ESP_EIO, "nothing arrives at %s from %s",
                    g->boxes[g->host_box[flow->to]].name,
                    g->boxes[g->host_box[flow->from]].name);
}

esp_status espi_bulk(const struct espi_testbed *testbed, struct espi_bulk_flow *flows,
                     int n, double warm_s, double seconds, struct esp_err *err)
{
    pid_t *children = ESPI_NEW(pid_t, 2 * n);
    int *answers = ESPI_NEW(int, n), started = 0;
    double begin_s = espi_now_s() + warm_s + ESPI_BULK_START_S * n;
    esp_status status = children && answers ? ESP_OK : espi_err_nomem(err);

    for (int i = 0; i < n && status == ESP_OK; i++) {
        struct transfer t = {testbed, &flows[i], i, begin_s, begin_s + seconds};
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) {
            status = espi_err(err, ESP_EIO, "cannot make a pipe: %s", strerror(errno));
            break;
        }
        children[2 * i] = start_transfer(&t, ends[1]);
        children[2 * i + 1] = start_transfer(&t, -1);
        close(ends[1]);
        answers[i] = ends[0];
        started = i + 1;
    }
    for (int i = 0; i < started; i++) {
        if (status == ESP_OK)
            status = collect_rates(testbed, &flows[i], answers[i], err);
        close(answers[i]);
    }
    for (int i = 0; i < 2 * started; i++)
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
    espi_free(children);
    espi_free(answers);
    return status;
}
