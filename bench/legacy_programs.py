"""Programs and libraries as Debian ships them (legacy.py), each with the workloads of a program that is built
from the same source where there is one (`built`)."""
import contextlib
import filecmp
import hashlib
import os
import shutil
import sqlite3

from large_programs import Python, preprocessed
from programs import Bzip2, Gzip, Lua, Packer, Perl, Sort, Sqlite
from rig import BENCH, BUILD, Program, Unavailable, exact, run
from unseen_programs import Gawk, Tcc


class Shipped(Program):
    """`module` is a copy of the file `ships`, which is run or, where it is a library, preloaded into `of`."""
    ships = of = built = None

    def __init__(self, work):
        os.environ.update(self.settings)
        self.name = type(self).__name__.removesuffix("Shipped").lower()
        self.dir = os.path.join(work, "shipped-" + self.name)
        self.env = dict(os.environ, LC_ALL="C")
        self.forget_another_training()
        self.shipped = os.path.realpath(self.where())
        if not os.path.exists(self.shipped):
            raise Unavailable(f"{self.shipped} is not installed")
        self.module = self.path(os.path.basename(self.shipped))
        if not os.path.exists(self.module) or not filecmp.cmp(self.module, self.shipped, False):
            self.put(self.shipped, os.path.basename(self.shipped))
        self.artifact = self.module + ".morph"
        self.functions = self.lifted_as()
        self.version = self.shipped_version()
        if self.of:
            self.file, self.counted = 3, ("--of", self.of)
        self.get_source()
        self.inputs()

    def lifted_as(self):
        """A profile is of the functions as this lifter lifts them."""
        run([self.tool("morph-edit"), "--lift", self.module, "-o", self.artifact])
        with contextlib.closing(sqlite3.connect(f"file:{self.artifact}?mode=ro", uri=True)) as db:
            return hashlib.sha256(b"".join(h for h, in db.execute("select hash from tu order by hash"))).hexdigest()[:16]

    def where(self):
        return self.ships

    def shipped_version(self):
        """Of the package that the file is of."""
        said = run(["sh", "-c", 'dpkg -S "$0" 2>/dev/null || dpkg -S "${0#/usr}"', self.shipped])
        return run(["dpkg-query", "-W", "-f", "${Package} ${Version}", said.split(": ")[0]])

    def get_source(self):
        """Of the package that workloads take texts from: as it is, nothing is built."""
        self.source = fetched(self.package)

    def command(self, build, args):
        if not self.of:
            return super().command(build, args)
        return ["sh", "-c", 'LD_PRELOAD="$0" exec "$@"', build, self.of, *args[1:]]

    def kind(self):
        executable = exact.Elf(self.module).d[16] == 2  # ET_EXEC
        return f"library, of {os.path.basename(self.of)}" if self.of else "EXEC" if executable else "PIE"


def fetched(package):
    run([os.path.join(BENCH, "fetch-source"), package, os.path.join(BUILD, "src")])
    return os.path.join(BUILD, "src", package)


class Stripped(Shipped):
    """What a distribution would ship of a program that is built here (`plain`): the same code."""
    plain = None

    def where(self):
        to = self.plain.path("stripped")
        run(["strip", "-o", to, self.plain.module])
        return to

    def shipped_version(self):
        return self.plain.version

    def get_source(self):
        self.source = self.plain.source


def stripped(built):
    kind = type(built)
    return type(kind.__name__ + "Stripped", (Stripped, kind), {"plain": built})(built.work)


LIBRARIES = "/usr/lib/x86_64-linux-gnu/"


# ---- programs that are built for these workloads alone ----

class Scripted(Program):
    """An interpreter; its scripts get the number of rounds."""
    scripts = ()

    def train(self, rounds):
        return [self.module, os.path.join(BENCH, self.scripts[0]), str(rounds)]

    def test(self, rounds):
        return [self.module, os.path.join(BENCH, self.scripts[1]), str(rounds)]


