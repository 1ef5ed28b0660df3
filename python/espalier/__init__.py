"""espalier from Python: networks whose machines are not equal, plans of collective
communication for them, what no plan can beat, and simulations.

    import espalier
    p = espalier.Platform.from_matrix([[0, 1e8], [1e8, 0]], names=["a", "b"])
    plan = p.plan("bcast", root="a", size=64e6)
    print(plan.makespan, p.bound(root="a", size=64e6).makespan)

All times are seconds, sizes bytes, bandwidths bytes a second. Nothing but the C library
is needed; NumPy and networkx are used where they are handed in. In notebooks platforms
and plans draw themselves. What the library refuses raises EspalierError with its sentence.
"""

from __future__ import annotations

import math
import operator
import os
import tempfile
from ctypes import POINTER, byref, c_int, c_void_p, sizeof
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from . import _library as _c
from ._library import EspalierError, lib as _lib

__all__ = ["Bound", "EspalierError", "Link", "Plan", "Platform", "Simulation", "Transfer",
           "Tree", "algorithms", "version"]

Node = Union[str, int]


class Link(NamedTuple):
    """A directed link of a platform."""

    source: str
    target: str
    latency: float
    bandwidth: float


class Tree(NamedTuple):
    """A tree of a plan: the part of the message that goes along it, and its transfers in
    the order in which a host sends them."""

    weight: float
    root: str
    edges: tuple[tuple[str, str], ...]


class Transfer(NamedTuple):
    """One transfer of one slice, as it was simulated."""

    source: str
    target: str
    tree: int
    slice: int
    start: float
    end: float
    lost: bool


@dataclass(frozen=True)
class Bound:
    """What no plan can beat. `bottlenecks`: what limits it, with its share; `what_if`: what
    10% more bandwidth would give, as a share, in words."""

    throughput: float
    makespan: float
    gap: float
    exact: bool
    bottlenecks: tuple[tuple[str, float], ...]
    cut: tuple[str, ...]
    what_if: tuple[tuple[str, float], ...]
    text: str


@dataclass(frozen=True)
class Simulation:
    """What a plan did. `delivered`: when each host had the whole message (infinity:
    never); `resources`: what was busiest, with its seconds and its share of the time."""

    makespan: float
    throughput: float
    delivered: Mapping[str, float]
    lost: int
    resources: tuple[tuple[str, float, float], ...]
    transfers: tuple[Transfer, ...]


# ---- arguments ----

def _unfit(value: Any, name: str, wanted: str) -> TypeError:
    return TypeError(f"{name}: {wanted} is wanted, not {type(value).__name__}")


def _words(value: Any, name: str) -> bytes:
    if not isinstance(value, str):
        raise _unfit(value, name, "a text")
    if "\0" in value:
        raise ValueError(f"{name}: a text without NUL is wanted")
    return value.encode()


def _number(value: Any, name: str) -> float:
    """Of anything that counts as a number, those of NumPy, too; True and "1" do not."""
    if isinstance(value, (str, bytes, bool)):
        raise _unfit(value, name, "a number")
    try:
        return float(value)
    except TypeError:
        raise _unfit(value, name, "a number") from None


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool):
        raise _unfit(value, name, "a whole number")
    try:
        return operator.index(value)
    except TypeError:
        raise _unfit(value, name, "a whole number") from None


def _list(value: Any, name: str, wanted: str) -> list:
    """A text is a sequence, too, but never what is meant."""
    if isinstance(value, (str, bytes)):
        raise _unfit(value, name, wanted)
    try:
        return list(value)
    except TypeError:
        raise _unfit(value, name, wanted) from None


def _platform(value: Any, name: str) -> Any:
    if not isinstance(value, Platform):
        raise _unfit(value, name, "a Platform")
    return value._handle


def version() -> str:
    """The version of the C library."""
    return _lib.esp_version().decode()


def algorithms(op: str = "bcast", platform: Optional["Platform"] = None) -> list[str]:
    """The algorithms that plan this operation, on this platform if one is given."""
    number = _op(op)
    handle = None if platform is None else _platform(platform, "platform")
    return [_lib.esp_algorithm_name(a).decode() for a in range(_lib.esp_algorithm_count())
            if _lib.esp_algorithm_serves(a, number, 0)
            and (handle is None or _lib.esp_algorithm_applies(a, handle))]


