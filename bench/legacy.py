"""Programs as Debian ships them, lifted and laid out by samples, beside BOLT, and beside what the hooks gain where the
same source is built through them.

What is found is kept per program in docs/bench/legacy/MAKER/NAME.json; docs/bench/legacy.md is made from these files.
"""
import collections
import functools
import hashlib
import json
import os
import statistics

import peers
from figure3 import cell, failure, mean, median_times, output, times
from gathered import gather, promised
from legacy_programs import SHIPPED, stripped
from rig import TOP, Records, Unavailable, machine, on_every_cpu, pairs, spent, table_lines

RECORDS = Records("legacy")
SAMPLES = 100000
SEEN = 5000  # samples of the new build, for the share of its new code
ORIGINAL, LIFTED, BOLT, PLAIN, HOOKED, SAME = "original", "lifted", "bolt", "plain", "hooked", "lifted-plain"
# {build: what its ratios are of}
BASE = {ORIGINAL: None, LIFTED: ORIGINAL, BOLT: ORIGINAL, PLAIN: None, HOOKED: PLAIN, SAME: PLAIN}


# ---- the builds ----

def lifted(p, to, options=()):
    said, cpu, mb = spent([p.tool("morph-edit"), "--lift", p.module, *options, "-o", to, "--json"])
    said = json.loads(said)
    return {k: said[k] for k in ("functions", "stay", "bytes", "stay_bytes", "indirect_jumps", "known_tables", "reasons")} | \
        {"seconds": cpu, "mb": mb}


def lifted_where_hit(p):
    """As the manager does: only the functions that have samples."""
    found = peers.sampled_offsets(peers.perf_samples(p, p.module, "training", SAMPLES), p.module)
    return lifted(p, p.artifact, ("--addresses", p.write("addresses", "".join(f"{off:x}\n" for off in sorted(found)))))


def laid_out(p):
    facts = {"whole": lifted(p, p.path("whole.morph")), "hit": lifted_where_hit(p)}
    samples = gather(p, SAMPLES)
    made = p.path("made")
    said, cpu, mb = spent([p.tool("morph-edit"), "--artifact", p.artifact, "--original", p.module, *samples, "-o", made, "--json"])
    build = p.put(made, "lifted")
    os.unlink(made)
    return build, dict(facts, moved=json.loads(said)["edited"], seconds=cpu, mb=mb, promised=promised(p, samples),
                       added=os.path.getsize(build) - os.path.getsize(p.module), code=len(peers.exact.Elf(build).data(".text.morph")))


def in_new_code(p, build, name, args):
    """The share of the build's samples on a workload that are in new bodies."""
    # Its own new name: what perf recorded of the one before is not of this.
    found = peers.sampled_addresses(peers.perf_samples(p, build, name, SEEN, args), build)
    new = max(at for _, at, _, code in peers.exact.Elf(build).loaded() if code)
    return sum(n for at, n in found.items() if at >= new) / max(1, sum(found.values()))


# Which it does not support, and orders functions only where relocations were kept.
STRIPPED = ["-allow-stripped", *(o for o in peers.BOLT_OPTIONS if not o.startswith("-reorder-functions"))]


def bolted(p):
    """BOLT on the very same file."""
    data, fdata = peers.perf_samples(p, p.module, "training", SAMPLES), p.path("bolt.fdata")
    _, seconds, mb = peers.measured([peers.LLVM + "perf2bolt", "-nl", "-allow-stripped", "-p", data, "-o", fdata, p.module])
    return peers.bolted(p, p.module, "bolt", fdata, (seconds, mb), STRIPPED)


def lifted_plain(p):
    """The plain build as if it were shipped."""
    build, facts = laid_out(stripped(p))
    return p.put(build, SAME), facts


# {build: what makes it of a shipped program}
MADE = {ORIGINAL: lambda p: (p.module, {}), LIFTED: laid_out, BOLT: bolted}
# … and of the one that is built from its source
BUILT = {PLAIN: peers.plain, HOOKED: peers.morph_samples(SAMPLES), SAME: lifted_plain}


class Pair:
    """A shipped program and the one that is built, or None."""

    def __init__(self, name, work):
        self.shipped = SHIPPED[name](work)
        self.name = self.shipped.name
        try:
            self.built = self.shipped.built and self.shipped.built(work)
            self.why = "" if self.built else "not built here"
        except Unavailable as e:
            self.built, self.why = None, str(e)

    def programs(self):
        """[(program, {build: maker})]"""
        return [(self.shipped, MADE)] + ([(self.built, BUILT)] if self.built else [])

    def of(self, build):
        return self.built if build in BUILT else self.shipped


def made(p, make, right):
    try:
        path, facts = make(p)
        if output(p, path) != right:
            return dict(facts, wrong=True)
    except Unavailable as e:
        return failure(e)
    with open(path, "rb") as f:
        return dict(facts, file=os.path.basename(path), digest=hashlib.file_digest(f, "sha256").hexdigest()[:16])


