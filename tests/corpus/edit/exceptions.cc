#include "templates.h"

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
	virtual ~Shape() {}
	virtual int area(int x) const { return x; }
};

struct Square : Shape {
	int area(int x) const override
	{
		if (x % 7 == 3)
			throw std::runtime_error("seven");
		return x * 2;
	}
};

struct Guarded : Shape {
	int area(int x) const override
	{
		try {
			return Square().area(x) + 1;
		} catch (const std::exception &e) {
			return -(int)std::string(e.what()).size();
		}
	}
};

static int picky(int x)
{
	if (x % 11 == 5)
		throw x;
	return shared(x);
}

int main()
{
	std::map<std::string, int> count;
	std::vector<Shape *> shapes{new Shape, new Square, new Guarded};
	long sum = 0;

	for (int i = 0; i < 2000; i++) {
		try {
			sum += shapes[i % 3]->area(i) + shared(i) + both(i);
			count["k" + std::to_string(i % 37)] += through(picky, i % 20);
		} catch (const std::runtime_error &) {
			sum -= 3;
		} catch (int x) {
			sum ^= x;
		}
	}
	for (auto &p : count)
		sum ^= p.second;
	for (auto *s : shapes)
		delete s;
	std::cout << sum << "\n";
}
