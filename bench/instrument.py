"""What counting costs: Morph's counting builds beside GCC's own."""
import os
import shutil

from gathered import gather
from rig import CFLAGS, LDFLAGS, How, Unavailable

PROGRAMS = "lua", "sqlite", "gzip"
WEIGHED = 15000
HEAD = ["program, build", "counters", "CPU time", "quartiles", "instructions", "bytes"]


def builds(p):
    """[(name, path, counters)], the plain one first."""
    made = [("-O2 as built", p.module, "")]
    ways = [("blocks", ["--instrument=blocks"]), ("edges", ["--instrument=edges"]),
            ("edges, per thread", ["--instrument=edges", "--counters=thread"]),
            ("edges, atomic", ["--instrument=edges", "--counters=atomic"])]
    try:
        profile = gather(p, WEIGHED)
        ways.insert(2, (f"edges, weighed by {WEIGHED:,} samples", ["--instrument=edges", *profile]))
    except Unavailable:
        pass
    for k, (name, how) in enumerate(ways):
        path, found, _ = p.edit(f"counting{k}", how)
        made.append((name, path, f"{found['counters']:,} for {found['blocks']:,} blocks"))
    gcc = p.made("pgo-counting", How(cflags=CFLAGS + " -fprofile-generate",
                                     ldflags=LDFLAGS + " -fprofile-generate"))
    return made + [("GCC -fprofile-generate", gcc, "")]


def rows(p, rounds):
    out, made, raw = [], builds(p), p.path("raw")
    os.makedirs(raw, exist_ok=True)
    # GCC's files go aside, too: each run of them adds to what is there.
    p.env.update(MORPH_COUNTS=raw + "/%p", GCOV_PREFIX=raw)
    ratio = p.times([b for _, b, _ in made], p.test(p.timed), rounds)
    base = None
    for (name, build, counters), r in zip(made, ratio):
        instructions = p.taken(build, p.test(p.short))[0]
        base = base or instructions
        out.append([f"{p.name}, {name}", counters, f"{r['median']:.2f}",
                    f"{r['low']:.2f} … {r['high']:.2f}", f"{instructions / base:.2f}",
                    f"{os.path.getsize(build):,}"])
    shutil.rmtree(raw)
    return out
