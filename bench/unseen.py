"""What each pass of the layout is worth on programs on which nothing was tuned.

Layouts are made from the complete profile of the training, times and counts are of the test. A pass's
worth is what the layout saves beside the one that omits it, in the same rounds.
"""
import hashlib
import math
import statistics

import beside
from gathered import complete, gather
from rig import Unavailable, table

PASSES = "tails", "cpu", "got"
SAMPLES = 15000, 100000
WORTH = .01  # of branches taken: enough for a pass to stay, whatever its time


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def builds(p):
    profile = complete(p)
    made = {"default": p.edit("unseen-default", profile)[0],
            "order alone": p.edit("unseen-alone", (*profile, "--omit", "all"))[0]}
    same = digest(made["default"])
    for name in PASSES:
        build = p.edit(f"unseen-{name}", (*profile, "--omit", name))[0]
        if digest(build) != same:
            made["without " + name] = build
    for n in SAMPLES:
        try:
            made[f"{n:,} samples"] = p.edit(f"unseen-{n}", gather(p, n))[0]
        except Unavailable as e:
            print(f"{p.name}: no samples: {e}\n", flush=True)
    return beside.Beside(p, made)


def measure(b, rounds):
    return b.measure("unseen", rounds)


def changes(b, name):
    return "without " + name in b.made


def mean(values):
    """(mean, its standard error)"""
    values = list(values)
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def time_worth(b, name):
    """(share of the time a pass saves, standard error), of the rounds' ratios."""
    if not changes(b, name):
        return 0, 0
    with_, without = (b.time[build]["seconds"] for build in ("default", "without " + name))
    return mean(math.log(y / x) for x, y in zip(with_, without))


def counted_worth(b, name, what):
    if not changes(b, name):
        return 0
    with_, without = (b.counted[build][what] for build in ("default", "without " + name))
    return math.log(without / with_)


def percent(value, error=None):
    return f"{value:+.2%}" + (f" ± {error:.2%}" if error is not None and not math.isnan(error) else "")


def summary(all_, name):
    time, time_error = mean(time_worth(b, name)[0] for b in all_)
    noise = math.hypot(*(time_worth(b, name)[1] for b in all_)) / len(all_)
    taken, taken_error = mean(counted_worth(b, name, beside.TAKEN) for b in all_)
    lines, lines_error = mean(counted_worth(b, name, beside.LINES) for b in all_)
    changed = sum(changes(b, name) for b in all_)
    stays = time > max(time_error, noise) or taken >= WORTH
    verdict = "not measured" if not changed else "stays" if stays else "goes"
    return [name, f"{changed} of {len(all_)}", percent(time, time_error), f"{noise:.2%}",
            percent(taken, taken_error), percent(lines, lines_error), verdict]


def tables(all_):
    print("What a pass saves, as the mean of the programs and its standard error among them (0 where it changes\n"
          "nothing); `of rounds` is the error of the rounds alone. It stays when it saves more time than either\n"
          f"error, or {WORTH:.0%} of the branches taken:\n")
    table(["pass", "changes", "CPU time", "of rounds", "branches taken", "lines of 95 %", "by the rule"],
          [summary(all_, name) for name in PASSES])
    print("CPU time that a pass saves by program, mean of the rounds and its standard error:\n")
    table(["program", *PASSES], [[b.name, *(percent(*time_worth(b, name)) if changes(b, name) else "–" for name in PASSES)]
                                 for b in all_])
    print("Branches taken that it saves:\n")
    table(["program", *PASSES], [[b.name, *(percent(counted_worth(b, name, beside.TAKEN)) if changes(b, name) else "–"
                                            for name in PASSES)] for b in all_])
    beside.by_program("CPU time as a ratio to the plain build's, median and quartiles:", all_, beside.time)
    beside.by_program("Branches taken, by callgrind:", all_, beside.counted(beside.TAKEN))
