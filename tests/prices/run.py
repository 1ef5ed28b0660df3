#!/usr/bin/env python3
"""Plans by price of random clouds, as the program prints them, judged by check.py; and
fronts: they fall, and their ends are the two single optima. Single questions agree.

usage: run.py ESPALIER"""
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DRAWS = 3
ASKED = [
    ["--minimize", "cost"],
    ["--minimize", "cost", "--partitions", "10"],
    ["--minimize", "cost", "--partitions", "3", "--machines", "1"],
    ["--minimize", "time"],
    ["--minimize", "cost", "--hour-worth", "50"],
]


def draw_table(path, rng):
    sites = [f"{cloud}:r{i}" for cloud in ("aws", "gcp", "azure") for i in range(4)]
    with open(path, "w") as file:
        file.write("from,to,throughput_bps,usd_per_GB\n")
        for u in sites:
            for v in sites:
                if u != v:
                    usd = rng.choice([0.01, 0.02, 0.05] if u[:2] == v[:2] else [0.08, 0.09, 0.12])
                    file.write(f"{u},{v},{rng.randint(2 * 10**8, 9 * 10**9)},{usd}\n")
    return sites


def ask(espalier, *words):
    done = subprocess.run([espalier, *words, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def same(a, b, near=1e-5):
    return abs(a - b) <= near * max(abs(a), abs(b))


def judge(folder, plan):
    path = os.path.join(folder, "plan.json")
    with open(path, "w") as file:
        json.dump(plan, file)
    subprocess.run([os.path.join(HERE, "check.py"), os.path.join(folder, "p.json"), path], check=True)


def judge_file(folder, ends):
    """The plan that -o writes, machines and all, costs and takes what was said."""
    path = os.path.join(folder, "file.json")
    plan = ask(ends[0], "plan", *ends[1:], "--minimize", "cost", "--partitions", "10", "-o", path)
    told = subprocess.run([os.path.join(HERE, "check.py"), os.path.join(folder, "p.json"), path],
                          stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    assert same(float(told[0]), plan["usd"]) and float(told[2]) <= plan["time_s"] * 1.00001, (told, plan)


def ask_alone(espalier, folder, ends):
    """Each question by itself: a later deadline never costs more, a larger budget is never
    slower, to the last digit."""
    def plan(*asked):
        answer = ask(espalier, "plan", *ends, "--partitions", "10", *asked)
        judge(folder, answer)
        return answer

    fastest = plan("--minimize", "time")
    within = [plan("--minimize", "cost", "--deadline", repr(fastest["time_s"] * times))
              for times in (1, 1.1, 1.4)] + [plan("--minimize", "cost")]
    for tight, wide in zip(within, within[1:]):
        assert tight["usd"] >= wide["usd"], (tight["usd"], wide["usd"])
    usd = [within[-1]["usd"], within[1]["usd"], within[0]["usd"]]
    for_money = [plan("--minimize", "time", "--budget", f"{money!r}usd") for money in usd]
    for tight, wide in zip(for_money, for_money[1:]):
        assert tight["time_s"] >= wide["time_s"], (tight["time_s"], wide["time_s"])
    assert for_money[-1]["time_s"] == fastest["time_s"], (for_money[-1], fastest)


def try_one(espalier, folder, rng, alone):
    table, platform = os.path.join(folder, "links.csv"), os.path.join(folder, "p.json")
    sites = draw_table(table, rng)
    limits = "aws=5Gbps/10Gbps,gcp=7Gbps/16Gbps,azure=16Gbps/16Gbps"
    subprocess.run([espalier, "import", table, "--site-limits", limits, "--machines", "4",
                    "--usd-per-hour", "0.54", "-o", platform], stdout=subprocess.DEVNULL, check=True)
    rng.shuffle(sites)
    ends = [platform, "--op", "multicast", "--size", "300GB", "--root", sites[0],
            "--targets", ",".join(sites[1:rng.randint(2, 6)])]
    plans = [ask(espalier, "plan", *ends, *asked) for asked in ASKED]
    cheapest, fastest = plans[0], plans[3]
    middle = (cheapest["time_s"] * fastest["time_s"]) ** 0.5
    plans.append(ask(espalier, "plan", *ends, "--minimize", "cost", "--deadline", repr(middle)))
    money = (cheapest["usd"] + fastest["usd"]) / 2
    plans.append(ask(espalier, "plan", *ends, "--minimize", "time", "--budget", f"{money!r}usd"))
    for plan in plans:
        judge(folder, plan)
    judge_file(folder, [espalier, *ends])
    if alone:
        ask_alone(espalier, folder, ends)
    front = ask(espalier, "compare", *ends, "--front", "--points", "4")
    for a, b in zip(front, front[1:]):
        assert a["usd"] >= b["usd"] and a["time_s"] <= b["time_s"], front
    assert same(front[0]["time_s"], fastest["time_s"]), (front, fastest["time_s"])
    assert front[-1]["usd"] <= cheapest["usd"] * 1.000001, (front, cheapest["usd"])
    for a, b in zip(front, front[1:]):
        assert a["bound_usd"] >= b["bound_usd"], front
    assert all(p["usd"] >= p["bound_usd"] * 0.999999 for p in front), front


def main():
    seed = os.environ.get("ESPALIER_TEST_SEED", "1")
    rng = random.Random(f"prices {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for i in range(DRAWS):
            try_one(sys.argv[1], folder, rng, i == 0)


if __name__ == "__main__":
    main()
