// Parts of the library of C++ that are in libstdc++.so: streams, locales, strings, threads, exceptions of its own.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

template <class F> static void attempt(const char *what, F f)
{
	try {
		f();
		std::cout << what << ": nothing\n";
	} catch (const std::exception &e) {
		std::cout << what << ": " << e.what() << '\n';
	} catch (...) {
		std::cout << what << ": something\n";
	}
}

int main()
{
	std::ostringstream o;
	for (int i = -50; i < 50; i++)
		o << std::setw(8) << std::hex << i << std::dec << std::showpos << std::fixed << std::setprecision(i & 7) << i * 1.7 << std::scientific << i / 3.0 << ' ' << std::boolalpha << (i > 0)
		  << std::noshowpos << std::quoted("a\"b") << '\n';
	std::cout << o.str();
	std::istringstream in("12 0x1f 3.5e2 word -7 junk");
	int a, b = -1;
	double d;
	std::string w;
	in >> a >> std::hex >> b >> std::dec >> d >> w >> b;
	std::cout << a << b << d << w << (in >> a).fail() << '\n';
	attempt("at", [] { std::vector<int>(3).at(5); });
	attempt("stoi", [] { std::cout << std::stoi("99999999999"); });
	attempt("stod", [] { std::cout << std::stod("x"); });
	attempt("substr", [] { std::string("abc").substr(9); });
	attempt("regex", [] { std::regex("(["); });
	attempt("bad_alloc", [] { std::vector<char>(std::size_t(-1) / 3); });
	attempt("function", [] { std::function<void()>()(); });
	attempt("optional", [] { std::optional<int>().value(); });
	attempt("variant", [] { std::get<int>(std::variant<int, double>(1.0)); });
	attempt("cast", [] { struct A { virtual ~A() {} }; struct B : A {}; A x; (void)dynamic_cast<B &>(x); });
	attempt("ios", [] { std::ifstream f; f.exceptions(std::ios::failbit); f.open("/nosuch"); });
	attempt("filesystem", [] { std::filesystem::file_size("/nosuch/file"); });
	attempt("system", [] { throw std::system_error(ENOENT, std::generic_category(), "here"); });
	attempt("promise", [] { std::promise<int> p; auto f = p.get_future(); p.set_exception(std::make_exception_ptr(std::range_error("far"))); f.get(); });
	attempt("async", [] { std::async(std::launch::async, [] { throw std::logic_error("other thread"); }).get(); });
	attempt("nested", [] {
		try {
			try {
				throw std::runtime_error("inner");
			} catch (...) {
				std::throw_with_nested(std::runtime_error("outer"));
			}
		} catch (const std::exception &e) {
			try {
				std::rethrow_if_nested(e);
			} catch (const std::exception &i) {
				throw std::runtime_error(std::string(e.what()) + i.what());
			}
		}
	});
	attempt("string", [] { throw std::string("x"); });
	std::regex r("(\\w+)@(\\w+)\\.com");
	std::string s = "me@here.com, you@there.com";
	for (std::sregex_iterator i(s.begin(), s.end(), r), e; i != e; ++i)
		std::cout << (*i)[1] << " at " << (*i)[2] << '\n';
	std::mt19937 g(1);
	std::map<int, int> count;
	for (int i = 0; i < 20000; i++)
		count[std::uniform_int_distribution<>(1, 20)(g)]++;
	for (auto &[k, n] : count)
		std::cout << k << '=' << n << ' ';
	std::set<std::string> names;
	for (auto &f : std::filesystem::recursive_directory_iterator("/usr/include/linux"))
		names.insert(f.path().filename());
	std::cout << '\n' << names.size() << *names.begin() << '\n';
	std::mutex m;
	std::condition_variable c;
	int turn = 0;
	std::vector<std::jthread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			for (int k = 0; k < 50; k++) {
				std::unique_lock l(m);
				c.wait(l, [&] { return turn % 4 == i; });
				turn++;
				c.notify_all();
			}
		});
	threads.clear();
	std::cout << turn << '\n';
	std::pmr::monotonic_buffer_resource pool;
	std::pmr::vector<std::pmr::string> v(&pool);
	for (int i = 0; i < 100; i++)
		v.emplace_back(std::to_string(i * 0.1));
	std::sort(v.begin(), v.end());
	std::cout << v[50] << '\n';
	std::cout.imbue(std::locale("C"));
	std::cout << std::put_money(1234) << std::put_time(std::gmtime(std::unique_ptr<time_t>(new time_t(0)).get()), "%F %T") << '\n';
	std::wcout << L"wide " << 3.25 << L'\n';
	char t[32];
	*std::to_chars(t, t + 31, 0.1).ptr = 0;
	std::cout << t << '\n';
	std::cerr << "end\n";
	throw std::runtime_error("nobody catches this");
}
