// A library that exceptions come from and pass through.
#include "throws.h"

library_error::library_error(int i) : std::runtime_error("library"), n(i) {}
library_error::~library_error() {}

namespace
{
struct mark {
	int n;
	~mark() { say("library leaves %d", n); }
};
} // namespace

int library_calls(void (*f)(int), int n)
{
	mark m{n};

	try {
		f(n);
	} catch (int i) {
		mark k{i};
		throw library_error(i + 1);
	} catch (const library_error &) {
		throw;
	}
	if (n % 4 == 2)
		throw library_error(n);
	return n;
}
