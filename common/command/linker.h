/*
 * The linkers whose links can be made again, and their names. Pure.
 */
#ifndef MORPH_LINKER_H
#define MORPH_LINKER_H

/* LINKER_UNKNOWN is 0. */
enum linker { LINKER_UNKNOWN, LINKER_GNU, LINKER_GOLD, LINKER_LLD, LINKER_MOLD };

/* Which linker an artifact names: exactly "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.lld-19" of any
 * version, or "ld.mold". */
enum linker linker_named(const char *name);

/* Which one the program at path is, whose links are resolved: by its file name, which may begin
 * with a machine ("x86_64-linux-gnu-ld.gold") or end in a version ("lld-19"). */
enum linker linker_of_program(const char *path);

/* The name that every installation of it has, "ld" of GNU ld. NULL for LINKER_UNKNOWN. */
const char *linker_name(enum linker linker);

#endif
