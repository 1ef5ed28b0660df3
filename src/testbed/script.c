#include "testbed/script.h"

#include <math.h>
#include <string.h>

#include "testbed/tuning.h"

/* The burst must exceed the largest packet that the interface is given, or each is cut
 * up in software first, by what a timer that comes late would have sent: an idle virtual
 * machine is woken up to 10 ms late when its host is busy, and what the bucket cannot
 * hold meanwhile is lost to the rate. So that a link which was idle does not give all of
 * that away at once, the bucket is emptied little faster than the rate. */

/* ---- names ---- */

int espi_testbed_name_ok(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_");

    return n >= 1 && n <= ESPI_TESTBED_NAME_MAX && !name[n];
}

const char *espi_namespace(char out[ESPI_NAMESPACE_MAX], const char *testbed,
                           const struct espi_grid *g, int box)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_.-";

    if (box < 0) {
        snprintf(out, ESPI_NAMESPACE_MAX, "esp-%s-control", testbed);
        return out;
    }
    int at = snprintf(out, ESPI_NAMESPACE_MAX, "esp-%s-%d-", testbed, box);
    snprintf(out + at, 64, "%s", g->boxes[box].name);
    for (char *c = out + at; *c; c++)
        if (!strchr(plain, *c))
            *c = '_';
    return out;
}

const char *espi_port_name(char out[16], const struct espi_grid *g, int wire, int side)
{
    const struct espi_testbed_wire *w = &g->wires[wire];

    if (g->boxes[w->box[side]].host >= 0)
        snprintf(out, 16, "eth0");
    else
        snprintf(out, 16, "w%d", w->port[side]);
    return out;
}

static const char *write_address(char out[ESPI_ADDRESS_MAX], int network, int i)
{
    snprintf(out, ESPI_ADDRESS_MAX, "10.%d.%d.%d", network, i / 250, i % 250 + 1);
    return out;
}

const char *espi_host_address(char out[ESPI_ADDRESS_MAX], int host)
{
    return write_address(out, 77, host);
}

const char *espi_control_address(char out[ESPI_ADDRESS_MAX], int host)
{
    return write_address(out, 76, host < 0 ? 60000 : host);
}

static const char *box_address(char out[ESPI_ADDRESS_MAX], const struct espi_grid *g,
                               int box)
{
    int host = g->boxes[box].host;

    return host >= 0 ? espi_host_address(out, host) : write_address(out, 78, box);
}

static const char *hardware_address(char out[24], int wire, int side)
{
    snprintf(out, 24, "02:e5:00:%02x:%02x:%02x", wire / 256, wire % 256, side + 1);
    return out;
}

/* ---- what is made outside ---- */

static void make_wire(FILE *out, const struct espi_grid *g, const char *testbed, int wire)
{
    char ns[2][ESPI_NAMESPACE_MAX], port[2][16], mac[2][24];

    for (int side = 0; side < 2; side++) {
        espi_namespace(ns[side], testbed, g, g->wires[wire].box[side]);
        espi_port_name(port[side], g, wire, side);
        hardware_address(mac[side], wire, side);
    }
    fprintf(out,
            "link add name %s netns %s address %s type veth peer name %s netns %s "
            "address %s\n",
            port[0], ns[0], mac[0], port[1], ns[1], mac[1]);
}

void espi_script_make(FILE *out, const struct espi_grid *g, const char *testbed)
{
    char ns[ESPI_NAMESPACE_MAX], control[ESPI_NAMESPACE_MAX];

    espi_namespace(control, testbed, g, -1);
    for (int box = -1; box < g->n_boxes; box++)
        fprintf(out, "netns add %s\n", espi_namespace(ns, testbed, g, box));
    for (int i = 0; i < g->n_wires; i++)
        if (!espi_wire_delayed(&g->wires[i]))
            make_wire(out, g, testbed, i);
    for (int h = 0; h < g->n_hosts; h++)
        fprintf(out, "link add name ctl0 netns %s type veth peer name c%d netns %s\n",
                espi_namespace(ns, testbed, g, g->host_box[h]), h, control);
}

