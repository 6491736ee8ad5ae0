/* C++ threads, with exceptions, in whose threads the library calls functions that
 * nothing here calls. Says what work's loop was run in all. */
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static volatile long sink;

extern "C" __attribute__((noipa)) void work(long n)
{
	do
		sink = n;
	while (--n);
}

struct leaves {
	~leaves() { work(10); }
};
static thread_local leaves at_end;

static void thread(int k)
{
	(void)&at_end;
	try {
		work(1000);
		if (k % 2)
			throw std::runtime_error("odd");
		work(100);
	} catch (const std::exception &) {
		work(100);
	}
}

int main()
{
	enum { N = 200 };
	for (int round = 0; round < 10; round++) {
		std::vector<std::thread> t;
		for (int k = 0; k < N / 10; k++)
			t.emplace_back(thread, k);
		for (auto &x : t)
			x.join();
	}
	std::printf("%d\n", N * 1110);
}
