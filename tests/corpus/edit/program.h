#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

int other(int x);
int second(int n);
int overridden(int x);
void show_stack(void);

#endif
