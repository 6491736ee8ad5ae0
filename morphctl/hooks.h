/*
 * morphctl hooks: building with Morph's compiler wrapper, and what the hooks
 * had to say about it.
 */
#ifndef MORPH_MORPHCTL_HOOKS_H
#define MORPH_MORPHCTL_HOOKS_H

/*
 * argv[0] is "hooks".
 *	hooks run -- COMMAND…   runs COMMAND with the compilers' names hooked (hookrun.h)
 *	hooks env               prints what a shell has to export for the same
 *	hooks cmake             prints a file for cmake -C
 *	hooks doctor [FOLDER]   says what of a build would be hooked (doctor.h)
 *	hooks log [-f] [--json] shows doubts and pass-throughs, -f: as they come
 * Returns the exit status: 0; 1 on failure; 2 on wrong usage; of run the
 * command's own, 126 or 127 as a shell gives them.
 */
int cmd_hooks(int argc, char **argv);

#endif
