"""Builds of programs beside the plain ones: their time, and what callgrind counts of them."""
import os
import statistics

from rig import table

INSTRUCTIONS, TAKEN, LINES = range(3)


class Beside:
    """Builds {what it is: path} of a program, and the plain one."""

    def __init__(self, p, made):
        self.p, self.name, self.made = p, p.name, made

    def measure(self, which, rounds):
        """The times are kept as `which`."""
        p, paths = self.p, [self.p.module, *self.made.values()]
        _, *time = p.times(paths, p.test(p.timed), rounds, which)
        self.plain, *counted = [p.taken(path, p.test(p.short)) for path in paths]
        self.time, self.counted = dict(zip(self.made, time)), dict(zip(self.made, counted))
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
    ratio = os.path.getsize(b.made[build]) / os.path.getsize(b.p.module)
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
