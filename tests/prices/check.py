#!/usr/bin/env python3
"""Recomputes what plans by price cost and take, from the list of their transfers.

usage: check.py PLATFORM PLANS...

PLATFORM is native JSON, or a table of links (CSV), to which the limits of one machine as
published with Cloudcast belong. A file of PLANS has what `espalier plan --minimize --json`
prints, or many such objects, one a line (`bench_prices`), or is the plan itself, as -o
writes it, of which price and time are computed and told; - is standard input. Shares no
code with espalier: neither readers nor model. Fails with a sentence where a plan is not
what it says it is."""
import csv
import json
import sys

NEAR = 1e-6
VM_OUT = {"aws": 5e9 / 8, "gcp": 7e9 / 8, "azure": 16e9 / 8}
VM_IN = {"aws": 10e9 / 8, "gcp": 16e9 / 8, "azure": 16e9 / 8}
VM_HOUR = 0.54


class Network:
    """rate and price of links, ports of one machine at nodes, other cables"""

    def __init__(self):
        self.links, self.out, self.into, self.cables = {}, {}, {}, []
        self.hour, self.most = {}, {}

    def add_cable(self, rate, links):
        tails, heads = {u for u, _ in links}, {v for _, v in links}
        if len(links) == 1:
            r, usd = self.links[links[0]]
            self.links[links[0]] = (min(r, rate), usd)
        elif len(tails) == 1:
            self.out.setdefault(tails.pop(), []).append((rate, set(links)))
        elif len(heads) == 1:
            self.into.setdefault(heads.pop(), []).append((rate, set(links)))
        else:
            self.cables.append((rate, set(links)))


def read_csv(path):
    net = Network()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            u, v = row["from"], row["to"]
            net.links[u, v] = (float(row["throughput_bps"]) / 8, float(row["usd_per_GB"]))
    for v in {v for link in net.links for v in link}:
        cloud = v.split(":")[0]
        net.hour[v], net.most[v] = VM_HOUR, 4
        net.out[v] = [(VM_OUT[cloud], {link for link in net.links if link[0] == v})]
        net.into[v] = [(VM_IN[cloud], {link for link in net.links if link[1] == v})]
    return net


def read_json(path):
    net = Network()
    with open(path) as file:
        data = json.load(file)
    for node in data["nodes"]:
        net.hour[node["name"]] = node.get("usd_per_hour", 0)
        net.most[node["name"]] = node.get("max_count", 1)
    for link in data["links"]:
        ends = [(link["from"], link["to"])]
        if link.get("duplex"):
            ends.append((link["to"], link["from"]))
        for end in ends:
            net.links[end] = (link["bandwidth_Bps"], link.get("usd_per_GB", 0))
    for cable in data.get("shared", []):
        links = [tuple(link) for link in cable["links"]]
        for link in links:
            rate, usd = net.links[link]
            net.links[link] = (rate, usd + cable.get("usd_per_GB", 0))
        net.add_cable(cable["bandwidth_Bps"], links)
    return net


def fail(plan, text):
    sys.exit(f"check.py: plan {plan.get('seed', '')}: {text}")


def close(a, b):
    return abs(a - b) <= NEAR * max(1e-9, abs(a), abs(b))


def check_trees(plan):
    """Every target gets every byte once, and nobody sends what he does not have."""
    trees = {}
    for t in plan["transfers"]:
        trees.setdefault(t["tree"], []).append(t)
    total = 0
    for tree in trees.values():
        has, size = {plan["root"]}, tree[0]["bytes"]
        for t in tree:
            if t["from"] not in has:
                fail(plan, f"{t['from']} sends what it does not have")
            if t["to"] in has:
                fail(plan, f"{t['to']} gets the same bytes twice")
            if t["bytes"] != size:
                fail(plan, "transfers of one tree differ")
            has.add(t["to"])
        missing = set(plan["targets"]) - has
        if missing:
            fail(plan, f"{missing} are not reached")
        part = size / plan["size_bytes"]
        n = plan["partitions"]
        if n and abs(part * n - round(part * n)) > 1e-6:
            fail(plan, f"a tree has {part * n} partitions")
        total += size
    if not close(total, plan["size_bytes"]):
        fail(plan, f"{total} bytes of {plan['size_bytes']}")


