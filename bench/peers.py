"""Ways to make a program faster from its training workload, ours and others'.

Each takes a Program and gives (path of the build, facts); facts may hold seconds
and mb of the tools that made it from profile and program, and a note. Where a way
fails on a program, Unavailable says why.
"""
import collections
import os
import re
import shutil
import subprocess

from gathered import TRAINED, complete, gather, promised
from rig import CFLAGS, LDFLAGS, How, Unavailable, exact, measured, progress, run

LLVM = "/usr/lib/llvm-19/bin/"
RATE = 8009  # samples per second and CPU, by perf


def plain(p):
    # A hooked build has the code and data of one without hooks to the byte (flow/hooks-identity).
    return p.module, {}


def moved(n):
    """All code of plain n bytes further: what its place in memory alone is worth."""
    def make(p):
        # The linker script has these sections before all others.
        pad = p.path(f"pad-{n}.o")
        run(["gcc", "-x", "assembler", "-c", "-o", pad, p.write(
            f"pad-{n}.s", f'\t.section .text.unlikely,"ax",@progbits\n\t.p2align 4\n\t.skip {n}, 0xcc\n'
                          '\t.section .note.GNU-stack,"",@progbits\n')])
        return p.made(f"moved-{n}", How(ldflags=f"{pad} {LDFLAGS}")), {}
    return make


# ---- Morph ----

def laid_out(p, name, profile):
    cache = p.path("cache")
    shutil.rmtree(cache, ignore_errors=True)
    made = p.path("laid-out")
    _, seconds, mb = measured([p.tool("morph-edit"), "--artifact", p.artifact, *profile, "-o", made,
                               "--cache", cache])
    return p.put(made, name), {"seconds": seconds, "mb": mb}


def morph_samples(n):
    def make(p):
        samples = gather(p, n)
        out, facts = laid_out(p, f"morph-{n}", samples)
        return out, dict(facts, promised=promised(p, samples))
    return make


def morph_complete(p):
    return laid_out(p, "morph-complete", complete(p))


# ---- perf ----

def perf_samples(p, build, name, n, args=None):
    """perf.data of the training, or of a run with these arguments, on every CPU, of about n samples."""
    data = p.path(f"{name}-{n}.perf")
    if os.path.exists(data) and os.path.getmtime(data) > os.path.getmtime(build):
        return data
    progress(f"{p.name}: perf record")
    argv = p.command(build, args or p.train(p.long))
    _, seconds, _ = measured(argv, env=p.env)
    each = max(1, round(n / RATE / seconds / os.cpu_count()))
    loop = f'for i in $(seq {each}); do "$@" || exit; done'
    both = " & ".join([loop] * os.cpu_count())
    for last in False, False, True:
        measured(["perf", "record", "-q", "-B", "-e", "cpu-clock:u", "-F", str(RATE), "-o", data + ".new",
                  "--", "sh", "-c", f"{both} & wait", "sh", *argv], env=p.env)
        try:  # perf 6.1 cannot read some of its own recordings again
            measured(["perf", "script", "-i", data + ".new", "--show-mmap-events", "-F", "pid,ip,event"])
            break
        except Unavailable:
            if last:
                raise
    os.rename(data + ".new", data)
    return data


# ---- BOLT ----

BOLT_OPTIONS = ["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions",
                "-split-all-cold", "-split-eh", "-dyno-stats"]


def bolt_base(p):
    # Relocations, and no parts that the compiler split off: BOLT's README asks for both.
    return p.made("bolt-base", How(cflags=CFLAGS + " -fno-reorder-blocks-and-partition",
                                   ldflags=LDFLAGS + " -Wl,-q"))


def bolt(argv, note):
    """Where BOLT gives up on a function and says to leave it out, that is done."""
    skipped = []
    while True:
        try:
            r = measured([LLVM + "llvm-bolt", *argv,
                          *([f"-skip-funcs={','.join(skipped)}"] if skipped else [])])
            note += [f"skips {f.split('/')[0]}" for f in skipped]
            return r
        except Unavailable as e:
            function = re.search(r"in function (\S+)\. Consider adding", str(e))
            if not function or function[1] in skipped:
                raise
            skipped.append(function[1])


