#include "cage.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY   65534             /* code: of a user */
#define CPU_S    600               /* limit: of a reader that is caged */
#define DATA_MAX ((rlim_t)4 << 30) /* bytes */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/* ---- what any kernel has ---- */

static void limit(int what, rlim_t value)
{
    struct rlimit r = {value, value};
    setrlimit(what, &r);
}

/* Files that the program which started us forgot to close. */
static void close_files(void)
{
#ifndef SYS_close_range
#define SYS_close_range 436 /* published: the same for all processors */
#endif
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
}

static void set_limits(void)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, CPU_S);
#ifndef SANITIZED /* which take terabytes that they do not use */
    limit(RLIMIT_DATA, DATA_MAX);
#endif
}

/* Where this is not granted, as in a user namespace that has no such user, root is not
 * the machine's. */
static void drop_root(void)
{
    if (geteuid() != 0)
        return;
    if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
        setresuid(NOBODY, NOBODY, NOBODY))
        return;
    limit(RLIMIT_NPROC, 0);
}

/* ---- Landlock (Linux 5.13): no file that has a name, no TCP ---- */

/* Written out, as headers are often older than kernels. */
#define LANDLOCK_CREATE  444 /* published: the same for all processors */
#define LANDLOCK_ENTER   446 /* published: as above */
#define LANDLOCK_VERSION 1u

struct landlock {
    uint64_t files, net, scoped;
};

/* What the versions know. A kernel that knows more is asked for this. */
static size_t landlock_of(long version, struct landlock *all)
{
    static const int file_rights[] = {13, 14, 15, 15, 16};
    int n = file_rights[version < 5 ? version - 1 : 4];
    *all = (struct landlock){((uint64_t)1 << n) - 1, 3, 3};
    if (version < 4)
        return offsetof(struct landlock, net);
    return version < 6 ? offsetof(struct landlock, scoped) : sizeof *all;
}

/* All is forbidden that can be, as no rule allows any of it. What the process has open,
 * it may go on using, and it may open it anew where it has no name. */
static void forbid_files(void)
{
    struct landlock all;
    long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
    if (version < 1)
        return;
    size_t size = landlock_of(version, &all);
    int fd = (int)syscall(LANDLOCK_CREATE, &all, size, 0);
    if (fd < 0)
        return;
    syscall(LANDLOCK_ENTER, fd, 0);
    close(fd);
}

/* ---- seccomp: system calls that reading and printing need, and no others ---- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCH AUDIT_ARCH_ARM
#endif

#ifdef ARCH

#define OTHER_CALLS                                                                      \
    0x40000000u /* published: x86-64 has a second set of numbers from here on */

static const int allowed[] = {
    /* reading and printing */
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_pipe2, /* through which sanitizers look whether memory is there */
    /* memory */
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    /* one thread's life */
    SYS_futex,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_uname,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_exit,
    SYS_exit_group,
/* those that not all processors or headers have */
#ifdef SYS_mmap
    SYS_mmap,
#endif
#ifdef SYS_mmap2
    SYS_mmap2,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_fstat64
    SYS_fstat64,
#endif
#ifdef SYS_fstatat64
    SYS_fstatat64,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS__llseek
    SYS__llseek,
#endif
#ifdef SYS_pipe
    SYS_pipe,
#endif
#ifdef SYS_futex_time64
    SYS_futex_time64,
#endif
#ifdef SYS_clock_gettime64
    SYS_clock_gettime64,
#endif
#ifdef SYS_clock_nanosleep_time64
    SYS_clock_nanosleep_time64,
#endif
#ifdef SYS_time
    SYS_time,
#endif
#ifdef SYS_sigreturn
    SYS_sigreturn,
#endif
};

#define N_ALLOWED (sizeof allowed / sizeof *allowed)

/* To open is allowed where the flags have nothing of WRITING. */
static const struct opener {
    int call, flags; /* the number of that argument */
} openers[] = {
    {SYS_openat, 2},
#ifdef SYS_open
    {SYS_open, 1},
#endif
};

#define N_OPENERS    (sizeof openers / sizeof *openers)
#define WRITING      (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE)
#define ARGUMENT(i)  ((uint32_t)offsetof(struct seccomp_data, args[i]) + LOW_HALF)
#define LOAD(at)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE       (SECCOMP_RET_ERRNO | EPERM)
/* The next `n` steps are for those only to whom it applies. */
#define IF(how, value, n) BPF_JUMP(BPF_JMP | (how) | BPF_K, (value), 0, (n))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF 0
#else
#define LOW_HALF 4 /* derived: bytes */
#endif

struct program {
    struct sock_filter step[32 + 2 * N_ALLOWED + 8 * N_OPENERS];
    unsigned short n;
};

static void add_filter(struct program *p, const struct sock_filter *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p->step[p->n++] = steps[i];
}

#define ADD(p, ...)                                                                      \
    add_filter((p), (const struct sock_filter[]){__VA_ARGS__},                           \
               sizeof((const struct sock_filter[]){__VA_ARGS__}) /                       \
                   sizeof(struct sock_filter))

/* Refused calls fail with EPERM, as they might for other reasons. */
static void write_program(struct program *p)
{
    ADD(p, LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0), RETURN(REFUSE),
        LOAD(offsetof(struct seccomp_data, nr)));
    ADD(p, IF(BPF_JGE, OTHER_CALLS, 1), RETURN(REFUSE));
    for (size_t i = 0; i < N_ALLOWED; i++)
        ADD(p, IF(BPF_JEQ, (uint32_t)allowed[i], 1), RETURN(SECCOMP_RET_ALLOW));
    for (size_t i = 0; i < N_OPENERS; i++)
        ADD(p, IF(BPF_JEQ, (uint32_t)openers[i].call, 4),
            LOAD(ARGUMENT(openers[i].flags)), IF(BPF_JSET, WRITING, 1), RETURN(REFUSE),
            RETURN(SECCOMP_RET_ALLOW));
    /* abort() signals the process itself */
    ADD(p, IF(BPF_JEQ, SYS_tgkill, 3), LOAD(ARGUMENT(0)),
        IF(BPF_JEQ, (uint32_t)getpid(), 1), RETURN(SECCOMP_RET_ALLOW));
    ADD(p, RETURN(REFUSE));
}

static void forbid_calls(void)
{
    struct program p = {.n = 0};
    write_program(&p);
    struct sock_fprog all = {p.n, p.step};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}

#else

static void forbid_calls(void)
{
}

#endif

void espi_cage(void)
{
    close_files();
    set_limits();
    drop_root();
    /* What follows is not granted without it; and nothing that is started could have
     * more rights. */
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    forbid_files();
    forbid_calls();
}
