// Throws, catches and unwinds across frames that get new layouts; also a
// switch, lambdas, a static with a guard and a virtual call.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
struct shape {
	virtual ~shape() {}
	virtual int area(int n) const = 0;
};

struct square : shape {
	int area(int n) const override
	{
		if (n < 0)
			throw std::domain_error("negative side");
		return n * n;
	}
};

struct line : shape {
	int area(int n) const override { return n > 100 ? throw n : 0; }
};

struct trace {
	const char *name;
	~trace() { std::printf("leave %s\n", name); }
};

int depth(int n, const shape &s)
{
	trace t{"depth"};

	if (n == 0)
		return s.area(-1);
	if (n % 3 == 0)
		return depth(n - 1, s) + 1;
	return depth(n - 1, s);
}

std::string kind(int n)
{
	static const std::string prefix = "kind ";

	switch (n) {
	case 0: return prefix + "none";
	case 1: return prefix + "one";
	case 2: return prefix + "pair";
	case 5: return prefix + "hand";
	case 7: throw std::string("luck");
	case 12: return prefix + "dozen";
	}
	return prefix + std::to_string(n);
}
} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
	std::map<std::string, int> seen;
	std::vector<std::function<int(int)>> steps;
	long sum = 0;

	for (int i = 0; i < 4; i++)
		steps.push_back([i, &sum](int n) { return n % (i + 2) ? n * i : (sum += n, -n); });
	for (int i = 0; i < rounds; i++) {
		try {
			seen[kind(i % 15)]++;
			sum += steps[i % 4](i);
			if (i % 50 == 3)
				depth(i % 7, square());
			sum += line().area(i);
		} catch (const std::domain_error &e) {
			std::printf("%d: %s\n", i, e.what());
		} catch (const std::string &s) {
			seen[s]++;
		} catch (int n) {
			sum -= n;
		}
	}
	for (const auto &s : seen)
		std::printf("%s %d\n", s.first.c_str(), s.second);
	std::printf("%ld\n", sum);
	return 0;
}
