/*
 * Output for people where the locale's characters are not UTF-8 (LC_ALL=C): the few characters
 * beyond ASCII that Morph itself writes become what ASCII has for them. Names of files and
 * functions stay, byte by byte.
 */
#ifndef MORPH_ASCII_H
#define MORPH_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* Call first in main(): reads the locale of characters; where it is not UTF-8, what is written to
 * stdout and stderr, and what log.h writes, is translated from now on. */
void ascii_begin(void);
/* What follows on stdout is for programs (JSON, profiles, paths): it stays as it is. */
void ascii_keep_stdout(void);

/* Is it translated? */
bool ascii_on(void);
void ascii_set(bool on);
/* What is written for a character of Morph's at s, NUL-terminated; NULL = it stays. *n: its bytes.
 */
const char *ascii_instead(const char *s, size_t *n);
/* Translates n bytes in place, where it is to be; returns how many are left. */
size_t ascii_translate(char *p, size_t n);
/* How many bytes at the end may be the beginning of a character of Morph's. */
size_t ascii_cut_off(const char *p, size_t n);

#endif
