// The picture of a part of the code map, and what lies where in it. A view has: data (the answer of
// …/code), max (samples of the hottest line that is shown), cursor (a file offset or null), heat.
import {fit, hex} from './dom.js';

export const LINE = 64;
export const LINES_MAX = 64; // so many lines are drawn byte by byte

export const span = (d) => d.to - d.from;
export const byLines = (d) => d.blocks !== null && span(d) <= LINES_MAX * LINE;

/** Samples a line of a cell. */
export function density(d, i) {
	return d.cells.samples[i] / (d.cell / LINE);
}

/** Samples a line that a block's code has. */
const blockDensity = (b) => (b.samples / b.size) * LINE;

export function hottest(d) {
	let max = 0;
	if (byLines(d)) for (const b of d.blocks) max = Math.max(max, blockDensity(b));
	else for (let i = 0; i < d.cells.samples.length; i++) max = Math.max(max, density(d, i));
	return max;
}

// ---- cells in rows by address ----

function gridOf(d, width, height) {
	const n = d.cells.bytes.length,
		left = width < 420 ? 0 : 74,
		w = width - left;
	let best = null;
	for (let columns = 8; columns <= 256; columns *= 2) {
		const cw = w / columns,
			ch = Math.min(height / Math.max(1, Math.ceil(n / columns)), cw * 1.6);
		const odd = Math.abs(Math.log(cw / ch));
		if (!best || odd < best.odd) best = {columns, cw, ch, left, odd};
	}
	return best;
}

function drawGrid(p, v, width, height) {
	const d = v.data,
		g = gridOf(d, width, height),
		gap = Math.min(g.cw, g.ch) > 5 ? 1 : 0;
	const n = d.cells.bytes.length,
		rows = Math.ceil(n / g.columns),
		every = Math.max(1, Math.ceil(16 / g.ch));
	for (let r = 0; g.left && r < rows; r += every)
		p.text(
			g.left - 6,
			r * g.ch + Math.min(g.ch, 16) / 2 + 4,
			hex(d.from + r * g.columns * d.cell),
			v.heat.theme.soft,
			10.5,
			'end',
		);
	for (let i = 0; i < n; i++)
		if (d.cells.bytes[i])
			p.rect(
				g.left + (i % g.columns) * g.cw,
				Math.floor(i / g.columns) * g.ch,
				g.cw - gap,
				g.ch - gap,
				v.heat.colour(density(d, i), v.max),
			);
	const box = (offset, stroke, width) => {
		const i = Math.floor((offset - d.from) / d.cell);
		if (i >= 0 && i < n)
			p.frame(
				g.left + (i % g.columns) * g.cw - 0.5,
				Math.floor(i / g.columns) * g.ch - 0.5,
				g.cw,
				g.ch,
				stroke,
				width,
			);
	};
	for (const part of d.parts)
		for (
			let at = Math.max(part.from, d.from);
			at < Math.min(part.to, d.to);
			at = d.from + (Math.floor((at - d.from) / d.cell) + 1) * d.cell
		)
			box(at, v.heat.theme.accent, 1.5);
	if (v.cursor !== null) box(v.cursor, v.heat.theme.ink, 2);
}

// ---- bytes in lines ----

function linesOf(d, width, height) {
	const rows = Math.max(1, span(d) / LINE),
		small = width < 520;
	const left = small ? 76 : 190,
		right = small ? 44 : 120;
	return {rows, left, right, cw: (width - left - right) / LINE, ch: Math.min(22, height / rows)};
}

/** The pieces of a block, one a line: f(x, y, width). */
function pieces(d, g, offset, size, f) {
	for (
		let at = Math.max(offset, d.from), end = Math.min(offset + size, d.to), next;
		at < end;
		at = next
	) {
		next = Math.min(end, (Math.floor(at / LINE) + 1) * LINE);
		f(g.left + (at % LINE) * g.cw, Math.floor((at - d.from) / LINE) * g.ch, (next - at) * g.cw);
	}
}

