// Which view is shown; the head of the page.
import {showAllCode} from './allcode.js';
import {status} from './api.js';
import {el, hideTip, number, percent, put} from './dom.js';
import {showHooksLog} from './hookslog.js';
import {showModule} from './module.js';
import {showModules} from './modules.js';

const main = document.getElementById('main');
let shown = 0; // counts, so that an answer for a view that was left is not shown
let left = new AbortController(); // and what takes long is not asked for any longer

/** "#/module/ID/code?x=1" -> [["module", ID, "code"], "x=1"] */
function place() {
	const [path, ...query] = location.hash.replace(/^#\/?/, '').split('?');
	return [path.split('/').filter(Boolean), query.join('?')];
}

function markView(view) {
	for (const a of document.querySelectorAll('header nav a')) {
		if (a.dataset.view === view) a.setAttribute('aria-current', 'page');
		else a.removeAttribute('aria-current');
	}
}

async function show() {
	const [[view = 'modules', ...rest], query] = place();
	const turn = ++shown;
	const still = () => turn === shown;
	left.abort();
	left = new AbortController();
	hideTip();
	markView(view === 'hooks' || view === 'all' ? view : 'modules');
	main.setAttribute('aria-busy', 'true');
	try {
		if (view === 'hooks') await showHooksLog(main, still);
		else if (view === 'all') await showAllCode(main, still, query, left.signal);
		else if (view === 'module' && /^[0-9a-f]{16}$/.test(rest[0] || ''))
			await showModule(main, still, rest[0], rest[1] || 'overview', rest[2], left.signal);
		else await showModules(main, still);
	} catch (e) {
		if (still())
			put(
				main,
				el('p', {class: 'error', role: 'alert'}, e.message),
				e.kind === 'not-running'
					? el('p', null, 'Start one: morphd --user, or systemctl start morphd.')
					: null,
			);
	}
	if (still()) main.removeAttribute('aria-busy');
}

async function showStatus() {
	const line = document.getElementById('status');
	try {
		const s = await status();
		const n = s.samples;
		line.textContent =
			`${number(n.taken)} samples, ${percent(n.taken ? n.mapped / n.taken : 0, 0)} mapped · ` +
			(s.working
				? `${s.working.step}${s.working.path ? ' of ' + s.working.path : ''}`
				: s.idle.text);
	} catch (e) {
		line.textContent = e.message;
	}
}

function refresh() {
	showStatus();
	show();
}

// ---- light and dark ----

const THEME = 'morph-theme';

function isDark() {
	const forced = document.documentElement.dataset.theme;
	return forced ? forced === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function toggleTheme() {
	const theme = isDark() ? 'light' : 'dark';
	document.documentElement.dataset.theme = theme;
	localStorage.setItem(THEME, theme);
	dispatchEvent(new Event('morph-theme'));
}

function start() {
	const theme = localStorage.getItem(THEME);
	if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
		dispatchEvent(new Event('morph-theme')),
	);
	document.getElementById('theme').addEventListener('click', toggleTheme);
	document.getElementById('refresh').addEventListener('click', refresh);
	addEventListener('hashchange', () => {
		show();
		main.focus({preventScroll: true});
	});
	addEventListener('keydown', (e) => {
		if (e.key === 'r' && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest('input'))
			refresh();
	});
	refresh();
}

start();
