"""One job of the fault campaign: a soak under `espalier run`, and what became of it."""

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import world

WATCHDOG_S = 60
GONE_S = 20  # that what is left of a job has to end in
HOSTS = "s1-c1-h1,s1-c1-h2,s2-c2-h1,s2-c2-h2"
RANKS = 4

# A rank that cannot take part says so, and the job ends.
TOLD = re.compile(r"^espalier: rank \d+ .* in an? [a-z]+ in which others wait for it: "
                  r"the job ends", re.M)


def read_text(path):
    """What a file holds, if it is one: /dev/full has no end."""
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read(1 << 26)


class Setup:
    """What all jobs of a campaign share."""

    def __init__(self, build, mpi):
        self.build, self.mpi = build, mpi
        self.espalier = f"{build}/espalier"
        self.soak = f"{build}/tests/mpi/mpi_soak_{mpi}"
        self.trial = f"{build}/tests/mpi/libmpi_trial_{mpi}.so"
        other = "mpich" if mpi == "openmpi" else "openmpi"
        self.shim = f"{build}/src/mpi/libespalier-{mpi}.so"
        self.other_shim = f"{build}/src/mpi/libespalier-{other}.so"
        self.clocks = f"{build}/tests/faults/libfaults_clocks.so"
        self.polite = f"{build}/tests/mpi/libmpi_polite.so"
        self.bed = None  # the name of a testbed, once there is one


