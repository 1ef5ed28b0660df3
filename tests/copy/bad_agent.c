/* An agent that lies: of what it passes on to others it changes one byte now and then.
 * Linked with --wrap for the functions below; nothing goes by the kernel alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/agent.h"
#include "copy/secure.h"

long __real_espi_secure_write(struct espi_secure *s, const void *from, size_t bytes);
long __wrap_espi_secure_write(struct espi_secure *s, const void *from, size_t bytes);

long __wrap_espi_secure_write(struct espi_secure *s, const void *from, size_t bytes)
{
    static size_t written, next = 100000;
    char *changed = bytes ? malloc(bytes) : NULL;
    if (!changed)
        return __real_espi_secure_write(s, from, bytes);
    memcpy(changed, from, bytes);
    if (written + bytes > next)
        changed[bytes / 2] = (char)(changed[bytes / 2] ^ 0x20);
    long n = __real_espi_secure_write(s, changed, bytes);
    written += n > 0 ? (size_t)n : 0;
    if (written > next)
        next = written + 700000;
    free(changed);
    return n;
}

long __wrap_espi_secure_send_file(struct espi_secure *s, int fd, uint64_t at,
                                  size_t bytes);

long __wrap_espi_secure_send_file(struct espi_secure *s, int fd, uint64_t at,
                                  size_t bytes)
{
    (void)s, (void)fd, (void)at, (void)bytes;
    return ESPI_SECURE_CANNOT;
}

int main(void)
{
    struct espi_agent_options options = {.below = NULL};
    return espi_agent_serve(STDIN_FILENO, STDOUT_FILENO, &options);
}
