/* Makes leak detection cheap. On some machines LeakSanitizer looks at each process for
 * seconds; where no more memory is in use at the end than at the start there is no leak
 * to look for, and that is known at once. */
#ifdef __SANITIZE_ADDRESS__
#include <stddef.h>
#include <stdio.h>

/* Of the sanitizers; gcc has no header for the first. */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_is_turned_off(void);

static size_t bytes_at_start;

__attribute__((constructor)) static void start(void)
{
    /* What libc would allocate and keep. */
    static char out_buffer[BUFSIZ], err_buffer[BUFSIZ];
    setvbuf(stdout, out_buffer, _IOFBF, sizeof out_buffer);
    setvbuf(stderr, err_buffer, _IOLBF, sizeof err_buffer);
    bytes_at_start = __sanitizer_get_current_allocated_bytes();
}

/* Asked by LeakSanitizer before it looks. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return __sanitizer_get_current_allocated_bytes() <= bytes_at_start;
}
#else
typedef int no_leaks_to_look_for; /* a file must declare something */
#endif
