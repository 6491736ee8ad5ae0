#include "lifter/image.h"
#include "common/le.h"
#include "common/pack.h"
#include "common/sort.h"
#include "lifter/decode.h"

#include <elf.h>
#include <string.h>

/* ---- addresses ---- */

static const struct image_segment *segment_at(const struct image *m, uint64_t addr)
{
	size_t i;

	for (i = 0; i < m->segment.n; i++)
		if (addr - m->segment.v[i].vaddr < m->segment.v[i].memsz)
			return &m->segment.v[i];
	return NULL;
}

static const uint8_t *in_segment(
    const struct image *m, const struct image_segment *s, uint64_t addr, uint64_t n)
{
	uint64_t at = s ? addr - s->vaddr : 0;

	return s && at <= s->filesz && n <= s->filesz - at ? m->p + s->offset + at : NULL;
}

const uint8_t *image_at(const struct image *m, uint64_t addr, uint64_t n)
{
	return in_segment(m, segment_at(m, addr), addr, n);
}

const uint8_t *image_constant(const struct image *m, uint64_t addr, uint64_t n)
{
	const struct image_segment *s = segment_at(m, addr);

	return s && !(s->flags & PF_W) ? in_segment(m, s, addr, n) : NULL;
}

bool image_executable(const struct image *m, uint64_t addr)
{
	const struct image_segment *s = segment_at(m, addr);

	return s && s->flags & PF_X;
}

bool image_code(const struct image *m, uint64_t addr)
{
	size_t i;

	for (i = 0; i < m->code.n; i++)
		if (addr - m->code.v[i].addr < m->code.v[i].size)
			return true;
	return false;
}

/* ---- tables ---- */

/* The element of a VEC, ascending by addr, that has an address; NULL: none. */
#define FIND(V, at) \
	({ \
		size_t k_ = partition_point(0, (V)->n, i, (V)->v[i].addr < (at)); \
		k_ < (V)->n && (V)->v[k_].addr == (at) ? &(V)->v[k_] : NULL; \
	})

const struct image_slot *image_slot(const struct image *m, uint64_t addr)
{
	return FIND(&m->slot, addr);
}

const struct image_stub *image_stub(const struct image *m, uint64_t addr)
{
	return FIND(&m->stub, addr);
}

const struct image_name *image_name(const struct image *m, uint64_t addr)
{
	return FIND(&m->name, addr);
}

/* ---- headers ---- */

static int read_segments(struct image *m, struct err *e)
{
	const Elf64_Ehdr *h = (const void *)m->p;
	struct image_segment s;
	Elf64_Phdr ph;
	size_t i;

	if (m->n < sizeof *h || h->e_phentsize != sizeof ph || h->e_phoff > m->n ||
	    h->e_phnum > (m->n - h->e_phoff) / sizeof ph)
		return err_set(e, "program headers are not in the file");
	for (i = 0; i < h->e_phnum; i++) {
		memcpy(&ph, m->p + h->e_phoff + i * sizeof ph, sizeof ph);
		if (ph.p_type != PT_LOAD)
			continue;
		s = (struct image_segment){
		    ph.p_vaddr, ph.p_filesz, ph.p_memsz, ph.p_offset, ph.p_flags};
		if (s.offset > m->n || s.filesz > m->n - s.offset || s.filesz > s.memsz ||
		    s.vaddr + s.memsz < s.vaddr ||
		    (m->segment.n && m->segment.v[m->segment.n - 1].vaddr +
					     m->segment.v[m->segment.n - 1].memsz >
					 s.vaddr))
			return err_set(e, "segment %zu is not in the file, or overlaps", i);
		if (s.flags & PF_X && s.flags & PF_W)
			return err_set(e, "its code can be written to while it runs");
		vec_push(&m->segment, s);
	}
	return 0;
}

static bool is_plt(const char *name)
{
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
}

