"""What the manager's flow tests share: a program built through the hooks, its
blocks read from the file as docs/FORMATS.md says, a monitor that sends what it
is given, and the manager itself in a private folder, as a user without rights."""
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from monitor import ACK, BATCH, HELLO, RECORDED, WANT, check, fail, frame, skip, uleb

BUILD = os.path.realpath(os.environ.get("MORPH_BUILD", "build"))
NOBODY = 65534

IS_FIRST = r"""#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Whether the file names the build-id of this one. */
static int is_note(struct dl_phdr_info *p, size_t size, void *hex)
{
	const unsigned char *n;
	char *out = hex;
	int i, k;

	for (i = 0; i < p->dlpi_phnum && !*out; i++)
		if (p->dlpi_phdr[i].p_type == PT_NOTE) {
			n = (void *)(p->dlpi_addr + p->dlpi_phdr[i].p_vaddr);
			for (; n < (unsigned char *)p->dlpi_addr + p->dlpi_phdr[i].p_vaddr + p->dlpi_phdr[i].p_memsz;
			     n += 12 + (n[0] + 3 & ~3) + (n[4] + 3 & ~3))
				for (k = 0; n[8] == 3 && n[0] == 4 && !memcmp(n + 12, "GNU", 4) && k < n[4]; k++)
					sprintf(out + 2 * k, "%02x", n[16 + k]);
		}
	return 1; /* the program comes first */
}
static int is_first(const char *path)
{
	char mine[520] = "", first[520] = "";
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%519s", first) != 1)
		exit(2);
	fclose(f);
	dl_iterate_phdr(is_note, mine);
	return !strcmp(mine, first);
}
"""

STEP = r"""static unsigned long step(unsigned long x, unsigned k)
{
	switch (k & 7) {
	case 0: return x ^ x >> 3;
	case 1: return x * 7;
	case 2: return x & 1 ? x + 5 : x - 3;
	case 3: return x << 5 | x >> 59;
	case 4: if (x % 1001 == 0) fprintf(stderr, "rare\n"); return x ^ 0x55;
	case 5: return x + k;
	case 6: return x % 3 ? x : x + 1;
	}
	return ~x;
}
"""

PROGRAM = "#include <stdio.h>\n#include <stdlib.h>\n" + STEP + r"""__attribute__((noinline)) unsigned long work(unsigned long n)
{
	unsigned long x = 1, i;
	for (i = 0; i < n; i++) {
		x = step(x, (unsigned)(i * 2654435761u >> 7));
		if (x == 42) printf("rare %lu\n", i);
		else if (x % 97 == 3) x += 11;
	}
	return x;
}
__attribute__((noinline)) unsigned long play(unsigned long n)
{
	unsigned long x = 3, i;
	for (i = 0; i < n; i++) {
		if (i % 1000 == 999) { x ^= i; if (x & 4) x -= 9; else x += 2; }
		else if (i % 7) x = step(x, 6) + 1;
		else x = x * 31 + 1;
		if (x == 7) printf("seven\n");
	}
	return x;
}
int main(int c, char **v)
{
	unsigned long n = c > 1 ? strtoul(v[1], 0, 10) : 1000;
	printf("%lu %lu\n", work(n), play(n));
	return 0;
}
"""


# ---- the private folder ----

def lower():
    """In a child: become a user without rights."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


AS_USER = {"preexec_fn": lower} if os.geteuid() == 0 else {}
UID = NOBODY if os.geteuid() == 0 else os.geteuid()


class Place:
    """A folder of that user with a copy of the programs; removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="morph-manager-")
        os.chmod(self.path, 0o755)
        for d in ("bin", "libexec"):
            shutil.copytree(os.path.join(BUILD, d), os.path.join(self.path, d), symlinks=True)
        os.mkdir(self / "home")
        if os.geteuid() == 0:
            os.chown(self.path, UID, UID)
            os.chown(self / "home", UID, UID)
        self.env = dict(os.environ, HOME=self / "home", MORPH_STATE=self / "state",
                        MORPH_RUN=self / "run")
        for k in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            self.env.pop(k, None)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def run(self, *argv, **kw):
        options = dict(AS_USER, cwd=self / "home", env=self.env, capture_output=True, text=True)
        return subprocess.run(argv, timeout=120, **dict(options, **kw))

    def build(self, name="prog", source=PROGRAM, flags=("-O2",)):
        """Builds a program through the hooks; its path."""
        path = self / "home/" + name
        with open(path + ".c", "w") as f:
            f.write(source)
        r = self.run(self / "bin/morphctl", "hooks", "run", "--", "gcc", *flags, path + ".c", "-o",
                     path)
        check(r.returncode == 0 and os.path.exists(path + ".morph"),
              f"{name} is built through the hooks {r.stderr}")
        return path


# ---- ELF ----

