#include "editor-driver/proof/runpath.h"
#include "common/elf/elf.h"
#include "common/le.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum { ENTRY = sizeof(Elf64_Dyn) };

/* Both sections, where both are there and within the file. */
static int find_sections(struct elf *f, struct runpath *r, struct err *e)
{
	struct elf_section dynamic, strings;
	int found = elf_file_section(f, ".dynamic", &dynamic, e);

	if (found > 0)
		found = elf_file_section(f, ".dynstr", &strings, e);
	if (found <= 0 || !dynamic.data || !strings.data)
		return found < 0 ? -1 : 0;
	*r = (struct runpath){.dynamic = dynamic.offset,
	    .dynamic_n = dynamic.size - dynamic.size % ENTRY,
	    .strings = strings.offset,
	    .strings_n = strings.size};
	return 0;
}

static bool is_run_path(uint64_t tag)
{
	return tag == DT_RPATH || tag == DT_RUNPATH;
}

int runpath_find(const struct buf *linked, struct runpath *r, struct err *e)
{
	struct elf *f = elf_mem_open(linked->p, linked->n, "the repeated link", e);
	const char *entry, *s;
	uint64_t i;
	int rc;

	*r = (struct runpath){0};
	rc = f ? find_sections(f, r, e) : -1;
	elf_file_close(f);
	for (i = 0; !rc && i < r->dynamic_n; i += ENTRY) {
		entry = linked->p + r->dynamic + i;
		if (get_le64(entry) == DT_NULL)
			break;
		if (!is_run_path(get_le64(entry)) || get_le64(entry + 8) >= r->strings_n)
			continue;
		r->entry = i;
		r->at = get_le64(entry + 8);
		s = linked->p + r->strings + r->at;
		r->n = strnlen(s, r->strings_n - r->at);
		break;
	}
	return rc;
}

static bool within(const struct buf *file, const struct runpath *r)
{
	return r->n && r->dynamic + r->dynamic_n <= file->n && r->strings + r->strings_n <= file->n;
}

/* Is its entry still where the linker put it? */
static bool is_there(const struct buf *file, const struct runpath *r)
{
	const char *entry = file->p + r->dynamic + r->entry;

	return is_run_path(get_le64(entry)) && get_le64(entry + 8) == r->at;
}

static void close_gap(struct buf *file, const struct runpath *r)
{
	char *entry = file->p + r->dynamic + r->entry;
	size_t after = r->dynamic_n - r->entry - ENTRY;

	memmove(entry, entry + ENTRY, after);
	memset(entry + after, 0, ENTRY);
}

void runpath_remove(struct buf *file, const struct runpath *r)
{
	char *entry;
	uint64_t i;

	if (!within(file, r))
		return;
	if (is_there(file, r))
		close_gap(file, r);
	/* Meson leaves what it took out behind the end of the list. */
	for (i = 0; i < r->dynamic_n; i += ENTRY) {
		entry = file->p + r->dynamic + i;
		if (get_le64(entry) == DT_NULL && get_le64(entry + 8) == r->at)
			memset(entry, 0, ENTRY);
	}
	memset(file->p + r->strings + r->at, 0, r->n);
}

int runpath_carry(const struct buf *file, const struct runpath *r, struct buf *made,
    const struct runpath *m, struct err *e)
{
	const char *from = file->p + r->strings + r->at;
	char *to = made->p + m->strings + m->at;
	bool there;

	if (!within(file, r))
		return 0;
	there = is_there(file, r);
	if (there && within(made, m) && m->n == r->n && !memcmp(from, to, r->n))
		return 0;
	if (!within(made, m) || m->strings_n != r->strings_n || m->at != r->at || m->n != r->n ||
	    !is_there(made, m))
		return err_set(e, "its run path was changed after its link, and the new build has "
				  "its strings elsewhere");
	memcpy(to, from, r->n);
	if (memcmp(file->p + r->strings, made->p + m->strings, r->strings_n) != 0)
		return err_set(e, "its run path was changed after its link, and the new build has "
				  "other strings");
	if (!there)
		close_gap(made, m);
	return 1;
}
