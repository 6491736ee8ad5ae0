"""Runs the texts of a file of SQLite's fuzzer (test/fuzzdata*.db of its source), each on a database of its own.
	sqlcorpus.py FILE
Prints a sum of what each gave; what is not the same every time is left out."""
import hashlib
import re
import sqlite3
import sys

VARIES = re.compile(r"random|'now'|current_|julianday|\b(date|time|datetime|strftime|unixepoch)\b|sqlite_|memory|load_extension|compile|readfile|temp_store|heap_limit|fts3_tokenizer", re.I)
STEPS = 2000  # times 1,000 instructions of SQLite's machine
ROWS = 3000  # of a statement


def run(text):
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 20)
    db.text_factory = bytes
    left = [STEPS]

    def stop():
        left[0] -= 1
        return left[0] < 0

    db.set_progress_handler(stop, 1000)
    said = hashlib.md5()
    begin = 0
    for at, c in enumerate(text):
        if c != ";" or not sqlite3.complete_statement(text[begin:at + 1]):
            continue
        try:
            said.update(repr(db.execute(text[begin:at + 1]).fetchmany(ROWS)).encode())
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as e:
            said.update(str(e).encode(errors="replace"))
        begin = at + 1
    db.close()
    return said.hexdigest()


for _, text in zip(range(4000), sqlite3.connect(sys.argv[1]).execute("select cast(sqltext as blob) from xsql")):
    text = text[0].decode(errors="replace").replace("\0", "")
    if len(text) < 20000 and not VARIES.search(text):
        print(run(text))
