/* The cage in which libsimgrid lives: what a process in it can still do. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/child.h"
#include "simgrid/cage.h"

static char folder[] = "/tmp/espalier-test-XXXXXX", there[64], fresh[64];

/* Runs an attempt in the cage; what it returned (0 to 99), or 100 and the signal. */
static int in_cage(int (*attempt)(void))
{
    int how = 0;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        espi_cage();
        _exit(attempt());
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 100 + WTERMSIG(how);
}

/* ---- each gives 0 when it was refused ---- */

static int write_new(void)
{
    return open(fresh, O_WRONLY | O_CREAT, 0600) >= 0;
}

static int write_old(void)
{
    return open(there, O_WRONLY) >= 0 || open(there, O_RDWR | O_APPEND) >= 0;
}

static int cut(void)
{
    return truncate(there, 0) == 0;
}

static int take_away(void)
{
    return unlink(there) == 0 || rename(there, fresh) == 0;
}

static int make_others(void)
{
    return mkdir(fresh, 0700) == 0 || symlink("/", fresh) == 0 || link(there, fresh) == 0;
}

static int change_mode(void)
{
    return chmod(there, 04777) == 0;
}

static int connect_out(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_INET6, SOCK_DGRAM, 0) >= 0 ||
           socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int start_other(void)
{
    char *argv[] = {(char *)"/bin/true", NULL};
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    execv(argv[0], argv);
    return pid >= 0;
}

static int signal_other(void)
{
    return kill(getppid(), 0) == 0;
}

static int become_root(void)
{
    return geteuid() == 0 || setuid(0) == 0;
}

static void nothing_gets_out(void **state)
{
    (void)state;
    if (prctl(PR_GET_SECCOMP) < 0) {
        print_message("no seccomp: skipped\n");
        skip();
    }
    assert_int_equal(in_cage(write_new), 0);
    assert_int_equal(in_cage(write_old), 0);
    assert_int_equal(in_cage(cut), 0);
    assert_int_equal(in_cage(take_away), 0);
    assert_int_equal(in_cage(make_others), 0);
    assert_int_equal(in_cage(change_mode), 0);
    assert_int_equal(in_cage(connect_out), 0);
    assert_int_equal(in_cage(start_other), 0);
    assert_int_equal(in_cage(signal_other), 0);
    struct stat st;
    assert_int_equal(stat(there, &st), 0);
    assert_int_equal(st.st_size, 4);
    assert_int_equal(access(fresh, F_OK), -1);
}

static void no_root(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not root: skipped\n");
        skip();
    }
    assert_int_equal(in_cage(become_root), 0);
}

/* ---- what only some kernels and builds have ---- */

static int read_other(void)
{
    return open(there, O_RDONLY) >= 0;
}

static void other_files_stay_closed(void **state)
{
    (void)state;
    if (syscall(444, NULL, 0, 1) < 1) {
        print_message("no Landlock: skipped\n");
        skip();
    }
    assert_int_equal(in_cage(read_other), 0);
}

static int take_all_memory(void)
{
    return mmap(NULL, (size_t)5 << 30, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static void memory_has_an_end(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("sanitizers need more: skipped\n");
    skip();
#endif
    assert_int_equal(in_cage(take_all_memory), 0);
}

/* A file that the program which started it left open is gone. */
static int left_open;
static int use_left_open(void)
{
    return write(left_open, "more", 4) >= 0;
}

static void open_files(void **state)
{
    (void)state;
    left_open = open(there, O_WRONLY | O_APPEND);
    assert_true(left_open > 2);
    assert_int_equal(in_cage(use_left_open), 0);
    close(left_open);
}

/* ---- what it is there for ---- */

static int read_input(void)
{
    char word[8] = "";
    FILE *in = fopen("/proc/self/fd/0", "r");
    char *much = malloc(1 << 20);
    if (!in || !much || fread(word, 1, sizeof word, in) != 5)
        return 1;
    memset(much, 1, 1 << 20);
    return memcmp(word, "hello", 5) != 0 || printf("# read\n") < 0 || fflush(stdout) != 0;
}

static void reading_and_printing(void **state)
{
    (void)state;
    int saved = dup(0), text = espi_child_text("hello", 5);
    assert_true(text > 2);
    assert_int_equal(dup2(text, 0), 0);
    assert_int_equal(in_cage(read_input), 0);
    dup2(saved, 0);
    close(saved);
    close(text);
}

static int aborts(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void its_end_shows(void **state)
{
    (void)state;
    assert_int_equal(in_cage(aborts), 100 + SIGABRT);
}

/* The text given to a child cannot be changed, not even by who made it. */
static void sealed_text(void **state)
{
    (void)state;
    int text = espi_child_text("hello", 5);
    assert_true(text > 2);
    assert_int_equal(pwrite(text, "J", 1, 0), -1);
    assert_int_equal(ftruncate(text, 0), -1);
    assert_ptr_equal(mmap(NULL, 5, PROT_WRITE, MAP_SHARED, text, 0), MAP_FAILED);
    close(text);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0777))
        return -1;
    snprintf(there, sizeof there, "%s/there", folder);
    snprintf(fresh, sizeof fresh, "%s/fresh", folder);
    FILE *f = fopen(there, "w");
    return !f || fputs("old\n", f) < 0 || fclose(f) || chmod(there, 0666);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(there);
    unlink(fresh);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_gets_out),
        cmocka_unit_test(no_root),
        cmocka_unit_test(other_files_stay_closed),
        cmocka_unit_test(memory_has_an_end),
        cmocka_unit_test(open_files),
        cmocka_unit_test(reading_and_printing),
        cmocka_unit_test(its_end_shows),
        cmocka_unit_test(sealed_text),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
