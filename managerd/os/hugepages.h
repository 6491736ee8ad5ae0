/*
 * Huge pages for the code of a program that was laid out for them (morph-edit
 * --with huge). Linux maps them by itself where the page cache holds the file
 * in pieces of 2 MiB; this makes it do so, for whoever runs the program next.
 */
#ifndef MORPH_MANAGERD_HUGEPAGES_H
#define MORPH_MANAGERD_HUGEPAGES_H

#include "common/err.h"

enum { HUGE_PAGE = 2 << 20 }; /* bytes */

/*
 * Reads the file into the page cache by huge pages, as far as it is not there
 * yet, and has the kernel collapse what is there in small ones, where it can
 * (CONFIG_READ_ONLY_THP_FOR_FS, or tmpfs). Whether it did, it does not say. Fails
 * only where the file cannot be mapped.
 */
int hugepages_load(int fd, struct err *e);

#endif
