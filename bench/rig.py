"""What the benchmarks share: real programs built through the hooks, profiles of
them, layouts made from those, and how to say on what machine it was."""
import collections
import concurrent.futures
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import platform
import queue
import random
import shutil
import sqlite3
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


def on_every_cpu(work):
    """What all of work return, called as many at a time as there are CPUs, each on one of its own."""
    cpus = queue.SimpleQueue()
    for cpu in os.sched_getaffinity(0):
        cpus.put(cpu)

    def pinned(call):
        cpu = cpus.get()
        os.sched_setaffinity(0, {cpu})  # of this thread, and of what it starts
        try:
            return call()
        finally:
            cpus.put(cpu)

    with concurrent.futures.ThreadPoolExecutor(cpus.qsize()) as lanes:
        return [done.result() for done in [lanes.submit(pinned, call) for call in work]]


def of_each(names, call):
    """What call(name) returns, of all names that can be measured; of the others it says why not."""
    for name in names:
        try:
            yield call(name)
        except Unavailable as e:
            progress()
            print(f"{name}: left out: {e}\n", flush=True)


def run(argv, **more):
    try:
        r = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    except FileNotFoundError as e:
        raise Unavailable(f"{e.filename} is not there") from None
    if r.returncode:
        raise Unavailable(f"{' '.join(argv[:4])}: {(r.stderr or r.stdout).strip()[-600:]}")
    return r.stdout


# A process is counted from its fork on: for a peak of its own a small one has to start it.
WAITER = """
import json, os, sys, time
began = time.monotonic()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
os.write(int(sys.argv[1]), json.dumps([os.waitstatus_to_exitcode(status), time.monotonic() - began,
                                       usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]).encode())
"""


def measured(argv, **more):
    """(standard output, wall seconds, peak memory in MB) of a command and its children."""
    text, seconds, _, peak = waited(argv, **more)
    return text, seconds, peak


def spent(argv, **more):
    """The same with CPU seconds in place of wall time."""
    text, _, cpu, peak = waited(argv, **more)
    return text, cpu, peak


