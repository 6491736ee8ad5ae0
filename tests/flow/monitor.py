"""What the monitor's flow tests share: a reader of wire frames written from
docs/FORMATS.md, a manager that only counts and acknowledges, small programs to
be sampled, and the two ways out: fail() and skip()."""
import collections
import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get("MORPH_BUILD", "build")
MONITOR = os.path.realpath(os.path.join(BUILD, "bin/morph-monitor"))
HELLO, BATCH, ACK, WANT, WATCH, BOOST = 1, 2, 3, 4, 5, 6
TICK, CPU_CLOCK, RECORDED = 1, 2, 3

xxh = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
xxh.restype = ctypes.c_uint64
xxh.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


def skip(reason):
    print(reason)
    sys.exit(77)


def check(cond, text):
    if not cond:
        fail(text)
    print("ok:", text)


# ---- frames ----

def uleb(b, at):
    v = shift = 0
    while True:
        c = b[at]
        at += 1
        v |= (c & 127) << shift
        shift += 7
        if c < 128:
            return v, at


Hello = collections.namedtuple("Hello", "session period source pid")
Batch = collections.namedtuple("Batch", "session seq start end taken kernel outside dropped modules regs runs unsent users elsewhere")
Regs = collections.namedtuple("Regs", "module offset base gpr flags codes stack")
Run = collections.namedtuple("Run", "build uid start cpu faults status kind")
Elsewhere = collections.namedtuple("Elsewhere", "kind uid pid id name samples")
Module = collections.namedtuple("Module", "id path uid samples extra")  # extra: None where it is not boosted


def read_regs(b):
    _, at = uleb(b, 0)
    n, at = uleb(b, at)
    out = []
    for _ in range(n):
        module, at = uleb(b, at)
        offset, at = uleb(b, at)
        base, *gpr, flags, n = struct.unpack_from("<17QIB", b, at)
        at += 17 * 8 + 5
        codes = {}
        for _ in range(n):
            word = b[at]
            codes[word], at = uleb(b, at + 1)
        stack = struct.unpack_from("<%dQ" % b[at], b, at + 1)
        at += 1 + 8 * len(stack)
        out.append(Regs(module, offset, base, gpr, flags, codes, stack))
    return out


def read_runs(b):
    """The runs, and how many were not sent."""
    unsent, at = uleb(b, 0)
    n, at = uleb(b, at)
    builds, out = [], []
    for _ in range(n):
        builds.append(b[at + 1:at + 1 + b[at]].hex())
        at += 1 + b[at]
    n, at = uleb(b, at)
    for _ in range(n):
        build, at = uleb(b, at)
        uid, at = uleb(b, at)
        start, at = struct.unpack_from("<Q", b, at)[0], at + 8
        cpu, at = uleb(b, at)
        faults, at = uleb(b, at)
        status, at = uleb(b, at)
        kind, at = struct.unpack_from("<Q", b, at)[0], at + 8
        out.append(Run(builds[build], uid, start, cpu, faults, status, kind))
    return out, unsent


def read_samples(b, at):
    n, at = uleb(b, at)
    samples, offset = {}, 0
    for _ in range(n):
        delta, at = uleb(b, at)
        offset += delta
        samples[offset], at = uleb(b, at)
    return samples, at


def read_extra(b, modules):
    """Gives boosted modules their extra samples; how many samples of all programs were none, and were."""
    plain, at = uleb(b, 0)
    extra, at = uleb(b, at)
    n, at = uleb(b, at)
    for _ in range(n):
        i, at = uleb(b, at)
        samples, at = read_samples(b, at)
        modules[i] = modules[i]._replace(extra=samples)
    return plain, extra


