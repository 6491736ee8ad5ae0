"""What the model of the front end predicts, beside what the clock says."""
import hashlib
import json
import math
import os

from gathered import complete, counted, gather
from rig import run, tool

HEAD = ["program, layout", "predicted", "measured", "quartiles", "error", "taken", "lines", "misses"]
TRAINED_HEAD = ["program, samples", "promised", "predicted", "measured", "quartiles", "error"]
SAMPLES = 15000, 100000
# Cycles, of which ratios alone count: an instruction; what a page costs is assumed.
INSN, PAGE = .3, 8
FITTED = "taken", "lines", "l1i"
# No user has random layouts, but their signal is strong; and the manager decides by a
# program's own use.
WILD, USED = .3, 2


def times(p, which, rounds, builds, args):
    """Ratios of the builds' times to the first one's, kept as long as the builds stay the same."""
    kept = p.path(f"predict-{which}.json")
    same = [[hashlib.sha256(open(b, "rb").read()).hexdigest() for b in builds], args]
    if os.path.exists(kept):
        of, ratio = json.load(open(kept))
        if of == same:
            return ratio
    ratio = p.times(builds, args, rounds)
    p.write(os.path.basename(kept), json.dumps([same, ratio]))
    return ratio


def promised(p, samples):
    """The time that samples alone promise for the layout made from them."""
    score = json.loads(run([tool("morph-edit"), "--artifact", p.artifact, *samples, "--score",
                            "--json"]))["score"]
    return score["after"]["cost"]["cycles"] / score["before"]["cost"]["cycles"]


class Layout:
    """What the model counts in a layout, and in the plain build, and the ratio of their times."""

    def __init__(self, name, cost, plain, ratio, weight=1, promise=None):
        self.name, self.cost, self.plain, self.ratio = name, cost, plain, ratio
        self.weight, self.promise = weight, promise
        self.predicted = cost["cycles"] / plain["cycles"]
        self.error = self.predicted - ratio["median"]

    def row(self, program):
        r, c = self.ratio, self.cost
        return [f"{program}, {self.name}", f"{self.predicted:.3f}", f"{r['median']:.3f}",
                f"{r['low']:.3f} … {r['high']:.3f}", f"{self.error:+.3f}",
                f"{c['taken']:.3f}", f"{c['lines']:.3f}", f"{1000 * c['l1i']:.2f}"]

    def trained_row(self, program):
        row = self.row(program)
        return [row[0], f"{self.promise:.3f}", *row[1:4], f"{self.broken():+.3f}"]

    def broken(self):
        return self.promise - self.ratio["median"]


class Found:
    """The layouts of a program: on the test workload, and from samples where these were gathered."""

    def __init__(self, p, rounds):
        self.name = p.name
        train, test = complete(p), counted(p, "test", p.test(p.timed))
        few = [(f"{n:,} samples", gather(p, n)) for n in SAMPLES]
        made = [(name, p.edit(f"predict{k}", how)[0], how) for k, (name, how) in enumerate([
            ("complete profile of the test", test), ("complete profile of training", train),
            ("the same, order alone", (*train, "--without", "all")), *few,
            ("random 1", ("--random", "1")), ("random 2", ("--random", "2"))])]
        ratio = times(p, "test", rounds, [p.module] + [b for _, b, _ in made], p.test(p.timed))
        plain = p.score(test, p.module)["cost"]
        self.tested = [Layout(name, p.score(test, b)["cost"], plain, r,
                              WILD if how[0] == "--random" else 1)
                       for (name, b, how), r in zip(made, ratio[1:])]
        made = [m for m in made if m[2][0] == "--samples"]
        ratio = times(p, "train", rounds, [p.module] + [b for _, b, _ in made], p.train(p.timed))
        plain = p.score(train, p.module)["cost"]
        self.trained = [Layout(name, p.score(train, b)["cost"], plain, r, USED, promised(p, how))
                        for (name, b, how), r in zip(made, ratio[1:])]


# ---- the constants ----

def cycles(prices, cost):
    return (INSN * cost["insns"] + PAGE * cost["itlb"] +
            sum(price * cost[what] for price, what in zip(prices, FITTED)))


def error(prices, layout):
    return cycles(prices, layout.cost) / cycles(prices, layout.plain) - layout.ratio["median"]


def loss(prices, layouts):
    return sum(l.weight * math.log1p(error(prices, l) / l.ratio["median"]) ** 2 for l in layouts)


def fit(layouts):
    """The prices >= 0 of least squares, by a pattern search: there are three of them."""
    prices, step = [INSN] * len(FITTED), INSN
    best = loss(prices, layouts)
    while step > 1e-4:
        tried = [prices[:k] + [max(0, prices[k] + d * max(prices[k], INSN))] + prices[k + 1:]
                 for k in range(len(prices)) for d in (step, -step)]
        least, at = min((loss(t, layouts), t) for t in tried)
        if least < best:
            best, prices = least, at
        else:
            step /= 2
    return prices


def said(errors):
    square = math.sqrt(sum(e * e for e in errors) / len(errors))
    return f"{square:.3f} (mean {sum(errors) / len(errors):+.3f})"


KINDS = [("layouts from profiles, on the test", lambda l: l.weight == 1),
         ("random ones", lambda l: l.weight == WILD),
         ("layouts from samples, on what was sampled", lambda l: l.weight == USED)]


def error_rows(found):
    """Root mean square and mean by kind of layout, as it is and with each program left out of a fit."""
    layouts = [f.tested + f.trained for f in found]
    prices = [fit([l for g in layouts if g is not f for l in g]) for f in layouts] \
        if len(found) > 2 else []
    for name, wanted in KINDS:
        left = [error(q, l) for q, f in zip(prices, layouts) for l in f if wanted(l)]
        yield [name, said([l.error for f in layouts for l in f if wanted(l)]),
               said(left) if left else "–"]
    yield ["what the samples alone promise", said([l.broken() for f in found for l in f.trained]), "–"]


def constants(found):
    return ", ".join(f"{what} {price:.2f}" for what, price in
                     zip(FITTED, fit([l for f in found for l in f.tested + f.trained])))
