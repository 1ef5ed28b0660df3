"""The kinds of faults. Each has
    prepare(job)   before the job starts
    inject(job)    at a random moment; True: it happened, and the job was there before
and says how many belong into one job, and how long is waited between two."""

import os
import signal
import stat
import struct
import subprocess
import time

import world

WATCHDOG_S = 60


class Kind:
    name = ""
    per_job = (8, 12)      # faults of a job, from and to
    gap_s = (0.05, 0.5)    # between two
    early = 0.2            # the share of jobs in which they begin before the soak does

    def can_run(self, setup):
        """An excuse, or None."""
        return None

    def prepare(self, job):
        pass

    def inject(self, job):
        raise NotImplementedError

    def settle(self, job):
        """After the last one: what has to be undone for the job to end."""

    def tally(self, job):
        """For faults that the job notes itself: how many there were. None: inject tells."""
        return None


def kill_one(job, role, number=signal.SIGKILL):
    pids = job.roles()[role]
    if not pids:
        return False
    pid = job.rng.choice(pids)
    job.note(f"signal {number} to {role} {pid}")
    return job.alive() and world.send(pid, number)


class Advisor(Kind):
    """kill -9 of the advisor, which is started again after a second."""
    name = "advisor"
    per_job = (5, 8)
    gap_s = (0.0, 0.4)

    def inject(self, job):
        end = time.monotonic() + 5
        while job.alive() and time.monotonic() < end:
            if kill_one(job, "advisor"):
                return True
            time.sleep(0.05)
        return False


class Prober(Kind):
    """kill -9 of a prober; nobody starts another."""
    name = "prober"
    per_job = (4, 4)
    gap_s = (0.0, 0.3)
    early = 0.0

    def inject(self, job):
        return kill_one(job, "prober")


class Run(Kind):
    """kill -9 of espalier run itself, at any moment of its life."""
    name = "run"
    per_job = (1, 1)
    gap_s = (0.0, 1.0)
    early = 0.6

    def prepare(self, job):
        if job.rng.random() < 0.3:  # a plan in a file
            job.options += ["--algo", "mtp", "--shared", f"{job.folder}/data"]
            job.env.pop("ESPALIER_ALGO", None)

    def inject(self, job):
        job.expect_killed = True
        job.note("kill -9 of espalier run")
        return job.alive() and world.send(job.process.pid, signal.SIGKILL)


class Stop(Kind):
    """SIGSTOP: of ranks, for mostly short times, now and then of a helper."""
    name = "stop"
    per_job = (10, 14)
    gap_s = (0.0, 0.2)
    early = 0.0

    def inject(self, job):
        rng, roles = job.rng, job.roles()
        role = rng.choices(["rank", "advisor", "prober"], [8, 1, 1])[0]
        pids = roles[role]
        if not pids:
            return False
        victims = rng.sample(pids, rng.randint(1, len(pids)))
        seconds = rng.uniform(1, 10) if rng.random() < 0.05 else rng.expovariate(6)
        job.note(f"SIGSTOP of {role} {victims} for {seconds:.2f} s")
        hit = [pid for pid in victims if job.alive() and world.send(pid, signal.SIGSTOP)]
        if role == "advisor" and rng.random() < 0.3:
            return bool(hit)  # for good
        time.sleep(min(seconds, 10))
        for pid in hit:
            world.send(pid, signal.SIGCONT)
        return bool(hit) and job.alive()


