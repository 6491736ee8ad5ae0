"""The block map of an artifact (docs/FORMATS.md, block map blob)."""
import ctypes
import ctypes.util
import sqlite3

from rig import Unavailable, exact

MAGIC = b"MorphBM1"


def unpacked(size, z):
    """The content of a zstd frame."""
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    if zstd.ZSTD_decompress(out, ctypes.c_size_t(size), z, ctypes.c_size_t(len(z))) != size:
        raise Unavailable("the artifact's block map cannot be unpacked")
    return out.raw


def numbers(d, p):
    """next() on what it returns is the next uleb of d from p on."""
    while p < len(d):
        v, p = exact.uleb(d, p)
        yield v


def blocks(artifact):
    """[(offset in the file, bytes, function#key, block)] of those that have bytes, in ascending order."""
    db = sqlite3.connect(f"file:{artifact}?mode=ro", uri=True)
    d = unpacked(*db.execute("select size, z from blockmap").fetchone())
    names = {(int.from_bytes(h[:8], "big"), ord_): f"{name}#{key.hex()}" for h, ord_, name, key in db.execute(
        "select original, ord, name, key from func join tu on tu.id = func.tu")}
    db.close()
    if not d.startswith(MAGIC):
        raise Unavailable(f"{artifact} has no block map")
    at = len(MAGIC)
    for _ in "build-id", "origin":
        at += 1 + d[at]
    (n, at), segments = exact.uleb(d, at), []
    for _ in range(n):
        segment = []
        for _ in range(3):
            v, at = exact.uleb(d, at)
            segment.append(v)
        segments.append(segment)
    n, at = exact.uleb(d, at)
    units = [int.from_bytes(d[at + 8 * i:at + 8 * i + 8], "little") for i in range(n)]
    return sorted(fragments(numbers(d, at + 8 * n), segments, units, names))


def fragments(number, segments, units, names):
    """The blocks of the fragments that follow."""
    end = 0
    for _ in range(next(number)):
        end += next(number)
        name = names.get((units[next(number)], next(number)))
        next(number)  # of the function's fragments
        for _ in range(next(number)):
            block = next(number)
            begin = end + next(number)
            end = begin + next(number)
            if name and end > begin:
                yield file_offset(segments, begin), end - begin, name, block


def file_offset(segments, address):
    return next(off + address - at for off, at, held in segments if at <= address < at + held)
