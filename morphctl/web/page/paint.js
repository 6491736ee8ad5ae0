// The same strokes on a canvas and as SVG text.

const FONT = 'system-ui, sans-serif';

export class CanvasPainter {
	constructor(canvas, width, height) {
		const scale = devicePixelRatio || 1;
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
		this.c = canvas.getContext('2d');
		this.c.setTransform(scale, 0, 0, scale, 0, 0);
	}

	rect(x, y, w, h, fill) {
		this.c.fillStyle = fill;
		this.c.fillRect(x, y, w, h);
	}

	frame(x, y, w, h, stroke, width) {
		this.c.strokeStyle = stroke;
		this.c.lineWidth = width;
		this.c.strokeRect(x, y, w, h);
	}

	text(x, y, text, fill, size, anchor) {
		this.c.font = `${size}px ${FONT}`;
		this.c.textAlign = anchor === 'middle' ? 'center' : anchor === 'end' ? 'right' : 'left';
		this.c.fillStyle = fill;
		this.c.fillText(text, x, y);
	}

	/** From (x, y1) to (x, y2) around the right, with a head. */
	arc(x, y1, y2, reach, stroke, width) {
		const c = this.c;
		c.strokeStyle = c.fillStyle = stroke;
		c.lineWidth = width;
		c.beginPath();
		c.moveTo(x, y1);
		c.bezierCurveTo(x + reach, y1, x + reach, y2, x + 5, y2);
		c.stroke();
		c.beginPath();
		c.moveTo(x, y2);
		c.lineTo(x + 6, y2 - 3);
		c.lineTo(x + 6, y2 + 3);
		c.fill();
	}
}

const escape = (s) => String(s).replace(/[&<>"']/g, (c) => '&#' + c.charCodeAt(0) + ';');
const n = (v) => +v.toFixed(1);

/** An element as text; numbers are rounded to a tenth, null is no attribute, inner is markup. */
export function tag(name, attributes, inner = '') {
	const list = Object.entries(attributes).filter(([, v]) => v !== null && v !== undefined);
	const text = list.map(([k, v]) => ` ${k}="${typeof v === 'number' ? n(v) : escape(v)}"`);
	return `<${name}${text.join('')}>${inner}</${name}>`;
}

/** Text for an element. */
export const plain = escape;

/** A file of these parts. */
export function svgFile(width, height, title, parts) {
	const root = {xmlns: 'http://www.w3.org/2000/svg', width, height, 'font-family': FONT};
	root.viewBox = `0 0 ${n(width)} ${n(height)}`;
	return tag('svg', root, `${tag('title', {}, escape(title))}\n${parts.join('\n')}\n`) + '\n';
}

export class SvgPainter {
	constructor() {
		this.out = [];
		this.run = null; // rectangles of one colour, which become one path: there are thousands
	}

	add(text) {
		if (this.run) this.out.push(tag('path', {fill: this.run.fill, d: this.run.d.join('')}));
		this.run = null;
		if (text) this.out.push(text);
	}

	rect(x, y, w, h, fill) {
		if (this.run?.fill !== fill) {
			this.add('');
			this.run = {fill, d: []};
		}
		this.run.d.push(`M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`);
	}

	frame(x, y, width, height, stroke, line) {
		this.add(tag('rect', {x, y, width, height, fill: 'none', stroke, 'stroke-width': line}));
	}

	text(x, y, text, fill, size, anchor) {
		const style = {fill, 'font-size': size, 'text-anchor': anchor};
		this.add(tag('text', {x, y, ...style}, escape(text)));
	}

	arc(x, y1, y2, reach, stroke, width) {
		const far = n(x + reach);
		const d = `M${n(x)} ${n(y1)}C${far} ${n(y1)} ${far} ${n(y2)} ${n(x + 5)} ${n(y2)}`;
		this.add(tag('path', {d, fill: 'none', stroke, 'stroke-width': width}));
		this.add(tag('path', {class: 'head', d: `M${n(x)} ${n(y2)}l6 -3v6z`, fill: stroke}));
	}

	/** What another one painted, elsewhere. */
	group(x, y, inner) {
		const transform = `translate(${n(x)} ${n(y)})`;
		this.add(tag('g', {transform}, inner.parts().join('')));
	}

	parts() {
		this.add('');
		return this.out;
	}
}
