// One module: its head, and the parts that are shown of it.
import * as api from './api.js';
import {allCode} from './ranges.js';
import {base, bytes, el, interval, link, number, percent, put, table, time} from './dom.js';
import {gainChart, gains} from './gain.js';
import {saveButton, standalone} from './svgfile.js';
import {timeline} from './timeline.js';

const PARTS = [
	['overview', 'Overview', showOverview],
	['profile', 'Functions', async (...a) => (await import('./profile.js')).showProfile(...a)],
	['code', 'Code map', async (...a) => (await import('./codemap.js')).showCode(...a)],
	['flame', 'Flame graph', async (...a) => (await import('./flame.js')).showFlame(...a)],
];

function head(m, part) {
	return [
		el('p', {class: 'path'}, m.path),
		el(
			'h1',
			null,
			base(m.path),
			' ',
			el('span', {class: 'state ' + m.state}, m.text || m.state),
		),
		el(
			'nav',
			{class: 'tabs', 'aria-label': 'Parts of this module'},
			PARTS.map(([name, title]) =>
				link(
					`module/${m.id}/${name}`,
					{'aria-current': name === part ? 'page' : null},
					title,
				),
			),
			link(allCode({module: m.path}), {class: 'aside'}, 'In all code'),
		),
	];
}

export async function showModule(main, still, id, part, detail, signal) {
	const chosen = PARTS.find(([name]) => name === part) || PARTS[0];
	const explained = await api.explain(id);
	if (!still()) return;
	const body = el('div', {class: 'part ' + chosen[0]});
	put(main, ...head(explained.module, chosen[0]), body);
	await chosen[2](body, still, explained.module, explained, detail, signal);
}

// ---- the overview ----

function numbers(m) {
	const rows = [
		[
			'Samples',
			`${number(m.samples)} in the profile; since it is known ${number(m.mapped)} mapped, ` +
				`${number(m.outside)} outside, ${number(m.stale)} stale`,
		],
		['Mapped', percent(m.mapped_share, 1)],
		['Build', m.build_id ?? '–'],
		['Made from', m.origin === m.build_id ? 'is the original' : (m.origin ?? '–')],
		['Layout since', time(m.layout_at)],
		['First and last seen', `${time(m.first_seen)} … ${time(m.last_seen)}`],
		['Artifact', m.artifact ?? '–'],
		[
			'Predicted',
			m.predicted
				? `${interval(m.predicted)}, taken branches ` +
					percent(m.predicted.taken_after / m.predicted.taken_before - 1, 0)
				: '–',
		],
	];
	if (m.held)
		rows.push([
			'Held',
			m.held +
				(m.held_until
					? `, until ${time(m.held_until)}`
					: ', until a reoptimize is asked for'),
		]);
	if (m.fetch)
		rows.push([
			'Fetch',
			`${m.fetch.text}; ${m.fetch.tries} tries, again ${time(m.fetch.again)}`,
		]);
	return el(
		'dl',
		{class: 'numbers'},
		rows.map(([name, text]) => [el('dt', null, name), el('dd', null, text)]),
	);
}

const SIGNS = {passed: '✓', stopped: '■', skipped: '↷', 'not reached': '·'};

function rung(r) {
	const numbers =
		r.value === undefined
			? null
			: el('span', {class: 'numbers'}, `${number(r.value)} of ${number(r.limit)}`);
	return el(
		'li',
		{class: 'rung ' + r.outcome.replace(' ', '-'), value: r.rung},
		el('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[r.outcome] ?? '?'),
		el('b', null, r.name),
		el('span', {class: 'outcome'}, r.outcome),
		numbers,
		r.text ? el('span', {class: 'text'}, r.text) : null,
	);
}

function decision(x) {
	const d = x.decision;
	return el(
		'section',
		{class: 'decision'},
		el('h2', null, 'Decision'),
		d
			? el(
					'p',
					null,
					el('b', null, d.verdict),
					' — ',
					d.text,
					el(
						'small',
						null,
						d.times > 1
							? ` ${time(d.since)} … ${time(d.at)}, ${number(d.times)} times`
							: ` ${time(d.at)}`,
					),
				)
			: el('p', null, 'None was taken yet.'),
		el('ol', {class: 'ladder'}, x.ladder.map(rung)),
	);
}

function arm(name, r) {
	return [
		name,
		number(r.runs),
		number(r.crashes),
		r.cycles === null ? number(r.cpu_s) + ' s' : number(r.cycles / 1e9) + ' · 10⁹ cycles',
		r.work ? number(r.work) : '–',
	];
}

function measured(m) {
	const x = m.measured;
	const list = gains(m),
		chart = list.length ? gainChart(m, 460) : null;
	return el(
		'section',
		null,
		el('h2', null, 'Measured'),
		chart
			? el(
					'div',
					{class: 'picture'},
					chart,
					saveButton(base(m.path) + '-gain', () => standalone(chart)),
				)
			: null,
		x
			? [
					el(
						'p',
						null,
						el('b', null, x.verdict),
						' — ',
						x.text,
						el(
							'small',
							null,
							` by ${x.by}${x.randomised ? '' : ', not randomised'}, ` +
								`${time(x.began)} … ${x.ended ? time(x.ended) : 'now'}`,
						),
					),
					table(
						'Old and new build',
						['', 'Runs', 'Crashes', 'CPU', 'Work'],
						[arm('Old', x.old), arm('New', x.new)],
					),
				]
			: el('p', null, 'No layout of it was compared with the build before.'),
	);
}

function history(m, events) {
	const picture = events.length ? timeline(events, 720) : null;
	const size = (e) =>
		e.size_before === null ? '–' : `${bytes(e.size_before)} → ${bytes(e.size_after)}`;
	return el(
		'section',
		{class: 'wide'},
		el('h2', null, 'History'),
		picture
			? el(
					'div',
					{class: 'picture'},
					picture,
					saveButton(base(m.path) + '-history', () => standalone(picture)),
				)
			: null,
		events.length
			? el(
					'div',
					{class: 'scroll'},
					table(
						'Events, newest first',
						['Time', 'Event', 'What', 'Gain', 'Samples', 'Size'],
						events
							.slice(0, 200)
							.map((e) => [
								time(e.at),
								e.event,
								e.text,
								percent(e.gain),
								number(e.samples),
								size(e),
							]),
					),
				)
			: el('p', null, 'Nothing has become of it yet.'),
	);
}

async function showOverview(body, still, m, explained) {
	const events = await api.history(m.id);
	if (!still()) return;
	put(
		body,
		el('section', null, el('h2', null, 'Now'), numbers(m)),
		decision(explained),
		measured(m),
		history(m, events),
	);
}
