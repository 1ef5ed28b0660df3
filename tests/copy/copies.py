"""Copies on this machine, agents started by tests/copy/rsh, for the test and the fault
campaign."""
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Bed:
    """A folder with a list of hosts, all of them this machine."""

    def __init__(self, build, n):
        build = os.path.abspath(build)
        self.espalier = os.path.join(build, "espalier")
        self.bad = os.path.join(build, "tests", "copy_bad_agent")
        self.dir = tempfile.mkdtemp(prefix="espalier-copy-")
        self.hosts = [f"h{i}" for i in range(n)]
        self.pids = os.path.join(self.dir, "pids")
        os.mkdir(self.pids)
        with open(os.path.join(self.dir, "hosts"), "w") as file:
            for host in self.hosts:
                file.write(f"{host} 127.0.0.1\n")

    def done(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def folder(self, host):
        return self.path("out", host)

    def forget(self):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        for name in os.listdir(self.pids):
            os.remove(os.path.join(self.pids, name))

    def start(self, words, to="", full=(), bad=(), stdin=None, patience=10):
        line = [self.espalier, "cp", *words, "--json", "--patience", str(patience),
                "--to", self.path("hosts") + ":" + self.path("out", "{host}") + to,
                "--rsh", os.path.join(HERE, "rsh"), "--agent", self.espalier]
        env = dict(os.environ, COPY_PIDS=self.pids, COPY_FULL=" ".join(full),
                   COPY_BAD=" ".join(bad), COPY_BAD_AGENT=self.bad)
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
            pid = self.pid(name)
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if b"agent" in line:
                found.append(pid)
        return found


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
