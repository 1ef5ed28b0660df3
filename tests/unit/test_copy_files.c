/* The files of a copy: lists that lie, paths that lead out, pieces that become files, and
 * files that change. */
#include <fcntl.h>
#include <setjmp.h>
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

#include "base/rng.h"
#include "copy/manifest.h"
#include "copy/source.h"
#include "copy/store.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

static const char *const hostile[] = {"",       "/",    "/etc/passwd", "..", ".",
                                      "a/../b", "../a", "a//b",        "a/", "./a",
                                      "a/.",    "a/..", "...//"};

static void hostile_names_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct espi_manifest_writer w = {0};
        struct espi_manifest m = {0};
        struct espi_copy_entry e = {.kind = ESPI_ENTRY_FILE, .path = hostile[i]};
        espi_manifest_put(&w, &e, NULL);
        assert_false(espi_copy_path_is_sound(hostile[i]));
        assert_int_not_equal(espi_manifest_read(&m, w.list.at, w.list.used, NULL),
                             ESP_OK);
        espi_wire_done(&w.list);
    }
    assert_true(espi_copy_path_is_sound("a"));
    assert_true(espi_copy_path_is_sound("..a/.b/c.."));
}

/* kind, path, link target or NULL, hard link to, extent or 0 */
struct line {
    int kind;
    const char *path, *link;
    uint32_t hard;
    uint64_t size, at, bytes;
};

static esp_status read_lines(const struct line *line, int n, struct espi_manifest *m)
{
    struct espi_manifest_writer w = {0};
    for (int i = 0; i < n; i++) {
        struct espi_extent x = {.at = line[i].at, .bytes = line[i].bytes};
        struct espi_copy_entry e = {.kind = line[i].kind,
                                    .mode = 07777,
                                    .size = line[i].size,
                                    .path = line[i].path,
                                    .link = line[i].link,
                                    .hard = line[i].hard,
                                    .n_extents = line[i].bytes > 0};
        espi_manifest_put(&w, &e, &x);
    }
    esp_status status = espi_manifest_read(m, w.list.at, w.list.used, NULL);
    espi_wire_done(&w.list);
    return status;
}

