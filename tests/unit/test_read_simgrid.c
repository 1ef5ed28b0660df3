/* SimGrid platforms: the lines that espalier-simgrid prints, and the program itself where
 * it was built. */
#include <math.h>
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

#include "base/child.h"
#include "platform/platform.h"
#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define HEAD         "espalier-simgrid 1\n"
#define TWO          HEAD "host a z\nhost b z\nlink x 100 0.5 shared\nlink y 10 0 fatpipe\n"

static const char good[] = HEAD "host a%20b z\n"
                                "host c %\n"
                                "host d%25 z%C3%A9\n"
                                "link nic 100 0.5 shared\n"
                                "link pipe 10 0.25 fatpipe\n"
                                "link own 1e9 0 shared\n"
                                "route 0 1 0.75 0 1\n"
                                "route 0 2 0.5 0 0\n"
                                "route 2 0 0 2 2\n"
                                "end\n";

static void good_dump(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_simgrid_dump, good);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    assert_int_equal(esp_platform_node_count(p), 3);
    assert_int_equal(esp_platform_link_count(p), 3);
    assert_link(p, "a b", "c", 0.75, 10);
    assert_link(p, "a b", "d%", 0.5, 100);
    assert_link(p, "d%", "a b", 0, 1e9);
    assert_string_equal(esp_platform_node_site(p, 0), "z");
    assert_null(esp_platform_node_site(p, 1));
    assert_string_equal(esp_platform_node_site(p, 2), "z\xc3\xa9");
    /* Only the card is used by several links; one of them crosses it twice. */
    assert_int_equal(esp_platform_cable_count(p), 1);
    assert_true(p->shared_Bps[0] == 100);
    assert_int_equal(p->shared_links.start[1], 2);
    assert_int_equal(p->shared_links.item[0], 0);
    assert_int_equal(p->shared_links.item[1], 1);
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"", "does not begin with 'espalier-simgrid 1'"},
    {"espalier-simgrid 2\n", "does not begin with 'espalier-simgrid 1'"},
    {HEAD, ":1: ends too early"},
    {HEAD "end\n", "at least one node"},
    {HEAD "what\nend\n", ":2: an unknown line"},
    {HEAD "\nend\n", ":2: an unknown line"},
    {HEAD "host a\nend\n", ":2: a host without name and zone"},
    {HEAD "host a z z\nend\n", ":2: a host without name and zone"},
    {HEAD "host % z\nend\n", "a % without two digits"},
    {HEAD "host a%2 z\nend\n", "a % without two digits"},
    {HEAD "host a%2g z\nend\n", "a % without two digits"},
    {HEAD "host a%0A z\nend\n", "is not printable"},
    {HEAD "host a%00 z\nend\n", "is not printable"},
    {HEAD "host a z\nhost a z\nend\n", ":3: host 'a' stands twice"},
    {HEAD "link x 1 0\nend\n", "a link without its four values"},
    {HEAD "link x 1 0 wifi\nend\n", "a policy that is none"},
    {HEAD "link x nan 0 shared\nend\n", "'nan' is not a number"},
    {HEAD "link x -1 0 shared\nend\n", "'-1' is not a number"},
    {TWO "route 0\nend\n", ":6: there is no number '' of 2"},
    {TWO "route 0 2 0 0\nend\n", ":6: there is no number '2' of 2"},
    {TWO "route 0 -1 0 0\nend\n", "there is no number '-1' of 2"},
    {TWO "route 0 0.5 0 0\nend\n", "there is no number '0.5' of 2"},
    {TWO "route 0 1 0 2\nend\n", "there is no number '2' of 2"},
    {TWO "route 0 1 x 0\nend\n", "'x' is not a number"},
    {TWO "route 0 1 0\nend\n", "a route without links"},
    {TWO "route 0 0 0 0\nend\n", "a route from host 0 to itself"},
    {TWO "route 0 1 0 0\nroute 0 1 0 0\nend\n", "link a -> b is there twice"},
    {HEAD "host a z\nhost b z\nlink x 0 0 shared\nroute 0 1 0 0\nend\n",
     "the bandwidth of link 'x' must be more than zero"},
    {TWO "route 0 1 0 0\n", "ends too early"},
    {HEAD "host a z\nhost b z\nlink x 9 0 shared\nlink x 9 0 shared\n"
          "route 0 1 0 0 1\nroute 1 0 0 0 1\nend\n",
     "shared link 'x' is there twice"},
};