/* ---- inside a namespace ---- */

static void box_control(FILE *out, const struct espi_grid *g)
{
    char at[ESPI_ADDRESS_MAX];

    fprintf(out, "link set lo up\nlink add name ctl0 type bridge\n");
    for (int h = 0; h < g->n_hosts; h++)
        fprintf(out, "link set c%d master ctl0 up\n", h);
    fprintf(out, "addr add %s/16 dev ctl0\nlink set ctl0 up\n",
            espi_control_address(at, -1));
}

/* Neighbours are written down, for what asks for them would queue behind data. */
static void box_port(FILE *out, const struct espi_grid *g, int wire, int side)
{
    const struct espi_testbed_wire *w = &g->wires[wire];
    char port[16], own[ESPI_ADDRESS_MAX], other[ESPI_ADDRESS_MAX], mac[24];

    espi_port_name(port, g, wire, side);
    box_address(own, g, w->box[side]);
    box_address(other, g, w->box[!side]);
    fprintf(out, "link set %s gso_max_size %d\naddr add %s/32 dev %s\nlink set %s up\n",
            port, ESPI_TESTBED_GSO_BYTES, own, port, port);
    if (!espi_wire_delayed(w))
        fprintf(out, "neigh replace %s lladdr %s dev %s nud permanent\n", other,
                hardware_address(mac, wire, !side), port);
}

static void box_route(FILE *out, const struct espi_grid *g, int box, int host)
{
    int i = g->next_wire[box * g->n_hosts + host];
    char port[16], to[ESPI_ADDRESS_MAX], by[ESPI_ADDRESS_MAX];

    if (i < 0)
        return;
    int side = g->wires[i].box[1] == box, next = g->wires[i].box[!side];
    espi_port_name(port, g, i, side);
    fprintf(out, "route add %s/32", espi_host_address(to, host));
    if (next != g->host_box[host] && !espi_wire_delayed(&g->wires[i]))
        fprintf(out, " via %s dev %s onlink\n", box_address(by, g, next), port);
    else
        fprintf(out, " dev %s\n", port);
}

void espi_script_box(FILE *out, const struct espi_grid *g, int box)
{
    char own[ESPI_ADDRESS_MAX], by[ESPI_ADDRESS_MAX];

    if (box < 0) {
        box_control(out, g);
        return;
    }
    fprintf(out, "link set lo up\n");
    for (int i = 0; i < g->n_wires; i++)
        for (int side = 0; side < 2; side++)
            if (g->wires[i].box[side] == box)
                box_port(out, g, i, side);
    int host = g->boxes[box].host;
    if (host < 0) {
        for (int h = 0; h < g->n_hosts; h++)
            box_route(out, g, box, h);
        return;
    }
    const struct espi_testbed_wire *w = &g->wires[g->next_wire[box * g->n_hosts + !host]];
    fprintf(out, "route add 10.77.0.0/16 via %s dev eth0 onlink src %s\n",
            box_address(by, g, w->box[w->box[0] == box]), espi_host_address(own, host));
    fprintf(out, "addr add %s/16 dev ctl0\nlink set ctl0 up\n",
            espi_control_address(own, host));
}

/* ---- rates ---- */

/* What is queued in front of the shaper, in two classes that know no limit themselves:
 * acknowledgements, and whatever else is as short, go first. Queues are as long as all
 * windows together, and behind them the acknowledgements of the other direction would
 * keep its connections, whose windows are no longer, at the rate of this one. */
static void write_queues(FILE *out, const struct espi_grid *g, const char *port)
{
    fprintf(out, "qdisc add dev %s parent 1:1 handle 2: htb default 2\n", port);
    for (int class = 1; class <= 2; class ++)
        fprintf(out,
                "class add dev %s parent 2: classid 2:%d htb rate 100gbit burst 1mb "
                "cburst 1mb quantum %d prio %d\n"
                "qdisc add dev %s parent 2:%d bfifo limit %.0f\n",
                port, class, ESPI_TESTBED_PEAK_BYTES, class, port, class,
                (double)g->window_bytes * (g->n_hosts + 1));
    /* by the length that the IP header says: less than 128 */
    fprintf(out,
            "filter add dev %s parent 2: protocol ip prio 1 u32 match u16 0 0xff80 at 2 "
            "flowid 2:1\n",
            port);
}

