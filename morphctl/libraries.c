#include "morphctl/libraries.h"

#include <string.h>

/* Of names in libraries that may change; "$" before one is none of it. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static void keep_words(struct elf_names *names, const char *p, size_t n)
{
	const char *end = p + n, *word;

	while (p < end) {
		for (word = p; p < end && is_letter(*p); p++)
			continue;
		if (p > word)
			htab_put(&names->kept, word, (size_t)(p - word), NULL);
		else
			p++;
	}
}

static void keep(struct elf_names *names, const char *name)
{
	keep_words(names, name, strlen(name));
}

/* What linkers define or look for by themselves. */
static void keep_linkers(struct elf_names *names)
{
	static const char own[] =
	    "_DYNAMIC _GLOBAL_OFFSET_TABLE_ _PROCEDURE_LINKAGE_TABLE_ _TLS_MODULE_BASE_ "
	    "__bss_start "
	    "__data_start __dso_handle __ehdr_start __executable_start __fini_array_end "
	    "__fini_array_start __gmon_start__ __init_array_end __init_array_start "
	    "__preinit_array_end __preinit_array_start __rela_iplt_end __rela_iplt_start "
	    "__tls_get_addr _edata _end _etext _fini _init _start data_start edata end etext main";

	keep(names, own);
}

static int keep_symbol(const struct elf_symbol *s, void *arg)
{
	keep(arg, s->name);
	return 0;
}

static int keep_input(struct elf_names *names, struct artifact *a, const struct art_input *in,
    struct buf *b, struct err *e)
{
	struct elf *f;
	int r = 0;

	b->n = 0;
	if ((in->kind != ART_OBJECT && in->kind != ART_FILE) || in->size == 0)
		return 0;
	if (artifact_content(a, in->id, b, e))
		return -1;
	if (in->kind == ART_FILE) {
		keep_words(names, b->p, b->n);
		return 0;
	}
	f = elf_mem_open(b->p, b->n, in->path, e);
	if (!f || elf_file_symbols(f, false, keep_symbol, names) < 0)
		r = f ? err_set(e, "%s: section .symtab is damaged", in->path) : -1;
	elf_file_close(f);
	return r;
}

void libraries_keep_text(struct elf_names *names, const struct buf *text)
{
	keep_words(names, text->p, text->n);
}

int libraries_keep_link(struct elf_names *names, struct artifact *a, struct err *e)
{
	const struct art_input *in;
	const char *const *arg;
	size_t n = artifact_inputs(a, &in), args = artifact_recipe(a, &arg), i;
	struct buf b = {0};
	int r = 0;

	keep_linkers(names);
	for (i = 0; i < args; i++)
		keep(names, arg[i]);
	for (i = 0; i < n && !r; i++)
		r = keep_input(names, a, &in[i], &b, e);
	buf_free(&b);
	return r;
}