function drawBlock(p, v, g, b) {
	const dens = blockDensity(b),
		fill = v.heat.colour(dens, v.max);
	let widest = null;
	pieces(v.data, g, b.offset, b.size, (x, y, w) => {
		p.rect(x + 0.5, y + 0.5, Math.max(1, w - 1), g.ch - 1, fill);
		if (!widest || w > widest.w) widest = {x, y, w};
	});
	if (widest && widest.w > 22 && g.ch >= 11)
		p.text(
			widest.x + 4,
			widest.y + g.ch / 2 + 3.5,
			b.block,
			b.samples ? v.heat.ink(dens, v.max) : v.heat.theme.soft,
			Math.min(11, g.ch - 1),
		);
}

function drawArcs(p, v, g) {
	const d = v.data,
		at = new Map(),
		most = Math.max(...d.edges.map((e) => e.outcomes), 0);
	for (const b of d.blocks)
		if (!at.has(b.function + ' ' + b.block)) at.set(b.function + ' ' + b.block, b);
	const y = (offset) => (Math.floor((offset - d.from) / LINE) + 0.5) * g.ch,
		x = g.left + LINE * g.cw + 4;
	const arcs = d.edges
		.map((e) => ({
			n: e.outcomes,
			a: at.get(e.function + ' ' + e.block),
			b: at.get(e.function + ' ' + e.to),
		}))
		.filter(({a, b}) => a && b && a.offset + a.size !== b.offset)
		.sort((s, t) => s.n - t.n);
	for (const {n, a, b} of arcs) {
		const y1 = y(a.offset + a.size - 1) + 2,
			y2 = y(b.offset) - 2;
		p.arc(
			x,
			y1,
			y2,
			Math.min(g.right * 1.25, 16 + Math.sqrt(Math.abs(y2 - y1)) * 6),
			b.offset > a.offset ? v.heat.theme.accent : v.heat.theme.backward,
			0.75 + 2.5 * Math.sqrt(n / most),
		);
	}
}

function drawLines(p, v, width, height) {
	const d = v.data,
		g = linesOf(d, width, height),
		t = v.heat.theme,
		names = g.left > 100;
	let last = -1,
		free = -1;
	for (let r = 0; r < g.rows; r++) {
		p.rect(g.left, r * g.ch + g.ch - 0.5, LINE * g.cw, 0.5, t.grid);
		if (r % Math.ceil(11 / g.ch) === 0)
			p.text(g.left - 8, r * g.ch + g.ch / 2 + 4, hex(d.from + r * LINE), t.soft, 10, 'end');
	}
	for (const b of d.blocks) {
		drawBlock(p, v, g, b);
		const row = Math.max(0, Math.floor((b.offset - d.from) / LINE));
		if (names && b.function !== last && row * g.ch >= free) {
			p.text(2, row * g.ch + g.ch / 2 + 4, fit(d.functions[b.function].name, 17), t.ink, 11);
			free = (row + Math.ceil(12 / g.ch)) * g.ch;
		}
		last = b.function;
	}
	for (const part of d.parts)
		pieces(d, g, part.from, part.to - part.from, (x, y) =>
			p.rect(g.left - 4, y, 2, g.ch, t.accent),
		);
	drawArcs(p, v, g);
	const b = v.cursor === null ? null : blockAt(d, v.cursor);
	if (b)
		pieces(d, g, b.offset, b.size, (x, y, w) =>
			p.frame(x + 0.5, y + 0.5, Math.max(1, w - 1), g.ch - 1, t.ink, 1.5),
		);
}

// ---- both ----

export function draw(p, view, width, height) {
	if (byLines(view.data)) drawLines(p, view, width, height);
	else drawGrid(p, view, width, height);
}

export function blockAt(d, offset) {
	return d.blocks?.find((b) => b.offset <= offset && offset < b.offset + b.size) ?? null;
}

/** The file offset at a point, or null. */
export function offsetAt(d, x, y, width, height) {
	const lines = byLines(d),
		g = lines ? linesOf(d, width, height) : gridOf(d, width, height);
	const column = Math.floor((x - g.left) / g.cw),
		row = Math.floor(y / g.ch),
		columns = lines ? LINE : g.columns;
	if (column < 0 || column >= columns || row < 0) return null;
	const offset = d.from + (row * columns + column) * (lines ? 1 : d.cell);
	return offset < d.to ? offset : null;
}

/** How far it is to what lies below, and beside. */
export function strides(d, width, height) {
	return byLines(d)
		? {row: LINE, column: 8}
		: {row: gridOf(d, width, height).columns * d.cell, column: d.cell};
}
