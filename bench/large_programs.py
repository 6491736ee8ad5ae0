"""Large programs with flat profiles: what layouts are worth where most functions have a handful of
samples (bench/run large). Nothing was tuned on their test workloads."""
import glob
import os
import tarfile

from programs import Sqlite
from rig import BENCH, BUILD, Program, run
from unseen_programs import Tcc, Written

SCRIPTS = os.path.join(BENCH, "large")


def preprocessed(p, name, argv, cwd):
    """p's file of what the C compiler makes of these arguments."""
    if not os.path.exists(p.path(name)):
        run(["gcc", "-E", "-P", "-o", p.path(name), *argv], cwd=cwd)
    return p.path(name)


class Cc1(Program):
    """GCC's own compiler of C. A process compiles one file, whatever the rounds."""
    package = "gcc-12"
    short = long = timed = 1
    trained = "SQLite in one file, -O2"
    tested = "tcc in one file, -O2"

    def __init__(self, work):
        self.others = Sqlite(work), Tcc(work)
        super().__init__(work)

    def ready(self, tree):
        with tarfile.open(glob.glob(tree + "/gcc-*.tar.xz")[0]) as packed:
            packed.extractall(tree)
        os.rename(glob.glob(tree + "/gcc-*/")[0], tree + "/gcc")
        # Debian's archive is without the manual, from which a rule makes sure that it is up to date.
        make = tree + "/gcc/gcc/Makefile.in"
        with open(make) as f:
            text = f.read()
        with open(make, "w") as f:
            f.write(text.replace("s-tm-texi: build/genhooks", "s-tm-texi-checked: build/genhooks")
                    .replace("$(srcdir)/doc/tm.texi: s-tm-texi", "s-tm-texi-made: s-tm-texi")
                    .replace("s-tm-texi: $(srcdir)/doc/../doc/tm.texi\n", "s-tm-texi:\n\t$(STAMP) s-tm-texi\n"))

    def compile(self, tree, how):
        made = tree + "/made"
        os.makedirs(made)
        cxx = how.cc.replace("gcc", "g++").replace("clang", "clang++")
        run(["../gcc/configure", f"CC={how.cc}", f"CXX={cxx}", f"CFLAGS={how.cflags}", f"CXXFLAGS={how.cflags}",
             f"LDFLAGS={how.ldflags}", "--disable-bootstrap", "--enable-languages=c", "--disable-multilib",
             "--disable-nls", "--without-isl", "--enable-checking=release", "--disable-lto",
             "--disable-plugin", "--disable-libsanitizer", "MAKEINFO=missing"], cwd=made)
        self.sh(how, ["make", f"-j{os.cpu_count()}", "all-gcc"], made)
        return made + "/gcc/cc1"

    def inputs(self):
        sqlite, tcc = self.others
        preprocessed(self, "train.i", ["sqlite3.c"], sqlite.source)
        preprocessed(self, "test.i", ["-DTCC_TARGET_X86_64", "-I.", "tcc.c"], tcc.source)

    def train(self, rounds):
        return [self.module, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/null", self.path("train.i")]

    def test(self, rounds):
        return [self.module, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/null", self.path("test.i")]


class Python(Program):
    package = "python3.11"
    short, long, timed = 1, 60, 4
    trained = "`large/train.py`: objects, text, JSON, patterns, numbers, its own parser"
    tested = "`large/test.py`: generators, decimals, sets, formats, pickles, a tokenizer"

    def ready(self, tree):
        # The library is that of Debian's own.
        run(["./configure", "--prefix=/usr", "--without-ensurepip"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "python")
        return tree + "/python"

    def train(self, rounds):
        return [self.module, "-S", "-E", os.path.join(SCRIPTS, "train.py"), str(rounds)]

    def test(self, rounds):
        return [self.module, "-S", "-E", os.path.join(SCRIPTS, "test.py"), str(rounds)]


class Cppcheck(Program):
    """A checker of C and C++ code, in C++."""
    package = "cppcheck"
    short = long = timed = 1
    trained = "a third of its own sources"
    tested = "tcc's"

    def __init__(self, work):
        self.other = Tcc(work)
        super().__init__(work)

    def compile(self, tree, how):
        self.make(how, tree, f"CXX={how.cc.replace('gcc', 'g++')}", f"CXXFLAGS={how.cflags}", f"LDFLAGS={how.ldflags}",
                  f"FILESDIR={self.source}", "cppcheck")
        return tree + "/cppcheck"

    def train(self, rounds):
        return [self.module, "-q", "--enable=all"] + sorted(glob.glob(self.source + "/lib/*.cpp"))[::3]

    def test(self, rounds):
        return [self.module, "-q", "--enable=all", self.other.source + "/tccpp.c", self.other.source + "/tccgen.c"]


LARGE = {c.__name__.lower(): c for c in (Cc1, Python, Cppcheck)}
