"""A bar chart in SVG: groups of bars with a mark of spread each.

Readable on light and dark ground: it brings its own ground, and follows what the
reader prefers where the viewer says so.
"""
import math
from xml.sax.saxutils import escape

# One hue a family, its shades the kinds of profile.
COLOURS = {"morph": ["#9ecbf0", "#4b97d8", "#1b5fa8"], "bolt": ["#f5bf7a", "#d9822b"],
           "pgo": ["#7a9a52"], "autofdo": ["#a77bb8"]}
STYLE = """
	text { font: 13px sans-serif; fill: #24292f; }
	.title { font-size: 17px; font-weight: bold; }
	.small { font-size: 11px; }
	.ground { fill: #ffffff; }
	.grid { stroke: #d0d7de; stroke-width: 1; }
	.zero { stroke: #24292f; stroke-width: 1.5; }
	.spread { stroke: #24292f; stroke-width: 1; fill: none; }
	.edge { stroke: #ffffff; stroke-width: 2.5; stroke-opacity: .5; fill: none; }
	@media (prefers-color-scheme: dark) {
		text { fill: #e6edf3; }
		.ground { fill: #0d1117; }
		.grid { stroke: #30363d; }
		.zero, .spread { stroke: #e6edf3; }
		.edge { stroke: #0d1117; }
	}
"""
BAR, GAP, LEFT, TOP, HEIGHT = 11, 24, 62, 104, 330


def colours(columns):
    used, out = {}, {}
    for c, _ in columns:
        family = c.split("-")[0]
        out[c] = COLOURS[family][used.get(family, 0)]
        used[family] = used.get(family, 0) + 1
    return out


def gain(ratio):
    return (1 - ratio) * 100


def signed(number, form=""):
    return f"{number:{form}}".replace("-", "\N{MINUS SIGN}")


def bar(x, y, zero, time, colour, what):
    """One bar from the zero line, with the quartiles, where there are any, as its whisker."""
    top, bottom = sorted((y(gain(time["median"])), zero))
    yield (f'<rect x="{x:.1f}" y="{top:.1f}" width="{BAR - 1}" height="{max(bottom - top, .8):.1f}" '
           f'fill="{colour}"><title>{escape(what)}</title></rect>')
    if "low" not in time:
        return
    mid, low, high = x + BAR / 2 - .5, y(gain(time["high"])), y(gain(time["low"]))
    d = (f"M{mid - 2.5:.1f} {low:.1f}h5M{mid - 2.5:.1f} {high:.1f}h5"
         f"M{mid:.1f} {low:.1f}V{high:.1f}")
    yield f'<path class="edge" d="{d}"/><path class="spread" d="{d}"/>'


def scale(groups):
    """Bounds and step of the axis in per cent, whole steps around all that is shown."""
    seen = [gain(t[k]) for _, bars in groups for _, t in bars if t for k in ("low", "high") if k in t] + [0]
    step = 5 if max(seen) - min(seen) > 20 else 2
    return math.floor(min(seen) / step) * step, max(step, math.ceil(max(seen) / step) * step), step


def legend(columns, colour):
    x, y = LEFT, 50
    for k, (c, heading) in enumerate(columns):
        if k == (len(columns) + 1) // 2:
            x, y = LEFT, 72
        yield f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour[c]}"/>'
        yield f'<text x="{x + 17}" y="{y}">{escape(heading)}</text>'
        x += 225


def group(name, bars, left, y, colour, headings):
    width = len(bars) * BAR
    yield f'<text x="{left + width / 2:.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{escape(name)}</text>'
    for k, (c, time) in enumerate(bars):
        x = left + k * BAR
        if time and "median" in time:
            yield from bar(x, y, y(0), time, colour[c], f"{name}, {headings[c]}: {signed(gain(time['median']), '+.1f')} %")
        else:
            yield (f'<text class="small" x="{x + BAR / 2:.1f}" y="{y(0) - 3:.1f}" text-anchor="middle">×'
                   f'<title>{escape(name)}, {escape(headings[c])}: no time</title></text>')


def lines(columns, groups):
    colour, headings = colours(columns), dict(columns)
    low, high, step = scale(groups)
    per = len(columns) * BAR + GAP
    width = max(LEFT + per * len(groups) + 20, LEFT + 225 * ((len(columns) + 1) // 2))

    def y(percent):
        return TOP + (high - percent) / (high - low) * HEIGHT

    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 62}" '
           f'viewBox="0 0 {width} {TOP + HEIGHT + 62}" role="img">')
    yield f"<style>{STYLE}</style>"
    yield '<rect class="ground" width="100%" height="100%"/>'
    yield f'<text class="title" x="{LEFT}" y="26">CPU time saved against plain -O2, other input than trained on</text>'
    yield from legend(columns, colour)
    for percent in range(low, high + 1, step):
        kind = "zero" if not percent else "grid"
        yield f'<path class="{kind}" d="M{LEFT} {y(percent):.1f}H{width - 12}"/>'
        yield f'<text x="{LEFT - 8}" y="{y(percent) + 4:.1f}" text-anchor="end">{signed(percent)} %</text>'
    for k, (name, bars) in enumerate(groups):
        yield from group(name, bars, LEFT + GAP / 2 + k * per, y, colour, headings)
    yield (f'<text class="small" x="{LEFT}" y="{TOP + HEIGHT + 46}">Bars: median of the ratios, round by round; '
           'marks: quartiles; ×: no time (failed, wrong or not measured).'
           f'{" AutoFDO is against clang -O2." if any(c == "autofdo" for c, _ in columns) else ""}</text>')
    yield "</svg>"


def write(path, columns, groups):
    """columns: [(id, heading)]; groups: [(name, [(id, {median, low, high} or None)])],
    low and high where they are known."""
    with open(path, "w") as f:
        f.write("\n".join(lines(columns, groups)) + "\n")
