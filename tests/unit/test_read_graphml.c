/* GraphML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define KEYS                                                                             \
    "<graphml>"                                                                          \
    "<key id='b' for='edge' attr.name='bandwidth'/>"                                     \
    "<key id='l' for='edge' attr.name='delay'/>"                                         \
    "<key id='k' for='node' attr.name='kind'/>"                                          \
    "<key id='s' for='node' attr.name='send_s'/>"                                        \
    "<key id='m' for='graph' attr.name='model'/>"                                        \
    "<graph edgedefault='directed'>"
#define AB   "<node id='a'/><node id='b'/>"
#define END  "</graph></graphml>"
#define BW   "<data key='b'>1</data>"
#define EDGE "<edge source='a' target='b'>" BW "</edge>"

static const char good[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>\n"
    " <key id='d0' for='node' attr.name='site' attr.type='string'/>\n"
    " <key id='d1' for='node' attr.name='kind'><default>host</default></key>\n"
    " <key id='d2' for='node' attr.name='send_s'/>\n"
    " <key id='d3' for='node' attr.name='recv_s'/>\n"
    " <key id='d4' for='edge' attr.name='latency_s'><default>2ms</default></key>\n"
    " <key id='d5' for='edge' attr.name='capacity'/>\n"
    " <key id='d6' for='all' attr.name='colour'/>\n"
    " <key id='d7' for='graph' attr.name='model'/>\n"
    " <graph id='G' edgedefault='undirected'>\n"
    "  <desc>a toy</desc><data key='d7'>multi-port</data>\n"
    "  <edge source='a' target='b'><data key='d5'>100Mbps</data></edge>\n"
    "  <node id='a'><data key='d0'> lyon </data><data key='d2'>9e-5</data></node>\n"
    "  <node id='b'><data key='d3'>70us</data><port name='x'><data key='d0'>no</data>\n"
    "   </port></node>\n"
    "  <node id='c'><data key='d1'>router</data><data key='d6'>red &amp; blue</data>"
    "</node>\n"
    "  <edge source='b' target='c' directed='true'><data key='d4'>0.5</data>\n"
    "    <data key='d5'>12.5</data><data key='d6'><x><y/></x></data></edge>\n"
    " </graph>\n"
    "</graphml>\n";

static void good_text(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_graphml, good);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_MULTI_PORT);
    assert_int_equal(esp_platform_node_count(p), 3);
    assert_int_equal(esp_platform_host_count(p), 2);
    assert_int_equal(esp_platform_link_count(p), 3);
    assert_string_equal(esp_platform_node_site(p, 0), "lyon");
    assert_null(esp_platform_node_site(p, 1));
    assert_true(esp_platform_node_send_s(p, 0) == 9e-5);
    assert_true(esp_platform_node_recv_s(p, 0) == ESP_UNSET);
    assert_true(esp_platform_node_recv_s(p, 1) == 70e-6);
    assert_int_equal(esp_platform_node_kind(p, 2), ESP_NODE_SWITCH);
    assert_link(p, "a", "b", 2e-3, 12.5e6);
    assert_link(p, "b", "a", 2e-3, 12.5e6);
    assert_link(p, "b", "c", 0.5, 12.5);
    esp_platform_free(p);
}

static void prefix_and_defaults(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_graphml, KEYS AB EDGE END);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    assert_link(p, "a", "b", 0, 1);
    assert_int_equal(esp_platform_link_count(p), 1);
    esp_platform_free(p);
    p = read_good(espi_read_graphml, "<g:graphml xmlns:g='u'><g:graph><g:node id='z'/>"
                                     "</g:graph></g:graphml>");
    assert_int_equal(esp_platform_find_node(p, "z"), 0);
    esp_platform_free(p);
}

static const struct bad_text bad[] = {
    {"<graphml>\n<graph>", ":2:8: the text ends here"},
    {KEYS AB "<edge source='a'", ":1:"},
    {KEYS AB "\n</node>" END, ":2:3: mismatched tag"},
    {"<graphml/>", "a platform needs at least one node"},
    {"<html/>", ":1: the outermost element is <html>, not <graphml>"},
    {"plain", ":1:1:"},
    {KEYS "<node/>" END, "a <node> without the attribute 'id'"},
    {KEYS "<node id=''/>" END, "a <node> without the attribute 'id'"},
    {KEYS AB "<node id='a'/>" END, ":1: node 'a' stands twice"},
    {KEYS AB "<edge source='a'/>" END, "a <edge> without the attribute 'target'"},
    {KEYS AB "\n<edge source='a' target='c'>" BW "</edge>" END,
     ":2: there is no node 'c'"},
    {KEYS AB "\n\n<edge source='b' target='b'>" BW "</edge>" END,
     ":3: an edge from 'b' to itself"},
    {KEYS AB "<edge source='a' target='b'/>" END, "an edge without bandwidth"},
    {KEYS AB "<edge source='a' target='b'><data key='b'>0</data></edge>" END,
     "the bandwidth must be more than zero"},
    {KEYS AB "<edge source='a' target='b'><data key='b'>-1</data></edge>" END,
     "bandwidth '-1' is negative"},
    {KEYS AB "<edge source='a' target='b'><data key='b'>NaN</data></edge>" END,
     "bandwidth 'NaN' is not a bandwidth"},
    {KEYS AB "<edge source='a' target='b'><data key='b'>1 Mfoo</data></edge>" END,
     "'1 Mfoo' is not a bandwidth"},
    {KEYS AB "<edge source='a' target='b'><data key='l'>x</data>" BW "</edge>" END,
     "latency 'x' is not a time"},
    {KEYS AB "<edge source='a' target='b'><data key='b'><x/>1</data></edge>" END,
     "elements inside of a value"},
    {KEYS AB EDGE EDGE END, "link a -> b is there twice"},
    {KEYS AB "<edge source='a' target='b' directed='yes'>" BW "</edge>" END,
     "directed is neither"},
    {KEYS "<node id='a'><data key='k'>toaster</data></node>" END,
     "kind 'toaster' is none of host"},
    {KEYS "<node id='a'><data key='k'>switch</data></node>" END, "at least one host"},
    {KEYS "<node id='a'><data key='s'>-1</data></node>" END, "send_s '-1' is negative"},
    {KEYS "<node id='a&#10;b'/>" END,
     "'a\\u000ab' is longer than 255 bytes or not printable"},
    {KEYS "<node id='a'><graph/></node>" END, "a second or nested <graph>"},
    {KEYS "<node id='a'><node id='b'/></node>" END, "a <node> inside of another"},
    {"<graphml><node id='a'/></graphml>", "a <node> outside of <graph>"},
    {KEYS "<hyperedge/>" END, "hyperedges are not read"},
    {KEYS "<data key='m'>two-port</data>" END, "a model that is none"},
    {"<graphml><graph edgedefault='maybe'/></graphml>", "edgedefault is neither"},
    {"<graphml><key/></graphml>", "a <key> without the attribute 'id'"},
    {"<!DOCTYPE graphml [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>"
     "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;'>]><graphml>&c;</graphml>",
     ":1: document types and entities are refused"},
    {"<!DOCTYPE graphml SYSTEM 'file:///etc/passwd'><graphml/>",
     "document types and entities are refused"},
    {"<!DOCTYPE graphml [<!ENTITY a SYSTEM '/etc/passwd'>]><graphml>&a;</graphml>",
     "document types and entities are refused"},
    {"<graphml>&nope;</graphml>", "undefined entity"},
};

static void bad_texts(void **state)
{
    (void)state;
    read_bad_table(espi_read_graphml, bad, COUNT(bad));
}

static void deep_and_long(void **state)
{
    (void)state;
    size_t n = 10000 * 3 + 9;
    char *text = malloc(n + 1);
    assert_non_null(text);
    strcpy(text, "<graphml>");
    for (int i = 0; i < 10000; i++)
        memcpy(text + 9 + i * 3, "<x>", 3);
    read_bad(espi_read_graphml, text, n, "elements nested more than 32 deep");
    free(text);
    static char value[6000];
    int at = snprintf(value, sizeof value, "%s%s", KEYS, "<node id='a'><data key='k'>");
    memset(value + at, 'h', sizeof value - (size_t)at);
    read_bad(espi_read_graphml, value, sizeof value, "a value longer than 4096 bytes");
}

static void no_memory(void **state)
{
    (void)state;
    read_without_memory(espi_read_graphml, good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text), cmocka_unit_test(prefix_and_defaults),
        cmocka_unit_test(bad_texts), cmocka_unit_test(deep_and_long),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
