"""Builds of programs beside the plain ones: their time, and what callgrind counts of them."""
import os
import statistics

from rig import table

INSTRUCTIONS, TAKEN, LINES = range(3)


TIMED = 20  # the part of a whole training that is timed


class Beside:
    """Builds {what it is: path} of a program, and the plain one, on the test, or on what they were trained on."""

    def __init__(self, p, made, plain=None, trained=False):
        self.p, self.name, self.made, self.base = p, p.name, made, plain or p.module
        self.args = p.train if trained else p.test
        self.timed = max(1, p.long // TIMED) if trained else p.timed

    def measure(self, which, rounds):
        """The times are kept as `which`; without rounds there are none."""
        p, paths = self.p, [self.base, *self.made.values()]
        if rounds:
            _, *time = p.times(paths, self.args(self.timed), rounds, which)
            self.time = dict(zip(self.made, time))
        self.plain, *counted = [p.taken(path, self.args(p.short)) for path in paths]
        self.counted = dict(zip(self.made, counted))
        return self


# Cells: (ratio to the plain build, text) of a build.

def time(b, build):
    t = b.time[build]
    return t["median"], f"{t['median']:.3f} ({t['low']:.3f} … {t['high']:.3f})"


def counted(what):
    def cell(b, build):
        ratio = b.counted[build][what] / b.plain[what]
        return ratio, f"{ratio:.3f}"
    return cell


def size(b, build):
    ratio = os.path.getsize(b.made[build]) / os.path.getsize(b.base)
    return ratio, f"{ratio:.3f}"


def by_program(title, all_, cell):
    """A table of cells, and the geometric mean of each build that all programs have."""
    builds = list(dict.fromkeys(build for b in all_ for build in b.made))
    rows = [[cell(b, build) if build in b.made else (None, "–") for build in builds] for b in all_]
    means = [f"{statistics.geometric_mean(ratios):.3f}" if all(ratios) else "–"
             for ratios in ([ratio for ratio, _ in column] for column in zip(*rows))]
    print(title + "\n")
    table(["program", *builds], [[b.name, *(text for _, text in row)] for b, row in zip(all_, rows)] +
          [["geometric mean", *means]])
