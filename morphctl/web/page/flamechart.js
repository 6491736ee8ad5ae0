// Trees of samples as flame graphs or icicles, and their differences.
import {button, el, fit, number, percent} from './dom.js';
import {plain, svgFile, tag} from './paint.js';
import {saveButton} from './svgfile.js';

const ROW = 20;

// ---- the libraries: d3 and d3-flame-graph, of which the page is fit without ----

function script(name) {
	return new Promise((done, fail) => {
		const s = el('script', {src: name});
		s.onload = done;
		s.onerror = () => fail(new Error(`${name} is not there: it comes with make web`));
		document.head.append(s);
	});
}

let loaded = null;

export function libraries() {
	loaded ??= script('d3.min.js').then(() => script('d3-flamegraph.umd.min.js'));
	loaded.catch(() => {
		loaded = null;
	});
	return loaded;
}

// ---- differences ----

/**
 * Differences of shares to a tree before, on every frame; those that are gone are left out. Frames
 * are the same by their keys, or names.
 */
export function compare(now, before) {
	const walk = (a, b, totalA, totalB) => {
		a.delta = a.value / totalA - (b ? b.value / totalB : 0);
		const old = new Map((b?.children ?? []).map((c) => [c.key ?? c.name, c]));
		for (const c of a.children) walk(c, old.get(c.key ?? c.name), totalA, totalB);
	};
	walk(now, before, now.value || 1, before.value || 1);
	return now;
}

// ---- colours ----

/** Of a name, always the same; of a difference: red is more, blue is less. */
function colour(d, most) {
	if (d.highlight) return '#d946d9';
	if (most !== null) {
		const t = Math.min(1, Math.abs(d.data.delta) / (most || 1));
		return d.data.delta > 0
			? `rgb(255 ${Math.round(235 - 150 * t)} ${Math.round(225 - 160 * t)})`
			: `rgb(${Math.round(225 - 150 * t)} ${Math.round(235 - 100 * t)} 255)`;
	}
	let h = 0;
	for (const c of d.data.name) h = (h * 31 + c.codePointAt(0)) >>> 0;
	return `hsl(${20 + (h % 35)} ${70 + (h % 20)}% ${58 + ((h >>> 8) % 14)}%)`;
}

function mostDelta(t) {
	return Math.max(Math.abs(t.delta), ...t.children.map(mostDelta), 0);
}

// ---- the picture as a file ----

/** Frames as rectangles and plain text: few programs show HTML in SVG. */
function toSvg(chart, title) {
	const size = (node, name) => +node.getAttribute(name);
	const svg = chart.querySelector('svg');
	const frames = [...svg.querySelectorAll('g.frame')].map((g) => {
		const rect = g.querySelector('rect'),
			width = size(rect, 'width');
		const name = g.querySelector('div')?.textContent ?? '';
		const label = fit(name, Math.floor((width - 6) / 6.6));
		return tag(
			'g',
			{transform: g.getAttribute('transform')},
			tag('title', {}, plain(g.querySelector('title')?.textContent ?? name)) +
				tag('rect', {
					width,
					height: size(rect, 'height'),
					fill: rect.getAttribute('fill'),
					stroke: '#fff',
					'stroke-width': 0.5,
				}) +
				(width > 35 ? tag('text', {x: 4, y: 14, 'font-size': 12}, plain(label)) : ''),
		);
	});
	return svgFile(size(svg, 'width'), size(svg, 'height'), title, frames);
}

// ---- the view ----

/** Tools, a chart and a line of details; draw() shows a tree {name, value, children}. */
export class FlameChart {
	/** name: of its file; title(): what the picture is of; more: buttons of one's own. */
	constructor(name, title, more = []) {
		this.icicle = false;
		this.chart = el('div', {
			class: 'flame',
			role: 'img',
			'aria-label': title() + '; the tables have them as lists',
		});
		this.details = el('p', {class: 'readout', role: 'status'});
		this.note = el('p', {class: 'count'});
		this.find = el('input', {
			type: 'search',
			placeholder: 'Search…',
			'aria-label': 'Highlight frames with',
		});
		this.find.addEventListener('input', () =>
			this.find.value ? this.graph.search(this.find.value) : this.graph.clear(),
		);
		this.turn = button('Icicle', () => {
			this.icicle = !this.icicle;
			this.turn.textContent = this.icicle ? 'Flame' : 'Icicle';
			this.draw(this.data, this.most !== null);
		});
		this.node = el(
			'div',
			null,
			el(
				'div',
				{class: 'tools'},
				this.find,
				this.turn,
				button('All', () => this.graph.resetZoom()),
				more,
				saveButton(name + '-flame', () => toSvg(this.chart, title())),
				this.note,
			),
			this.chart,
			this.details,
		);
		this.follow();
	}

	follow() {
		let width = 0;
		new ResizeObserver(() => {
			const now = this.chart.clientWidth;
			if (width && Math.abs(now - width) > 20) this.draw(this.data, this.most !== null);
			width = now;
		}).observe(this.chart);
	}

	/** differs: it went through compare(). */
	draw(data, differs) {
		const total = data.value || 1;
		this.data = data;
		this.most = differs ? mostDelta(data) : null;
		this.chart.replaceChildren();
		this.graph = window.flamegraph
			.default()
			.width(Math.max(280, this.chart.clientWidth))
			.cellHeight(ROW)
			.minFrameSize(1)
			.transitionDuration(200)
			.inverted(this.icicle)
			.setDetailsElement(this.details)
			.setColorMapper((d) => colour(d, this.most))
			.setLabelHandler(
				(d) =>
					`${d.data.name}: ${number(d.data.value)} samples, ${percent(d.data.value / total, 2)}` +
					(differs
						? `, ${d.data.delta >= 0 ? '+' : '−'}${percent(Math.abs(d.data.delta), 2)}`
						: ''),
			);
		window.d3.select(this.chart).datum(data).call(this.graph);
	}
}
