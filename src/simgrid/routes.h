/* Whether a SimGrid platform has a route between two points.
 *
 * libsimgrid cannot be asked: where a zone has no routes at all it reads a table that is
 * not there, a Dijkstra zone does so for a point without routes, and a zone without
 * routing aborts. So the routes are noted as they are made, and what they cannot join is
 * not asked for. */
#ifndef ESPI_SIMGRID_ROUTES_H
#define ESPI_SIMGRID_ROUTES_H

#include <map>
#include <utility>
#include <vector>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

class Routes
{
  public:
    using Point = simgrid::kernel::routing::NetPoint;
    using Zone = simgrid::kernel::routing::NetZoneImpl;

    /* Before the platform is loaded. */
    Routes();
    /* May libsimgrid be asked for the route? Throws where no route of a zone may. */
    bool may_ask(const Point *from, const Point *to);

  private:
    /* Between two points of one zone; the gateways of zones. */
    struct Step {
        bool there;
        const Point *out, *in;
    };

    void refuse_lone_points(const Zone *zone) const;
    bool reaches(const Zone *zone, const Point *from, const Point *to);
    Step find_step(Zone *zone, const Point *from, const Point *to);
    const Step &step(Zone *zone, const Point *from, const Point *to);

    std::map<const Point *, std::vector<const Point *>> next_;
    std::map<const Point *, std::vector<bool>> reached_; /* by the id in the zone */
    std::map<std::pair<const Point *, const Point *>, Step> steps_;
};

#endif
