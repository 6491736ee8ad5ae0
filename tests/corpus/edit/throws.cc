// Every way by which an exception passes, or ends in, a function; with
// throws.h's templates in two units, throws.c's cleanups, a library.
#include "throws.h"

#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <execinfo.h>
#include <functional>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unistd.h>
#include <unwind.h>
#include <vector>

extern "C" char __executable_start, etext;

namespace
{
struct trace {
	int id;
	explicit trace(int n) : id(n) {}
	~trace() { say("~%d", id); }
};

struct base {
	virtual ~base() {}
};
struct derived : base {
	int n;
	explicit derived(int i) : n(i) {}
};
struct other {
	int n;
};

// ---- by type, nested, rethrown ----

void thrower(int n)
{
	trace t(n);

	switch (n % 7) {
	case 0: throw n;
	case 1: throw derived(n);
	case 2: throw std::runtime_error("runtime " + std::to_string(n));
	case 3: throw other{n};
	case 4: throw "text";
	case 5: throw std::bad_alloc();
	}
	say("thrower %d returns", n);
}

int by_type(int n)
{
	trace outer(100);

	try {
		trace inner(200);
		thrower(n);
		return 0;
	} catch (int i) {
		return i;
	} catch (const base &b) {
		say("base %s", typeid(b).name());
		return dynamic_cast<const derived &>(b).n;
	} catch (const std::runtime_error &e) {
		say("%s", e.what());
		return -1;
	} catch (const std::exception &e) {
		say("exception %s", typeid(e).name());
		return -2;
	} catch (const char *s) {
		say("%s", s);
		return -3;
	} catch (...) {
		say("anything");
		return -4;
	}
}

int nested(int n)
{
	try {
		trace a(1);
		try {
			trace b(2);
			thrower(n);
		} catch (const derived &d) {
			trace c(3);
			say("nested %d", d.n);
			if (n & 8)
				throw;
			try {
				throw other{d.n};
			} catch (const other &o) {
				say("other %d", o.n);
				throw int(o.n + 1);
			}
		} catch (const std::exception &) {
			try {
				throw;
			} catch (const std::bad_alloc &) {
				say("no memory");
			}
			throw;
		}
	} catch (base &) {
		return 1;
	} catch (int i) {
		return i;
	} catch (...) {
		return std::current_exception() ? 2 : 3;
	}
	return 4;
}

// ---- from destructors, constructors, function try blocks ----

int pending()
{
#if __cplusplus < 201703L
	return std::uncaught_exception();
#else
	return std::uncaught_exceptions();
#endif
}

struct loud {
	bool throws;
	~loud() noexcept(false)
	{
		if (throws && !pending())
			throw 77;
		say("quiet %d", pending());
	}
};

int from_destructor(int n)
{
	try {
		loud l{n % 2 == 0};
		trace t(5);
		if (n % 3 == 0)
			throw 78;
	} catch (int i) {
		return i;
	}
	return 0;
}

struct part {
	int n;
	explicit part(int i) : n(i)
	{
		if (i % 4 == 3)
			throw std::out_of_range("part");
	}
	~part() { say("part %d", n); }
};

struct whole {
	part a, b;
	trace t;
	explicit whole(int n) try : a(n), b(n + 1), t(n) {
		if (n % 4 == 1)
			throw n;
	} catch (const std::out_of_range &) {
		say("whole fails");
	}
};

int function_try(int n) try {
	whole w(n);
	whole *v = new whole[2]{whole(n + 4), whole(n + 5)};
	delete[] v;
	return w.a.n;
} catch (const std::exception &e) {
	say("function try: %s", e.what());
	return -1;
} catch (int i) {
	return i;
}

// ---- specifications ----

[[noreturn]] void on_terminate()
{
	say("terminate%s", std::current_exception() ? " with an exception" : "");
	std::exit(0);
}

int no_throw(int n) noexcept
{
	trace t(6);

	thrower(n);
	return n;
}

#if __cplusplus < 201703L
int allowed(int n) throw(int, base)
{
	trace t(7);

	thrower(n);
	return n;
}

void on_unexpected()
{
	throw 99;
}
#endif

int specified(int n)
{
#if __cplusplus < 201703L
	std::set_unexpected(on_unexpected);
	try {
		return allowed(n);
	} catch (int i) {
		return i;
	} catch (base &) {
		return -1;
	}
#endif
	return n;
}

// ---- virtual thunks, guards, lambdas ----

struct left {
	long pad = 1;
	virtual int go(int) { return 0; }
	virtual ~left() {}
};
struct right {
	long pad = 2;
	virtual int run(int) = 0;
	virtual ~right() {}
};
struct both : virtual left, right {
	int go(int n) override
	{
		trace t(8);
		thrower(n);
		return 1;
	}
	int run(int n) override
	{
		trace t(9);
		return go(n) + 1;
	}
};

int thunks(int n)
{
	both b;
	right *r = &b;
	left *l = &b;

	try {
		return n & 1 ? r->run(n) : l->go(n);
	} catch (...) {
		return -9;
	}
}

int tries;
const std::string &guarded(int n)
{
	static const std::string s = [&] {
		if (tries++ < 2)
			throw n;
		return std::string("made after ") + std::to_string(tries);
	}();

	return s;
}

int guards(int n)
{
	try {
		say("%s", guarded(n).c_str());
		return 0;
	} catch (int i) {
		say("guard %d", i);
		return i;
	}
}

int lambdas(int n)
{
	std::vector<std::function<int(int)>> f;

	for (int i = 0; i < 3; i++)
		f.push_back([i, s = std::string(20, char('a' + i))](int k) {
			trace t(300 + i);
			if (k % 3 == i)
				throw std::logic_error(s);
			return k;
		});
	try {
		for (auto &each : f)
			say("%d", each(n));
	} catch (const std::logic_error &e) {
		say("%s", e.what());
		return -1;
	}
	return 0;
}

// ---- coroutines ----

struct task {
	struct promise_type {
		int value = 0;
		std::exception_ptr error;
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() { error = std::current_exception(); }
	};
	std::coroutine_handle<promise_type> h;
	~task() { h.destroy(); }
};

task numbers(int n)
{
	trace t(400);

	for (int i = 0; i < n; i++) {
		trace each(500 + i);
		try {
			thrower(i);
		} catch (int) {
			say("in a coroutine");
		}
		co_yield i;
	}
}

int coroutines(int n)
{
	task t = numbers(n);
	int sum = 0;

	while (!t.h.done()) {
		t.h.resume();
		sum += t.h.promise().value;
	}
	try {
		if (t.h.promise().error)
			std::rethrow_exception(t.h.promise().error);
	} catch (const base &) {
		return -sum - 1;
	} catch (...) {
		return -1000;
	}
	return sum;
}

// ---- other modules, C frames, threads ----

void back(int n)
{
	trace t(10);
	thrower(n);
}

int through_c(int n)
{
	try {
		return c_calls(back, n);
	} catch (const other &) {
		return -5;
	} catch (int i) {
		return i;
	} catch (...) {
		return -6;
	}
}

int through_library(int n)
{
	try {
		return library_calls(back, n);
	} catch (const library_error &e) {
		return e.n;
	} catch (...) {
		return -7;
	}
}

void *waits(void *arg)
{
	trace t(11);

	try {
		trace inner(12);
		c_waits(static_cast<int *>(arg));
	} catch (const std::exception &) {
		say("no exception of ours");
	} catch (...) {
		say("forced");
		throw;
	}
	return nullptr;
}

void leave(int n)
{
	trace t(13);

	if (n == 0)
		pthread_exit(nullptr);
	leave(n - 1);
}

void *leaves(void *)
{
	trace t(14);

	leave(3);
	return nullptr;
}

int threads(int n)
{
	static int ready;
	pthread_t t;

	__atomic_store_n(&ready, 0, __ATOMIC_SEQ_CST);
	if (n & 1) {
		pthread_create(&t, nullptr, waits, &ready);
		while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
			usleep(100);
		pthread_cancel(t);
	} else {
		pthread_create(&t, nullptr, leaves, nullptr);
	}
	pthread_join(t, nullptr);
	return 0;
}

void foreign_cleanup(_Unwind_Reason_Code, _Unwind_Exception *)
{
	say("foreign is deleted");
}

int foreign(int n)
{
	static _Unwind_Exception e;

	e.exception_class = 0x4d4f525048000000;
	e.exception_cleanup = foreign_cleanup;
	try {
		trace t(15);
		if (n & 1)
			_Unwind_RaiseException(&e);
		thrower(n);
	} catch (int i) {
		return i;
	} catch (...) {
		return -8;
	}
	return 0;
}

// ---- walks ----

_Unwind_Reason_Code count_frame(_Unwind_Context *c, void *n)
{
	void *f = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(c) - 1));

	++*static_cast<int *>(n);
	return f ? _URC_NO_REASON : _URC_END_OF_STACK;
}

