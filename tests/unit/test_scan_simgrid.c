/* What of SimGrid platforms libsimgrid gets to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "support/alloc_fail.h"
#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define HEAD                                                                             \
    "<?xml version=\"1.0\"?><!DOCTYPE platform SYSTEM "                                  \
    "\"https://simgrid.org/simgrid.dtd\">"
#define DOCTYPE    "<!DOCTYPE platform SYSTEM 'http://any.where/simgrid.dtd'>"
#define WITH(text) "<platform version='4.1'>" text "</platform>"

static esp_status scan(const char *text, char **out, struct esp_err *err)
{
    struct espi_source source = {text, strlen(text), "in", ESP_MODEL_DEFAULT, NULL, 0, 0};
    size_t length = 0;
    char *raw = NULL;
    esp_status status = espi_scan_simgrid(&source, &raw, &length, err);
    *out = status ? NULL : strndup(raw, length);
    espi_free(raw);
    return status;
}

static const struct {
    const char *text, *out;
} good[] = {
    {"<platform version='4.1'/>", HEAD "<platform version=\"4.1\"/>"},
    {DOCTYPE "<platform/>", HEAD "<platform/>"},
    {"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n" DOCTYPE "\n\n<platform/>\n",
     HEAD "\n\n\n<platform/>"},
    {WITH("<!-- <config/> -->\n<?config?>\n<![CDATA[ \n ]]><zone id='z'\n "
          "routing='Full'/>"),
     HEAD "<platform version=\"4.1\">\n\n\n<zone id=\"z\" routing=\"Full\"/></platform>"},
    {WITH("<host id=' a&#x2d;&quot;&lt;&gt;&apos;&amp;\xc3\xa9' speed='1'>\n</host>"),
     HEAD "<platform version=\"4.1\"><host id=\" a-&quot;&lt;&gt;&apos;&amp;\xc3\xa9\" "
          "speed=\"1\"/></platform>"},
    {WITH("<trace id='t' file='/etc/passwd'>0.0 &#49;</trace>"
          "<trace_connect trace='t' element='a'/>"
          "<link id='l' bandwidth='1' state_file='/etc/passwd' latency_file=''/>"),
     HEAD "<platform version=\"4.1\"><link id=\"l\" bandwidth=\"1\"/></platform>"},
    /* another encoding, told by the file */
    {"<?xml version='1.0' encoding='ISO-8859-1'?><platform version='\xe9'/>",
     HEAD "<platform version=\"\xc3\xa9\"/>"},
};

static void good_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct esp_err err = {0};
        char *out = NULL;
        if (scan(good[i].text, &out, &err))
            fail_msg("%s\nfor\n%s", err.text, good[i].text);
        assert_string_equal(out, good[i].out);
        free(out);
    }
}

/* What is let through means the same when it is read again. */
static void again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        char *out = NULL;
        assert_int_equal(scan(good[i].out, &out, NULL), ESP_OK);
        assert_string_equal(out, good[i].out);
        free(out);
    }
}

