// Hot functions and their blocks.
import * as api from './api.js';
import {el, fit, link, number, percent, put, tableHead} from './dom.js';

const BLOCKS = 40,
	FUNCTIONS = 200;

function successors(b) {
	return b.successors.length
		? b.successors.map((s) => `→ ${s.block} ${percent(s.share, 0)}`).join(', ')
		: '–';
}

function blocks(f) {
	const heads = ['Block', 'Share of the function', 'Samples', 'Branch outcomes', 'Successors'];
	return el(
		'div',
		null,
		f.callers.length
			? el(
					'p',
					null,
					'Called from ' +
						f.callers
							.map((c) => `${c.name} (block ${c.block}, ${percent(c.share, 0)})`)
							.join(', '),
				)
			: null,
		el(
			'table',
			{class: 'blocks'},
			el('caption', {class: 'unseen'}, `Hot blocks of ${f.name}`),
			tableHead(heads),
			el(
				'tbody',
				null,
				f.hot.map((b) =>
					el(
						'tr',
						null,
						el('td', {'data-label': heads[0]}, b.block),
						el(
							'td',
							{class: 'share', 'data-label': heads[1]},
							el('meter', {min: 0, max: 1, value: b.share, 'aria-hidden': 'true'}),
							percent(b.share),
						),
						el('td', {class: 'number', 'data-label': heads[2]}, number(b.samples)),
						el('td', {class: 'number', 'data-label': heads[3]}, number(b.outcomes)),
						el('td', {'data-label': heads[4]}, successors(b)),
					),
				),
			),
		),
	);
}

function functionRow(m, f) {
	const detail = el(
		'details',
		null,
		el(
			'summary',
			null,
			el('span', {class: 'fname', title: f.name}, fit(f.name, 90)),
			el('small', null, f.tu),
			el(
				'span',
				{class: 'share'},
				el('meter', {min: 0, max: 1, value: f.share, 'aria-hidden': 'true'}),
				percent(f.share),
			),
			el(
				'span',
				{class: 'count'},
				`${number(f.samples)} samples, ${number(f.blocks_sampled)} of ${number(f.blocks)} blocks`,
			),
		),
	);
	detail.addEventListener('toggle', () => {
		if (detail.open && detail.children.length === 1)
			detail.append(
				f.opaque ? el('p', null, `Moves as a whole: ${f.opaque}`) : '',
				blocks(f),
				el('p', null, link(`module/${m.id}/code/${f.key}`, null, 'Where it lies')),
			);
	});
	return el('li', null, detail);
}

export async function showProfile(body, still, m) {
	const p = await api.profile(m.id, {functions: FUNCTIONS, blocks: BLOCKS});
	if (!still()) return;
	const list = el('ol', {class: 'functions'});
	const find = el('input', {
		type: 'search',
		placeholder: 'Function, unit…',
		'aria-label': 'Only functions with',
	});

	function draw() {
		const words = find.value.toLowerCase();
		put(
			list,
			...p.functions
				.filter((f) => (f.name + ' ' + f.tu).toLowerCase().includes(words))
				.map((f) => functionRow(m, f)),
		);
	}

	find.addEventListener('input', draw);
	draw();
	put(
		body,
		el(
			'p',
			{class: 'lead'},
			`${number(p.samples)} samples in ${number(p.functions_sampled)} of ` +
				`${number(p.functions_total)} functions; ` +
				`${percent(p.samples ? p.understood / p.samples : 0)} in such as can be laid out. ` +
				`The ${number(p.functions.length)} hottest:`,
		),
		el('div', {class: 'tools'}, find),
		list,
	);
}
