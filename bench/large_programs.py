"""Large programs with flat profiles, where most functions have a handful of samples (large.py). Nothing was
tuned on their test workloads."""
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
        return [self.module, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/fd/1", self.path("test.i")]


class Python(Program):
    """It reads Debian's library and has the modules in it that Debian's own has, and JSON."""
    package = "python3.11"
    modules = ("_bisect _csv _datetime _heapq _json _opcode _pickle _random _socket _statistics _struct array binascii "
               "cmath math select _blake2 _md5 _sha1 _sha256 _sha512 _sha3 unicodedata _posixsubprocess fcntl grp").split()
    short, long, timed = 25, 1200, 100
    trained = "`large/train.py`: objects, text, JSON, patterns, numbers, its own parser"
    tested = "`large/test.py`: generators, decimals, sets, formats, pickles, a tokenizer"

    settings = dict(PYTHONHASHSEED="0")  # its hashes are seeded at random

    def ready(self, tree):
        run(["./configure", "--prefix=/usr", "--without-ensurepip"], cwd=tree)
        with open(tree + "/Modules/Setup") as f, open(tree + "/Modules/Setup.local", "w") as local:
            local.writelines(line[1:] for line in f if line[:1] == "#" and line[1:].split(" ")[0] in self.modules)

    def compile(self, tree, how):
        self.make_flags(how, tree, "python")
        return tree + "/python"

    def train(self, rounds):
        return [self.module, "-S", os.path.join(SCRIPTS, "train.py"), str(rounds)]

    def test(self, rounds):
        return [self.module, "-S", os.path.join(SCRIPTS, "test.py"), str(rounds)]


class Cppcheck(Program):
    """A checker of C and C++ code, in C++."""
    package = "cppcheck"
    short = long = timed = 1
    trained = "checking four of its own sources, C++"
    tested = "checking two of tcc's, C"

    def __init__(self, work):
        self.other = Tcc(work)
        super().__init__(work)

    def compile(self, tree, how):
        self.make(how, tree, f"CXX={how.cc.replace('gcc', 'g++')}", f"CXXFLAGS={how.cflags}", f"LDFLAGS={how.ldflags}",
                  f"FILESDIR={self.source}", "cppcheck")
        return tree + "/cppcheck"

    def train(self, rounds):
        return [self.module, "-q", "--enable=all"] + [f"{self.source}/lib/{name}.cpp" for name in (
            "checkbool", "checktype", "fwdanalysis", "path")]

    def test(self, rounds):
        return [self.module, "-q", "--enable=all", "--output-file=/dev/fd/1"] + [
            f"{self.other.source}/{name}.c" for name in ("tccrun", "tcctools")]


LARGE = {c.__name__.lower(): c for c in (Cc1, Python, Cppcheck)}
