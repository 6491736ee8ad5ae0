"""Figure 3 of the Morph paper (SOSP'97) on today's programs, beside today's peers.

What is found is kept per program in docs/bench/figure3/MAKER/NAME.json, by the maker
of the CPU; each maker's table and chart are made from these files alone.
"""
import functools
import hashlib
import os
import re
import statistics
import threading

import chart
import peers
from gathered import TAKEN, complete, gather, worth
from rig import TOP, Records, Unavailable, machine, measured, on_every_cpu, pairs, run, table_lines

MOST, FEW = 100000, 15000
RECORDS = Records("figure3")
STORING = threading.Lock()
MOVED = {f"moved-{n}": n for n in (16, 32, 48)}

# (id, heading, what its ratios are of, how it is made)
COLUMNS = [
    ("plain", "plain -O2", None, peers.plain),
    *((c, f"plain, {n} bytes further", "plain", peers.moved(n)) for c, n in MOVED.items()),
    (f"morph-{FEW}", f"Morph, {FEW:,} samples", "plain", peers.morph_samples(FEW)),
    (f"morph-{MOST}", f"Morph, {MOST:,} samples", "plain", peers.morph_samples(MOST)),
    ("morph-complete", "Morph, complete profile", "plain", peers.morph_complete),
    ("bolt-samples", f"BOLT, {MOST:,} samples", "plain", peers.bolt_samples(MOST)),
    ("bolt-complete", "BOLT, its instrumentation", "plain", peers.bolt_complete),
    ("pgo", "GCC -fprofile-use", "plain", peers.gcc_profile_use),
    ("clang", "clang -O2", "plain", peers.clang),
    ("autofdo", f"clang AutoFDO, {MOST:,} samples", "clang", peers.clang_samples(MOST)),
]
HEADING = {c: h for c, h, _, _ in COLUMNS}
BASE = {c: b for c, _, b, _ in COLUMNS}
PEERS = [c for c, _, b, _ in COLUMNS if b and c not in (*MOVED, "clang")]


# ---- measuring ----

def output(p, build):
    return measured(p.command(build, p.check(p.short)), env=p.env)[0]


def failure(e):
    lines = str(e).strip().splitlines()
    return {"failed": next((l for l in lines if "ERROR" in l), lines[0])[:300]}


