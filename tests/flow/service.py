"""A little server that counts its requests, each of which costs a planted share more or less CPU time in
a new build, under the monitor of its user, and the real manager, which finds out: for flow tests."""
import atexit
import threading

from manager import *

# The first build's build-id is in the file FIRST; any other one is new. A request is one byte: 'r' some
# work, 'n' how many there were so far, 'q' the end.
SERVER = r"""#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
""" + IS_FIRST + STEP + r"""static void spin(unsigned long n)
{
	/* Nothing of it depends on where it lies. */
	__asm__ volatile("1: imul %0, %0\n imul %0, %0\n imul %0, %0\n dec %1\n jnz 1b"
	    : "+r"((unsigned long){3}), "+r"(n) : : "cc");
}
static unsigned long number(const char *path)
{
	unsigned long n = 0;
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%lu", &n) != 1)
		exit(2);
	fclose(f);
	return n;
}
int main(int c, char **v)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	unsigned long x = 1, i, served = 0, n = 200000;
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), k;
	char what, text[32];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!is_first(v[2]))
		n = n * number(v[3]) / 100;
	strncpy(a.sun_path, v[1], sizeof a.sun_path - 1);
	unlink(v[1]);
	signal(SIGPIPE, SIG_IGN);
	if (bind(s, (struct sockaddr *)&a, sizeof a) || chmod(v[1], 0666) || listen(s, 64))
		return 3;
	while ((k = accept(s, NULL, NULL)) >= 0) {
		while (read(k, &what, 1) == 1 && what == 'r') {
			for (i = 0; i < 100; i++)
				x = step(x, (unsigned)(i * 2654435761u >> 7));
			spin(n);
			served++;
			if (write(k, &what, 1) != 1)
				break;
		}
		if (what == 'q')
			return x == 42;
		if (what == 'n' && write(k, text, snprintf(text, sizeof text, "%lu\n", served)) < 0)
			break;
		close(k);
	}
	return 4;
}
"""

# It runs for ever, and begins again when it ends.
LOOP = '#!/bin/sh\nwhile [ ! -e "$1.stop" ]; do "$@" || sleep 0.1; done\n'
# Of one byte and what it brings; python3 is there, nc may not be.
ASK = """#!/usr/bin/python3
import socket, sys, time
for _ in range(200):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.05)
s.sendall(sys.argv[2].encode())
sys.stdout.write(s.recv(100).decode())
"""

POLICY = STEADY + "measure: {service_turn: TURN, counter: COUNTER}\n"


class Service:
    """A laid-out server under a manager that has just begun to compare; counter: its command, else the
    server's own; restart: whether the policy may restart it."""

    def __init__(self, place, turn="2s", counter=None, restart=True):
        self.place = place
        self.prog = place.build("server", SERVER)
        self.socket, self.first, self.plant = place / "home/s", place / "home/first", place / "home/plant"
        self.ask = self.script("ask", ASK)
        self.put(self.first, Elf(self.prog).build_id())
        self.put(self.plant, 100)
        policy = POLICY.replace("TURN", turn).replace(
            "COUNTER", counter or f"[{self.ask}, {self.socket}, n]")
        if restart:
            policy = policy[:-2] + f", restart: [{self.ask}, {self.socket}, q]}}\n"
        self.m = Manager(place, policy)
        atexit.register(self.m.p.terminate)
        self.monitor = subprocess.Popen(
            [place / "bin/morph-monitor", "-v", "--flush", "0.25", "--", self.script("loop", LOOP), self.prog,
             self.socket, self.first, self.plant], env=place.env, cwd=place / "home",
            stdout=subprocess.DEVNULL, stderr=open(place / "monitor.log", "w"), **AS_USER)
        atexit.register(self.end)
        self.load = threading.Thread(target=self.send, daemon=True)
        self.load.start()

    def script(self, name, text):
        path = self.place / "home/" + name
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def put(self, path, what):
        with open(path, "w") as f:
            f.write(f"{what}\n")

    def send(self):
        """Requests, some after each pause, of whichever server is there."""
        self.ended, self.sent = False, 0
        while not self.ended:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(5)
                    s.connect(self.socket)
                    for _ in range(20):
                        s.sendall(b"r")
                        self.sent += len(s.recv(1))
            except OSError:
                pass
            time.sleep(0.02)

    def query(self, what):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.socket)
            s.sendall(what.encode())
            return s.recv(100).decode()

    def swap(self):
        """Has the manager lay it out; the trial begins."""
        elf = Elf(self.prog)
        self.original = elf.build_id()
        s = Sender(self.place, hello(1))
        work = usage(elf, 11, {f for f, _ in elf.blocks()})
        check(s.send(batch(1, 1, [(self.original, self.prog, draw(elf, work, 10000, 1))])),
              "samples of the server")
        self.m.wait("laid out and swapped", lambda: self.m.events("swapped"))
        s.close()

    def again(self):
        """The same, once more, since a person asks for it."""
        _, c = self.m.change(f"/v1/modules/{self.m.module(self.prog)['id']}/reoptimize", '{"force": true}')
        check(c["status"] == "done", c["text"])

    def runs(self):
        """The build-id of what runs; None: nothing."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)").startswith(self.place.path) and \
                        open(f"/proc/{pid}/cmdline").read().startswith(self.prog + "\0"):
                    return Elf(f"/proc/{pid}/exe").build_id()
            except OSError:
                pass
        return None

    def measured(self):
        return self.m.module(self.prog)["measured"]

    def compared(self, seconds=300):
        """Waits for a verdict; what was measured."""
        self.m.wait("there is a verdict", lambda: (self.measured() or {}).get("ended"), seconds)
        return self.measured()

    def end(self):
        self.ended = True
        if os.path.exists(self.prog):
            open(self.prog + ".stop", "w").close()
        self.monitor.terminate()

    def close(self):
        self.end()
        self.m.stop()