def make_all(pair):
    p = pair.shipped
    found = RECORDS.load(p.name) if RECORDS.has(p.name) else {"builds": {}}
    found.update(program=p.name, package=p.version, file=p.shipped, kind=p.kind(), machine=machine(), trained=p.trained,
                 tested=p.tested, not_built=pair.why)
    for program, makers in pair.programs():
        right = output(program, program.module)
        for name, make in makers.items():
            facts, old = made(program, make, right), found["builds"].get(name, {})
            same = facts.get("digest", "none") == old.get("digest")
            found["builds"][name] = {**old, **facts} if same else facts
            RECORDS.store(p.name, found)
    if "file" in found["builds"][LIFTED]:
        found["builds"][LIFTED]["in_new_code"] = [in_new_code(p, p.path("lifted"), name, args) for name, args in (
            ("trained", p.train(p.long)), ("tested", p.test(p.timed)))]
        RECORDS.store(p.name, found)
    return found


# ---- what is measured of them ----

def count_all(pair, found):
    for name, build in found["builds"].items():
        if "file" not in build:
            continue
        p = pair.of(name)
        try:
            instructions, taken, lines = p.taken(p.path(build["file"]), p.test(p.short))
            build.update(instructions=instructions, taken=taken, lines95=lines)
        except Unavailable as e:
            build["not_counted"] = str(e)
        RECORDS.store(pair.name, found)


def time_all(pair, found, rounds):
    for p, makers in pair.programs():
        names = [n for n in makers if "file" in found["builds"].get(n, {})]
        timed = p.times([p.path(found["builds"][n]["file"]) for n in names], p.test(p.timed), rounds)
        seconds = {n: t["seconds"] for n, t in zip(names, timed)}
        for n in names:
            base = seconds.get(BASE[n])
            found["builds"][n]["time"] = dict(pairs.ratio(seconds[n], base) if base else {}, seconds=statistics.median(seconds[n]))
        found["rounds"] = rounds
        RECORDS.store(pair.name, found)


def measure(programs, rounds, count=True, time=True):
    """All there is to find out of these Pairs; kept step by step."""
    found = [make_all(pair) if count else RECORDS.load(pair.name) for pair in programs]
    if count:
        on_every_cpu([functools.partial(count_all, pair, f) for pair, f in zip(programs, found)])
    if time:
        on_every_cpu([functools.partial(time_all, pair, f, rounds) for pair, f in zip(programs, found)])


# ---- the page ----

def taken(f, build):
    """Branches taken as a ratio to the base's, or None."""
    b, base = f["builds"].get(build, {}), f["builds"].get(BASE[build], {})
    return b["taken"] / base["taken"] if "taken" in b and base.get("taken") else None


def ratio(value):
    return f"{value:.3f}" if value else "–"


COMPARED = LIFTED, BOLT, HOOKED, SAME
HEADING = {LIFTED: "lifted", BOLT: "BOLT on the same file", HOOKED: "through the hooks", SAME: "the plain build, lifted"}


def both(all_, key, build):
    """{build: geometric mean} of the programs that have a key(f, build) of this and of the hooked build."""
    have = [f for f in all_ if key(f, build) and key(f, HOOKED)]
    return {b: statistics.geometric_mean([key(f, b) for f in have]) for b in (build, HOOKED)} if have else {}, len(have)


def time_of(f, build):
    return f["builds"].get(build, {}).get("time", {}).get("median")


def of_gain(all_, key, what, build):
    means, n = both(all_, key, build)
    if not means:
        return f"{what}, {HEADING[build]}: no program was measured both ways."
    gain, hooked = (1 - means[b] for b in (build, HOOKED))
    part = f"{gain / hooked:.0%} of it" if hooked > 0 else "no gain to compare with"
    return f"{what}, {n} programs: {means[build]:.3f} {HEADING[build]}, {means[HOOKED]:.3f} through the hooks: {part}."


def main_rows(all_):
    rows = [[f["program"], *(cell(f, b, times) for b in COMPARED), *(cell(f, b, lambda _: ratio(taken(f, b))) for b in COMPARED)]
            for f in all_]
    counted = [[r for r in (taken(f, b) for f in all_) if r] for b in COMPARED]
    return rows + [["geometric mean", *(of(median_times(all_, b), all_) for b in COMPARED), *(of(r, all_) for r in counted)]]


def of(found, all_):
    return mean(found) + (f" of {len(found)}" if found and len(found) != len(all_) else "")


def percent(part, whole=1):
    return f"{part / whole:.1%}" if whole else "–"


