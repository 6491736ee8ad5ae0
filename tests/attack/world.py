"""What the attack tests share: a world of their own (mount, pid and cgroup
namespaces, /etc/passwd with alice and bob, a tmpfs with homes, programs, state
and sockets), the system's manager in it, and what to look at from outside. A
test leaves nothing behind: its processes and mounts end with its namespaces."""
import ctypes
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time

if "MORPH_ATTACK_WORLD" not in os.environ:  # before BUILD is resolved, while the path is still there
    os.environ["MORPH_BUILD"] = os.path.realpath(os.environ.get("MORPH_BUILD", "build"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../flow"))
from manager import *  # noqa: E402

TOP = "/media" if BUILD.startswith("/mnt/") else "/mnt"
HOMES = TOP + "/home"
USERS = {"root": 0, "morph": 64901, "morph-edit": 64902, "morph-monitor": 64903, "morph-fetch": 64904,
         "alice": 61001, "bob": 61002}
ALICE, BOB = USERS["alice"], USERS["bob"]
NOFILE = 1024  # descriptors of a service, as systemd gives them

POLICY = """
profile: {registers: no}
decide: {every: %s, min_samples: 200, min_coverage: 0%%, min_change: 5%%, min_gain: 0%%, cool_down: 0, hold: %s, edits_per_day: 100000}
idle: {cpu: 0, psi: 100%%, after: 0, battery: yes}
"""

# Answers with a word from a unit that no layout of the rest touches.
SPLIT = {"main.c": PROGRAM.replace('printf("%lu %lu\\n"', 'printf("%s %lu %lu\\n", auth()').replace(
    "#include <stdio.h>", "#include <stdio.h>\nconst char *auth(void);", 1),
    "auth.c": r"""
#include <stdio.h>
const char *auth(void)
{
	static char text[32];
	volatile unsigned v = 0x11111111;
	snprintf(text, sizeof text, "auth=%x", v);
	return text;
}
"""}


def enter():
    """Begins the world: this program once more, in namespaces of its own."""
    if os.geteuid():
        skip("needs root")
    if "MORPH_ATTACK_WORLD" not in os.environ:
        into = ["unshare", "-m", "-p", "-f", "-C", "--mount-proc", "--kill-child"]
        r = subprocess.run([*into, "true"], capture_output=True, text=True)
        if r.returncode:
            skip("needs mount, pid and cgroup namespaces of its own: " + r.stderr.strip())
        os.environ["MORPH_ATTACK_WORLD"] = "1"
        os.execvp("unshare", [*into, sys.executable, os.path.realpath(sys.argv[0]), *sys.argv[1:]])
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "none", TOP],
                      capture_output=True).returncode:
        skip("cannot mount a tmpfs")
    for name, line in ("passwd", "{0}:x:{1}:{1}::{2}/{0}:/bin/sh\n"), ("group", "{0}:x:{1}:\n"):
        known = "|".join(u for u in USERS if u != "root")
        kept = [l for l in open("/etc/" + name) if not re.match(f"({known}):", l)]
        with open(f"{TOP}/{name}", "w") as f:
            f.write("".join(kept) + "".join(
                line.format(u, n, HOMES) for u, n in USERS.items() if n))
        if subprocess.run(["mount", "--bind", f"{TOP}/{name}", "/etc/" + name]).returncode:
            skip("cannot mount over /etc/" + name)


def become(uid):
    def lower():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    return lower if uid else None


