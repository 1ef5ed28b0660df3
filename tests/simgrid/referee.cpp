/* referee FILE: runs a program's transfers in SimGrid and prints when each rank has all.
 *
 *   blocking 0|1          one transfer a rank at a time in its order, or one a
 * connection, of those that can be sent the first slice of the message ahead SLICES not
 * blocking: what a rank has from the start leaves along no tree so many slices of the
 * message before another slice BYTES ranks N link BANDWIDTH LATENCY          numbered 0,
 * 1, 2, ...; cables come after the links stream FROM TO KEEPS SOURCE TREE LINK...
 * numbered alike; SOURCE -1: the sender has it send RANK STREAM NTH NEEDS SLICE ROUND
 * PLACE      in the rank's order: the NTH slice of the stream, which needs that NEEDS
 * slices of SOURCE have arrived
 *
 * Two hosts may be joined by several streams; SimGrid has one route a pair of hosts, so
 * streams of a pair must name the same links. */
#include <algorithm>
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
    int from, to, keeps, source, tree;
    std::vector<int> links;
    std::vector<int> slices; /* of the message, of its sends */
    int sends = 0, arrived = 0, started = 0;
};

struct Send {
    int stream, nth, needs, slice, round, place;
};

struct Scenario {
    bool blocking = true;
    double slice = 1;
    int ranks = 0, ahead = 0;
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
        } else if (word == "ahead") {
            text >> scenario.ahead;
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
            text >> s.from >> s.to >> s.keeps >> s.source >> s.tree;
            while (text >> link)
                s.links.push_back(link);
            scenario.streams.push_back(s);
        } else if (word == "send") {
            int rank;
            Send s;
            text >> rank >> s.stream >> s.nth >> s.needs >> s.slice >> s.round >> s.place;
            scenario.sends[rank].push_back(s);
            scenario.streams[s.stream].slices.push_back(s.slice);
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

static void send_slice(const Send &send)
{
    mailbox(send.stream)->put(new int(send.nth), static_cast<uint64_t>(scenario.slice));
}

/* In order, one at a time. */
static void sender(int rank)
{
    for (const Send &send : scenario.sends[rank]) {
        const Stream &s = scenario.streams[send.stream];
        if (s.source >= 0) {
            std::unique_lock<sg4::Mutex> lock(*mutexes[rank]);
            while (scenario.streams[s.source].arrived < send.needs)
                arrivals[rank]->wait(lock);
        }
        send_slice(send);
    }
}

/* The last slice up to which the rank may send what it has from the start: a tree is as
 * far as the stream that is first. */
static long limit_of(int rank)
{
    std::map<int, long> lead;
    long least = 1L << 40;
    for (const Stream &s : scenario.streams) {
        if (s.from != rank || s.source >= 0)
            continue;
        long slice = s.started < s.sends ? s.slices[s.started] : 1L << 40;
        auto found = lead.find(s.tree);
        if (found == lead.end() || found->second < slice)
            lead[s.tree] = slice;
    }
    for (const auto &tree : lead)
        least = std::min(least, tree.second);
    return lead.size() > 1 ? least + scenario.ahead : 1L << 40;
}

static bool comes_before(const Send &a, const Send &b)
{
    return a.round != b.round ? a.round < b.round : a.place < b.place;
}

/* Of what is left and can be sent the first of the schedule, which is taken from there.
 */
static bool take_next(int rank, std::vector<Send> &left, Send &next)
{
    long limit = limit_of(rank);
    size_t first = left.size();
    for (size_t i = 0; i < left.size(); i++) {
        const Stream &s = scenario.streams[left[i].stream];
        if (left[i].nth != s.started + 1)
            continue;
        if (s.source >= 0 ? scenario.streams[s.source].arrived < left[i].needs
                          : left[i].slice > limit)
            continue;
        if (first == left.size() || comes_before(left[i], left[first]))
            first = i;
    }
    if (first == left.size())
        return false;
    next = left[first];
    scenario.streams[next.stream].started++;
    left.erase(left.begin() + static_cast<long>(first));
    return true;
}

/* All that one rank sends to another. */
static void connection(int from, int to)
{
    std::vector<Send> left;
    for (const Send &send : scenario.sends[from])
        if (scenario.streams[send.stream].to == to)
            left.push_back(send);
    while (!left.empty()) {
        Send next;
        {
            std::unique_lock<sg4::Mutex> lock(*mutexes[from]);
            while (!take_next(from, left, next))
                arrivals[from]->wait(lock);
            arrivals[from]->notify_all(); /* others may go on now */
        }
        send_slice(next);
    }
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
        if (scenario.blocking)
            sg4::Actor::create("sender", hosts[r], sender, r);
    }
    for (const auto &pair : routed)
        if (!scenario.blocking)
            sg4::Actor::create("connection", hosts[pair.first.first], connection,
                               pair.first.first, pair.first.second);
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
