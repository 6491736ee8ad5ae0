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

export class SvgPainter {
	constructor(width, height, background, title) {
		this.head = `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" ` +
			`viewBox="0 0 ${n(width)} ${n(height)}" font-family="${FONT}"><title>${escape(title)}</title>`;
		this.out = [];
		this.run = null; // rectangles of one colour, which become one path: there are thousands
		this.rect(0, 0, width, height, background);
	}

	add(text) {
		if (this.run)
			this.out.push(`<path fill="${this.run.fill}" d="${this.run.d.join('')}"/>`);
		this.run = null;
		if (text)
			this.out.push(text);
	}

	rect(x, y, w, h, fill) {
		if (this.run?.fill !== fill) {
			this.add('');
			this.run = {fill, d: []};
		}
		this.run.d.push(`M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`);
	}

	frame(x, y, w, h, stroke, width) {
		this.add(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="none" stroke="${stroke}" stroke-width="${n(width)}"/>`);
	}

	text(x, y, text, fill, size, anchor) {
		this.add(`<text x="${n(x)}" y="${n(y)}" fill="${fill}" font-size="${size}"${anchor ? ` text-anchor="${anchor}"` : ''}>${escape(text)}</text>`);
	}

	arc(x, y1, y2, reach, stroke, width) {
		this.add(`<path d="M${n(x)} ${n(y1)}C${n(x + reach)} ${n(y1)} ${n(x + reach)} ${n(y2)} ${n(x + 5)} ${n(y2)}" fill="none" stroke="${stroke}" stroke-width="${n(width)}"/>`);
		this.add(`<path class="head" d="M${n(x)} ${n(y2)}l6 -3v6z" fill="${stroke}"/>`);
	}

	group(x, y, inner) {
		inner.add('');
		this.add(`<g transform="translate(${n(x)} ${n(y)})">${inner.out.join('')}</g>`);
	}

	toString() {
		this.add('');
		return `${this.head}\n${this.out.join('\n')}\n</svg>\n`;
	}
}
