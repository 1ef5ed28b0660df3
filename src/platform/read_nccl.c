/* NCCL's picture of one server, as NCCL_TOPO_DUMP_FILE writes it and NCCL_TOPO_FILE is
 * given: processors, PCI bridges and devices in one another, with NVLink between.
 *
 *     <system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
 *       <pci busid="0000:07:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
 *         <gpu dev="0" sm="80"><nvlink target="0000:c4:00.0" count="12"
 * tclass="0x068000"/>
 *
 * GPUs are hosts (gpu0, at the site of their processor); processors, PCI bridges and NICs
 * are switches, and so is `nvswitch`, which stands for all NVSwitches, and `network`,
 * which each <net> leads to. What a link carries is what NCCL itself counts with, which
 * is less than what stands on the box. The default model is `capacity`. Refused, as in
 * GraphML: document types, and nesting deeper than 32. */
#include "platform/readers.h"

#include <expat.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/scan.h"
#include "base/sort.h"
#include "platform/names.h"
#include "platform/xml_error.h"

enum { DEPTH_LIMIT = 32, CPUS_MAX = 64, LINKS_MAX = 1 << 16 }; /* limit: of a file */

/* published: src/graph/topo.h and topo.cc of NCCL 2.2x, in bytes a second. A lane of PCI
 * carries 12 GB/s over 16 at 8 GT/s. */
#define LANE_BPS_A_GT 93.75e6
enum { DEFAULT_GT = 8, DEFAULT_LANES = 16 }; /* published: where nothing is said */

struct generation {
    int sm; /* compute capability from which */
    double GBps;
};

/* published: one NVLink, ncclTopoNVLinkBw there. */
static const struct generation nvlinks[] = {{100, 40.1}, {90, 20.6}, {87, 20}, {86, 12},
                                            {80, 20},    {70, 20},   {60, 18}, {0, 20}};

struct socket_kind {
    const char *arch, *vendor; /* NULL: any */
    int model;                 /* from which */
    double GBps;
};

/* published: between processors, the same file. */
static const struct socket_kind sockets[] = {{"ppc64", NULL, 0, 32},
                                             {"arm64", NULL, 0, 6},
                                             {"x86_64", "GenuineIntel", 0xcf, 40},
                                             {"x86_64", "GenuineIntel", 0x8f, 22},
                                             {"x86_64", "GenuineIntel", 0x55, 10},
                                             {"x86_64", "AuthenticAMD", 0, 16},
                                             {NULL, NULL, 0, 6}};

/* What is open, and what the elements within hang on. */
struct element {
    int node;        /* -1: none yet */
    int is_gpu;      /* a PCI device that <gpu> makes a host of */
    int bus;         /* in reader.buses, -1: none */
    double link_Bps; /* of its link to what is around it */
};

struct nvlink {
    int from, cpu; /* the GPU, and its processor */
    int bus;       /* of the GPU it leads to; -1: an NVSwitch, -2: the processor */
    double Bps;
    unsigned long line;
};

/* A link, one way; of several between two nodes their sum. */
struct joint {
    int from, to;
    double latency_s, Bps;
};

static int joint_before(const struct joint *x, const struct joint *y)
{
    return x->from != y->from ? x->from < y->from : x->to < y->to;
}

ESPI_DEFINE_SORT(sort_joints, struct joint, joint_before)

struct nccl {
    XML_Parser parser;
    const char *where;
    struct esp_err *err;
    esp_status status;
    struct esp_builder *b;

    struct element stack[DEPTH_LIMIT + 1];
    int depth, is_system;
    char site[32]; /* the open processor */
    int cpu, cpus[CPUS_MAX], n_cpus;
    double socket_Bps, nvlink_Bps; /* of the processors; of the open GPU */
    int network, nvswitch;         /* -1: none yet */