static void lists_that_lie_are_refused(void **state)
{
    (void)state;
    struct espi_manifest m = {0};
    const struct line good[] = {{ESPI_ENTRY_FOLDER, "d", NULL, 0, 0, 0, 0},
                                {ESPI_ENTRY_FILE, "d/f", NULL, 0, 100, 10, 90},
                                {ESPI_ENTRY_HARDLINK, "d/g", NULL, 1, 0, 0, 0},
                                {ESPI_ENTRY_SYMLINK, "d/h", "/etc", 0, 0, 0, 0}};
    assert_int_equal(read_lines(good, 4, &m), ESP_OK);
    assert_int_equal(m.data_bytes, 90);
    assert_int_equal(m.entry[1].mode, 0777);
    espi_manifest_done(&m);
    const struct line bad[][2] = {
        {{ESPI_ENTRY_FILE, "f", 0, 0, 0, 0, 0}, {ESPI_ENTRY_FILE, "f", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_FILE, "d/f", 0, 0, 0, 0, 0},
         {ESPI_ENTRY_FOLDER, "d", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_SYMLINK, "d", "/etc", 0, 0, 0, 0},
         {ESPI_ENTRY_FILE, "d/f", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_FILE, "f", 0, 0, 9, 0, 10}, {ESPI_ENTRY_FILE, "g", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_FILE, "f", 0, 0, 9, UINT64_MAX, 2},
         {ESPI_ENTRY_FILE, "g", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_FILE, "f", 0, 0, 0, 0, 0},
         {ESPI_ENTRY_HARDLINK, "g", 0, 1, 0, 0, 0}},
        {{ESPI_ENTRY_FOLDER, "f", 0, 0, 0, 0, 0},
         {ESPI_ENTRY_HARDLINK, "g", 0, 0, 0, 0, 0}},
        {{ESPI_ENTRY_SYMLINK, "f", "", 0, 0, 0, 0},
         {ESPI_ENTRY_FILE, "g", 0, 0, 0, 0, 0}},
        {{7, "f", 0, 0, 0, 0, 0}, {ESPI_ENTRY_FILE, "g", 0, 0, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(read_lines(bad[i], 2, &m), ESP_OK);
}

/* Times before and after all that are near, names that begin alike, holes, modes: what is
 * read is what was written, and of many files alike there is little to write. */
static void lists_say_all(void **state)
{
    (void)state;
    enum { FILES = 1000, A_FILE = 16 }; /* bytes */
    struct espi_manifest_writer w = {0};
    struct espi_manifest m = {0};
    const int64_t times[] = {0, -1, INT64_MIN, INT64_MAX, 1700000000, 4000000000, -5};
    const char *paths[] = {"a", "a/b", "a/b c", "a/bc", "aa", "ab", "b"};
    struct espi_extent x[] = {{.at = 5, .bytes = 10}, {.at = 1ULL << 40, .bytes = 3}};
    for (int i = 0; i < 7; i++) {
        struct espi_copy_entry e = {.kind = i ? ESPI_ENTRY_FILE : ESPI_ENTRY_FOLDER,
                                    .mode = i & 1 ? 0400 : 0777,
                                    .mtime_s = times[i],
                                    .mtime_ns = 999999999u * (i & 1),
                                    .path = paths[i],
                                    .size = i == 3 ? 1ULL << 41 : 0,
                                    .n_extents = i == 3 ? 2 : 0};
        espi_manifest_put(&w, &e, x);
    }
    assert_int_equal(espi_manifest_read(&m, w.list.at, w.list.used, NULL), ESP_OK);
    assert_int_equal(m.n_entries, 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(m.entry[i].path, paths[i]);
        assert_int_equal(m.entry[i].mode, i & 1 ? 0400 : 0777);
        assert_true(m.entry[i].mtime_s == times[i]);
        assert_int_equal(m.entry[i].mtime_ns, 999999999u * (i & 1));
    }
    assert_int_equal(m.n_extents, 2);
    assert_true(m.extent[1].at == x[1].at && m.extent[1].stream == 10);
    espi_manifest_done(&m);
    espi_wire_done(&w.list);
    w = (struct espi_manifest_writer){0};
    for (int i = 0; i < FILES; i++) {
        char path[32];
        snprintf(path, sizeof path, "file%06d", i);
        struct espi_copy_entry e = {.kind = ESPI_ENTRY_FILE,
                                    .mode = 0644,
                                    .mtime_s = 1700000000 + i / 100,
                                    .mtime_ns = (uint32_t)i * 7654321 % 1000000000,
                                    .path = path,
                                    .size = 300,
                                    .n_extents = 1};
        espi_manifest_put(&w, &e, &(struct espi_extent){.bytes = 300});
    }
    assert_true(w.list.used < FILES * A_FILE);
    espi_wire_done(&w.list);
}

/* ---- where things are put ---- */

struct place {
    char dir[64], in[96], out[96];
};

static void make_place(struct place *at)
{
    strcpy(at->dir, "/tmp/espalier-test-XXXXXX");
    assert_non_null(mkdtemp(at->dir));
    snprintf(at->in, sizeof at->in, "%s/in", at->dir);
    snprintf(at->out, sizeof at->out, "%s/out", at->dir);
    assert_int_equal(mkdir(at->out, 0755), 0);
}

static void clear_place(const struct place *at)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", at->dir);
    assert_int_equal(system(command), 0);
}

/* A link where a folder of the copy is to be must not lead out. */
static void no_link_leads_out(void **state)
{
    (void)state;
    struct place at;
    struct espi_store s;
    struct espi_manifest m = {0};
    char link[256];
    struct stat st;
    const struct line lines[] = {{ESPI_ENTRY_FOLDER, "d", NULL, 0, 0, 0, 0},
                                 {ESPI_ENTRY_FILE, "d/f", NULL, 0, 4, 0, 4}};
    make_place(&at);
    espi_store_init(&s);
    assert_int_equal(read_lines(lines, 2, &m), ESP_OK);
    assert_int_equal(espi_store_open(&s, NULL, at.out, NULL), ESP_OK);
    assert_int_equal(espi_store_begin(&s, &m, 0, NULL), ESP_OK);
    snprintf(link, sizeof link, "%s/%s/d", at.out, s.build_name);
    assert_int_equal(rmdir(link), 0);
    assert_int_equal(symlink(at.dir, link), 0);
    assert_int_not_equal(espi_store_keep(&s, 0, "evil", 4, NULL), ESP_OK);
    snprintf(link, sizeof link, "%s/f", at.dir);
    assert_int_equal(stat(link, &st), -1);
    espi_store_discard(&s);
    espi_store_done(&s);
    /* nor does the folder itself, beneath another */
    snprintf(link, sizeof link, "%s/way", at.out);
    assert_int_equal(symlink(at.dir, link), 0);
    assert_int_not_equal(espi_store_open(&s, at.out, "way", NULL), ESP_OK);
    assert_int_not_equal(espi_store_open(&s, at.out, "../in", NULL), ESP_OK);
    assert_int_not_equal(espi_store_open(&s, at.out, "a/../../in", NULL), ESP_OK);
    assert_int_equal(espi_store_open(&s, at.out, "/a/b", NULL), ESP_OK);
    espi_store_done(&s);
    espi_manifest_done(&m);
    clear_place(&at);
}

/* As a user who may not read or write them afterwards. */
static void copy_locked_files(const char *out)
{
    enum { FILES = 100, LAST = FILES / 2 };
    struct espi_manifest_writer w = {0};
    struct espi_manifest m = {0};
    struct espi_store s;
    char data[FILES * 2], path[160];
    memset(data, 'x', sizeof data);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "f%03d", i);
        struct espi_copy_entry e = {.kind = ESPI_ENTRY_FILE,
                                    .mode = i % 2 ? 0444 : 0200,
                                    .mtime_s = i,
                                    .path = path,
                                    .size = 2,
                                    .n_extents = 1};
        espi_manifest_put(&w, &e, &(struct espi_extent){.bytes = 2});
    }
    assert_int_equal(espi_manifest_read(&m, w.list.at, w.list.used, NULL), ESP_OK);
    espi_store_init(&s);
    assert_int_equal(espi_store_open(&s, NULL, out, NULL), ESP_OK);
    assert_int_equal(espi_store_begin(&s, &m, 0, NULL), ESP_OK);
    assert_int_equal(espi_store_keep(&s, 0, data, sizeof data, NULL), ESP_OK);
    assert_int_equal(espi_store_load(&s, 0, data, sizeof data, NULL), ESP_OK);
    assert_int_equal(espi_store_keep(&s, 0, data, LAST, NULL), ESP_OK);
    assert_int_equal(espi_store_finish(&s, 0, NULL), ESP_OK);
    espi_store_done(&s);
    for (int i = 0; i < FILES; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s/f%03d", out, i);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, i % 2 ? 0444 : 0200);
        assert_int_equal(st.st_mtim.tv_sec, i);
        assert_int_equal(st.st_size, 2);
    }
    espi_manifest_done(&m);
    espi_wire_done(&w.list);
}