class Job:
    def __init__(self, setup, name, rng):
        self.setup, self.name, self.rng = setup, name, rng
        self.folder = tempfile.mkdtemp(prefix="faults-")
        for sub in ("tmp", "data", "mpi"):
            os.mkdir(f"{self.folder}/{sub}")
        self.tmp, self.platform = f"{self.folder}/tmp", f"{self.folder}/data/p.json"
        self.err_path = f"{self.folder}/err"
        self.preload = [setup.polite] if setup.mpi == "mpich" else []
        self.env = dict(os.environ)
        self.options = ["--adapt"]  # of espalier run
        self.parts = None           # programs of the command line; None: one for all
        self.program = [setup.soak]
        self.on_bed = False
        self.small_disk = False
        self.ours = set()           # files of the campaign in the folder for ours
        self.events = []
        self.process = None
        self.expect_killed = False  # espalier run itself
        self.may_tell = False       # a rank is to run out of memory
        self.native_codes = set()   # by which the launcher itself ends at such a fault
        self.injected = {}          # by kind
        self.draw()

    def draw(self):
        """What every job has of its own, whatever goes wrong in it."""
        rng = self.rng
        self.env.update({
            "TMPDIR": self.tmp,
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_mpi_yield_when_idle": "1",
            # What Open MPI leaves when it is killed is its own.
            "OMPI_MCA_orte_tmpdir_base": f"{self.folder}/mpi",
            "SOAK_SEED": str(rng.randrange(1, 10**6)), "SOAK_CALLS": "1000000",
            "SOAK_THREADS": str(rng.choice([1, 1, 2])),
            "SOAK_MAX": str(rng.choice([1 << 12, 1 << 16, 1 << 18])),
            "SOAK_PAUSE_MS": str(rng.choice([0, 20, 100])),
            "SOAK_BEGUN": f"{self.folder}/begun", "SOAK_STOP": f"{self.folder}/stop"})
        if rng.random() < 0.7:
            self.options += ["--mode", "force"]
        if rng.random() < 0.3:
            self.env["ESPALIER_PATIENCE"] = rng.choice(["1e-6", "1"])
        if rng.random() < 0.2:
            self.env["ESPALIER_ALGO"] = rng.choice(["chain", "binomial", "two-tree"])

    # ---- its life ----

    def run_quietly(self, *words):
        subprocess.run(words, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                       timeout=WATCHDOG_S, check=True)

    def make_platform(self):
        words = [self.setup.espalier, "generate", "sites", "--sites", "2", "--clusters",
                 "1", "--hosts", "2"]
        if self.on_bed:
            words += ["--switches", "--lan-bandwidth", "20MB/s", "--site-bandwidth",
                      "50MB/s", "--wan-bandwidth", "10MB/s"]
        self.run_quietly(*words, "-o", self.platform)

    def launcher(self):
        if self.on_bed:
            folder = f"/run/espalier-testbed/{self.setup.bed}"
            name = "mpirun.openmpi" if self.setup.mpi == "openmpi" else "mpiexec.mpich"
            return [f"{folder}/{name}"]
        if self.setup.mpi == "openmpi":
            return ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
        return ["mpiexec.mpich"]

    def command(self):
        words = [self.setup.espalier, "run", *self.options, "-p", self.platform]
        if not self.on_bed:
            words += ["--hosts", HOSTS]
        words += ["--", *self.launcher()]
        for i, part in enumerate(self.parts or [(RANKS, self.program)]):
            words += ([":"] if i else []) + ["-n", str(part[0]), *part[1]]
        return words

    def start(self):
        env = self.env
        if self.on_bed:
            for name in ("OMPI_MCA_btl", "OMPI_MCA_orte_tmpdir_base"):
                env.pop(name)
            self.preload = []
        if self.preload:
            env["LD_PRELOAD"] = ":".join(self.preload)
        if not os.path.exists(self.platform):
            self.make_platform()
        words = self.command()
        with open(f"{self.folder}/command", "w", encoding="utf-8") as f:
            f.write(" ".join(words) + "\n")
            f.writelines(f"{k}={v}\n" for k, v in env.items()
                         if k.startswith(("SOAK", "ESPALIER", "CLOCKS", "LD_", "TMPDIR")))
        with open(f"{self.folder}/out", "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(words, env=env, stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, cwd=self.folder)
        self.note("started")

    def note(self, what):
        self.events.append(f"{time.monotonic():.3f} {what}")

    def alive(self):
        return self.process.poll() is None

    def await_begun(self):
        """True: the soak calls; False: it ended before, or a minute has passed."""
        end = time.monotonic() + WATCHDOG_S
        while self.alive() and time.monotonic() < end:
            if os.path.exists(f"{self.folder}/begun"):
                return True
            time.sleep(0.02)
        return False

    def rest(self, least_s, most_s):
        """A random moment later; False: the job has ended meanwhile."""
        end = time.monotonic() + self.rng.uniform(least_s, most_s)
        while self.alive() and time.monotonic() < end:
            time.sleep(min(0.02, max(0.0, end - time.monotonic())))
        return self.alive()

    def count(self, kind, n=1):
        self.injected[kind] = self.injected.get(kind, 0) + n

    # ---- who is who ----

    def roles(self):
        """run, launcher, advisor, ranks, probers: their numbers."""
        run = self.process.pid
        roles = {"run": [run], "launcher": [], "advisor": [], "rank": [], "prober": []}
        for p in world.below_us().values():
            if p.parent == run and p.exe == self.setup.espalier:
                if p.words[1:2] == ["advise"]:
                    roles["advisor"].append(p.pid)
            elif p.parent == run:
                roles["launcher"].append(p.pid)
            elif os.path.basename(p.exe) == "espalier-prober":
                roles["prober"].append(p.pid)
            elif p.exe == self.setup.soak:
                roles["rank"].append(p.pid)
        return {role: sorted(pids) for role, pids in roles.items()}

    def advice(self):
        """The folder of the advisor; None: there is none."""
        for name in os.listdir(self.tmp):
            if re.fullmatch(r"espalier-\w{6}", name):
                return f"{self.tmp}/{name}"
        return None

    # ---- its end ----

    def finish(self):
        """Lets the soak end. Gives (verdict, why); verdicts: right, error, ended, wrong,
        odd, hang."""
        open(f"{self.folder}/stop", "w", encoding="utf-8").close()
        self.note("stop")
        try:
            self.process.wait(WATCHDOG_S)
        except subprocess.TimeoutExpired:
            world.backtraces(f"{self.folder}/hang")
            return "hang", f"it did not end within {WATCHDOG_S} s"
        self.note(f"ended with {self.process.returncode}")
        return self.judge()

    def judge(self):
        status = self.process.returncode
        out, err = read_text(f"{self.folder}/out"), read_text(self.err_path)
        if "not so" in err:
            return "wrong", "wrong bytes"
        if status == -signal.SIGKILL and self.expect_killed:
            return "ended", ""
        if status == 0 and out == "ok\n":
            return "right", ""
        if status in self.native_codes or (self.may_tell and TOLD.search(err)):
            return "error", ""
        return "odd", f"exit status {status}, standard output {out[:80]!r}"

    def leftovers(self):
        """What is left of it, in words."""
        left = [f"process {p}" for p in world.gone_within(GONE_S)]
        if left:
            world.backtraces(f"{self.folder}/left")
        world.end_all()
        for folder, names, files in os.walk(self.tmp):
            left += [f"in TMPDIR: {name}" for name in names + files
                     if f"{folder}/{name}" not in self.ours]
        left += [f"beside the platform: {name}" for name in os.listdir(f"{self.folder}/data")
                 if name.startswith("espalier")]
        return left

    def clear(self, keep_in):
        """Takes its folder away, or puts it there."""
        if keep_in:
            with open(f"{self.folder}/events", "w", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in self.events)
        if keep_in:
            os.makedirs(keep_in, exist_ok=True)
            for name in os.listdir(self.folder):
                path = f"{self.folder}/{name}"
                if stat.S_ISREG(os.lstat(path).st_mode):
                    shutil.copy(path, keep_in)
            with open(f"{keep_in}/left-files", "w", encoding="utf-8") as f:
                subprocess.run(["find", self.folder, "-ls"], stdout=f, check=False)
            if os.path.dirname(self.err_path) == self.tmp and os.path.exists(self.err_path):
                shutil.copy(self.err_path, f"{keep_in}/err")
        if self.small_disk:
            world.unmount(self.tmp)
        shutil.rmtree(self.folder, ignore_errors=True)
