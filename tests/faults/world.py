"""What a job of the fault campaign looks at and cleans up: processes, folders, mounts.

All that a job starts becomes a child of this process when its parent ends, so that nothing
can hide: whatever is below us is of the job, whatever its environment says."""

import ctypes
import os
import shutil
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36

spared = set()  # processes of a testbed, which is there for many jobs


def adopt_orphans():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


class Process:
    """One line of /proc, as it was when it was looked at."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/stat", "rb") as f:
            rest = f.read().rsplit(b") ", 1)[1].split()
        self.pid, self.state, self.parent = pid, rest[0].decode(), int(rest[1])
        self.words, self.exe = [], ""
        if self.state != "Z":
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                self.words = f.read().decode(errors="replace").split("\0")
            self.exe = os.readlink(f"/proc/{pid}/exe")

    def __str__(self):
        return f"{self.pid} ({self.state}, of {self.parent}) {' '.join(self.words)[:200]}"


def look_at(pid):
    try:
        return Process(pid)
    except (OSError, IndexError):
        return None  # it has just ended


def below_us():
    """All processes below this one that have not ended, by number."""
    everybody = [look_at(int(name)) for name in os.listdir("/proc") if name.isdigit()]
    children = {}
    for p in everybody:
        if p:
            children.setdefault(p.parent, []).append(p)
    found, waiting = {}, [os.getpid()]
    while waiting:
        for p in children.get(waiting.pop(), []):
            waiting.append(p.pid)
            if p.state != "Z" and p.pid not in spared:
                found[p.pid] = p
    return found


def reap(keep):
    """Takes leave of orphans that have ended; `keep` is waited for by others."""
    for p in [look_at(int(name)) for name in os.listdir("/proc") if name.isdigit()]:
        if p and p.parent == os.getpid() and p.state == "Z" and p.pid != keep:
            try:
                os.waitpid(p.pid, os.WNOHANG)
            except ChildProcessError:
                pass


def send(pid, number):
    """True: the process was there."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def end_all():
    """Kills all that is below us, by number, until nothing is; at most 20 times."""
    for _ in range(20):
        left = below_us()
        if not left:
            return
        for pid in left:
            send(pid, signal.SIGKILL)
        time.sleep(0.1)
        reap(0)


def gone_within(seconds):
    """Waits until nothing is below us; what is left."""
    end = time.monotonic() + seconds
    while True:
        reap(0)
        left = below_us()
        if not left or time.monotonic() > end:
            return list(left.values())
        time.sleep(0.05)


def backtraces(path):
    """Where everybody below us is, for those who look for a hang."""
    with open(path, "w", encoding="utf-8") as out:
        for p in below_us().values():
            out.write(f"=== {p}\n")
            out.flush()
            if not shutil.which("gdb"):
                continue
            try:
                subprocess.run(["gdb", "-p", str(p.pid), "-batch", "-ex",
                                "thread apply all bt 25"], stdout=out,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               timeout=30, check=False)
            except subprocess.TimeoutExpired:
                pass


def mount_small(folder):
    """A disk of 256 KiB on that folder; False: we may not make one."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "faults", folder],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def unmount(folder):
    subprocess.run(["umount", "-l", folder], stderr=subprocess.DEVNULL, check=False)
