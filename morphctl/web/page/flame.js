// A module's samples as a flame graph: by its stacks, where it has such of more than one frame, else
// by unit, function and block, so that a frame lies on what it is a part of.
import * as api from './api.js';
import {base, button, el, put} from './dom.js';
import {FlameChart, compare, libraries} from './flamechart.js';
import {hasChains, stackTree} from './shares.js';

const FUNCTIONS = 1000,
	BLOCKS = 10;

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

// ---- profiles as files ----

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

// ---- the views ----

function showUnits(body, profile) {
	const other = el('input', {
		type: 'file',
		accept: '.json',
		class: 'unseen',
		'aria-label': 'Compare with a saved profile',
	});
	const chart = new FlameChart(
		base(profile.path),
		() => `Samples of ${profile.path} by unit, function and block`,
		[
			button('Save this profile', () => saveProfile(profile)),
			button('Compare with a saved one…', () => other.click()),
			other,
		],
	);
	other.addEventListener('change', async () => {
		const file = other.files[0];
		let before = null;
		try {
			before = file ? tree(await readProfile(file)) : null;
			chart.note.textContent = file
				? `Red has a greater share than in ${file.name}, blue a smaller one`
				: '';
		} catch (e) {
			chart.note.textContent = e.message;
		}
		const now = tree(profile);
		chart.draw(before ? compare(now, before) : now, before !== null);
	});
	const lead =
		'By unit and function: there are no call stacks, so a frame lies on what it is ' +
		'a part of; its width is its share of the samples.';
	put(body, el('p', {class: 'lead'}, lead), chart.node);
	chart.draw(tree(profile), false);
}

function showStacks(body, m, text) {
	const chart = new FlameChart(base(m.path), () => `Stacks of ${m.path}`);
	const lead =
		'By stack, of the last day: a frame lies on its caller, or on the function that it was ' +
		'inlined into; its width is its share of the samples.';
	put(body, el('p', {class: 'lead'}, lead), chart.node);
	chart.draw(stackTree(text, base(m.path)), false);
}

/** "" where there are none, or none can be had: the profile is shown then. */
async function stacksOf(m, signal) {
	try {
		const text = await api.stacks({module: m.path}, signal);
		return hasChains(text) ? text : '';
	} catch (e) {
		if (e.name === 'AbortError') throw e;
		return '';
	}
}

export async function showFlame(body, still, m, explained, detail, signal) {
	const [p, text] = await Promise.all([
		api.profile(m.id, {functions: FUNCTIONS, blocks: BLOCKS}),
		stacksOf(m, signal),
		libraries(),
	]);
	if (!still()) return;
	if (!text) {
		showUnits(body, p);
		return;
	}
	const shown = el('div');
	const choose = (stacks) => {
		for (const [b, is] of [
			[byStack, stacks],
			[byUnit, !stacks],
		])
			b.setAttribute('aria-pressed', is);
		if (stacks) showStacks(shown, m, text);
		else showUnits(shown, p);
	};
	const byStack = button('Stacks', () => choose(true)),
		byUnit = button('Units', () => choose(false));
	put(body, el('div', {class: 'tools'}, el('span', {class: 'choice'}, byStack, byUnit)), shown);
	choose(true);
}
