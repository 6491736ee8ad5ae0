// Samples as a flame graph by unit, function and block: there are no call stacks in a profile, so
// that a frame lies on what it is a part of.
import * as api from './api.js';
import {base, button, el, fit, number, percent} from './dom.js';
import {plain, svgFile, tag} from './paint.js';
import {saveButton} from './svgfile.js';

const FUNCTIONS = 1000,
	BLOCKS = 10,
	ROW = 20;

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

function libraries() {
	loaded ??= script('d3.min.js').then(() => script('d3-flamegraph.umd.min.js'));
	loaded.catch(() => {
		loaded = null;
	});
	return loaded;
}

// ---- profiles as trees ----

/** A profile of docs/API.md as {name, value, children}. */
export function tree(profile) {
	const units = new Map();
	for (const f of profile.functions) {
		const unit = units.get(f.tu) ?? {name: f.tu || '(no unit)', value: 0, children: []};
		units.set(f.tu, unit);
		unit.value += f.samples;
		unit.children.push({
			name: f.name,
			value: f.samples,
			children: (f.hot ?? []).map((b) => ({
				name: 'block ' + b.block,
				value: b.samples,
				children: [],
			})),
		});
	}
	return {name: base(profile.path), value: profile.samples, children: [...units.values()]};
}

/** Differences of shares to a profile before, on every frame; those that are gone are left out. */
export function compare(now, before) {
	const walk = (a, b, totalA, totalB) => {
		a.delta = a.value / totalA - (b ? b.value / totalB : 0);
		const old = new Map((b?.children ?? []).map((c) => [c.name, c]));
		for (const c of a.children) walk(c, old.get(c.name), totalA, totalB);
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

function saveProfile(p) {
	const a = el('a', {
		href: URL.createObjectURL(new Blob([JSON.stringify(p)], {type: 'application/json'})),
		download: `${base(p.path)}-${new Date().toISOString().slice(0, 10)}.profile.json`,
	});
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

async function readProfile(file) {
	const p = JSON.parse(await file.text());
	if (
		!Array.isArray(p.functions) ||
		typeof p.path !== 'string' ||
		!(p.samples >= 0) ||
		!p.functions.every(
			(f) => typeof f.name === 'string' && typeof f.tu === 'string' && f.samples >= 0,
		)
	)
		throw new Error(`${file.name}: not a profile that this page saved`);
	return p;
}

class Flame {
	constructor(profile) {
		this.profile = profile;
		this.before = null;
		this.icicle = false;
		this.chart = el('div', {
			class: 'flame',
			role: 'img',
			'aria-label':
				`Samples of ${profile.path} by unit, function and block; ` +
				'the part Functions has them as a list',
		});
		this.details = el('p', {class: 'readout', role: 'status'});
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
			this.draw();
		});
		this.note = el('p', {class: 'count'});
		const other = el('input', {
			type: 'file',
			accept: '.json',
			class: 'unseen',
			'aria-label': 'Compare with a saved profile',
		});
		other.addEventListener('change', () => this.compareWith(other.files[0]));
		this.node = el(
			'div',
			null,
			el(
				'p',
				{class: 'lead'},
				'By unit and function: profiles have no call stacks, so a frame lies on what it is ' +
					'a part of; its width is its share of the samples.',
			),
			el(
				'div',
				{class: 'tools'},
				this.find,
				this.turn,
				button('All', () => this.graph.resetZoom()),
				button('Save this profile', () => saveProfile(profile)),
				button('Compare with a saved one…', () => other.click()),
				other,
				saveButton(base(profile.path) + '-flame', () =>
					toSvg(this.chart, `Samples of ${profile.path} by unit, function and block`),
				),
				this.note,
			),
			this.chart,
			this.details,
		);
	}

	async compareWith(file) {
		try {
			this.before = file ? await readProfile(file) : null;
			this.note.textContent = file
				? `Red has a greater share than in ${file.name}, blue a smaller one`
				: '';
		} catch (e) {
			this.before = null;
			this.note.textContent = e.message;
		}
		this.draw();
	}

	draw() {
		const data = tree(this.profile),
			total = this.profile.samples || 1;
		const most = this.before ? mostDelta(compare(data, tree(this.before))) : null;
		this.chart.replaceChildren();
		this.graph = window.flamegraph
			.default()
			.width(Math.max(280, this.chart.clientWidth))
			.cellHeight(ROW)
			.minFrameSize(1)
			.transitionDuration(200)
			.inverted(this.icicle)
			.setDetailsElement(this.details)
			.setColorMapper((d) => colour(d, most))
			.setLabelHandler(
				(d) =>
					`${d.data.name}: ${number(d.data.value)} samples, ${percent(d.data.value / total, 2)}` +
					(most === null
						? ''
						: `, ${d.data.delta >= 0 ? '+' : '−'}${percent(Math.abs(d.data.delta), 2)}`),
			);
		window.d3.select(this.chart).datum(data).call(this.graph);
	}
}

export async function showFlame(body, still, m) {
	const [p] = await Promise.all([
		api.profile(m.id, {functions: FUNCTIONS, blocks: BLOCKS}),
		libraries(),
	]);
	if (!still()) return;
	const flame = new Flame(p);
	body.replaceChildren(flame.node);
	flame.draw();
	let width = flame.chart.clientWidth;
	new ResizeObserver(() => {
		if (Math.abs(flame.chart.clientWidth - width) > 20) {
			width = flame.chart.clientWidth;
			flame.draw();
		}
	}).observe(flame.chart);
}
