"""The binding against the program: both must say the same of the same network.

usage: ESPALIER=PROGRAM PYTHONPATH=python python3 test_espalier.py
"""

import ctypes
import gc
import json
import os
import subprocess
import tempfile
import unittest
import xml.dom.minidom

import espalier
from espalier import _library

PROGRAM = os.environ["ESPALIER"]


def ask(*words):
    """What the program answers as JSON."""
    done = subprocess.run([PROGRAM, *words, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "p.json")
        self.plan_path = os.path.join(folder.name, "plan.json")
        subprocess.run([PROGRAM, "generate", "random", "--nodes", "10", "--seed", "7", "-o",
                        self.path], check=True, capture_output=True)
        self.p = espalier.Platform.read(self.path)

    def near(self, a, b):
        self.assertAlmostEqual(a, b, delta=1e-9 * abs(b))


class Platforms(Case):
    def test_is_what_the_file_says(self):
        with open(self.path, encoding="utf-8") as file:
            raw = json.load(file)
        self.assertEqual(self.p.model, raw["model"])
        self.assertEqual(self.p.nodes, [node["name"] for node in raw["nodes"]])
        self.assertEqual(self.p.hosts, self.p.nodes)
        links = []
        for link in raw["links"]:
            one = espalier.Link(link["from"], link["to"], link["latency_s"],
                                link["bandwidth_Bps"])
            links.append(one)
            if link.get("duplex"):
                links.append(one._replace(source=one.target, target=one.source))
        self.assertEqual(sorted(self.p.links), sorted(links))

    def test_written_and_read_again(self):
        again = self.path + ".again"
        self.p.write(again)
        self.assertEqual(espalier.Platform.read(again), self.p)
        with open(again, encoding="utf-8") as file:
            self.assertEqual(espalier.Platform.parse(file.read()), self.p)
        self.assertNotEqual(self.p.with_model("multi-port"), self.p)

    def test_matrix(self):
        rows = [[0, 1e8, 2e8], [3e8, 0, 0], [4e8, float("inf"), 0]]
        p = espalier.Platform.from_matrix(rows, [[1e-3 * (i + 1)] * 3 for i in range(3)],
                                          ["a", "b", "c"])
        self.assertEqual(sorted(p.links), [("a", "b", 1e-3, 1e8), ("a", "c", 1e-3, 2e8),
                                           ("b", "a", 2e-3, 3e8), ("c", "a", 3e-3, 4e8)])
        for bad in ([[0, 1]], [[0, 1], [1]]):
            with self.assertRaises(ValueError):
                espalier.Platform.from_matrix(bad)
        with self.assertRaises(ValueError):
            espalier.Platform.from_matrix(rows, names=["a"])

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        rows = numpy.full((4, 4), 1e8)
        p = espalier.Platform.from_matrix(rows, numpy.zeros((4, 4)))
        self.assertEqual(len(p.links), 12)
        self.assertEqual(p.hosts, ["p0", "p1", "p2", "p3"])

    def test_networkx(self):
        try:
            import networkx
        except ImportError:
            self.skipTest("networkx is not installed")
        graph = networkx.Graph()
        graph.add_node("s", kind="switch")
        graph.add_edge("a", "s", capacity=10, latency=1e-6)
        graph.add_edge("s", "b", capacity=1)
        p = espalier.Platform.from_networkx(graph, bandwidth="capacity", unit=1e9 / 8,
                                            model="capacity")
        self.assertEqual(sorted(p.hosts), ["a", "b"])
        self.assertEqual(len(p.links), 4)
        self.assertIn(("a", "s", 1e-6, 1.25e9), p.links)
        with self.assertRaises(ValueError):
            espalier.Platform.from_networkx(graph)
        back = espalier.Platform.from_networkx(self.p.to_networkx(), model=self.p.model)
        self.assertEqual(sorted(back.links), sorted(self.p.links))
        self.assertEqual(back.sites, self.p.sites)

    def test_graph_by_its_methods(self):
        class Graph:  # what of networkx is used
            name = "g"

            def nodes(self, data):
                return [(1, {}), (2, {"site": "x"})]

            def edges(self, data):
                return [(1, 2, {"bandwidth": 5e6})]

            def is_directed(self):
                return False

        p = espalier.Platform.from_networkx(Graph())
        self.assertEqual(sorted(p.links), [("1", "2", 0, 5e6), ("2", "1", 0, 5e6)])
        self.assertEqual((p.name, p.sites), ("g", {"2": "x"}))

    def test_shared_cables_count(self):
        nodes = ["a", "b", "c", "d"]
        links = [("a", "c", 1e8), ("b", "d", 1e8), ("a", "b", 1e9)]
        shared = [("wan", 1e8, [("a", "c"), ("b", "d")])]
        both = espalier.Platform.build(nodes, links, model="capacity")
        wan = espalier.Platform.build(nodes, links, model="capacity", shared=shared)
        self.assertGreater(both.bound(root="a").throughput, 1.9 * wan.bound(root="a").throughput)

    def test_refused_with_a_sentence(self):
        for make, words in (
                (lambda: espalier.Platform.parse("a b -1\n"), "negative"),
                (lambda: espalier.Platform.read("/none.json"), "cannot open"),
                (lambda: espalier.Platform.parse("{}", format="pajek"), "no format 'pajek'"),
                (lambda: espalier.Platform.build(["a"], [("a", "b", 1)]), "no node 'b'"),
                (lambda: espalier.Platform.build(["a", "a"], []), "a"),
                (lambda: self.p.plan(root="nobody"), "no node 'nobody'"),
                (lambda: self.p.plan(root=1000), "no node 1000"),
                (lambda: self.p.plan("sing"), "no operation 'sing'"),
                (lambda: self.p.plan(algo="gorw"), "gorw"),
                (lambda: self.p.plan(size=-1), "size")):
            with self.subTest(words), self.assertRaises(espalier.EspalierError) as caught:
                make()
            self.assertIn(words, str(caught.exception))


class Plans(Case):
    def test_plan_is_that_of_the_program(self):
        for op, algo in (("bcast", "mtp"), ("bcast", "refine"), ("allgather", "auto"),
                         ("scatter", "auto"), ("reduce", "auto")):
            with self.subTest(op=op, algo=algo):
                theirs = ask("plan", self.path, "--op", op, "--root", "p3", "--algo", algo,
                             "--size", "1MB")
                plan = self.p.plan(op, "p3", algo=algo, size=1e6,
                                   slice=None if algo == "auto" else 63.5 * 1024)
                self.assertEqual(plan.op, op)
                self.near(plan.makespan, theirs["makespan_s"])
                self.near(plan.throughput, theirs["throughput_Bps"])
                self.assertEqual([[list(edge) for edge in tree.edges] for tree in plan.trees],
                                 [[[edge[0], edge[-1]] for edge in tree["edges"]]
                                  for tree in theirs["trees"]])
                for tree, other in zip(plan.trees, theirs["trees"]):
                    self.near(tree.weight, other["weight"])

    def test_multicast_has_targets(self):
        plan = self.p.plan("multicast", "p3", targets=["p1", "p2"], size=1e6)
        reached = {edge[1] for tree in plan.trees for edge in tree.edges}
        self.assertLessEqual({"p1", "p2"}, reached)

    def test_plan_written_and_read(self):
        plan = self.p.plan(root="p3", algo="mtp", size=1e6)
        plan.write(self.plan_path)
        again = self.p.read_plan(self.plan_path)
        self.assertEqual(again.trees, plan.trees)
        other = espalier.Platform.from_matrix([[0, 1], [1, 0]])
        with self.assertRaises(espalier.EspalierError):
            other.read_plan(self.plan_path)

    def test_bound(self):
        theirs = ask("bound", self.path, "--root", "p3", "--what-if")
        bound = self.p.bound(root="p3", size=64e6, what_if=2)
        self.near(bound.throughput, theirs["throughput_Bps"])
        self.assertAlmostEqual(sum(share for _, share in bound.bottlenecks), 1, places=6)
        self.assertGreaterEqual(len(bound.what_if), 2)
        self.assertTrue(all(gain > 0 and "%" in text for text, gain in bound.what_if))
        self.assertTrue(0 < len(bound.cut) < 10)
        best = self.p.plan(root="p3", size=64e6)
        self.assertGreaterEqual(best.makespan, bound.makespan * (1 - 1e-9))
        self.assertGreater(self.p.bound("allgather").throughput, 0)

    def test_simulation(self):
        plan = self.p.plan(root="p3", algo="mtp", size=1e6, slice=65536)
        plan.write(self.plan_path)
        fault = "link:{}:{}@1ms=0.1".format(*plan.trees[0].edges[0])
        theirs = ask("simulate", self.path, self.plan_path, "--size", "1MB", "--fault",
                     fault)
        run = plan.simulate(faults=[fault], transfers=True)
        self.near(run.makespan, theirs["makespan_s"])
        self.assertEqual(run.lost, len(theirs["lost"]) if isinstance(theirs["lost"], list)
                         else theirs["lost"])
        self.assertTrue(run.transfers)
        self.near(max(t.end for t in run.transfers if not t.lost), run.makespan)
        whole = plan.simulate()
        self.assertLess(whole.makespan, run.makespan)
        stopped = plan.simulate(faults=["node:p1@0"])
        self.assertEqual(stopped.delivered["p1"], float("inf"))
        self.near(max(whole.delivered.values()), whole.makespan)
        self.assertTrue(all(0 <= r[2] <= 1 + 1e-9 for r in whole.resources))
        slow = espalier.Platform.build(
            self.p.nodes, [(l.source, l.target, l.bandwidth / 2) for l in self.p.links])
        self.near(plan.simulate(reality=slow).makespan, 2 * whole.makespan)
        with self.assertRaises(espalier.EspalierError):
            plan.simulate(faults=["nothing"])

    def test_pictures(self):
        for picture in (self.p._repr_svg_(), self.p.plan(root="p3", algo="mtp")._repr_svg_()):
            document = xml.dom.minidom.parseString(picture)
            self.assertEqual(document.documentElement.tagName, "svg")
            for host in ("p3", "p9"):
                self.assertIn(f">{host}<", picture)
        self.assertIn("&lt;i&gt;", self.p.svg("<i>"))

    def test_a_plan_outlives_the_name_of_its_platform(self):
        plan = espalier.Platform.read(self.path).plan(root="p3", algo="fnf")
        gc.collect()
        self.assertEqual(plan.root, "p3")
        self.assertGreater(plan.simulate().makespan, 0)


class Arguments(Case):
    """What is of no use is refused by name, and nothing crashes."""

    def refused(self, argument, call, /, *args, **named):
        with self.assertRaises(TypeError) as caught:
            call(*args, **named)
        self.assertIn(f"{argument}: ", str(caught.exception))

    def test_of_platforms(self):
        build, matrix = espalier.Platform.build, espalier.Platform.from_matrix
        for bad in (None, 7, "p", object(), ctypes.c_void_p()):
            self.refused("handle", espalier.Platform, bad)
        self.refused("path", espalier.Platform.read, None)
        self.refused("format", espalier.Platform.read, self.path, format=1)
        self.refused("model", espalier.Platform.read, self.path, model=3)
        self.refused("link_speed", espalier.Platform.read, self.path, link_speed="1")
        self.refused("text", espalier.Platform.parse, b"{}")
        self.refused("nodes", build, "ab", [])
        self.refused("nodes", build, 5, [])
        self.refused("nodes", build, [1, 2], [])
        self.refused("name of a node", build, [{"site": "s"}], [])
        self.refused("send", build, [{"name": "a", "send": "1s"}], [])
        self.refused("links", build, ["a"], 4)
        self.refused("links", build, ["a", "b"], ["ab"])
        self.refused("node", build, ["a", "b"], [("a", ["b"], 1e8)])
        self.refused("bandwidth", build, ["a", "b"], [("a", "b", "1e8")])
        self.refused("latency", build, ["a", "b"], [("a", "b", 1e8, None)])
        self.refused("name", build, ["a"], [], name=None)
        self.refused("shared", build, ["a"], [], shared=[(1, 1e8, [])])
        self.refused("bandwidth", matrix, 7)
        self.refused("bandwidth", matrix, [["x"]])
        self.refused("latency", matrix, [[0]], 1)
        self.refused("names", matrix, [[0]], names="a")
        self.refused("graph", espalier.Platform.from_networkx, [[0, 1], [1, 0]])
        self.refused("path", self.p.write, 3.5)
        self.refused("title", self.p.svg, 7)
        with self.assertRaisesRegex(ValueError, "links: .* one has 2"):
            build(["a", "b"], [("a", "b")])

    def test_of_questions(self):
        for ask_for in (self.p.plan, self.p.bound):
            self.refused("operation", ask_for, 3)
            self.refused("node", ask_for, root=1.5)
            self.refused("node", ask_for, root=True)
            self.refused("targets", ask_for, "multicast", targets="p1")
            self.refused("targets", ask_for, "multicast", targets=4)
            self.refused("size", ask_for, size="64MB")
            self.refused("slice", ask_for, slice=[1])
        self.refused("algo", self.p.plan, algo=None)
        self.refused("seed", self.p.plan, seed=1.5)
        self.refused("budget", self.p.plan, budget="1s")
        self.refused("what_if", self.p.bound, what_if="3")
        self.refused("time_limit", self.p.bound, time_limit="1s")
        self.refused("path", self.p.read_plan, None)
        self.refused("operation", espalier.algorithms, None)
        self.refused("platform", espalier.algorithms, "bcast", "p.json")

    def test_of_plans(self):
        plan = self.p.plan(algo="flat")
        self.refused("platform", espalier.Plan, None, plan._handle)
        for bad in (None, 7, ctypes.c_void_p(), _library.POINTER(_library.Plan)()):
            self.refused("handle", espalier.Plan, self.p, bad)
        self.refused("reality", plan.simulate, reality="q.json")
        self.refused("sharing", plan.simulate, sharing=["fluid"])
        self.refused("faults", plan.simulate, faults="node:p1@1s")
        self.refused("faults", plan.simulate, faults=[1])
        self.refused("size", plan.simulate, size="1")
        self.refused("budget", plan.simulate, budget="1s")
        with self.assertRaisesRegex(espalier.EspalierError, "hosts had everything"):
            plan.simulate(slice=1000, budget=1e-9)
        with self.assertRaisesRegex(ValueError, "faults"):
            plan.simulate(faults=["node:p1@1s\0"])


class Library(unittest.TestCase):
    def test_version_and_algorithms(self):
        self.assertRegex(espalier.version(), r"^\d+\.\d+\.\d+$")
        theirs = {one["name"] for one in ask("algorithms")}
        self.assertLessEqual(set(espalier.algorithms()), theirs)
        self.assertIn("mtp", espalier.algorithms())
        self.assertNotIn("mtp", espalier.algorithms("allgather"))

    def test_sizes_are_those_of_the_library(self):
        """Options that the library fills to their end, and not beyond."""
        for kind, fill in ((_library.SimOptions, _library.lib.esp_sim_options_defaults_sized),
                           (_library.BoundOptions,
                            _library.lib.esp_bound_options_defaults_sized)):
            both = (kind * 2)()
            fill(both, _library.ctypes.sizeof(kind))
            self.assertEqual(both[0].size, _library.ctypes.sizeof(kind))
            self.assertEqual(bytes(both)[_library.ctypes.sizeof(kind):],
                             bytes(_library.ctypes.sizeof(kind)))


if __name__ == "__main__":
    unittest.main()