def bolted(p, base, name, fdata, before=(0, 0), options=BOLT_OPTIONS):
    out, note = p.path(name), []
    progress(f"{p.name}: llvm-bolt, {name}")
    _, seconds, mb = bolt([base, "-o", out, f"-data={fdata}", *options], note)
    return out, {"seconds": seconds + before[0], "mb": max(mb, before[1]), "note": ", ".join(note)}


def bolt_samples(n):
    def make(p):
        base = bolt_base(p)
        data, fdata = perf_samples(p, base, "bolt", n), p.path("bolt-samples.fdata")
        progress(f"{p.name}: perf2bolt")
        _, seconds, mb = measured([LLVM + "perf2bolt", "-nl", "-p", data, "-o", fdata, base])
        return bolted(p, base, "bolt-samples", fdata, (seconds, mb))
    return make


def bolt_complete(p):
    base, fdata, counting = bolt_base(p), p.path("bolt-complete.fdata"), p.path("bolt-counting")
    if not os.path.exists(fdata) or os.path.getmtime(fdata) < os.path.getmtime(base):
        progress(f"{p.name}: llvm-bolt -instrument")
        bolt([base, "-instrument", f"-instrumentation-file={fdata}.new", "-o", counting], [])
        measured([counting, *p.train(TRAINED * p.short)[1:]], env=p.env)
        if not os.path.exists(fdata + ".new"):
            raise Unavailable("the instrumented program wrote no profile")
        os.rename(fdata + ".new", fdata)
    return bolted(p, base, "bolt-complete", fdata)


# ---- GCC with its own counters ----

def counters(tree):
    for folder, _, files in os.walk(tree):
        for f in files:
            if f.endswith(".gcda"):
                yield os.path.relpath(os.path.join(folder, f), tree)


def hot_objects(tree):
    """How many objects hold functions that the compiler took for hot."""
    found = 0
    for folder, _, files in os.walk(tree):
        for f in files:
            if f.endswith((".o", ".a")):
                path = os.path.join(folder, f)
                found += ".text.hot" in subprocess.run(["objdump", "-h", path], capture_output=True,
                                                       text=True).stdout
    return found


def gcc_profile_use(p):
    plain = p.how._replace(hooked=False)
    how = plain._replace(cflags=plain.cflags + " -fprofile-use -fprofile-correction -Wno-missing-profile")
    kept, tree = p.path("gcda"), p.path("src")
    if not os.path.exists(p.path("pgo.how")):
        shutil.rmtree(kept, ignore_errors=True)
        if os.path.exists(p.path("pgo-counting.how")):
            os.unlink(p.path("pgo-counting.how"))  # its tree is gone
        counting = p.made("pgo-counting", plain._replace(cflags=plain.cflags + " -fprofile-generate",
                                                         ldflags=plain.ldflags + " -fprofile-generate"))
        for f in list(counters(tree)):
            os.unlink(os.path.join(tree, f))  # of programs that ran while it was built
        progress(f"{p.name}: training for -fprofile-use")
        measured([counting, *p.train(TRAINED * p.short)[1:]], env=p.env)
        for f in counters(tree):
            os.makedirs(os.path.dirname(os.path.join(kept, f)), exist_ok=True)
            shutil.copy(os.path.join(tree, f), os.path.join(kept, f))
        if not os.path.isdir(kept):
            raise Unavailable("the instrumented program wrote no counters")
    path = p.made("pgo", how, lambda tree: shutil.copytree(kept, tree, dirs_exist_ok=True))
    note = p.path("pgo.hot")
    if not os.path.exists(note) or os.path.getmtime(note) < os.path.getmtime(path):
        p.write("pgo.hot", str(hot_objects(tree)))
    hot = int(open(note).read())
    if not hot:
        raise Unavailable("no object has .text.hot: the counters were not found")
    return path, {"note": f".text.hot in {hot} objects"}