static int keep_section(const struct elf_section *s, void *arg)
{
	struct image *m = arg;

	if (s->type == SHT_RELA && !(s->flags & SHF_ALLOC) && s->data)
		vec_push(&m->kept, *s);
	if (!(s->flags & SHF_ALLOC))
		return 0;
	if (!strcmp(s->name, ".eh_frame") && s->data)
		m->frames = *s;
	else if (s->type == SHT_DYNSYM)
		m->symbols = *s;
	else if (s->type == SHT_RELR)
		m->odd_pointers = true;
	else if (s->type == SHT_RELA && s->data)
		vec_push(&m->relocs, *s);
	else if (s->flags & SHF_EXECINSTR && s->data && is_plt(s->name))
		vec_push(&m->plt, *s);
	else if (s->flags & SHF_EXECINSTR && s->data && strcmp(s->name, ".init") &&
		 strcmp(s->name, ".fini") && image_executable(m, s->addr))
		vec_push(&m->code, *s);
	return 0;
}

/* Flags of the dynamic section. */
static void read_dynamic(struct image *m)
{
	struct elf_section s;
	uint64_t i, tag, v;

	if (elf_file_section(m->f, ".dynamic", &s, NULL) <= 0 || !s.data)
		return;
	for (i = 0; i + 16 <= s.size; i += 16) {
		tag = get_le64(s.data + i);
		v = get_le64(s.data + i + 8);
		m->binds_now |= tag == DT_BIND_NOW || (tag == DT_FLAGS && v & DF_BIND_NOW) ||
				(tag == DT_FLAGS_1 && v & DF_1_NOW);
		m->relocated_text |= tag == DT_TEXTREL || (tag == DT_FLAGS && v & DF_TEXTREL);
	}
}

/* ---- symbols ---- */

bool image_plain(const char *s)
{
	size_t n = strlen(s), i;

	if (!n || n > 1000 || (*s >= '0' && *s <= '9') || *s == '.' || *s == '$')
		return false;
	for (i = 0; i < n; i++)
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= 'A' && s[i] <= 'Z') &&
		    !(s[i] >= '0' && s[i] <= '9') && s[i] != '_' && s[i] != '.')
			return false;
	return !strstr(s, ".cold");
}