static void bad_dumps(void **state)
{
    (void)state;
    read_bad_table(espi_read_simgrid_dump, bad, COUNT(bad));
    char text[400], name[301];
    memset(name, 'x', sizeof name);
    name[300] = '\0';
    int n = snprintf(text, sizeof text, HEAD "host %s z\nend\n", name);
    read_bad(espi_read_simgrid_dump, text, (size_t)n, "is longer than 255 bytes");
}

static void no_memory(void **state)
{
    (void)state;
    read_without_memory(espi_read_simgrid_dump, good);
}

/* ---- the program ---- */

/* The build puts the program one directory above the tests. */
static char built[4096];

static int use_built_program(void)
{
    ssize_t n = readlink("/proc/self/exe", built, sizeof built - 32);
    assert_true(n > 0);
    built[n] = '\0';
    for (int i = 0; i < 2; i++)
        *strrchr(built, '/') = '\0';
    setenv("ESPALIER_LIBEXEC", built, 1);
    strcat(built, "/espalier-simgrid");
    return access(built, X_OK) == 0;
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * b);
}

static void real_file(void **state)
{
    (void)state;
    if (!use_built_program()) {
        print_message("espalier-simgrid is not built: skipped\n");
        skip();
    }
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    esp_platform_read(TEST_DATA_DIR "/toy_simgrid.xml", NULL, &p, &err);
    assert_string_equal(err.text, "");
    assert_string_equal(esp_platform_name(p), "toy_simgrid");
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    assert_int_equal(esp_platform_node_count(p), 6);
    int e0 = esp_platform_find_node(p, "e0"), e1 = esp_platform_find_node(p, "e1");
    int w0 = esp_platform_find_node(p, "w0"), w1 = esp_platform_find_node(p, "w1");
    assert_string_equal(esp_platform_node_site(p, e0), "east");
    assert_string_equal(esp_platform_node_site(p, w0), "west");
    int far = esp_platform_find_link(p, w0, e1), near = esp_platform_find_link(p, w0, w1);
    assert_near(esp_platform_link_latency_s(p, far), 20e-6 + 10e-6 + 50e-3 + 5e-6 + 1e-6);
    assert_near(esp_platform_link_bandwidth_Bps(p, far), 10e6);
    assert_near(esp_platform_link_latency_s(p, near), 50e-6);
    assert_near(esp_platform_link_bandwidth_Bps(p, near), 125e6);
    int back = esp_platform_find_link(p, e1, e0);
    assert_near(esp_platform_link_bandwidth_Bps(p, back), 1e9);
    assert_int_equal(esp_platform_find_link(p, e0, esp_platform_find_node(p, "alone")),
                     -1);
    /* wan, backbone, three cards up and three down, e-own; not the fatpipe */
    assert_int_equal(esp_platform_cable_count(p), 9);
    /* the card, the backbone, the WAN cable and e1's own link; then the fatpipe alone */
    assert_int_equal(p->link_shared.start[far + 1] - p->link_shared.start[far], 4);
    assert_int_equal(p->link_shared.start[back + 1] - p->link_shared.start[back], 0);
    esp_platform_free(p);
}

/* SimGrid's own words reach the user. */
static void refused_by_simgrid(void **state)
{
    (void)state;
    if (!use_built_program()) {
        print_message("espalier-simgrid is not built: skipped\n");
        skip();
    }
    static const char *const texts[] = {
        "<platform version='0.5'/>",
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'simgrid.dtd'>\n"
        "<platform version='4.1'><zone id='z' routing='Full'><link id='l' "
        "bandwidth='1Mfoo' latency='0'/></zone></platform>",
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'simgrid.dtd'>\n"
        "<platform version='4.1'><zone id='z' routing='Full'><host id='a' speed='1f'/>"
        "<host id='a' speed='1f'/></zone></platform>",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char path[] = "/tmp/espalier-test-XXXXXX";
        int fd = mkstemp(path);
        assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
        close(fd);
        struct esp_platform *p = NULL;
        struct esp_err err = {0};
        assert_int_equal(esp_platform_read(path, NULL, &p, &err), ESP_EINPUT);
        assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
        assert_non_null(strstr(err.text, ": SimGrid refuses it"));
        assert_null(strstr(err.text, "no reason"));
        unlink(path);
    }
}

/* Three zones under each routing: with the routes between all, some and none of them.
 * SimGrid itself crashes when it is asked for what is not there. */
