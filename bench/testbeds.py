"""Testbeds of random networks, for bench/family and bench/choice."""
import json
import math
import os
import subprocess
import sys
import time

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}


def change_rates(path, new):
    """Of a platform's file; what they were."""
    with open(path) as file:
        platform = json.load(file)
    parts = platform["links"] + platform["shared"]
    old = [part["bandwidth_Bps"] for part in parts]
    for part in parts:
        part["bandwidth_Bps"] = new(part["bandwidth_Bps"])
    with open(path, "w") as file:
        json.dump(platform, file)
    return old


class Testbeds:
    """One testbed of a name at a time, and what is run on it."""

    def __init__(self, name, build, out):
        self.name = name
        self.build = os.path.realpath(build)
        self.espalier = os.path.join(self.build, "espalier")
        self.out = os.path.realpath(out)
        os.makedirs(self.out, exist_ok=True)

    def path(self, *parts):
        return os.path.join(self.out, *parts)

    def run(self, *words, timeout=300, stderr="log"):
        with open(self.path(stderr), "a") as log:
            log.write(" ".join(words) + "\n")
            log.flush()
            return subprocess.run(
                words, stdout=subprocess.PIPE, stderr=log, text=True, timeout=timeout
            )

    def answer(self, *words):
        at = words.index("--") if "--" in words else len(words)
        done = self.run(self.espalier, *words[:at], "--json", *words[at:])
        if done.returncode:
            sys.exit("espalier %s failed, see %s" % (words[0], self.path("log")))
        return json.loads(done.stdout)

    # ---- networks ----

    def generate(self, kind, seed, hosts, path):
        """"equal" has equal hosts on one switch, "sites" are linked host to host; all else
        is random."""
        if kind == "sites":
            self.answer("generate", "sites", "--sites", "3", "--clusters", "2", "--hosts",
                        str(max(hosts // 6, 1)), "--spread", "2", "--seed", seed, "-o", path)
            return
        words = ["--kind", kind, "--seed", seed]
        if kind == "equal":
            words = ["--kind", "flat", "--noise", "0", "--bandwidth-min", "10MB/s",
                     "--bandwidth-max", "10MB/s"]
        self.answer("generate", "measured", *words, "--hosts", str(hosts), "-o", path)

    def draw(self, kind, seed, hosts, rate):
        """No broadcast gets more than the rate: all rates are scaled alike."""
        true = self.path("true-%s-%s.json" % (kind, seed))
        self.generate(kind, seed, hosts, true)
        factor = rate / self.answer("bound", true)["throughput_Bps"]
        change_rates(true, lambda old: old * factor)
        return true

    def draw_near(self, kind, seed, hosts, fastest, span):
        """The fastest rate is given, and how many times the slowest that is at most; the
        others lie between as they were drawn, on a scale of ratios."""
        true = self.path("true-%s-%s.json" % (kind, seed))
        self.generate(kind, seed, hosts, true)
        rates = change_rates(true, lambda old: old)
        ratio = max(rates) / min(rates)
        power = min(1, math.log(span) / math.log(ratio)) if ratio > 1 else 1
        change_rates(true, lambda old: fastest * (old / max(rates)) ** power)
        return true

    def up(self, true):
        done = self.run(self.espalier, "testbed", "up", "--name", self.name, true)
        if done.returncode:
            sys.exit("%s: no testbed, see %s" % (true, self.path("log")))
        time.sleep(1)

    def down(self):
        self.run(self.espalier, "testbed", "down", "--name", self.name)

    def measure(self, file):
        measured = self.path(file)
        begin = time.monotonic()
        self.answer("measure", "-o", measured, "--samples", self.path(file + ".samples"),
                    "--", "/run/espalier-testbed/%s/mpirun.openmpi" % self.name)
        print("%s measured in %.0f s" % (file, time.monotonic() - begin), file=sys.stderr)
        return measured

    # ---- ranks ----

    def testbed_run(self, mpi, *options):
        return [self.espalier, "testbed", "run", "--name", self.name, "--mpi", mpi,
                *options, "--"]

    def launcher(self, mpi, folder, *options):
        """Told by its name, with what belongs to it in it."""
        os.makedirs(self.path(folder), exist_ok=True)
        launcher = self.path(folder, LAUNCHERS[mpi])
        words = " ".join("'%s'" % word for word in self.testbed_run(mpi, *options))
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nexec %s "$@"\n' % words)
        os.chmod(launcher, 0o755)
        return launcher
