"""The unseen set: programs on which nothing was ever tuned, for judging alone (bench/unseen.py)."""
import os

import inputs
from programs import Packer
from rig import BENCH, Program, run

SCRIPTS = os.path.join(BENCH, "unseen")


class Written(Program):
    """A program whose input is generated, so many rounds of it in one file."""
    trained_by = tested_by = ()  # (options, text of so many rounds)
    suffix = ""

    def workload(self, name, rounds, options, text):
        path = f"{name}{rounds}{self.suffix}"
        if not os.path.exists(self.path(path)):
            self.write(path, text(rounds))
        return [self.module, *options, self.path(path)]

    def train(self, rounds):
        return self.workload("train", rounds, *self.trained_by)

    def test(self, rounds):
        return self.workload("test", rounds, *self.tested_by)


class Mujs(Program):
    package = "mujs"
    short, long, timed = 1, 150, 20
    trained = "`unseen/train.js`: sieve, sorting, objects, patterns, closures"
    tested = "`unseen/test.js`: parser, matrices, JSON, trees, strings"

    def compile(self, tree, how):
        return self.link(how, tree, "mujs", ["main.c", "one.c"], "-lm")

    def train(self, rounds):
        return [self.module, os.path.join(SCRIPTS, "train.js"), str(rounds)]

    def test(self, rounds):
        return [self.module, os.path.join(SCRIPTS, "test.js"), str(rounds)]


