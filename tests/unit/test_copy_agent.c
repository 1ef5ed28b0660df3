/* The agent of a copy, and the orders that it obeys. Linked with --wrap=fsync. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "copy/agent.h"
#include "copy/control.h"
#include "copy/manifest.h"

enum { PATIENCE_MS = 100, LIMIT_S = 60 };

/* ---- a disk that is slow ---- */

static unsigned fsync_us;

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    usleep(fsync_us);
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

/* ---- an agent in a process of its own ---- */

struct agent {
    pid_t pid;
    struct espi_control control;
    char folder[32];
};

static void start_agent(struct agent *a, int is_relay)
{
    int down[2], up[2];
    struct espi_wire_out w = {0};
    strcpy(a->folder, "/tmp/espalier-test-XXXXXX");
    assert_non_null(mkdtemp(a->folder));
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    a->pid = fork();
    if (a->pid == 0) {
        struct espi_agent_options options = {.below = NULL};
        close(down[1]);
        _exit(espi_agent_serve(down[0], up[1], &options));
    }
    close(down[0]);
    close(up[1]);
    espi_control_open(&a->control, up[0], down[1]);
    espi_put_8(&w, 0);
    espi_put_8(&w, 0);
    espi_put_8(&w, (unsigned)is_relay);
    espi_put_32(&w, PATIENCE_MS);
    espi_put_text(&w, a->folder);
    assert_int_equal(espi_control_send(&a->control, ESPI_TO_BEGIN, &w), 0);
    espi_wire_done(&w);
}

/* What it says next; it is told all the time that the job goes on. -1: it is gone. */
static int hear(struct agent *a)
{
    struct espi_wire_in body;
    int type, gone = 0;
    for (int i = 0; i < LIMIT_S * 100; i++) {
        int more = espi_control_next(&a->control, &type, &body);
        assert_true(more >= 0);
        if (more)
            return type;
        if (gone)
            return -1;
        espi_control_send(&a->control, ESPI_TO_ALIVE, NULL);
        usleep(10000);
        gone = espi_control_read(&a->control) != 0;
    }
    fail_msg("the agent says nothing");
    return -1;
}

/* How it ends; what is in its folder is taken away. */
static int end_agent(struct agent *a)
{
    char command[64];
    int how = 0;
    alarm(LIMIT_S); /* it would wait for ever */
    assert_int_equal(waitpid(a->pid, &how, 0), a->pid);
    alarm(0);
    assert_true(WIFEXITED(how));
    espi_control_close(&a->control);
    snprintf(command, sizeof command, "rm -rf %s", a->folder);
    assert_int_equal(system(command), 0);
    return WEXITSTATUS(how);
}

/* The list of one empty file, "f". */
static void order_open(struct agent *a)
{
    struct espi_manifest_writer list = {0};
    struct espi_wire_out w = {0};
    struct espi_copy_entry e = {.kind = ESPI_ENTRY_FILE, .mode = 0600, .path = "f"};
    espi_manifest_put(&list, &e, NULL);
    espi_put_block(&w, list.list.at, list.list.used);
    assert_int_equal(espi_control_send(&a->control, ESPI_TO_OPEN, &w), 0);
    espi_wire_done(&list.list);
    espi_wire_done(&w);
}

/* ---- how it ends ---- */

/* Its input stays open, as that of an agent whose launcher lost the network does: it ends
 * all the same, but not while it is told that the job goes on. */
static void agents_end_that_hear_nothing(void **state)
{
    (void)state;
    struct agent a;
    int how = 0;
    start_agent(&a, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(espi_control_send(&a.control, ESPI_TO_ALIVE, NULL), 0);
        assert_int_equal(waitpid(a.pid, &how, WNOHANG), 0);
        usleep(20000);
    }
    assert_int_not_equal(end_agent(&a), 0);
}

/* While it obeys an order it hears nothing, however long that takes. */
static void agents_outlive_slow_disks(void **state)
{
    (void)state;
    struct agent a;
    struct espi_wire_out size = {0};
    fsync_us = 12 * 1000 * PATIENCE_MS; /* more than it waits for its job */
    start_agent(&a, 0);
    fsync_us = 0;
    assert_int_equal(hear(&a), ESPI_FROM_HELLO);
    order_open(&a);
    assert_int_equal(hear(&a), ESPI_FROM_OPENED);
    espi_put_64(&size, 0);
    assert_int_equal(espi_control_send(&a.control, ESPI_TO_FINISH, &size), 0);
    espi_wire_done(&size);
    assert_int_equal(hear(&a), ESPI_FROM_FINISHED);
    for (int i = 0; i < 30; i++) { /* and goes on */
        assert_int_equal(espi_control_send(&a.control, ESPI_TO_ALIVE, NULL), 0);
        usleep(10000);
    }
    assert_int_equal(espi_control_send(&a.control, ESPI_TO_QUIT, NULL), 0);
    assert_int_equal(end_agent(&a), 0);
}

/* ---- orders out of turn ---- */

/* A second list of files is refused, by hosts that only pass on, too. */
static void one_list_is_enough(void **state)
{
    (void)state;
    for (int is_relay = 0; is_relay < 2; is_relay++) {
        struct agent a;
        start_agent(&a, is_relay);
        assert_int_equal(hear(&a), ESPI_FROM_HELLO);
        order_open(&a);
        assert_int_equal(hear(&a), ESPI_FROM_OPENED);
        order_open(&a);
        assert_int_equal(hear(&a), ESPI_FROM_FAILED);
        assert_int_not_equal(end_agent(&a), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_end_that_hear_nothing),
        cmocka_unit_test(agents_outlive_slow_disks),
        cmocka_unit_test(one_list_is_enough),
    };
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
