// An annotated function: its instructions below the source lines that they come from.
import {base, el, number, percent, tableHead} from './dom.js';

const HEADS = ['Share', 'Samples', 'Stall', 'Offset', 'Instruction'];
const STALL_LEAST = 1.5; // as morphctl annotate shows them

function sourceRow(insn) {
	return el(
		'tr',
		{class: 'source'},
		el('td', {colspan: 3}),
		el('td', {class: 'number', title: insn.source}, `${base(insn.source)}:${insn.line}`),
		el('td', {class: 'text'}, insn.source_text ?? ''),
	);
}

function insnRow(insn, total) {
	const share = total ? insn.samples / total : 0,
		hot = insn.samples > 0;
	const stalls = hot && insn.stall !== null && insn.stall >= STALL_LEAST;
	return el(
		'tr',
		{class: [insn.leader && 'leader', share > 0.05 && 'hot'].filter(Boolean).join(' ')},
		el(
			'td',
			{class: 'share'},
			hot
				? [
						el('meter', {min: 0, max: 1, value: share, 'aria-hidden': 'true'}),
						percent(share),
					]
				: null,
		),
		el('td', {class: 'number'}, hot ? number(insn.samples) : null),
		el('td', {class: 'number'}, stalls ? insn.stall.toFixed(1) : null),
		el(
			'td',
			{class: 'number', title: insn.leader ? 'A basic block begins here' : null},
			insn.offset.toString(16) + (insn.leader ? ':' : ' '),
		),
		el('td', {class: 'text'}, insn.text),
	);
}

/** Parts of annotate --json as tables; those instructions and lines that have the words. */
export function listing(annotated, words) {
	return annotated.parts.map((part) => {
		const rows = [];
		let source = null;
		for (const insn of part.instructions) {
			const at = insn.source && `${insn.source}:${insn.line}`;
			const has = (insn.text + ' ' + (insn.source_text ?? '')).toLowerCase().includes(words);
			if (!has) continue;
			if (at && at !== source) rows.push(sourceRow(insn));
			source = at ?? source;
			rows.push(insnRow(insn, annotated.samples));
		}
		return el(
			'div',
			{class: 'scroll'},
			el(
				'table',
				{class: 'listing'},
				el('caption', null, `${part.function} in ${part.module}`),
				tableHead(HEADS),
				el('tbody', null, rows),
			),
		);
	});
}

/** The text of source lines, by "FILE:LINE". */
export function sourceTexts(annotated) {
	const texts = new Map();
	for (const part of annotated.parts)
		for (const insn of part.instructions)
			if (insn.source && insn.source_text)
				texts.set(`${insn.source}:${insn.line}`, insn.source_text);
	return texts;
}
