// Rows of reports side by side, and as trees of samples. Pure.
import {base} from './dom.js';

/** What makes rows of two reports the same. */
export function keyOf(row) {
	return JSON.stringify([
		row.module,
		row.asks?.function ?? row.function ?? null,
		row.source ?? null,
		row.line ?? null,
	]);
}

/** Whether a difference of two shares is no more than sampling explains: two standard errors. */
export function isNoise(a, samplesA, b, samplesB) {
	const error = Math.sqrt(
		(a * (1 - a)) / Math.max(1, samplesA) + (b * (1 - b)) / Math.max(1, samplesB),
	);
	return Math.abs(a - b) <= 2 * error;
}

/**
 * Rows of two reports, as {row, now, before, samples, samplesBefore, change, noise}: shares of
 * each report's own sum, the greatest change first. What one of them lacks has no share there.
 */
export function differences(now, before) {
	const pairs = new Map(now.rows.map((row) => [keyOf(row), {row, now: row}]));
	for (const row of before.rows) {
		const key = keyOf(row),
			pair = pairs.get(key) ?? {row};
		pair.before = row;
		pairs.set(key, pair);
	}
	return [...pairs.values()]
		.map((p) => {
			const a = p.now?.share ?? 0,
				b = p.before?.share ?? 0;
			return {
				row: p.row,
				now: a,
				before: b,
				samples: p.now?.samples ?? 0,
				samplesBefore: p.before?.samples ?? 0,
				change: a - b,
				noise: isNoise(a, now.samples, b, before.samples),
			};
		})
		.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
}

/** A report of functions as a tree {name, key, value, children}: modules, their functions. */
export function moduleTree(report, name) {
	const modules = new Map();
	for (const row of report.rows) {
		const at = row.module ?? '[unknown]';
		const m = modules.get(at) ?? {name: base(at), key: at, value: 0, children: []};
		modules.set(at, m);
		m.value += row.samples;
		m.children.push({
			name: row.function ?? '[unknown]',
			key: keyOf(row),
			value: row.samples,
			children: [],
		});
	}
	const children = [...modules.values()];
	return {name, value: children.reduce((sum, m) => sum + m.value, 0), children};
}

/** ["a;b;c", 7] of a line "a;b;c 7"; null: it is none. */
function foldedLine(line) {
	const m = /^(.+) (\d+)$/.exec(line);
	return m ? [m[1], +m[2]] : null;
}

/** Whether any of the folded stacks has more than one frame. */
export function hasChains(text) {
	return text.split('\n').some((line) => foldedLine(line)?.[0].includes(';'));
}

/** Folded stacks as a tree. */
export function stackTree(text, name) {
	const root = {name, value: 0, children: []},
		index = new Map([[root, new Map()]]);
	for (const line of text.split('\n')) {
		const folded = foldedLine(line);
		if (!folded) continue;
		let at = root;
		at.value += folded[1];
		for (const frame of folded[0].split(';')) {
			let next = index.get(at).get(frame);
			if (!next) {
				next = {name: frame, value: 0, children: []};
				index.get(at).set(frame, next);
				index.set(next, new Map());
				at.children.push(next);
			}
			next.value += folded[1];
			at = next;
		}
	}
	return root;
}