static void locked_files_keep_their_modes(void **state)
{
    (void)state;
    const uid_t nobody = 65534; /* published: of nobody, on most systems */
    struct place at;
    int how = 0;
    make_place(&at);
    assert_int_equal(chmod(at.dir, 0755), 0);
    assert_int_equal(chmod(at.out, 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(nobody))
            _exit(1);
        copy_locked_files(at.out);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    clear_place(&at);
}

static void put_file(const char *path, const char *data, size_t bytes)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

/* A file, or a stream, takes the place of no folder, also of one that came meanwhile; it
 * takes that of a link to one. */
static void no_folder_goes_for_a_file(void **state)
{
    (void)state;
    char path[256], inside[288];
    struct stat st;
    for (int i = 0; i < 6; i++) {
        int meanwhile = i / 2 == 1, is_link = i / 2 == 2;
        const struct line line = {
            i % 2 ? ESPI_ENTRY_STREAM : ESPI_ENTRY_FILE, "f", NULL, 0, 0, 0, 0};
        struct place at;
        struct espi_store s;
        struct espi_manifest m = {0};
        struct esp_err err = {.text = ""};
        make_place(&at);
        snprintf(path, sizeof path, "%s/f", at.out);
        snprintf(inside, sizeof inside, "%s/work", path);
        assert_int_equal(read_lines(&line, 1, &m), ESP_OK);
        espi_store_init(&s);
        assert_int_equal(espi_store_open(&s, NULL, at.out, NULL), ESP_OK);
        if (is_link)
            assert_int_equal(symlink(at.dir, path), 0);
        else if (!meanwhile)
            assert_int_equal(mkdir(path, 0755) || mkdir(inside, 0755), 0);
        esp_status status = espi_store_begin(&s, &m, 0, &err);
        assert_int_equal(status, is_link || meanwhile ? ESP_OK : ESP_EINPUT);
        assert_true(!status || strstr(err.text, "f is a folder there"));
        if (meanwhile)
            assert_int_equal(mkdir(path, 0755) || mkdir(inside, 0755), 0);
        if (!status)
            assert_int_equal(espi_store_finish(&s, 0, NULL), is_link ? ESP_OK : ESP_EIO);
        assert_int_equal(stat(inside, &st), is_link ? -1 : 0);
        assert_true(lstat(path, &st) == 0 && S_ISDIR(st.st_mode) == !is_link);
        espi_store_discard(&s);
        espi_store_done(&s);
        espi_manifest_done(&m);
        clear_place(&at);
    }
}

/* Bytes in whatever order and pieces come out as they were, and what an earlier copy left
 * is there to be used again. */
static void pieces_become_files(void **state)
{
    (void)state;
    struct place at;
    struct espi_copy_source from;
    struct espi_store to;
    char path[256], data[5000], back[5000];
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(5));
    make_place(&at);
    assert_int_equal(mkdir(at.in, 0755), 0);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)espi_rng_next(&rng);
    for (int i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "%s/f%d", at.in, i);
        put_file(path, data + i, (size_t)(i * i * 10));
    }
    const char *paths[] = {at.in};
    espi_source_init(&from);
    assert_int_equal(espi_source_scan(&from, paths, 1, NULL), ESP_OK);
    for (int resume = 0; resume < 2; resume++) {
        espi_store_init(&to);
        assert_int_equal(espi_store_open(&to, NULL, at.out, NULL), ESP_OK);
        assert_int_equal(espi_store_begin(&to, &from.m, resume, NULL), ESP_OK);
        assert_int_equal(to.had_before, resume);
        for (uint64_t n = (from.m.data_bytes + 776) / 777, i = 0; i < n; i++) {
            uint64_t first = (i * 5 + 3) % n * 777, left = from.m.data_bytes - first;
            size_t bytes = left < 777 ? (size_t)left : 777;
            assert_int_equal(espi_source_load(&from, first, data, bytes, NULL), ESP_OK);
            if (!resume)
                assert_int_equal(espi_store_keep(&to, first, data, bytes, NULL), ESP_OK);
            assert_int_equal(espi_store_load(&to, first, back, bytes, NULL), ESP_OK);
            assert_memory_equal(data, back, bytes);
        }
        assert_int_not_equal(espi_store_keep(&to, from.m.data_bytes, data, 1, NULL),
                             ESP_OK);
        assert_int_equal(espi_store_finish(&to, 0, NULL), ESP_OK);
        espi_store_done(&to);
        snprintf(path, sizeof path, "diff -r %s %s/in", at.in, at.out);
        assert_int_equal(system(path), 0);
    }
    espi_source_done(&from);
    clear_place(&at);
}

