#include "common/elf/elf.h"
#include "common/le.h"

#include <elf.h>
#include <string.h>

/*
 * Names are given by number: number N is called RUN - N % RUN times "x", "y", and N / RUN. One
 * string holds RUN of them, each a tail of the one before, so that names and their places compress
 * to nothing.
 */
enum { RUN = 64 };

struct renaming {
	struct elf_names *names;
	struct elf_section symbols, strings;
	struct elf_section dynamic, needs, defines; /* .size 0 = none */
	const uint8_t *p;
	size_t n;
	char *live;       /* of each byte of the strings: 1 = something else needs it */
	struct buf given; /* strings to be put after them */
	struct htab run;  /* N / RUN -> where it begins in given */
	struct htab data; /* addresses of data whose name is kept */
	uint16_t code;    /* the section of a function, 0 = none is kept */
};

static uint64_t section_header(const struct renaming *r, uint32_t index)
{
	return get_le64(r->p + offsetof(Elf64_Ehdr, e_shoff)) +
	       (uint64_t)index * sizeof(Elf64_Shdr);
}

static int find(struct elf *f, const char *name, struct elf_section *s, struct err *e)
{
	int r = elf_file_section(f, name, s, e);

	if (r <= 0 || !s->data)
		s->size = 0;
	return r < 0 ? -1 : 0;
}

static void mark(struct renaming *r, uint64_t at)
{
	const char *s = (const char *)r->strings.data;

	for (; at < r->strings.size; at++) {
		r->live[at] = 1;
		if (!s[at])
			return;
	}
}

static void mark_dynamic(struct renaming *r)
{
	const uint8_t *p = r->dynamic.data;
	uint64_t at;

	for (at = 0; at + sizeof(Elf64_Dyn) <= r->dynamic.size; at += sizeof(Elf64_Dyn))
		switch (get_le64(p + at)) {
		case DT_NULL:
			return;
		case DT_NEEDED:
		case DT_SONAME:
		case DT_RPATH:
		case DT_RUNPATH:
		case DT_AUXILIARY:
		case DT_FILTER:
			mark(r, get_le64(p + at + 8));
		}
}

/* Lists of lists: entries of `size` bytes with a string at `name` (outer: -1 = none), the offset of
 * their own list at `list`, and that of the next at `next`; members of the list likewise. */
struct chain {
	int size, name, list, next, member_name, member_next, member_size;
};

static void mark_chain(struct renaming *r, const struct elf_section *s, const struct chain *c)
{
	uint64_t at = 0, m, step,
		 left = s->size; /* an entry takes room: no more of them than bytes */

	while (s->size >= (uint64_t)c->size && at <= s->size - (uint64_t)c->size && left) {
		if (c->name >= 0)
			mark(r, get_le32(s->data + at + c->name));
		m = at + get_le32(s->data + at + c->list);
		while (m <= s->size - (uint64_t)c->member_size && left--) {
			mark(r, get_le32(s->data + m + c->member_name));
			step = get_le32(s->data + m + c->member_next);
			if (!step)
				break;
			m += step;
		}
		step = get_le32(s->data + at + c->next);
		if (!step)
			break;
		at += step;
	}
}

static void mark_others(struct renaming *r)
{
	static const struct chain needs = {sizeof(Elf64_Verneed), offsetof(Elf64_Verneed, vn_file),
	    offsetof(Elf64_Verneed, vn_aux), offsetof(Elf64_Verneed, vn_next),
	    offsetof(Elf64_Vernaux, vna_name), offsetof(Elf64_Vernaux, vna_next),
	    sizeof(Elf64_Vernaux)};
	static const struct chain defines = {sizeof(Elf64_Verdef), -1,
	    offsetof(Elf64_Verdef, vd_aux), offsetof(Elf64_Verdef, vd_next),
	    offsetof(Elf64_Verdaux, vda_name), offsetof(Elf64_Verdaux, vda_next),
	    sizeof(Elf64_Verdaux)};

	mark(r, 0);
	mark_dynamic(r);
	mark_chain(r, &r->needs, &needs);
	mark_chain(r, &r->defines, &defines);
}

static char *name_of(uint64_t number)
{
	char run[RUN + 1];
	size_t n = RUN - number % RUN;

	memset(run, 'x', n);
	run[n] = '\0';
	return xasprintf("%sy%llu", run, (unsigned long long)(number / RUN));
}

static uint64_t number_of(struct elf_names *names, const char *name)
{
	bool fresh, taken;
	uint64_t *number = htab_put_str(&names->given, name, &fresh);
	char *s;

	if (!fresh)
		return *number;
	do {
		s = name_of(names->n++);
		taken = htab_get_str(&names->kept, s) != NULL;
		free(s);
	} while (taken);
	return *number = names->n - 1;
}

/* Where the name with this number is in the strings that will be. */
static uint64_t place(struct renaming *r, uint64_t number)
{
	uint64_t run = number / RUN, *at;
	bool fresh;
	char *s;

	at = htab_put(&r->run, &run, sizeof run, &fresh);
	if (fresh) {
		*at = r->given.n;
		s = name_of(run * RUN);
		buf_add(&r->given, s, strlen(s) + 1);
		free(s);
	}
	return r->strings.size + *at + number % RUN;
}

