#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

int other(int x);
int second(int n);
int overridden(int x);
void show_stack(void);

#endif