# ---- words to numbers ----

def _parsed(parse: Any, word: str, what: str) -> int:
    value = c_int()
    if parse(_words(word, what), byref(value)):
        raise EspalierError(2, f"there is no {what} '{word}'")
    return value.value


def _op(word: str) -> int:
    return _parsed(_lib.esp_op_parse, word, "operation")


def _model(word: Optional[str]) -> int:
    return -1 if word is None else _parsed(_lib.esp_model_parse, word, "model")


def _text(value: Optional[bytes]) -> str:
    return value.decode() if value else ""


def _path(path: Union[str, os.PathLike]) -> bytes:
    try:
        return os.fsencode(path)
    except TypeError:
        raise _unfit(path, "path", "a text or a path") from None


def _drawn(handle: Any, plan: Any, title: Optional[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.svg")
        _lib.esp_picture_write(handle, plan, _words(title, "title") if title else None,
                               _path(path))
        with open(path, encoding="utf-8") as file:
            return file.read()


# ---- platforms ----

class Platform:
    """A network: hosts and switches, and directed links. It never changes."""

    def __init__(self, handle: Any) -> None:
        """Of a handle of the library; see read, parse, build and from_..."""
        if not isinstance(handle, c_void_p) or not handle:
            raise _unfit(handle, "handle", "a handle of the library (see Platform.read)")
        self._handle = handle
        count = _lib.esp_platform_node_count(handle)
        #: the names of all nodes, by number
        self.nodes: list[str] = [_text(_lib.esp_platform_node_name(handle, i))
                                 for i in range(count)]

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.esp_platform_free(self._handle)
            self._handle = None

    # ---- making ----

    @staticmethod
    def _options(format: str, model: Optional[str], link_speed: float) -> _c.ReadOptions:
        options = _c.ReadOptions()
        _lib.esp_read_options_defaults_sized(byref(options), sizeof(options))
        options.format = _parsed(_lib.esp_format_parse, format, "format")
        options.model = _model(model)
        options.link_Bps = _number(link_speed, "link_speed")
        return options

    @classmethod
    def read(cls, path: Union[str, os.PathLike], format: str = "auto",
             model: Optional[str] = None, link_speed: float = 0) -> "Platform":
        """Reads a file in any format that espalier knows (docs/formats.md)."""
        handle = c_void_p()
        _lib.esp_platform_read(_path(path), byref(cls._options(format, model, link_speed)),
                               byref(handle))
        return cls(handle)

    @classmethod
    def parse(cls, text: str, format: str = "auto", model: Optional[str] = None,
              link_speed: float = 0) -> "Platform":
        """The same of a text."""
        if not isinstance(text, str):
            raise _unfit(text, "text", "a text")
        handle, data = c_void_p(), text.encode()
        _lib.esp_platform_parse(data, len(data), b"text",
                                byref(cls._options(format, model, link_speed)),
                                byref(handle))
        return cls(handle)

    @classmethod
    def build(cls, nodes: Iterable[Union[str, Mapping[str, Any]]],
              links: Iterable[Sequence[Any]], *, name: str = "network",
              model: str = "one-port",
              shared: Iterable[tuple[str, float, Sequence[tuple[str, str]]]] = ()) -> "Platform":
        """Of nodes (names, or mappings with name, site, kind ("host" or "switch"), send and
        recv), links (source, target, bandwidth[, latency]) and shared cables (name,
        bandwidth, [(source, target), ...])."""
        builder = c_void_p()
        _lib.esp_builder_create(byref(builder))
        try:
            _lib.esp_builder_set_name(builder, _words(name, "name"))
            _lib.esp_builder_set_model(builder, _model(model))
            numbers = cls._add_nodes(builder, nodes)
            ids = cls._add_links(builder, links, numbers)
            for cable, bandwidth, pairs in _rows(shared, "shared", 3, 3):
                pairs = _rows(pairs, "shared", 2, 2)
                members = (c_int * len(pairs))(*(_found(ids, tuple(pair), "link")
                                                 for pair in pairs))
                _lib.esp_builder_add_cable(builder, _words(cable, "shared"),
                                           _number(bandwidth, "shared"), members,
                                           len(pairs))
            handle = c_void_p()
            _lib.esp_builder_build(builder, byref(handle))
            return cls(handle)
        finally:
            _lib.esp_builder_free(builder)

    @staticmethod
    def _add_nodes(builder: c_void_p, nodes: Iterable[Any]) -> dict[str, int]:
        numbers: dict[str, int] = {}
        kinds = {"host": 0, "switch": 1}
        for node in _list(nodes, "nodes", "a list of names or mappings"):
            if not isinstance(node, (str, Mapping)):
                raise _unfit(node, "nodes", "a name, or a mapping with one,")
            about = {"name": node} if isinstance(node, str) else dict(node)
            site, number = about.get("site"), c_int()
            spec = _c.NodeSpec(_words(about.get("name"), "name of a node"),
                               _words(site, "site") if site else None,
                               _found(kinds, about.get("kind", "host"), "kind of node"),
                               _number(about.get("send", -1.0), "send"),
                               _number(about.get("recv", -1.0), "recv"))
            _lib.esp_builder_add_node(builder, byref(spec), byref(number))
            numbers[about["name"]] = number.value
        return numbers

    @staticmethod
    def _add_links(builder: c_void_p, links: Iterable[Sequence[Any]],
                   numbers: Mapping[str, int]) -> dict[tuple[str, str], int]:
        ids: dict[tuple[str, str], int] = {}
        for source, target, bandwidth, *rest in _rows(links, "links", 3, 4):
            number = c_int()
            _lib.esp_builder_add_link(builder, _found(numbers, source, "node"),
                                      _found(numbers, target, "node"),
                                      _number(rest[0], "latency") if rest else 0.0,
                                      _number(bandwidth, "bandwidth"), byref(number))
            ids[source, target] = number.value
        return ids

    @classmethod
    def from_matrix(cls, bandwidth: Any, latency: Any = None,
                    names: Optional[Sequence[str]] = None, *, name: str = "matrix",
                    model: str = "one-port") -> "Platform":
        """Row i, column j is the link from host i to host j; there is none where the
        bandwidth is 0 or not finite. NumPy arrays, or sequences of sequences."""
        rows = _matrix(bandwidth, "bandwidth")
        delays = _matrix(latency, "latency") if latency is not None else None
        count = len(rows)
        for matrix in (rows, delays):
            if matrix is not None and (len(matrix) != count
                                       or any(len(row) != count for row in matrix)):
                raise ValueError("a matrix that is not square, or of another size")
        hosts = _list(names, "names", "a list of texts") if names is not None else [f"p{i}" for i in range(count)]
        if len(hosts) != count:
            raise ValueError(f"{len(hosts)} names for {count} hosts")
        links = [(hosts[i], hosts[j], rows[i][j], delays[i][j] if delays else 0.0)
                 for i in range(count) for j in range(count)
                 if i != j and rows[i][j] != 0 and math.isfinite(rows[i][j])]
        return cls.build(hosts, links, name=name, model=model)

    @classmethod
    def from_networkx(cls, graph: Any, *, bandwidth: str = "bandwidth",
                      latency: str = "latency", unit: float = 1.0,
                      model: str = "one-port") -> "Platform":
        """Of a graph of networkx: `bandwidth` and `latency` name attributes of its edges
        (the bandwidth must be there, and counts in `unit` bytes a second), `kind`, `site`,
        `send` and `recv` are those of nodes. An edge of an undirected graph is a link each
        way."""
        if not all(hasattr(graph, one) for one in ("nodes", "edges", "is_directed")):
            raise _unfit(graph, "graph", "a graph of networkx")
        unit = _number(unit, "unit")
        nodes = [{"name": str(node), **{key: about[key] for key in
                                        ("kind", "site", "send", "recv") if key in about}}
                 for node, about in graph.nodes(data=True)]
        links = []
        for source, target, about in graph.edges(data=True):
            if bandwidth not in about:
                raise ValueError(f"the edge {source} -> {target} has no '{bandwidth}'")
            figures = (_number(about[bandwidth], bandwidth) * unit,
                       _number(about.get(latency, 0.0), latency))
            links.append((str(source), str(target), *figures))
            if not graph.is_directed():
                links.append((str(target), str(source), *figures))
        return cls.build(nodes, links, model=model,
                         name=str(getattr(graph, "name", "")) or "graph")

    # ---- looking ----

    @property
    def name(self) -> str:
        return _text(_lib.esp_platform_name(self._handle))

    @property
    def model(self) -> str:
        return _lib.esp_model_name(_lib.esp_platform_model(self._handle)).decode()

    @property
    def hosts(self) -> list[str]:
        return [name for i, name in enumerate(self.nodes)
                if _lib.esp_platform_node_kind(self._handle, i) == 0]

    @property
    def sites(self) -> dict[str, str]:
        """The site of each node that has one."""
        found = {name: _text(_lib.esp_platform_node_site(self._handle, i))
                 for i, name in enumerate(self.nodes)}
        return {name: site for name, site in found.items() if site}

    @property
    def links(self) -> list[Link]:
        h, names = self._handle, self.nodes
        return [Link(names[_lib.esp_platform_link_from(h, i)],
                     names[_lib.esp_platform_link_to(h, i)],
                     _lib.esp_platform_link_latency_s(h, i),
                     _lib.esp_platform_link_bandwidth_Bps(h, i))
                for i in range(_lib.esp_platform_link_count(h))]

    def to_networkx(self) -> Any:
        """A DiGraph with `bandwidth` and `latency` of edges, `kind` and `site` of nodes."""
        import networkx  # only here is it needed
        graph = networkx.DiGraph(name=self.name)
        hosts, sites = set(self.hosts), self.sites
        for node in self.nodes:
            graph.add_node(node, kind="host" if node in hosts else "switch")
            if node in sites:
                graph.nodes[node]["site"] = sites[node]
        for link in self.links:
            graph.add_edge(link.source, link.target, bandwidth=link.bandwidth,
                           latency=link.latency)
        return graph

    def with_model(self, model: str) -> "Platform":
        handle = c_void_p()
        _lib.esp_platform_with_model(self._handle, _model(model), byref(handle))
        return Platform(handle)

    def write(self, path: Union[str, os.PathLike]) -> None:
        """As native JSON."""
        _lib.esp_platform_write(self._handle, _path(path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Platform):
            return NotImplemented
        return bool(_lib.esp_platform_equal(self._handle, other._handle))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (f"<espalier.Platform '{self.name}': {len(self.hosts)} hosts, "
                f"{_lib.esp_platform_link_count(self._handle)} links, {self.model}>")

    def _repr_svg_(self) -> str:
        return _drawn(self._handle, None, None)

    def svg(self, title: Optional[str] = None) -> str:
        """The network as a picture."""
        return _drawn(self._handle, None, title)

    # ---- asking ----

    def _node(self, node: Node) -> int:
        if not isinstance(node, str):
            node = _whole_or_text(node)
            if not 0 <= node < len(self.nodes):
                raise EspalierError(3, f"there is no node {node}")
            return node
        number = _lib.esp_platform_find_node(self._handle, _words(node, "node"))
        if number < 0:
            raise EspalierError(3, f"there is no node '{node}'")
        return number

    def _request(self, op: str, root: Optional[Node], targets: Optional[Sequence[Node]],
                 size: float, slice: Optional[float]) -> _c.Request:
        request = _c.Request()
        first = self.hosts[0] if root is None and self.hosts else root
        _lib.esp_request_init_sized(byref(request), sizeof(request),
                                    self._node(0 if first is None else first))
        request.op = _op(op)
        request.size_bytes = _number(size, "size")
        if slice is not None:
            request.slice_bytes = _number(slice, "slice")
        if targets is not None:
            targets = _list(targets, "targets", "a list of nodes")
            # the array lives as long as the request
            numbers = (c_int * len(targets))(*(self._node(t) for t in targets))
            request.targets, request.n_targets = numbers, len(targets)
        return request

    def plan(self, op: str = "bcast", root: Optional[Node] = None, *,
             targets: Optional[Sequence[Node]] = None, algo: str = "auto",
             size: float = 64e6, slice: Optional[float] = None, seed: int = 1,
             budget: float = 0) -> "Plan":
        """The plan of an algorithm; `auto` takes the one that ends first. Without a root
        the first host; `slice` 0 sends the message in one piece."""
        request = self._request(op, root, targets, size, slice)
        request.algo, request.seed = _words(algo, "algo"), _whole(seed, "seed")
        request.budget_s = _number(budget, "budget")
        found = POINTER(_c.Plan)()
        _lib.esp_plan_make(self._handle, byref(request), byref(found))
        return Plan(self, found)

    def read_plan(self, path: Union[str, os.PathLike]) -> "Plan":
        """Reads a plan, and checks it against this platform."""
        found = POINTER(_c.Plan)()
        _lib.esp_plan_read(_path(path), self._handle, byref(found))
        return Plan(self, found)

    def bound(self, op: str = "bcast", root: Optional[Node] = None, *,
              targets: Optional[Sequence[Node]] = None, size: float = 64e6,
              slice: Optional[float] = None, what_if: int = 0,
              time_limit: float = 0) -> Bound:
        """What no plan can beat: in the long run (throughput), and for a message of this
        size (makespan)."""
        request = self._request(op, root, targets, size, slice)
        options = _c.BoundOptions()
        _lib.esp_bound_options_defaults_sized(byref(options), sizeof(options))
        options.makespan, options.what_if = 1, _whole(what_if, "what_if")
        options.time_limit_s = _number(time_limit, "time_limit")
        found = POINTER(_c.Bound)()
        _lib.esp_bound_compute(self._handle, byref(request), byref(options), byref(found))
        try:
            b = found.contents
            return Bound(
                b.throughput_Bps, b.makespan_s, b.gap, bool(b.exact),
                tuple((_text(b.bottlenecks[i].contents.text), b.bottlenecks[i].contents.price)
                      for i in range(b.n_bottlenecks)),
                tuple(self.nodes[b.cut[i]] for i in range(b.n_cut)),
                tuple((_text(b.what_if[i].contents.text), b.what_if[i].contents.gain)
                      for i in range(b.n_what_if)), _text(b.text))
        finally:
            _lib.esp_bound_free(found)


def _found(numbers: Mapping[Any, int], key: Any, what: str) -> int:
    try:
        return numbers[key]
    except KeyError:
        raise EspalierError(3, f"there is no {what} {key!r}") from None
    except TypeError:  # it cannot be looked up
        raise _unfit(key, what, "a text") from None


def _whole_or_text(node: Any) -> int:
    try:
        return _whole(node, "node")
    except TypeError:
        raise _unfit(node, "node", "a name or a number") from None


def _rows(value: Any, name: str, least: int, most: int) -> list:
    """A list of sequences of so many things."""
    wanted = f"a list of sequences of {least}{f' or {most}' if most > least else ''}"
    rows = [_list(row, name, wanted) for row in _list(value, name, wanted)]
    for row in rows:
        if not least <= len(row) <= most:
            raise ValueError(f"{name}: {wanted} is wanted, and one has {len(row)}")
    return rows


def _matrix(value: Any, name: str) -> list[list[float]]:
    return [[_number(x, name) for x in _list(row, name, "a matrix of numbers")]
            for row in _list(value, name, "a matrix of numbers")]


# ---- plans ----

class Plan:
    """What is to be done on a platform: weighted trees along which a message travels."""

    def __init__(self, platform: Platform, handle: Any) -> None:
        """Of a handle of the library; see Platform.plan and Platform.read_plan."""
        _platform(platform, "platform")
        if not isinstance(handle, POINTER(_c.Plan)) or not handle:
            raise _unfit(handle, "handle", "a handle of the library (see Platform.plan)")
        self.platform = platform
        self._handle = handle

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.esp_plan_free(self._handle)
            self._handle = None

    @property
    def op(self) -> str:
        return _lib.esp_op_name(self._handle.contents.op).decode()

    @property
    def root(self) -> str:
        return self.platform.nodes[self._handle.contents.root]

    @property
    def algo(self) -> str:
        return _text(self._handle.contents.algo)

    @property
    def size(self) -> float:
        return self._handle.contents.size_bytes

    @property
    def slice(self) -> float:
        return self._handle.contents.slice_bytes

    @property
    def makespan(self) -> float:
        """When the message has arrived everywhere."""
        return self._handle.contents.makespan_s

    @property
    def throughput(self) -> float:
        """In the long run."""
        return self._handle.contents.throughput_Bps

    @property
    def trees(self) -> list[Tree]:
        plan, names = self._handle.contents, self.platform.nodes
        return [Tree(tree.weight, names[tree.root],
                     tuple((names[tree.edges[k].source], names[tree.edges[k].target])
                           for k in range(tree.n_edges)))
                for tree in plan.trees[:plan.n_trees]]

    def write(self, path: Union[str, os.PathLike]) -> None:
        _lib.esp_plan_write(self._handle, self.platform._handle, _path(path))

    def simulate(self, *, size: float = 0, slice: float = 0,
                 reality: Optional[Platform] = None, sharing: str = "model",
                 faults: Sequence[str] = (), transfers: bool = False,
                 budget: float = 0) -> Simulation:
        """Plays the plan, on what the network really is if that is given. `sharing`:
        "exclusive", "fluid" or "model"; `faults`: as of `espalier simulate --fault`
        ("link:a:b@10ms=0.5", "node:m1@1s"); `transfers`: keep all of them; `budget`:
        the seconds that it may take (0: what it needs), or it fails."""
        options, seen = _c.SimOptions(), []
        names = self.platform.nodes
        _lib.esp_sim_options_defaults_sized(byref(options), sizeof(options))
        options.size_bytes = _number(size, "size")
        options.slice_bytes = _number(slice, "slice")
        options.budget_s = _number(budget, "budget")
        options.sharing = _found({"exclusive": 0, "fluid": 1, "model": 2}, sharing, "sharing")
        real = self.platform if reality is None else reality
        options.reality = None if reality is None else _platform(reality, "reality")
        faults = [_words(one, "faults") for one in _list(faults, "faults", "a list of texts")]

        @_c.OnTransfer
        def keep(_arg: Any, one: Any) -> None:
            t = one.contents
            seen.append(Transfer(names[t.source], names[t.target], t.tree, t.slice, t.start_s,
                                 t.end_s, bool(t.lost)))

        if transfers:
            options.on_transfer = keep
        trace, count = c_void_p(), c_int()
        _lib.esp_trace_create(byref(trace))
        try:
            for fault in faults:
                _lib.esp_trace_add(trace, real._handle, fault)
            options.changes = _lib.esp_trace_changes(trace, byref(count))
            options.n_changes = count.value
            options.stops = _lib.esp_trace_stops(trace, byref(count))
            options.n_stops = count.value
            return self._played(options, seen)
        finally:
            _lib.esp_trace_free(trace)

    def _played(self, options: _c.SimOptions, seen: list[Transfer]) -> Simulation:
        found, names = POINTER(_c.SimResult)(), self.platform.nodes
        _lib.esp_simulate(self.platform._handle, self._handle, byref(options), byref(found))
        try:
            r, hosts = found.contents, set(self.platform.hosts)
            return Simulation(
                r.makespan_s, r.throughput_Bps,
                {names[i]: r.delivered_s[i] for i in range(r.n_nodes) if names[i] in hosts},
                r.lost,
                tuple((_text(one.contents.text), one.contents.busy_s,
                       one.contents.utilisation) for one in r.resources[:r.n_resources]),
                tuple(seen))
        finally:
            _lib.esp_sim_result_free(found)

    def svg(self, title: Optional[str] = None) -> str:
        """The plan over its network as a picture."""
        return _drawn(self.platform._handle, self._handle,
                      title or f"{self.op} of {self.size:g} bytes on {self.platform.name}")

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return (f"<espalier.Plan: {self.op} by {self.algo}, "
                f"{self._handle.contents.n_trees} trees, {self.makespan:g} s>")
