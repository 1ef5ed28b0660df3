/* Which address probes go from. MPI libraries choose their interfaces by rules of their
 * own; what their settings name is taken, so that probes go where their messages go. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/prober.h"

enum { NAME = 32 }; /* limit: of an address */

/* The name of the interface of the default route; "": there is none. */
static void default_route(char out[NAME])
{
    char line[256], name[NAME];
    unsigned long to;
    FILE *in = fopen("/proc/net/route", "re");
    out[0] = '\0';
    while (in && !out[0] && fgets(line, sizeof line, in))
        if (sscanf(line, "%31s %lx", name, &to) == 2 && to == 0)
            memcpy(out, name, NAME);
    if (in)
        fclose(in);
}

/* Is the interface one of a list of names ("eth0,mlx5_0:1") or networks ("10.0.0.0/8")?
 */
static int is_listed(const char *list, const char *name, uint32_t address)
{
    size_t length = strlen(name);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        char text[64] = "", *slash;
        struct in_addr network;
        if (word == length && memcmp(list, name, word) == 0)
            return 1;
        if (word < sizeof text)
            memcpy(text, list, word);
        slash = strchr(text, '/');
        if (slash) {
            char *end;
            long bits = strtol(slash + 1, &end, 10);
            int good = end > slash + 1 && !*end && bits >= 0 && bits <= 32;
            uint32_t mask = good && bits ? ~0U << (32 - bits) : 0;
            *slash = '\0';
            if (good && inet_pton(AF_INET, text, &network) == 1 &&
                ((ntohl(network.s_addr) ^ ntohl(address)) & mask) == 0)
                return 1;
        }
        list += word + (list[word] == ',');
    }
    return 0;
}

static const char *const settings[] = {"OMPI_MCA_btl_tcp_if_include", "UCX_NET_DEVICES",
                                       "MPIR_CVAR_NETWORK_IFACE"};

static int is_named(char *(*get)(const char *), const char *name, uint32_t address)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (is_listed(get(settings[i]), name, address))
            return 1;
    return 0;
}

uint32_t espi_prober_address(char *(*get)(const char *name))
{
    struct ifaddrs *all = NULL;
    uint32_t best = htonl(INADDR_LOOPBACK);
    int best_rank = 0;
    char route[NAME];
    if (getifaddrs(&all))
        return best;
    default_route(route);
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct sockaddr_in a;
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !i->ifa_name ||
            !(i->ifa_flags & IFF_UP))
            continue;
        memcpy(&a, i->ifa_addr, sizeof a);
        int rank = !(i->ifa_flags & IFF_LOOPBACK);
        if (rank && strcmp(i->ifa_name, route) == 0)
            rank = 2;
        if (is_named(get, i->ifa_name, a.sin_addr.s_addr))
            rank = 3;
        if (rank > best_rank) {
            best = a.sin_addr.s_addr;
            best_rank = rank;
        }
    }
    freeifaddrs(all);
    return best;
}
