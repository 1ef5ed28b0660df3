"""Copies on this machine, agents started by tests/copy/rsh, for the test and the fault
campaign."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Bed:
    """A folder with a list of hosts, all of them this machine."""

    def __init__(self, build, n, names=None):
        build = os.path.abspath(build)
        self.espalier = os.path.join(build, "espalier")
        self.bad = os.path.join(build, "tests", "copy_bad_agent")
        self.dir = tempfile.mkdtemp(prefix="espalier-copy-")
        self.hosts = list(names) if names else [f"h{i}" for i in range(n)]
        self.pids = os.path.join(self.dir, "pids")
        os.mkdir(self.pids)
        self.address = {h: "127.0.0.1" for h in self.hosts}
        os.environ["XDG_STATE_HOME"] = self.path("state")  # where copies keep what they learn

    def done(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def here(self):
        """Words before a command of the host that gives."""
        return []

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def folder(self, host):
        return self.path("out", host)

    def forget(self):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        self.forget_pids()

    def forget_pids(self):
        for name in os.listdir(self.pids):
            os.remove(os.path.join(self.pids, name))

    def write_list(self, name, hosts):
        with open(self.path(name), "w") as file:
            file.writelines(f"{h} {self.address[h]}\n" for h in hosts)

    def start(self, words, to="", full=(), bad=(), far=(), relays=(), stdin=None, patience=10):
        self.write_list("hosts", [h for h in self.hosts if h not in relays])
        self.write_list("relays", relays)
        line = [*self.here(), self.espalier, "cp", *words, "--json", "--patience", str(patience),
                "--to", self.path("hosts") + ":" + self.path("out", "{host}") + to,
                "--rsh", os.path.join(HERE, "rsh"), "--agent", self.espalier]
        line += ["--relay", self.path("relays")] if relays else []
        env = dict(os.environ, COPY_PIDS=self.pids, COPY_FULL=" ".join(full),
                   COPY_BAD=" ".join(bad), COPY_BAD_AGENT=self.bad, COPY_FAR=" ".join(far))
        return subprocess.Popen(line, env=env, cwd=self.dir, stdin=stdin or subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def copy(self, words, **more):
        return self.end(self.start(words, **more))

    @staticmethod
    def end(job):
        out, err = job.communicate(timeout=300)
        try:
            answer = json.loads(out)
        except ValueError:
            answer = {"hosts": []}
        return job.returncode, {h["name"]: h for h in answer["hosts"]}, err, answer

    def pid(self, host):
        """Of the host's agent, once it is there."""
        path = os.path.join(self.pids, host)
        for _ in range(1000):
            if os.path.exists(path):
                with open(path) as file:
                    text = file.read().strip()
                if text:
                    return int(text)
            time.sleep(0.01)
        raise RuntimeError(f"no agent on {host}")

    def wait_for_begin(self, host):
        """Until the host has begun to build its copy."""
        for _ in range(1000):
            if os.path.isdir(self.folder(host)) and os.listdir(self.folder(host)):
                return
            time.sleep(0.005)
        raise RuntimeError(f"{host} never began")

    def leftovers(self):
        """Files of copies that are not whole."""
        found = []
        for host in self.hosts:
            if os.path.isdir(self.folder(host)):
                found += [host + "/" + n for n in os.listdir(self.folder(host))
                          if n.startswith(".espalier-cp-")]
        return found

    def agents(self):
        """Agents of this bed that still run."""
        found = []
        for name in os.listdir(self.pids):
            if name not in self.hosts:
                continue
            pid = self.pid(name)
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if b"agent" in line:
                found.append(pid)
        return found


class NetBed(Bed):
    """The same with a network namespace for each host, one for the host that gives, and
    between them a bridge to which each has a cable of the same rate. All of it is gone
    with the process, which is to be run by own_world()."""

    def __init__(self, build, n, rate="40mbit", names=None):
        super().__init__(build, n, names)
        os.environ["COPY_SPACES"] = "1"
        self.address = {h: f"10.77.0.{i + 1}" for i, h in enumerate(self.hosts)}
        self.address["here"] = "10.77.0.250"
        ip("link add hub type bridge")
        ip("link set hub up")
        for name, address in self.address.items():
            ip(f"netns add {name}")
            ip(f"link add {name} type veth peer name eth0 netns {name}")
            ip(f"link set {name} master hub up")
            ip(f"-n {name} addr add {address}/24 dev eth0")
            ip(f"-n {name} link set eth0 up")
            ip(f"-n {name} link set lo up")
            subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf",
                            "rate", rate, "burst", "64kb", "latency", "200ms"], check=True)

    def here(self):
        return ["nsenter", "--net=/run/netns/here", "--"]

    def peers(self, host):
        """Those whom it has connections with just now."""
        lines = subprocess.run(["nsenter", f"--net=/run/netns/{host}", "--", "ss", "-Htn"],
                               capture_output=True, text=True).stdout
        return [n for n, a in sorted(self.address.items())
                if n != host and (f"{a}:" in lines or f"{a}]:" in lines)]

    def cut_way(self, a, b):
        """Nothing gets from one to the other any more, and nobody is told."""
        ip(f"-n {a} neigh replace {self.address[b]} lladdr 02:00:00:00:00:01 dev eth0 nud permanent")

    def cut_host(self, host):
        ip(f"link set {host} down")

    def mend(self):
        for name in self.address:
            ip(f"link set {name} up")
            ip(f"-n {name} neigh flush all nud permanent")


def ip(words):
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)


WORLD = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def own_world():
    """Goes on in namespaces of its own, where that is allowed; says whether it is."""
    if "COPY_WORLD" in os.environ:
        return True
    os.environ["PATH"] += ":/usr/sbin"
    tried = subprocess.run([*WORLD, "sh", "-c", "mount -t tmpfs none /run && ip netns add x && tc -V"],
                           capture_output=True)
    if os.getuid() != 0 or tried.returncode != 0:
        return False
    os.environ["COPY_WORLD"] = "1"
    os.execvp(WORLD[0], [*WORLD, "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "-",
                         sys.executable, *sys.argv])


def describe(path):
    """All that a copy has to keep of what is there, links between names included."""
    seen, found = {}, {}
    for base, dirs, files in os.walk(path):
        for name in sorted(dirs + files):
            full = os.path.join(base, name)
            s = os.lstat(full)
            what = [stat.S_IFMT(s.st_mode), s.st_mode & 0o777, s.st_mtime_ns]
            if stat.S_ISLNK(s.st_mode):
                what = [what[0], os.readlink(full)]
            elif stat.S_ISREG(s.st_mode):
                with open(full, "rb") as file:
                    what += [s.st_size, file.read()]
                if s.st_nlink > 1:
                    key = os.path.relpath(full, path)
                    what.append(seen.setdefault(s.st_ino, key))
            found[os.path.relpath(full, path)] = what
    return found


def same_file(a, b):
    if not os.path.exists(b):
        return False
    with open(a, "rb") as x, open(b, "rb") as y:
        while True:
            p, q = x.read(1 << 20), y.read(1 << 20)
            if p != q:
                return False
            if not p:
                return True
