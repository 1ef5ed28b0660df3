/* Running other programs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/child.h"
#include "support/alloc_fail.h"

static struct espi_child run(const char *script, double timeout_s)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct espi_child child;
    struct esp_err err = {0};
    if (espi_child_run(argv, -1, timeout_s, &child, &err))
        fail_msg("%s", err.text);
    return child;
}

static void output_and_code(void **state)
{
    (void)state;
    struct espi_child c =
        run("cat; echo hello; echo one >&2; printf 'two\\033\\n\\n' >&2; "
            "exit 7",
            60);
    assert_int_equal(c.out_length, 6);
    assert_memory_equal(c.out, "hello\n", 6);
    assert_string_equal(c.last_words, "two\\u001b");
    assert_int_equal(c.exit_code, 7);
    assert_int_equal(c.signal, 0);
    assert_false(c.timed_out);
    espi_child_done(&c);
}

/* Both pipes are emptied, however much comes through either. */
static void much_output(void **state)
{
    (void)state;
    struct espi_child c =
        run("i=0; while [ $i -lt 3000 ]; do echo 'a line that is some fifty characters "
            "long'; "
            "echo 'and another one, as long as that, for errors' >&2; i=$((i+1)); done; "
            "echo last >&2",
            120);
    assert_int_equal(c.out_length, 3000 * 42);
    assert_string_equal(c.last_words, "last");
    assert_int_equal(c.exit_code, 0);
    espi_child_done(&c);
}

static void signals(void **state)
{
    (void)state;
    struct espi_child c = run("kill -ABRT $$", 60);
    assert_int_equal(c.signal, SIGABRT);
    assert_int_equal(c.exit_code, -1);
    assert_string_equal(c.last_words, "");
    espi_child_done(&c);
}

static void time_is_bounded(void **state)
{
    (void)state;
    struct espi_child c = run("exec sleep 600", 0.05);
    assert_true(c.timed_out);
    assert_int_equal(c.signal, SIGKILL);
    espi_child_done(&c);
    c = run("exec sleep 600 >&- 2>&-", 0.3); /* its pipes are at their end at once */
    assert_true(c.timed_out);
    espi_child_done(&c);
}

/* Somebody else who traces a process keeps its end from its parent, as the kernel does
 * with one that waits for a disk: 0, when it is so. */
static int hold_end_of(pid_t pid, pid_t *tracer)
{
    int ready[2];
    char is_held = 0;
    assert_int_equal(pipe(ready), 0);
    *tracer = fork();
    assert_true(*tracer >= 0);
    if (*tracer == 0) {
        is_held = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
        if (write(ready[1], &is_held, 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &is_held, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return is_held ? 0 : -1;
}

static pid_t start_sleeper(void)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        for (;;)
            pause();
    }
    return pid;
}

static void who_is_late_is_killed(void **state)
{
    int how = 0;
    pid_t pid = start_sleeper();
    (void)state;
    assert_int_equal(espi_child_reap(pid, 0.01, &how), 1);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    waitpid(pid, NULL, 0); /* on a very busy machine */
    assert_int_equal(espi_child_reap(pid, 0.01, &how), 0);
}

/* Where nobody may trace, no end can be kept back. */
static void who_cannot_be_killed_is_left(void **state)
{
    int how = 0;
    pid_t tracer, pid = start_sleeper();
    (void)state;
    int is_free = hold_end_of(pid, &tracer);
    assert_int_equal(espi_child_reap(pid, 0.01, &how), 1);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    if (!is_free)
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it is there */
    kill(tracer, SIGKILL);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    if (is_free)
        skip();
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void not_there(void **state)
{
    (void)state;
    const char *argv[] = {"/nowhere/program", NULL};
    struct espi_child child;
    struct esp_err err = {0};
    assert_int_equal(espi_child_run(argv, -1, 1, &child, &err), ESP_EIO);
    assert_string_equal(err.text,
                        "cannot run /nowhere/program: No such file or directory");
}

static void ignored_sigchld(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct espi_child c = run("echo x", 60);
    signal(SIGCHLD, before);
    assert_int_equal(c.out_length, 2);
    assert_int_equal(c.exit_code, 0);
    espi_child_done(&c);
}

/* Works in a program that has closed its standard files. */
static void closed_files(void **state)
{
    (void)state;
    int saved[3];
    for (int i = 0; i < 3; i++)
        saved[i] = dup(i);
    for (int i = 0; i < 3; i++)
        close(i);
    const char *argv[] = {"/bin/sh", "-c", "echo x; echo y >&2", NULL};
    struct espi_child c;
    esp_status status = espi_child_run(argv, -1, 60, &c, NULL);
    for (int i = 0; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    assert_int_equal(status, ESP_OK);
    assert_int_equal(c.out_length, 2);
    assert_string_equal(c.last_words, "y");
    espi_child_done(&c);
}

static esp_status run_once(void *arg)
{
    (void)arg;
    const char *argv[] = {"/bin/echo", "x", NULL};
    struct espi_child c;
    esp_status status = espi_child_run(argv, -1, 60, &c, NULL);
    if (!status)
        espi_child_done(&c);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    assert_true(alloc_fail_each(run_once, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_code),
        cmocka_unit_test(much_output),
        cmocka_unit_test(signals),
        cmocka_unit_test(time_is_bounded),
        cmocka_unit_test(who_is_late_is_killed),
        cmocka_unit_test(who_cannot_be_killed_is_left),
        cmocka_unit_test(not_there),
        cmocka_unit_test(ignored_sigchld),
        cmocka_unit_test(closed_files),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
