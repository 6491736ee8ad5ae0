#include "monitor-client/kernel/cmdline.h"
#include "common/le.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { KIND = 10, NAME = 24 }; /* bytes of a kind of operands, of a name that count */

struct shape {
	char *text; /* CMDLINE_TEXT */
	size_t n;
	char kind[KIND]; /* of the run of operands at hand; "" = none */
	unsigned count;
	bool operands; /* "--" was there: no options any more */
};

static void add(struct shape *s, const char *p, size_t n)
{
	if (n > CMDLINE_TEXT - s->n)
		n = CMDLINE_TEXT - s->n;
	memcpy(s->text + s->n, p, n);
	s->n += n;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void end_operands(struct shape *s)
{
	char line[KIND + 16];
	unsigned count = 1;

	if (!s->kind[0])
		return;
	while (count < s->count)
		count *= 2;
	add(s, line, (size_t)snprintf(line, sizeof line, "%s %u\n", s->kind, count));
	s->kind[0] = '\0';
	s->count = 0;
}

static void add_name(struct shape *s, const char *path)
{
	const char *c = base_name(path);
	size_t n;

	for (n = 0; *c && n < NAME; n++) {
		add(s, is_digit(*c) ? "0" : c, 1);
		for (c++; is_digit(c[-1]) && is_digit(*c);)
			c++;
	}
	add(s, "\n", 1);
}

/* "0" of numbers, ".c" of file names, "-", else "x". */
static void kind_of(const char *arg, char kind[KIND])
{
	const char *dot = strrchr(base_name(arg), '.'), *c;
	bool letter = false;

	snprintf(kind, KIND, "%s", !strcmp(arg, "-") ? "-" : "x");
	if (*arg && !arg[strspn(arg, "0123456789.")]) {
		snprintf(kind, KIND, "0");
		return;
	}
	for (c = dot ? dot + 1 : ""; is_letter(*c) || is_digit(*c); c++)
		letter |= is_letter(*c);
	if (letter && !*c && c - dot < KIND)
		snprintf(kind, KIND, "%s", dot);
}

static void add_operand(struct shape *s, const char *arg)
{
	char kind[KIND];

	kind_of(arg, kind);
	if (strcmp(kind, s->kind)) {
		end_operands(s);
		memcpy(s->kind, kind, KIND);
	}
	s->count++;
}

static void add_argument(struct shape *s, const char *arg)
{
	if (s->operands || arg[0] != '-' || !arg[1]) {
		add_operand(s, arg);
		return;
	}
	end_operands(s);
	s->operands = !strcmp(arg, "--");
	add(s, arg, arg[1] == '-' ? strcspn(arg, "=") : 2);
	add(s, "\n", 1);
}

/* NULL: it does not lie, whole, in the n bytes. */
static const char *argument(const uint8_t *stack, size_t n, uint64_t sp, uint64_t i)
{
	uint64_t at = get_le64(stack + 8 * (1 + i)) - sp;

	return at < n && memchr(stack + at, 0, n - at) ? (const char *)stack + at : NULL;
}

size_t cmdline_text(const uint8_t *stack, size_t n, uint64_t sp, char out[CMDLINE_TEXT])
{
	struct shape s = {.text = out};
	uint64_t argc = n < 8 ? 0 : get_le64(stack), i;
	const char *arg;

	if (!argc || argc >= n / 8)
		return 0;
	for (i = 0; i < argc && i < CMDLINE_ARGS; i++) {
		if (!(arg = argument(stack, n, sp, i)))
			return 0;
		if (i)
			add_argument(&s, arg);
		else
			add_name(&s, arg);
	}
	end_operands(&s);
	if (i < argc)
		add(&s, "+\n", 2);
	return s.n;
}

uint64_t cmdline_shape(const uint8_t *stack, size_t n, uint64_t sp)
{
	static unsigned char key[crypto_shorthash_KEYBYTES];
	static bool drawn;
	unsigned char out[crypto_shorthash_BYTES];
	char text[CMDLINE_TEXT];
	size_t length;

	if (!drawn && getrandom(key, sizeof key, 0) != sizeof key)
		return 0;
	drawn = true;
	length = cmdline_text(stack, n, sp, text);
	crypto_shorthash(out, (const unsigned char *)text, length, key);
	explicit_bzero(text, sizeof text);
	return length ? get_le64(out) | 2 : 0; /* never CMDLINE_CUT */
}
