// The code map: the code of the original build and of the present one in address order, coloured by
// where the samples are; from the whole program down to blocks and jumps.
import * as api from './api.js';
import {base, button, bytes, el, fit, hex, hideTip, number, percent, put, showTip} from './dom.js';
import {LINE, blockAt, byLines, draw, hottest, offsetAt, span, strides} from './codedraw.js';
import {Heat, theme} from './heat.js';
import {CanvasPainter, SvgPainter} from './paint.js';
import {saveButton} from './svgfile.js';

const TITLES = {original: 'Original', now: 'Now'};
const SPAN_MIN = 16 * LINE, HEIGHT = 560, WAIT_MS = 60;

/** One build's part of the picture. */
class Panel {
	constructor(map, build) {
		this.map = map;
		this.build = build;
		this.window = {}; // from, to; empty: all
		this.data = this.whole = null;
		this.cursor = null;
		this.asked = 0;
		this.notes = ['', ''];
		this.canvas = el('canvas', {tabindex: 0, role: 'img', 'aria-label': `Code map, ${TITLES[build]}`});
		this.note = el('p', {class: 'note'});
		this.node = el('figure', {class: 'panel'}, el('figcaption', null, el('b', null, TITLES[build]), this.note), this.canvas);
		this.listen();
	}

	get width() {
		return this.canvas.clientWidth || 600;
	}

	get height() {
		return this.canvas.clientHeight || HEIGHT;
	}

	/** Soon: who turns a wheel asks for many. */
	load() {
		clearTimeout(this.timer);
		return new Promise((done) => {
			this.timer = setTimeout(() => this.ask().then(done), this.data ? WAIT_MS : 0);
		});
	}

	async ask() {
		const turn = ++this.asked;
		const cells = this.width < 500 ? 1024 : 4096;
		try {
			const d = await api.code(this.map.module.id, {build: this.build, lines: cells, ...this.window, function: this.map.key});
			if (turn !== this.asked)
				return;
			this.data = d;
			this.whole ??= d;
			this.notes = this.describe();
			put(this.note, this.notes[0], el('br'), this.notes[1]);
		} catch (e) {
			if (turn === this.asked)
				this.note.textContent = e.message;
		}
		this.map.draw();
	}

	describe() {
		const d = this.data, w = this.whole;
		let left = 0.9 * w.samples, hot = 0;
		for (const s of [...w.cells.samples].sort((a, b) => b - a)) {
			if (left <= 0)
				break;
			left -= s;
			hot += w.cell;
		}
		const where = d.from === w.from && d.to === w.to ? `all ${bytes(span(d))} of code`
			: `${hex(d.from)} … ${hex(d.to)}, ${bytes(span(d))}, ${percent(d.samples ? d.within / d.samples : 0)} of the samples`;
		return [where, `90 % of the samples are in ${bytes(hot)}` + (w.cell > LINE ? `, in cells of ${bytes(w.cell)}` : '')];
	}

	/** What is shown, or asked for: who turns a wheel does not wait. */
	get aim() {
		return this.window.to ? this.window : {from: this.data.begin, to: this.data.end};
	}

	/** The same place stays under the pointer. */
	zoom(factor, at) {
		const d = this.data;
		if (!d)
			return;
		const aim = this.aim;
		at ??= this.cursor ?? (aim.from + aim.to) / 2;
		const size = Math.min(Math.max(span(aim) * factor, SPAN_MIN), d.end - d.begin);
		this.show(at - (at - aim.from) * size / span(aim), size);
	}

	show(from, size) {
		const d = this.data;
		from = Math.max(d.begin, Math.min(from, d.end - size));
		from = Math.floor(from / LINE) * LINE;
		this.window = size >= d.end - d.begin ? {} : {from, to: Math.ceil((from + size) / LINE) * LINE};
		return this.load();
	}

	move(bytes) {
		if (this.data)
			this.show(this.aim.from + bytes, span(this.aim));
	}

	/** The part of the chosen function that has most samples. */
	showParts() {
		const d = this.data;
		if (!d?.parts.length)
			return;
		const heat = (p) => {
			let sum = 0;
			for (let i = Math.max(0, Math.floor((p.from - this.whole.from) / this.whole.cell)); this.whole.from + i * this.whole.cell < p.to; i++)
				sum += this.whole.cells.samples[i] ?? 0;
			return sum;
		};
		const best = d.parts.reduce((a, b) => heat(b) > heat(a) ? b : a);
		const size = Math.max((best.to - best.from) * 1.2, SPAN_MIN);
		this.cursor = best.from;
		this.show((best.from + best.to) / 2 - size / 2, size);
	}

	// ---- what is at a place ----

