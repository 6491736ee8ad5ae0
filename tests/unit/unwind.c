/* Stacks of this program, copied where it stands. */
#include "morphctl/report/unwind/unwind.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY = 4096, MAPPINGS = 256 };

struct mapping {
	uint64_t start, end, offset;
	uint32_t image;
};

static struct mapping mapping[MAPPINGS];
static size_t nmapping;
static uint64_t stack_end;           /* environment and arguments are small at times */
static struct unwind_image image[2]; /* this program; another file */
static struct unwind *u;
/* What was copied, and where it is known to have been called from. */
static struct unwind_stack at;
static uint8_t copy[COPY];
static uint64_t called_from[2];

static bool find(void *arg, uint64_t addr, uint32_t *of, uint64_t *offset)
{
	size_t i;

	for (i = 0; i < nmapping; i++) {
		if (addr < mapping[i].start || addr >= mapping[i].end)
			continue;
		*of = mapping[i].image;
		*offset = addr - mapping[i].start + mapping[i].offset;
		return true;
	}
	return false;
}

static struct unwind_image open_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	ck_assert(!fstat(fd, &st));
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(p != MAP_FAILED);
	close(fd);
	return (struct unwind_image){.p = p, .n = (size_t)st.st_size};
}

/* Only this program's files are known, not the libraries that called its main(). */
static void read_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	struct mapping m = {0};
	char x;

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx %*c%*c%c%*c %lx", &m.start, &m.end, &x, &m.offset) == 4 &&
		    x == 'x' && strstr(line, self) && nmapping < MAPPINGS)
			mapping[nmapping++] = m;
		if (strstr(line, "[stack]"))
			sscanf(line, "%*x-%lx", &stack_end);
	}
	fclose(f);
	ck_assert_uint_gt(nmapping, 0);
}

static void setup(void)
{
	read_mappings();
	image[0] = open_image("/proc/self/exe");
	image[1] = open_image("/bin/true");
	u = unwind_open(image, 2);
}

static void teardown(void)
{
	unwind_close(u);
}

/* Past the frames of this thread, too, which nobody else may read. */
__attribute__((noinline, no_sanitize("address"))) static void copy_stack(uint64_t from)
{
	size_t n = stack_end - from < COPY ? stack_end - from : COPY, i;

	for (i = 0; i < n; i++)
		copy[i] = ((volatile const uint8_t *)from)[i];
	at.p = copy;
	at.n = n;
}

#define REGISTER(number, name) \
	__asm__ volatile("mov %%" name ", %0" : "=m"(at.reg[number])); \
	at.known |= 1u << (number)

__attribute__((noinline, used)) static void inner(void)
{
	at = (struct unwind_stack){.space = 1, .find = find};
	REGISTER(UNWIND_RBX, "rbx");
	REGISTER(UNWIND_RBP, "rbp");
	REGISTER(UNWIND_RSP, "rsp");
	REGISTER(12, "r12");
	REGISTER(13, "r13");
	REGISTER(14, "r14");
	REGISTER(15, "r15");
	__asm__ volatile("lea 0(%%rip), %%rax; mov %%rax, %0" : "=m"(at.reg[UNWIND_RIP])::"rax");
	at.known |= 1u << UNWIND_RIP;
	copy_stack(at.reg[UNWIND_RSP]);
	called_from[0] = (uint64_t)__builtin_return_address(0) - 1;
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	called_from[1] = (uint64_t)__builtin_return_address(0) - 1;
}

static void stands_as_it_should(void)
{
	const uint64_t *addr;

	ck_assert_uint_ge(unwind_chain(u, &at, &addr), 3);
	ck_assert_uint_eq(addr[0], at.reg[UNWIND_RIP]);
	ck_assert_uint_eq(addr[1], called_from[0]);
	ck_assert_uint_eq(addr[2], called_from[1]);
}

START_TEST(this_program)
{
	outer();
	stands_as_it_should();
	stands_as_it_should();
}
END_TEST

/* inner() leaves rbx as it is, by which the frame of its caller is found. */
void through_rbx(void);
__asm__(".text\n"
	"through_rbx:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset rbx, -16\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register rbx\n"
	"	and $-64, %rsp\n"
	"	sub $128, %rsp\n"
	"	call inner\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register rsp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore rbx\n"
	"	ret\n"
	"	.cfi_endproc\n");