/* Names of other letters may be written in ways that nobody looks for. */
static bool plain(const char *s)
{
	return *s &&
	       !s[strspn(s, "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static const char *string_at(const struct renaming *r, uint64_t at)
{
	const char *s = (const char *)r->strings.data;

	return at < r->strings.size && memchr(s + at, '\0', r->strings.size - at) ? s + at : NULL;
}

static bool is_kept(const struct renaming *r, const Elf64_Sym *s)
{
	const char *name = string_at(r, s->st_name);

	/* Versions are symbols, too, under the same name. */
	return !name || s->st_shndx == SHN_ABS || !plain(name) ||
	       htab_get_str(&r->names->kept, name);
}

static bool is_data(const Elf64_Sym *s)
{
	return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) != STT_FUNC &&
	       ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC;
}

static void keep_symbol(struct renaming *r, const Elf64_Sym *s)
{
	mark(r, s->st_name);
	if (is_data(s))
		htab_put(&r->data, &s->st_value, sizeof s->st_value, NULL);
	else if (s->st_shndx != SHN_UNDEF)
		r->code = s->st_shndx;
}

static void rename_symbol(struct renaming *r, uint8_t *symbol)
{
	Elf64_Sym s;

	memcpy(&s, symbol, sizeof s);
	s.st_name = (uint32_t)place(r, number_of(r->names, string_at(r, s.st_name)));
	/* All look like one function; but other names of data that is kept, and what is called by
	 * its place in each thread, stay what they are. */
	if (s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) != STT_TLS &&
	    !(is_data(&s) && htab_get(&r->data, &s.st_value, sizeof s.st_value))) {
		s.st_value = s.st_size = 0;
		s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		s.st_other = STV_DEFAULT;
		if (r->code)
			s.st_shndx = r->code;
	}
	memcpy(symbol, &s, sizeof s);
}

/* Those that are kept first: the others depend on them. */
static void each_symbol(struct renaming *r, uint8_t *symbol, bool kept)
{
	uint64_t n = r->symbols.size / sizeof(Elf64_Sym), i;
	Elf64_Sym s;

	for (i = 1; i < n; i++) {
		memcpy(&s, symbol + i * sizeof s, sizeof s);
		if (is_kept(r, &s) != kept)
			continue;
		if (kept)
			keep_symbol(r, &s);
		else
			rename_symbol(r, symbol + i * sizeof s);
	}
}

/* They move to the end, where there is room for more. */
static void put_strings(struct renaming *r, struct buf *out, size_t begin)
{
	uint64_t size = r->strings.size + r->given.n, i;
	char *to = buf_grow(out, size), *from = out->p + begin + r->strings.offset;
	uint8_t *header = (uint8_t *)out->p + begin + section_header(r, r->strings.index);

	for (i = 0; i < r->strings.size; i++)
		to[i] = r->live[i] ? from[i] : 0;
	memcpy(to + i, r->given.p, r->given.n);
	memset(from, 0, r->strings.size);
	put_le64(header + offsetof(Elf64_Shdr, sh_offset), r->n);
	put_le64(header + offsetof(Elf64_Shdr, sh_size), size);
}

static void rename_all(struct renaming *r, struct buf *out)
{
	size_t begin = out->n;
	uint8_t *symbol = (uint8_t *)buf_grow(out, r->n) + r->symbols.offset;

	memcpy(out->p + begin, r->p, r->n);
	r->live = xcalloc(r->strings.size, 1);
	mark_others(r);
	each_symbol(r, symbol, true);
	each_symbol(r, symbol, false);
	if (r->given.n)
		put_strings(r, out, begin);
	free(r->live);
}

/* Dynamic symbols, and their strings for them alone. */
static bool usual(const struct renaming *r)
{
	const uint8_t *p = r->p;

	return r->symbols.size && r->strings.size && r->symbols.type == SHT_DYNSYM &&
	       r->strings.index != get_le16(p + offsetof(Elf64_Ehdr, e_shstrndx)) &&
	       get_le32(p + section_header(r, r->symbols.index) + offsetof(Elf64_Shdr, sh_link)) ==
		   r->strings.index;
}

int elf_rename(struct elf_names *names, const void *p, size_t n, struct buf *out, struct err *e)
{
	struct renaming r = {.names = names, .p = p, .n = n};
	struct elf *f = elf_mem_open(p, n, "shared library", e);

	if (!f)
		return -1;
	if (find(f, ".dynsym", &r.symbols, e) || find(f, ".dynstr", &r.strings, e) ||
	    find(f, ".dynamic", &r.dynamic, e) || find(f, ".gnu.version_r", &r.needs, e) ||
	    find(f, ".gnu.version_d", &r.defines, e)) {
		elf_file_close(f);
		return -1;
	}
	if (usual(&r))
		rename_all(&r, out);
	else
		buf_add(out, p, n);
	elf_file_close(f);
	buf_free(&r.given);
	htab_free(&r.run);
	htab_free(&r.data);
	return 0;
}

void elf_names_free(struct elf_names *names)
{
	htab_free(&names->kept);
	htab_free(&names->given);
}
