// Colours of heat: by the logarithm, over four decades below the hottest.

const DECADES = 4;
const RAMPS = {
	light: [
		[255, 240, 200],
		[254, 204, 92],
		[253, 141, 60],
		[227, 26, 28],
		[110, 0, 40],
	],
	dark: [
		[66, 44, 74],
		[124, 45, 98],
		[203, 70, 71],
		[246, 140, 50],
		[252, 240, 170],
	],
};

function mix(a, b, t) {
	return a.map((v, i) => Math.round(v + (b[i] - v) * t));
}

/** 0 … 1 of so many samples a line, where the hottest has max. */
export function warmth(density, max) {
	return density > 0 && max > 0 ? Math.max(0, 1 + Math.log10(density / max) / DECADES) : 0;
}

export class Heat {
	constructor(theme) {
		const ramp = RAMPS[theme.dark ? 'dark' : 'light'];
		this.theme = theme;
		this.steps = Array.from({length: 64}, (_, i) => {
			const at = (i / 63) * (ramp.length - 1),
				k = Math.min(Math.floor(at), ramp.length - 2);
			return `rgb(${mix(ramp[k], ramp[k + 1], at - k).join(' ')})`;
		});
	}

	/** Without samples: the colour of code that nobody was seen in. */
	colour(density, max) {
		return density > 0 ? this.steps[Math.round(warmth(density, max) * 63)] : this.theme.cold;
	}

	/** What can be read on it. */
	ink(density, max) {
		const t = warmth(density, max);
		return (this.theme.dark ? t > 0.6 : t < 0.55) ? '#14181d' : '#ffffff';
	}
}

/** The colours of the style sheet that pictures need. */
export function theme() {
	const style = getComputedStyle(document.documentElement),
		of = (name) => style.getPropertyValue(name).trim();
	return {
		dark: of('--dark') === '1',
		back: of('--back'),
		ink: of('--ink'),
		soft: of('--soft'),
		cold: of('--cold'),
		grid: of('--grid'),
		accent: of('--accent'),
		backward: of('--backward'),
	};
}