    struct espi_names buses;
    int *bus_node; /* -1: nothing that links lead to */
    size_t bus_cap;
    struct nvlink *nvlinks;
    size_t n_nvlinks, nvlink_cap;
    struct joint *joints;
    size_t n_joints, joint_cap;
};

/* ---- failing ---- */

__attribute__((format(printf, 2, 3))) static void refuse_xml(struct nccl *r,
                                                             const char *fmt, ...)
{
    char text[384];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!r->status)
        r->status = espi_err(r->err, ESP_EINPUT, "%s:%lu: %s", r->where,
                             (unsigned long)XML_GetCurrentLineNumber(r->parser), text);
    XML_StopParser(r->parser, XML_FALSE);
}

static void stop_reading(struct nccl *r, esp_status status)
{
    if (status && !r->status)
        r->status = status;
    if (status)
        XML_StopParser(r->parser, XML_FALSE);
}

/* ---- attributes ---- */

static const char *find_attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

/* A number that must be there, from 0 to max. */
static double needed_number(struct nccl *r, const char **attributes, const char *name,
                            double max)
{
    const char *text = find_attribute(attributes, name);
    char shown[48];
    double value = 0;
    if (espi_parse_number(text, strlen(text), &value) || value > max) {
        refuse_xml(r, "%s=\"%s\" is not a number from 0 up", name,
                   espi_quote(shown, sizeof shown, text));
        return 0;
    }
    return value;
}

/* The number at the start of an attribute, or `standard` where there is none but 0. */
static double number_or(const char **attributes, const char *name, double standard)
{
    const char *text = find_attribute(attributes, name);
    double value;
    return espi_scan_number(text, strlen(text), &value) && value > 0 ? value : standard;
}

/* ---- nodes and links ---- */

static int add_part(struct nccl *r, const char *name, esp_node_kind kind)
{
    struct esp_node_spec spec = {name,
                                 kind == ESP_NODE_HOST && r->site[0] ? r->site : NULL,
                                 kind, ESP_UNSET, ESP_UNSET};
    char shown[64];
    int node = -1;
    if (esp_builder_find_node(r->b, name) >= 0)
        refuse_xml(r, "'%s' stands twice", espi_quote(shown, sizeof shown, name));
    else
        stop_reading(r, esp_builder_add_node(r->b, &spec, &node, r->err));
    return node;
}

static void join(struct nccl *r, int from, int to, double latency_s, double Bps)
{
    if (r->status || from < 0 || to < 0)
        return;
    if (!(Bps > 0 && Bps <= DBL_MAX / LINKS_MAX))
        refuse_xml(r, "a link that carries nothing, or more than a number holds");
    else if (r->n_joints >= LINKS_MAX)
        refuse_xml(r, "more than %d links", LINKS_MAX);
    else if (espi_grow((void **)&r->joints, &r->joint_cap, r->n_joints + 1,
                       sizeof *r->joints))
        stop_reading(r, espi_err_nomem(r->err));
    else
        r->joints[r->n_joints++] = (struct joint){from, to, latency_s, Bps};
}

static void join_both(struct nccl *r, int a, int b, double latency_s, double Bps)
{
    join(r, a, b, latency_s, Bps);
    join(r, b, a, latency_s, Bps);
}

/* The number of a bus id, -1 when it is none that can be kept. */
static int find_bus(struct nccl *r, const char *text)
{
    size_t n = strlen(text);
    if (!n || n > ESPI_NAME_MAX - sizeof "gpu:" || !espi_is_printable(text, n)) {
        refuse_xml(r, "a bus id that is empty, not printable or very long");
        return -1;
    }
    int bus = espi_names_intern(&r->buses, text);
    if (bus < 0 ||
        espi_grow((void **)&r->bus_node, &r->bus_cap, r->buses.n, sizeof *r->bus_node)) {
        stop_reading(r, espi_err_nomem(r->err));
        return -1;
    }
    return bus;
}

/* ---- elements ---- */

