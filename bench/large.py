"""What layouts of large programs are worth, made from few and many samples of one workload and judged
on another: by its complete profile, and by the clock."""
import beside
from gathered import complete, counted, gather_all, share, worth
from rig import table

MANY = 5000, 20000, 100000, 1000000, 2000000
TIMED = 100000, 1000000  # and the complete profile


def builds(p):
    truth, trained = counted(p, "test", p.test(p.timed)), complete(p)
    sampled = {n: (f"{n:,} samples", profile) for n, profile in zip(MANY, gather_all(p, MANY))}
    made = {sampled[n][0]: p.edit(f"large-{n}", sampled[n][1])[0] for n in TIMED}
    made["complete"] = p.edit("large-complete", trained)[0]
    b = beside.Beside(p, made)
    b.rows = rows(p, worth(p, truth, list(sampled.values()), trained))
    return b


def rows(p, worths):
    """As bench/profiles has them, by the complete profile of the test."""
    built, *_, best = worths
    cell = lambda row, k: row[k] if row is built else f"{row[k]} ({share(built, row, best, k):.1%})"
    return [[f"{p.name}, {row[0]}", *(cell(row, k) for k in (6, 7, 8, 9)),
             f"{row[4]} %", f"{int(row[10]):,}", f"{row[5]} s"] for row in worths]


def measure(b, rounds):
    _, *time = b.p.times([b.p.module, *b.made.values()], b.p.test(b.p.timed), rounds, "large")
    b.time = dict(zip(b.made, time))
    return b


def tables(all_):
    table(["program, profile", "taken of edges", "lines of 95 %", "line changes", "cycles", "overlap",
           "blocks of 90 %", "inference"], sum((b.rows for b in all_), []))
    print("In brackets the share of the complete profile's reduction. Line changes and cycles are the model's, per\n"
          "instruction; overlap is of all edge weights; CPU seconds of inference.\n")
    table(["program", "functions", "blocks", "trained by", "tested by"],
          [[b.name, f"{len(b.p.key):,}", f"{len(b.p.insns):,}", b.p.trained, b.p.tested] for b in all_])
    beside.by_program("CPU time on the test as a ratio to the plain build's, median and quartiles:", all_, beside.time)
