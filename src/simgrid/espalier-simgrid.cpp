/* espalier-simgrid: prints the SimGrid platform that is its standard input as plain lines
 * for the SimGrid reader.
 *
 * libsimgrid has one engine a process, aborts on bad input, prints what it likes and
 * obeys what it reads, so it lives in this program and never in the library, and in a
 * cage (cage.h). (C++, because the C interface neither tells the zone of a host nor lets
 * the absence of a route be caught.) Standard input is a file that can be opened anew by
 * its number, which libsimgrid insists on: one without a name, as espi_child_text makes.
 *
 *   espalier-simgrid 1
 *   host NAME ZONE                      numbered 0, 1, 2, ...
 *   link NAME BANDWIDTH LATENCY POLICY  numbered alike; POLICY shared or fatpipe
 *   route FROM TO LATENCY LINK...       by number; the links in their order
 *   end
 *
 * Bytes of names outside of printable ASCII, and '%', are written %XX. Numbers have 17
 * digits. Exit: 0, 1 with the cause as the last line on stderr, or a signal. */
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include <simgrid/s4u.hpp>

#include "cage.h"
#include "routes.h"

#define INPUT "/proc/self/fd/0"

namespace sg4 = simgrid::s4u;

static std::string escaped(const std::string &name)
{
    std::string out;
    for (unsigned char c : name) {
        if (c > 0x20 && c < 0x7f && c != '%') {
            out += static_cast<char>(c);
        } else {
            char code[4];
            std::snprintf(code, sizeof code, "%%%02X", c);
            out += code;
        }
    }
    return out.empty() ? "%" : out; /* a lone % is the empty name */
}

static const char *policy_of(const sg4::Link *link)
{
    return link->get_sharing_policy() == sg4::Link::SharingPolicy::FATPIPE ? "fatpipe"
                                                                           : "shared";
}

/* The route, or false when there is none. */
static bool find_route(Routes &routes, const sg4::Host *from, const sg4::Host *to,
                       std::vector<sg4::Link *> &links, double &latency)
{
    links.clear();
    latency = 0;
    if (!routes.may_ask(from->get_netpoint(), to->get_netpoint()))
        return false;
    try {
        from->route_to(to, links, &latency);
    } catch (const std::exception &) {
        return false;
    }
    return !links.empty() && std::isfinite(latency);
}

static void print_routes(Routes &routes, const std::vector<sg4::Host *> &hosts,
                         const std::map<const sg4::Link *, size_t> &number)
{
    std::vector<sg4::Link *> links;
    for (size_t i = 0; i < hosts.size(); i++)
        for (size_t j = 0; j < hosts.size(); j++) {
            double latency;
            if (i == j || !find_route(routes, hosts[i], hosts[j], links, latency))
                continue;
            std::printf("route %zu %zu %.17g", i, j, latency);
            for (const sg4::Link *link : links)
                std::printf(" %zu", number.at(link));
            std::printf("\n");
        }
}

static void print_platform(const sg4::Engine &engine, Routes &routes)
{
    std::vector<sg4::Host *> hosts = engine.get_all_hosts();
    std::map<const sg4::Link *, size_t> number;
    std::printf("espalier-simgrid 1\n");
    for (const sg4::Host *host : hosts) {
        const sg4::NetZone *zone = host->get_englobing_zone();
        std::printf("host %s %s\n", escaped(host->get_name()).c_str(),
                    escaped(zone ? zone->get_name() : "").c_str());
    }
    for (const sg4::Link *link : engine.get_all_links()) {
        size_t next = number.size();
        number[link] = next;
        std::printf("link %s %.17g %.17g %s\n", escaped(link->get_name()).c_str(),
                    link->get_bandwidth(), link->get_latency(), policy_of(link));
    }
    print_routes(routes, hosts, number);
    std::printf("end\n");
}

/* SimGrid's words, with the line only where it names its file. */
static std::string plain(std::string words)
{
    const std::string name = std::string(INPUT) + ":";
    size_t at = words.find(name);
    return at == std::string::npos ? words : words.replace(at, name.size(), "line ");
}

static int print_input(char *self)
{
    /* Plain messages, without time and category. */
    char format[] = "--log=root.fmt:%m%n";
    char *engine_argv[] = {self, format, nullptr};
    int engine_argc = 2;
    try {
        sg4::Engine engine(&engine_argc, engine_argv);
        Routes routes;
        engine.load_platform(INPUT);
        print_platform(engine, routes);
        return std::fflush(stdout) || std::ferror(stdout) ? 1 : 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", plain(e.what()).c_str());
        return 1;
    }
}

int main(int argc, char **argv)
{
    if (argc != 1) {
        std::fprintf(stderr, "usage: espalier-simgrid < FILE\n");
        return 2;
    }
    espi_cage();
    int code = print_input(argv[0]);
    std::fflush(stderr);
    /* No cleaning up: in the cage, what sanitizers do at the end of a program fails. */
    _exit(code);
}