class World:
    """The place of Manager and Sender: programs, homes, policy; `with` starts morphd."""

    def __init__(self, policy=None, every="1s", hold="0", user=0):
        """user: of `morphd --user`."""
        enter()
        self.path, self.user, self.env = TOP, user, {}
        self.policy = (policy or POLICY) % (every, hold)
        for d in ("bin", "libexec"):
            shutil.copytree(os.path.join(BUILD, d), self / d, symlinks=True)
        os.mkdir(HOMES)
        for u in "root", "alice", "bob":
            self.folder(f"home/{u}", USERS[u])
        if user:
            self.folder("state", user)
            self.folder("run", user)
        os.mkdir(self / "marks")  # for payloads to write to
        os.chmod(self / "marks", 0o1777)

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def __enter__(self):
        self.m = self.begin()
        return self

    def __exit__(self, kind, *_):
        if kind:
            print("--- log of morphd, its end ---\n" + self.said()[-4000:])

    def begin(self):
        return System(self, self.policy)

    def said(self):
        return open(self / "morphd.log", errors="replace").read()

    def folder(self, name, uid=0, mode=0o755):
        os.mkdir(self / name)
        os.chown(self / name, uid, uid)
        os.chmod(self / name, mode)
        return self / name

    def environment(self, uid):
        name = {n: u for u, n in USERS.items()}[uid]
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": f"{HOMES}/{name}", "LANG": "C.UTF-8",
                "MORPH_STATE": self / "state", "MORPH_RUN": self / "run"}

    def run(self, uid, *argv, **kw):
        """A command as this user, in their home."""
        options = dict(cwd=self.environment(uid)["HOME"], env=self.environment(uid),
                       capture_output=True, text=True, preexec_fn=become(uid), timeout=120)
        return subprocess.run(argv, **dict(options, **kw))

    def popen(self, uid, *argv, **kw):
        options = dict(cwd=self.environment(uid)["HOME"], env=self.environment(uid),
                       preexec_fn=become(uid), stdin=subprocess.DEVNULL)
        return subprocess.Popen(argv, **dict(options, **kw))

    def fork(self, uid, fn):
        """fn() as this user, in a process of its own; its pid."""
        pid = os.fork()
        if not pid:
            try:
                if uid:
                    become(uid)()
                fn()
            except Exception as e:
                print(f"{fn}: {e!r}", flush=True)
            finally:
                os._exit(0)
        return pid

    def build(self, uid, path, source=PROGRAM, flags=("-O2",)):
        """Builds a program through the hooks as this user; its path. source: text, or {name: text}."""
        files = source if isinstance(source, dict) else {"prog.c": source}
        where = os.path.join(self.environment(uid)["HOME"], "src." + os.path.basename(path)[:50])
        os.mkdir(where)
        for name, text in files.items():
            with open(os.path.join(where, name), "w") as f:
                f.write(text)
        os.chown(where, uid, uid)
        r = self.run(uid, self / "bin/morphctl", "hooks", "run", "--", "gcc", *flags, *files, "-o",
                     path, cwd=where)
        if r.returncode or not os.path.exists(path + ".morph"):
            log = self.run(uid, self / "bin/morphctl", "hooks", "log")
            fail(f"{path} is not built: {r.stderr}{log.stdout}")
        return path

    # ---- samples ----

    def sample(self, *progs, n=1000, uid=None, usage_of=11, functions=None):
        """A batch of samples of these programs, each a path or (path, Elf), in these functions of
        theirs (None: all); False when the manager hung up."""
        mods = []
        for p in progs:
            path, elf = p if isinstance(p, tuple) else (p, Elf(p))
            chosen = functions or {f for f, _ in elf.blocks()}
            where = draw(elf, usage(elf, usage_of, chosen), n, 1)
            mods.append((elf.build_id(), path, where, os.stat(path).st_uid if uid is None else uid))
        return self.send([mods])

    def sample_each(self, progs, elf, n, uid, functions=None):
        """A batch for each of these copies of one program."""
        where = draw(elf, usage(elf, 11, functions or {f for f, _ in elf.blocks()}), n, 1)
        return self.send([[(elf.build_id(), p, where, uid)] for p in progs])

    def send(self, batches):
        session = time.time_ns()
        try:
            s = Sender(self, hello(session))
            return all([s.send(batch(session, i + 1, mods)) for i, mods in enumerate(batches)])
        except OSError:
            return False

    def lay_out(self, path, seconds=20, **kw):
        """Samples of it until it runs in a layout."""
        before = Elf(path).build_id()
        end = time.time() + seconds
        self.sample(path, **kw)
        while Elf(path).build_id() == before:
            if time.time() > end:
                return False
            time.sleep(0.1)
        return True

    def ask_as(self, uid, method, url, body=None):
        """The answer to a request of this user's, None when there is none."""
        end, mine = os.pipe()
        pid = self.fork(uid, lambda: os.write(mine, json.dumps(self.m.ask(method, url, body)[1]).encode()))
        os.close(mine)
        got = b"".join(iter(lambda: os.read(end, 1 << 16), b""))
        os.close(end)
        os.waitpid(pid, 0)
        return json.loads(got) if got else None