static double socket_rate(const char **attributes)
{
    const char *arch = find_attribute(attributes, "arch");
    const char *vendor = find_attribute(attributes, "vendor");
    double model = number_or(attributes, "modelid", 0);
    size_t i = 0;
    for (; sockets[i].arch; i++)
        if (strcmp(arch, sockets[i].arch) == 0 && model >= sockets[i].model &&
            (!sockets[i].vendor || strcmp(vendor, sockets[i].vendor) == 0))
            break;
    return sockets[i].GBps * 1e9;
}

static void open_cpu(struct nccl *r, const char **attributes, struct element *is)
{
    const char *numa = find_attribute(attributes, "numaid");
    double id = strcmp(numa, "-1") == 0 ? 0 : needed_number(r, attributes, "numaid", 1e6);
    if (r->n_cpus == CPUS_MAX)
        refuse_xml(r, "more than %d processors", CPUS_MAX);
    if (r->status)
        return;
    snprintf(r->site, sizeof r->site, "cpu%d", (int)id);
    is->node = add_part(r, r->site, ESP_NODE_SWITCH);
    if (r->n_cpus == 0)
        r->socket_Bps = socket_rate(attributes);
    r->cpu = is->node;
    for (int i = 0; i < r->n_cpus; i++)
        join_both(r, r->cpus[i], is->node, 0, r->socket_Bps);
    r->cpus[r->n_cpus++] = is->node;
}

/* A bridge or a NIC is a node by its class; a GPU waits for what <gpu> says of it. */
static void open_pci(struct nccl *r, const char **attributes,
                     const struct element *around, struct element *is)
{
    const char *class = find_attribute(attributes, "class");
    char name[ESPI_NAME_MAX + 1];
    double lanes = number_or(attributes, "link_width", DEFAULT_LANES);
    is->link_Bps =
        lanes * number_or(attributes, "link_speed", DEFAULT_GT) * LANE_BPS_A_GT;
    is->bus = find_bus(r, find_attribute(attributes, "busid"));
    if (is->bus < 0)
        return;
    r->bus_node[is->bus] = -1;
    is->is_gpu = strncmp(class, "0x03", 4) == 0;
    if (is->is_gpu) {
        is->node = around->node;
        return;
    }
    snprintf(name, sizeof name, "%s:%s", strncmp(class, "0x02", 4) == 0 ? "nic" : "pci",
             espi_names_text(&r->buses, is->bus));
    is->node = add_part(r, name, ESP_NODE_SWITCH);
    join_both(r, is->node, around->node, 0, is->link_Bps);
}

/* Makes the host of a GPU at the PCI device `is`, whose node is still what is around. */
static void add_gpu(struct nccl *r, const char *name, struct element *is)
{
    int around = is->node;
    is->node = add_part(r, name, ESP_NODE_HOST);
    is->is_gpu = 0;
    if (r->status)
        return;
    r->bus_node[is->bus] = is->node;
    join_both(r, is->node, around, 0, is->link_Bps);
}

static void open_gpu(struct nccl *r, const char **attributes, struct element *around,
                     struct element *is)
{
    char name[32];
    size_t i = 0;
    if (!around->is_gpu) {
        refuse_xml(r, "a <gpu> that is not in a <pci> of class 0x03....");
        return;
    }
    double sm = number_or(attributes, "sm", 0);
    snprintf(name, sizeof name, "gpu%d", (int)needed_number(r, attributes, "dev", 1e6));
    if (r->status)
        return;
    while (nvlinks[i].sm > sm)
        i++;
    r->nvlink_Bps = nvlinks[i].GBps * 1e9;
    add_gpu(r, name, around);
    is->node = around->node;
    is->bus = around->bus;
}

