"""What the benchmarks share: real programs built through the hooks, profiles of
them, layouts made from those, and how to say on what machine it was."""
import bisect
import collections
import datetime
import glob
import importlib.machinery
import importlib.util
import json
import os
import platform
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(BENCH)
BUILD = os.path.realpath(os.environ.get("MORPH_BUILD", os.path.join(TOP, "build")))
sys.path.insert(0, os.path.join(TOP, "tests/flow"))


def _script(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(BENCH, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


pairs, exact = _script("pairs"), _script("exact")


class Unavailable(Exception):
    """This cannot be measured here; the text says why."""


def tool(name):
    return os.path.join(BUILD, "bin", name)


def progress(text=""):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run(argv, **more):
    r = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if r.returncode:
        raise Unavailable(f"{' '.join(argv[:4])}: {(r.stderr or r.stdout).strip()[-600:]}")
    return r.stdout


# ---- the report ----

def machine():
    """The kind of machine, without its name."""
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo")
                if l.startswith("model name")), platform.machine())
    virtual = any(l.startswith("flags") and " hypervisor" in l for l in open("/proc/cpuinfo"))
    pmu = os.path.exists("/sys/bus/event_source/devices/cpu/events/cycles") or \
        os.path.exists("/sys/bus/event_source/devices/cpu/events/cpu-cycles")
    cc = run(["gcc", "--version"]).splitlines()[0]
    ld = run(["ld", "--version"]).splitlines()[0]
    return "; ".join([
        f"{os.cpu_count()} CPUs ({cpu})", "virtual machine" if virtual else "bare metal",
        "PMU" if pmu else "no PMU", f"Linux {platform.release().split('-')[0]}", cc, ld,
        datetime.date.today().isoformat()])


def table(head, rows):
    """Markdown that lines up."""
    rows = [[str(c) for c in r] for r in rows]
    width = [max(len(r[i]) for r in [head] + rows) for i in range(len(head))]
    for k, r in enumerate([head] + rows):
        cells = [c.ljust(w) if not i else c.rjust(w) for i, (c, w) in enumerate(zip(r, width))]
        print("| " + " | ".join(cells) + " |")
        if not k:
            print("|" + "|".join("-" * (w + 1) + ("-" if not i else ":")
                                 for i, w in enumerate(width)) + "|")
    print(flush=True)


# ---- programs ----

