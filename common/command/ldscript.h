/*
 * Linker scripts as inputs. ld takes whatever it does not recognise for a
 * script, and a script may make it read any file. So the bytes of an input
 * are looked at before ld sees them:
 *
 * - What begins as an x86-64 ELF file of 64 bits is none: ld never reads it as
 *   a script, also when it is damaged.
 * - What has none of the words by which a script names files (INCLUDE, INPUT,
 *   GROUP, AS_NEEDED, STARTUP, SEARCH_DIR, OUTPUT, TARGET, SECTIONS, OVERLAY)
 *   names none, whatever it is: a version script, a list, a binary.
 * - All else must be a script as C libraries and link lines have them. INPUT,
 *   GROUP and AS_NEEDED name files by names without "..", or libraries as
 *   -lNAME: where the script lies below the sysroot, ld looks for absolute names
 *   there, elsewhere they are refused; and for others in the job's folder, the
 *   search folders and there.
 *   SEARCH_DIR takes "=/FOLDER", below the sysroot. No other name may have a
 *   '/', as those in SECTIONS might, which ld opens. INCLUDE, STARTUP, OUTPUT
 *   and TARGET are refused, as is what the tokenizers of ld and this file
 *   might read differently ('#', '\', a comment within a word).
 *
 * Not covered here: libraries that an input names as DT_NEEDED, which ld looks
 * for along -rpath and by absolute names. It reads ELF files there and nothing
 * else; the editor's sandbox says which it may read.
 *
 * Pure. Source: ld's manual, "Scripts", and ld/ldlex.l, ldgram.y (2.40).
 */
#ifndef MORPH_LDSCRIPT_H
#define MORPH_LDSCRIPT_H

#include "common/err.h"

#include <stddef.h>

/* path: its own. sysroot: absolute, "" = the root. */
int ldscript_check(const void *p, size_t n, const char *path, const char *sysroot, struct err *e);

#endif