class Elf:
    def __init__(self, path):
        self.path = path
        b = self.bytes = open(path, "rb").read()
        shoff, = struct.unpack_from("<Q", b, 40)
        phoff, = struct.unpack_from("<Q", b, 32)
        phn, _, shn, shstr = struct.unpack_from("<4H", b, 56)
        heads = [struct.unpack_from("<IIQQQQ", b, shoff + 64 * i) for i in range(shn)]
        names = heads[shstr][4]
        self.sections = []
        for name, kind, _, addr, off, size in heads:
            end = b.index(b"\0", names + name)
            self.sections.append((b[names + name:end].decode(), b[off:off + size] if kind != 8 else b""))
        self.loads = []
        for i in range(phn):
            kind, flags, off, addr, _, size = struct.unpack_from("<IIQQQQ", b, phoff + 56 * i)
            if kind == 1 and flags & 1:
                self.loads.append((off, addr, size))

    def all(self, name):
        return b"".join(data for n, data in self.sections if n == name)

    def build_id(self):
        d = self.all(".note.gnu.build-id")
        return d[16:].hex()

    def offset(self, addr):
        for off, base, size in self.loads:
            if base <= addr < base + size:
                return addr - base + off
        fail(f"address {addr:x} is in no executable segment")

    def code(self, *functions):
        """File offsets of the instructions of these functions, by the disassembler."""
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.path], check=True,
                              capture_output=True, text=True).stdout
        inside, out = False, []
        for line in text.splitlines():
            head, insn = re.match(r"[0-9a-f]+ <(.*)>:", line), re.match(r" +([0-9a-f]+):\t", line)
            inside = head[1] in functions if head else inside
            if insn and inside:
                out.append(self.offset(int(insn[1], 16)))
        return out

    def blocks(self):
        """{(function ordinal, block id): (file offset, size)} of one unit."""
        fn, out, at = {}, {}, 0
        d = self.all(".morph.fn")
        for i in range(0, len(d), 24):
            addr, _, func, _ = struct.unpack_from("<QQII", d, i)
            fn[addr] = func
        d = self.all(".llvm_bb_addr_map")
        while at < len(d):
            addr, = struct.unpack_from("<Q", d, at + 2)
            n, at = uleb(d, at + 10)
            here = addr
            for _ in range(n):
                ident, at = uleb(d, at)
                gap, at = uleb(d, at)
                size, at = uleb(d, at)
                _, at = uleb(d, at)
                if size:
                    out[fn[addr], ident] = (self.offset(here + gap), size)
                here += gap + size
        return out


def usage(elf, seed, functions):
    """A made-up usage of these functions: {(function, block): weight}."""
    rnd = random.Random(seed)
    return {b: rnd.expovariate(1) ** 3 for b in sorted(elf.blocks()) if b[0] in functions}


def draw(elf, weights, n, seed):
    """n samples of a usage as file offsets of this build: {offset: count}."""
    rnd = random.Random(seed)
    where, out = elf.blocks(), {}
    keys = [k for k in weights if k in where]
    for k in rnd.choices(keys, [weights[k] for k in keys], k=n):
        off = where[k][0] + rnd.randrange(where[k][1])
        out[off] = out.get(off, 0) + 1
    return out


# ---- a monitor ----

def put_uleb(v):
    out = bytearray()
    while True:
        out.append(v & 127 | (128 if v > 127 else 0))
        v >>= 7
        if not v:
            return bytes(out)


def hello(session, source=RECORDED):
    return frame(HELLO, struct.pack("<QQII", session, 4000000, source, os.getpid()))


def put_samples(samples):
    out, last = put_uleb(len(samples)), 0
    for off in sorted(samples):
        out += put_uleb(off - last) + put_uleb(samples[off])
        last = off
    return out


def put_elsewhere(places):
    """The section of a batch for (kind, uid, pid, build-id, name, {address: count})…"""
    out = put_uleb(len(places))
    for kind, uid, pid, ident, name, samples in places:
        raw = bytes.fromhex(ident)
        out += bytes([kind]) + put_uleb(uid) + put_uleb(pid) + bytes([len(raw)]) + raw
        out += put_uleb(len(name)) + name.encode() + put_samples(samples)
    return struct.pack("<BI", 6, len(out)) + out


def batch(session, seq, modules, kernel=0, outside=0, dropped=0, elsewhere=()):
    """modules: (build-id, path, {offset: count}[, uid])…"""
    taken = kernel + outside + dropped + sum(sum(m[2].values()) for m in modules)
    now = time.time_ns()
    out = struct.pack("<4Q", session, seq, now - 10 ** 9, now)
    out += b"".join(put_uleb(v) for v in (taken, kernel, outside, dropped, len(modules)))
    for ident, path, samples, *uid in modules:
        raw = bytes.fromhex(ident)
        out += bytes([len(raw)]) + raw + put_uleb(len(path)) + path.encode()
        out += put_uleb(*uid or [UID])
        out += put_samples(samples)
    if elsewhere:
        out += put_elsewhere(elsewhere)
    return frame(BATCH, out)


