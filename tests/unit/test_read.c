/* Finding the format, and reading files, pipes and standard input. */
#include <fcntl.h>
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

#include <espalier/espalier.h>

#include "base/input.h"
#include "support/alloc_fail.h"

static char dir[64];

static const char *path_of(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = path_of(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/espalier-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static const char json[] =
    "{\"format\":\"espalier-platform/1\",\"model\":\"half-duplex\","
    "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"links\":[]}";

/* Each text is known by what it says, whatever it is called; the model tells which
 * reader it was, or the error does. */
static void formats_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *where, *text;
        int model; /* -1: an error that contains */
        const char *error;
    } cases[] = {
        {"x.csv", json, ESP_MODEL_HALF_DUPLEX, NULL},
        {"x", "\xef\xbb\xbf \n{", -1, "x:2:2:"},
        {"x.json", "a b 1Bps\n", ESP_MODEL_CAPACITY, NULL},
        {"x", "# NODES\n0 1 1 0\n# EDGES\n", ESP_MODEL_ONE_PORT, NULL},
        {"x", "#\n# Parameters for Network Model\n", -1,
         "ends before the line `# NODES`"},
        {"x.tiers", "0 1\n", -1, "data before the line `# NODES`"},
        {"x", "<graphml><graph><node id='a'/></graph></graphml>", ESP_MODEL_ONE_PORT,
         NULL},
        {"x", "<?xml version='1.0'?><!-- <!x --><graphml/>", -1, "at least one node"},
        {"x", "<platform version='4.1'><config/></platform>", -1, "x:1: a <config>"},
        {"x", "<html/>", -1, "x:1: <html> is not an element of SimGrid platforms"},
        {"x.graphml", "<html/>", -1, "not <graphml>"},
        {"x", "0,1\n1,0\n", -1, "needs a second file"},
        {"x", "0;1\n1;0\n", -1, "needs a second file"},
        {"x.CSV", "0 1\n1 0\n", -1, "needs a second file"},
        {"x", "", -1, "x: is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esp_platform *p = NULL;
        struct esp_err err = {0};
        esp_status status = esp_platform_parse(cases[i].text, strlen(cases[i].text),
                                               cases[i].where, NULL, &p, &err);
        if (cases[i].model < 0
                ? status == ESP_OK || !strstr(err.text, cases[i].error)
                : status != ESP_OK || (int)esp_platform_model(p) != cases[i].model)
            fail_msg("case %zu: %s", i, err.text);
        esp_platform_free(p);
    }
}

static void format_names(void **state)
{
    (void)state;
    for (int i = 0; i < ESP_FORMAT_COUNT; i++) {
        esp_format format = ESP_FORMAT_COUNT;
        assert_int_equal(esp_format_parse(esp_format_name((esp_format)i), &format), 0);
        assert_int_equal(format, i);
    }
    esp_format format = ESP_FORMAT_COUNT;
    assert_int_equal(esp_format_parse("csv2", &format), -1);
    assert_string_equal(esp_format_name(ESP_FORMAT_COUNT), "unknown");
}

static void options_are_obeyed(void **state)
{
    (void)state;
    struct esp_read_options options = {.size = sizeof options,
                                       .format = ESP_FORMAT_EDGES,
                                       .model = ESP_MODEL_MULTI_PORT};
    struct esp_platform *p = NULL;
    const char *path = write_file("e.csv", "a b 1Bps\n");
    assert_int_equal(esp_platform_read(path, &options, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_MULTI_PORT);
    assert_string_equal(esp_platform_name(p), "e");
    esp_platform_free(p);
    options.format = (esp_format)77;
    assert_int_equal(esp_platform_read(path, &options, &p, NULL), ESP_EUSAGE);

    write_file("lat", "0 1\n2 0\n");
    write_file("bw", "0 3\n4 0\n");
    struct esp_read_options pair = {
        .size = sizeof pair, .bandwidth_path = path_of("bw"), .model = ESP_MODEL_DEFAULT};
    options = pair;
    options.switches = "*1";
    assert_int_equal(esp_platform_read(path_of("lat"), &options, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_host_count(p), 1);
    esp_platform_free(p);
    options.switches = NULL;
    options.undirected = 1;
    assert_int_equal(esp_platform_read(path_of("lat"), &options, &p, NULL), ESP_EUSAGE);
    struct esp_err err = {0};
    assert_int_equal(esp_platform_read(path_of("lat"), &pair, &p, &err), ESP_OK);
    assert_int_equal(esp_platform_link_count(p), 2);
    esp_platform_free(p);
    pair.bandwidth_path = "/nowhere/bw";
    assert_int_equal(esp_platform_read(path_of("lat"), &pair, &p, &err), ESP_EIO);
    assert_non_null(strstr(err.text, "/nowhere/bw: cannot open: No such file"));
}

static void bad_files(void **state)
{
    (void)state;
    struct esp_err err = {0};
    struct esp_platform *p = NULL;
    assert_int_equal(esp_platform_read("/nowhere/p.json", NULL, &p, &err), ESP_EIO);
    assert_string_equal(err.text,
                        "/nowhere/p.json: cannot open: No such file or directory");
    assert_int_equal(esp_platform_read(dir, NULL, &p, &err), ESP_EIO);
    assert_non_null(strstr(err.text, "is a directory, not a file"));
    assert_int_equal(esp_platform_read(write_file("empty", ""), NULL, &p, &err),
                     ESP_EINPUT);
    assert_non_null(strstr(err.text, "empty: is empty"));
    const char *closed = write_file("closed", "a b 1Bps\n");
    chmod(closed, 0);
    if (geteuid() != 0) { /* root reads everything */
        assert_int_equal(esp_platform_read(closed, NULL, &p, &err), ESP_EIO);
        assert_non_null(strstr(err.text, "closed: cannot open: Permission denied"));
    }
    char name[3000] = "/nowhere/";
    memset(name + 9, 'x', sizeof name - 20);
    strcpy(name + sizeof name - 11, "\nlast.json");
    assert_int_equal(esp_platform_read(name, NULL, &p, &err), ESP_EIO);
    assert_int_equal(strncmp(err.text, "...xxx", 6), 0);
    assert_non_null(strstr(err.text, "x\\u000alast.json: cannot open"));
    assert_null(p);
}

/* A file of two gigabytes that is one line: refused by its size, at no cost. */
static void huge_line(void **state)
{
    (void)state;
    struct esp_err err = {0};
    struct esp_platform *p = NULL;
    const char *path = write_file("huge", "x");
    assert_int_equal(truncate(path, (off_t)2 << 30), 0);
    assert_int_equal(esp_platform_read(path, NULL, &p, &err), ESP_EINPUT);
    assert_non_null(strstr(err.text, "larger than 1024 MiB"));
}

/* Standard input is a pipe, fed by a child in two pieces. */
static void pipes(void **state)
{
    (void)state;
    int fd[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        for (int i = 0; i < 30000; i++) {
            char line[32];
            int n = snprintf(line, sizeof line, "a%d b %dBps\n", i, i + 1);
            if (write(fd[1], line, (size_t)n) != n)
                _exit(1);
        }
        _exit(0);
    }
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    esp_status status = esp_platform_read("-", NULL, &p, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, ESP_OK);
    assert_int_equal(esp_platform_link_count(p), 30000);
    assert_string_equal(esp_platform_name(p), "standard input");
    esp_platform_free(p);
    assert_int_equal(esp_platform_read("-", NULL, &p, &err), ESP_EINPUT);
    assert_string_equal(err.text, "standard input: is empty");
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static esp_status read_pair_file(void *arg)
{
    (void)arg;
    struct esp_read_options pair = {
        .size = sizeof pair, .bandwidth_path = path_of("bw"), .model = ESP_MODEL_DEFAULT};
    struct esp_platform *p = NULL;
    esp_status status = esp_platform_read(path_of("lat"), &pair, &p, NULL);
    esp_platform_free(p);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    write_file("lat", "0 1\n2 0\n");
    write_file("bw", "0 3\n4 0\n");
    assert_true(alloc_fail_each(read_pair_file, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found),  cmocka_unit_test(format_names),
        cmocka_unit_test(options_are_obeyed), cmocka_unit_test(bad_files),
        cmocka_unit_test(huge_line),          cmocka_unit_test(pipes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
