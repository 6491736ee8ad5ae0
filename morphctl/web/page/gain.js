// A measured gain with its interval beside what was promised.
import {interval, percent, svg} from './dom.js';

const MIN = 0.02; // at least so much to either side is shown

/** What is to be seen of a module's gain: [{name, gain, low, high, class}]. */
export function gains(m) {
	const out = [],
		x = m.measured,
		p = m.predicted;
	if (x && x.gain !== null)
		out.push({
			name: 'measured',
			gain: x.gain,
			low: x.low ?? x.gain,
			high: x.high ?? x.gain,
			kind: 'measured',
		});
	if (x && x.promised !== null)
		out.push({
			name: 'promised',
			gain: x.promised,
			low: x.promised,
			high: x.promised,
			kind: 'promised',
		});
	else if (p)
		out.push({
			name: 'predicted',
			gain: p.gain,
			low: p.low ?? p.gain,
			high: p.high ?? p.gain,
			kind: 'promised',
		});
	return out;
}

/** One line: the interval, the measured gain, the promise. */
export function gainPicture(m, width) {
	const list = gains(m),
		h = 18;
	const reach = Math.max(MIN, ...list.flatMap((g) => [Math.abs(g.low), Math.abs(g.high)])) * 1.1;
	const x = (v) => ((v / reach + 1) / 2) * width;
	return svg(
		'svg',
		{
			class: 'gain',
			width,
			height: h,
			viewBox: `0 0 ${width} ${h}`,
			role: 'img',
			'aria-label': list
				.map((g) => `${g.name} ${g.kind === 'measured' ? interval(g) : percent(g.gain)}`)
				.join(', '),
		},
		svg('line', {class: 'zero', x1: x(0), x2: x(0), y1: 1, y2: h - 1}),
		list.map((g) =>
			svg('line', {
				class: 'range ' + g.kind,
				x1: x(g.low),
				x2: Math.max(x(g.high), x(g.low) + 1),
				y1: 9,
				y2: 9,
			}),
		),
		list.map((g) =>
			g.kind === 'measured'
				? svg('circle', {class: g.kind, cx: x(g.gain), cy: 9, r: 4})
				: svg('path', {class: g.kind, d: `M${x(g.gain)} 2v14`}),
		),
	);
}

/** With a scale and names. */
export function gainChart(m, width) {
	const list = gains(m),
		left = 80,
		rows = 26,
		h = list.length * rows + 30;
	const reach = Math.max(MIN, ...list.flatMap((g) => [Math.abs(g.low), Math.abs(g.high)])) * 1.15;
	const x = (v) => left + ((v / reach + 1) / 2) * (width - left - 24);
	const step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((s) => reach / s <= 4) ?? 2;
	const ticks = [];
	for (let t = -Math.floor(reach / step); t * step <= reach; t++) ticks.push(t * step);
	const chart = svg(
		'svg',
		{
			class: 'chart',
			width,
			height: h,
			viewBox: `0 0 ${width} ${h}`,
			role: 'img',
			'aria-label': 'Gain: ' + list.map((g) => `${g.name} ${interval(g)}`).join(', '),
		},
		ticks.map((t) => [
			svg('line', {
				class: Math.abs(t) < 1e-9 ? 'zero' : 'grid',
				x1: x(t),
				x2: x(t),
				y1: 4,
				y2: h - 22,
			}),
			svg(
				'text',
				{x: x(t), y: h - 8, 'text-anchor': 'middle'},
				percent(t, step < 0.01 ? 1 : 0),
			),
		]),
	);
	list.forEach((g, i) =>
		chart.append(
			svg('text', {x: 0, y: i * rows + 22}, g.name),
			svg('line', {
				class: 'range ' + g.kind,
				x1: x(g.low),
				x2: Math.max(x(g.high), x(g.low) + 1),
				y1: i * rows + 18,
				y2: i * rows + 18,
			}),
			svg('circle', {class: g.kind, cx: x(g.gain), cy: i * rows + 18, r: 5}),
		),
	);
	return chart;
}
