/*
 * What link-time optimisation by GCC makes during a link: the linker's plugin starts lto-wrapper,
 * which has objects made, by as and therefore by the as hook, and the plugin removes them when
 * the linker is done. Here they are made in a folder of the hook's own and kept till it has read
 * them.
 */
#ifndef MORPH_LTRANS_H
#define MORPH_LTRANS_H

#include <stdbool.h>

/* Whether this plugin (a file) is GCC's and can be told to remove nothing, by LTRANS_KEEP. */
bool ltrans_is_plugin(const char *plugin);
#define LTRANS_KEEP "-plugin-opt=-save-temps"

/* Makes the folder, in which programs started from here on have their temporary files, till
 * ltrans_close. NULL = not to be had. Lives till ltrans_close. */
const char *ltrans_open(void);
/* Temporary files go where they did. */
void ltrans_leave(void);
/* Removes the folder with all files. */
void ltrans_close(void);

#endif
