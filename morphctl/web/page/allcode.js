// All code: where the time of the machine went, from modules down to instructions, and how that
// differs between two ranges of time.
import * as api from './api.js';
import {changeTable, functionName, lineName, moduleName, shareTable} from './alltables.js';
import {tools} from './alltools.js';
import {base, el, link, number, percent, put} from './dom.js';
import {FlameChart, compare, libraries} from './flamechart.js';
import {listing, sourceTexts} from './listing.js';
import {allCode, rangeText, readState} from './ranges.js';
import {differences, moduleTree, stackTree} from './shares.js';

const ROWS_MAX = 1000; // of a report; morphctl gives no more

// What is shown of the machine, of a module and of a function, the first one without being asked.
const VIEWS = {
	machine: [
		['modules', 'Modules'],
		['functions', 'Functions'],
		['flame', 'Flame graph'],
	],
	module: [
		['functions', 'Functions'],
		['flame', 'Flame graph'],
	],
	function: [
		['annotate', 'Instructions'],
		['lines', 'Lines'],
	],
};

function part(text) {
	return el('span', {'aria-current': 'page'}, text);
}

function levelOf(state) {
	return state.function ? 'function' : state.module ? 'module' : 'machine';
}

/** A module as morphctl is asked for it: code in memory by its name, without its process. */
const asked = (module) => module.replace(/ of process \d+$/, '');

class View {
	constructor(main, still, query, signal) {
		Object.assign(this, {main, still, signal, state: readState(query), words: ''});
		this.level = levelOf(this.state);
		const views = VIEWS[this.level];
		this.view = (views.find(([name]) => name === this.state.view) ?? views[0])[0];
		this.now = {since: this.state.since, until: this.state.until};
		this.other = this.state.cs ? {since: this.state.cs, until: this.state.cu} : null;
		this.lead = el('p', {class: 'lead'});
		this.body = el('div', {class: 'report'});
		this.called = part(api.clean(this.state.function ?? ''));
	}

	/** The address of another view, with this one's ranges. */
	to(change) {
		return allCode({...this.state, module: null, function: null, view: null, ...change});
	}

	up() {
		if (this.level === 'function') return this.to({module: this.state.module});
		return this.level === 'module' ? this.to({}) : null;
	}

	// ---- the head ----

	crumbs() {
		const {module, function: name} = this.state;
		const own = this.modules.get(module);
		return el(
			'nav',
			{class: 'crumbs', 'aria-label': 'Where this is'},
			module ? link(this.to({}), null, 'All code') : part('All code'),
			module
				? name
					? link(
							this.to({module}),
							{title: api.clean(module)},
							base(api.clean(module)),
						)
					: part(api.clean(module))
				: null,
			name ? this.called : null,
			own ? link('module/' + own, {class: 'aside'}, 'Its layout') : null,
		);
	}

	tabs() {
		const {module, function: name} = this.state;
		return el(
			'nav',
			{class: 'tabs', 'aria-label': 'Views'},
			VIEWS[this.level].map(([view, title]) =>
				link(
					this.to({module, function: name, view}),
					{'aria-current': view === this.view ? 'page' : null},
					title,
				),
			),
		);
	}

	async show() {
		const modules = await api.modules().catch(() => []);
		this.modules = new Map(
			modules.filter((m) => m.state !== 'no-artifact').map((m) => [m.path, m.id]),
		);
		const own = this.modules.get(this.state.module);
		const events = own ? await api.history(own).catch(() => []) : [];
		if (!this.still()) return;
		this.find = el('input', {
			type: 'search',
			placeholder: 'Filter…',
			'aria-label': 'Only rows with',
			'aria-keyshortcuts': '/',
		});
		this.find.addEventListener('input', () => {
			this.words = this.find.value.toLowerCase();
			this.draw?.();
		});
		put(
			this.main,
			this.crumbs(),
			this.tabs(),
			el(
				'div',
				{class: 'tools'},
				tools(this.state, events.find((e) => e.event === 'swapped')?.at),
				this.view === 'flame' ? null : this.find,
			),
			this.lead,
			this.body,
			el(
				'p',
				{class: 'help'},
				'Keys: ↑ and ↓ choose, Enter goes into it, ← goes back up, / filters. ' +
					'Samples are kept by periods of ten minutes, later of hours and days: ' +
					'one with a part in the range counts.',
			),
		);
		this.keys();
		put(this.body, el('p', {class: 'lead'}, 'Reading samples and names…'));
		try {
			await this['show_' + this.view]();
		} catch (e) {
			if (this.still()) put(this.body, el('p', {class: 'error', role: 'alert'}, e.message));
		}
	}

	keys() {
		const steps = {ArrowDown: 1, ArrowUp: -1};
		addEventListener(
			'keydown',
			(e) => {
				if (e.ctrlKey || e.metaKey || e.altKey) return;
				if (e.key === 'Escape' && e.target === this.find) this.main.focus();
				if (e.target.closest('input, select, summary')) return;
				if (steps[e.key]) this.step(steps[e.key]);
				else if (e.key === 'ArrowLeft' && this.up()) location.hash = '#/' + this.up();
				else if (e.key === '/') this.find.focus();
				else return;
				e.preventDefault();
			},
			{signal: this.signal},
		);
	}