static void open_nvlink(struct nccl *r, const char **attributes,
                        const struct element *around)
{
    const char *class = find_attribute(attributes, "tclass");
    struct nvlink link = {.from = around->node, .cpu = r->cpu, .bus = -1};
    double count = needed_number(r, attributes, "count", 1e6);
    link.Bps = r->nvlink_Bps * count;
    link.line = (unsigned long)XML_GetCurrentLineNumber(r->parser);
    if (strncmp(class, "0x068001", 8) == 0) {
        link.bus = -2;
    } else if (strncmp(class, "0x0680", 6) != 0) {
        size_t known = r->buses.n;
        link.bus = find_bus(r, find_attribute(attributes, "target"));
        if (link.bus >= 0 && r->buses.n > known)
            r->bus_node[link.bus] = -1;
    }
    if (around->bus < 0)
        refuse_xml(r, "an <nvlink> that is not in a <gpu>");
    if (r->status)
        return;
    if (r->n_nvlinks >= LINKS_MAX)
        refuse_xml(r, "more than %d links", LINKS_MAX);
    else if (espi_grow((void **)&r->nvlinks, &r->nvlink_cap, r->n_nvlinks + 1,
                       sizeof link))
        stop_reading(r, espi_err_nomem(r->err));
    else
        r->nvlinks[r->n_nvlinks++] = link;
}

/* Megabits a second, and microseconds. */
static void open_net(struct nccl *r, const char **attributes,
                     const struct element *around)
{
    double Mbps = needed_number(r, attributes, "speed", 1e12);
    double latency_us = number_or(attributes, "latency", 0);
    if (r->network < 0 && !r->status)
        r->network = add_part(r, "network", ESP_NODE_SWITCH);
    if (around->node < 0)
        refuse_xml(r, "a <net> that hangs on nothing");
    join_both(r, around->node, r->network, latency_us * 1e-6, Mbps * 1e6 / 8);
}

/* What a GPU has to its processor beside PCI, in MB/s. */
static void open_c2c(struct nccl *r, const char **attributes,
                     const struct element *around)
{
    double MBps = needed_number(r, attributes, "bw", 1e12);
    double count = needed_number(r, attributes, "count", 1e6);
    join_both(r, around->node, r->cpu, 0, MBps * 1e6 * count);
}

static void XMLCALL on_nccl_start(void *arg, const char *name, const char **attributes)
{
    struct nccl *r = arg;
    if (r->status)
        return;
    if (r->depth >= DEPTH_LIMIT) {
        refuse_xml(r, "nested deeper than %d", DEPTH_LIMIT);
        return;
    }
    struct element *around = &r->stack[r->depth++], *is = &r->stack[r->depth];
    *is = (struct element){.node = around->node, .bus = -1};
    if (r->depth == 1) {
        r->is_system = strcmp(name, "system") == 0;
        if (!r->is_system)
            refuse_xml(r, "begins with another element than <system>");
    } else if (strcmp(name, "cpu") == 0) {
        open_cpu(r, attributes, is);
    } else if (strcmp(name, "pci") == 0) {
        open_pci(r, attributes, around, is);
    } else if (strcmp(name, "gpu") == 0) {
        open_gpu(r, attributes, around, is);
    } else if (strcmp(name, "nvlink") == 0) {
        open_nvlink(r, attributes, around);
    } else if (strcmp(name, "net") == 0) {
        open_net(r, attributes, around);
    } else if (strcmp(name, "c2c") == 0) {
        open_c2c(r, attributes, around);
    }
}

/* Files for NCCL_TOPO_FILE may leave <gpu> out: such a GPU is called by its bus. */
static void XMLCALL on_nccl_end(void *arg, const char *name)
{
    struct nccl *r = arg;
    char gpu[ESPI_NAME_MAX + 1];
    if (r->status)
        return;
    struct element *is = &r->stack[r->depth--];
    if (strcmp(name, "pci") == 0 && is->is_gpu) {
        snprintf(gpu, sizeof gpu, "gpu:%s", espi_names_text(&r->buses, is->bus));
        add_gpu(r, gpu, is);
    }
}

