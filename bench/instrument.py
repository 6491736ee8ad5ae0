"""What counting costs: Morph's counting builds beside GCC's own."""
import os
import shutil

import beside
from gathered import gather
from rig import CFLAGS, LDFLAGS, How, Unavailable

WEIGHED = 15000
# Branches alone, as Morph's, and what -fprofile-use would have.
GCC = [("GCC, no values", "pgo-branches", "-fprofile-generate -fno-profile-values"),
       ("GCC -fprofile-generate", "pgo-counting", "-fprofile-generate")]


def builds(p):
    made = {}
    ways = {"blocks": ["--instrument=blocks"], "edges": ["--instrument=edges"],
            "edges, per thread": ["--instrument=edges", "--counters=thread"],
            "edges, atomic": ["--instrument=edges", "--counters=atomic"]}
    try:
        profile = gather(p, WEIGHED)
        ways.update({name + ", weighed": [*ways[name], *profile] for name in ("edges", "edges, per thread")})
    except Unavailable:
        pass
    for k, name in enumerate(sorted(ways)):
        made[name] = p.edit(f"counting{k}", ways[name])[0]
    for name, kept, flags in GCC:
        made[name] = p.made(kept, How(cflags=f"{CFLAGS} {flags}", ldflags=f"{LDFLAGS} {flags}"))
    return beside.Beside(p, made)


def measure(b, rounds):
    raw = b.p.path("raw")
    os.makedirs(raw, exist_ok=True)
    # GCC's files go aside, too: each run of them adds to what is there.
    b.p.env.update(MORPH_COUNTS=raw + "/%p", GCOV_PREFIX=raw)
    b.measure("instrument", rounds)
    shutil.rmtree(raw)
    return b


def tables(all_):
    beside.by_program("CPU time as a ratio to the plain build's, median and quartiles:", all_, beside.time)
    beside.by_program("Instructions, by callgrind:", all_, beside.counted(beside.INSTRUCTIONS))
    beside.by_program("Size of the file:", all_, beside.size)