class Bash(Scripted):
    package = "bash"
    short, long, timed = 3, 300, 30
    scripts = "bash/train.sh", "bash/test.sh"
    trained = "`bash/train.sh`: words, tables, fields, patterns, arithmetic"
    tested = "`bash/test.sh`: sorting, queens, a calculator, substitutions, quoting"

    def ready(self, tree):
        run(["./configure", "--without-bash-malloc", "--disable-nls"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "bash")
        return tree + "/bash"


class Mawk(Gawk):
    package = "mawk"

    def ready(self, tree):
        run(["./configure"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "mawk")
        return tree + "/mawk"


class DebianPerl(Perl):
    """As Debian configures it: with threads, whose data each function gets as an argument."""
    def ready(self, tree):
        run(["./Configure", "-des", "-Dcc=cc", "-Doptimize=-O2", "-Dusethreads", "-Dman1dir=none", "-Dman3dir=none"], cwd=tree)


class Tcl(Scripted):
    """With its library in it."""
    package = "tcl8.6"
    short, long, timed = 20, 3000, 300
    scripts = "tcl/train.tcl", "tcl/test.tcl"
    trained = "`tcl/train.tcl`: lists, dictionaries, strings, patterns, arithmetic"
    tested = "`tcl/test.tcl`: matrices, queens, objects, a parser"
    settings = {"TCL_LIBRARY": "/usr/share/tcltk/tcl8.6"}

    def ready(self, tree):
        run(["./configure", "--disable-shared"], cwd=tree + "/unix")

    def compile(self, tree, how):
        # Configured elsewhere, it would take the system's library.
        here = how._replace(ldflags=f"{how.ldflags} -L.")
        self.make_flags(here, tree + "/unix", f"CFLAGS_OPTIMIZE={how.cflags}", "tclsh")
        return tree + "/unix/tclsh"


class Xz(Packer):
    """With its library in it."""
    package = "xz-utils"
    sources, options = "src/liblzma/*/*.c", ["-c", "-k", "-T1"]
    short, long, timed = 1, 30, 1

    def ready(self, tree):
        run(["./configure", "--disable-shared", "--disable-nls"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree)
        return tree + "/src/xz/xz"


# ---- as they are shipped ----

class LuaShipped(Shipped, Lua):
    ships, built = "/usr/bin/lua5.4", Lua


class SqliteShipped(Shipped, Sqlite):
    ships, of, built = LIBRARIES + "libsqlite3.so.0", "/usr/bin/sqlite3", Sqlite


class GzipShipped(Shipped, Gzip):
    ships, built = "/usr/bin/gzip", Gzip


class Bzip2Shipped(Shipped, Bzip2):
    ships, of, built = LIBRARIES + "libbz2.so.1.0", "/usr/bin/bzip2", Bzip2


class XzShipped(Shipped, Xz):
    ships, of, built = LIBRARIES + "liblzma.so.5", "/usr/bin/xz", Xz


class SortShipped(Shipped, Sort):
    ships, built = "/usr/bin/sort", Sort


class PerlShipped(Shipped, Scripted, Perl):
    ships, built = "/usr/bin/perl", DebianPerl
    scripts = "perl/train.pl", "perl/test.pl"


class BashShipped(Shipped, Bash):
    ships, built = "/usr/bin/bash", Bash


class GawkShipped(Shipped, Gawk):
    ships, built = "/usr/bin/gawk", Gawk


class MawkShipped(Shipped, Mawk):
    ships, built = "/usr/bin/mawk", Mawk


class TclShipped(Shipped, Tcl):
    ships, of, built = LIBRARIES + "libtcl8.6.so", "/usr/bin/tclsh8.6", Tcl


class PythonShipped(Shipped, Python):
    """Which Debian builds with GCC's profiles and link-time optimization."""
    ships = "/usr/bin/python3.11"


class Cc1Shipped(Shipped):
    """It compiles one file, whatever the rounds; what is counted is a smaller one."""
    short, long, timed = 1, 1, 2
    trained = "SQLite in one file, -O2"
    tested = "tcc in one file, -O2; counted: a file of Lua"

    def where(self):
        return run(["gcc", "-print-prog-name=cc1"]).strip()

    def get_source(self):
        sources = self.path("sources")
        if not os.path.exists(sources + ".done"):
            shutil.rmtree(sources, ignore_errors=True)
            for name, make in ("sqlite3", Sqlite.ready), ("tcc", Tcc.ready):
                shutil.copytree(fetched(name), os.path.join(sources, name), symlinks=True)
                make(self, os.path.join(sources, name))
            self.write("sources.done", "")
        self.source = sources

    def inputs(self):
        preprocessed(self, "train.i", ["sqlite3.c"], self.source + "/sqlite3")
        preprocessed(self, "test2.i", ["-DTCC_TARGET_X86_64", "-I.", "tcc.c"], self.source + "/tcc")
        preprocessed(self, "test1.i", ["lvm.c"], fetched("lua5.4") + "/src")

    def train(self, rounds):
        return [self.module, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/null", self.path("train.i")]

    def test(self, rounds):
        return [self.module, "-quiet", "-fpreprocessed", "-O2", "-o", "/dev/fd/1", self.path(f"test{rounds}.i")]


SHIPPED = {c.__name__.removesuffix("Shipped").lower(): c for c in (
    PerlShipped, BashShipped, SqliteShipped, GzipShipped, XzShipped, Bzip2Shipped, SortShipped, GawkShipped, MawkShipped,
    TclShipped, LuaShipped, PythonShipped, Cc1Shipped)}
