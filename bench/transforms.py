"""What each transform of morph-edit is worth by itself, and all that are on by default."""
import beside
from gathered import complete

SETS = {"order alone": ["--without", "all"],
        **{f"with {name}": ["--without", "all", "--with", name]
           for name in ("thread", "tails", "tails,frugal", "rotate", "spread", "hops", "align", "lines", "page")},
        "default": []}


def builds(p):
    profile = complete(p)
    made = {name: p.edit(f"transformed{k}", (*profile, *options))
            for k, (name, options) in enumerate(SETS.items())}
    b = beside.Beside(p, {name: path for name, (path, _, _) in made.items()})
    b.code = {name: found["size"]["after"] / found["size"]["before"] for name, (_, found, _) in made.items()}
    return b


def measure(b, rounds):
    return b.measure("transforms", rounds)


def code(b, build):
    return b.code[build], f"{b.code[build]:.3f}"


def tables(all_):
    beside.by_program("CPU time as a ratio to the plain build's, median and quartiles:", all_, beside.time)
    beside.by_program("Branches taken, by callgrind:", all_, beside.counted(beside.TAKEN))
    beside.by_program("64-byte lines that hold 95 % of the instructions, by callgrind:", all_,
                      beside.counted(beside.LINES))
    beside.by_program("Size of the code:", all_, code)
