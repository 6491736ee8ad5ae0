# What the report-* tests share: programs that write down which instructions they execute
# (reporttrace.c), as descriptions for reportwriter.c, which writes them in a format.
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.join(HERE, "../..")
BUILD = os.environ["MORPH_BUILD"]
WORK = tempfile.mkdtemp()
TITLE = "a title"
FROM_OUTSIDE = 3

PROGRAM = """
#include <stdio.h>
void trace_begin(void), trace_end(void);
unsigned other(unsigned x);
static inline unsigned mix(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}
static unsigned __attribute__((noinline)) scale(unsigned x)
{
	return x * 5 + 1;
}
unsigned __attribute__((noinline)) work(unsigned seed, unsigned n)
{
	unsigned sum = 0, i;
	for (i = 0; i < n; i++) {
		seed = mix(seed);
		if (seed % 3 == 0)
			sum += scale(seed);
		else if (seed & 4)
			sum ^= other(seed);
	}
	return sum;
}
unsigned __attribute__((noinline)) never(unsigned x)
{
	return x / 7;
}
int main(int argc, char **argv)
{
	unsigned s = (unsigned)argc, i;
	trace_begin();
	for (i = 0; i < 20; i++)
		s += work(s, 50);
	trace_end();
	if (argc > 5)
		s = never(s);
	printf("%u\\n", s);
	return 0;
}
"""


def line_of(text):
    return 1 + PROGRAM[:PROGRAM.index(text)].count("\n")


# A second function of the same name, local to its file.
OTHER = """
static unsigned __attribute__((noinline)) scale(unsigned x)
{
	return x / 3;
}
unsigned other(unsigned x)
{
	return scale(x) + 1;
}
"""


def fail(*what):
    print(*what)
    sys.exit(1)


def check(holds, *what):
    if not holds:
        fail("FAILED:", *what)


def run(*command, data=None, env=None, text=True):
    p = subprocess.run(command, input=data, capture_output=True, text=text, cwd=WORK,
                       env={**os.environ, **(env or {})})
    if p.returncode:
        fail(f"{' '.join(command)}: status {p.returncode}\n{p.stdout}\n{p.stderr}")
    return p.stdout


def write(name, text):
    with open(os.path.join(WORK, name), "w" if isinstance(text, str) else "wb") as f:
        f.write(text)


# ---- programs, and what they executed ----


class Program:
    """A program, run once: the instructions it executed, as a description for reportwriter."""

    def __init__(self, name, compiler, *options, source="program.c"):
        self.name = name
        self.path = os.path.join(WORK, name)
        self.build = [compiler, *options, "-gdwarf-4", "-Wl,--build-id", "-o"]
        run(*self.build, name, source, "other.c", "trace.o")
        self.says = run(self.path, env={"TRACE": f"{name}.trace"})
        self.segments = [(int(off, 16), int(vaddr, 16), int(size, 16)) for off, vaddr, size in re.findall(
            r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", run("readelf", "-lW", name))]
        first = min(vaddr - off for off, vaddr, _ in self.segments)
        trace = [first + int(line, 16) for line in open(f"{self.path}.trace")]
        self.find_branches(trace)
        self.samples = collections.Counter(trace[::7])
        self.symbolize(sorted(set(trace)))
        self.describe()

    def find_branches(self, trace):
        code = re.findall(r"^ *(\w+):\t(?:rep |bnd )?(\w*)",
                          run("objdump", "-d", "--no-show-raw-insn", self.name), re.M)
        after = {int(a, 16): int(b, 16) for (a, _), (b, _) in zip(code, code[1:])}
        returns = {int(a, 16) for a, name in code if name == "ret"}
        self.branches, self.ranges, begin = collections.Counter(), collections.Counter(), trace[0]
        for a, b in zip(trace, trace[1:]):
            if after[a] != b:
                self.branches[a, b] += 1
                self.ranges[begin, a] += 1
                begin = b
        self.nreturns = len([1 for a, _ in self.branches if a in returns])

    def symbolize(self, addresses):
        text = run("llvm-symbolizer-19", "--output-style=JSON", "--no-demangle", "-e", self.name,
                   data="".join(f"{a:#x}\n" for a in addresses))
        self.frames = {int(s["Address"], 16): s["Symbol"] for s in map(json.loads, text.splitlines())}

    def offset(self, address):
        return next(address - v + o for o, v, n in self.segments if v <= address < v + n)

    def function(self, frame, outer):
        """The number of a frame's function; of what was inlined its start is not known."""
        start = self.offset(int(outer["StartAddress"], 16)) if frame is outer else 2 ** 64 - 1
        name = frame["FunctionName"]
        return self.functions.setdefault(
            f"function\t{name}\t{name}\t{frame['StartFileName']}\t0\t{start}\t0\t{frame['StartLine']}",
            len(self.functions))

    def describe(self):
        self.functions, where = {}, {}
        notes = run("readelf", "-n", self.name)
        lines = [f"file\t0\t{self.path}\t{re.search('Build ID: (.*)', notes)[1]}\t0"]
        for address, frames in self.frames.items():
            where[address] = len(where)
            fields = [f"{self.function(f, frames[-1])}\t{f['Line']}\t{f['Discriminator']}" for f in frames]
            lines.append("\t".join(["location", "0", str(self.offset(address))] + fields))
        lines = list(self.functions) + lines + ["event\tcpu-clock\tns", f"task\t7\t8\t{self.name}"]
        for i, (address, n) in enumerate(sorted(self.samples.items())):
            lines += [f"stack\t-\t{where[address]}", f"sample\t0\t0\t{i}\t0\t{n}\t{n * 1000}"]
        self.branchless = "\n".join(lines) + "\n"
        lines += [f"branch\t{where[a]}\t{where[b]}\t{n}\t{n // 2}" for (a, b), n in self.branches.items()]
        lines += [f"range\t{where[a]}\t{where[b]}\t{n}" for (a, b), n in self.ranges.items()]
        # What comes from code that nobody knows, and what goes there.
        lines += [f"branch\t-\t{where[min(where)]}\t{FROM_OUTSIDE}\t0", f"branch\t{where[min(where)]}\t-\t4\t0"]
        self.description = "\n".join(lines) + "\n"

    def calls(self, name):
        return sum(n for (_, to), n in self.branches.items() if
                   int(self.frames[to][-1]["StartAddress"] or "0", 16) == to and
                   self.frames[to][-1]["FunctionName"] == name)

    def has_lines(self, address):
        """Lines of its functions are counted from those of their definitions; it may itself be of none."""
        return all(f["StartLine"] for f in self.frames[address])

    def write(self, form, branchless=False):
        """The path of the program's recording in a format."""
        name = f"{self.name}.{form}{'.plain' if branchless else ''}"
        write(name, writer(form, self.branchless if branchless else self.description))
        return name


def writer(form, description):
    out = subprocess.run([os.path.join(WORK, "reportwriter"), form], input=description.encode("latin-1"),
                         capture_output=True)
    check(out.returncode == 0, form, out.stderr.decode())
    return out.stdout


def run_test(test):
    try:
        write("program.c", PROGRAM)
        write("other.c", OTHER)
        run("gcc", "-O2", "-D_GNU_SOURCE", "-mno-red-zone", "-c", f"{HERE}/reporttrace.c", "-o", "trace.o")
        run("sh", f"{HERE}/reportlink.sh", f"{HERE}/reportwriter.c", "reportwriter")
        test()
    finally:
        shutil.rmtree(WORK)
