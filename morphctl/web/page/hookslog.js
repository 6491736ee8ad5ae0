// What the build hooks left alone, and why.
import * as api from './api.js';
import {el, number, put, time} from './dom.js';

const FIRST = 500; // rows at once

export async function showHooksLog(main, still) {
	const lines = await api.hooksLog();
	if (!still()) return;
	const body = el('tbody'),
		count = el('p', {class: 'count', role: 'status'});
	const find = el('input', {
		type: 'search',
		placeholder: 'File, reason…',
		'aria-label': 'Only lines with',
	});
	let limit = FIRST;
	const more = el(
		'button',
		{
			type: 'button',
			onclick: () => {
				limit = lines.length;
				draw();
			},
		},
		'Show all',
	);

	function draw() {
		const words = find.value.toLowerCase();
		const seen = lines.filter(
			(l) =>
				!words || (l.output + ' ' + l.reason + ' ' + l.tool).toLowerCase().includes(words),
		);
		const heads = ['Time', 'Tool', 'Output', 'Reason'];
		put(
			body,
			...seen.slice(0, limit).map((l) =>
				el(
					'tr',
					null,
					[time(l.time), l.tool, l.output, l.reason].map((c, i) =>
						el(
							'td',
							{
								class: ['when', 'tool', 'path', 'why-long'][i],
								'data-label': heads[i],
							},
							c,
						),
					),
				),
			),
		);
		more.hidden = seen.length <= limit;
		count.textContent = `${number(seen.length)} of ${number(lines.length)} lines, newest first`;
	}

	find.addEventListener('input', draw);
	draw();
	put(
		main,
		el('h1', null, 'Hooks’ log'),
		el(
			'p',
			{class: 'lead'},
			'What as, ld and morph-cc passed on unchanged in your builds, and why.',
		),
		lines.length ? null : el('p', null, 'There is nothing in it.'),
		el('div', {class: 'tools'}, find, count),
		el(
			'div',
			{class: 'scroll'},
			el(
				'table',
				{class: 'log'},
				el('caption', {class: 'unseen'}, 'Hooks’ log'),
				el(
					'thead',
					null,
					el(
						'tr',
						null,
						['Time', 'Tool', 'Output', 'Reason'].map((h) =>
							el('th', {scope: 'col'}, h),
						),
					),
				),
				body,
			),
		),
		more,
	);
}
