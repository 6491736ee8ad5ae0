// The table of modules.
import * as api from './api.js';
import {base, el, interval, link, number, percent, put, time} from './dom.js';
import {gainPicture} from './gain.js';

const STATES = {
	'laid-out': 'laid out',
	original: 'original',
	held: 'held',
	'no-artifact': 'no artifact',
	gone: 'gone',
};

const COLUMNS = [
	{name: 'Module', by: (m) => m.path, down: false},
	{name: 'State', by: (m) => m.state, down: false},
	{name: 'Share of time', by: (m) => m.samples, down: true},
	{name: 'Samples', by: (m) => m.samples, down: true},
	{name: 'Measured gain', by: (m) => m.measured?.gain ?? -Infinity, down: true},
	{name: 'Promised', by: (m) => promised(m) ?? -Infinity, down: true},
	{name: 'Decision', by: (m) => m.decision?.reason ?? '', down: false},
];

let order = {column: 2, down: true};
let filter = '',
	all = false;

/** What was promised of the layout that is there. */
export function promised(m) {
	return m.measured?.promised ?? m.predicted?.gain ?? null;
}

function row(m, total) {
	const share = total > 0 ? m.samples / total : 0;
	const cells = [
		el(
			'td',
			{class: 'name'},
			link('module/' + m.id, null, base(m.path)),
			el('small', null, m.path),
		),
		el(
			'td',
			null,
			el(
				'span',
				{class: 'state ' + m.state, title: m.text || ''},
				STATES[m.state] ?? m.state,
			),
		),
		el(
			'td',
			{class: 'share'},
			el('meter', {min: 0, max: 1, value: share, 'aria-hidden': 'true'}),
			percent(share),
		),
		el('td', {class: 'number'}, number(m.samples)),
		el(
			'td',
			{class: 'gain'},
			m.measured?.gain != null ? [gainPicture(m, 90), interval(m.measured)] : '–',
		),
		el('td', {class: 'number'}, percent(promised(m))),
		el(
			'td',
			{class: 'why', title: m.decision ? `${m.decision.text} (${time(m.decision.at)})` : ''},
			m.decision ? m.decision.reason : '–',
		),
	];
	cells.forEach((c, i) => c.setAttribute('data-label', COLUMNS[i].name));
	return el('tr', {'data-id': m.id}, cells);
}

function sorted(list) {
	const by = COLUMNS[order.column].by,
		sign = order.down ? -1 : 1;
	return [...list].sort((a, b) => {
		const x = by(a),
			y = by(b);
		return x < y ? -sign : x > y ? sign : a.path < b.path ? -1 : 1;
	});
}

function wanted(m) {
	return (
		(all || m.state !== 'no-artifact') && m.path.toLowerCase().includes(filter.toLowerCase())
	);
}

function headers(sort) {
	return COLUMNS.map((c, i) => {
		const b = el('button', {type: 'button', onclick: () => sort(i)}, c.name);
		return el('th', {scope: 'col'}, b);
	});
}

export async function showModules(main, still) {
	const list = await api.modules();
	if (!still()) return;
	const total = list.reduce((sum, m) => sum + m.samples, 0);
	const body = el('tbody'),
		count = el('p', {class: 'count', role: 'status'});
	const heads = headers((i) => {
		order = {column: i, down: order.column === i ? !order.down : COLUMNS[i].down};
		draw();
	});

	function draw() {
		const rows = sorted(list.filter(wanted));
		put(body, ...rows.map((m) => row(m, total)));
		heads.forEach((h, i) =>
			h.setAttribute(
				'aria-sort',
				i !== order.column ? 'none' : order.down ? 'descending' : 'ascending',
			),
		);
		count.textContent =
			`${number(rows.length)} of ${number(list.length)} modules` +
			(list.length === api.MODULES_MAX ? ', those with most samples' : '');
	}

	const find = el('input', {
		type: 'search',
		placeholder: 'Path…',
		'aria-label': 'Only paths with',
		value: filter,
	});
	find.addEventListener('input', () => {
		filter = find.value;
		draw();
	});
	const without = el('input', {type: 'checkbox', checked: all});
	without.addEventListener('change', () => {
		all = without.checked;
		draw();
	});
	draw();
	put(
		main,
		el('h1', null, 'Modules'),
		el(
			'div',
			{class: 'tools'},
			find,
			el('label', null, without, ' also without artifact'),
			count,
		),
		el(
			'div',
			{class: 'scroll'},
			el(
				'table',
				{class: 'modules'},
				el(
					'caption',
					{class: 'unseen'},
					'Modules; shares are of the samples of all that are listed',
				),
				el('thead', null, el('tr', null, heads)),
				body,
			),
		),
	);
}