static int add_symbol(struct image *m, const struct elf_symbol *s)
{
	if ((s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && s->shndx != SHN_UNDEF &&
	    image_plain(s->name))
		vec_push(&m->name, (struct image_name){s->value, s->size, s->name,
				       s->bind == STB_GLOBAL || s->bind == STB_WEAK});
	return 0;
}

static int each_static(const struct elf_symbol *s, void *arg)
{
	return add_symbol(arg, s);
}

static int each_dynamic(const struct elf_symbol *s, void *arg)
{
	struct image *m = arg;

	vec_push(&m->symbol, s->name);
	return add_symbol(m, s);
}

static int by_name(const void *a, const void *b)
{
	const struct image_name *x = a, *y = b;

	return ORDER(x->addr, y->addr) ?: ORDER(y->global, x->global) ?: strcmp(x->name, y->name);
}

static int by_slot(const void *a, const void *b)
{
	const struct image_slot *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

static int by_stub(const void *a, const void *b)
{
	const struct image_stub *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

static void read_slots(struct image *m, const struct elf_section *s)
{
	uint64_t i, sym;
	const uint8_t *r;

	for (i = 0; i + sizeof(Elf64_Rela) <= s->size; i += sizeof(Elf64_Rela)) {
		r = s->data + i;
		sym = ELF64_R_SYM(get_le64(r + 8));
		vec_push(&m->slot, (struct image_slot){get_le64(r), (int64_t)get_le64(r + 16),
				       (uint32_t)ELF64_R_TYPE(get_le64(r + 8)),
				       sym && sym < m->symbol.n ? m->symbol.v[sym] : ""});
	}
}

/* ---- stubs ---- */

/* A stub begins where control may come to: after an unconditional jump, or at endbr64. */
static void read_stubs(struct image *m, const struct elf_section *s)
{
	const struct image_slot *slot;
	uint64_t at, begin = s->addr;
	struct code i;
	bool fresh = true;

	for (at = s->addr; at < s->addr + s->size; at += i.len) {
		if (!code_decode(s->data + (at - s->addr), s->addr + s->size - at, &i)) {
			i.len = 1;
			fresh = true;
			continue;
		}
		if (i.kind == CODE_NOP) {
			fresh = true;
			continue;
		}
		if (fresh || i.endbr)
			begin = at;
		fresh = i.kind == CODE_JMP;
		if (i.kind != CODE_JMP_IND || !i.field)
			continue;
		fresh = true;
		slot = image_slot(m, code_target(&i, at));
		if (slot && *slot->name &&
		    (slot->type == R_X86_64_JUMP_SLOT || slot->type == R_X86_64_GLOB_DAT))
			vec_push(&m->stub, (struct image_stub){begin, slot->addr, slot->name,
					       m->binds_now || slot->type == R_X86_64_GLOB_DAT});
	}
}

/* ---- all of it ---- */

static int check(struct image *m, struct err *e)
{
	struct build_id id = elf_file_build_id(m->f), origin = elf_file_origin(m->f);

	m->kind = elf_file_kind(m->f);
	if (m->kind != ELF_EXEC && m->kind != ELF_PIE && m->kind != ELF_SHARED)
		return err_set(e, "neither an executable nor a shared library");
	if (!id.n || !elf_file_has_build_id(m->f))
		return err_set(e, "has no build-id, by which samples are known");
	if (origin.n)
		return err_set(e, "is a build that Morph laid out: lift its original");
	return 0;
}

/* What is damaged gives no names. */
static void open_names(struct image *m, const struct lift_file *debug)
{
	enum { MOST = 64 << 20 };
	struct build_id own = elf_file_build_id(m->f), id;
	struct elf_section s;

	if (elf_file_section(m->f, ".gnu_debugdata", &s, NULL) > 0 && s.data &&
	    !unpack_xz(s.data, s.size, MOST, &m->debugdata))
		m->named[0] = elf_mem_open(m->debugdata.p, m->debugdata.n, "debugdata", NULL);
	if (debug)
		m->named[1] = elf_mem_open(debug->p, debug->n, debug->name, NULL);
	id = m->named[1] ? elf_file_build_id(m->named[1]) : own;
	if (!build_id_equal(&id, &own)) {
		elf_file_close(m->named[1]);
		m->named[1] = NULL;
	}
}

static int read_tables(struct image *m, struct err *e)
{
	size_t i;

	vec_push(&m->symbol, ""); /* number 0 is none */
	if (elf_file_sections(m->f, keep_section, m) < 0 ||
	    elf_file_symbols(m->f, true, each_dynamic, m) < 0 ||
	    elf_file_symbols(m->f, false, each_static, m) < 0)
		return err_set(e, "damaged sections or symbols");
	for (i = 0; i < 2; i++)
		if (m->named[i])
			elf_file_symbols(m->named[i], false, each_static, m);
	if (!m->frames.data || !m->frames.size)
		return err_set(e, "has no unwind information (.eh_frame), which says where "
				  "functions are");
	if (!m->code.n)
		return err_set(e, "has no sections of code");
	read_dynamic(m);
	if (m->relocated_text)
		return err_set(e, "its code is relocated when it starts (text relocations)");
	vec_sort(&m->name, by_name);
	for (i = 0; i < m->relocs.n; i++)
		read_slots(m, &m->relocs.v[i]);
	vec_sort(&m->slot, by_slot);
	for (i = 0; i < m->plt.n; i++)
		read_stubs(m, &m->plt.v[i]);
	vec_sort(&m->stub, by_stub);
	return image_read_pointers(m) ? err_set(e, "damaged sections or symbols") : 0;
}

int image_open(
    struct image *m, const struct lift_file *module, const struct lift_file *debug, struct err *e)
{
	*m = (struct image){.p = module->p, .n = module->n};
	m->f = elf_mem_open(module->p, module->n, module->name, e);
	if (!m->f)
		return -1;
	open_names(m, debug);
	return check(m, e) || read_segments(m, e) || read_tables(m, e)
		   ? err_wrap(e, "%s", module->name)
		   : 0;
}

void image_free(struct image *m)
{
	vec_free(&m->segment);
	vec_free(&m->code);
	vec_free(&m->relocs);
	vec_free(&m->kept);
	vec_free(&m->plt);
	vec_free(&m->symbol);
	vec_free(&m->slot);
	vec_free(&m->word);
	vec_free(&m->shown);
	vec_free(&m->stub);
	vec_free(&m->name);
	vec_free(&m->pointer);
	elf_file_close(m->named[0]);
	elf_file_close(m->named[1]);
	elf_file_close(m->f);
	buf_free(&m->debugdata);
	arena_free(&m->mem);
}
