#ifndef TEMPLATES_H
#define TEMPLATES_H

/* Made in both units; the linker keeps one. */
template <class T> __attribute__((noinline)) T shared(T x)
{
	switch (x % 9) {
	case 0: return 1;
	case 1: return x * 5;
	case 2: return x - 3;
	case 4: return -x;
	case 5: return x / 3;
	case 7: return 12;
	}
	return 0;
}

inline __attribute__((noinline)) int both(int x)
{
	return x > 3 ? x * 2 : x - 1;
}

int through(int (*f)(int), int x);

#endif
