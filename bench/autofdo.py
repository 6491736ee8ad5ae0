"""What compilers make of Morph's counts (AutoFDO), beside perf's own way and exact counts of theirs.

A program is built by each compiler through the hooks, with debug information. Profiles of its training, as each
takes them, are of lines: samples by perf as they lie there; the counts that Morph infers of as many samples, and
exact ones, by `morph-edit --branches`. All that is made is measured on the training's input and on another.
"""
import collections
import hashlib
import os
import shutil

import beside
import peers
from gathered import complete, gather
from rig import CFLAGS, How, Unavailable, exact, measured, run

SAMPLES = 100000


# ---- profiles, as GCC and as clang take them ----

def text(p, name, profile):
    """The executions of p's code that morph-edit infers of a profile."""
    out = p.path(name + ".text")
    run([p.tool("morph-edit"), "--artifact", p.artifact, *profile, "--branches", "-o", out])
    return out


def create_gcov(p, name, *options):
    # Of 0.19, Debian's, whatever it is told: GCC 12 does not read it.
    out = p.path(name + ".gcov")
    measured(["create_gcov", f"--binary={p.module}", f"--gcov={out}", "--gcov_version=1", *options])
    return out


def gcc_of_perf(p, name, data):
    return create_gcov(p, name, f"--profile={data}", "--use_lbr=false")


def exported(p, counted, form):
    out = f"{counted}.{form}"
    measured([p.tool("morphctl"), "export", "--input", counted, "--from", "autofdo", "--program", p.module,
              "--output", out, form])
    return out


def gcc_of_text(p, name, counted):
    return create_gcov(p, name, f"--profile={exported(p, counted, 'autofdo-direct')}", "--profiler=text")


def clang_of_perf(p, name, data):
    return peers.clang_profile(p, name, p.module, data)


def clang_of_text(p, name, counted):
    return exported(p, counted, "llvm")


Compiler = collections.namedtuple("Compiler", "name how option of_perf of_text profile_use")
# create_gcov reads no DWARF 5.
COMPILERS = [
    Compiler("GCC 11", How("gcc-11", CFLAGS + " -g1 -gdwarf-4", hooked=True), "-fauto-profile", gcc_of_perf,
             gcc_of_text, peers.gcc_profile_use),
    Compiler("clang 19", peers.CLANG._replace(hooked=True), "-fprofile-sample-use", clang_of_perf, clang_of_text,
             peers.clang_profile_use),
]
WAYS = {
    f"perf, {SAMPLES:,} samples":
        lambda p, c: c.of_perf(p, "by-line", peers.perf_samples(p, p.module, "perf", SAMPLES)),
    f"Morph, {SAMPLES:,} samples": lambda p, c: c.of_text(p, "inferred", text(p, "inferred", gather(p, SAMPLES))),
    "Morph, complete": lambda p, c: c.of_text(p, "complete", text(p, "complete", complete(p))),
}


# ---- builds ----

def built(p, c, name, profile, more=""):
    """The program by a profile, which is in the name of its file: another one is another recipe."""
    with open(profile, "rb") as f:
        kept = f"{p.path(name)}-{hashlib.file_digest(f, 'sha256').hexdigest()[:16]}"
    shutil.copy(profile, kept)
    return p.made(name, c.how._replace(cflags=f"{c.how.cflags} {c.option}={kept}{more}", hooked=False))


def despite_gcc(p, c, name, profile):
    """The same, and what had to be done: GCC 11 and 12 divide by zero on some profiles, and fail."""
    remark = None
    try:
        path = built(p, c, name, profile)
    except Unavailable:  # where in make's output the compiler says so differs
        remark = "-fno-tree-loop-vectorize"
        path = built(p, c, name, profile, " " + remark)
    if exact.Elf(path).data(".text") == exact.Elf(p.module).data(".text"):
        raise Unavailable("the profile changed nothing")
    return path, remark


def output(p, build):
    return measured([build, *p.check(p.short)[1:]], env=p.env)[0]


class Built:
    """A program by one compiler: builds {way: path}, and remarks on them."""

    def __init__(self, p, c):
        self.p, self.compiler, self.made, self.remarks = p, c.name, {}, []
        self.plain = p.made("plain", c.how._replace(hooked=False))  # clang's assembler is not the hooks'
        for k, (way, profile) in enumerate(WAYS.items()):
            self.add(way, lambda: despite_gcc(p, c, f"autofdo{k}", profile(p, c)))
        self.add("-fprofile-use", lambda: (c.profile_use(p)[0], None))

    def add(self, way, make):
        try:
            path, remark = make()
            if output(self.p, path) != output(self.p, self.plain):
                raise Unavailable("its output differs from plain's")
        except Unavailable as e:
            remark = f"left out: {e}"
        else:
            self.made[way] = path
        if remark:
            self.remarks.append(f"- {self.p.name}, {self.compiler}, {way}: {remark}")


def builds(p):
    return [Built(p.again(c.how), c) for c in COMPILERS]


# ---- measuring ----

def measure(all_, rounds):
    """({(compiler, workload): Beside}, remarks)"""
    found = {(b.compiler, workload): beside.Beside(b.p, b.made, b.plain, trained).measure(f"autofdo-{workload}", rounds)
             for b in all_ for workload, trained in (("training", True), ("other", False))}
    return found, [remark for b in all_ for remark in b.remarks]


def tables(found):
    timed = [("CPU time", beside.time)] if all(hasattr(b, "time") for f, _ in found for b in f.values()) else []
    counted = [("branches taken", beside.counted(beside.TAKEN)), ("instructions", beside.counted(beside.INSTRUCTIONS))]
    for c in COMPILERS:
        for what, cell in timed + counted:
            for workload, said in ("training", "the training's input"), ("other", "the other input"):
                beside.by_program(f"{c.name}, {what} on {said}, as a ratio to plain:",
                                  [f[c.name, workload] for f, _ in found], cell)
    remarks = [remark for _, said in found for remark in said]
    if remarks:
        print("\n".join(remarks) + "\n")