class System(Manager):
    """morphd for the system, or with world.user that user's own."""

    def start(self):
        self.log = open(self.place / "morphd.log", "a")

        def limit():
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(NOFILE, hard), hard))
            if self.place.user:
                become(self.place.user)()
        user = ["--user"] if self.place.user else []
        self.p = subprocess.Popen([self.place / "bin/morphd", *user, "-v", "-c",
                                   self.place / "policy.yaml"], stderr=self.log, preexec_fn=limit,
                                  env=dict(self.place.environment(self.place.user), HOME="/root")
                                  if not user else self.place.environment(self.place.user))
        if not self.up(20):
            fail(f"morphd does not answer ({self.p.poll()}):\n{self.said()[-3000:]}")

    def up(self, seconds):
        end = time.time() + seconds
        while time.time() < end and self.p.poll() is None:
            try:
                self.get("/v1/status")
                return True
            except OSError:
                time.sleep(0.05)
        return False


# ---- looking from outside ----

def morphs():
    """{pid: program} of every process of Morph's in this world."""
    out = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            exe = os.readlink(f"/proc/{pid}/exe")
        except OSError:
            continue
        if exe.startswith((TOP + "/bin/", TOP + "/libexec/")):
            out[int(pid)] = os.path.basename(exe)
    return out


def status_of(pid, *fields):
    try:
        text = open(f"/proc/{pid}/status").read()
    except (OSError, ProcessLookupError):
        return None
    return [(re.search(rf"^{f}:\s*(.*)$", text, re.M) or [0, "0"])[1] for f in fields]


class Watch:
    """While `with` lasts: asks for the status all the time, and adds up memory. seconds: the
    longest answer so far; each, sum: KiB that one process, all together have had. Over `limit`
    KiB all are killed, so that the machine lives on."""

    def __init__(self, world, ask=True, limit=None):
        self.world, self.longest, self.each, self.sum, self.over = world, 0, 0, 0, False
        self.limit, self.asked, self.done = limit, None, False
        self.threads = [threading.Thread(target=f, daemon=True) for f in
                        ([self.poll] if ask else []) + ([self.weigh] if limit else [])]

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.done = True

    @property
    def seconds(self):
        asked = self.asked
        return max(self.longest, time.time() - asked if asked else 0)

    def poll(self):
        while not self.done:
            self.asked = time.time()
            try:
                self.world.m.get("/v1/status")
            except (OSError, SystemExit):
                pass
            self.longest = max(self.longest, time.time() - self.asked)
            self.asked = None
            time.sleep(0.05)

    def weigh(self):
        while not self.done:
            now = 0
            for pid, name in morphs().items():
                if not name.startswith(("morphd", "morph-manager", "morph-inspect")):
                    continue
                s = status_of(pid, "VmHWM", "VmRSS")
                if s:
                    self.each = max(self.each, int(s[0].split()[0]))
                    now += int(s[1].split()[0])
            self.sum = max(self.sum, now)
            if max(self.each, self.sum) > self.limit:
                self.over = True
                for pid in morphs():
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                return
            time.sleep(0.02)


def until(test, seconds, step=0.05):
    """Whether test() came true in time."""
    end = time.time() + seconds
    while time.time() < end:
        if test():
            return True
        time.sleep(step)
    return False


def answers(world, watch, limit, what):
    check(watch.seconds < limit, f"{what}: the longest answer took {watch.seconds:.2f} s")


def compile_c(path, source, *flags):
    r = subprocess.run(["gcc", "-O2", "-o", path, *flags, "-xc", "-"], input=source,
                       capture_output=True, text=True)
    if r.returncode:
        fail(f"{path}: {r.stderr}")
    os.chmod(path, 0o755)
    return path


# ---- payloads ----