	step(by) {
		const rows = [...this.body.querySelectorAll('a.into')];
		const at = rows.indexOf(document.activeElement);
		rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
	}

	// ---- tables ----

	async reports(what) {
		const {module, function: name} = this.state;
		const names = {module: module && asked(module), function: name};
		const whole = (r) =>
			module && asked(module) !== module
				? {...r, rows: r.rows.filter((row) => row.asks.module === module)}
				: r;
		const ask = async (range) => {
			if (!range) return null;
			try {
				return whole(await api.report(what, {...names, ...range}, this.signal));
			} catch (e) {
				if (this.other) e.message = `${rangeText(range)}: ${e.message}`;
				throw e;
			}
		};
		const [now, before] = await Promise.all([ask(this.now), ask(this.other)]);
		return {now, before};
	}

	explain({now, before}, what) {
		const cut = [now, before].some((r) => r && r.rows_total > r.rows.length);
		const of = (r, range) =>
			`${rangeText(range)}: ${number(r.samples)} samples` +
			(r.unit === 'ns' ? `, ${number(r.sum / 1e9)} s of CPU time` : '');
		put(
			this.lead,
			before
				? `Shares of each range’s time, not times: what grows in share need not take longer. ` +
						`Now, ${of(now, this.now)}; before, ${of(before, this.other)}. ` +
						(this.view === 'flame'
							? what + '.'
							: 'Grey changes are within two standard errors of sampling.')
				: `${what}; shares are of all that you may see, ${of(now, this.now)}.`,
			cut
				? ` Of each report the ${number(ROWS_MAX)} rows with most samples` +
						(before ? '; what one lacks counts as none there.' : '.')
				: null,
		);
	}

	/** kind: as alltables.js has it, but for its modules. */
	async table(what, title, kind) {
		const both = await this.reports(what);
		if (!this.still()) return;
		this.explain(both, title);
		const rows = both.before ? differences(both.now, both.before) : both.now.rows;
		const make = both.before ? changeTable : shareTable;
		this.draw = () =>
			put(this.body, make(title, rows, this.words, {...kind, modules: this.modules}));
		this.draw();
	}

	show_modules() {
		return this.table('modules', 'Modules', {
			name: moduleName,
			into: ({asks}) => asks.module && this.to({module: asks.module}),
		});
	}

	show_functions() {
		return this.table('functions', 'Functions', {
			name: (row) => functionName(row, this.level === 'machine'),
			into: ({asks}) => asks.module && asks.function && this.to(asks),
		});
	}

	async show_lines() {
		const texts = await this.annotated().then(sourceTexts, (e) => {
			if (e.name === 'AbortError') throw e;
			return new Map();
		});
		await this.table('lines', 'Source lines', {
			name: (row) => lineName(row, texts),
			into: () => null,
		});
	}

	// ---- instructions ----

	async annotated() {
		const {module, function: name} = this.state;
		const names = {module: asked(module), function: name};
		const a = await api.annotate({...names, ...this.now}, this.signal);
		if (a.parts.length) this.called.textContent = a.parts[0].function;
		return a;
	}

	async show_annotate() {
		const a = await this.annotated();
		if (!this.still()) return;
		put(
			this.lead,
			`Shares of the function’s ${number(a.samples)} samples, ${rangeText(this.now)}` +
				(this.other ? ', without comparison' : '') +
				'. An offset with a colon begins a basic block; Stall is how many times as long as ' +
				'others of its block an instruction took.',
		);
		this.draw = () => put(this.body, listing(a, this.words));
		this.draw();
	}

	// ---- pictures ----

	async trees() {
		const {module} = this.state,
			both = await this.reports('functions');
		const name = module ? base(api.clean(module)) : 'All code';
		const callers = both.now.chains || both.before?.chains;
		if (!callers) {
			const tree = (r) => (r ? moduleTree(r, name) : null);
			return {both, callers, now: tree(both.now), before: tree(both.before)};
		}
		const [now, before] = await Promise.all(
			[this.now, this.other].map((range) =>
				range
					? api.stacks({module: module && asked(module), ...range}, this.signal)
					: null,
			),
		);
		const tree = (text) => (text === null ? null : stackTree(text, name));
		return {both, callers, now: tree(now), before: tree(before)};
	}

	async show_flame() {
		const [t] = await Promise.all([this.trees(), libraries()]);
		if (!this.still()) return;
		this.explain(
			t.both,
			t.callers
				? 'By stack: a frame lies on its caller'
				: 'By module and function: there are no callers; a frame lies on what it is a part of',
		);
		const chart = new FlameChart('all-code', () => `Share of time, ${rangeText(this.now)}`);
		put(this.body, chart.node);
		if (t.before) {
			chart.note.textContent =
				'Red has a greater share now, blue a smaller one; what is gone is not shown';
			compare(t.now, t.before);
		}
		chart.draw(t.now, t.before !== null);
	}
}

export async function showAllCode(main, still, query, signal) {
	await new View(main, still, query, signal).show();
}
