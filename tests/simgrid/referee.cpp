/* referee FILE: runs a program's transfers in SimGrid and prints when each rank has all.
 *
 *   blocking 0|1          one transfer a rank at a time, or one a stream
 *   slice BYTES
 *   ranks N
 *   link BANDWIDTH LATENCY          numbered 0, 1, 2, ...; cables come after the links
 *   stream FROM TO KEEPS SOURCE LINK...   numbered alike; SOURCE -1: the sender has it
 *   send RANK STREAM NTH NEEDS      in the rank's order: the NTH slice of the stream,
 * which needs that NEEDS slices of SOURCE have arrived
 *
 * Two hosts may be joined by several streams; SimGrid has one route a pair of hosts, so
 * streams of a pair must name the same links. */
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Stream {
    int from, to, keeps, source;
    std::vector<int> links;
    int sends = 0, arrived = 0;
};

struct Send {
    int stream, nth, needs;
};

struct Scenario {
    bool blocking = true;
    double slice = 1;
    int ranks = 0;
    std::vector<std::pair<double, double>> links;
    std::vector<Stream> streams;
    std::vector<std::vector<Send>> sends;
    std::vector<double> delivered;
};

static Scenario scenario;
static std::vector<sg4::MutexPtr> mutexes;
static std::vector<sg4::ConditionVariablePtr> arrivals;

static void read_scenario(const char *path)
{
    std::ifstream in(path);
    std::string line, word;
    while (std::getline(in, line)) {
        std::istringstream text(line);
        text >> word;
        if (word == "blocking") {
            text >> scenario.blocking;
        } else if (word == "slice") {
            text >> scenario.slice;
        } else if (word == "ranks") {
            text >> scenario.ranks;
            scenario.sends.resize(scenario.ranks);
            scenario.delivered.resize(scenario.ranks, 0);
        } else if (word == "link") {
            double bandwidth, latency;
            text >> bandwidth >> latency;
            scenario.links.emplace_back(bandwidth, latency);
        } else if (word == "stream") {
            Stream s;
            int link;
            text >> s.from >> s.to >> s.keeps >> s.source;
            while (text >> link)
                s.links.push_back(link);
            scenario.streams.push_back(s);
        } else if (word == "send") {
            int rank;
            Send s;
            text >> rank >> s.stream >> s.nth >> s.needs;
            scenario.sends[rank].push_back(s);
            scenario.streams[s.stream].sends++;
        }
    }
}

static sg4::Mailbox *mailbox(int stream)
{
    return sg4::Mailbox::by_name("stream" + std::to_string(stream));
}

static void receiver(int stream)
{
    Stream &s = scenario.streams[stream];
    for (int i = 0; i < s.sends; i++) {
        std::unique_ptr<int> payload(mailbox(stream)->get<int>());
        std::unique_lock<sg4::Mutex> lock(*mutexes[s.to]);
        s.arrived++;
        if (s.keeps)
            scenario.delivered[s.to] = sg4::Engine::get_clock();
        arrivals[s.to]->notify_all();
    }
}

static void sender(int rank)
{
    std::map<int, sg4::CommPtr> under_way;
    for (const Send &send : scenario.sends[rank]) {
        Stream &s = scenario.streams[send.stream];
        if (s.source >= 0) {
            std::unique_lock<sg4::Mutex> lock(*mutexes[rank]);
            while (scenario.streams[s.source].arrived < send.needs)
                arrivals[rank]->wait(lock);
        }
        if (under_way[send.stream])
            under_way[send.stream]->wait();
        under_way[send.stream] =
            mailbox(send.stream)
                ->put_async(new int(send.nth), static_cast<uint64_t>(scenario.slice));
        if (scenario.blocking)
            under_way[send.stream]->wait();
    }
    for (auto &comm : under_way)
        comm.second->wait();
}

static void build()
{
    sg4::NetZone *zone = sg4::create_full_zone("zone");
    std::vector<sg4::Host *> hosts;
    std::vector<sg4::Link *> links;
    std::map<std::pair<int, int>, bool> routed;
    for (int r = 0; r < scenario.ranks; r++)
        hosts.push_back(zone->create_host("host" + std::to_string(r), 1e9));
    for (size_t i = 0; i < scenario.links.size(); i++) {
        sg4::Link *link =
            zone->create_link("link" + std::to_string(i), scenario.links[i].first);
        link->set_latency(scenario.links[i].second);
        link->seal();
        links.push_back(link);
    }
    for (const Stream &s : scenario.streams) {
        std::vector<sg4::LinkInRoute> route;
        if (routed[{s.from, s.to}])
            continue;
        routed[{s.from, s.to}] = true;
        for (int link : s.links)
            route.emplace_back(links[link]);
        zone->add_route(hosts[s.from]->get_netpoint(), hosts[s.to]->get_netpoint(),
                        nullptr, nullptr, route, false);
    }
    zone->seal();
    for (int r = 0; r < scenario.ranks; r++) {
        mutexes.push_back(sg4::Mutex::create());
        arrivals.push_back(sg4::ConditionVariable::create());
        sg4::Actor::create("sender", hosts[r], sender, r);
    }
    for (size_t i = 0; i < scenario.streams.size(); i++)
        sg4::Actor::create("receiver", hosts[scenario.streams[i].to], receiver,
                           static_cast<int>(i));
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: referee FILE\n");
        return 2;
    }
    /* Plain max-min sharing: no TCP window, no headers, no acknowledgements. */
    for (const char *setting :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0",
          "surf/precision:1e-10"})
        sg4::Engine::set_config(setting);
    read_scenario(argv[1]);
    build();
    engine.run();
    for (int r = 0; r < scenario.ranks; r++)
        std::printf("%d %.17g\n", r, scenario.delivered[r]);
    return 0;
}
