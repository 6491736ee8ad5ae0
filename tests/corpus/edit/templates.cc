#include "templates.h"

/* No handler here: exceptions pass. */
int through(int (*f)(int), int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++) {
		if (i % 3 == 1)
			sum += shared(i) + both(x);
		else
			sum ^= f(i + x) + (int)shared((long)i);
	}
	return sum;
}