static const struct bad_text bad[] = {
    {WITH("<config id='General'><prop id='tracing' value='yes'/></config>"),
     ":1: a <config> changes what SimGrid itself does"},
    {WITH("\n\n<include file='/etc/passwd'/>"), ":3: <include> is not an element"},
    {WITH("<zone id='z' routing='Full'><config/></zone>"), "a <config>"},
    {WITH("<trace id='t'><config/></trace>"), "a <config>"},
    {WITH("<actor host='a' function='f'/>"), "<actor> is not an element"},
    {WITH("<process host='a' function='f'/>"), "<process> is not an element"},
    {WITH("<storage_type id='s' content='/etc/passwd'/>"), "<storage_type> is not an"},
    {WITH("<x:config xmlns:x='y'/>"), "<x:config> is not an element"},
    {WITH("<platform/>"), "<platform> is not an element"},
    {"<zone id='z' routing='Full'/>", "<zone> is not an element"},
    {"<html/>", "<html> is not an element"},
    {WITH("<host id='a' speed='1f' onload='x'/>"), "has an attribute 'onload'"},
    {WITH("<zone id='a&#10;b' routing='Full'/>"), "'id' has characters that cannot"},
    {WITH("<zone id='a&#127;' routing='Full'/>"), "'id' has characters that cannot"},
    {WITH("<zone id='a&#x9b;' routing='Full'/>"), "'id' has characters that cannot"},
    {WITH("text"), "there is text between elements"},
    {WITH("<![CDATA[<config/>]]>"), "there is text between elements"},
    {"<!DOCTYPE platform SYSTEM 'simgrid.dtd' []><platform/>", ":1: a document type"},
    {"<!DOCTYPE platform [<!ENTITY e '<config/>'>]><platform>&e;</platform>",
     ":1: a document type"},
    {"<!DOCTYPE platform [<!ENTITY e SYSTEM '/etc/passwd'>]><platform>&e;</platform>",
     ":1: a document type"},
    {"<!DOCTYPE platform SYSTEM '/etc/passwd'><platform/>", "a document type"},
    {"<!DOCTYPE platform PUBLIC 'x' 'simgrid.dtd'><platform/>", "a document type"},
    {"<!DOCTYPE config SYSTEM 'simgrid.dtd'><platform/>", "a document type"},
    {DOCTYPE WITH("&e;"), ":1: there is an entity"},
    {DOCTYPE WITH("<zone id='a&e;b' routing='Full'/>"), "<zone> has an entity"},
    {WITH("<zone id='a&e;b' routing='Full'/>"), ":1:"},
    {"<platform>", ":1:11: the text ends here"},
    {"<platform version='4.1'><config/>", "a <config>"},
    {"<platform/><config/>", ":1:12: "},
    {"<platform version='1' version='2'/>", ":1:23: duplicate attribute"},
    {"\xff\xfe", "in.txt:1:"},
};

static esp_status scan_only(const struct espi_source *source, struct esp_platform **out,
                            struct esp_err *err)
{
    (void)out;
    char *text = NULL;
    size_t length;
    esp_status status = espi_scan_simgrid(source, &text, &length, err);
    espi_free(text);
    return status;
}

static void bad_files(void **state)
{
    (void)state;
    read_bad_table(scan_only, bad, COUNT(bad));
}

/* Nesting as deep as it may be, and one deeper; an attribute likewise. */
static void limits(void **state)
{
    (void)state;
    static const char zone[] = "<zone id='z' routing='Full'>";
    char text[2000] = "<platform>";
    for (int i = 0; i < 31; i++)
        strcat(text, zone);
    for (int i = 0; i < 31; i++)
        strcat(text, "</zone>");
    strcat(text, "</platform>");
    struct espi_source source = {text, strlen(text), "in", ESP_MODEL_DEFAULT, NULL, 0, 0};
    assert_int_equal(scan_only(&source, NULL, NULL), ESP_OK);
    strcpy(text, "<platform>");
    for (int i = 0; i < 32; i++)
        strcat(text, zone);
    read_bad(scan_only, text, strlen(text), "nested deeper than 32");

    char *large = calloc(1, 70000);
    assert_non_null(large);
    strcpy(large, "<platform version='");
    size_t n = strlen(large);
    memset(large + n, 'x', 65536);
    strcpy(large + n + 65536, "'/>");
    source =
        (struct espi_source){large, strlen(large), "in", ESP_MODEL_DEFAULT, NULL, 0, 0};
    assert_int_equal(scan_only(&source, NULL, NULL), ESP_OK);
    strcpy(large + n + 65536, "x'/>");
    read_bad(scan_only, large, strlen(large), "'version' is longer than 65536 bytes");
    free(large);
}

static esp_status scan_good(void *arg)
{
    char *out = NULL;
    esp_status status = scan(arg, &out, NULL);
    free(out);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    assert_true(alloc_fail_each(scan_good, (void *)(uintptr_t)good[4].text) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files), cmocka_unit_test(again),
        cmocka_unit_test(bad_files),  cmocka_unit_test(limits),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
