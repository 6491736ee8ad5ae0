"""The programs that are measured, the nearest of today to those of the Morph paper
(SOSP'97, tables 1 and 2), each with a workload to train on and another to test."""
import collections
import glob
import os
import random

import inputs
from rig import BENCH, TOP, Program, run


class Lua(Program):
    package = "lua5.4"
    short, long, timed = 2, 300, 50
    trained = "`lua/train.lua`: words, queens, closures, strings, numbers"
    tested = "`lua/test.lua`: other scripts"

    def compile(self, tree, how):
        # Its hashes begin with the time of day: every run would be another.
        self.make(how, tree + "/src", "linux", f"MYLDFLAGS={how.ldflags}",
                  f"MYCFLAGS={how.cflags} -D'luai_makeseed(L)=0x5eed'")
        return tree + "/src/lua"

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
    short, long, timed = 2, 800, 23
    trained = "`sqlite/train.sql`: inserts, joins, groups, text"
    tested = "`sqlite/test.sql`: windows, recursion, JSON, sets, blobs"

    def ready(self, tree):
        if not os.path.exists(tree + "/sqlite3.c"):
            run(["./configure"], cwd=tree)
            run(["make", "sqlite3.c", "shell.c"], cwd=tree)

    def compile(self, tree, how):
        for source in "shell.c", "sqlite3.c":
            self.sh(how, [how.cc, *how.cflags.split(), "-c", source], tree)
        self.sh(how, [how.cc, "shell.o", "sqlite3.o", "-o", "sqlite3-bench", *how.ldflags.split(),
                      "-lpthread", "-ldl", "-lm"], tree)
        return tree + "/sqlite3-bench"

    def train(self, rounds):
        return [self.module, ":memory:"] + [f".read {BENCH}/sqlite/train.sql"] * rounds

    def test(self, rounds):
        return [self.module, ":memory:"] + [f".read {BENCH}/sqlite/test.sql"] * rounds


class Packer(Program):
    sources, options = "*.c", ["-c"]
    trained = "C source and a generated table of numbers"
    tested = "a generated server log and raw image data"

    def inputs(self):
        sources = sorted(glob.glob(os.path.join(self.source, self.sources)))
        self.write("train", inputs.texts(sources, 300000))
        self.write("test", inputs.log_and_image(400000))

    def train(self, rounds):
        return [self.module, *self.options] + [self.path("train")] * rounds

    def test(self, rounds):
        return [self.module, *self.options] + [self.path("test")] * rounds


