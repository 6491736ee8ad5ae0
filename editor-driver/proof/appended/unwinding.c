#include "editor-driver/proof/appended/comparison.h"

/* ---- the index ---- */

static int wrong_index(struct comparison *c, uint64_t pc, const char *what)
{
	*c->where = pc;
	return err_set(c->e, "the index of unwind information, at the function at %#llx: %s",
	    (unsigned long long)pc, what);
}

/* All entries of the original's index, and new ones of new code. */
static int compare_entries(
    struct comparison *c, const struct frame_index *made, const struct frame_index *orig)
{
	const struct frame_entry *m, *o = orig->entry.v, *end = o + orig->entry.n;

	for (m = made->entry.v; m < made->entry.v + made->entry.n; m++) {
		if (o < end && m->pc == o->pc && m->fde == o->fde)
			o++;
		else if (!in_text(c, m->pc) || loaded_segment(&c->orig, m->fde))
			return wrong_index(c, m->pc, "an entry that was not there");
	}
	return o == end ? 0 : wrong_index(c, o->pc, "an entry is missing");
}

/* Who reads records one after the other begins where he did, or with the new ones. */
static int check_frames_address(
    struct comparison *c, const struct frame_index *made, const struct frame_index *orig)
{
	size_t i;

	if (made->frames == orig->frames)
		return 0;
	for (i = 0; i < c->made_frames.frame.n; i++)
		if (c->made_frames.frame.v[i].fde.cie.at == made->frames &&
		    !loaded_segment(&c->orig, made->frames))
			return 0;
	return wrong_index(c, made->frames, "it begins nowhere");
}

int frames_compare_index(struct comparison *c)
{
	struct frame_index made = {0}, orig = {0};
	int rc = -1;

	if (!frame_index_read(&c->orig, &orig, c->e) && !frame_index_read(&c->made, &made, c->e) &&
	    !compare_entries(c, &made, &orig) &&
	    !frames_open(
		&c->orig_frames, &c->orig, orig.entry.v, orig.entry.n, &c->row_names, c->e) &&
	    !frames_open(
		&c->made_frames, &c->made, made.entry.v, made.entry.n, &c->row_names, c->e))
		rc = check_frames_address(c, &made, &orig);
	vec_free(&made.entry);
	vec_free(&orig.entry);
	return rc;
}

/* ---- at an instruction ---- */

static bool same_address(const void *arg, uint64_t a, uint64_t b)
{
	return a == b;
}

static bool same_personality(const struct eh_cie *a, const struct eh_cie *b)
{
	enum { INDIRECT = 0x80 };

	if (!a->personality || !b->personality)
		return a->personality == b->personality;
	return a->personality == b->personality &&
	       !((a->personality_encoding ^ b->personality_encoding) & INDIRECT);
}

/* What holds for all of two functions; then for the next instructions, too. */
static int compare_frames(
    struct comparison *c, uint64_t made, uint64_t orig, struct frame *m, struct frame *o)
{
	if (m == c->made_frame && o == c->orig_frame)
		return 0;
	if (frames_read(&c->made_frames, m, c->e) || frames_read(&c->orig_frames, o, c->e)) {
		*c->where = made;
		return -1;
	}
	if (m->fde.cie.return_register != o->fde.cie.return_register ||
	    m->fde.cie.signal != o->fde.cie.signal || !same_personality(&m->fde.cie, &o->fde.cie) ||
	    !m->fde.lsda != !o->fde.lsda)
		return differ(c, made, orig, "another routine handles exceptions");
	c->made_frame = m;
	c->orig_frame = o;
	c->made_site = c->orig_site = NULL;
	return 0;
}

static bool same_site(struct comparison *c, const struct eh_site *m, const struct eh_site *o)
{
	if (!m || !o)
		return m == o;
	if (m == c->made_site && o == c->orig_site)
		return true;
	if (!m->pad != !o->pad ||
	    !eh_table_same_actions(&c->orig_frame->table, o->action, &c->made_frame->table,
		m->action, &(struct eh_same_type){same_address, NULL}))
		return false;
	if (m->pad)
		walk_add(c, m->pad, o->pad, SPOT_UNKNOWN);
	c->made_site = m;
	c->orig_site = o;
	return true;
}

/* One byte of an instruction, of frames that agree. */
static int compare_byte(struct comparison *c, uint64_t made, uint64_t orig)
{
	struct frame *m = c->made_frame, *o = c->orig_frame;
	uint64_t until;

	if (frame_row(m, made) != frame_row(o, orig))
		return differ(c, made, orig, "unwind information differs");
	if (m->fde.lsda && !same_site(c, eh_table_at(&m->table, made, &until),
			       eh_table_at(&o->table, orig, &until)))
		return differ(c, made, orig, "exceptions are handled otherwise");
	return 0;
}

int unwinding_compare(
    struct comparison *c, uint64_t made, unsigned made_len, uint64_t orig, unsigned orig_len)
{
	struct frame *m = frames_find(&c->made_frames, made);
	struct frame *o = frames_find(&c->orig_frames, orig);

	if (!m && !o)
		return 0;
	if (!m || !o || frames_find(&c->made_frames, made + made_len - 1) != m ||
	    frames_find(&c->orig_frames, orig + orig_len - 1) != o)
		return differ(c, made, orig, "unwind information does not hold it");
	if (compare_frames(c, made, orig, m, o) || compare_byte(c, made, orig))
		return -1;
	return compare_byte(c, made + made_len - 1, orig + orig_len - 1);
}

/* Does an instruction of the new code have the row of an address of the original? */
static bool has_row(struct comparison *c, const struct spot *s, uint64_t orig)
{
	uint64_t made = c->made.begin + s->made, end = made + s->len - 1;
	struct frame *m = frames_find(&c->made_frames, made);
	struct frame *o = frames_find(&c->orig_frames, orig);

	if (!m || !o)
		return m == o;
	return !frames_read(&c->made_frames, m, NULL) && !frames_read(&c->orig_frames, o, NULL) &&
	       frame_row(m, made) == frame_row(o, orig) && frame_row(m, made) == frame_row(m, end);
}

bool unwinding_agrees(struct comparison *c, const struct spot *s, uint64_t orig)
{
	return has_row(c, s, orig) || (unwinding_ends(c, orig, 0) && has_row(c, s, orig - 1));
}

bool unwinding_ends(struct comparison *c, uint64_t orig, unsigned n)
{
	const struct frame *f = frames_find(&c->orig_frames, orig + n - 1);

	return f && orig + n == f->fde.pc + f->fde.size;
}