__attribute__((noinline)) static void outer_of_rbx(void)
{
	through_rbx();
	called_from[1] = (uint64_t)__builtin_return_address(0) - 1;
}

START_TEST(frame_found_by_rbx)
{
	const uint64_t *addr;

	outer_of_rbx();
	ck_assert_uint_ge(unwind_chain(u, &at, &addr), 4);
	ck_assert_uint_eq(addr[0], at.reg[UNWIND_RIP]);
	ck_assert_uint_eq(addr[1], called_from[0]);
	ck_assert_uint_eq(addr[3], called_from[1]);
	at.known &= ~(1u << UNWIND_RBX);
	ck_assert_uint_eq(unwind_chain(u, &at, &addr), 2);
}
END_TEST

/* As many processes as nothing is kept of for all of them. */
START_TEST(many_processes)
{
	outer();
	for (at.space = 0; at.space < 300; at.space++)
		stands_as_it_should();
	at.space = 7;
	stands_as_it_should();
}
END_TEST

/* Without frame pointers: one caller less and less is known, never another one. */
START_TEST(less_and_less_of_the_stack)
{
	const uint64_t *addr;
	size_t before = UNWIND_MAX, n = 0;

	outer();
	for (at.n = COPY; at.n; at.n -= 8) {
		n = unwind_chain(u, &at, &addr);
		ck_assert_uint_le(n, before);
		ck_assert_uint_ge(n, 1);
		ck_assert(n < 2 || addr[1] == called_from[0]);
		ck_assert(n < 3 || addr[2] == called_from[1]);
		before = n;
	}
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* Neither another build nor rubbish says anything; what is left are frame pointers, if known. */
START_TEST(files_of_no_use)
{
	static const uint8_t rubbish[] = "\177ELF, but no more of it";
	const uint64_t *addr;

	outer();
	at.known &= ~(1u << UNWIND_RBP);
	if (_i == 0)
		image[0].id = (struct build_id){.n = 20, .b = {1}};
	else if (_i == 1)
		image[0] = (struct unwind_image){.p = rubbish, .n = sizeof rubbish};
	else if (_i == 2)
		image[0] = (struct unwind_image){0};
	else
		image[0].n = 5000; /* cut off */
	ck_assert_uint_eq(unwind_chain(u, &at, &addr), 1);
	ck_assert_uint_eq(addr[0], at.reg[UNWIND_RIP]);
}
END_TEST

START_TEST(frame_pointers)
{
	const uint64_t *addr;

	image[0] = (struct unwind_image){0};
	outer();
	at.known &= 1u << UNWIND_RBX | 1u << UNWIND_RBP | 1u << UNWIND_RSP | 1u << UNWIND_RIP;
	ck_assert_uint_ge(unwind_chain(u, &at, &addr), 3);
	ck_assert_uint_eq(addr[1], called_from[0]);
	ck_assert_uint_eq(addr[2], called_from[1]);
}
END_TEST

/* Something else where the program is, and the program again. */
START_TEST(another_file_in_its_place)
{
	struct mapping own = mapping[0], other = {.start = 0, .end = UINT64_MAX, .image = 1};
	const uint64_t *addr;
	size_t i;

	outer();
	for (i = 0; i < 3; i++) {
		mapping[0] = other;
		mapping[0].offset = (own.start & 0xfff) - at.reg[UNWIND_RIP] + 0x2000;
		ck_assert_uint_ge(unwind_chain(u, &at, &addr), 1);
		mapping[0] = own;
		stands_as_it_should();
	}
}
END_TEST

START_TEST(nothing_is_known)
{
	const uint64_t *addr;

	at = (struct unwind_stack){.find = find};
	ck_assert_uint_eq(unwind_chain(u, &at, &addr), 0);
	at.known = 1u << UNWIND_RIP;
	ck_assert_uint_eq(unwind_chain(u, &at, &addr), 1);
	ck_assert_uint_eq(addr[0], 0);
}
END_TEST

UNIT_MAIN("unwind", 30, setup, teardown, this_program, many_processes, less_and_less_of_the_stack,
    UNIT_LOOP(files_of_no_use, 4), frame_pointers, frame_found_by_rbx, another_file_in_its_place,
    nothing_is_known)
