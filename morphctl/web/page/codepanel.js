// One build's part of the code map: what of it is shown, and how one moves in it.
import * as api from './api.js';
import {bytes, el, hex, hideTip, number, percent, put, showTip} from './dom.js';
import {LINE, blockAt, byLines, offsetAt, span, strides} from './codedraw.js';

export const TITLES = {original: 'Original', now: 'Now'};
const SPAN_MIN = 16 * LINE,
	HEIGHT = 560,
	WAIT_MS = 60;

export class Panel {
	constructor(map, build) {
		this.map = map;
		this.build = build;
		this.window = {}; // from, to; empty: all
		this.data = this.whole = null;
		this.cursor = null;
		this.asked = 0;
		this.notes = ['', ''];
		this.canvas = el('canvas', {
			tabindex: 0,
			role: 'img',
			'aria-label': `Code map, ${TITLES[build]}`,
		});
		this.note = el('p', {class: 'note'});
		this.node = el(
			'figure',
			{class: 'panel'},
			el('figcaption', null, el('b', null, TITLES[build]), this.note),
			this.canvas,
		);
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
			const d = await api.code(this.map.module.id, {
				build: this.build,
				lines: cells,
				...this.window,
				function: this.map.key,
			});
			if (turn !== this.asked) return;
			this.data = d;
			this.whole ??= d;
			this.notes = this.describe();
			put(this.note, this.notes[0], el('br'), this.notes[1]);
		} catch (e) {
			if (turn === this.asked) this.note.textContent = e.message;
		}
		this.map.draw();
	}

	describe() {
		const d = this.data,
			w = this.whole;
		let left = 0.9 * w.samples,
			hot = 0;
		for (const s of [...w.cells.samples].sort((a, b) => b - a)) {
			if (left <= 0) break;
			left -= s;
			hot += w.cell;
		}
		const share = d.samples ? d.within / d.samples : 0;
		const where =
			d.from === w.from && d.to === w.to
				? `all ${bytes(span(d))} of code`
				: `${hex(d.from)} … ${hex(d.to)}, ${bytes(span(d))}, ${percent(share)} of the samples`;
		return [
			where,
			`90 % of the samples are in ${bytes(hot)}` +
				(w.cell > LINE ? `, in cells of ${bytes(w.cell)}` : ''),
		];
	}

	/** What is shown, or asked for: who turns a wheel does not wait. */
	get aim() {
		return this.window.to ? this.window : {from: this.data.begin, to: this.data.end};
	}

	/** The same place stays under the pointer. */
	zoom(factor, at) {
		const d = this.data;
		if (!d) return;
		const aim = this.aim;
		at ??= this.cursor ?? (aim.from + aim.to) / 2;
		const size = Math.min(Math.max(span(aim) * factor, SPAN_MIN), d.end - d.begin);
		this.show(at - ((at - aim.from) * size) / span(aim), size);
	}

	show(from, size) {
		const d = this.data;
		from = Math.max(d.begin, Math.min(from, d.end - size));
		from = Math.floor(from / LINE) * LINE;
		this.window =
			size >= d.end - d.begin ? {} : {from, to: Math.ceil((from + size) / LINE) * LINE};
		return this.load();
	}

	move(bytes) {
		if (this.data) this.show(this.aim.from + bytes, span(this.aim));
	}

	/** The part of the chosen function that has most samples. */
	showParts() {
		const d = this.data;
		if (!d?.parts.length) return;
		const heat = (p) => {
			let sum = 0;
			for (
				let i = Math.max(0, Math.floor((p.from - this.whole.from) / this.whole.cell));
				this.whole.from + i * this.whole.cell < p.to;
				i++
			)
				sum += this.whole.cells.samples[i] ?? 0;
			return sum;
		};
		const best = d.parts.reduce((a, b) => (heat(b) > heat(a) ? b : a));
		const size = Math.max((best.to - best.from) * 1.2, SPAN_MIN);
		this.cursor = best.from;
		this.show((best.from + best.to) / 2 - size / 2, size);
	}

	// ---- what is at a place ----

	lines(offset) {
		const d = this.data,
			of = (n) => `${number(n)} samples, ${percent(d.samples ? n / d.samples : 0, 2)}`;
		const b = blockAt(d, offset);
		if (b && byLines(d)) {
			const f = d.functions[b.function];
			const out = d.edges.filter((e) => e.function === b.function && e.block === b.block);
			const sum = out.reduce((s, e) => s + e.outcomes, 0);
			return [
				f.name,
				f.tu,
				`block ${b.block}, ${b.size} bytes at ${hex(b.offset)}`,
				of(b.samples),
				...out.map((e) => `→ block ${e.to} ${percent(e.outcomes / sum, 0)}`),
			];
		}
		const i = Math.floor((offset - d.from) / d.cell),
			f = d.functions[d.cells.function[i]];
		return [
			f ? f.name : d.cells.bytes[i] ? 'no samples' : 'no code',
			...(f ? [f.tu] : []),
			`${bytes(d.cell)} at ${hex(d.from + i * d.cell)}, ${d.cells.bytes[i]} of code`,
			of(d.cells.samples[i]),
		];
	}

	point(e) {
		const r = this.canvas.getBoundingClientRect();
		return this.data
			? offsetAt(this.data, e.clientX - r.left, e.clientY - r.top, this.width, this.height)
			: null;
	}

	moveCursor(bytes) {
		const d = this.data;
		if (!d) return;
		this.cursor = Math.max(d.from, Math.min(d.to - 1, (this.cursor ?? d.from) + bytes));
		this.map.say(this.lines(this.cursor));
		this.map.draw();
	}

	listen() {
		const c = this.canvas,
			fingers = new Map();
		let dragged = null,
			apart = 0;
		c.addEventListener(
			'wheel',
			(e) => {
				if (e.deltaY > 0 && !this.window.to) return;
				e.preventDefault();
				this.zoom(
					Math.exp(Math.sign(e.deltaY) * Math.min(1, Math.abs(e.deltaY) / 100) * 0.4),
					this.point(e) ?? undefined,
				);
			},
			{passive: false},
		);
		c.addEventListener('keydown', (e) => this.key(e));
		c.addEventListener('dblclick', (e) => this.zoom(0.25, this.point(e) ?? undefined));
		c.addEventListener('pointerdown', (e) => {
			fingers.set(e.pointerId, e);
			dragged =
				e.pointerType === 'mouse' && e.button === 0
					? {y: e.clientY, from: this.data?.from}
					: null;
			apart = 0;
			if (e.pointerType === 'mouse') c.setPointerCapture(e.pointerId);
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
			if (fingers.has(e.pointerId)) fingers.set(e.pointerId, e);
			if (fingers.size === 2) {
				const [a, b] = [...fingers.values()],
					now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
				apart ||= now;
				if (Math.abs(Math.log(now / apart)) > 0.15) {
					this.zoom(
						apart / now,
						this.point({
							clientX: (a.clientX + b.clientX) / 2,
							clientY: (a.clientY + b.clientY) / 2,
						}) ?? undefined,
					);
					apart = now;
				}
				return;
			}
			if (dragged && this.data && (dragged.moved || Math.abs(e.clientY - dragged.y) > 6)) {
				dragged.moved = true;
				const rows =
					(this.data.cells.bytes.length * this.data.cell) /
					strides(this.data, this.width, this.height).row;
				const to =
					dragged.from +
					Math.round(((dragged.y - e.clientY) / this.height) * rows) *
						strides(this.data, this.width, this.height).row;
				if (to !== this.data.from) this.show(to, span(this.data));
				return;
			}
			this.hover(e);
		});
	}

	hover(e) {
		const at = this.point(e);
		if (at === null) return hideTip();
		showTip(e.clientX, e.clientY, this.lines(at));
	}

	key(e) {
		if (!this.data || e.ctrlKey || e.metaKey || e.altKey) return;
		const s = strides(this.data, this.width, this.height);
		const act = {
			'+': () => this.zoom(0.5),
			'=': () => this.zoom(0.5),
			'-': () => this.zoom(2),
			Home: () => this.show(this.data.begin, this.data.end - this.data.begin),
			PageUp: () => this.move(-span(this.data) / 2),
			PageDown: () => this.move(span(this.data) / 2),
			ArrowLeft: () => this.moveCursor(-s.column),
			ArrowRight: () => this.moveCursor(s.column),
			ArrowUp: () => this.moveCursor(-s.row),
			ArrowDown: () => this.moveCursor(s.row),
			Enter: () => this.zoom(0.25),
		}[e.key];
		if (act) {
			e.preventDefault();
			act();
		}
	}
}
