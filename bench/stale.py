"""What a profile is still worth when its program is built again from changed source.

A program is trained; its profile is used for the next release, or for the same one after seeded
changes of its source. Releases come from clones of the projects' repositories, in the folder that
MORPH_HISTORY names: lua, zlib, lz4.
"""
import glob
import json
import os
import random
import re

import inputs
from gathered import TAKEN, complete, worth
from rig import BENCH, Program, Unavailable, progress, run

SAMPLES = 15000
HISTORY = os.environ.get("MORPH_HISTORY", "")


class Release(Program):
    """A program of one release in a project's repository."""
    short = 1

    def __init__(self, work, tag, seed=None):
        self.tag, self.seed = tag, seed
        super().__init__(os.path.join(work, "releases", self.get_version()))

    def get_ready(self):
        if os.path.isdir(self.source):
            return
        repository = os.path.join(HISTORY, self.name)
        if not HISTORY or not os.path.isdir(repository):
            raise Unavailable(f"MORPH_HISTORY names no folder with a clone of {self.name}")
        run(["git", "-C", repository, "archive", "-o", self.path("source.tar"), self.tag])
        os.makedirs(self.source)
        run(["tar", "-xf", self.path("source.tar"), "-C", self.source])
        if self.seed is not None:
            change(self.source, self.files, random.Random(self.seed))

    def get_version(self):
        return self.tag if self.seed is None else f"{self.tag}, seed {self.seed}"


class Lua(Release):
    files = "*.c"
    tags = ["v5.4.0", "v5.4.1", "v5.4.2", "v5.4.3", "v5.4.4", "v5.4.6"]
    extra = "-DLUA_USE_LINUX -D'luai_makeseed(L)=0x5eed'"
    trained = "`lua/train.lua`"

    def compile(self, tree, how):
        self.write(tree + "/bench.mk", "lua: $(patsubst %.c,%.o,$(filter-out onelua.c ltests.c,$(wildcard *.c)))\n"
                   "\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm -ldl\n")
        self.make_flags(how, tree, "-f", "bench.mk", "lua")
        return tree + "/lua"

    def train(self, rounds):
        return [self.module, os.path.join(BENCH, "lua/train.lua"), str(rounds)]


class Packer(Release):
    """What it packs is of this tree, the same for all releases."""
    options = ["-c"]
    trained = "C source and a generated table of numbers"

    def inputs(self):
        self.write("train", inputs.texts(sorted(glob.glob(os.path.join(BENCH, "*.c"))), 300000))

    def train(self, rounds):
        return [self.module, *self.options, self.path("train")]


class Zlib(Packer):
    files = "*.c"
    tags = ["v1.2.8", "v1.2.9", "v1.2.11", "v1.2.12", "v1.2.13", "v1.3.1"]

    def compile(self, tree, how):
        self.sh(how, ["./configure", "--static"], tree)
        self.make_flags(how, tree, "minigzip")
        return tree + "/minigzip"


class Lz4(Packer):
    files = "lib/*.c"
    tags = ["v1.8.3", "v1.9.0", "v1.9.1", "v1.9.2", "v1.9.3", "v1.9.4"]
    options = ["-9", "-c"]

    def compile(self, tree, how):
        self.make_flags(how, tree, "-C", "programs", "lz4")
        return tree + "/programs/lz4"


# ---- changed sources ----

CHANGES, SEEDS = 20, 5
BODY, STATEMENT = re.compile(r"^({|[a-zA-Z].*\) *{)$"), re.compile(r"^[ \t]+(?![ \t]|else|while|case|default|#)[^#:]*;$")


def bodies(lines):
    """[(first line, last line)] of the functions outside of #if."""
    depth, begin = 0, None
    for i, line in enumerate(lines):
        depth += line.startswith("#if") - line.startswith("#endif")
        if BODY.match(line) and not depth:
            begin = i
        elif line.startswith("}") and begin is not None:
            yield begin, i
            begin = None


