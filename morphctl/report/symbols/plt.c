/*
 * Stubs by which a program calls other modules: ".plt.sec" has one for each entry of ".rela.plt",
 * or else ".plt" after what begins it, 16 bytes each (psABI). No symbol names them.
 */
#include "morphctl/report/symbols/functions.h"

#include <elf.h>
#include <string.h>

enum { STUB = FUNCTIONS_STUB, BEGIN_MAX = 32 };

static Elf_Scn *stubs(Elf *elf, size_t n, uint64_t *at)
{
	Elf_Scn *s = program_section(elf, ".plt.sec");
	GElf_Shdr sh;

	if (!s)
		s = program_section(elf, ".plt");
	if (!s || !gelf_getshdr(s, &sh) || sh.sh_size < n * STUB ||
	    sh.sh_size > n * STUB + BEGIN_MAX)
		return NULL;
	*at = sh.sh_addr + (sh.sh_size - n * STUB);
	return s;
}

/* The name of a dynamic symbol, NULL = it has none. */
static const char *symbol_name(Elf *elf, size_t table, size_t i)
{
	Elf_Scn *s = elf_getscn(elf, table);
	Elf_Data *d = s ? elf_getdata(s, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!d || !gelf_getshdr(s, &sh) || i > INT32_MAX || !gelf_getsym(d, (int)i, &sym))
		return NULL;
	return elf_strptr(elf, sh.sh_link, sym.st_name);
}

void functions_each_stub(Elf *elf, void (*fn)(uint64_t vaddr, char *name, void *arg), void *arg)
{
	Elf_Scn *rela = program_section(elf, ".rela.plt");
	Elf_Data *d = rela ? elf_getdata(rela, NULL) : NULL;
	GElf_Shdr sh;
	size_t n = d ? d->d_size / sizeof(Elf64_Rela) : 0, i;
	GElf_Rela r;
	uint64_t at;
	const char *name;

	if (!n || n > INT32_MAX || !gelf_getshdr(rela, &sh) || !stubs(elf, n, &at))
		return;
	for (i = 0; i < n; i++, at += STUB) {
		name = gelf_getrela(d, (int)i, &r)
			   ? symbol_name(elf, sh.sh_link, GELF_R_SYM(r.r_info))
			   : NULL;
		if (name && *name)
			fn(at, xasprintf("%s@plt", name), arg);
	}
}