class Links(Kind):
    """Links of a testbed that are cut or slowed for a while."""
    name = "links"
    per_job = (6, 10)
    gap_s = (0.0, 0.3)
    early = 0.0
    links = ("s1-router<>s2-router", "s1-router>s2-router", "s2-router>s1-router",
             "s1-c1-h1<>s1-c1-switch", "s1-c1-h2>s1-c1-switch", "s2-c2-h1<>s2-c2-switch",
             "s2-c2-switch>s2-c2-h2", "s1-c1-switch<>s1-router")

    def can_run(self, setup):
        if setup.bed:
            return None
        if os.geteuid() != 0:
            return "only root may make network namespaces"
        if subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            return "network namespaces are not allowed here"
        return None

    def prepare(self, job):
        job.on_bed = True
        job.env["SOAK_MAX"] = str(job.rng.choice([1 << 12, 1 << 15]))
        job.make_platform()
        if not job.setup.bed:
            job.setup.bed = f"faults_{job.setup.mpi}_{os.getpid()}"
            job.run_quietly(job.setup.espalier, "testbed", "up", "--name", job.setup.bed,
                            job.platform)
            world.spared.update(world.below_us())

    def bed(self, job, *words):
        return subprocess.run([job.setup.espalier, "testbed", words[0], "--name",
                               job.setup.bed, *words[1:]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=WATCHDOG_S, check=False).returncode == 0

    def inject(self, job):
        rng, link = job.rng, job.rng.choice(self.links)
        seconds = f"{min(3.0, 0.05 + rng.expovariate(3)):.2f}"
        if rng.random() < 0.5:
            words = ["cut", link, "for", seconds]
        else:
            words = ["load", link, rng.choice(["5MB/s", "9MB/s", "9.9MB/s"]), "for", seconds]
        job.note(" ".join(words))
        return job.alive() and self.bed(job, *words) and job.alive()

    def settle(self, job):
        for link in self.links:
            if "<>" in link:
                self.bed(job, "load", link, "0")


class Disk(Kind):
    """A full disk under logs, statistics and the advisor's folder."""
    name = "disk"
    gap_s = (0.0, 0.5)

    def prepare(self, job):
        rng = job.rng
        job.small_disk = world.mount_small(job.tmp)
        job.env["ESPALIER_STATS"] = rng.choice(["/dev/full", f"{job.tmp}/stats"])
        job.ours |= {f"{job.tmp}/{name}" for name in ("stats", "err", "filler")}
        if rng.random() < 0.6:
            job.options += ["--log", "debug"]
        if not job.small_disk or rng.random() < 0.2:
            job.err_path = "/dev/full"
        elif rng.random() < 0.5:
            job.err_path = f"{job.tmp}/err"
        # mpiexec of MPICH ends at once when it cannot pass on a line of a rank's:
        # mpiexec.mpich -n 1 sh -c 'echo x >&2; sleep 1; echo y >&2' 2>/dev/full
        if job.setup.mpi == "mpich" and os.path.dirname(job.err_path) != job.folder:
            job.native_codes.add(255)

    def inject(self, job):
        if not job.small_disk:
            return job.alive()  # all is written to /dev/full
        job.note("the disk fills up")
        filler = f"{job.tmp}/filler"
        if os.path.exists(filler):
            os.remove(filler)
            time.sleep(job.rng.uniform(0, 0.2))
        fd = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            for size in (4096, 1):
                while True:
                    os.write(fd, b"x" * size)
        except OSError:
            pass
        finally:
            os.close(fd)
        return job.alive()


class Files(Kind):
    """Files replaced, truncated, made unreadable, taken away."""
    name = "files"
    per_job = (10, 16)
    gap_s = (0.0, 0.4)
    early = 0.4

    def prepare(self, job):
        job.make_platform()
        with open(job.platform, "rb") as f:
            job.good = f.read()
        if job.rng.random() < 0.4:
            plan = f"{job.folder}/data/plan.json"
            job.run_quietly(job.setup.espalier, "plan", job.platform, "-a",
                            "grow", "-r", "s1-c1-h1", "-o", plan)
            job.options += ["--plan", plan]

    def targets(self, job):
        data, advice = f"{job.folder}/data", job.advice()
        found = [f"{data}/{name}" for name in os.listdir(data)]
        found += [job.platform]
        if advice:
            found += 2 * [f"{advice}/{name}" for name in os.listdir(advice)]
            found += [f"{advice}/advisor.sock", f"{advice}/plan-0-16.json", advice]
        return sorted(set(found))

    def take_away(self, path):
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.remove(path)

    def put(self, path, content, rng):
        fresh = f"{os.path.dirname(path)}/plan-fresh"
        with open(fresh, "wb") as f:
            f.write(content)
        os.chmod(fresh, rng.choice([0o600, 0o600, 0o666]))
        os.replace(fresh, path)

    def hurt(self, job, path):
        rng = job.rng
        how = rng.choice(["truncate", "garbage", "zeros", "remove", "dangling", "folder",
                          "fifo", "mode", "good", "half"])
        job.note(f"{how}: {os.path.relpath(path, job.folder)}")
        if how == "truncate" and stat.S_ISREG(os.lstat(path).st_mode):
            os.truncate(path, rng.randrange(os.path.getsize(path) + 1))
        elif how == "mode":
            os.chmod(path, rng.choice([0, 0o200, 0o666]))
        elif how in ("garbage", "zeros", "good", "half"):
            content = {"garbage": rng.randbytes(rng.randrange(5000)), "zeros": bytes(100000),
                       "good": job.good, "half": job.good[:len(job.good) // 2]}[how]
            self.put(path, content, rng)
        else:
            self.take_away(path)
            if how == "dangling":
                os.symlink("nowhere", path)
            elif how == "folder":
                os.mkdir(path)
            elif how == "fifo":
                os.mkfifo(path)

    def hurt_folder(self, job, path):
        """The folder itself: open to others, or elsewhere for a moment."""
        away = f"{job.tmp}/away"
        job.note("the advisor's folder")
        if job.rng.random() < 0.5:
            os.chmod(path, job.rng.choice([0o777, 0o000, 0o755]))
        else:
            os.rename(path, away)
            time.sleep(job.rng.uniform(0, 0.3))
            if not os.path.exists(path):
                os.rename(away, path)
            else:  # somebody made another one
                os.rename(away, f"{job.folder}/away")

    def inject(self, job):
        if not job.roles()["launcher"]:
            return False  # it may yet be looked at before anything runs
        path = job.rng.choice(self.targets(job))
        try:
            if path == job.advice():
                self.hurt_folder(job, path)
            else:
                self.hurt(job, path)
        except OSError as e:  # the advisor was quicker
            job.note(f"not done: {e}")
            return False
        return job.alive()

    def settle(self, job):
        advice = job.advice()
        if advice:
            os.chmod(advice, 0o700)


class Alloc(Kind):
    """Allocations that fail in one rank."""
    name = "alloc"
    per_job = (4, 8)
    gap_s = (0.1, 0.5)
    early = 0.0

    def prepare(self, job):
        rng = job.rng
        job.may_tell = True
        self.file = f"{job.folder}/tally"
        how = rng.choice(["", "+", "*", "*", "*"])
        n = rng.choice([rng.randrange(1, 300), rng.randrange(100, 5000)])
        job.program = ["env", "LD_PRELOAD=" + ":".join([job.setup.trial] + job.preload),
                       f"ESPALIER_FAIL_ALLOC={rng.randrange(4)}:{n}{how}",
                       f"ESPALIER_TRIAL_TALLY={self.file}", job.setup.soak]

    def inject(self, job):
        return job.alive()  # it goes wrong by itself

    def tally(self, job):
        return min(10, os.path.getsize(self.file)) if os.path.exists(self.file) else 0


class Clocks(Kind):
    """Clocks that jump, of all processes, each by its own."""
    name = "clocks"
    early = 0.5

    def prepare(self, job):
        self.file, self.jumps = f"{job.folder}/clocks", 0
        self.seed = job.rng.randrange(1 << 62)
        self.write()
        job.preload.append(job.setup.clocks)
        job.env["CLOCKS_FILE"] = self.file
        job.env["CLOCKS_STEADY_S"] = str(job.rng.choice([0, 1, 30, 4000]))

    def write(self):
        fd = os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(fd, struct.pack("=QQ", self.jumps, self.seed), 0)
        os.close(fd)

    def inject(self, job):
        job.note("all clocks jump")
        self.jumps += 1
        self.write()
        return job.alive()


class Odd(Kind):
    """Jobs in which some ranks are not as the others: each is a fault."""
    per_job = (1, 3)
    gap_s = (0.2, 0.6)
    early = 0.0

    def words(self, job):
        raise NotImplementedError

    def prepare(self, job):
        odd = set(job.rng.sample(range(4), job.rng.randint(1, 3)))
        self.n = len(odd)
        job.parts = [(1, (self.words(job) if r in odd else []) + [job.setup.soak])
                     for r in range(4)]

    def inject(self, job):
        return job.alive()

    def tally(self, job):
        return self.n


class Environment(Odd):
    """Ranks with another environment."""
    name = "environment"

    def words(self, job):
        return ["env"] + job.rng.choice([
            ["ESPALIER_MODE=off"], ["ESPALIER_MODE=force"], ["ESPALIER_MODE=nonsense"],
            ["ESPALIER_WINDOW=7"], ["ESPALIER_SLICE=1KiB"], ["ESPALIER_ALGO=chain"],
            ["ESPALIER_PLATFORM=/nowhere"], ["ESPALIER_HOSTS=a,b"],
            ["ESPALIER_ADVICE=/nowhere"], ["ESPALIER_ADVICE=/tmp"],
            ["ESPALIER_PROBER=/bin/true"], ["ESPALIER_PROBE=0"], ["ESPALIER_PATIENCE=0"],
            ["ESPALIER_STATS=/nowhere/stats"], ["-u", "ESPALIER_PLATFORM"],
            ["-u", "ESPALIER_ADVICE"], ["TMPDIR=/nowhere"], ["LC_ALL=tr_TR.UTF-8"],
            ["-u", "HOME", "-u", "PATH"], ["ESPALIER_LOG=debug"],
            ["ESPALIER_SLOW=*>*=1MBps"], ["ESPALIER_MIN=1"]])


class Version(Odd):
    """Ranks with another version of the shim, another shim, or none."""
    name = "version"

    def words(self, job):
        rest = job.preload
        trial, shim = job.setup.trial, job.setup.other_shim
        return ["env"] + job.rng.choice([
            ["-u", "LD_PRELOAD"] if not rest else ["LD_PRELOAD=" + ":".join(rest)],
            ["ESPALIER_TRIAL_VERSION=0.0.1", "LD_PRELOAD=" + ":".join([trial] + rest)],
            ["ESPALIER_TRIAL_VERSION=9.9.9", "LD_PRELOAD=" + ":".join([trial] + rest)],
            ["LD_PRELOAD=" + ":".join([trial] + rest)],
            ["ESPALIER_TRIAL_STORE=none", "LD_PRELOAD=" + ":".join([trial] + rest)],
            ["LD_PRELOAD=" + ":".join([shim] + rest)]])


class Mixed(Kind):
    """Several kinds in one job; each fault counts for its own."""
    name = "mixed"
    per_job = (12, 20)
    gap_s = (0.0, 0.3)
    early = 0.2

    def __init__(self):
        self.kinds = [Advisor(), Prober(), Stop(), Files(), Clocks()]

    def prepare(self, job):
        for kind in self.kinds:
            kind.prepare(job)

    def inject(self, job):
        kind = job.rng.choice(self.kinds)
        if kind.inject(job):
            job.count(kind.name)
        return False

    def settle(self, job):
        for kind in self.kinds:
            kind.settle(job)


# The share of all faults that each kind gets.
SHARES = {Advisor: 9, Prober: 8, Run: 6, Stop: 17, Links: 11, Disk: 11, Files: 14, Alloc: 8,
          Clocks: 10, Environment: 4, Version: 4, Mixed: 4}