static void XMLCALL on_nccl_doctype(void *arg, const char *name, const char *system,
                                    const char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    refuse_xml(arg, "document types and entities are refused; take the DOCTYPE out");
}

/* ---- the whole ---- */

static void resolve_nvlink(struct nccl *r, const struct nvlink *link)
{
    if (link->bus == -1 && r->nvswitch < 0)
        r->nvswitch = add_part(r, "nvswitch", ESP_NODE_SWITCH);
    if (link->bus < 0) {
        join_both(r, link->from, link->bus == -1 ? r->nvswitch : link->cpu, 0, link->Bps);
        return;
    }
    int to = r->bus_node[link->bus];
    char shown[64];
    espi_quote(shown, sizeof shown, espi_names_text(&r->buses, link->bus));
    if (r->status)
        return;
    if (to < 0 || to == link->from)
        r->status = espi_err(r->err, ESP_EINPUT, "%s:%lu: there is no %sGPU at '%s'",
                             r->where, link->line, to < 0 ? "" : "other ", shown);
    else
        join(r, link->from, to, 0, link->Bps);
}

static esp_status add_joints(struct nccl *r)
{
    int n = (int)r->n_joints;
    struct joint *scratch = ESPI_NEW(struct joint, n + 1);
    if (!scratch)
        return espi_err_nomem(r->err);
    if (n)
        sort_joints(r->joints, scratch, n);
    espi_free(scratch);
    for (int i = 0, next; i < n && !r->status; i = next) {
        struct joint sum = r->joints[i];
        for (next = i + 1; next < n && !joint_before(&sum, &r->joints[next]); next++) {
            sum.Bps += r->joints[next].Bps;
            if (r->joints[next].latency_s > sum.latency_s)
                sum.latency_s = r->joints[next].latency_s;
        }
        r->status = esp_builder_add_link(r->b, sum.from, sum.to, sum.latency_s, sum.Bps,
                                         NULL, r->err);
    }
    return r->status;
}

static esp_status parse_nccl(struct nccl *r, const char *text, size_t length)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_nccl_start, on_nccl_end);
    XML_SetStartDoctypeDeclHandler(r->parser, on_nccl_doctype);
    if (XML_Parse(r->parser, text, (int)length, XML_TRUE) != XML_STATUS_OK &&
        !r->status) {
        r->status = espi_xml_err(r->parser, r->where, r->err);
    }
    for (size_t i = 0; i < r->n_nvlinks && !r->status; i++)
        resolve_nvlink(r, &r->nvlinks[i]);
    return r->status ? r->status : add_joints(r);
}

static void nccl_done(struct nccl *r)
{
    espi_names_done(&r->buses);
    espi_free(r->bus_node);
    espi_free(r->nvlinks);
    espi_free(r->joints);
    if (r->parser)
        XML_ParserFree(r->parser);
    espi_free(r);
}

esp_status espi_read_nccl(const struct espi_source *source, struct esp_platform **out,
                          struct esp_err *err)
{
    static const XML_Memory_Handling_Suite memory = {espi_malloc, espi_realloc,
                                                     espi_free};
    if (source->length > INT32_MAX)
        return espi_err(err, ESP_EINPUT, "%s: larger than 2 GiB", source->where);
    struct nccl *r = espi_calloc(1, sizeof *r);
    if (!r)
        return espi_err_nomem(err);
    r->where = source->where;
    r->err = err;
    r->stack[0] = (struct element){.node = -1, .bus = -1};
    r->cpu = r->network = r->nvswitch = -1;
    r->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    esp_status status = r->parser ? ESP_OK : espi_err_nomem(err);
    if (!status)
        status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &r->b, err);
    if (!status)
        status = parse_nccl(r, source->text, source->length);
    status = espi_reader_end(source, r->b, status, out, err);
    nccl_done(r);
    return status;
}