def waited(argv, **more):
    """(standard output, wall seconds, CPU seconds, peak memory in MB)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said, \
            tempfile.TemporaryFile() as found:
        subprocess.run([sys.executable, "-ISc", WAITER, str(found.fileno()), *argv], stdout=out,
                       stderr=said, stdin=subprocess.DEVNULL, pass_fds=[found.fileno()], **more)
        for f in out, said, found:
            f.seek(0)
        text, reason = out.read().decode(errors="replace"), said.read().decode(errors="replace")
        status, *usage = json.loads(found.read() or "[-1, 0, 0, 0]")
        if status:
            reason = (reason or text).strip()[-600:]
            raise Unavailable(f"{os.path.basename(argv[0])}: {reason or status}")
    return text, *usage


# ---- the report ----

def begin():
    """Installs what the benchmarks need where it is missing, and says on what they run."""
    packages = os.path.join(TOP, "config/packages.bench")
    if subprocess.run([os.path.join(TOP, "config/install-deps"), packages], stdout=sys.stderr).returncode:
        print("bench: what needs these packages is left out", file=sys.stderr)
    print(f"# Morph, measured\n\n{machine()}\n", flush=True)


def cpu_maker():
    """Intel, AMD, …: predictors and front ends differ by it more than by anything else."""
    vendor = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("vendor_id")), "unknown")
    return {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}.get(vendor, vendor)


def machine():
    """The kind of machine, without its name."""
    virtual = any(l.startswith("flags") and " hypervisor" in l for l in open("/proc/cpuinfo"))
    pmu = os.path.exists("/sys/bus/event_source/devices/cpu/events/cycles") or \
        os.path.exists("/sys/bus/event_source/devices/cpu/events/cpu-cycles")
    cc = run(["gcc", "--version"]).splitlines()[0]
    ld = run(["ld", "--version"]).splitlines()[0]
    return "; ".join([
        f"{os.cpu_count()} CPUs ({cpu_maker()}) of a {'virtual' if virtual else 'bare'} machine, {platform.machine()}, "
        f"{'PMU' if pmu else 'no PMU'}", f"Linux {platform.release().split('-')[0]}", cc, ld])


def table_lines(head, rows):
    """Markdown that lines up."""
    rows = [[str(c) for c in r] for r in rows]
    width = [max(len(r[i]) for r in [head] + rows) for i in range(len(head))]
    for k, r in enumerate([head] + rows):
        cells = [c.ljust(w) if not i else c.rjust(w) for i, (c, w) in enumerate(zip(r, width))]
        yield "| " + " | ".join(cells) + " |"
        if not k:
            yield "|" + "|".join("-" * (w + 1) + ("-" if not i else ":")
                                 for i, w in enumerate(width)) + "|"


def table(head, rows):
    print("\n".join(table_lines(head, rows)) + "\n", flush=True)


class Records:
    """What is found of programs, kept by the maker of the CPU in docs/bench/FOLDER/MAKER/NAME.json."""

    def __init__(self, folder):
        self.folder = os.path.join(TOP, "docs/bench", folder)

    def makers(self):
        if not os.path.isdir(self.folder):
            raise Unavailable("nothing was measured yet")
        return sorted(os.listdir(self.folder))

    def path(self, name, maker=None):
        return os.path.join(self.folder, maker or cpu_maker(), name + ".json")

    def has(self, name, maker=None):
        return os.path.exists(self.path(name, maker))

    def load(self, name, maker=None):
        with open(self.path(name, maker)) as f:
            return json.load(f)

    def store(self, name, found):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w") as f:
            json.dump(found, f, indent=1, sort_keys=True)
            f.write("\n")
        os.rename(path + ".new", path)


# ---- programs ----

def hooks_id():
    """Changes when the hooks do."""
    h = hashlib.sha256()
    for f in "bin/morph-cc", "libexec/morph/as", "libexec/morph/ld":
        h.update(open(os.path.join(BUILD, f), "rb").read())
    return h.hexdigest()[:16]


# What Debian gives every package, without debug information.
CFLAGS = "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"
LDFLAGS = "-Wl,-z,relro"

# How a program is compiled: all builds of it differ in this alone.
How = collections.namedtuple("How", "cc cflags ldflags hooked", defaults=("gcc", CFLAGS, LDFLAGS, False))
HOOKED = How(hooked=True)


def cxx_of(cc):
    """The compiler for C++ beside one for C."""
    return cc.replace("gcc", "g++").replace("clang", "clang++")


class Program:
    """A program of a Debian source package, built through the hooks as `module`.

    train and test are workloads that differ; each is called with a number of
    rounds and gives the arguments. What was built before in the same folder with
    the same flags and hooks is used again.
    """
    package = None
    extra = ""  # flags the program needs besides
    trained = tested = ""  # the workloads in words
    settings = {}  # of the environment, without which every run would be another

    def __init__(self, work, how=HOOKED):
        os.environ.update(self.settings)
        self.name = type(self).__name__.lower()
        self.work, self.how = work, how
        self.dir = os.path.join(work, self.name)
        self.env = dict(os.environ, MORPH_ARTIFACTS=os.path.join(self.dir, "artifacts"),
                        MORPH_HOOKS_LOG=os.path.join(self.dir, "hooks.log"), LC_ALL="C")
        self.forget_another_training()
        self.source = os.path.join(self.dir, "ready")
        self.get_ready()
        self.version = self.get_version()
        self.inputs()
        self.module = self.made("base", how)
        self.artifact = self.module + ".morph"
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
        # A profile is of functions, whichever build they are in.
        self.functions = hashlib.sha256("\n".join(sorted(self.key.values())).encode()).hexdigest()[:16]

    # ---- what each program says of itself ----

    def ready(self, tree):
        """Configures and makes what is no object code; done once."""

    def inputs(self):
        """Writes the files the workloads read."""

    def compile(self, tree, how):
        """The program's path in tree, built as `how` says."""
        raise NotImplementedError

    def check(self, rounds):
        """Arguments whose output tells a right build from a wrong one."""
        return self.test(rounds)

    file = 0  # where a command has the build
    counted = ()  # what bench/exact has to know besides

    def command(self, build, args):
        """What runs a build with the arguments of a workload."""
        return [build, *args[1:]]

    # ---- builds ----

    def again(self, how):
        """The same program with `how` for its module, in a folder of its own."""
        return type(self)(os.path.join(self.work, how.cc), how)

    def forget_another_training(self):
        """Removes the builds and profiles of all ways where they are of another training."""
        kept = self.path("trained")
        if not os.path.exists(kept) or open(kept).read() != self.trained:
            shutil.rmtree(self.dir, ignore_errors=True)
            os.makedirs(self.dir)
            self.write("trained", self.trained)

    def get_ready(self):
        if os.path.exists(os.path.join(self.dir, "ready.done")):
            return
        if subprocess.run([os.path.join(BENCH, "fetch-source"), self.package,
                           os.path.join(BUILD, "src")], stderr=sys.stderr).returncode:
            raise Unavailable(f"no source of {self.package}")
        progress(f"{self.name}: configuring")
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(os.path.join(BUILD, "src", self.package), self.source, symlinks=True)
        self.ready(self.source)
        self.write("ready.done", "")

    def get_version(self):
        with open(os.path.join(BUILD, "src", self.package + ".version")) as f:
            return f.read().strip()

    def tree(self):
        """The folder all builds are made in, fresh: paths in them are the same."""
        tree = os.path.join(self.dir, "src")
        shutil.rmtree(tree, ignore_errors=True)
        run(["cp", "-a", self.source, tree])
        return tree

    def made(self, name, how, before=None):
        """The build `name`; before(tree) may put files into the tree."""
        path = os.path.join(self.dir, name)
        recipe = json.dumps([how, hooks_id() if how.hooked else ""])
        if os.path.exists(path + ".how") and open(path + ".how").read() == recipe:
            return path
        progress(f"{self.name}: building {name}")
        tree = self.tree()
        if before:
            before(tree)
        built = self.compile(tree, how._replace(cflags=f"{how.cflags} {self.extra}".strip()))
        # Every build that is compared is a file written in one go, in one place.
        self.put(built, name)
        if how.hooked:
            if not os.path.exists(built + ".morph"):
                raise Unavailable(f"{self.name}: the hooks left no artifact")
            self.put(built + ".morph", name + ".morph")
        self.write(name + ".how", recipe)
        return path

    def put(self, path, name):
        to = os.path.join(self.dir, name)
        shutil.copy(path, to)
        return to

    def sh(self, how, argv, cwd):
        wrap = [tool("morphctl"), "hooks", "run", "--"] if how.hooked else []
        run([*wrap, *argv], cwd=cwd, env=self.env)

    def make(self, how, tree, *args):
        self.sh(how, ["make", f"-j{os.cpu_count()}", f"CC={how.cc}", *args], tree)

    def make_flags(self, how, tree, *args):
        """For makefiles whose CFLAGS and LDFLAGS are the user's."""
        self.make(how, tree, f"CFLAGS={how.cflags}", f"LDFLAGS={how.ldflags}", *args)

    def link(self, how, tree, name, sources, *libraries):
        """Makes tree/name of these C files, where the package's own makefile does more or other things."""
        objects = " ".join(s[:-2] + ".o" for s in sources)
        self.write(tree + "/bench.mk", f"{name}: {objects}\n\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ "
                   f"{' '.join(libraries)}\n")
        self.make_flags(how, tree, "-f", "bench.mk", name)
        return os.path.join(tree, name)

    def cmake(self, how, tree, target, *options):
        self.sh(how, ["cmake", "-S", ".", "-B", "made", "-DCMAKE_BUILD_TYPE=None", *options,
                      f"-DCMAKE_C_COMPILER={how.cc}", f"-DCMAKE_C_FLAGS={how.cflags}",
                      f"-DCMAKE_CXX_COMPILER={cxx_of(how.cc)}", f"-DCMAKE_CXX_FLAGS={how.cflags}",
                      f"-DCMAKE_EXE_LINKER_FLAGS={how.ldflags}"], tree)
        self.sh(how, ["make", f"-j{os.cpu_count()}", "-C", "made", target], tree)

    tool = staticmethod(tool)

    def write(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, "w" if isinstance(data, str) else "wb") as f:
            f.write(data)
        return path

    def path(self, name):
        return os.path.join(self.dir, name)

    # ---- profiles, as files for morph-edit ----

    def sample_lines(self, name, blocks):
        """--samples from {(function#key, block): samples}."""
        return "--samples", self.write(
            name + ".samples", "".join(f"{f} {b} {c}\n" for (f, b), c in sorted(blocks.items())))

    def places(self):
        """[(file offset, size, function#key, block)] in ascending order."""
        out = []
        for at, size, tu, func, block in exact.block_starts(self.elf):
            for off, addr, held, code in self.elf.loaded():
                if size and code and addr <= at < addr + held:
                    out.append((at - addr + off, size, self.key[tu, func], block))
        return sorted(out)

    def offsets_of(self, blocks):
        """{file offset: samples}: every sample of {(function#key, block): samples} somewhere in its block."""
        rnd, out = random.Random(1), collections.Counter()
        for off, size, function, block in self.places():
            for _ in range(blocks.get((function, block), 0)):
                out[off + rnd.randrange(size)] += 1
        return out

    def counts(self, name, args):
        """--counts of one run, complete."""
        kept, of = self.path(name + ".counts"), json.dumps([self.build_id, args[1:]])
        if not os.path.exists(kept + ".of") or open(kept + ".of").read() != of:
            progress(f"{self.name}: counting {name}")
            self.write(kept, run([os.path.join(BENCH, "exact"), "counts", self.module, self.artifact,
                                  *args[1:]], env=self.env))
            self.write(kept + ".of", of)
        return "--counts", kept

    def ideal(self, counts, n):
        """Samples as they would be if every instruction took the same time."""
        blocks = {}
        for line in open(counts[1]):
            f = line.split()
            if len(f) == 3:
                blocks[f[0], int(f[1])] = int(f[2]) * self.insns[f[0], int(f[1])]
        keys = sorted(blocks)
        return collections.Counter(random.Random(1).choices(keys, [blocks[k] for k in keys], k=n))

    def opaque(self):
        """How many functions the editor does not understand."""
        report = json.loads(run([tool("morph-edit"), "--artifact", self.artifact, "--report", "--json"]))
        return report["opaque"]

    # ---- layouts ----

    def edit(self, name, profile, *options):
        """(path of the new build, what morph-edit found out, its peak memory in MB)"""
        progress(f"{self.name}: laying out {name}")
        made = self.path("made")
        text, _, peak = measured([tool("morph-edit"), "--artifact", self.artifact, *profile, "-o", made,
                                  "--json", *options])
        build = self.put(made, name)
        os.unlink(made)
        return build, json.loads(text), peak

    def score(self, counts, build):
        """What a build's layout is worth under these counts."""
        out = run([tool("morph-edit"), "--artifact", self.artifact, *counts, "--score", "--json",
                   "--layout", build])
        return json.loads(out)["score"]["before"]

    # ---- what is measured of builds ----

    def times(self, builds, args, rounds, keep=None):
        """Ratios of the builds' CPU times to the first one's, and these times (bench/pairs).

        With a name to keep them by they are used again as long as nothing of it changes.
        """
        of = [[hashlib.sha256(open(b, "rb").read()).hexdigest() for b in builds], args, rounds]
        kept = self.path(f"{keep}.times")
        if keep and os.path.exists(kept):
            with open(kept) as f:
                same, ratios = json.load(f)
            if same == of:
                return ratios
        ratios = pairs.compare([self.command(b, args) for b in builds], rounds,
                               lambda i, n: progress(f"{self.name}: round {i} of {n}"), True, self.file, env=self.env)
        if keep:
            self.write(os.path.basename(kept), json.dumps([of, ratios]))
        return ratios

    def taken(self, build, args):
        """(instructions, branches taken, lines that hold 95 % of the former) of one run.

        Kept for the same file, arguments and bench/exact.
        """
        of = hashlib.sha256(json.dumps(args[1:]).encode())
        for path in build, os.path.join(BENCH, "exact"):
            with open(path, "rb") as f:
                of.update(f.read())
        kept = self.path(f"{of.hexdigest()[:16]}.taken")
        if not os.path.exists(kept):
            progress(f"{self.name}: counting branches of {os.path.basename(build)}")
            said = run([os.path.join(BENCH, "exact"), "taken", *self.counted, build, *args[1:]], env=self.env)
            self.write(os.path.basename(kept), said)
        with open(kept) as f:
            count, _, taken, _, lines, _ = f.read().split()
        return int(count), int(taken), int(lines)