def read_elsewhere(b):
    n, at = uleb(b, 0)
    out = []
    for _ in range(n):
        kind = b[at]
        uid, at = uleb(b, at + 1)
        pid, at = uleb(b, at)
        ident, at = b[at + 1:at + 1 + b[at]].hex(), at + 1 + b[at]
        n, at = uleb(b, at)
        name, at = b[at:at + n].decode(), at + n
        samples, at = read_samples(b, at)
        out.append(Elsewhere(kind, uid, pid, ident, name, samples))
    return out


def read_batch(b):
    session, seq, start, end = struct.unpack_from("<4Q", b)
    at = 32
    head = []
    for _ in range(5):
        v, at = uleb(b, at)
        head.append(v)
    modules = []
    for _ in range(head[4]):
        n = b[at]
        ident, at = b[at + 1:at + 1 + n].hex(), at + 1 + n
        n, at = uleb(b, at)
        path, at = b[at:at + n].decode(), at + n
        uid, at = uleb(b, at)
        samples, at = read_samples(b, at)
        modules.append(Module(ident, path, uid, samples, None))
    regs, runs, unsent, users, elsewhere = [], [], 0, (0, 0), []
    while at < len(b):
        kind, n = struct.unpack_from("<BI", b, at)
        if kind == 2:
            regs = read_regs(b[at + 5:at + 5 + n])
        elif kind == 3:
            runs, unsent = read_runs(b[at + 5:at + 5 + n])
        elif kind == 5:
            users = read_extra(b[at + 5:at + 5 + n], modules)
        elif kind == 6:
            elsewhere = read_elsewhere(b[at + 5:at + 5 + n])
        at += 5 + n
    batch = Batch(session, seq, start, end, *head[:4], modules, regs, runs, unsent, users, elsewhere)
    inside = sum(sum(m.samples.values()) for m in modules)
    if inside + batch.kernel + batch.outside + batch.dropped != batch.taken:
        fail("batch %d does not add up: %s" % (seq, batch))
    return batch


def frames(data):
    """Yields (message, length) for each whole frame in front of data."""
    at = 0
    while len(data) - at >= 24:
        magic, version, kind, length, zero, checksum = struct.unpack_from("<4sHHIIQ", data, at)
        if (magic, version, zero) != (b"MrpW", 1, 0):
            fail("no frame at byte %d" % at)
        if len(data) - at - 24 < length:
            return
        body = data[at + 24:at + 24 + length]
        if xxh(body, length, kind) != checksum:
            fail("checksum at byte %d" % at)
        at += 24 + length
        if kind == HELLO:
            yield Hello(*struct.unpack("<QQII", body)), at
        elif kind == BATCH:
            yield read_batch(body), at
        else:
            fail("frame of type %d from the monitor" % kind)


def read_feed(path):
    with open(path, "rb") as f:
        data = f.read()
    got = list(frames(data))
    if not got or got[-1][1] != len(data):
        fail("%s does not end with a frame" % path)
    messages = [m for m, _ in got]
    if not isinstance(messages[0], Hello):
        fail("%s does not begin with HELLO" % path)
    return messages[0], messages[1:]


def frame(kind, body):
    return struct.pack("<4sHHIIQ", b"MrpW", 1, kind, len(body), 0, xxh(body, len(body), kind)) + body


def ack(batch):
    return frame(ACK, struct.pack("<QQ", batch.session, batch.seq))


def want(idents, kind=WANT):
    """Registers of these builds, less than 128 of them; with WATCH the ends of their processes."""
    ids = [bytes.fromhex(i) for i in idents]
    return frame(kind, bytes([len(ids)]) + b"".join(bytes([len(i)]) + i for i in ids))


def boost(idents, budget):
    """More samples of these builds, at such a share of each processor."""
    n = round(budget * 1e6)
    head = bytearray()
    while n > 127:
        head.append(n & 127 | 128)
        n >>= 7
    ids = [bytes.fromhex(i) for i in idents]
    return frame(BOOST, bytes(head) + bytes([n, len(ids)]) + b"".join(bytes([len(i)]) + i for i in ids))


