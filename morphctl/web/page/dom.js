// Elements and texts. Data becomes text nodes and attributes only, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
	for (const [name, value] of Object.entries(props || {})) {
		if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
		else if (value === true) node.setAttribute(name, '');
		else if (value !== false && value !== null && value !== undefined)
			node.setAttribute(name, value);
	}
	node.append(
		...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false),
	);
	return node;
}

/** An element; strings among the children become text. */
export function el(tag, props, ...children) {
	return fill(document.createElement(tag), props, children);
}

/** Likewise of SVG. */
export function svg(tag, props, ...children) {
	return fill(document.createElementNS(SVG, tag), props, children);
}

/** Children in place of those that are there; what is null or false is none. */
export function put(node, ...children) {
	node.replaceChildren();
	fill(node, null, children);
}

/** A link to a view of this page. */
export function link(to, props, ...children) {
	return el('a', {...props, href: '#/' + to}, ...children);
}

export function button(text, act, props) {
	return el('button', {type: 'button', onclick: act, ...props}, text);
}

/** The line of titles of a table. */
export function tableHead(heads) {
	return el(
		'thead',
		null,
		el(
			'tr',
			null,
			heads.map((h) => el('th', {scope: 'col'}, h)),
		),
	);
}

/** A table of rows that are lists of cells. */
export function table(caption, heads, rows, props) {
	return el(
		'table',
		props,
		el('caption', null, caption),
		tableHead(heads),
		el(
			'tbody',
			null,
			rows.map((cells) =>
				el(
					'tr',
					null,
					cells.map((c, i) => el('td', {'data-label': heads[i]}, c)),
				),
			),
		),
	);
}

// ---- texts ----

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const short = new Intl.NumberFormat('en', {maximumSignificantDigits: 3});

/** 1,234; below ten with decimals. */
export function number(v) {
	if (v === null || v === undefined) return '–';
	return Math.abs(v) < 10 ? short.format(v) : whole.format(v);
}

/** A share of 1 as percent. */
export function percent(v, digits = 1) {
	return v === null || v === undefined ? '–' : (100 * v).toFixed(digits) + ' %';
}

/** "4.1 % (2.9 … 5.3)" */
export function interval(x) {
	if (!x || x.gain === null || x.gain === undefined) return '–';
	if (x.low === null || x.high === null) return percent(x.gain);
	return `${percent(x.gain)} (${(100 * x.low).toFixed(1)} … ${(100 * x.high).toFixed(1)})`;
}

export function bytes(n) {
	if (n < 1024) return n + ' B';
	return n < 1 << 20 ? short.format(n / 1024) + ' KiB' : short.format(n / (1 << 20)) + ' MiB';
}

export function hex(n) {
	return '0x' + n.toString(16);
}

/** In the person's own time zone. */
export function time(text) {
	if (!text) return '–';
	const d = new Date(text),
		two = (n) => String(n).padStart(2, '0');
	const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
	return `${day} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

export function base(path) {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** As long as it fits, the middle of it goes. */
export function fit(text, n) {
	if (text.length <= n) return text;
	const tail = Math.floor((n - 1) / 2);
	return n < 4
		? text.slice(0, n)
		: text.slice(0, n - 1 - tail) + '…' + text.slice(text.length - tail);
}

// ---- the tooltip ----

const tip = () => document.getElementById('tip');

/** Lines of text beside a point of the window. */
export function showTip(x, y, lines) {
	const t = tip();
	t.replaceChildren(...lines.map((s, i) => el(i ? 'span' : 'b', null, s)));
	t.hidden = false;
	const w = t.offsetWidth,
		h = t.offsetHeight;
	t.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + 'px';
	t.style.top = Math.max(4, y + 18 + h > innerHeight ? y - h - 10 : y + 18) + 'px';
}

export function hideTip() {
	tip().hidden = true;
}
