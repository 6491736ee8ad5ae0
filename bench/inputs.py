"""Inputs the workloads read, made here: the same bytes every time."""
import random
import subprocess


def texts(files, size):
    """Source text out of a package, and a table of numbers behind it."""
    rnd = random.Random(1)
    text = b"".join(open(f, "rb").read() for f in files)[:size]
    rows = "".join(f"{rnd.randrange(10000)};{rnd.random():.4f};{rnd.choice('abc') * 3}\n"
                   for _ in range(size // 64))
    return text + rows.encode()


def log_and_image(size):
    """What a server writes, and a picture's raw bytes behind it."""
    rnd, out = random.Random(2), []
    for i in range(size // 200):
        out.append(f"10.0.{rnd.randrange(4)}.{rnd.randrange(256)} - - [{i // 3600:02}:{i // 60 % 60:02}:"
                   f"{i % 60:02}] \"GET /{rnd.choice(['index', 'img', 'api/v1'])}/{rnd.randrange(500)} "
                   f"HTTP/1.1\" {rnd.choice([200, 200, 304, 404])} {rnd.randrange(60000)}\n")
    return "".join(out).encode() + picture(3, 512, size // 2 // 1536)


def picture(seed, width, height):
    """RGB bytes: soft waves, edges and grain, other ones for each seed."""
    rnd, out = random.Random(seed), bytearray()
    waves = [(rnd.randrange(5, 90), rnd.randrange(5, 90), rnd.randrange(256)) for _ in range(3)]
    grain = rnd.randbytes(width * 3 + 7919)
    boxes = [(rnd.randrange(width), rnd.randrange(height), rnd.randrange(10, width // 3),
              rnd.randrange(10, max(11, height // 3)), rnd.randbytes(3)) for _ in range(12)]
    for y in range(height):
        row = bytearray()
        at = y * 641 % 7919
        for x in range(width):
            for c, (p, q, r) in enumerate(waves):
                tri = (x * 256 // p + y * 256 // q + r) & 511
                row.append((min(tri, 511 - tri) * 15 >> 4) + (grain[at + x * 3 + c] & 15))
        for left, top, w, h, colour in boxes:
            if top <= y < top + h:
                n = min(w, width - left)
                row[left * 3:(left + n) * 3] = colour * n
        out += row
    return bytes(out)


def ppm(path, seed, width, height, times):
    """A picture repeated downwards."""
    rows = picture(seed, width, height)
    with open(path, "wb") as f:
        f.write(b"P6\n%d %d\n255\n" % (width, height * times))
        for _ in range(times):
            f.write(rows)


def video(path, seed, frames, options, width=352, height=288):
    """MPEG-2 of a window that wanders over a picture while a box crosses it."""
    rnd = random.Random(seed)
    wide, high = width * 2, height * 2
    luma = picture(seed, wide, high)[1::3]
    chroma = picture(seed + 1, wide // 2, high // 2)
    blue, red = chroma[0::3], chroma[2::3]
    dx, dy = rnd.randrange(1, 5), rnd.randrange(1, 4)
    encoder = subprocess.Popen(["mpeg2enc", "-v", "0", "-M", "0", *options, "-o", path],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    with encoder.stdin as f:
        f.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420mpeg2\n" % (width, height))
        for i in range(frames):
            f.write(b"FRAME\n")
            for plane, by in (luma, 1), (blue, 2), (red, 2):
                w, h, across = width // by, height // by, wide // by
                x, y = dx * i % width // by, dy * i % height // by
                rows = [bytearray(plane[(y + k) * across + x:(y + k) * across + x + w])
                        for k in range(h)]
                side, at = 48 // by, i * 7 % (width - 48) // by
                for k in range(h // 3, h // 3 + side):
                    rows[k][at:at + side] = bytes([180 - i % 90]) * side
                f.write(b"".join(rows))
    if encoder.wait():
        raise OSError(f"mpeg2enc: exit status {encoder.returncode}")