class Manager:
    """Acknowledges everything; keeps each (session, seq) once, in order."""

    def __init__(self, path, deaf=False):
        self.batches, self.hellos, self.repeats = [], [], 0
        self.deaf = deaf
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(path):
            os.unlink(path)
        self.listener.bind(path)
        os.chmod(path, 0o666)  # for a monitor that gave up being root
        os.chmod(path, 0o777)
        self.listener.listen(8)
        self.conns = []
        threading.Thread(target=self.accept, daemon=True).start()

    def greet(self, c):
        """What to say behind a HELLO."""

    def registers(self):
        """Samples with registers, and those in modules."""
        return (sum(len(b.regs) for b in self.batches),
                sum(sum(m.samples.values()) for b in self.batches for m in b.modules))

    def accept(self):
        try:
            while True:
                c, _ = self.listener.accept()
                self.conns.append(c)
                threading.Thread(target=self.serve, args=(c,), daemon=True).start()
        except OSError:
            pass

    def serve(self, c):
        data, seen = b"", None
        try:
            while chunk := c.recv(65536):
                data += chunk
                used = 0
                for m, used in frames(data):
                    if isinstance(m, Hello):
                        seen = m
                        self.hellos.append(m)
                        self.greet(c)
                        continue
                    if seen is None or seen.session != m.session:
                        print("FAILED: batch of a session that did not say HELLO")
                        os._exit(1)
                    if any((m.session, m.seq) == (b.session, b.seq) for b in self.batches):
                        self.repeats += 1
                    else:
                        self.batches.append(m)
                    if not self.deaf:
                        c.sendall(ack(m))
                data = data[used:]
        except OSError:
            pass

    def away(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for c in self.conns:
            try:
                c.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            c.close()


def total(batches, field):
    return sum(getattr(b, field) for b in batches)


def modules(batches):
    """(path, uid) -> {offset: count} over all batches."""
    out = {}
    for b in batches:
        for m in b.modules:
            d = out.setdefault((m.path, m.uid), collections.Counter())
            d.update(m.samples)
    return out


def samples_of(batches, path, uid=None):
    d = collections.Counter()
    for (p, u), s in modules(batches).items():
        if p == path and uid in (None, u):
            d.update(s)
    return d


# ---- programs ----

HOT = r"""
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
volatile unsigned long sink;
#define HOT(name) __attribute__((noinline, noclone)) void name(unsigned long n) \
	{ unsigned long x = sink, i; for (i = 0; i < n; i++) x = x * 6364136223846793005ul + i; sink = x; }
HOT(hot_three)
HOT(hot_one)
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
	double seconds = atof(argv[1]), begin = cpu();
	do {
		hot_three(30000);
		hot_one(10000);
	} while (cpu() - begin < seconds);
	if (argc > 2)
		fprintf(stderr, "%.3f\n", cpu());
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def compile_c(work, name, text, *flags):
    src = os.path.join(work, name + ".c")
    with open(src, "w") as f:
        f.write(text)
    out = os.path.join(work, name)
    subprocess.run(["gcc", "-O2", "-Wl,--build-id=sha1", *flags, "-o", out, src], check=True)
    return out


def function_range(path, name):
    """File offsets [start, end) of a function."""
    for line in subprocess.run(["nm", "-S", path], capture_output=True, text=True).stdout.splitlines():
        f = line.split()
        if len(f) == 4 and f[3] == name:
            addr, size = int(f[0], 16), int(f[1], 16)
    heads = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
    for line in heads.splitlines():
        f = line.split()
        if f and f[0] == "LOAD":
            off, va, size_in_file = int(f[1], 16), int(f[2], 16), int(f[4], 16)
            if va <= addr < va + size_in_file:
                return addr - va + off, addr - va + off + size
    fail("%s has no %s" % (path, name))


def within(samples, span):
    return sum(n for o, n in samples.items() if span[0] <= o < span[1])


def as_many(n, cpu_seconds, period):
    """Whether n samples fit this much CPU time. A virtual machine's stolen time
    passes on the clock but not in a process's account, so more is likelier."""
    want = cpu_seconds * 1e9 / period
    return 0.85 * want - 10 < n < 1.4 * want + 10


class Quiet:
    """Whether others left the processors alone. Under them the tick misjudges
    how long a process ran: what begins and ends between two ticks is not met."""

    def __init__(self):
        self.busy = self.read()

    @staticmethod
    def read():
        with open("/proc/stat") as f:
            t = [int(x) for x in f.readline().split()[1:9]]
        return (sum(t) - t[3] - t[4]) / os.sysconf("SC_CLK_TCK")  # less idle, waiting for disks

    def so_far(self, own):
        """own: CPU seconds of our processes since."""
        return self.read() - self.busy < 1.2 * own + 0.2


def build_id(path):
    out = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    return out.split("Build ID:")[1].split()[0]


# ---- running ----

class Work:
    """A folder that anybody may use, gone at the end."""

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="morph-monitor.")
        os.chmod(self.dir, 0o777)
        os.environ["MORPH_STATE"] = self.dir + "/state"
        os.environ["MORPH_RUN"] = self.dir
        return self.dir

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
NOBODY_UID = 65534 if NOBODY else os.geteuid()


