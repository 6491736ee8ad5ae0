// What became of a module, in time.
import {percent, svg, time} from './dom.js';

const LANES = ['learned', 'swapped', 'measured', 'rolled-back', 'failed', 'recovered', 'replaced'];

function ticks(begin, end, n) {
	const hour = 3600e3,
		day = 24 * hour;
	const steps = [
		60e3,
		300e3,
		900e3,
		hour,
		3 * hour,
		6 * hour,
		12 * hour,
		day,
		2 * day,
		7 * day,
		14 * day,
		30 * day,
		90 * day,
		365 * day,
	];
	const step = steps.find((s) => (end - begin) / s <= n) ?? (end - begin) / n;
	const zone = new Date(begin).getTimezoneOffset() * 60e3,
		out = [];
	for (let t = Math.ceil((begin - zone) / step) * step + zone; t <= end; t += step) out.push(t);
	return {out, step};
}

/** Events of docs/API.md as marks, a lane for each kind that occurs. */
export function timeline(events, width) {
	const at = events.map((e) => Date.parse(e.at));
	let begin = Math.min(...at),
		end = Math.max(...at);
	const pad = Math.max((end - begin) * 0.03, 60e3);
	begin -= pad;
	end += pad;
	const lanes = LANES.filter((l) => events.some((e) => e.event === l));
	const left = 84,
		rows = 26,
		h = lanes.length * rows + 34;
	const x = (t) => left + ((t - begin) / (end - begin)) * (width - left - 12);
	const y = (l) => lanes.indexOf(l) * rows + 16;
	const {out, step} = ticks(begin, end, 6);
	return svg(
		'svg',
		{
			class: 'chart timeline',
			width,
			height: h,
			viewBox: `0 0 ${width} ${h}`,
			role: 'img',
			'aria-label':
				`${events.length} events from ${time(new Date(begin))} ` +
				`to ${time(new Date(end))}; the table has them`,
		},
		out.map((t) => [
			svg('line', {class: 'grid', x1: x(t), x2: x(t), y1: 4, y2: h - 24}),
			svg(
				'text',
				{x: x(t), y: h - 8, 'text-anchor': 'middle'},
				step < 864e5 ? time(t).slice(5) : time(t).slice(0, 10),
			),
		]),
		lanes.map((l) => [
			svg('line', {class: 'grid', x1: left, x2: width - 12, y1: y(l), y2: y(l)}),
			svg('text', {x: 0, y: y(l) + 4}, l),
		]),
		events
			.filter((e) => lanes.includes(e.event))
			.map((e) =>
				svg(
					'circle',
					{class: 'event ' + e.event, cx: x(Date.parse(e.at)), cy: y(e.event), r: 5.5},
					svg(
						'title',
						null,
						`${time(e.at)} ${e.event}` +
							`${e.gain !== null ? ', gain ' + percent(e.gain) : ''}: ${e.text}`,
					),
				),
			),
	);
}
