// The code map: the code of the original build and of the present one in address order, coloured by
// where the samples are; from the whole program down to blocks and jumps.
import * as api from './api.js';
import {base, button, el, fit, number, percent} from './dom.js';
import {blockAt, draw, hottest} from './codedraw.js';
import {Panel, TITLES} from './codepanel.js';
import {Heat, theme} from './heat.js';
import {CanvasPainter, SvgPainter, svgFile} from './paint.js';
import {saveButton} from './svgfile.js';

class CodeMap {
	constructor(module, functions, key) {
		this.module = module;
		this.functions = functions;
		this.key = functions.some((f) => f.key === key) ? key : undefined;
		const same = module.build_id === module.origin;
		this.panels = (same ? ['now'] : ['original', 'now']).map((b) => new Panel(this, b));
		this.shown = same ? 'now' : 'both';
		this.readout = el('p', {class: 'readout', role: 'status'});
		this.legend = el('canvas', {
			class: 'legend',
			width: 256,
			height: 12,
			'aria-hidden': 'true',
		});
		this.scale = el('span');
		this.select = el(
			'select',
			{
				'aria-label': 'Function',
				onchange: () => this.chooseKey(this.select.value || undefined),
			},
			el('option', {value: ''}, 'Function…'),
			functions.map((f) =>
				el(
					'option',
					{value: f.key, selected: f.key === this.key},
					`${percent(f.share)} ${fit(f.name, 60)}`,
				),
			),
		);
		this.which = same
			? null
			: el(
					'span',
					{class: 'choice', role: 'group', 'aria-label': 'Builds'},
					['both', 'original', 'now'].map((b) =>
						button(TITLES[b] ?? 'Both', () => this.showBuilds(b), {'data-build': b}),
					),
				);
		this.frame = el(
			'div',
			{class: 'panels'},
			this.panels.map((p) => p.node),
		);
		this.node = el(
			'div',
			{class: 'codemap'},
			this.tools(same),
			this.frame,
			el('p', {class: 'scale'}, this.legend, this.scale),
			this.readout,
			el(
				'p',
				{class: 'help'},
				'Wheel, pinch, + and − zoom, Home shows all, dragging and PageUp/PageDown move, ' +
					'arrow keys go from cell to cell; a click chooses a function. Where few lines ' +
					'are shown, arcs are jumps by their branch outcomes, forward and backward in ' +
					'colours of their own.',
			),
		);
	}

	tools(same) {
		const all = (act) => () => this.visible().forEach(act);
		return el(
			'div',
			{class: 'tools'},
			this.which,
			this.select,
			el(
				'span',
				{class: 'choice', role: 'group', 'aria-label': 'Zoom'},
				button(
					'−',
					all((p) => p.zoom(2)),
					{'aria-label': 'Zoom out'},
				),
				button(
					'+',
					all((p) => p.zoom(0.5)),
					{'aria-label': 'Zoom in'},
				),
				button(
					'All',
					all((p) => p.data && p.show(p.data.begin, p.data.end - p.data.begin)),
				),
			),
			saveButton(base(this.module.path) + '-code', () => this.toSvg()),
			same ? el('p', {class: 'count'}, 'It runs in its original layout.') : null,
		);
	}

	visible() {
		return this.panels.filter((p) => this.shown === 'both' || p.build === this.shown);
	}

	showBuilds(which) {
		this.shown = which;
		for (const p of this.panels) p.node.hidden = !this.visible().includes(p);
		for (const b of this.which?.children ?? [])
			b.setAttribute('aria-pressed', b.dataset.build === which);
		this.draw();
	}

	async chooseKey(key) {
		this.key = key;
		this.select.value = this.functions.some((f) => f.key === key) ? key : '';
		await Promise.all(this.panels.map((p) => p.load()));
		for (const p of this.panels) p.showParts();
	}

	/** The function below a panel's cursor, in the other one too. */
	choose(panel) {
		const d = panel.data,
			at = panel.cursor;
		if (!d || at === null) return this.draw();
		const b = blockAt(d, at),
			i = b ? b.function : d.cells.function[Math.floor((at - d.from) / d.cell)];
		this.say(panel.lines(at));
		this.draw();
		if (i === null || i === undefined) return;
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
			p.canvas.setAttribute(
				'aria-label',
				`Code map, ${TITLES[p.build]}: ${p.notes.join('; ')}`,
			);
			p.canvas.dataset.drawn = `${p.data.from}-${p.data.to}`;
		}
		const c = this.legend.getContext('2d');
		for (let i = 0; i < 256; i++) {
			c.fillStyle = this.heat.colour(Math.pow(10, (i / 255 - 1) * 4), 1);
			c.fillRect(i, 0, 1, 12);
		}
		const max = this.max;
		this.scale.textContent = ` ${number(max / 1e4)} … ${number(max)} samples in 64 bytes`;
	}

	toSvg() {
		const t = theme(),
			shown = this.visible().filter((p) => p.data),
			gap = 24;
		const width = shown.reduce((w, p) => w + p.width + gap, -gap);
		const height = Math.max(...shown.map((p) => p.height)) + gap;
		const out = new SvgPainter();
		let x = 0;
		out.rect(0, 0, width, height, t.back);
		for (const p of shown) {
			const inner = new SvgPainter(),
				note = `${TITLES[p.build]}: ${p.notes.join('; ')}`;
			draw(inner, this.view(p), p.width, p.height);
			out.text(x, 14, fit(note, Math.floor(p.width / 6)), t.ink, 12);
			out.group(x, gap, inner);
			x += p.width + gap;
		}
		return svgFile(width, height, `Code map of ${this.module.path}`, out.parts());
	}
}

export async function showCode(body, still, m, explained, key) {
	const p = await api.profile(m.id, {functions: 100});
	if (!still()) return;
	const map = new CodeMap(m, p.functions, key);
	body.replaceChildren(map.node);
	map.showBuilds(map.shown);
	const redraw = () =>
		body.isConnected ? map.draw() : removeEventListener('morph-theme', redraw);
	addEventListener('morph-theme', redraw);
	new ResizeObserver(() => map.draw()).observe(map.frame);
	await Promise.all(map.panels.map((panel) => panel.load()));
	if (map.key) map.panels.forEach((panel) => panel.showParts());
}