def cost_rows(all_):
    def row(b, f):
        hit, whole = b["hit"], b["whole"]
        return [f["program"], f["kind"], *(map(percent, b["in_new_code"]) if "in_new_code" in b else "––"), f"{b['promised']:.3f}", f"{b['moved']:,}",
                f"{whole['functions']:,}", f"{b['added']:,}", f"{b['code']:,}" if "code" in b else "–", f"{hit['seconds']:.2f} s, {hit['mb']:.0f} MB",
                f"{b['seconds']:.2f} s, {b['mb']:.0f} MB", f"{whole['seconds']:.2f} s, {whole['mb']:.0f} MB",
                f"{(whole['bytes'] + whole['stay_bytes']) / 1e6 / max(whole['seconds'], .001):.1f} MB/s"]
    return [row(f["builds"][LIFTED], f) for f in all_ if "whole" in f["builds"].get(LIFTED, {})]


def stay_rows(all_):
    all_ = [f for f in all_ if "whole" in f["builds"].get(LIFTED, {})]
    why = collections.Counter()
    for f in all_:
        for r in f["builds"][LIFTED]["whole"]["reasons"]:
            why[r["text"], "functions"] += r["functions"]
            why[r["text"], "bytes"] += r["bytes"]
    texts = sorted({text for text, _ in why}, key=lambda t: -why[t, "bytes"])
    functions, all_bytes = (sum(f["builds"][LIFTED]["whole"][k] + f["builds"][LIFTED]["whole"][s] for f in all_) for k, s in (("functions", "stay"), ("bytes", "stay_bytes")))
    return [[t, f"{why[t, 'functions']:,}", percent(why[t, "functions"], functions), percent(why[t, "bytes"], all_bytes)] for t in texts]


def remarks(all_):
    for f in all_:
        if f["not_built"]:
            yield f"- {f['program']}, through the hooks: {f['not_built']}"
        for build, b in f["builds"].items():
            for key in "failed", "not_counted", "note":
                if b.get(key):
                    yield f"- {f['program']}, {HEADING.get(build, build)}: {b[key]}"


def section(maker, all_):
    yield f"\n## On {maker}\n"
    yield "; ".join(sorted({f["machine"] for f in all_})) + ".\n"
    rounds = sorted({f["rounds"] for f in all_ if "rounds" in f})
    yield f"CPU time, medians and quartiles of {' or '.join(map(str, rounds)) or 'no'} rounds, and branches taken, on the test, as ratios"
    yield "to the file as shipped, or to the plain build.\n"
    head = ["program", *(f"time: {HEADING[b]}" for b in COMPARED), *(f"branches: {HEADING[b]}" for b in COMPARED)]
    yield from table_lines(head, main_rows(all_))
    yield ""
    for build in LIFTED, SAME:
        yield of_gain(all_, time_of, "- Time", build)
        yield of_gain(all_, taken, "- Branches taken", build)
    yield ""
    yield "*New*: of the samples in the file, those in new bodies; what training does not run has none. *Promised*: the time that the samples promise. Lifting is of the"
    yield "functions that have samples, of which the layout is made, then of all there are, in CPU time. *Bytes added* to the file; so many of them are *code*.\n"
    yield from table_lines(["program", "file", "new: in training", "new: on the test", "promised", "functions moved", "of", "bytes added", "code", "lift", "edit",
                            "lift all", "text"], cost_rows(all_))
    yield "\nWhy functions of these files are not lifted:\n"
    yield from table_lines(["reason", "functions", "of functions", "of bytes"], stay_rows(all_))
    said = list(remarks(all_))
    if said:
        yield "\nRemarks:\n"
        yield from said


def page(by_maker):
    yield "# Distribution binaries, lifted\n"
    yield "`bench/run legacy` measures and writes this page; `bench/run legacy --table` writes it again from"
    yield "`legacy/MAKER/*.json`. Files as Debian ships them, stripped: `morph-edit --lift`, 100,000 samples with registers of the"
    yield "training as the manager gathers them, a layout by these, timed on another input. *Through the hooks*: the same source built"
    yield "plainly and through the hooks with the flags of [figure 3](../../bench/README.md#figure-3), which are not all of Debian's (perl is configured with threads, as there),"
    yield "laid out by as many, against the plain build; and that build, stripped and lifted: the same code both ways. BOLT gets 100,000 samples of `perf record -e cpu-clock:u`,"
    yield "and is run with `-allow-stripped`, where it does not order functions. A library's branches are those"
    yield "in the library."
    for maker, all_ in by_maker.items():
        yield from section(maker, all_)
    all_ = {f["program"]: f for found in by_maker.values() for f in found}.values()
    yield "\n## Workloads\n"
    yield from table_lines(["program", "file of", "trained on", "tested on"],
                           [[f["program"], f"{os.path.basename(f['file'])} of {f['package']}", f["trained"], f["tested"]] for f in all_])


def write_page():
    by_maker = {maker: [RECORDS.load(n, maker) for n in SHIPPED if RECORDS.has(n, maker)] for maker in RECORDS.makers()}
    with open(os.path.join(TOP, "docs/bench/legacy.md"), "w") as f:
        f.write("\n".join(page(by_maker)) + "\n")
