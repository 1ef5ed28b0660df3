#include "cli/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_find_self(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

int cli_find_part(const char *build_dir, const char *name, char out[PATH_MAX])
{
    const char *const from_self[] = {build_dir, ESPALIER_SHIM_FROM_BIN,
                                     ESPALIER_LIBEXEC_FROM_BIN};
    const char *const whole[] = {ESPALIER_SHIM_DIR, ESPALIER_LIBEXEC_DIR};
    char self[PATH_MAX], path[PATH_MAX + 256];

    if (cli_find_self(self) == 0) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
        for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, "%s/%s/%s", self, from_self[i], name);
            if (realpath(path, out))
                return 0;
        }
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", whole[i], name);
        if (realpath(path, out))
            return 0;
    }
    return -1;
}
