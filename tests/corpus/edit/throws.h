// What the units of throws.cc share.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

#define say(...) (std::printf(__VA_ARGS__), std::putchar('\n'))

struct library_error : std::runtime_error {
	int n;
	explicit library_error(int i);
	~library_error() override;
};

extern "C" {
int c_calls(void (*f)(int), int n);
void c_waits(int *ready);
}
int library_calls(void (*f)(int), int n);

template <class T> struct holder {
	T value;
	explicit holder(T v) : value(v) {}
	~holder() { say("holder"); }
	inline T get(int n) const
	{
		holder copy(value);

		if (n % 3 == 0)
			throw value;
		return copy.value;
	}
};

template <class T> inline std::string tell(T v, int n)
{
	std::map<int, std::string> m;
	holder<T> h(v);

	try {
		m[n] = std::to_string(h.get(n));
		return m.at(n % 5 ? n : n + 1);
	} catch (const std::out_of_range &) {
		return "missing";
	} catch (T) {
		return m.empty() ? "empty" : "full";
	}
}

int use_templates(int n);
int other_templates(int n);
