"""Work for Python to train on: python train.py ROUNDS."""
import ast
import collections
import functools
import heapq
import json
import re
import sys

rounds = int(sys.argv[1])
text = ("The quick brown fox jumps over the lazy dog, then rests; 42 times 17 is 714. "
        "Names: alice@example.org, bob@example.net; dates 2024-01-31, 1999-12-01. ") * 20


class Shape:
    def __init__(self, name, *sides):
        self.name, self.sides = name, sides

    def area(self):
        return 0

    def __lt__(self, other):
        return self.area() < other.area()

    def __repr__(self):
        return f"{self.name}({', '.join(map(str, self.sides))})"


class Box(Shape):
    def area(self):
        return self.sides[0] * self.sides[1]


class Disc(Shape):
    @property
    def radius(self):
        return self.sides[0]

    def area(self):
        return 3.14159 * self.radius ** 2


def words():
    count = collections.Counter(re.findall(r"[a-z]+", text.lower()))
    mails = re.findall(r"([\w.]+)@([\w.]+)", text)
    dates = [tuple(map(int, m.groups())) for m in re.finditer(r"(\d{4})-(\d\d)-(\d\d)", text)]
    return count.most_common(5), len(mails), sorted(set(dates))


def shapes(n):
    made = [Box("box", i % 17 + 1, i % 5 + 2) if i % 3 else Disc("disc", i % 11 + 1) for i in range(n)]
    made.sort()
    return repr(made[::n // 7]), sum(s.area() for s in made)


def documents(n):
    data = {"items": [{"id": i, "name": f"item {i}", "tags": ["a", "b", str(i % 7)], "price": i * 1.25,
                       "sold": i % 2 == 0, "note": None} for i in range(n)]}
    said = json.dumps(data, sort_keys=True, indent=1)
    return len(said), json.loads(said) == data


@functools.lru_cache(maxsize=None)
def ways(n, coins):
    if n == 0:
        return 1
    return sum(ways(n - c, coins[k:]) for k, c in enumerate(coins) if c <= n)


def shortest(n):
    edges = {i: [((i * 7 + k * k + 1) % n, (i + k) % 9 + 1) for k in range(4)] for i in range(n)}
    seen, queue = {}, [(0, 0)]
    while queue:
        far, at = heapq.heappop(queue)
        if at in seen:
            continue
        seen[at] = far
        for to, more in edges[at]:
            if to not in seen:
                heapq.heappush(queue, (far + more, to))
    return sum(seen.values())


def numbers(n):
    sieve = bytearray([1]) * n
    for i in range(2, int(n ** .5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, n, i)))
    big = 1
    for i in range(2, 120):
        big *= i
    return sum(sieve), big % 1000003, sum(x * x % 7 for x in range(n // 4))


def parsed():
    tree = ast.parse(open(__file__).read())
    names = collections.Counter(type(node).__name__ for node in ast.walk(tree))
    return len(compile(tree, "train", "exec").co_code), names.most_common(3)


for _ in range(rounds):
    ways.cache_clear()
    print(words(), shapes(700), documents(120), ways(120, (50, 20, 10, 5, 2, 1)), shortest(700), numbers(9000), parsed())
