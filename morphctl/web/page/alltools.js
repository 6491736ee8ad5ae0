// What time the view of all code is of, and which it is compared with.
import {el} from './dom.js';
import {
	RANGES,
	allCode,
	aroundMoment,
	before,
	day,
	days,
	lastDay,
	rangeText,
	todayAndYesterday,
} from './ranges.js';

function go(state) {
	location.hash = '#/' + allCode(state);
}

/** A choice of [value, text], of which one may be what is there and has no name. */
function choice(label, options, value, act) {
	const select = el(
		'select',
		null,
		options.map(([v, text]) => el('option', {value: v, selected: v === value}, text)),
	);
	select.addEventListener('change', () => act(select.value));
	return el('label', null, label, select);
}

/** Two dates, which are taken when both are there and in order. */
function dates(label, range, act) {
	const one = (what, value) =>
		el('input', {type: 'date', value, 'aria-label': `${label} ${what}`});
	const from = one('from', day(range?.since)),
		to = one('to', range && lastDay(range));
	const taken = () => {
		if (from.value && to.value && from.value <= to.value) act(days(from.value, to.value));
	};
	from.addEventListener('change', taken);
	to.addEventListener('change', taken);
	return el('span', {class: 'dates'}, from, ' – ', to);
}

function rangeChoice(state) {
	const now = {since: state.since, until: state.until};
	const preset = !state.until && RANGES.some(([since]) => since === state.since);
	const picked = dates('Time', now, (range) => go({...state, ...range}));
	picked.hidden = preset;
	const options = [...RANGES, ['dates', 'Dates…']];
	if (!preset) options.push(['', rangeText(now)]);
	return [
		choice('Time', options, preset ? state.since : '', (value) => {
			if (RANGES.some(([since]) => since === value))
				go({...state, since: value, until: null});
			else picked.hidden = false;
		}),
		picked,
	];
}

function otherChoice(state, swapped) {
	const now = {since: state.since, until: state.until},
		other = state.cs ? {since: state.cs, until: state.cu} : null;
	const compared = (range, with_) =>
		go({
			...state,
			since: range.since,
			until: range.until,
			cs: with_?.since,
			cu: with_?.until,
		});
	const picked = dates('Compared with', other, (range) => compared(now, range));
	picked.hidden = true;
	const acts = {
		none: () => compared(now, null),
		before: () => compared(now, before(now, Date.now())),
		yesterday: () => compared(...todayAndYesterday(Date.now())),
		layout: () => compared(...aroundMoment(swapped, Date.now())),
		dates: () => {
			picked.hidden = false;
		},
	};
	const options = [
		['none', 'Nothing'],
		['before', 'The time before'],
		['yesterday', 'Today with yesterday'],
		['dates', 'Dates…'],
	];
	if (swapped) options.splice(3, 0, ['layout', 'Before and after the last layout']);
	if (other) options.push(['', rangeText(other)]);
	return [choice('Compare with', options, other ? '' : 'none', (value) => acts[value]?.()), picked];
}

/** swapped: when the module got its last layout, where it has one. */
export function tools(state, swapped) {
	return [rangeChoice(state), otherChoice(state, swapped)];
}
