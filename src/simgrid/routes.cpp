#include "routes.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_set>

namespace resource = simgrid::kernel::resource;

namespace
{

/* What libsimgrid asks its zones for, but keeps for them. */
struct Asked : Routes::Zone {
    static auto local_route()
    {
        return &Asked::get_local_route;
    }
    static auto bypass_route()
    {
        return &Asked::get_bypass_route;
    }
};

/* Is the routing made of the routes of the file? The classes are not public, their names
 * are. */
bool is_a(const Routes::Zone *zone, const char *name)
{
    return std::string(typeid(*zone).name()).find(name) != std::string::npos;
}

bool is_made_of_routes(const Routes::Zone *zone)
{
    return is_a(zone, "FullZone") || is_a(zone, "FloydZone") ||
           is_a(zone, "DijkstraZone") || is_a(zone, "EmptyZone");
}

/* The zones that the point is in, the innermost first. */
std::vector<Routes::Zone *> zones_of(const Routes::Point *point)
{
    std::vector<Routes::Zone *> zones;
    for (Routes::Zone *z = point->get_englobing_zone(); z; z = z->get_parent())
        zones.push_back(z);
    return zones;
}

/* Two points as the innermost zone that has both sees them: each itself, or the zone
 * there that it is in. */
struct Seen {
    Routes::Zone *zone;
    const Routes::Point *from, *to;
    bool alike; /* both themselves or both zones */
};

Seen seen_together(const Routes::Point *from, const Routes::Point *to)
{
    std::vector<Routes::Zone *> up = zones_of(from), down = zones_of(to);
    Seen s = {nullptr, from, to, false};
    while (!up.empty() && !down.empty() && up.back() == down.back()) {
        s.zone = up.back();
        up.pop_back();
        down.pop_back();
    }
    s.alike = up.empty() == down.empty();
    if (!up.empty())
        s.from = up.back()->get_netpoint();
    if (!down.empty())
        s.to = down.back()->get_netpoint();
    return s;
}

bool has_bypass(Routes::Zone *zone, const Routes::Point *from, const Routes::Point *to)
{
    std::vector<resource::StandardLinkImpl *> links;
    std::unordered_set<Routes::Zone *> zones;
    double latency = 0;
    try {
        return (zone->*Asked::bypass_route())(from, to, links, &latency, zones);
    } catch (const std::exception &) {
        return false;
    }
}

} /* namespace */

/* Between zones some versions tell the gateways instead. */
Routes::Routes()
{
    Zone::on_route_creation.connect(
        [this](bool symmetrical, Point *from, Point *to, Point *, Point *,
               const std::vector<resource::StandardLinkImpl *> &) {
            const Seen s = seen_together(from, to);
            next_[s.from].push_back(s.to);
            if (symmetrical)
                next_[s.to].push_back(s.from);
        });
}

/* A Dijkstra zone counts all points and aborts when one of them has no route, whichever
 * route it is asked for. */
void Routes::refuse_lone_points(const Zone *zone) const
{
    std::unordered_set<const Point *> joined;
    for (const auto &[from, to] : next_) {
        joined.insert(from);
        joined.insert(to.begin(), to.end());
    }
    for (const Point *p : zone->get_vertices())
        if (!joined.count(p))
            throw std::invalid_argument("'" + p->get_name() + "' has no route in zone '" +
                                        zone->get_name() +
                                        "', which Dijkstra routing does not allow: give "
                                        "it one, or write routing=\"Full\"");
}

/* By the routes of the zone, one after the other. */
bool Routes::reaches(const Zone *zone, const Point *from, const Point *to)
{
    std::vector<bool> &reached = reached_[from];
    if (reached.empty()) {
        std::vector<const Point *> open = {from};
        reached.resize(zone->get_table_size());
        reached[from->id()] = true;
        while (!open.empty()) {
            const Point *at = open.back();
            open.pop_back();
            const auto next = next_.find(at);
            if (next == next_.end())
                continue;
            for (const Point *p : next->second)
                if (!reached[p->id()]) {
                    reached[p->id()] = true;
                    open.push_back(p);
                }
        }
    }
    return reached[to->id()];
}

Routes::Step Routes::find_step(Zone *zone, const Point *from, const Point *to)
{
    simgrid::kernel::routing::Route route;
    double latency = 0;
    if (is_made_of_routes(zone) && !reaches(zone, from, to))
        return {false, nullptr, nullptr};
    if (is_a(zone, "DijkstraZone"))
        refuse_lone_points(zone);
    if (!from->is_netzone() || !to->is_netzone())
        return {true, nullptr, nullptr};
    try {
        (zone->*Asked::local_route())(from, to, &route, &latency);
    } catch (const std::exception &) {
        return {false, nullptr, nullptr};
    }
    return {route.gw_src_ && route.gw_dst_, route.gw_src_, route.gw_dst_};
}

const Routes::Step &Routes::step(Zone *zone, const Point *from, const Point *to)
{
    const auto key = std::make_pair(from, to);
    auto found = steps_.find(key);
    if (found == steps_.end())
        found = steps_.emplace(key, find_step(zone, from, to)).first;
    return found->second;
}

/* As libsimgrid looks for it: in the innermost zone that has both, and where they are in
 * zones there, then from each to its gateway. */
bool Routes::may_ask(const Point *from, const Point *to)
{
    if (from == to)
        return true;
    const Seen seen = seen_together(from, to);
    if (!seen.zone || !seen.alike)
        return true; /* it has words of its own for these */
    const Step &s = step(seen.zone, seen.from, seen.to);
    bool joined = s.there && (!s.out || (may_ask(from, s.out) && may_ask(s.in, to)));
    return joined || has_bypass(seen.zone, from, to);
}