#define ZONES                                                                            \
    "<?xml version='1.0'?>\n"                                                            \
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"                   \
    "<platform version='4.1'><zone id='world' routing='%s'>"                             \
    "<cluster id='west' prefix='w' suffix='' radical='0-2' speed='1Gf' bw='125MBps' "    \
    "lat='20us'/><cluster id='mid' prefix='m' suffix='' radical='0-2' speed='1Gf' "      \
    "bw='125MBps' lat='20us'/><zone id='east' routing='%s'><host id='e0' speed='1f'/>"   \
    "<host id='e1' speed='1f'/><link id='l' bandwidth='1MBps' latency='0s'/>%s</zone>"   \
    "<link id='wan' bandwidth='1MBps' latency='0s'/>%s</zone></platform>"
#define INNER "<route src='e0' dst='e1'><link_ctn id='l'/></route>"
#define NEAR                                                                             \
    "<zoneRoute src='west' dst='mid' gw_src='wwest_router' gw_dst='mmid_router'>"        \
    "<link_ctn id='wan'/></zoneRoute>"
#define FAR                                                                              \
    "<zoneRoute src='mid' dst='east' gw_src='mmid_router' gw_dst='e0'>"                  \
    "<link_ctn id='wan'/></zoneRoute>"
#define BYPASS                                                                           \
    "<bypassZoneRoute src='west' dst='east' gw_src='wwest_router' gw_dst='e0'>"          \
    "<link_ctn id='wan'/></bypassZoneRoute>"

static const struct {
    const char *routing, *inner_routing, *inner, *routes;
    int n_links;
    const char *cause;
} zones[] = {
    {"Full", "Full", INNER, "", 14, NULL},
    {"Floyd", "Full", INNER, "", 14, NULL},
    {"Dijkstra", "Full", INNER, "", 14, NULL},
    {"None", "Full", INNER, "", 14, NULL},
    {"Full", "Full", INNER, NEAR, 32, NULL},
    {"Floyd", "Full", INNER, NEAR, 32, NULL},
    {"Dijkstra", "Full", INNER, NEAR, 0,
     "'east' has no route in zone 'world', which Dijkstra routing does not allow"},
    {"Full", "Full", INNER, NEAR FAR, 44, NULL},
    {"Full", "Full", "", "", 12, NULL},
    {"Full", "Floyd", "", NEAR FAR, 36, NULL},
    {"Full", "Dijkstra", "", NEAR FAR, 36, NULL},
    {"Full", "Full", INNER, BYPASS, 20, NULL},
};

static void zones_without_routes(void **state)
{
    (void)state;
    if (!use_built_program()) {
        print_message("espalier-simgrid is not built: skipped\n");
        skip();
    }
    for (size_t i = 0; i < COUNT(zones); i++) {
        struct esp_platform *p = NULL;
        struct esp_err err = {0};
        char text[2000];
        int n = snprintf(text, sizeof text, ZONES, zones[i].routing,
                         zones[i].inner_routing, zones[i].inner, zones[i].routes);
        esp_platform_parse(text, (size_t)n, "x", NULL, &p, &err);
        if (zones[i].cause) {
            assert_non_null(strstr(err.text, zones[i].cause));
            continue;
        }
        if (err.text[0] || esp_platform_link_count(p) != zones[i].n_links)
            fail_msg("case %zu: %s%d links", i, err.text,
                     p ? esp_platform_link_count(p) : 0);
        esp_platform_free(p);
    }
}

/* A file that makes libsimgrid write another one, with a line of its own choice. */
#define WRITES                                                                           \
    "<?xml version='1.0'?>\n"                                                            \
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"                   \
    "<platform version='4.1'><config id='General'><prop id='tracing' value='yes'/>"      \
    "<prop id='tracing/platform' value='yes'/>"                                          \
    "<prop id='tracing/filename' value='%s'/></config><zone id='z' routing='Full'>"      \
    "<host id='a\n* * * * * root id\n' speed='1f'/><host id='b' speed='1f'/>"            \
    "<link id='l' bandwidth='1Bps' latency='0s'/>"                                       \
    "<route src='b' dst='b'><link_ctn id='l'/></route></zone></platform>"

