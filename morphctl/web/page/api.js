// What the manager knows: docs/API.md, below api/.

// Names are whatever whoever wrote a program wanted: what would move the cursor, or turn the
// direction of writing, is shown as its number.
const ODD = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function clean(text) {
	return text.replace(ODD, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

async function ask(route, params, signal) {
	const query = new URLSearchParams(
		Object.entries(params || {}).filter(([, v]) => v !== undefined),
	);
	return fetch(route + (query.size ? '?' + query : ''), {credentials: 'same-origin', signal});
}

/** The result of an answer; an Error with the manager's words, and its kind, where it failed. */
function result(answer, text) {
	let envelope;
	try {
		envelope = JSON.parse(text);
	} catch {
		envelope = {
			type: 'error',
			result: {kind: 'no-answer', message: text.slice(0, 300) || answer.statusText},
		};
	}
	if (envelope.type === 'error') {
		const e = new Error(clean(envelope.result.message));
		e.kind = envelope.result.kind;
		throw e;
	}
	return envelope.result;
}

function cleaned(v) {
	if (typeof v === 'string') return clean(v);
	if (Array.isArray(v)) return v.map(cleaned);
	if (v === null || typeof v !== 'object') return v;
	return Object.fromEntries(Object.entries(v).map(([name, x]) => [name, cleaned(x)]));
}

/** The result of a route, its strings without what would move the cursor. */
export async function get(route, params, signal) {
	const answer = await ask(route, params, signal);
	return cleaned(result(answer, await answer.text()));
}

export const status = () => get('api/v1/status');
export const MODULES_MAX = 1000; // the manager names no more
export const modules = () => get('api/v1/modules', {limit: MODULES_MAX});
export const explain = (id) => get(`api/v1/modules/${id}/explain`);
export const profile = (id, params) => get(`api/v1/modules/${id}/profile`, params);
export const code = (id, params) => get(`api/v1/modules/${id}/code`, params);
export const history = (id) => get('api/v1/history', {module: id, limit: 1000});
export const hooksLog = () => get('hooks-log');

// ---- reports of all code ----

/** A table of morphctl report --json; what a row is asked for by is in its `asks`, as it came. */
export async function report(what, params, signal) {
	const answer = await ask('report/' + what, params, signal);
	const table = result(answer, await answer.text());
	return {
		...cleaned(table),
		rows: table.rows.map((r) => ({
			...cleaned(r),
			asks: {module: r.module, function: r.linkage || r.function},
		})),
	};
}

export const annotate = (params, signal) => get('report/annotate', params, signal);

/** Folded stacks, a line each. */
export async function stacks(params, signal) {
	const answer = await ask('report/stacks', params, signal);
	const text = await answer.text();
	return answer.ok ? text.split('\n').map(clean).join('\n') : result(answer, text);
}