	lines(offset) {
		const d = this.data, of = (n) => `${number(n)} samples, ${percent(d.samples ? n / d.samples : 0, 2)}`;
		const b = blockAt(d, offset);
		if (b && byLines(d)) {
			const f = d.functions[b.function];
			const out = d.edges.filter((e) => e.function === b.function && e.block === b.block);
			const sum = out.reduce((s, e) => s + e.outcomes, 0);
			return [f.name, f.tu, `block ${b.block}, ${b.size} bytes at ${hex(b.offset)}`, of(b.samples),
				...out.map((e) => `→ block ${e.to} ${percent(e.outcomes / sum, 0)}`)];
		}
		const i = Math.floor((offset - d.from) / d.cell), f = d.functions[d.cells.function[i]];
		return [f ? f.name : d.cells.bytes[i] ? 'no samples' : 'no code', ...(f ? [f.tu] : []),
			`${bytes(d.cell)} at ${hex(d.from + i * d.cell)}, ${d.cells.bytes[i]} of code`, of(d.cells.samples[i])];
	}

	point(e) {
		const r = this.canvas.getBoundingClientRect();
		return this.data ? offsetAt(this.data, e.clientX - r.left, e.clientY - r.top, this.width, this.height) : null;
	}

	moveCursor(bytes) {
		const d = this.data;
		if (!d)
			return;
		this.cursor = Math.max(d.from, Math.min(d.to - 1, (this.cursor ?? d.from) + bytes));
		this.map.say(this.lines(this.cursor));
		this.map.draw();
	}

	listen() {
		const c = this.canvas, fingers = new Map();
		let dragged = null, apart = 0;
		c.addEventListener('wheel', (e) => {
			if (e.deltaY > 0 && !this.window.to)
				return;
			e.preventDefault();
			this.zoom(Math.exp(Math.sign(e.deltaY) * Math.min(1, Math.abs(e.deltaY) / 100) * 0.4), this.point(e) ?? undefined);
		}, {passive: false});
		c.addEventListener('keydown', (e) => this.key(e));
		c.addEventListener('dblclick', (e) => this.zoom(0.25, this.point(e) ?? undefined));
		c.addEventListener('pointerdown', (e) => {
			fingers.set(e.pointerId, e);
			dragged = e.pointerType === 'mouse' && e.button === 0 ? {y: e.clientY, from: this.data?.from} : null;
			apart = 0;
			if (e.pointerType === 'mouse')
				c.setPointerCapture(e.pointerId);
		});
		const up = (e) => {
			fingers.delete(e.pointerId);
			if (dragged && !dragged.moved && e.type === 'pointerup') {
				this.cursor = this.point(e);
				this.map.choose(this);
			}
			dragged = null;
		};
		c.addEventListener('pointerup', up);
		c.addEventListener('pointercancel', up);
		c.addEventListener('pointerleave', hideTip);
		c.addEventListener('pointermove', (e) => {
			if (fingers.has(e.pointerId))
				fingers.set(e.pointerId, e);
			if (fingers.size === 2) {
				const [a, b] = [...fingers.values()], now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
				apart ||= now;
				if (Math.abs(Math.log(now / apart)) > 0.15) {
					this.zoom(apart / now, this.point({clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2}) ?? undefined);
					apart = now;
				}
				return;
			}
			if (dragged && this.data && (dragged.moved || Math.abs(e.clientY - dragged.y) > 6)) {
				dragged.moved = true;
				const rows = this.data.cells.bytes.length * this.data.cell / strides(this.data, this.width, this.height).row;
				const to = dragged.from + Math.round((dragged.y - e.clientY) / this.height * rows) * strides(this.data, this.width, this.height).row;
				if (to !== this.data.from)
					this.show(to, span(this.data));
				return;
			}
			this.hover(e);
		});
	}

	hover(e) {
		const at = this.point(e);
		if (at === null)
			return hideTip();
		showTip(e.clientX, e.clientY, this.lines(at));
	}

	key(e) {
		if (!this.data || e.ctrlKey || e.metaKey || e.altKey)
			return;
		const s = strides(this.data, this.width, this.height);
		const act = {
			'+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
			Home: () => this.show(this.data.begin, this.data.end - this.data.begin),
			PageUp: () => this.move(-span(this.data) / 2), PageDown: () => this.move(span(this.data) / 2),
			ArrowLeft: () => this.moveCursor(-s.column), ArrowRight: () => this.moveCursor(s.column),
			ArrowUp: () => this.moveCursor(-s.row), ArrowDown: () => this.moveCursor(s.row),
			Enter: () => this.zoom(0.25),
		}[e.key];
		if (act) {
			e.preventDefault();
			act();
		}
	}
}

class CodeMap {
	constructor(module, functions, key) {
		this.module = module;
		this.functions = functions;
		this.key = functions.some((f) => f.key === key) ? key : undefined;
		const same = module.build_id === module.origin;
		this.panels = (same ? ['now'] : ['original', 'now']).map((b) => new Panel(this, b));
		this.shown = same ? 'now' : 'both';
		this.readout = el('p', {class: 'readout', role: 'status'});
		this.legend = el('canvas', {class: 'legend', width: 256, height: 12, 'aria-hidden': 'true'});
		this.scale = el('span');
		this.select = el('select', {'aria-label': 'Function', onchange: () => this.chooseKey(this.select.value || undefined)},
			el('option', {value: ''}, 'Function…'),
			functions.map((f) => el('option', {value: f.key, selected: f.key === this.key}, `${percent(f.share)} ${fit(f.name, 60)}`)));
		this.which = same ? null : el('span', {class: 'choice', role: 'group', 'aria-label': 'Builds'},
			['both', 'original', 'now'].map((b) => button(TITLES[b] ?? 'Both', () => this.showBuilds(b), {'data-build': b})));
		this.frame = el('div', {class: 'panels'}, this.panels.map((p) => p.node));
		this.node = el('div', {class: 'codemap'}, this.tools(same), this.frame,
			el('p', {class: 'scale'}, this.legend, this.scale), this.readout,
			el('p', {class: 'help'}, 'Wheel, pinch, + and − zoom, Home shows all, dragging and PageUp/PageDown move, arrow keys go from cell to cell; ' +
				'a click chooses a function. Where few lines are shown, arcs are jumps by their branch outcomes: forward to the one side, backward to the other colour.'));
	}

