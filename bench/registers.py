"""Samples with registers of a program's training, as the monitor sends them to a manager."""
import json
import os
import socket
import threading

from gathered import RATE, copied, train
from rig import Unavailable, progress

from manager import Place  # of tests/flow, which rig adds
from monitor import Hello, ack, frames, want


class Recorder:
    """A manager that asks for one build's registers and appends every batch to a file."""

    def __init__(self, path, build_id, out):
        self.build_id, self.out, self.had, self.lock = build_id, out, 0, threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        os.chmod(path, 0o777)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection):
        data = b""
        while chunk := connection.recv(1 << 16):
            data, at = data + chunk, 0
            for message, end in frames(data):
                if isinstance(message, Hello):
                    connection.sendall(want([self.build_id]))
                else:
                    self.keep(data[at:end], len(message.regs))
                    connection.sendall(ack(message))
                at = end
            data = data[at:]

    def keep(self, frame, n):
        with self.lock:
            self.out.write(frame)
            self.had += n


def recorded(p, n):
    """A file of batches (docs/FORMATS.md "Wire frames") with at least n such samples.

    It is kept as long as program and workload are the same.
    """
    kept, of = p.path("registers"), json.dumps([p.build_id, n])
    if not os.path.exists(kept + ".of") or open(kept + ".of").read() != of:
        with Place() as place, open(kept, "wb") as out:
            module = copied(p, place)
            os.mkdir(place / "run")
            recorder, rounds = Recorder(place / "run/monitor.sock", p.build_id, out), p.long // 10 + 1
            while recorder.had < n:
                progress(f"{p.name}: {recorder.had} of {n} samples with registers")
                before = recorder.had
                train(p, place, module, RATE, rounds)
                if recorder.had == before:
                    raise Unavailable("no registers come of the program")
                rounds = p.long
        p.write("registers.of", of)
    return kept