__attribute__((noinline)) void show_walk()
{
	void *pc[100];
	int frames = 0, n = backtrace(pc, 100);

	_Unwind_Backtrace(count_frame, &frames);
	say("%d and %d frames", n, frames);
	if (std::getenv("SHOW_STACK"))
		for (int i = 0; i < n; i++)
			if (pc[i] >= &__executable_start && pc[i] < &etext)
				std::printf("pc %#tx\n", (char *)pc[i] - &__executable_start);
}

struct walker {
	~walker() { show_walk(); }
};

int walk(int n)
{
	walker w;

	try {
		walker v;
		if (n > 0 && n % 3 == 0)
			return walk(n - 1);
		thrower(n);
	} catch (...) {
		show_walk();
		return -n;
	}
	return n > 0 ? walk(n - 1) : 0;
}

using test = int (*)(int);
const test tests[] = {by_type, nested, from_destructor, function_try, specified, thunks, guards,
    lambdas, coroutines, through_c, through_library, threads, foreign, walk, use_templates,
    other_templates};
} // namespace

int main(int argc, char **argv)
{
	std::set_terminate(on_terminate);
	for (unsigned t = 0; t < sizeof tests / sizeof *tests; t++)
		for (int n = 0; n < 16; n++) {
			try {
				int r = tests[t](n);
				say("test %u %d: %d", t, n, r);
			} catch (...) {
				say("test %u %d threw", t, n);
			}
		}
	std::fflush(stdout);
	return no_throw(argc > 1 ? std::atoi(argv[1]) : 2);
}
