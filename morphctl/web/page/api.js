// What the manager knows: docs/API.md, below api/.

// Names are whatever whoever wrote a program wanted: what would move the cursor, or turn the
// direction of writing, is shown as its number.
const ODD = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function clean(text) {
	return text.replace(ODD, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The result of a route; an Error with the manager's words, and its kind, where it fails. */
export async function get(route, params) {
	const query = new URLSearchParams(
		Object.entries(params || {}).filter(([, v]) => v !== undefined),
	);
	const answer = await fetch(route + (query.size ? '?' + query : ''), {
		credentials: 'same-origin',
	});
	const text = await answer.text();
	let envelope;
	try {
		envelope = JSON.parse(text, (_, v) => (typeof v === 'string' ? clean(v) : v));
	} catch {
		envelope = {
			type: 'error',
			result: {kind: 'no-answer', message: clean(text.slice(0, 300)) || answer.statusText},
		};
	}
	if (envelope.type === 'error') {
		const e = new Error(envelope.result.message);
		e.kind = envelope.result.kind;
		throw e;
	}
	return envelope.result;
}

export const status = () => get('api/v1/status');
export const MODULES_MAX = 1000; // the manager names no more
export const modules = () => get('api/v1/modules', {limit: MODULES_MAX});
export const explain = (id) => get(`api/v1/modules/${id}/explain`);
export const profile = (id, params) => get(`api/v1/modules/${id}/profile`, params);
export const code = (id, params) => get(`api/v1/modules/${id}/code`, params);
export const history = (id) => get('api/v1/history', {module: id, limit: 1000});
export const hooksLog = () => get('hooks-log');
