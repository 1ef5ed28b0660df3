/* Clocks that jump: a preload that shows a process other times than the kernel's. The
 * file CLOCKS_FILE holds two numbers, which others may change at any moment: how many
 * jumps there were, and a seed. With each jump the wall clock of a process goes up to a
 * day forwards or back, and the one that must not go back up to CLOCKS_STEADY_S seconds
 * forwards, as after a machine has slept. Every process draws its own. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { JUMPS, SEED, NUMBERS };

static const volatile uint64_t *said; /* the file; NULL: there is none */
static uint64_t own;                  /* of this process */
static long steady_s;
static int (*real_gettime)(clockid_t, struct timespec *);

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CLOCKS_FILE"), *most = getenv("CLOCKS_STEADY_S");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    real_gettime =
        (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    own = (uint64_t)getpid();
    steady_s = most ? atol(most) : 0;
    if (fd < 0)
        return;
    void *page = mmap(NULL, NUMBERS * sizeof *said, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    said = page == MAP_FAILED ? NULL : page;
}

/* What the jumps so far come to, in ms; the steady clock only gains. */
static int64_t shift_ms(int steady)
{
    int64_t sum = 0, day = 86400000;
    uint64_t n = said ? said[JUMPS] : 0;
    for (uint64_t i = 1; i <= n && i <= 64; i++) {
        uint64_t lot = mix(said[SEED] ^ mix(own ^ mix(i)));
        if (steady)
            sum += steady_s > 0 ? (int64_t)(lot % (uint64_t)(1000 * steady_s)) : 0;
        else
            sum = (int64_t)(lot % (uint64_t)(2 * day)) - day;
    }
    return sum;
}

static int is_shifted(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
           clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!real_gettime)
        begin();
    int bad = real_gettime(clock, t);
    if (bad || !is_shifted(clock))
        return bad;
    int64_t ms = shift_ms(clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE);
    int64_t ns = (int64_t)t->tv_nsec + ms % 1000 * 1000000;
    t->tv_sec += ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
    t->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int bad = clock_gettime(CLOCK_REALTIME, &now);
    if (!bad)
        *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return bad;
}

EXPORT time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