	tools(same) {
		const all = (act) => () => this.visible().forEach(act);
		return el('div', {class: 'tools'}, this.which, this.select,
			el('span', {class: 'choice', role: 'group', 'aria-label': 'Zoom'},
				button('−', all((p) => p.zoom(2)), {'aria-label': 'Zoom out'}), button('+', all((p) => p.zoom(0.5)), {'aria-label': 'Zoom in'}),
				button('All', all((p) => p.data && p.show(p.data.begin, p.data.end - p.data.begin)))),
			saveButton(base(this.module.path) + '-code', () => this.toSvg()),
			same ? el('p', {class: 'count'}, 'It runs in its original layout.') : null);
	}

	visible() {
		return this.panels.filter((p) => this.shown === 'both' || p.build === this.shown);
	}

	showBuilds(which) {
		this.shown = which;
		for (const p of this.panels)
			p.node.hidden = !this.visible().includes(p);
		for (const b of this.which?.children ?? [])
			b.setAttribute('aria-pressed', b.dataset.build === which);
		this.draw();
	}

	async chooseKey(key) {
		this.key = key;
		this.select.value = this.functions.some((f) => f.key === key) ? key : '';
		await Promise.all(this.panels.map((p) => p.load()));
		for (const p of this.panels)
			p.showParts();
	}

	/** The function below a panel's cursor, in the other one too. */
	choose(panel) {
		const d = panel.data, at = panel.cursor;
		if (!d || at === null)
			return this.draw();
		const b = blockAt(d, at), i = b ? b.function : d.cells.function[Math.floor((at - d.from) / d.cell)];
		this.say(panel.lines(at));
		this.draw();
		if (i === null || i === undefined)
			return;
		this.key = d.functions[i].key;
		this.select.value = this.functions.some((f) => f.key === this.key) ? this.key : '';
		this.panels.forEach((p) => p.load());
	}

	say(lines) {
		this.readout.textContent = lines.join(' · ');
	}

	view(p) {
		return {data: p.data, cursor: p.cursor, heat: this.heat, max: this.max};
	}

	draw() {
		const ready = this.visible().filter((p) => p.data);
		this.heat = new Heat(theme());
		this.max = Math.max(0, ...ready.map((p) => hottest(p.data)));
		for (const p of ready) {
			draw(new CanvasPainter(p.canvas, p.width, p.height), this.view(p), p.width, p.height);
			p.canvas.setAttribute('aria-label', `Code map, ${TITLES[p.build]}: ${p.notes.join('; ')}`);
			p.canvas.dataset.drawn = `${p.data.from}-${p.data.to}`;
		}
		const c = this.legend.getContext('2d');
		for (let i = 0; i < 256; i++) {
			c.fillStyle = this.heat.colour(Math.pow(10, (i / 255 - 1) * 4), 1);
			c.fillRect(i, 0, 1, 12);
		}
		this.scale.textContent = ` ${number(this.max / 1e4)} … ${number(this.max)} samples in 64 bytes`;
	}

	toSvg() {
		const t = theme(), shown = this.visible().filter((p) => p.data), gap = 24;
		const width = shown.reduce((w, p) => w + p.width + gap, -gap), height = Math.max(...shown.map((p) => p.height)) + 24;
		const out = new SvgPainter(width, height, t.back, `Code map of ${this.module.path}`);
		let x = 0;
		for (const p of shown) {
			const inner = new SvgPainter(p.width, p.height, t.back, '');
			draw(inner, this.view(p), p.width, p.height);
			out.text(x, 14, fit(`${TITLES[p.build]}: ${p.notes.join('; ')}`, Math.floor(p.width / 6)), t.ink, 12);
			out.group(x, 24, inner);
			x += p.width + gap;
		}
		return out.toString();
	}
}

export async function showCode(body, still, m, explained, key) {
	const p = await api.profile(m.id, {functions: 100});
	if (!still())
		return;
	const map = new CodeMap(m, p.functions, key);
	body.replaceChildren(map.node);
	map.showBuilds(map.shown);
	const redraw = () => body.isConnected ? map.draw() : removeEventListener('morph-theme', redraw);
	addEventListener('morph-theme', redraw);
	new ResizeObserver(() => map.draw()).observe(map.frame);
	await Promise.all(map.panels.map((panel) => panel.load()));
	if (map.key)
		map.panels.forEach((panel) => panel.showParts());
}
