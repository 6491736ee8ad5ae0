#include "editor-driver/append/index.h"
#include "common/le.h"
#include "common/sort.h"

/* DW_EH_PE_*: from here, a number, from the index. */
enum { PCREL_SDATA4 = 0x1b, UDATA4 = 3, DATAREL_SDATA4 = 0x3b };

struct entry {
	uint64_t pc, at; /* addresses of the code, of its record */
};

struct entries {
	struct entry *v;
	size_t n, cap;
};

static int gather(struct eh_frames s, struct entries *list, struct err *e)
{
	struct eh_fde f;
	int rc;

	for (s.next = 0; (rc = eh_frames_next(&s, &f)) > 0;)
		if (f.size)
			vec_push(list, (struct entry){f.pc, f.at});
	return rc ? err_set(e, "unwind information at %#llx: not understood",
			(unsigned long long)(s.addr + s.next))
		  : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return ORDER(x->pc, y->pc) ?: ORDER(x->at, y->at);
}

static int put_distance(uint64_t to, uint64_t from, struct buf *out, struct err *e)
{
	int64_t n = (int64_t)(to - from);

	if (n < INT32_MIN || n > INT32_MAX)
		return err_set(e, "unwind information: %#llx is too far from %#llx",
		    (unsigned long long)to, (unsigned long long)from);
	buf_le32(out, (uint32_t)n);
	return 0;
}

static int put(
    const struct entries *list, uint64_t frames, uint64_t addr, struct buf *out, struct err *e)
{
	static const uint8_t head[] = {1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4};
	const struct entry *x;

	buf_add(out, head, sizeof head);
	if (put_distance(frames, addr + sizeof head, out, e))
		return -1;
	buf_le32(out, (uint32_t)list->n);
	for (x = list->v; x < list->v + list->n; x++)
		if (put_distance(x->pc, addr, out, e) || put_distance(x->at, addr, out, e))
			return -1;
	return 0;
}

int index_make(const struct eh_frames *old, const struct eh_frames *added, uint64_t addr,
    struct buf *out, struct err *e)
{
	struct entries list = {0};
	int rc = gather(*old, &list, e) || gather(*added, &list, e) ? -1 : 0;

	vec_sort(&list, by_address);
	if (!rc)
		rc = put(&list, old->addr, addr, out, e);
	vec_free(&list);
	return rc;
}
