/* What others know of switched networks: topology.conf of Slurm, ibnetdiscover, the XML
 * of NCCL; and lists of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/host_list.h"
#include "platform/platform.h"
#include "support/read_cases.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- lists of hosts ---- */

struct spelled {
    char text[4096];
    int n;
};

static esp_status spell(void *self, const char *name, struct esp_err *err)
{
    struct spelled *s = self;
    (void)err;
    size_t at = strlen(s->text);
    snprintf(s->text + at, sizeof s->text - at, "%s%s", s->n++ ? " " : "", name);
    return ESP_OK;
}

static struct espi_span span_of(const char *text)
{
    return (struct espi_span){text, strlen(text)};
}

static void lists_are_spelled_out(void **state)
{
    static const struct {
        const char *list, *names;
    } cases[] = {
        {"a", "a"},
        {"a,b,a", "a b a"},
        {"tux[0-3,12],b7", "tux0 tux1 tux2 tux3 tux12 b7"},
        {"n[008-011]", "n008 n009 n010 n011"},
        {"r[0-1]n[9-10,3]-ib", "r0n9-ib r0n10-ib r0n3-ib r1n9-ib r1n10-ib r1n3-ib"},
        {"[5]", "5"},
        {"a[1]b,c[2-2]", "a1b c2"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spelled s = {"", 0};
        struct esp_err err = {0};
        assert_int_equal(
            espi_host_list_each(span_of(cases[i].list), 100, spell, &s, &err), ESP_OK);
        assert_string_equal(s.text, cases[i].names);
    }
}

static void bad_lists_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        ",",
        "a,",
        "a,,b",
        "a[",
        "a]",
        "a[]",
        "a[1-]",
        "a[-1]",
        "a[3-1]",
        "a[1,]",
        "a[x]",
        "a[1-2",
        "a[1;2]",
        "a[1-3,b]",
        "a[0-9999999999]",
        "a[1][2][3][4][5][6][7][8][9]",
        "a\x01",
        "a[0-50],b[0-49]",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spelled s = {"", 0};
        struct esp_err err = {0};
        assert_int_equal(espi_host_list_each(span_of(cases[i]), 100, spell, &s, &err),
                         ESP_EINPUT);
        assert_non_null(strstr(err.text, "the list of hosts"));
    }
}

/* ---- topology.conf ---- */

static const char slurm[] = "# two leaves\n"
                            "SwitchName=leaf0 Nodes=tux[0-1],b7 LinkSpeed=100Gbps\n"
                            "switchname=leaf1 nodes=r[08-09] \\\n"
                            "  LinkSpeed=12.5GBps # goes on\n"
                            "SwitchName=top Switches=leaf[0-1] LinkSpeed=25GBps\n";

static void good_slurm(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_slurm, slurm);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    assert_int_equal(esp_platform_node_count(p), 8);
    assert_int_equal(esp_platform_host_count(p), 5);
    assert_int_equal(esp_platform_link_count(p), 14);
    assert_link(p, "tux1", "leaf0", 0, 12.5e9);
    assert_link(p, "leaf1", "r09", 0, 12.5e9);
    assert_link(p, "top", "leaf1", 0, 25e9);
    assert_string_equal(esp_platform_node_site(p, esp_platform_find_node(p, "r08")),
                        "leaf1");
    esp_platform_free(p);
}

/* Bare speeds have no unit in Slurm, and so need one of the user. */
static void speed_of_the_source(void **state)
{
    static const char text[] = "SwitchName=s Nodes=a,b LinkSpeed=40\n";
    struct esp_platform *p = NULL;
    struct espi_source source = {.text = text,
                                 .length = sizeof text - 1,
                                 .where = "t",
                                 .model = ESP_MODEL_DEFAULT,
                                 .link_Bps = 5e9};
    (void)state;
    assert_int_equal(espi_read_slurm(&source, &p, NULL), ESP_OK);
    assert_link(p, "a", "s", 0, 5e9);
    esp_platform_free(p);
    source.rate_unit = "Gbps";
    assert_int_equal(espi_read_slurm(&source, &p, NULL), ESP_OK);
    assert_link(p, "s", "b", 0, 5e9); /* 40 of them are as much */
    esp_platform_free(p);
    source.rate_unit = "MBps";
    assert_int_equal(espi_read_slurm(&source, &p, NULL), ESP_OK);
    assert_link(p, "s", "b", 0, 40e6);
    esp_platform_free(p);
    source.rate_unit = "apples";
    assert_int_equal(espi_read_slurm(&source, &p, NULL), ESP_EUSAGE);
    read_bad(espi_read_slurm, text, sizeof text - 1, ":1: nothing says what the links");
}