class Gawk(Program):
    package = "gawk"
    short, long, timed = 6, 600, 100
    trained = "`unseen/train.awk`: word counts, fields, sums by key, substitutions"
    tested = "`unseen/test.awk`: a calculator, sorting, matrices, formats, splitting"

    def ready(self, tree):
        run(["./configure", "--disable-extensions", "--disable-mpfr", "--disable-nls",
             "--without-readline"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "-C", "support")
        self.make_flags(how, tree, "gawk")
        return tree + "/gawk"

    def train(self, rounds):
        return [self.module, "-v", f"rounds={rounds}", "-f", os.path.join(SCRIPTS, "train.awk")]

    def test(self, rounds):
        return [self.module, "-v", f"rounds={rounds}", "-f", os.path.join(SCRIPTS, "test.awk")]


class Tcc(Written):
    package = "tcc"
    extra, suffix = "-DTCC_TARGET_X86_64 -I.", ".c"
    short, long, timed = 10, 400, 60
    trained = "generated C: loops, branches, calls; compiled and run"
    tested = "other generated C: switches, structures, arrays"
    trained_by = ["-run"], lambda rounds: inputs.c_source(1, 300 * rounds, "loop if if call set set")
    tested_by = ["-run"], lambda rounds: inputs.c_source(2, 300 * rounds, "switch member array if set")

    def ready(self, tree):
        run(["./configure"], cwd=tree)

    def inputs(self):
        self.write("libtcc1.a", "!<arch>\n")  # it asks for one, and what it runs needs nothing of it

    def compile(self, tree, how):
        return self.link(how, tree, "tcc", ["tcc.c"], "-lm", "-ldl", "-lpthread")

    def workload(self, name, rounds, options, text):
        return super().workload(name, rounds, ["-B" + self.dir, "-L/usr/lib/x86_64-linux-gnu", *options], text)


class Nasm(Written):
    package = "nasm"
    short, long, timed = 1, 20, 6
    trained = "generated assembly to a flat file: moves, arithmetic, jumps"
    tested = "other generated assembly: macros, data, vector instructions"
    trained_by = ["-f", "bin", "-o", "/dev/fd/1"], lambda rounds: inputs.assembly(1, 2000 * rounds, False)
    tested_by = ["-f", "bin", "-o", "/dev/fd/1"], lambda rounds: inputs.assembly(2, 2000 * rounds, True)

    def ready(self, tree):
        run(["./configure"], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "nasm")
        return tree + "/nasm"


class Tidy(Written):
    package = "tidy-html5"
    short, long, timed = 10, 600, 80
    trained = "generated pages of paragraphs and lists, indented"
    tested = "generated pages of tables, forms and entities, as XHTML"
    trained_by = ["-q", "-i"], lambda rounds: inputs.html(1, 100 * rounds, False)
    tested_by = ["-q", "-asxhtml"], lambda rounds: inputs.html(2, 100 * rounds, True)

    def compile(self, tree, how):
        self.cmake(how, tree, "tidy", "-DBUILD_SHARED_LIB=OFF")
        return tree + "/made/tidy"


class Xmllint(Written):
    package = "libxml2"
    short, long, timed = 20, 800, 250
    trained = "generated records, formatted"
    tested = "generated documents with name spaces, entities, CDATA and comments, formatted"
    trained_by = ["--format"], lambda rounds: inputs.xml(1, 200 * rounds, False)
    tested_by = ["--format", "--noent"], lambda rounds: inputs.xml(2, 200 * rounds, True)

    def ready(self, tree):
        run(["./configure", "--disable-shared", *(f"--without-{what}" for what in (
            "python", "lzma", "zlib", "iconv", "icu", "http", "ftp", "readline", "history"))], cwd=tree)

    def compile(self, tree, how):
        self.make_flags(how, tree, "xmllint")
        return tree + "/xmllint"


class Cmark(Program):
    package = "cmark"
    short, long, timed = 10, 600, 80
    trained = "its change log and its regression tests, as XML"
    tested = "the specification of CommonMark, as HTML"

    def compile(self, tree, how):
        self.cmake(how, tree, "cmark_exe", "-DCMARK_SHARED=OFF", "-DCMARK_TESTS=OFF")
        return tree + "/made/src/cmark"

    def train(self, rounds):
        return [self.module, "-t", "xml"] + [f"{self.source}/{text}" for text in ("changelog.txt", "test/regression.txt")] * rounds

    def test(self, rounds):
        return [self.module] + [f"{self.source}/test/spec.txt"] * rounds


class Brotli(Packer):
    """It takes no file twice; its window is smaller than the text that comes again."""
    package = "brotli"
    extra = "-Ic/include -DOS_LINUX"
    short, long, timed = 3, 250, 40
    sources, options = "c/enc/*.c", ["-c", "-q", "6", "-w", "16"]

    def compile(self, tree, how):
        sources = [f"c/{part}/{name}" for part in ("common", "dec", "enc", "tools")
                   for name in sorted(os.listdir(f"{tree}/c/{part}")) if name.endswith(".c")]
        return self.link(how, tree, "brotli", sources, "-lm")

    def train(self, rounds):
        return self.repeated("train", rounds)

    def test(self, rounds):
        return self.repeated("test", rounds)

    def repeated(self, name, rounds):
        path = self.path(f"{name}{rounds}")
        if not os.path.exists(path):
            with open(self.path(name), "rb") as f:
                self.write(path, f.read() * rounds)
        return [self.module, *self.options, path]


class Zopfli(Packer):
    package = "zopfli"
    short, long, timed = 1, 10, 1
    sources, options = "src/zopfli/*.c", ["-c", "--i1"]

    def compile(self, tree, how):
        sources = [f"src/zopfli/{name}" for name in sorted(os.listdir(tree + "/src/zopfli")) if name.endswith(".c")]
        return self.link(how, tree, "zopfli", sources, "-lm")


class Flac(Written):
    package = "flac"
    short, long, timed = 10, 600, 100
    trained = "a generated tune, level 5"
    tested = "another one, level 8"
    RAW = ["-s", "-c", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
           "--sample-rate=44100"]
    trained_by = [*RAW, "-5"], lambda rounds: inputs.tune(1) * rounds
    tested_by = [*RAW, "-8"], lambda rounds: inputs.tune(2) * rounds

    def ready(self, tree):
        run(["./configure", "--disable-shared", "--disable-ogg", "--disable-cpplibs", "--disable-doxygen-docs",
             "--disable-stack-smash-protection"], cwd=tree)

    def compile(self, tree, how):
        for part in "libFLAC", "share", "flac":
            self.make_flags(how, tree, "-C", "src/" + part)
        return tree + "/src/flac/flac"


UNSEEN = {c.__name__.lower(): c for c in (
    Mujs, Gawk, Tcc, Nasm, Tidy, Xmllint, Cmark, Brotli, Zopfli, Flac)}
