/* common/command/driver: the names of GCC and clang drivers. */
#include "common/command/driver.h"
#include "tests/unit/unit.h"

START_TEST(drivers)
{
	static const char *const name[] = {"gcc", "cc", "c++", "g++-12", "gcc-12.2", "clang-19",
	    "clang++-19", "c99", "c89-gcc", "gfortran", "gfortran-12", "gdc-12", "gccgo", "gnatgcc",
	    "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++-12", "x86_64-pc-linux-gnu-cc",
	    "x86_64-redhat-linux-gcc-12", "x86_64-linux-gnu-c99-gcc"};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		ck_assert_msg(driver_name(name[i]), "%s", name[i]);
}
END_TEST

START_TEST(others)
{
	static const char *const name[] = {"", "-", "-12", "gcc-", "gcc-ar", "gcc-ar-12", "cpp",
	    "cpp-12", "clang-format", "clang-format-19", "clang-cpp", "tcc", "mpicc", "musl-gcc",
	    "aarch64-linux-gnu-gcc", "i686-linux-gnu-gcc", "x86_64-w64-mingw32-gcc",
	    "x86_64-linux-gnux32-gcc", "x86_64-linux-musl-gcc", "ld", "distcc", "ccache", "pyacc",
	    "gcc-12-wrapper", "x86_64-gcc"};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		ck_assert_msg(!driver_name(name[i]), "%s", name[i]);
}
END_TEST

START_TEST(callers)
{
	ck_assert(driver_caller("gnatmake"));
	ck_assert(driver_caller("x86_64-linux-gnu-gnatlink-12"));
	ck_assert(!driver_caller("gnatgcc"));
	ck_assert(!driver_caller("gnatbind"));
	ck_assert(!driver_name("gnatmake"));
}
END_TEST

UNIT_MAIN("driver", 0, NULL, NULL, drivers, others, callers)
