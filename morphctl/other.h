/*
 * Where both a person's own manager and the system's run: the one that status does not ask.
 */
#ifndef MORPH_MORPHCTL_OTHER_H
#define MORPH_MORPHCTL_OTHER_H

#include "morphctl/command.h"

#include <stdint.h>

/* {"socket", "status", "modules"}, a new reference; NULL: there is none, or it does not answer. */
json_t *other_ask(const struct invocation *in);
/* How it is asked, and which programs run in its layouts. now: seconds since 1970. */
void other_show(const struct invocation *in, const json_t *other, int64_t now);

#endif
