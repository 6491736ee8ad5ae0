// Pictures as files.
import {button} from './dom.js';

// What a picture that is drawn by this page's style sheet looks like is written into its file.
const STYLES = [
	'fill',
	'fill-opacity',
	'stroke',
	'stroke-width',
	'stroke-dasharray',
	'font-family',
	'font-size',
	'font-weight',
	'text-anchor',
	'opacity',
];

function download(name, text) {
	const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
	const a = document.createElement('a');
	a.href = url;
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** An SVG element of the page as text that needs no style sheet. */
export function standalone(picture) {
	const copy = picture.cloneNode(true);
	const from = [picture, ...picture.querySelectorAll('*')],
		to = [copy, ...copy.querySelectorAll('*')];
	from.forEach((node, i) => {
		const style = getComputedStyle(node);
		for (const name of STYLES)
			if (style.getPropertyValue(name))
				to[i].setAttribute(name, style.getPropertyValue(name));
		to[i].removeAttribute('class');
	});
	copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
	const back = copy.ownerDocument.createElementNS('http://www.w3.org/2000/svg', 'rect');
	back.setAttribute('width', '100%');
	back.setAttribute('height', '100%');
	back.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
	copy.prepend(back);
	return new XMLSerializer().serializeToString(copy);
}

/** A button that saves what make() returns, SVG text. */
export function saveButton(name, make) {
	return button('Save as SVG', () => download(name.replace(/[^\w.-]+/g, '_') + '.svg', make()), {
		class: 'save',
	});
}