static const struct bad_text bad_slurm[] = {
    {"SwitchName=s\n", ":1: a switch without Nodes"},
    {"Nodes=a\n", ":1: a line without SwitchName"},
    {"SwitchName=s Nodes=a LinkSpeed=fast\n", "LinkSpeed 'fast' is not a bandwidth"},
    {"SwitchName=s Nodes=a LinkSpeed=1Gbps\nSwitchName=s Nodes=b LinkSpeed=1Gbps\n",
     ":2: switch 's' stands twice"},
    {"SwitchName=s Switches=t LinkSpeed=1Gbps\n", ":1: there is no line for the switch"},
    {"SwitchName=s Switches=s LinkSpeed=1Gbps\n", ":1: a switch that hangs on itself"},
    {"SwitchName=s Nodes=t LinkSpeed=1Gbps\nSwitchName=t Nodes=a LinkSpeed=1Gbps\n",
     "'t' is a switch and stands in Nodes"},
    {"SwitchName=s Nodes=a,a LinkSpeed=1Gbps\n", "is there twice"},
    {"SwitchName=s[0-1] Nodes=a LinkSpeed=1Gbps\n", "names more than one switch"},
    {"SwitchName=s Nodes=a[ LinkSpeed=1Gbps\n", ":1: the list of hosts"},
    {"SwitchName=s Nodes=a Nodes=b\n", ":1: Nodes stands twice"},
    {"SwitchName=s Nodes=\n", ":1: Nodes is empty"},
    {"BlockName=b Nodes=a\n", "'BlockName' is none of"},
    {"SwitchName=s Nodes\n", "'Nodes' is not KEY=VALUE"},
    {"SwitchName=s \\\n", "goes on in none"},
    {"# nothing\n", "needs at least one node"},
};

static void bad_slurms(void **state)
{
    (void)state;
    read_bad_table(espi_read_slurm, bad_slurm, COUNT(bad_slurm));
    read_without_memory(espi_read_slurm, slurm);
}

/* ---- ibnetdiscover ---- */

#define LEAF                                                                             \
    "Switch\t40 \"S-1\"\t\t# \"MF0;leaf-1:MQM8790/U1\" enhanced port 0 lid 1 lmc 0\n"
#define SPINE                                                                            \
    "Switch\t36 \"S-2\"\t\t# \"MF0;dir:SX6536/L01/U1\" enhanced port 0 lid 2 lmc 0\n"
#define CA(guid, about) "Ca\t1 \"H-" guid "\"\t\t# \"" about "\"\n"

static const char ibnet[] =
    "#\n# Topology file: generated on Mon Dec 18\n#\nvendid=0x2c9\n" LEAF
    "[1]\t\"H-a\"[1](a) \t\t# \"node01 mlx5_0\" lid 5 4xHDR\n"
    "[2]\t\"H-b\"[1](b) \t\t# \"node01 mlx5_1\" lid 6 4xHDR\n"
    "[3]\t\"H-c\"[1](c) \t\t# \"MT25408 ConnectX Mellanox Technologies\" lid 7 1xEDR\n"
    "[4]\t\"H-e\"[1](e) \t\t# \"node01 mlx5_0\" lid 8 2xFDR10\n"
    "[21]\t\"S-2\"[1]\t\t# \"MF0;dir:SX6536/L01/U1\" lid 2 12xSDR\n"
    "[22]\t\"S-2\"[2]\t\t# \"MF0;dir:SX6536/L01/U1\" lid 2 4xQDR\n"
    "[41]\t\"H-d\"[1](d) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 "
    "4xHDR\n\n" SPINE "[1]\t\"S-1\"[21]\t\t# \"MF0;leaf-1:MQM8790/U1\" lid 1 12xSDR\n"
    "[2]\t\"S-1\"[22]\t\t# \"MF0;leaf-1:MQM8790/U1\" lid 1 4xQDR\n\n" CA(
        "a", "node01 mlx5_0") "[1](a) \t\"S-1\"[1]\t# lid 5 lmc 0 \"leaf\" lid 1 "
                              "4xHDR\n" CA(
                                  "b", "node01 mlx5_1") "[1](b) \t\"S-1\"[2]\t# lid "
                                                        "6 lmc 0 \"leaf\" lid 1 "
                                                        "4xHDR\n" CA("c", "MT25408 "
                                                                          "ConnectX "
                                                                          "Mellanox "
                                                                          "Technologies")
                                                            CA("e", "node01 mlx5_0")
                                                                CA("d", "Mellanox "
                                                                        "Technologies"
                                                                        " Aggregation"
                                                                        " Node");