/* It does not reach libsimgrid; and where it does, nothing is written. */
static void no_file_is_written(void **state)
{
    (void)state;
    if (!use_built_program()) {
        print_message("espalier-simgrid is not built: skipped\n");
        skip();
    }
    char dir[] = "/tmp/espalier-test-XXXXXX", victim[64], text[1000];
    assert_non_null(mkdtemp(dir));
    chmod(dir, 0777);
    snprintf(victim, sizeof victim, "%s/victim", dir);
    snprintf(text, sizeof text, WRITES, victim);

    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    assert_int_equal(esp_platform_parse(text, strlen(text), "x", NULL, &p, &err),
                     ESP_EINPUT);
    assert_non_null(strstr(err.text, "x:3: a <config>"));
    assert_int_equal(access(victim, F_OK), -1);

    const char *argv[] = {built, NULL};
    struct espi_child child;
    int in = espi_child_text(text, strlen(text));
    assert_true(in >= 0);
    assert_int_equal(espi_child_run(argv, in, 60, &child, &err), ESP_OK);
    close(in);
    assert_true(child.exit_code != 0);
    espi_child_done(&child);
    assert_int_equal(access(victim, F_OK), -1);
    assert_int_equal(rmdir(dir), 0);
}

/* Not even the name of the file is handed over: what was scanned is what is parsed. */
static void from_a_pipe(void **state)
{
    (void)state;
    if (!use_built_program()) {
        print_message("espalier-simgrid is not built: skipped\n");
        skip();
    }
    static const char text[] =
        "<platform version='4.1'><zone id='z' routing='Full'><host "
        "id='\xc3\xa9&lt;&amp;' "
        "speed='1f'/><host id='b' speed='1f'/><link id='l' bandwidth='1Bps' latency='0'/>"
        "<route src='\xc3\xa9&lt;&amp;' dst='b'><link_ctn "
        "id='l'/></route></zone></platform>";
    int ends[2];
    char path[32];
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    esp_platform_read(path, NULL, &p, &err);
    close(ends[0]);
    assert_string_equal(err.text, "");
    assert_true(esp_platform_find_node(p, "\xc3\xa9<&") >= 0);
    assert_int_equal(esp_platform_link_count(p), 2);
    esp_platform_free(p);
}

/* Any program of that name is asked, and none is trusted. */
static void other_programs(void **state)
{
    (void)state;
    static const struct {
        const char *script, *cause;
        esp_status status;
    } cases[] = {
        {"exit 3", "SimGrid refuses it: it gives no reason", ESP_EINPUT},
        {"echo no >&2; kill -ABRT $$", "SimGrid refuses it (Aborted): no", ESP_EINPUT},
        {"echo Segmentation fault. >&2; kill -SEGV $$",
         "crashes on it (Segmentation fault) and", ESP_EINPUT},
        {"echo '  ->  3# main in x' >&2; kill -ABRT $$", "gives no reason", ESP_EINPUT},
        {"echo hello", "does not begin with", ESP_EINPUT},
        {"grep -q 'zone id=.world. routing' && echo espalier-simgrid 1;"
         "echo host given-$#-words %; echo end",
         "", ESP_OK},
    };
    char dir[] = "/tmp/espalier-test-XXXXXX", program[64];
    assert_non_null(mkdtemp(dir));
    setenv("ESPALIER_LIBEXEC", dir, 1);
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    const char *path = TEST_DATA_DIR "/toy_simgrid.xml";
    assert_int_equal(esp_platform_read(path, NULL, &p, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "install libsimgrid-dev"));
    snprintf(program, sizeof program, "%s/espalier-simgrid", dir);
    for (size_t i = 0; i < COUNT(cases); i++) {
        FILE *f = fopen(program, "w");
        assert_non_null(f);
        fprintf(f, "#!/bin/sh\n%s\n", cases[i].script);
        fclose(f);
        chmod(program, 0700);
        err.text[0] = '\0';
        assert_int_equal(esp_platform_read(path, NULL, &p, &err), cases[i].status);
        if (!strstr(err.text, cases[i].cause))
            fail_msg("'%s' instead of '%s'", err.text, cases[i].cause);
        unlink(program);
    }
    assert_int_equal(esp_platform_find_node(p, "given-0-words"), 0);
    esp_platform_free(p);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_dump),
        cmocka_unit_test(bad_dumps),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(real_file),
        cmocka_unit_test(refused_by_simgrid),
        cmocka_unit_test(no_file_is_written),
        cmocka_unit_test(from_a_pipe),
        cmocka_unit_test(other_programs),
        cmocka_unit_test(zones_without_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