FLIP = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <stdlib.h>
/* Exchanges two names as fast as it can, with a pause of a random length. */
int main(int argc, char **argv)
{
	for (;;) {
		struct timespec t = {0, rand() % (1000L * atoi(argv[3]))};
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE))
			return perror("renameat2"), 1;
		nanosleep(&t, 0);
	}
}
"""

# A linker plugin: says whose rights it got, by the files that it could open up.
PLUGIN = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/stat.h>
int onload(void *tv)
{
	char path[200];
	int fd;
	snprintf(path, sizeof path, "TOP/marks/ran.%d", (int)geteuid());
	fd = open(path, O_CREAT | O_WRONLY, 0666);
	dprintf(2, "payload ran as %d\n", (int)geteuid());
	snprintf(path, sizeof path, "TOP/safe/secret.%d", (int)geteuid());
	chmod(path, 0666);
	MORE
	return RESULT;
}
"""


class Payload:
    """A plugin of alice's, and how to tell as whom it has run."""

    def __init__(self, world, more="", result=0, head="", flags=()):
        self.world = world
        self.path = compile_c(world / "home/alice/evil.so", head + PLUGIN.replace("TOP", TOP).replace(
            "MORE", more).replace("RESULT", str(result)), "-shared", "-fPIC", *flags)
        os.chown(self.path, ALICE, ALICE)
        world.folder("safe")
        for uid in USERS.values():
            with open(f"{TOP}/safe/secret.{uid}", "w"):
                pass
            os.chown(f"{TOP}/safe/secret.{uid}", uid, uid)
            os.chmod(f"{TOP}/safe/secret.{uid}", 0o600)
        subprocess.run(["as", "-o", world / "empty.o"], input="", text=True)
        world.run(BOB, "ld", "-r", "-plugin", self.path, world / "empty.o", "-o", "/dev/null")
        check(self.ran() == {BOB}, "the payload works where it is let")
        os.chmod(f"{TOP}/safe/secret.{BOB}", 0o600)
        os.unlink(f"{TOP}/marks/ran.{BOB}")

    def put_into(self, artifact):
        """The recipe of this artifact loads the plugin from now on."""
        db = sqlite3.connect(artifact)
        n, = db.execute("SELECT count(*) FROM recipe").fetchone()
        db.executemany("INSERT INTO recipe VALUES(?, ?)", [(n, "-plugin"), (n + 1, self.path)])
        db.commit()
        db.close()

    def ran(self):
        """The uids with whose rights it ran."""
        said = {int(u) for u in re.findall(r"payload ran as (\d+)", self.world.said())} \
            if os.path.exists(self.world / "morphd.log") else set()
        marks = {int(f[4:]) for f in os.listdir(f"{TOP}/marks") if f.startswith("ran.")}
        return said | marks | {u for u in USERS.values()
                               if os.stat(f"{TOP}/safe/secret.{u}").st_mode & 0o777 != 0o600}


# ---- speaking to the privileged parent (managerd/priv/frame.h) ----

def u32(v):
    return struct.pack("<I", v)


def u64(v):
    return struct.pack("<Q", v)


def text(s):
    return u32(len(s.encode())) + s.encode()


def ident(s):
    raw = bytes.fromhex(s)
    return bytes([len(raw)]) + raw


def request(sock, frame, fds=(), seconds=1):
    """Sends a frame and waits for the answer: (bytes, descriptors), or None when there is none."""
    try:
        sock.settimeout(seconds)
        socket.send_fds(sock, [frame], list(fds))
        got, fds, _, _ = socket.recv_fds(sock, 1 << 16, 8)
        return (got, fds) if got else None
    except OSError:
        return None


def socket_pairs(pid):
    """The sequenced-packet sockets that this process holds, as sockets of ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    out = []
    for n in sorted(map(int, os.listdir(f"/proc/{pid}/fd"))):
        if not os.readlink(f"/proc/{pid}/fd/{n}").startswith("socket:"):
            continue
        fd = libc.syscall(438, pidfd, n, 0)  # pidfd_getfd
        if fd < 0:
            continue
        s = socket.socket(fileno=fd)
        if s.type == socket.SOCK_SEQPACKET:
            out.append(s)
    os.close(pidfd)
    return out