static void good_ibnet(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_ibnet, ibnet);
    assert_int_equal(esp_platform_node_count(p), 5);
    assert_int_equal(esp_platform_host_count(p), 3);
    assert_int_equal(esp_platform_link_count(p), 8);
    assert_link(p, "leaf-1", "node01", 0, 2 * 25e9); /* two adapters, each 200 Gbit/s */
    assert_link(p, "node01", "leaf-1", 0, 2 * 25e9);
    assert_link(p, "H-c", "leaf-1", 0, 25e9 / 8);
    assert_link(p, "leaf-1", "H-e", 0, 20e9 / 8); /* another host of the same name */
    assert_link(p, "leaf-1", "dir/L01/U1", 0, (24e9 + 32e9) / 8);
    assert_string_equal(esp_platform_node_site(p, esp_platform_find_node(p, "node01")),
                        "leaf-1");
    esp_platform_free(p);
}

static const struct bad_text bad_ibnet[] = {
    {"[1] \"S-1\"[1] # \"x\" lid 1 4xHDR\n", ":1: a port before the first node"},
    {LEAF "[1] \"S-9\"[1] # \"x\" lid 1 4xHDR\n", ":2: there is no block of 'S-9'"},
    {LEAF "[1] \"S-1[1]\n", ":2: not a port"},
    {LEAF "[x] \"S-1\"[1] # \"x\" 4xHDR\n", ":2: not a port"},
    {LEAF "[1] \"S-1\" # \"x\" 4xHDR\n", ":2: not a port"},
    {LEAF "[1] \"S-1\"[1] # \"x\" lid 1\n", ":2: no width and speed"},
    {LEAF "[1] \"S-1\"[1] # \"x\" lid 1 4xABC\n", ":2: no width and speed"},
    {LEAF "[1] \"S-1\"[1] # \"x\" lid 1 0xHDR\n", ":2: no width and speed"},
    {LEAF "\n" LEAF, ":3: a second block of this node"},
    {"Switch 4 \"\" # \"x\"\n", ":1: "},
    {"Switch 4 \"S\n", ":1: a quote that does not end"},
    {"vendid=0x2c9\n", "needs at least one node"},
};

static void bad_ibnets(void **state)
{
    (void)state;
    read_bad_table(espi_read_ibnet, bad_ibnet, COUNT(bad_ibnet));
    read_without_memory(espi_read_ibnet, ibnet);
}

/* ---- NCCL ---- */

#define PCI(bus, class, more)                                                            \
    "<pci busid=\"" bus "\" class=\"" class "\" link_speed=\"16.0 GT/s PCIe\" "          \
                                            "link_width=\"8\"" more
#define CPU0 "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\">"

/* clang-format off */
static const char nccl[] =
    "<?xml version=\"1.0\"?>\n<system version=\"1\">" CPU0 PCI("b", "0x060400", ">")
    PCI("n", "0x020700", "><nic><net name=\"m\" speed=\"400000\" latency=\"2\"/></nic></pci>")
    PCI("g0", "0x030200", "><gpu dev=\"0\" sm=\"90\">")
    "<nvlink target=\"x\" count=\"5\" tclass=\"0x068000\"/>"
    "<nvlink target=\"y\" count=\"4\" tclass=\"0x068000\"/>"
    "<nvlink target=\"g1\" count=\"2\" tclass=\"0x030200\"/></gpu></pci></pci>"
    "</cpu><cpu numaid=\"1\">"
    PCI("g1", "0x030200", "><gpu dev=\"1\" sm=\"70\">")
    "<nvlink target=\"\" count=\"1\" tclass=\"0x068001\"/>"
    "<c2c bw=\"1000\" count=\"3\"/></gpu></pci>"
    "<pci busid=\"g2\" class=\"0x030200\" link_speed=\"\" link_width=\"0\"/>"
    "</cpu></system>";
/* clang-format on */