void espi_script_rate(FILE *out, const struct espi_grid *g, enum espi_rate_verb verb,
                      int wire, int dir, double rate_Bps)
{
    static const char *const words[] = {"add", "change", "replace"};
    char port[16];
    double wire_Bps = rate_Bps * ESPI_GRID_WIRE_BYTES;

    espi_port_name(port, g, wire, dir);
    if (rate_Bps <= 0) {
        fprintf(out, "qdisc replace dev %s root blackhole\n", port);
        return;
    }
    /* No connection may lose a packet to a full queue, or rates are not shared evenly. */
    fprintf(out,
            "qdisc %s dev %s root handle 1: tbf rate %.0fbit burst %.0f peakrate %.0fbit "
            "mtu %d limit %.0f\n",
            words[verb], port, 8 * wire_Bps,
            ESPI_TESTBED_PEAK_BYTES + ESPI_TESTBED_BURST_S * wire_Bps,
            ESPI_TESTBED_PEAK_RATE * 8 * wire_Bps, ESPI_TESTBED_PEAK_BYTES,
            (double)g->window_bytes * (g->n_hosts + 1));
    if (verb != ESPI_RATE_CHANGE)
        write_queues(out, g, port);
}

void espi_script_rates(FILE *out, const struct espi_grid *g, int box)
{
    for (int i = 0; i < g->n_wires; i++)
        for (int dir = 0; dir < 2; dir++)
            if (g->wires[i].box[dir] == box && g->wires[i].rate_Bps[dir] > 0)
                espi_script_rate(out, g, ESPI_RATE_ADD, i, dir,
                                 g->wires[i].rate_Bps[dir]);
}

/* ---- settings and files ---- */

void espi_script_settings(FILE *out, const struct espi_grid *g, int box)
{
    fprintf(out, "ipv6/conf/all/disable_ipv6 1\nipv6/conf/default/disable_ipv6 1\n");
    fprintf(out, "ipv4/conf/all/rp_filter 0\nipv4/conf/default/rp_filter 0\n");
    if (box < 0)
        return;
    if (g->boxes[box].host < 0) {
        fprintf(out, "ipv4/ip_forward 1\n");
        return;
    }
    /* Equal windows share a link evenly; a connection that pauses starts as it stopped,
     * as on hosts that are set up for long ways. */
    fprintf(out, "ipv4/tcp_congestion_control reno\nipv4/tcp_slow_start_after_idle 0\n");
    fprintf(out, "ipv4/tcp_no_metrics_save 1\nipv4/tcp_wmem 4096 16384 %ld\n",
            g->window_bytes);
}

void espi_script_hosts(FILE *out, const struct espi_grid *g)
{
    char at[ESPI_ADDRESS_MAX];

    fprintf(out, "127.0.0.1 localhost\n%s espalier-launcher\n",
            espi_control_address(at, -1));
    for (int h = 0; h < g->n_hosts; h++)
        fprintf(out, "%s %s\n", espi_control_address(at, h),
                g->boxes[g->host_box[h]].name);
}

void espi_script_delays(FILE *out, const struct espi_grid *g, const char *testbed)
{
    char ns[2][ESPI_NAMESPACE_MAX], port[2][16];

    for (int i = 0; i < g->n_wires; i++) {
        const struct espi_testbed_wire *w = &g->wires[i];
        if (!espi_wire_delayed(w))
            continue;
        for (int side = 0; side < 2; side++) {
            espi_namespace(ns[side], testbed, g, w->box[side]);
            espi_port_name(port[side], g, i, side);
        }
        fprintf(out, "%s %s %s %s %.9f %.9f\n", ns[0], port[0], ns[1], port[1],
                w->latency_s[0], w->latency_s[1]);
    }
}
