// Ranges of time, as morphctl's --since and --until have them: how long ago, or a moment. And where
// the view of all code keeps them: in the address. Pure.
import {time} from './dom.js';

export const RANGES = [
	['60min', 'Last hour'],
	['1d', 'Last day'],
	['7d', 'Last week'],
];
export const DEFAULT = '1d';

const UNITS = {s: 1e3, min: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3};
const HOUR = UNITS.h,
	WEEK = UNITS.w;

/** Milliseconds of "90min"; null: it is no such. */
export function duration(text) {
	const m = /^(\d+(?:\.\d+)?)(s|min|h|d|w)$/.exec(text ?? '');
	return m ? +m[1] * UNITS[m[2]] : null;
}

function iso(ms) {
	return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function minutes(ms) {
	return `${Math.max(1, Math.round(ms / 60e3))}min`;
}

/** The begin of a day where the person is, some days later. */
function midnight(ms, days = 0) {
	const d = new Date(ms);
	return new Date(d.getFullYear(), d.getMonth(), d.getDate() + days).getTime();
}

/** "2026-03-01" of a moment where the person is; "" for none. */
export function day(moment) {
	return moment && duration(moment) === null ? time(moment).slice(0, 10) : '';
}

/** From the begin of one day to the end of another, which are as day() has them. */
export function days(from, to) {
	return {
		since: iso(midnight(new Date(from + 'T00:00').getTime())),
		until: iso(midnight(new Date(to + 'T00:00').getTime(), 1)),
	};
}

/** The last day of a range, "2026-03-01"; its end is exclusive. */
export function lastDay(range) {
	return range.until && duration(range.until) === null
		? day(iso(Date.parse(range.until) - 1))
		: '';
}

function ago(ms) {
	const [unit] = ['d', 'h', 'min'].filter((u) => ms % UNITS[u] === 0);
	return unit ? `${ms / UNITS[unit]} ${unit} ago` : `${ms / 1e3} s ago`;
}

function isMidnight(moment) {
	return moment !== undefined && duration(moment) === null && time(moment).endsWith('00:00');
}

/** A range in words. */
export function rangeText(r) {
	const preset = RANGES.find(([since]) => since === r.since);
	if (preset && !r.until) return preset[1].toLowerCase();
	if (isMidnight(r.since) && isMidnight(r.until)) {
		const from = day(r.since),
			to = lastDay(r);
		return from === to ? from : `${from} to ${to}`;
	}
	const at = (moment) => (duration(moment) === null ? time(moment) : ago(duration(moment)));
	return r.until ? `${at(r.since)} to ${at(r.until)}` : `since ${at(r.since)}`;
}

/** The range of the same length just before another. */
export function before(r, now) {
	const ago = duration(r.since),
		to = duration(r.until);
	if (ago !== null && (!r.until || to !== null))
		return {since: minutes(2 * ago - (to ?? 0)), until: r.since};
	const from = ago === null ? Date.parse(r.since) : now - ago;
	const end = !r.until ? now : to === null ? Date.parse(r.until) : now - to;
	return {since: iso(from - Math.max(end - from, 60e3)), until: iso(from)};
}

/** [today, yesterday] */
export function todayAndYesterday(now) {
	return [
		{since: iso(midnight(now))},
		{since: iso(midnight(now, -1)), until: iso(midnight(now))},
	];
}

/** [since a moment, as long before it], at least an hour, at most a week. */
export function aroundMoment(moment, now) {
	const at = Date.parse(moment);
	const length = Math.min(Math.max(now - at, HOUR), WEEK);
	return [{since: iso(at)}, {since: iso(at - length), until: iso(at)}];
}

// ---- the address ----

const STATE = ['since', 'until', 'cs', 'cu', 'module', 'function', 'view'];

/** The view's state of an address's query; cs and cu are the range that it is compared with. */
export function readState(query) {
	const q = new URLSearchParams(query),
		state = {};
	for (const name of STATE) if (q.get(name)) state[name] = q.get(name);
	state.since ??= DEFAULT;
	return state;
}

/** "all?since=1d&…" */
export function allCode(state) {
	const q = new URLSearchParams();
	for (const name of STATE)
		if (state[name] && !(name === 'since' && state.since === DEFAULT))
			q.set(name, state[name]);
	return 'all' + (q.size ? '?' + q : '');
}
