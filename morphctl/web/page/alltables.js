// Rows of reports as tables: of one range, and of two beside one another. What a table shows is
// {name(row): what its first cell has, [text to filter by, nodes…]; into(row): the address of what
// the row is made of, or null; modules: ids of those with an artifact, by path}.
import {base, el, fit, link, number, percent, svg, tableHead} from './dom.js';

const BAR = 90; // pixels of a bar of a change, both sides

// ---- what rows are called ----

/** [text to filter by, what is shown in the link, what below] */
export function moduleName(row) {
	const path = row.module ?? '[unknown]';
	return [path, base(path), path.includes('/') ? path : null];
}

export function functionName(row, withModule) {
	const name = row.function ?? '[unknown]',
		module = row.module ?? '[unknown]';
	return [name + ' ' + module, fit(name, 160), withModule ? module : null];
}

export function lineName(row, texts) {
	if (!row.source) return ['[unknown]', '[unknown]', null];
	const at = `${row.source}:${row.line}`,
		text = texts.get(at);
	return [
		`${at} ${text ?? ''}`,
		`${base(row.source)}:${row.line}`,
		text ? el('code', null, text) : row.source,
	];
}

function nameCell(row, kind) {
	const [text, name, below] = kind.name(row),
		to = kind.into(row);
	const own = row.function === undefined && kind.modules.get(row.asks.module);
	return el(
		'td',
		{class: 'name', title: text},
		to ? link(to, {class: 'into'}, name) : el('b', null, name),
		typeof below === 'string' ? el('small', null, below) : below,
		own ? link('module/' + own, {class: 'own'}, 'Its layout') : null,
	);
}

// ---- tables ----

function has(row, kind, words) {
	return kind.name(row)[0].toLowerCase().includes(words);
}

function labelled(heads, cells) {
	cells.forEach((c, i) => c.setAttribute('data-label', heads[i]));
	return cells;
}

function reportTable(title, heads, rows) {
	return rows.length
		? el(
				'div',
				{class: 'scroll'},
				el(
					'table',
					{class: 'report'},
					el('caption', {class: 'unseen'}, title),
					tableHead(heads),
					el('tbody', null, rows),
				),
			)
		: el('p', null, 'There is none of it.');
}

function share(v) {
	return el(
		'td',
		{class: 'share'},
		el('meter', {min: 0, max: 1, value: v, 'aria-hidden': 'true'}),
		percent(v, 2),
	);
}

/** Rows of one report. */
export function shareTable(title, rows, words, kind) {
	const heads = ['Name', 'Share', 'Samples', 'CPU time'];
	const one = (row) =>
		el(
			'tr',
			null,
			labelled(heads, [
				nameCell(row, kind),
				share(row.share),
				el('td', {class: 'number'}, number(row.samples)),
				el('td', {class: 'number'}, `${number(row.self / 1e9)} s`),
			]),
		);
	return reportTable(title, heads, rows.filter((row) => has(row, kind, words)).map(one));
}

function changeBar(change, most) {
	const half = BAR / 2,
		w = most ? (Math.abs(change) / most) * (half - 2) : 0;
	return svg(
		'svg',
		{class: 'change', width: BAR, height: 12, viewBox: `0 0 ${BAR} 12`, 'aria-hidden': 'true'},
		svg('rect', {
			class: change > 0 ? 'more' : 'less',
			x: change > 0 ? half : half - w,
			y: 1,
			width: w,
			height: 10,
		}),
		svg('line', {class: 'axis', x1: half, x2: half, y1: 0, y2: 12}),
	);
}

/** Differences of two reports (shares.js). */
export function changeTable(title, pairs, words, kind) {
	const heads = ['Name', 'Change of share, points', 'Now', 'Before', 'Samples now, before'];
	const most = Math.max(0, ...pairs.map((p) => Math.abs(p.change)));
	const one = (p) =>
		el(
			'tr',
			{class: p.noise ? 'noise' : null},
			labelled(heads, [
				nameCell(p.row, kind),
				el(
					'td',
					{class: 'share', title: p.noise ? 'within the noise of sampling' : null},
					changeBar(p.change, most),
					`${p.change >= 0 ? '+' : '−'}${Math.abs(100 * p.change).toFixed(2)}`,
				),
				el('td', {class: 'number'}, percent(p.now, 2)),
				el('td', {class: 'number'}, percent(p.before, 2)),
				el('td', {class: 'number'}, `${number(p.samples)}, ${number(p.samplesBefore)}`),
			]),
		);
	return reportTable(title, heads, pairs.filter((p) => has(p.row, kind, words)).map(one));
}
