#include "managerd/priv/verbs.h"

#include <stddef.h>
#include <string.h>

const struct verb *verb_row(uint32_t verb)
{
	static const struct verb row[FRAME_VERBS] = {
#define V(verb, handler, request, answer, fds) [FRAME_##verb] = {request, answer, fds},
	    VERBS(V)
#undef V
	};

	return verb < FRAME_VERBS && row[verb].request ? &row[verb] : NULL;
}

const char *event_form(enum frame_event event)
{
	static const char *const form[] = {"nwioubsarhmf", "fwniomb", "nwio"};

	return form[event - FRAME_INSPECTED];
}

/* ---- fields ---- */

enum type { STRING, U32, U64, FLAG, ID, KEPT };

static const struct field {
	char letter;
	enum type type;
	size_t at;
	unsigned n; /* of this type, one after another */
} fields[] = {
    {'p', STRING, offsetof(struct message, path), 1},
    {'l', STRING, offsetof(struct message, path), 1},
    {'w', STRING, offsetof(struct message, why), 1},
    {'a', STRING, offsetof(struct message, artifact), 1},
    {'r', STRING, offsetof(struct message, refused), 1},
    {'t', U64, offsetof(struct message, task), 1},
    {'b', U64, offsetof(struct message, amount), 1},
    {'h', U64, offsetof(struct message, list), 1},
    {'n', U32, offsetof(struct message, number), 1},
    {'u', U32, offsetof(struct message, uid), 1},
    {'f', FLAG, offsetof(struct message, flag), 1},
    {'i', ID, offsetof(struct message, id), 1},
    {'o', ID, offsetof(struct message, origin), 1},
    {'s', U64, offsetof(struct message, stamp), sizeof(struct priv_stamp) / sizeof(uint64_t)},
    {'m', U64, offsetof(struct message, part), 2 * MESSAGE_PARTS},
    {'k', KEPT, 0, 1},
};

static const struct field *field_of(char letter)
{
	const struct field *f = fields;

	while (f->letter != letter)
		f++;
	return f;
}

static void put_kept(struct buf *b, const struct message *m)
{
	size_t i;

	frame_u32(b, (uint32_t)m->nkept);
	for (i = 0; i < m->nkept; i++) {
		build_id_put(b, &m->kept[i].id);
		frame_u64(b, m->kept[i].bytes);
		frame_u64(b, (uint64_t)m->kept[i].since);
	}
}

static void get_kept(struct frame_in *in, struct message *m)
{
	struct swap_kept *kept;
	size_t i, n = frame_get_u32(in);

	in->bad |= n > KEPT_MAX;
	m->nkept = in->bad ? 0 : n;
	m->kept = kept = arena_array(&in->mem, KEPT_MAX, sizeof *kept);
	for (i = 0; i < m->nkept; i++) {
		kept[i].id = frame_get_id(in);
		kept[i].bytes = frame_get_u64(in);
		kept[i].since = (int64_t)frame_get_u64(in);
	}
}

/* ---- messages ---- */

void message_put(struct buf *b, const char *form, const struct message *m)
{
	const struct field *f;
	const void *p;
	unsigned i;

	for (; *form; form++) {
		f = field_of(*form);
		p = (const char *)m + f->at;
		switch (f->type) {
		case STRING:
			frame_str(b, *(const char *const *)p);
			break;
		case U32:
			frame_u32(b, *(const uint32_t *)p);
			break;
		case U64:
			for (i = 0; i < f->n; i++)
				frame_u64(b, ((const uint64_t *)p)[i]);
			break;
		case FLAG:
			frame_u32(b, *(const bool *)p);
			break;
		case ID:
			build_id_put(b, p);
			break;
		case KEPT:
			put_kept(b, m);
			break;
		}
	}
}

bool message_get(struct frame_in *in, const char *form, struct message *m)
{
	const struct field *f;
	unsigned i;
	void *p;

	*m = (struct message){.path = "", .why = "", .artifact = "", .refused = ""};
	for (; *form; form++) {
		f = field_of(*form);
		p = (char *)m + f->at;
		switch (f->type) {
		case STRING:
			*(const char **)p = frame_get_str(in);
			break;
		case U32:
			*(uint32_t *)p = frame_get_u32(in);
			break;
		case U64:
			for (i = 0; i < f->n; i++)
				((uint64_t *)p)[i] = frame_get_u64(in);
			break;
		case FLAG:
			*(bool *)p = frame_get_u32(in) != 0;
			break;
		case ID:
			*(struct build_id *)p = frame_get_id(in);
			break;
		case KEPT:
			get_kept(in, m);
			break;
		}
	}
	return frame_whole(in);
}
