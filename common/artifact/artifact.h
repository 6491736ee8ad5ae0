/*
 * Artifact: the second half of a Morph executable, an SQLite file NAME.morph
 * beside the module. Schema and meaning: docs/FORMATS.md "Artifact". It holds
 * the intermediate form of every TU, the foreign inputs of the link, the link
 * line as a recipe, the functions with their keys, and the block map of the
 * original build. Written once by the ld hook, read-only ever after. One that is
 * installed may hold several programs of a build, each of which has that file by
 * its own build-id as one of its names; what they share lies in it once.
 */
#ifndef MORPH_ARTIFACT_H
#define MORPH_ARTIFACT_H

#include "common/elf/elf.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { ARTIFACT_FORMAT = 4 };

struct art_meta {
	struct build_id id;   /* of the original build */
	const char *name;     /* file name of the module */
	const char *producer; /* "morph 0.1" */
	const char
	    *ld; /* the linker: "ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"; or ART_LIFTED */
	uint32_t kind; /* enum elf_kind of the module */
};

/*
 * What is named in its place where the artifact was lifted from machine code
 * (docs/notes/legacy.md): there are no inputs and no recipe, each unit is one function, and an edit
 * adds code to the file.
 */
#define ART_LIFTED "lifted"
/* Why a function stays that could be lifted by what is known. */
#define ART_UNSAMPLED "had no samples when the program was lifted"

struct art_tu {
	uint32_t id;         /* 0…n-1, in link order */
	struct hash128 hash; /* of the text as the compiler wrote it, by which block maps name it */
	const char *name;    /* from .file, else the object's name */
	const char *as_args; /* arguments of as besides files, '\n' between them, "" = none */
	uint64_t text_size;  /* bytes of the text that is here, not compressed */
};

struct art_func {
	uint32_t tu, ord; /* ordinal of the function in its TU: bm_fn_record.func */
	const char *name;
	struct hash128 key; /* function key: name and normalised IF */
	uint32_t nblock;
	const uint32_t *insns; /* instructions per block, nblock of them */
	const char *opaque;    /* why it moves as a whole, or "" */
};

/*
 * An input of the link. The relink lays all of them out under one folder, at
 * their absolute paths, and runs the recipe with that folder as sysroot. An
 * archive is rebuilt from its members, in order; only members that were
 * linked are kept.
 */
enum art_input_kind {
	ART_OBJECT = 1,  /* foreign object: content */
	ART_TU = 2,      /* object made from tu */
	ART_ARCHIVE = 3, /* its members follow as rows of their own */
	ART_SHARED = 4,  /* shared library; content holds only what a linker reads */
	ART_FILE = 5,    /* linker script, version script, list: content */
};

struct art_input {
	uint32_t id; /* 0…n-1 */
	uint32_t kind;
	const char *path; /* absolute; of a member: its name in the archive */
	int64_t archive;  /* id of the archive this is a member of, -1 = none */
	int64_t tu;       /* for ART_TU, else -1 */
	uint64_t size;    /* bytes of content, not compressed */
};

struct artifact;

/* ---- reading ---- */

/*
 * Opens for reading, checks format, schema and that every row is in bounds
 * (the content of texts and inputs is checked when it is read). What is loaded
 * takes memory and time in proportion to the file's size, whatever is in it.
 * Reads the descriptor and nothing else: no name is opened again, no lock
 * taken, no journal looked for.
 */
struct artifact *artifact_open(const char *path, struct err *e); /* file_open() */
/* Of several programs that of this build, in the last the one that the path xx/yyyy….morph names
 * where of is NULL or has no bytes. Who knows the build compares it: there may be but another's. */
struct artifact *artifact_open_of(const char *path, const struct build_id *of, struct err *e);
/* Takes over fd, also when it fails; name is for messages. */
struct artifact *artifact_open_fd(
    int fd, const char *name, const struct build_id *of, struct err *e);
void artifact_close(struct artifact *a);

/* All tables below are loaded at open and live as long as the handle. */
const struct art_meta *artifact_meta(struct artifact *a);
bool artifact_lifted(struct artifact *a);
size_t artifact_programs(struct artifact *a); /* how many are in the file */
size_t artifact_tus(struct artifact *a, const struct art_tu **tu);
size_t artifact_funcs(struct artifact *a, const struct art_func **func); /* by tu, ord */
size_t artifact_inputs(struct artifact *a, const struct art_input **input);
/*
 * The recipe: arguments of ld without argv[0], -o, -Map, --build-id and
 * dependency files. "@N" as a whole argument, or after the first "=" that is
 * followed by a '@', is replaced by the materialised path of input N. Every N is
 * that of an input. Whether ld may be given it: common/command/ldopt.h recipe_check.
 */
size_t artifact_recipe(struct artifact *a, const char *const **arg);

/* Decompresses into out (appended); checks size and hash. Of a small artifact texts that lie beside
 * one another are unpacked together, so that reading them in order takes least. */
int artifact_text(struct artifact *a, uint32_t tu, struct buf *out, struct err *e);
int artifact_content(struct artifact *a, uint32_t input, struct buf *out, struct err *e);
/* The block map blob of the original build (common/elf/blockmap.h). */
int artifact_blockmap(struct artifact *a, struct buf *out, struct err *e);

/* ---- writing: create, put…, commit ---- */

/* Creates a new file; the caller publishes it afterwards (common/publish.h). small: takes longer,
 * and less room; functions are then to be put in order, after all units. */
struct artifact *artifact_create(const char *path, bool small, struct err *e);
/* Begins a program, 0, 1, …: what is put after it is its. */
int artifact_put_meta(struct artifact *a, const struct art_meta *m, struct err *e);
/* What is put after this, but for units and functions, is that program's. */
int artifact_turn_to(struct artifact *a, uint32_t program, struct err *e);
/* The text itself, or one that was made of it and is edited to the same: hash is the original's;
 * text_size is computed. */
int artifact_put_tu(
    struct artifact *a, const struct art_tu *tu, const void *text, size_t n, struct err *e);
/* The same from a text that is packed already (common/pack.h); tu names its
 * hash and size, which the caller has checked. */
int artifact_put_tu_packed(
    struct artifact *a, const struct art_tu *tu, const void *z, size_t n, struct err *e);
int artifact_put_func(struct artifact *a, const struct art_func *f, struct err *e);
int artifact_put_input(
    struct artifact *a, const struct art_input *in, const void *p, size_t n, struct err *e);
/* The same of what is packed already; in->size and hash are those of the content. */
int artifact_put_input_packed(struct artifact *a, const struct art_input *in,
    const struct hash128 *hash, const void *z, size_t n, struct err *e);
int artifact_put_recipe(struct artifact *a, uint32_t ord, const char *arg, struct err *e);
int artifact_put_blockmap(struct artifact *a, const void *p, size_t n, struct err *e);
/* Commits and closes; on error the handle is closed as well. */
int artifact_commit(struct artifact *a, struct err *e);

/* ---- finding ---- */

/* Opens only far enough to tell which build an artifact belongs to, as artifact_open(), and (name
 * not NULL) the file name of that, to free. */
int artifact_peek(const char *path, struct build_id *id, char **name, struct err *e);

/*
 * The artifact of a module: MODULE.morph, then xx/yyyy.morph in the folders of
 * $MORPH_ARTIFACTS (colon list), else of ~/.local/share/morph and /usr/lib/morph.
 * For a laid-out build its origin's. Its build-id must match. Without a module
 * (NULL) by the build-id alone. Returns a path to free, or NULL.
 */
char *artifact_find(const char *module, const struct build_id *id, struct err *e);

#endif
