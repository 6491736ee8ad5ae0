/*
 * Names of files as the artifact keeps them: absolute, without "." and "..",
 * and still the same file. Symbolic links stay as they are where they can, for
 * linker scripts name files through them (/lib/x86_64-linux-gnu/libc.so.6).
 */
#ifndef MORPH_PATHS_H
#define MORPH_PATHS_H

/* By text alone: dir (absolute) + path, without ".", ".." and "//". To free. */
char *path_lexical(const char *dir, const char *path);

/* The same, unless ".." after a link makes that another file: then with the
 * links of the folder resolved. Relative to the working directory. To free. */
char *path_of_file(const char *path);
char *path_of_folder(const char *path);

#endif
