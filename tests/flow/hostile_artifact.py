"""Artifacts that SQLite takes for sound and that yield more than they hold: pages
of a b-tree that are the children of many, rows that share their overflow pages.
SQLite's file format: https://sqlite.org/fileformat2.html"""
import struct


def varint(n):
    """At most two bytes: below 16384."""
    return bytes([n]) if n < 128 else bytes([128 | n >> 7, n & 127])


def read_varint(b, at):
    n = 0
    while True:
        n, at = n << 7 | b[at] & 127, at + 1
        if b[at - 1] < 128:
            return n, at


class File:
    """A database, page by page; page(1) is the first."""

    def __init__(self, path):
        self.data = bytearray(open(path, "rb").read())
        self.size = struct.unpack_from(">H", self.data, 16)[0]
        if self.size == 1:
            self.size = 65536

    def page(self, n):
        return bytes(self.data[(n - 1) * self.size:n * self.size])

    def put(self, n, content):
        assert len(content) == self.size
        self.data[(n - 1) * self.size:n * self.size] = content

    def add(self, content):
        self.data += content
        n = len(self.data) // self.size
        self.put(n, content)
        return n

    def write(self, path):
        struct.pack_into(">I", self.data, 28, len(self.data) // self.size)
        self.data[92:96] = self.data[24:28]  # the size of the header is valid
        with open(path, "wb") as f:
            f.write(self.data)

    def interior(self, kind, child, payload, skip=0, cells=None):
        """A page of as many cells as fit, or of those: all are the same one,
        or each has the child of its own."""
        head = 12
        made = [struct.pack(">I", c) + p for c, p in cells or [(child, payload)]]
        end = self.size - sum(len(c) for c in made)
        n = len(made) if cells else min((end - skip - head) // 2, (self.size - 8) // 6)
        places, at = [], end
        for c in made:
            places.append(at)
            at += len(c)
        if not cells:
            places *= n
        b = bytes(skip) + struct.pack(">BHHHBI", kind, 0, n, end & 0xffff, 0, child)
        b += b"".join(struct.pack(">H", p) for p in places)
        return b + bytes(end - len(b)) + b"".join(made)


def first_cell(page):
    """The payload, with its length, of the first cell of an index leaf."""
    at = struct.unpack_from(">H", page, 8)[0]
    n, body = read_varint(page, at)
    return page[at:body + n]


def root(path, table):
    import sqlite3
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", [table]).fetchone()[0]


def leaf_of(f, n):
    """The left-most leaf below a page."""
    while f.page(n)[0] in (2, 5):
        at = struct.unpack_from(">H", f.page(n), 12)[0]
        n = struct.unpack_from(">I", f.page(n), at)[0]
    return n


def shared_functions(good, path, depth=4, pad=0):
    """Some 600 to the power of depth times the functions of one page."""
    f = File(good)
    top = root(good, "func")
    leaf = f.page(leaf_of(f, top))
    child = f.add(leaf)
    for _ in range(depth - 1):
        child = f.add(f.interior(2, child, first_cell(leaf)))
    f.put(top, f.interior(2, child, first_cell(leaf)))
    for _ in range(pad // f.size):
        f.add(bytes(f.size))
    f.write(path)


def shared_schema(good, path, depth=4):
    """The same of the schema, which SQLite reads by itself."""
    f = File(good)
    first = f.page(1)
    n = struct.unpack_from(">H", first, 103)[0]
    head = first[100:108 + 2 * n]
    child = f.add(head + bytes(108 + 2 * n - len(head)) + first[108 + 2 * n:])
    for _ in range(depth - 1):
        child = f.add(f.interior(5, child, varint(1)))
    f.put(1, first[:100] + f.interior(5, child, varint(1), skip=100)[100:])
    f.write(path)


def shared_overflow(good, path, rows=1700, name=60000):
    """Units whose names, of so many bytes each, all lie in the same pages."""
    f = File(good)
    top = root(good, "tu")
    usable = f.size
    def big(n):
        return bytes([128 | n >> 14, 128 | n >> 7 & 127, n & 127])
    least = (usable - 12) * 32 // 255 - 23
    # id (the row's), name, as_args, original, size 0, hash, z: such that no more than the least is local.
    while True:
        types = b"\0" + big(13 + 2 * name) + bytes([13, 12 + 2 * 16, 8, 12 + 2 * 16, 12])
        record = bytes([len(types) + 1]) + types + b"a" * name + bytes(2 * 16)
        if (len(record) - least) % (usable - 4) == 0:
            break
        name -= 1
    rest, pages = record[least:], []
    begin = len(f.data) // f.size + 1
    while rest:
        here, rest = rest[:usable - 4], rest[usable - 4:]
        following = begin + len(pages) + 1 if rest else 0
        pages.append(struct.pack(">I", following) + here.ljust(usable - 4, b"\0"))
    for p in pages:
        f.add(p)
    leaves, i = [], 0
    while i < rows:
        cells = []
        while i < rows and sum(map(len, cells)) + 2 * len(cells) + 8 + least + 16 < f.size:
            cells.append(big(len(record)) + varint(i) + record[:least] + struct.pack(">I", begin))
            i += 1
        end = f.size - sum(map(len, cells))
        b = struct.pack(">BHHHB", 13, 0, len(cells), end, 0)
        at = end
        for c in cells:
            b += struct.pack(">H", at)
            at += len(c)
        leaves.append((f.add(b + bytes(end - len(b)) + b"".join(cells)), varint(i - 1)))
    f.put(top, f.interior(5, leaves[-1][0], None, cells=leaves[:-1]))
    f.write(path)