def time_of(net, sent, machines):
    most = 0
    for (u, v), size in sent.items():
        most = max(most, size / net.links[u, v][0] / min(machines[u], machines[v]))
    for v, count in machines.items():
        for rate, links in net.out.get(v, []) + net.into.get(v, []):
            most = max(most, sum(sent.get(e, 0) for e in links) / rate / count)
    for rate, links in net.cables:
        most = max(most, sum(sent.get(e, 0) for e in links) / rate)
    return most


def check(net, plan):
    check_trees(plan)
    sent, machines = {}, {m["node"]: m["count"] for m in plan["machines"]}
    for t in plan["transfers"]:
        link = (t["from"], t["to"])
        sent[link] = sent.get(link, 0) + t["bytes"]
        if not machines.get(link[0]) or not machines.get(link[1]):
            fail(plan, f"no machine at an end of {link}")
    for v, count in machines.items():
        if not 1 <= count <= min(net.most[v], plan.get("max_machines") or 10**9):
            fail(plan, f"{count} machines at {v}")
    time_s = time_of(net, sent, machines)
    usd_bytes = sum(size / 1e9 * net.links[e][1] for e, size in sent.items())
    usd_machines = sum(n * net.hour[v] for v, n in machines.items()) * plan["time_s"] / 3600
    if time_s > plan["time_s"] * (1 + NEAR):
        fail(plan, f"takes {time_s} s, not {plan['time_s']}")
    for name, value in (("usd_bytes", usd_bytes), ("usd_machines", usd_machines)):
        if not close(value, plan[name]):
            fail(plan, f"{name} is {value}, not {plan[name]}")
    if plan["bound_usd"] is not None and usd_bytes + usd_machines < plan["bound_usd"] * (1 - NEAR):
        fail(plan, "is cheaper than what is said to be the cheapest")
    if plan.get("deadline_s") and plan["time_s"] > plan["deadline_s"] * (1 + 2 * NEAR):
        fail(plan, "is too late")
    if plan.get("budget_usd") and usd_bytes + usd_machines > plan["budget_usd"] * (1 + 2 * NEAR):
        fail(plan, "is too dear")


def from_file(net, data):
    """A plan as -o writes it, which says neither price nor time, as check() takes it."""
    nodes = {v for link in net.links for v in link}
    plan = {"root": data["root"], "size_bytes": data["size_bytes"], "partitions": 0,
            "targets": data.get("targets") or sorted(nodes - {data["root"]}),
            "machines": [{"node": v, "count": n} for v, n in data["machines"].items()],
            "transfers": [{"tree": i, "from": u, "to": v,
                           "bytes": tree["weight"] * data["size_bytes"]}
                          for i, tree in enumerate(data["trees"]) for u, v in tree["edges"]]}
    sent = {}
    for t in plan["transfers"]:
        sent[t["from"], t["to"]] = sent.get((t["from"], t["to"]), 0) + t["bytes"]
    plan["time_s"] = time_of(net, sent, data["machines"])
    plan["usd_bytes"] = sum(size / 1e9 * net.links[e][1] for e, size in sent.items())
    plan["usd_machines"] = (sum(n * net.hour[v] for v, n in data["machines"].items())
                            * plan["time_s"] / 3600)
    return plan


def plans_of(path):
    with sys.stdin if path == "-" else open(path) as file:
        text = file.read()
    at, decoder = 0, json.JSONDecoder()
    while at < len(text.rstrip()):
        while text[at].isspace():
            at += 1
        plan, at = decoder.raw_decode(text, at)
        yield plan


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    net = read_csv(sys.argv[1]) if sys.argv[1].endswith(".csv") else read_json(sys.argv[1])
    n = 0
    for path in sys.argv[2:]:
        for plan in plans_of(path):
            if "format" in plan:
                plan = from_file(net, plan)
                print(f"{plan['usd_bytes'] + plan['usd_machines']!r} USD {plan['time_s']!r} s")
            plan.setdefault("bound_usd", None)
            check(net, plan)
            n += 1
    print(f"{n} plans are what they say")


if __name__ == "__main__":
    main()