def add_statement(lines, rnd, everywhere):
    """A statement or a branch, where no semantics depend on it."""
    sites = [i for a, b in bodies(lines) for i in range(a + 1, b)
             if STATEMENT.match(lines[i]) and lines[i - 1].rstrip().endswith((";", "{", "}"))]
    if not sites:
        return False
    i, n = rnd.choice(sites), rnd.randrange(1, 1000)
    lines.insert(i, rnd.choice([f"  bench_seen += {n};", f"  if (bench_seen > {n}) bench_seen = 0;",
                                f"  if (bench_seen == {n}) {{ bench_seen += 2; bench_seen ^= {n}; }}"]))
    return True


def static_functions(lines):
    """[(line of the name, name, last line)]"""
    for a, b in bodies(lines):
        head = a if lines[a] != "{" else a - 1
        found = re.match(r"^static [\w *]*?\b(\w+) ?\([^()]*\)( *{)?$", lines[head])
        if found:
            yield head, found[1], b


def rename(lines, rnd, everywhere):
    functions = list(static_functions(lines))
    if not functions:
        return False
    name = rnd.choice(functions)[1]
    for text in everywhere:
        text[:] = [re.sub(rf"\b{name}\b", name + "_2", line) for line in text]
    return True


def move(lines, rnd, everywhere):
    """A function to the end of its file."""
    functions = list(static_functions(lines))
    if not functions:
        return False
    head, _, end = rnd.choice(functions)
    lines += lines[head:end + 1]
    lines[head:end + 1] = [lines[head].rstrip("{ ") + ";"]
    return True


def change(tree, files, rnd):
    """CHANGES of them: of five about three statements or branches, a name, an order."""
    paths = sorted(glob.glob(os.path.join(tree, files)))
    text, size = {}, [os.path.getsize(p) for p in paths]
    for path in paths:
        with open(path, encoding="latin-1") as f:
            text[path] = f.read().split("\n")
    done = 0
    while done < CHANGES:
        how = rnd.choice((add_statement, add_statement, add_statement, rename, move))
        done += how(text[rnd.choices(paths, size)[0]], rnd, text.values())
    for path in paths:
        with open(path, "w", encoding="latin-1") as f:
            f.write("static volatile int bench_seen;\n" + "\n".join(text[path]))


PROJECTS = {"lua": Lua, "zlib": Zlib, "lz4": Lz4}


# ---- one step of a history ----

def share(built, row, best):
    built, taken, best = (float(r[TAKEN]) for r in (built, row, best))
    return (built - taken) / (built - best)


def step(old, new):
    """(what became of the samples, shares of the complete profile's gain: fresh, of equal keys, carried)"""
    progress(f"{new.name}: {old.version} to {new.version}")
    stale = old.sample_lines("stale", old.ideal(complete(old), SAMPLES))
    truth = complete(new)
    fresh = new.sample_lines("fresh", new.ideal(truth, SAMPLES))
    own = set(new.key.values())
    equal = new.write("equal.samples", "".join(l for l in open(stale[1]) if l.split()[0] in own))
    edit = new.tool("morph-edit")
    run([edit, "--artifact", old.artifact, "--shapes", "-o", new.path("old.shapes")])
    became = json.loads(run([edit, "--artifact", new.artifact, "--carry", new.path("old.shapes"), *stale,
                             "-o", new.path("carried.samples"), "--json"]))
    built, *rows, best = worth(new, truth, [("fresh", fresh), ("equal", (None, equal)),
                                            ("carried", (None, new.path("carried.samples")))])
    return [became[k]["samples"] / SAMPLES for k in ("same", "changed", "renamed", "gone")], \
        [share(built, r, best) for r in rows]


HEAD = ["program", "same", "changed", "renamed", "gone", "fresh", "equal keys", "carried", "of fresh"]


def row(name, became, shares):
    return [name, *(f"{v:.1%}" for v in became), *(f"{v:.1%}" for v in shares), f"{shares[2] / shares[0]:.1%}"]


def history(work, name):
    """Rows of a project's releases, each with the profile of the one before, and of changes to the last."""
    project = PROJECTS[name]
    releases = [project(work, tag) for tag in project.tags]
    steps = [*zip(releases, releases[1:])]
    steps += [(releases[-1], project(work, project.tags[-1], seed)) for seed in range(SEEDS)]
    return [row(f"{name} {old.version} to {new.version}", *step(old, new)) for old, new in steps]