class Sender:
    """One connection to the manager."""

    def __init__(self, place, greeting=None):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(30)
        self.s.connect(place / "run/monitor.sock")
        if greeting:
            self.s.sendall(greeting)

    def read(self, n):
        b = b""
        while len(b) < n:
            more = self.s.recv(n - len(b))
            if not more:
                raise ConnectionError
            b += more
        return b

    def ack(self):
        """The (session, seq) of the next acknowledgement, None when it hung up. What
        the manager wants registers of goes to self.want, as build-ids."""
        try:
            while True:
                _, _, kind, n, _, _ = struct.unpack("<4sHHIIQ", self.read(24))
                body = self.read(n)
                if kind == ACK:
                    return struct.unpack("<QQ", body)
                if kind != WANT:
                    continue
                at, self.want = uleb(body, 0)[1], []
                while at < n:
                    self.want.append(body[at + 1:at + 1 + body[at]].hex())
                    at += 1 + body[at]
        except ConnectionError:
            return None

    def send(self, data):
        try:
            self.s.sendall(data)
        except ConnectionError:
            pass
        return self.ack()

    def close(self):
        self.s.close()


# ---- the manager ----

class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("morph", timeout=90)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(90)
        self.sock.connect(self.path)


FAST = """
decide: {every: 200ms, min_samples: 1000, min_gain: 0.1%, min_regain: 0.1%, cool_down: 0, hold: 1h}
idle: {cpu: 0, psi: 100%, after: 0, battery: yes}
"""

# Synthetic samples differ from the program's real profile: that change must not trigger another layout.
STEADY = FAST.replace("min_regain: 0.1%", "min_regain: 50%, min_change: 95%")


class Manager:
    def __init__(self, place, policy=FAST, env=None):
        self.place = place
        with open(place / "policy.yaml", "w") as f:
            f.write(policy)
        self.env = dict(place.env, **(env or {}))
        self.start()

    def start(self):
        self.log = open(self.place / "morphd.log", "a")
        self.p = subprocess.Popen([self.place / "bin/morphd", "--user", "-v", "-c",
                                   self.place / "policy.yaml"], stderr=self.log, env=self.env,
                                  cwd=self.place / "home", **AS_USER)
        for _ in range(300):
            try:
                self.get("/v1/status")
                return
            except OSError:
                if self.p.poll() is not None:
                    fail(f"morphd ended with {self.p.returncode}:\n{self.said()}")
                time.sleep(0.05)
        fail("morphd does not answer:\n" + self.said())

    def said(self):
        return open(self.place / "morphd.log").read()

    def kill(self):
        self.p.send_signal(signal.SIGKILL)
        self.p.wait()

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        rc = self.p.wait(60)
        if rc != 0:
            fail(f"morphd ended with {rc}:\n{self.said()}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.p.poll() is None:
            if kind:
                self.kill()
            else:
                self.stop()
        if kind:
            print(self.said())

    def ask(self, method, path, body=None):
        h = UnixHTTP(self.place / "run/api.sock")
        try:
            h.request(method, path, body,
                      {"Content-Type": "application/json"} if body else {})
            r = h.getresponse()
            return r.status, json.loads(r.read())
        except http.client.HTTPException as e:
            raise OSError(str(e))
        finally:
            h.close()

    def get(self, path):
        status, answer = self.ask("GET", path)
        if status != 200:
            fail(f"GET {path}: {status} {answer}")
        return answer["result"]

    def module(self, path):
        found = self.get("/v1/modules?path=" + path)
        return found[0] if found else None

    def events(self, kind):
        return [v for v in self.get("/v1/history?limit=1000") if v["event"] == kind]

    def wait(self, what, test, seconds=240):
        """Until test() is true; its value."""
        end = time.time() + seconds
        while time.time() < end:
            v = test()
            if v:
                print("ok:", what)
                return v
            time.sleep(0.1)
        fail(f"{what}: not within {seconds} s\n{self.said()}")

    def decided(self, path, times=3):
        """The decision about a module, when it was taken so many times more."""
        seen = set()

        def more():
            d = self.module(path)["decision"] or {}
            seen.add((d.get("at"), d.get("times")))
            return len(seen) > times and d
        return self.wait(f"{path} is decided about {times} times more", more)

    def monitored(self, p, seconds=30):
        """Whether the monitor p came to sample; not where it ended."""
        end = time.time() + seconds
        while p.poll() is None and not self.get("/v1/status")["monitor"]["connected"]:
            if time.time() > end:
                fail("the monitor does not say HELLO")
            time.sleep(0.05)
        return p.poll() is None

    def change(self, method_path, body=None):
        """Asks for a change and waits for its end."""
        status, answer = self.ask("POST", method_path, body)
        if status != 202:
            return status, answer["result"]
        return status, self.get(f"/v1/changes/{answer['change']}?wait=60")
