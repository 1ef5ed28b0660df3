/* Many small files: what came just now is passed on from memory, what is proven is read
 * from the files, and each is opened by its name in the folder at hand. */
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

#include "base/rng.h"
#include "copy/recent.h"
#include "copy/store.h"
#include "support/seed.h"

static void make_folder(char dir[64])
{
    strcpy(dir, "/tmp/espalier-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void clear_folder(const char *dir)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* Beside a message that is kept whole. */
static void what_is_recent_is_what_came_last(void **state)
{
    (void)state;
    enum { BYTES = 3 * ESPI_COPY_RECENT_BYTES, DRAWS = 1000 };
    struct espi_recent r = {0};
    struct espi_rng rng;
    unsigned char *all = malloc(BYTES), *came = calloc(1, BYTES);
    unsigned char *piece = malloc(ESPI_COPY_WORK_BYTES);
    assert_true(all && came && piece);
    espi_rng_seed(&rng, test_seed(1));
    int draws = test_draws(DRAWS), hits = 0;
    for (int i = 0; i < draws; i++) {
        size_t at = espi_rng_below(&rng, BYTES - ESPI_COPY_WORK_BYTES);
        size_t bytes = 1 + espi_rng_below(&rng, ESPI_COPY_WORK_BYTES);
        memset(all + at, i, bytes);
        memset(came + at, 1, bytes);
        espi_recent_keep(&r, at, all + at, bytes);
        assert_true(espi_recent_load(&r, at, piece, bytes));
        assert_memory_equal(piece, all + at, bytes);
        at = espi_rng_below(&rng, BYTES - ESPI_COPY_WORK_BYTES);
        bytes = 1 + espi_rng_below(&rng, 100);
        if (!espi_recent_load(&r, at, piece, bytes))
            continue;
        hits++;
        assert_null(memchr(came + at, 0, bytes));
        assert_memory_equal(piece, all + at, bytes);
    }
    assert_true(hits > 0);
    espi_recent_done(&r);
    assert_false(espi_recent_load(&r, 0, piece, 1));
    free(all);
    free(came);
    free(piece);
}

enum { FILES = 50, SIZE = 7, FOLDERS = 5 };

/* FILES files in FOLDERS folders. */
static void list_files(struct espi_manifest *m)
{
    struct espi_manifest_writer w = {0};
    for (int i = 0; i < FILES; i++) {
        char path[32];
        snprintf(path, sizeof path, "d%d/f%02d", i * FOLDERS / FILES, i);
        struct espi_copy_entry e = {.kind = ESPI_ENTRY_FILE,
                                    .mode = 0640,
                                    .mtime_s = i,
                                    .path = path,
                                    .size = SIZE,
                                    .n_extents = 1};
        if (i * FOLDERS % FILES == 0) {
            char folder[3] = {path[0], path[1], '\0'};
            struct espi_copy_entry d = {
                .kind = ESPI_ENTRY_FOLDER, .mode = 0755, .path = folder};
            espi_manifest_put(&w, &d, NULL);
        }
        espi_manifest_put(&w, &e, &(struct espi_extent){.bytes = SIZE});
    }
    assert_int_equal(espi_manifest_read(m, w.list.at, w.list.used, NULL), ESP_OK);
    espi_wire_done(&w.list);
}

static void open_store(struct espi_store *s, struct espi_manifest *m, const char *dir)
{
    list_files(m);
    espi_store_init(s);
    assert_int_equal(espi_store_open(s, NULL, dir, NULL), ESP_OK);
    assert_int_equal(espi_store_begin(s, m, 0, NULL), ESP_OK);
}

/* A byte that changes on the disk is passed on as it came, and is not proven. */
static void only_files_are_proven(void **state)
{
    (void)state;
    char dir[64], path[256], data[FILES * SIZE], back[FILES * SIZE];
    struct espi_store s;
    struct espi_manifest m;
    make_folder(dir);
    open_store(&s, &m, dir);
    memset(data, 'x', sizeof data);
    assert_int_equal(espi_store_keep(&s, 0, data, sizeof data, NULL), ESP_OK);
    snprintf(path, sizeof path, "%s/%s/d2/f21", dir, s.build_name);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "y", 1, 3), 1);
    close(fd);
    assert_int_equal(espi_store_pass(&s, 0, back, sizeof back, NULL), ESP_OK);
    assert_memory_equal(back, data, sizeof data);
    assert_int_equal(espi_store_load(&s, 0, back, sizeof back, NULL), ESP_OK);
    assert_int_equal(back[21 * SIZE + 3], 'y');
    espi_store_discard(&s);
    espi_store_done(&s);
    espi_manifest_done(&m);
    clear_folder(dir);
}

/* A folder that was gone into is gone into anew after another one: a link that took its
 * place leads nowhere. */
static void the_folder_at_hand_is_left(void **state)
{
    (void)state;
    const int half = FILES / 2 * SIZE;
    char dir[64], path[256], away[256], data[FILES * SIZE];
    struct espi_store s;
    struct espi_manifest m;
    struct stat st;
    make_folder(dir);
    open_store(&s, &m, dir);
    memset(data, 'x', sizeof data);
    for (int at = 0; at < half; at += SIZE)
        assert_int_equal(espi_store_keep(&s, (uint64_t)at, data, SIZE, NULL), ESP_OK);
    snprintf(path, sizeof path, "%s/%s/d0", dir, s.build_name);
    snprintf(away, sizeof away, "%s/away", dir);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(symlink(away, path), 0);
    assert_int_not_equal(espi_store_keep(&s, 0, data, SIZE, NULL), ESP_OK);
    assert_int_not_equal(espi_store_load(&s, 0, data, SIZE, NULL), ESP_OK);
    assert_int_equal(
        espi_store_keep(&s, (uint64_t)half, data, sizeof data - (size_t)half, NULL),
        ESP_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(away, path), 0);
    assert_int_equal(espi_store_finish(&s, 0, NULL), ESP_OK);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/d%d/f%02d", dir, i * FOLDERS / FILES, i);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, SIZE);
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(st.st_mtim.tv_sec, i);
    }
    espi_store_done(&s);
    espi_manifest_done(&m);
    clear_folder(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recent_is_what_came_last),
        cmocka_unit_test(only_files_are_proven),
        cmocka_unit_test(the_folder_at_hand_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