static void good_nccl(void **state)
{
    (void)state;
    struct esp_platform *p = read_good(espi_read_nccl, nccl);
    assert_int_equal(esp_platform_host_count(p), 3);
    assert_int_equal(esp_platform_node_count(p), 9);
    assert_link(p, "gpu0", "pci:b", 0, 12e9);  /* 8 lanes at 16 GT/s */
    assert_link(p, "cpu1", "gpu:g2", 0, 12e9); /* 16 at 8, where nothing is said */
    assert_link(p, "gpu0", "nvswitch", 0, 9 * 20.6e9);
    assert_link(p, "nvswitch", "gpu0", 0, 9 * 20.6e9);
    assert_link(p, "gpu0", "gpu1", 0, 2 * 20.6e9);
    assert_link(p, "gpu1", "cpu1", 0, 12e9 + 20e9 + 3e9); /* PCI, NVLink and C2C */
    assert_link(p, "nic:n", "network", 2e-6, 50e9);
    assert_link(p, "cpu0", "cpu1", 0, 16e9);
    assert_int_equal(esp_platform_find_link(p, esp_platform_find_node(p, "gpu1"),
                                            esp_platform_find_node(p, "gpu0")),
                     -1);
    assert_string_equal(esp_platform_node_site(p, esp_platform_find_node(p, "gpu:g2")),
                        "cpu1");
    esp_platform_free(p);
}

#define SYSTEM(text) "<system>" text "</system>"
#define GPU(more)                                                                        \
    SYSTEM(CPU0 PCI("g", "0x030200", "><gpu dev=\"0\">" more "</gpu></pci></cpu>"))

static const struct bad_text bad_nccl[] = {
    {"<graph/>", ":1: begins with another element"},
    {"<system>\n<cpu numaid=\"x\"/></system>", ":2: numaid=\"x\" is not a number"},
    {SYSTEM("<cpu numaid=\"0\"/><cpu numaid=\"0\"/>"), "'cpu0' stands twice"},
    {SYSTEM("<pci class=\"0x030200\"/>"), "a bus id that is empty"},
    {SYSTEM(PCI("a", "0x060400", "/>") PCI("a", "0x060400", "/>")), "stands twice"},
    {SYSTEM("<gpu dev=\"0\"/>"), "a <gpu> that is not in a <pci>"},
    {SYSTEM(CPU0 "<nvlink target=\"a\" count=\"1\"/></cpu>"), "not in a <gpu>"},
    {SYSTEM("<net speed=\"1\"/>"), "a <net> that hangs on nothing"},
    {SYSTEM(CPU0 "<net speed=\"fast\"/></cpu>"), "speed=\"fast\" is not a number"},
    {SYSTEM(CPU0 "<net speed=\"0\"/></cpu>"), "carries nothing"},
    {GPU("<nvlink target=\"h\" count=\"1\"/>"), "there is no GPU at 'h'"},
    {GPU("<nvlink target=\"g\" count=\"1\"/>"), "there is no other GPU at 'g'"},
    {GPU("<nvlink target=\"g\" count=\"-1\"/>"), "count=\"-1\" is not a number"},
    {GPU("<nvlink target=\"g\" count=\"0\" tclass=\"0x068000\"/>"), "carries nothing"},
    {"<!DOCTYPE a><system/>", "document types and entities are refused"},
    {"<system>", ":1:9: the text ends here"},
    {"<system/>", "needs at least one node"},
};

static void bad_nccls(void **state)
{
    char deep[40 * 3 + 16] = "<system>";
    (void)state;
    read_bad_table(espi_read_nccl, bad_nccl, COUNT(bad_nccl));
    read_without_memory(espi_read_nccl, nccl);
    for (int i = 0; i < 40; i++)
        strcat(deep, "<a>");
    read_bad(espi_read_nccl, deep, strlen(deep), "nested deeper than 32");
}

static void formats_are_found(void **state)
{
    const char *const texts[] = {slurm, ibnet, nccl};
    const int hosts[] = {5, 3, 3};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct esp_platform *p = NULL;
        assert_int_equal(
            esp_platform_parse(texts[i], strlen(texts[i]), "t", NULL, &p, NULL), ESP_OK);
        assert_int_equal(esp_platform_host_count(p), hosts[i]);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_spelled_out),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(good_slurm),
        cmocka_unit_test(speed_of_the_source),
        cmocka_unit_test(bad_slurms),
        cmocka_unit_test(good_ibnet),
        cmocka_unit_test(bad_ibnets),
        cmocka_unit_test(good_nccl),
        cmocka_unit_test(bad_nccls),
        cmocka_unit_test(formats_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