class Program:
    """A program built through the hooks in a folder of its own.

    train and test are workloads that differ; each is called with a number of
    rounds and gives the arguments.
    """
    package = None

    def __init__(self, work):
        self.name = type(self).__name__.lower()
        self.dir = os.path.join(work, self.name)
        if subprocess.run([os.path.join(BENCH, "fetch-source"), self.package,
                           os.path.join(BUILD, "src")], stderr=sys.stderr).returncode:
            raise Unavailable(f"no source of {self.package}")
        self.source = os.path.join(self.dir, "src")
        progress(f"building {self.name}")
        shutil.copytree(os.path.join(BUILD, "src", self.package), self.source)
        self.env = dict(os.environ, MORPH_ARTIFACTS=os.path.join(self.dir, "artifacts"),
                        MORPH_HOOKS_LOG=os.path.join(self.dir, "hooks.log"))
        built = self.build()
        # Every build that is compared is a file written in one go, in one place.
        self.module = self.put(built, "base")
        self.artifact = os.path.join(self.dir, "base.morph")
        shutil.copy(built + ".morph", self.artifact)
        self.elf = exact.Elf(self.module)
        self.build_id = self.elf.data(".note.gnu.build-id")[16:].hex()
        db = sqlite3.connect(f"file:{self.artifact}?mode=ro", uri=True)
        self.key, self.by_unit, self.insns = {}, {}, {}
        for h, o, unit, fn, key, blob in db.execute(
                "select hash, ord, tu.name, func.name, key, insns from func join tu on tu.id = tu"):
            name = f"{fn}#{key.hex()}"
            self.key[int.from_bytes(h[:8], "big"), o] = name
            self.by_unit[os.path.basename(unit), fn] = name
            b = at = 0
            while at < len(blob):
                self.insns[name, b], at = exact.uleb(blob, at)
                b += 1
        db.close()

    def put(self, path, name):
        to = os.path.join(self.dir, name)
        shutil.copy(path, to)
        return to

    def hooked(self, *argv, cwd=None):
        run([tool("morphctl"), "hooks", "run", "--", *argv], cwd=cwd or self.source, env=self.env)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    # ---- profiles, as files for morph-edit ----

    def sample_lines(self, name, blocks, n=None):
        """--samples from {(function#key, block): samples}, n of them when given."""
        if n:
            keys = sorted(blocks)
            drawn = random.Random(1).sample(keys, n, counts=[blocks[k] for k in keys])
            blocks = collections.Counter(drawn)
        return "--samples", self.write(
            name + ".samples", "".join(f"{f} {b} {c}\n" for (f, b), c in sorted(blocks.items())))

    def places(self):
        """[(file offset, size, function#key, block)] in ascending order."""
        phoff, _, _, _, size, n = struct.unpack_from("<QQIHHH", self.elf.d, 32)
        loads = [struct.unpack_from("<IIQQQQQQ", self.elf.d, phoff + i * size) for i in range(n)]
        out = []
        for at, size, tu, func, block in exact.block_starts(self.elf):
            for kind, flags, off, addr, _, held, _, _ in loads:
                if size and kind == 1 and flags & 1 and addr <= at < addr + held:
                    out.append((at - addr + off, size, self.key[tu, func], block))
        return sorted(out)

    def blocks_of(self, offsets):
        """{file offset: samples} of this build by block."""
        places = self.places()
        at = [p[0] for p in places]
        out = collections.Counter()
        for off, n in offsets.items():
            k = bisect.bisect(at, off) - 1
            if k >= 0 and off < at[k] + places[k][1]:
                out[places[k][2:]] += n
        return out

    def offsets_of(self, blocks):
        """The other way: every sample somewhere in its block."""
        rnd, out = random.Random(1), collections.Counter()
        for off, size, function, block in self.places():
            for _ in range(blocks.get((function, block), 0)):
                out[off + rnd.randrange(size)] += 1
        return out

    def live(self, target):
        """Samples by block, gathered by the monitor while the program trains."""
        import monitor
        offsets, n = collections.Counter(), 0
        while n < target:
            progress(f"{self.name}: {n} of {target} samples")
            feeds = [os.path.join(self.dir, f"feed{i}") for i in range(os.cpu_count())]
            followed = [subprocess.Popen(
                [tool("morph-monitor"), "--record", feed, "--", *self.train(self.long)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
                for feed in feeds]
            for p in followed:
                text = p.communicate()[1].decode()
                if p.returncode:
                    raise Unavailable(text.strip())
            had = n
            for feed in feeds:
                for batch in monitor.read_feed(feed)[1]:
                    for m in batch.modules:
                        if m.id == self.build_id:
                            offsets.update(m.samples)
                            n += sum(m.samples.values())
            if n == had:
                raise Unavailable("the monitor saw nothing of the program")
        return self.blocks_of(offsets)

    def counts(self, name, args):
        """--counts of one run, complete."""
        progress(f"{self.name}: counting {name}")
        return "--counts", self.write(name + ".counts", run(
            [os.path.join(BENCH, "exact"), "counts", self.module, self.artifact, *args[1:]]))

    def ideal(self, counts, n):
        """Samples as they would be if every instruction took the same time."""
        blocks = {}
        for line in open(counts[1]):
            f, b, c = line.split()
            blocks[f, int(b)] = int(c) * self.insns[f, int(b)]
        keys = sorted(blocks)
        return collections.Counter(random.Random(1).choices(keys, [blocks[k] for k in keys], k=n))

    # ---- layouts ----

    def edit(self, name, profile, *options):
        """(path of the new build, what morph-edit found out, its peak memory in MB)"""
        progress(f"{self.name}: laying out {name}")
        made = os.path.join(self.dir, "made")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
            p = subprocess.Popen([tool("morph-edit"), "--artifact", self.artifact, *profile, "-o",
                                  made, "--json", *options], stdout=out, stderr=said,
                                 stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
            if p.returncode:
                said.seek(0)
                raise Unavailable(f"morph-edit: {said.read().decode().strip()}")
        build = self.put(made, name)
        os.unlink(made)
        return build, json.loads(text), usage.ru_maxrss / 1024

    def score(self, counts, build):
        """What a build's layout is worth under these counts."""
        out = run([tool("morph-edit"), "--artifact", self.artifact, *counts, "--score", "--json",
                   "--layout", build])
        return json.loads(out)["score"]["before"]

    def taken(self, build, args):
        """(instructions, branches taken) of one run."""
        progress(f"{self.name}: counting branches of {os.path.basename(build)}")
        f = run([os.path.join(BENCH, "exact"), "taken", build, *args[1:]]).split()
        return int(f[0]), int(f[2])


class Lua(Program):
    package = "lua5.4"
    short, long, timed = 5, 1000, 250

    def build(self):
        # Its hashes begin with the time of day: every run would be another.
        self.hooked("make", "-C", "src", f"-j{os.cpu_count()}", "linux",
                    "MYCFLAGS=-D'luai_makeseed(L)=0x5eed'")
        return os.path.join(self.source, "src/lua")

    def train(self, rounds):
        return [self.module, os.path.join(BENCH, "lua/train.lua"), str(rounds)]

    def test(self, rounds):
        return [self.module, os.path.join(BENCH, "lua/test.lua"), str(rounds)]

    def recorded(self):
        out = collections.Counter()
        for line in open(os.path.join(TOP, "tests/corpus/lua/train.samples")):
            f = line.split()
            if f[0] != "#" and (f[0], f[1]) in self.by_unit:
                out[self.by_unit[f[0], f[1]], int(f[2])] += int(f[3])
        return out


class Sqlite(Program):
    package = "sqlite3"
    short, long, timed = 3, 2000, 100

    def build(self):
        if not os.path.exists(os.path.join(self.source, "sqlite3.c")):
            progress("sqlite: making the amalgamation")
            run(["./configure"], cwd=self.source)
            run(["make", "sqlite3.c", "shell.c"], cwd=self.source)
        self.hooked("gcc", "-O2", "shell.c", "sqlite3.c", "-o", "sqlite3-bench", "-lpthread", "-ldl",
                    "-lm")
        return os.path.join(self.source, "sqlite3-bench")

    def train(self, rounds):
        return [self.module, ":memory:"] + [f".read {BENCH}/sqlite/train.sql"] * rounds

    def test(self, rounds):
        return [self.module, ":memory:"] + [f".read {BENCH}/sqlite/test.sql"] * rounds


class Packer(Program):
    """Compresses C source to train, machine code to test."""
    short, long, timed = 1, 100, 10
    options = ["-c"]

    def inputs(self):
        text = b"".join(open(f, "rb").read() for f in sorted(
            glob.glob(os.path.join(self.source, "**/*.c"), recursive=True)))[:400000]
        code = open(tool("morphd"), "rb").read()[:400000]
        for name, data in ("train", text), ("test", code):
            with open(os.path.join(self.dir, name), "wb") as f:
                f.write(data)

    def train(self, rounds):
        return [self.module, *self.options] + [os.path.join(self.dir, "train")] * rounds

    def test(self, rounds):
        return [self.module, *self.options] + [os.path.join(self.dir, "test")] * rounds


class Gzip(Packer):
    package = "gzip"

    def build(self):
        run(["./configure", "CFLAGS=-O2"], cwd=self.source)
        self.hooked("make", f"-j{os.cpu_count()}")
        self.inputs()
        return os.path.join(self.source, "gzip")


class Bzip2(Packer):
    package = "bzip2"

    def build(self):
        self.hooked("make", "CFLAGS=-O2 -D_FILE_OFFSET_BITS=64", "bzip2")
        self.inputs()
        return os.path.join(self.source, "bzip2")


class Sort(Program):
    """sort of coreutils: words to train, numbers and keys to test."""
    package = "coreutils"
    short, long, timed = 1, 40, 10

    def build(self):
        run(["./configure", "CFLAGS=-O2"], cwd=self.source,
            env=dict(os.environ, FORCE_UNSAFE_CONFIGURE="1"))
        # One program alone does not ask for the headers that are made first.
        with open(os.path.join(self.source, "one.mk"), "w") as f:
            f.write("include Makefile\nheaders: $(BUILT_SOURCES)\n")
        run(["make", "-f", "one.mk", "headers"], cwd=self.source)
        self.hooked("make", f"-j{os.cpu_count()}", "src/sort")
        rnd = random.Random(1)
        self.write("train", "".join("".join(rnd.choices("abcdefghij -", k=rnd.randrange(3, 30))) +
                                    "\n" for _ in range(20000)))
        self.write("test", "".join(f"{rnd.randrange(10000)},{rnd.random():.6f},{rnd.randrange(99):x}\n"
                                   for _ in range(20000)))
        return os.path.join(self.source, "src/sort")

    def train(self, rounds):
        return [self.module, "--parallel=1"] + [os.path.join(self.dir, "train")] * rounds

    def test(self, rounds):
        return [self.module, "--parallel=1", "-t,", "-k1,1n", "-k2,2"] + \
            [os.path.join(self.dir, "test")] * rounds


PROGRAMS = {c.__name__.lower(): c for c in (Lua, Sqlite, Gzip, Bzip2, Sort)}