# ---- clang with its own counters ----

def clang_profile_use(p):
    plain = p.how._replace(hooked=False)
    counting = p.made("pgo-counting", plain._replace(cflags=plain.cflags + " -fprofile-generate",
                                                     ldflags=plain.ldflags + " -fprofile-generate"))
    counts, profile = p.path("pgo.profraw"), p.path("pgo.profdata")
    if not os.path.exists(profile) or os.path.getmtime(profile) < os.path.getmtime(counting):
        progress(f"{p.name}: training for -fprofile-use")
        if os.path.exists(counts):
            os.unlink(counts)  # it would be added to
        measured([counting, *p.train(TRAINED * p.short)[1:]], env=dict(p.env, LLVM_PROFILE_FILE=counts))
        measured([LLVM + "llvm-profdata", "merge", "-o", profile, counts])
        if os.path.exists(p.path("pgo.how")):
            os.unlink(p.path("pgo.how"))
    return p.made("pgo", plain._replace(cflags=f"{plain.cflags} -fprofile-use={profile}")), {}


# ---- clang from samples ----

CLANG = How(cc="clang-19", cflags=CFLAGS + " -gline-tables-only -gdwarf-4 -fdebug-info-for-profiling")


def clang(p):
    return p.made("clang", CLANG), {}


def sampled_offsets(data, build):
    """{offset in the file build: samples} out of perf.data."""
    said = run(["perf", "script", "-i", data, "--show-mmap-events", "-F", "pid,ip,event,comm"])
    maps, out = collections.defaultdict(list), collections.Counter()
    for line in said.splitlines():
        m = re.search(r"MMAP2? (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*: r-xp (.*)", line)
        if m:
            if m[5] == build:
                maps[m[1]].append((int(m[2], 16), int(m[3], 16), int(m[4], 16)))
            continue
        f = re.search(r"\s(\d+)\s+cpu-clock:\S*\s+([0-9a-f]+)\s*$", line)
        for start, length, offset in maps.get(f[1], ()) if f else ():
            if 0 <= int(f[2], 16) - start < length:
                out[int(f[2], 16) - start + offset] += 1
    return out


def sampled_addresses(data, build):
    """{virtual address in build: samples} out of perf.data."""
    out, segments = collections.Counter(), exact.Elf(build).loaded()
    for off, n in sampled_offsets(data, build).items():
        for at, addr, held, _ in segments:
            if at <= off < at + held:
                out[off - at + addr] += n
    return out


def clang_profile(p, name, build, data):
    """llvm-profgen wants branch records; without them each sample is a range of one
    instruction in its form for profiles without symbols."""
    found = sampled_addresses(data, build)
    if not found:
        raise Unavailable("no samples of the program")
    text = min(exact.Elf(build).executable())[0] & -4096  # where it counts from
    ranges = p.write(f"{name}.ranges", f"{len(found)}\n" + "".join(
        f"{a - text:x}-{a - text:x}:{k}\n" for a, k in sorted(found.items())) + "0\n")
    profile = p.path(f"{name}.prof")
    measured([LLVM + "llvm-profgen", f"--unsymbolized-profile={ranges}", f"--binary={build}",
              f"--output={profile}"])
    return profile


def clang_samples(n):
    """AutoFDO."""
    def make(p):
        base, profile = clang(p)[0], p.path("autofdo.prof")
        if not os.path.exists(profile) or os.path.getmtime(profile) < os.path.getmtime(base):
            clang_profile(p, "autofdo", base, perf_samples(p, base, "clang", n))
        how = CLANG._replace(cflags=f"{CLANG.cflags} -fprofile-sample-use={profile}")
        if os.path.exists(p.path("autofdo.how")) and \
                os.path.getmtime(p.path("autofdo")) < os.path.getmtime(profile):
            os.unlink(p.path("autofdo.how"))
        path, text = p.made("autofdo", how), ".text"
        if exact.Elf(path).data(text) == exact.Elf(base).data(text):
            raise Unavailable("the profile changed nothing")
        return path, {}
    return make