def built(p, make, right):
    """What is kept of one build, with its file where there is one to run."""
    try:
        path, facts = make(p)
    except Unavailable as e:
        return failure(e)
    if output(p, path) != right:
        return dict(facts, wrong=True)
    with open(path, "rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()[:16]
    return dict(facts, file=os.path.basename(path), digest=digest)


def shares(p):
    """The taken share of the edges executed in training, in the layouts that each profile gives."""
    rows = worth(p, complete(p), [(str(n), gather(p, n)) for n in (FEW, MOST)])
    return {row[0]: float(row[TAKEN]) for row in rows}


def make_all(p, only):
    """Makes the builds. What was measured of one is kept where it is the same file again."""
    found = RECORDS.load(p.name) if RECORDS.has(p.name) else {"builds": {}}
    found.update(program=p.name, package=p.package, version=p.version, machine="; ".join([machine(), *versions()]),
                 trained=p.trained, tested=p.tested, blocks=len(p.insns))
    right = output(p, p.module)
    for name, _, _, make in COLUMNS:
        if only and name not in only:
            continue
        facts, old = built(p, make, right), found["builds"].get(name, {})
        same = facts.get("digest", "none") == old.get("digest")
        found["builds"][name] = {**old, **facts} if same else facts
        RECORDS.store(p.name, found)
    try:
        found["shares"] = shares(p)
    except Unavailable:
        found.pop("shares", None)
    RECORDS.store(p.name, found)
    return found


def count_one(p, found, name):
    """Counts what can be counted of one build."""
    build = found["builds"][name]
    try:
        instructions, taken, lines = p.taken(p.path(build["file"]), p.test(p.short))
        counted = dict(build, instructions=instructions, taken=taken, lines95=lines)
    except Unavailable as e:
        counted = failure(e)
    with STORING:
        found["builds"][name] = counted
        RECORDS.store(p.name, found)


def time_one(p, found, rounds):
    """All builds of a program at once on one CPU: CPU time to the base's of the same round."""
    paths = {n: p.path(found["builds"][n]["file"]) for n, _, _, _ in COLUMNS
             if "file" in found["builds"].get(n, {})}
    names = list(paths)
    timed = p.times(paths.values(), p.test(p.timed), rounds)
    seconds = {n: t["seconds"] for n, t in zip(names, timed)}
    for n in names:
        base = seconds.get(BASE[n] or n)
        found["builds"][n]["time"] = dict(pairs.ratio(seconds[n], base) if base else {},
                                          seconds=statistics.median(seconds[n]))
    found["rounds"] = rounds
    RECORDS.store(p.name, found)


def measure(programs, rounds, only=(), count=True, time=True):
    """All there is to find out of the programs; kept step by step."""
    found = [make_all(p, only) if count else RECORDS.load(p.name) for p in programs]
    if count:
        on_every_cpu([functools.partial(count_one, p, f, name)
                      for p, f in zip(programs, found) for name, build in f["builds"].items()
                      if "file" in build and name not in MOVED and (not only or name in only)])
    if time:
        on_every_cpu([functools.partial(time_one, p, f, rounds) for p, f in zip(programs, found)])


# ---- the page ----

def cell(found, name, text):
    b = found["builds"].get(name, {})
    if "failed" in b:
        return "failed"
    if b.get("wrong"):
        return "wrong"
    return text(b)


def times(b):
    t = b.get("time")
    return f"{t['median']:.3f} ({t['low']:.3f} … {t['high']:.3f})" if t and "median" in t else "–"


def mean(values):
    return f"{statistics.geometric_mean(values):.3f}" if values else "–"


def medians(all_, name, key):
    return [v for v in (key(f["builds"].get(name, {}), f) for f in all_) if v]


def median_times(all_, name):
    return medians(all_, name, lambda b, f: b.get("time", {}).get("median"))


def mean_time(all_, name):
    """Where all programs have one."""
    found = median_times(all_, name)
    return {"median": statistics.geometric_mean(found)} if len(found) == len(all_) else None


def time_rows(all_, shown):
    rows = [[f["program"]] + [cell(f, c, times) for c in shown] for f in all_]
    found = [median_times(all_, c) for c in shown]
    rows.append(["geometric mean"] + [
        mean(m) + (f" of {len(m)}" if m and len(m) != len(all_) else "") for m in found])
    rows.append(["best"] + [f"{min(m):.3f}" if m else "–" for m in found])
    rows.append(["worst"] + [f"{max(m):.3f}" if m else "–" for m in found])
    return rows


def places(f):
    """Plain's time in its own place, which is 1, and in the others: the mean and both ends."""
    found = [f["builds"].get(c, {}).get("time", {}).get("median") for c in MOVED]
    if None in found:
        return "–"
    found.append(1.0)
    return f"{statistics.geometric_mean(found):.3f} ({min(found):.3f} … {max(found):.3f})"


def ratio_rows(all_, shown, key):
    def ratio(b, f, c):
        base = f["builds"].get(BASE[c], {})
        return b[key] / base[key] if key in b and base.get(key) else None

    all_ = [f for f in all_ if key in f["builds"].get("plain", {})]
    rows = [[f["program"], f"{f['builds']['plain'][key]:,}"] +
            [cell(f, c, lambda b: f"{ratio(b, f, c):.3f}" if ratio(b, f, c) else "–") for c in shown]
            for f in all_]
    return rows + [["geometric mean", ""] + [
        mean(medians(all_, c, lambda b, f: ratio(b, f, c))) for c in shown]]


def share(base, one, best):
    return f"{(base - one) / (base - best):.1%}" if base > best else "–"


def tested_share(f, n):
    """How much of the complete profile's reduction in branches taken n samples give, on the test."""
    taken = [f["builds"].get(c, {}).get("taken") for c in ("plain", f"morph-{n}", "morph-complete")]
    return share(*taken) if all(taken) else "–"


def trained_share(f, n):
    """And in training."""
    taken = [f.get("shares", {}).get(c) for c in ("as built", str(n), "complete")]
    return share(*taken) if all(taken) else "–"


def share_rows(all_):
    return [[f["program"]] + [of(f, n) for of in (trained_share, tested_share) for n in (FEW, MOST)]
            for f in all_]


TOOLS = f"morph-{MOST}", "morph-complete", "bolt-samples", "bolt-complete"


def tool_rows(all_):
    return [[f["program"], f"{f['blocks']:,}"] + [
        cell(f, c, lambda b: f"{b['seconds']:.2f} s, {b['mb']:.0f} MB" if "mb" in b else "–")
        for c in TOOLS] for f in all_]


def min_gain():
    """The share that the manager wants by default."""
    with open(os.path.join(TOP, "config/morph.yaml")) as f:
        return float(re.search(r"^  min_gain: ([\d.]+)%", f.read(), re.M)[1]) / 100


def decision(f, n):
    """(what the samples promise, what a user of the manager has): plain where they promise too little."""
    b = f["builds"].get(f"morph-{n}", {})
    if "promised" not in b or "median" not in b.get("time", {}):
        return None
    return b["promised"], b["time"]["median"] if 1 - b["promised"] >= min_gain() else None


def decision_rows(all_):
    def text(promised, has):
        return f"{promised:.3f}: " + (f"laid out, {has:.3f}" if has else "left alone")

    found = [[decision(f, n) for n in (FEW, MOST)] for f in all_]
    rows = [[f["program"]] + [text(*d) if d else "–" for d in row] for f, row in zip(all_, found)]
    return rows + [["geometric mean"] + [mean([has or 1 for _, has in filter(None, column)])
                                         for column in zip(*found)]]


def remarks(all_):
    for f in all_:
        for c, heading, _, _ in COLUMNS:
            b = f["builds"].get(c, {})
            if b.get("failed"):
                yield f"- {f['program']}, {heading}: failed: {b['failed']}"
            elif b.get("wrong"):
                yield f"- {f['program']}, {heading}: its output differs from plain's"
            elif b.get("note") and c != "pgo":
                yield f"- {f['program']}, {heading}: {b['note']}"


def versions():
    said = []
    for command in peers.LLVM + "llvm-bolt", "perf", "valgrind":
        try:
            text = run([command, "--version"])
        except (Unavailable, OSError):
            continue
        said.append(re.search(r".*\d+\.\d+\S*", text)[0].strip())
    return said


# By what the names of its files end with: title, what it is measured by.
PAGES = {"": ("Figure 3, on today's programs and CPUs", "figure3"),
         "-cxx": ("Figure 3 of programs in C++, on CPUs", "figure3 cxx")}


def page(maker, all_, shown, name, title, command):
    head = ["program"] + [HEADING[c] for c in shown]
    yield f"# {title} of {maker}\n"
    yield f"`bench/run {command}` measures and writes this page; `bench/run figure3 --table` writes it again from"
    yield f"`figure3/{maker}/*.json`. What each column is and how it is made:"
    yield "[bench/README.md](../../bench/README.md#figure-3).\n"
    yield f"![CPU time by program and way]({name}.svg)\n"
    yield "; ".join(sorted({f["machine"] for f in all_})) + "."
    left_out = [HEADING[c] for c in PEERS if c not in shown]
    if left_out:
        yield f"\nNot measured here: {', '.join(left_out)}."
    yield "\n## CPU time\n"
    rounds = sorted({f["rounds"] for f in all_ if "rounds" in f})
    yield "Ratio to plain -O2 in the same round (AutoFDO: to clang -O2), median and quartiles of"
    yield f"{' or '.join(map(str, rounds)) or 'no'} rounds, in each of which all builds share a CPU; below 1 is faster.\n"
    yield from table_lines(head, time_rows(all_, shown))
    yield f"\nThe same code of plain in four places: as linked and {', '.join(map(str, MOVED.values()))} bytes further. What lies between them a"
    yield "layout wins or loses by chance.\n"
    yield from table_lines(["program", "mean of the medians (least … most)"], [[f["program"], places(f)] for f in all_])
    yield "\nWhat the manager makes of it: the time that the samples promise for the input they were gathered on, and"
    yield f"what a user has who leaves `min_gain` at its {min_gain():.0%}.\n"
    yield from table_lines(["program"] + [f"{n:,} samples" for n in (FEW, MOST)], decision_rows(all_))
    yield "\n## Branches taken\n"
    yield "Counted by callgrind on a shorter run of the test; ratio to plain (AutoFDO: to clang -O2). Morph's layouts"
    yield "for a Zen 5 have jumps put in on purpose ([hops](../notes/zen5.md#hops)), which are counted where padding"
    yield "is behind them.\n"
    yield from table_lines(["program", "plain"] + head[1:], ratio_rows(all_, shown, "taken"))
    yield "\nOf the complete profile's reduction the sampled ones give, on the input they were gathered on (executed edges"
    yield "that are no fallthrough under the complete profile, by `bench/profiles`) and on the other (branches counted"
    yield "above):\n"
    yield from table_lines(["program"] + [f"{which}, {n:,} samples" for which in ("training", "test")
                                          for n in (FEW, MOST)], share_rows(all_))
    yield "\n## Lines of 95 %\n"
    yield "64-byte lines that hold 95 % of the instructions executed on the test; ratio likewise.\n"
    yield from table_lines(["program", "plain"] + head[1:], ratio_rows(all_, shown, "lines95"))
    yield "\n## Making it\n"
    yield "Wall time and peak memory from profile and program to the new program: `morph-edit` without a cache, as and"
    yield "ld and its proofs included; perf2bolt and llvm-bolt.\n"
    yield from table_lines(["program", "blocks"] + [HEADING[c] for c in TOOLS], tool_rows(all_))
    yield "\n## Workloads\n"
    yield "Programs are trained on one input and timed on another, as in the paper's Table 2.\n"
    yield from table_lines(["program", "package", "trained on", "tested on", "seconds, plain"], [
        [f["program"], f"{f['package']} {f['version']}", f["trained"], f["tested"],
         cell(f, "plain", lambda b: f"{b['time']['seconds']:.2f}" if "time" in b else "–")] for f in all_])
    said = list(remarks(all_))
    if said:
        yield "\n## Remarks\n"
        yield from said


def write_page(maker, names, suffix, about):
    all_ = [RECORDS.load(n, maker) for n in names if RECORDS.has(n, maker)]
    if not all_:
        return
    shown = [c for c in PEERS if any(c in f["builds"] for f in all_)]
    name = f"figure3{suffix}-{maker}"
    made = os.path.join(TOP, "docs/bench", name)
    with open(made + ".md", "w") as f:
        f.write("\n".join(page(maker, all_, shown, name, *about)) + "\n")
    bars = [(f["program"], [(c, f["builds"].get(c, {}).get("time")) for c in shown]) for f in all_]
    bars.append(("geometric mean", [(c, mean_time(all_, c)) for c in shown]))
    chart.write(made + ".svg", [(c, HEADING[c]) for c in shown], bars)


def write_pages(names, suffix, about):
    """One for each maker of CPUs that was measured on; about: of PAGES."""
    for maker in RECORDS.makers():
        write_page(maker, names, suffix, about)
