/* Where programs and libraries of ours are looked for. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/parts.h"

/* From the files of an installation, wherever it is. */
static void installed(void **state)
{
    (void)state;
    static const char *const files[] = {"bin/espalier", LIBDIR "/libespalier.so.0.1.0",
                                        LIBDIR "/espalier/libespalier-mpich.so"};
    static const char *const prefixes[] = {"/usr/local", "/home/a b/x", "/stage/usr", ""};
    for (size_t i = 0; i < 12; i++) {
        const char *prefix = prefixes[i % 4];
        char file[256], out[PATH_MAX], expected[256];
        snprintf(file, sizeof file, "%s/%s", prefix, files[i / 4]);
        assert_int_equal(espi_part_near(ESPI_PART_SIMGRID, NULL, file, out), 0);
        snprintf(expected, sizeof expected, "%s/libexec/espalier/espalier-simgrid",
                 prefix);
        if (!strstr(out, "/./"))
            assert_string_equal(out, expected);
        assert_int_equal(espi_part_near(ESPI_PART_SHIM, "openmpi", file, out), 0);
        snprintf(expected, sizeof expected, "%s/" LIBDIR "/espalier/", prefix);
        assert_memory_equal(out, expected, strlen(expected));
        assert_string_equal(strrchr(out, '/'), "/libespalier-openmpi.so");
    }
}

/* From anywhere else there is nothing to be found, least of all beside the file. */
static void elsewhere(void **state)
{
    (void)state;
    static const char *const files[] = {
        "/home/me/app", "/tmp/espalier", "espalier",  "/bin2/espalier", "/",
        "/sbin/x",      "bin/espalier",  "./bin/x/y", "/opt/xbin/app",  "",
    };
    char out[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int part = 0; part < ESPI_PART_COUNT; part++)
            assert_int_equal(espi_part_near(part, "mpich", files[i], out), -1);
}

/* This test lies in the build folder, and so do the parts. */
static void built(void **state)
{
    (void)state;
    char out[PATH_MAX], self[PATH_MAX];
    unsetenv("ESPALIER_LIBEXEC");
    assert_int_equal(espi_find_self(self), 0);
    assert_int_equal(espi_find_part(ESPI_PART_DELAY, NULL, out), 0);
    assert_int_equal(access(out, X_OK), 0);
    *strstr(self, "/tests/") = '\0';
    assert_memory_equal(out, self, strlen(self));
    assert_string_equal(out + strlen(self), "/testbed/espalier-delay");
    assert_int_equal(espi_find_part(ESPI_PART_SHIM, "nompi", out), -1);
    assert_int_equal(espi_find_part(ESPI_PART_SHIM, NULL, out), -1);
}

/* A file that is everybody's, or a folder, is no part of ours. */
static void planted(void **state)
{
    (void)state;
    char self[PATH_MAX], path[PATH_MAX + 64], out[PATH_MAX];
    assert_int_equal(espi_find_self(self), 0);
    *strstr(self, "/tests/") = '\0';
    snprintf(path, sizeof path, "%s/testbed/libespalier-wait-planted.so", self);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    chmod(path, 0755);
    assert_int_equal(espi_find_part(ESPI_PART_WAIT, "planted", out), 0);
    chmod(path, 0757);
    assert_int_equal(espi_find_part(ESPI_PART_WAIT, "planted", out), -1);
    chmod(path, 0755);
    if (geteuid() == 0 && chown(path, 12345, 12345) == 0)
        assert_int_equal(espi_find_part(ESPI_PART_WAIT, "planted", out), -1);
    unlink(path);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(espi_find_part(ESPI_PART_WAIT, "planted", out), -1);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(installed),
        cmocka_unit_test(elsewhere),
        cmocka_unit_test(built),
        cmocka_unit_test(planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
