"""Other work for Python: python test.py ROUNDS."""
import bisect
import decimal
import io
import itertools
import operator
import pickle
import random
import string
import sys
import textwrap
import tokenize

rounds = int(sys.argv[1])


def tokens():
    found = {}
    with open(__file__, "rb") as f:
        for t in tokenize.tokenize(f.readline):
            found[tokenize.tok_name[t.type]] = found.get(tokenize.tok_name[t.type], 0) + 1
    return sorted(found.items())


def evaluated(text):
    """The value of a sum of products, by recursive descent."""
    def value():
        nonlocal at
        if text[at] == "(":
            at += 1
            v = total()
            at += 1
            return v
        begin = at
        while at < len(text) and text[at] in string.digits:
            at += 1
        return int(text[begin:at])

    def product():
        nonlocal at
        v = value()
        while at < len(text) and text[at] == "*":
            at += 1
            v *= value()
        return v

    def total():
        nonlocal at
        v = product()
        while at < len(text) and text[at] in "+-":
            sign, at = text[at], at + 1
            v = v + product() if sign == "+" else v - product()
        return v

    at = 0
    return total()


def queens(n):
    def place(row, columns, up, down):
        if row == n:
            yield columns
            return
        for c in range(n):
            if c not in columns and row + c not in up and row - c not in down:
                yield from place(row + 1, columns + (c,), up | {row + c}, down | {row - c})
    return sum(1 for _ in place(0, (), frozenset(), frozenset()))


def money(n):
    with decimal.localcontext() as how:
        how.prec = 30
        sums = [decimal.Decimal(i) / 7 for i in range(1, n)]
        return str(sum(sums).quantize(decimal.Decimal("0.0001")))


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(map(operator.mul, row, column)) for column in columns] for row in self.rows])

    def __getitem__(self, at):
        return self.rows[at[0]][at[1]]


def matrices(n):
    m = Matrix([[(i * k + 1) % 10 for k in range(n)] for i in range(n)])
    return (m @ m)[n // 2, n // 3]


def kept(n):
    rnd = random.Random(n)
    data = {f"k{rnd.randrange(10 ** 6)}": (rnd.random(), [rnd.randrange(100) for _ in range(5)], {i, i + 1})
            for i in range(n)}
    again = pickle.loads(pickle.dumps(data))
    ordered = []
    for v, numbers, _ in again.values():
        bisect.insort(ordered, (round(v, 3), max(numbers)))
    return ordered[:3], len(again)


def written(n):
    out = io.StringIO()
    for i, (a, b) in enumerate(itertools.product("abcdef", range(n))):
        try:
            print("{:>6}|{:<8.3f}|{!r:^9}|%05d".format(i, b / 3, a) % b, file=out)
            if b % 13 == 12:
                raise ValueError(b)
        except ValueError as e:
            out.write(f"{e}\n")
    return len(textwrap.fill(out.getvalue(), 60).splitlines())


for _ in range(rounds):
    print(tokens()[:4], evaluated("(1+2*3)*(4+5)-6*7*(8-3)+" * 60 + "1"), queens(6), money(400), matrices(24), kept(300), written(40))
