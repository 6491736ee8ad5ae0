"""A program whose new build takes a planted share more or less time, or crashes now and then, and the
real manager and monitor, which find out: for a flow test and for bench/switchback."""
import atexit

from manager import *

# The first build's build-id is in the file FIRST; any other one is new.
PROGRAM = r"""#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
""" + IS_FIRST + STEP + r"""static void spin(unsigned long n)
{
	/* Nothing of it depends on where it lies. */
	__asm__ volatile("1: imul %0, %0\n imul %0, %0\n imul %0, %0\n dec %1\n jnz 1b"
	    : "+r"((unsigned long){3}), "+r"(n) : : "cc");
}
int main(int c, char **v)
{
	unsigned long x = 1, i, n = strtoul(v[1], 0, 10);
	double plant = atof(v[2]), crash = atof(v[3]);
	struct timespec t;

	for (i = 0; i < 2000; i++)
		x = step(x, (unsigned)(i * 2654435761u >> 7));
	clock_gettime(CLOCK_MONOTONIC, &t);
	srand48(t.tv_nsec ^ getpid());
	if (!is_first(v[4])) {
		n = n * (1 + plant);
		if (drand48() < crash)
			abort();
	}
	spin(n);
	return x == 42;
}
"""

# A monitor of the whole machine tells of other tests' programs, too: those are their managers' to change.
ONLY = "modules: [{path: FOLDER/**, action: optimize}, {path: /**, action: ignore}]\n"
POLICY = STEADY + "measure: {turn: TURN, runs: RUNS}\n" + \
    "notify: {command: [TELL, '{module}', '{event}', '{text}']}\n"
TELL = '#!/bin/sh\nid -un >>"$0.told"; printf "%s\\n" "$@" >>"$0.told"; touch "$0.$2"\n'


class Switchback:
    """A laid-out program under a manager that has just begun to compare."""

    def __init__(self, place, runs=400, turn="500ms", flush="1", ms=25):
        self.place = place
        self.prog = place.build("planted", PROGRAM)
        self.first = place / "home/first"
        with open(self.first, "w") as f:
            f.write(Elf(self.prog).build_id())
        self.tell = place / "home/tell"
        with open(self.tell, "w") as f:
            f.write(TELL)
        os.chmod(self.tell, 0o755)
        policy = POLICY.replace("RUNS", str(runs)).replace("TURN", turn).replace("TELL", self.tell)
        self.m = Manager(place, policy + ONLY.replace("FOLDER", place.path))
        self.monitor = subprocess.Popen([place / "bin/morph-monitor", "-v", "--flush", flush], env=place.env,
                                        stdout=subprocess.DEVNULL, stderr=open(place / "monitor.log", "w"))
        atexit.register(self.monitor.kill)
        atexit.register(self.m.p.terminate)
        elf = Elf(self.prog)
        self.original = elf.build_id()
        s = Sender(place, hello(1))
        work = usage(elf, 11, {f for f, _ in elf.blocks()})
        check(s.send(batch(1, 1, [(self.original, self.prog, draw(elf, work, 10000, 1))])), "samples of the program")
        self.m.wait("laid out and swapped", lambda: self.m.events("swapped"))
        s.close()
        self.loops = self.calibrate(ms)

    def run(self, plant, crash, loops=None):
        return subprocess.run([self.prog, str(loops or self.loops), str(plant), str(crash), self.first],
                              stderr=subprocess.DEVNULL).returncode

    def calibrate(self, ms):
        """How many loops take so many ms of CPU time, without what else a process does."""
        took = {}
        for loops in (1 << 22, 1 << 24):
            before = os.times().children_user
            for _ in range(8):
                self.run(0, 0, loops)
            took[loops] = os.times().children_user - before
        each = (took[1 << 24] - took[1 << 22]) / 8 / ((1 << 24) - (1 << 22))
        return int(ms / 1000 / max(each, 1e-10))

    def batches(self):
        """How many batches the monitor has made."""
        return open(self.place / "monitor.log").read().count(": batch ")

    def told(self):
        """What the notify command was told, in lines of user, module, event and text."""
        lines = open(self.tell + ".told").read().splitlines()
        return [lines[i:i + 4] for i in range(0, len(lines), 4)]

    def measured(self):
        return self.m.module(self.prog)["measured"]

    def compare(self, plant, crash=0, seconds=300):
        """Runs it until there is a verdict; what was measured. In self.crashes, for each crash, after how many batches."""
        end = time.time() + seconds
        self.crashes = []
        while True:
            for _ in range(10):
                if self.run(plant, crash) < 0:
                    self.crashes.append(self.batches())
            t = self.measured()
            if t["ended"]:
                return t
            if time.time() > end:
                fail(f"no verdict in {seconds} s: {t}\n{self.m.said()}\n{open(self.place / 'monitor.log').read()}")

    def close(self):
        self.monitor.terminate()
        check(self.monitor.wait(30) == 0, "the monitor ends in order")
        self.m.stop()