def run(*args, user=(), status=0, **kw):
    r = subprocess.run([*user, MONITOR, *args], capture_output=True, text=True, timeout=120, **kw)
    if status is not None and r.returncode != status:
        fail("%s: status %d, not %d\n%s" % (" ".join(args), r.returncode, status, r.stderr))
    return r


def need_follow(work, user=()):
    """Skips where the kernel lets nobody use perf events."""
    r = run("--record", work + "/probe", "--", "true", user=user, status=None)
    if r.returncode == 77:
        skip("perf events are refused: " + r.stderr.splitlines()[0])
    if r.returncode:
        fail("cannot follow a command: " + r.stderr)


def start(*args, user=()):
    return subprocess.Popen([*user, MONITOR, *args], stderr=subprocess.PIPE, text=True)


def start_whole(feed):
    """One of the whole machine that watches and has read /proc; None where it may not."""
    if os.geteuid():
        return None
    p = start("--record", feed, "--flush", "0.1")
    wait_for(lambda: p.poll() is not None or os.path.exists(feed) and len(read_whole(feed)) > 1, "the monitor watches")
    return p if p.poll() is None else None


def read_whole(path):
    """The frames of a file that is being written."""
    with open(path, "rb") as f:
        return list(frames(f.read()))


def stop(p):
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=60)
    if p.returncode:
        fail("the monitor ended with %d: %s" % (p.returncode, err))
    return err


def followed(pid):
    """The command that a monitor follows; itself as long as there is none."""
    child = open("/proc/%d/task/%d/children" % (pid, pid)).read().split()
    return int(child[0]) if child else pid


def until_used(p, seconds, whose=lambda pid: pid):
    """Until the process p, or whose(its id), has used so much CPU time, or p is gone."""
    while p.poll() is None:
        with open("/proc/%d/stat" % whose(p.pid)) as f:
            t = f.read().rsplit(")", 1)[1].split()
        if int(t[11]) + int(t[12]) >= seconds * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.02)


def watched(runs, run, seconds=30):
    """Runs programs until the monitor reports one, since it takes time to learn what to watch, and then no
    more; how many it reported. runs(): these."""
    end, seen = time.time() + seconds, 0
    while not runs() and time.time() < end:
        run()
        time.sleep(1)
    while seen < len(runs()):
        seen = len(runs())
        time.sleep(1.5)
    return seen


def wait_for(what, text, seconds=30):
    end = time.time() + seconds
    while not what():
        if time.time() > end:
            fail("timed out: " + text)
        time.sleep(0.05)