class Gzip(Packer):
    package = "gzip"
    short, long, timed = 2, 300, 40

    def ready(self, tree):
        run(["./configure"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree)
        return tree + "/gzip"


class Bzip2(Packer):
    package = "bzip2"
    short, long, timed = 1, 150, 5
    extra = "-D_FILE_OFFSET_BITS=64"

    def compile(self, tree, how):
        self.make_flags(how, tree, "bzip2")
        return tree + "/bzip2"


class Sort(Program):
    package = "coreutils"
    short, long, timed = 3, 200, 20
    trained = "lines like passwd's by user and home (`-t: -k3,3n -k6,6`)"
    tested = "numbers and keys in columns (`-t, -k1,1n -k2,2`)"

    def ready(self, tree):
        run(["./configure"], cwd=tree, env=dict(os.environ, FORCE_UNSAFE_CONFIGURE="1"))
        # One program alone does not ask for the headers that are made first.
        with open(tree + "/one.mk", "w") as f:
            f.write("include Makefile\nheaders: $(BUILT_SOURCES)\n")
        run(["make", "-f", "one.mk", "headers"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "src/sort")
        return tree + "/src/sort"

    def inputs(self):
        rnd = random.Random(1)
        names = ["".join(rnd.choices("abcdefghij-", k=rnd.randrange(3, 12))) for _ in range(20000)]
        self.write("train", "".join(f"{n}:x:{rnd.randrange(1000, 9000)}:100:{n.title()}:/home/{n}:/bin/sh\n"
                                    for n in names))
        self.write("test", "".join(f"{rnd.randrange(10000)},{rnd.random():.6f},{rnd.randrange(99):x}\n"
                                   for _ in range(20000)))

    def train(self, rounds):
        return [self.module, "--parallel=1", "-t:", "-k3,3n", "-k6,6"] + [self.path("train")] * rounds

    def test(self, rounds):
        return [self.module, "--parallel=1", "-t,", "-k1,1n", "-k2,2"] + [self.path("test")] * rounds


class Perl(Program):
    package = "perl"
    short, long, timed = 3, 400, 44
    trained = "`perl/train.pl`: primes, word scores, patterns, formats"
    tested = "`perl/test.pl`: anagrams, objects, a parser, matrices, records"

    settings = dict(PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0")  # its hashes are seeded at random

    def ready(self, tree):
        run(["./Configure", "-des", "-Dcc=cc", "-Doptimize=-O2", "-Dman1dir=none", "-Dman3dir=none"],
            cwd=tree)

    def compile(self, tree, how):
        # config.sh says cc, which is whatever that is in PATH.
        bin_ = self.path("cc")
        os.makedirs(bin_, exist_ok=True)
        cc = os.path.join(bin_, "cc")
        if os.path.lexists(cc):
            os.unlink(cc)
        os.symlink(run(["which", how.cc]).strip(), cc)
        self.env["PATH"] = f"{bin_}:{os.environ['PATH']}"
        self.sh(how, ["make", f"-j{os.cpu_count()}", f"OPTIMIZE={how.cflags}", f"CLDFLAGS={how.ldflags}", "perl"], tree)
        return tree + "/perl"

    def train(self, rounds):
        return [self.module, f"-I{self.source}/lib", os.path.join(BENCH, "perl/train.pl"), str(rounds)]

    def test(self, rounds):
        return [self.module, f"-I{self.source}/lib", os.path.join(BENCH, "perl/test.pl"), str(rounds)]


class Gnugo(Program):
    package = "gnugo"
    extra = "-fcommon"
    short, long, timed = 1, 2, 8
    trained = "the next move in each of 12 games of its regression suite, level 1"
    tested = "moves in 8 other games, level 1"

    def ready(self, tree):
        run(["./configure", "--without-curses", "--without-readline", "CFLAGS=-O2 -fcommon"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree)
        return tree + "/interface/gnugo"

    def game(self, name, games, positions):
        """Input for the text protocol: the next move in each of these positions."""
        lines = []
        for i in positions:
            lines.append(f"loadsgf {self.source}/regression/games/{games[i % len(games)]}.sgf "
                         f"{30 + i * 23 % 90}")
            lines.append(f"reg_genmove {'black' if i % 2 else 'white'}")
        return [self.module, "--quiet", "--seed", "1", "--level", "1", "--mode", "gtp", "--gtp-input",
                self.write(f"{name}{len(positions)}.gtp", "\n".join(lines) + "\n")]

    def train(self, rounds):
        games = [f"strategy{i}" for i in range(10, 22)]
        return self.game("train", games, list(range(len(games))) * rounds)

    def test(self, rounds):
        return self.game("test", ["9x9-1", "9x9-2", "arion", "viking1", "blunder1", "ab1_fuseki", "9x9-3",
                                  "viking2"], range(rounds))


class Cjpeg(Program):
    """ijpeg; without its hand-written assembly, which no compiler's profile moves."""
    package = "libjpeg-turbo"
    short, long, timed = 1, 80, 20
    trained = "another generated picture, progressive, quality 90"
    tested = "a generated picture, progressive"

    def compile(self, tree, how):
        self.cmake(how, tree, "cjpeg-static", "-DWITH_SIMD=0", "-DENABLE_SHARED=0", "-DWITH_TURBOJPEG=0")
        return tree + "/made/cjpeg-static"

    def picture(self, name, seed, rounds):
        path = self.path(f"{name}{rounds}.ppm")
        if not os.path.exists(path):
            inputs.ppm(path, seed, 1024, 512, rounds)
        return path

    def train(self, rounds):
        return [self.module, "-progressive", "-quality", "90", self.picture("train", 5, rounds)]

    def test(self, rounds):
        return [self.module, "-progressive", self.picture("test", 9, rounds)]


class Mpeg2dec(Program):
    package = "mpeg2dec"
    short, long, timed = 1, 120, 18
    trained = "a generated film: slow, 3 Mbit/s, long groups of pictures"
    tested = "another one: fast, 6 Mbit/s, short groups"

    def ready(self, tree):
        run(["./configure", "--disable-shared", "--without-x", "--disable-sdl"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree)
        return tree + "/src/mpeg2dec"

    def film(self, name, rounds, seed, *options):
        one, path = self.path(name + ".m2v"), self.path(f"{name}{rounds}.m2v")
        if not os.path.exists(one):
            inputs.video(one, seed, 60, ["-f", "3", *options])
        if not os.path.exists(path):
            self.write(path, open(one, "rb").read() * rounds)
        return path

    def train(self, rounds):
        return [self.module, "-o", "null", self.film("train", rounds, 11, "-b", "3000")]

    def test(self, rounds, out="null"):
        return [self.module, "-o", out, self.film("test", rounds, 21, "-b", "6000", "-g", "6", "-G", "9")]

    def check(self, rounds):
        return self.test(rounds, "md5")


class Newlisp(Program):
    package = "newlisp"
    extra = "-DSUPPORT_UTF8 -DNEWLISP64 -DLINUX"
    short, long, timed = 10, 1600, 190
    trained = "`newlisp/train.lsp`: recursion, sorting, tables, strings, matrices"
    tested = "`newlisp/test.lsp`: queens, derivatives, trees, parsing"

    def compile(self, tree, how):
        sources = ["newlisp.c", "pcre.c"] + [f"nl-{n}.c" for n in (
            "debug filesys import list liststr math matrix sock string symbol utf8 web xml-json").split()]
        return self.link(how, tree, "newlisp", sources, "-lm", "-ldl")

    def train(self, rounds):
        return [self.module, os.path.join(BENCH, "newlisp/train.lsp"), str(rounds)]

    def test(self, rounds):
        return [self.module, os.path.join(BENCH, "newlisp/test.lsp"), str(rounds)]


PROGRAMS = {c.__name__.lower(): c for c in (
    Lua, Sqlite, Gzip, Bzip2, Sort, Perl, Gnugo, Cjpeg, Mpeg2dec, Newlisp)}
