"""What the model of the front end predicts, beside what the clock says."""
import math

from gathered import complete, counted, gather, promised
from rig import table

SAMPLES = 15000, 100000
# Cycles, of which ratios alone count: an instruction.
INSN = .3
FITTED = "taken", "lines"
# No user has random layouts, but their signal is strong; and the manager decides by a
# program's own use.
WILD, USED = .3, 2


class Layout:
    """What the model counts in a layout, and in the plain build, and the ratio of their times."""

    def __init__(self, name, cost, plain, ratio, weight=1, promise=None):
        self.name, self.cost, self.plain, self.ratio = name, cost, plain, ratio
        self.weight, self.promise = weight, promise
        self.predicted = cost["cycles"] / plain["cycles"]
        self.error = self.predicted - ratio["median"]

    def text(self):
        said = [f"{p:.3f}" for p in (self.promise, self.predicted) if p]
        return "; ".join(said + ["{median:.3f} ({low:.3f} … {high:.3f})".format(**self.ratio)])

    def broken(self):
        return self.promise - self.ratio["median"]


class Found:
    """The layouts of a program: on the test workload, and from samples where these were gathered."""

    def __init__(self, p):
        self.p, self.name = p, p.name
        self.train, self.test = complete(p), counted(p, "test", p.test(p.timed))
        few = [(f"{n:,} samples", gather(p, n)) for n in SAMPLES]
        self.made = [(name, p.edit(f"predict{k}", how)[0], how) for k, (name, how) in enumerate([
            ("complete, test", self.test), ("complete, training", self.train),
            ("the same, order alone", (*self.train, "--omit", "all")), *few,
            ("random 1", ("--random", "1")), ("random 2", ("--random", "2"))])]

    def measure(self, rounds):
        sampled = [m for m in self.made if m[2][0] == "--samples"]
        self.tested = self.layouts("test", rounds, self.made, self.test, self.p.test)
        self.trained = self.layouts("train", rounds, sampled, self.train, self.p.train)
        for layout, (_, _, how) in zip(self.trained, sampled):
            layout.weight, layout.promise = USED, promised(self.p, how)
        return self

    def layouts(self, which, rounds, made, profile, args):
        p = self.p
        _, *ratio = p.times([p.module] + [b for _, b, _ in made], args(p.timed), rounds, f"predict-{which}")
        plain = p.score(profile, p.module)["cost"]
        return [Layout(name, p.score(profile, b)["cost"], plain, r, WILD if how[0] == "--random" else 1)
                for (name, b, how), r in zip(made, ratio)]


builds = Found


def measure(found, rounds):
    return found.measure(rounds)


# ---- the constants ----

def cycles(prices, cost):
    return INSN * cost["insns"] + sum(price * cost[what] for price, what in zip(prices, FITTED))


def error(prices, layout):
    return cycles(prices, layout.cost) / cycles(prices, layout.plain) - layout.ratio["median"]


def loss(prices, layouts):
    return sum(l.weight * math.log1p(error(prices, l) / l.ratio["median"]) ** 2 for l in layouts)


def fit(layouts):
    """The prices >= 0 of least squares, by a pattern search: there are two of them."""
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
    prices = [fit([l for g in layouts if g is not f for l in g]) for f in layouts if len(found) > 2]
    for name, wanted in KINDS:
        left = [error(q, l) for q, f in zip(prices, layouts) for l in f if wanted(l)]
        yield [name, said([l.error for f in layouts for l in f if wanted(l)]),
               said(left) if left else "–"]
    yield ["what the samples alone promise", said([l.broken() for f in found for l in f.trained]), "–"]


def layout_table(rows):
    table(["program"] + [l.name for l in rows[0][1]], [[name] + [l.text() for l in row] for name, row in rows])


def tables(found):
    print("Layouts on the test workload, predicted; measured, median and quartiles:\n")
    layout_table([(f.name, f.tested) for f in found])
    print("Layouts from samples on the workload that was sampled, promised by the samples alone, as the "
          "manager sees it; predicted; measured:\n")
    layout_table([(f.name, f.trained) for f in found])
    print("Error of the predicted time, root mean square:\n")
    table(["", "constants in use", "fitted to the other programs"], list(error_rows(found)))
    prices = fit([l for f in found for l in f.tested + f.trained])
    print(f"Fitted to these, an instruction being {INSN} cycles: " +
          ", ".join(f"{what} {price:.2f}" for what, price in zip(FITTED, prices)) + ".\n")