static void touch(const char *path, time_t when)
{
    const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A file that changes after it was listed is told of, whether it is open already or not,
 * whether it is longer then or not, and also where no byte of it is read again. */
static void sources_that_change_are_told_of(void **state)
{
    (void)state;
    enum { BYTES = 3000 };
    const size_t lengths[] = {BYTES, BYTES + 1, BYTES - 1, 0};
    char path[256], data[BYTES + 1] = {0}, back[BYTES];
    for (int i = 0; i < 8; i++) {
        int opened = i / 4;
        struct place at;
        struct espi_copy_source from;
        const char *paths[] = {at.in};
        make_place(&at);
        assert_int_equal(mkdir(at.in, 0755), 0);
        snprintf(path, sizeof path, "%s/f", at.in);
        put_file(path, data, BYTES);
        touch(path, 1000000000);
        espi_source_init(&from);
        assert_int_equal(espi_source_scan(&from, paths, 1, NULL), ESP_OK);
        if (opened)
            assert_int_equal(espi_source_load(&from, 0, back, 10, NULL), ESP_OK);
        assert_int_equal(espi_source_check(&from, NULL), ESP_OK);
        put_file(path, data, lengths[i % 4]);
        touch(path, 1000000001);
        assert_int_equal(espi_source_load(&from, 10, back, 10, NULL), ESP_EIO);
        assert_int_equal(espi_source_check(&from, NULL), ESP_EIO);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(espi_source_check(&from, NULL), ESP_EIO);
        espi_source_done(&from);
        clear_place(&at);
    }
}

/* ---- out of memory ---- */

static esp_status scan_and_drop(void *arg)
{
    struct espi_copy_source s;
    const char *paths[] = {arg};
    espi_source_init(&s);
    esp_status status = espi_source_scan(&s, paths, 1, NULL);
    espi_source_done(&s);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct place at;
    char path[256];
    make_place(&at);
    assert_int_equal(mkdir(at.in, 0755), 0);
    snprintf(path, sizeof path, "%s/f", at.in);
    put_file(path, "x", 1);
    assert_true(alloc_fail_each(scan_and_drop, at.in) > 0);
    clear_place(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_are_refused),
        cmocka_unit_test(lists_that_lie_are_refused),
        cmocka_unit_test(lists_say_all),
        cmocka_unit_test(locked_files_keep_their_modes),
        cmocka_unit_test(no_link_leads_out),
        cmocka_unit_test(no_folder_goes_for_a_file),
        cmocka_unit_test(pieces_become_files),
        cmocka_unit_test(sources_that_change_are_told_of),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
